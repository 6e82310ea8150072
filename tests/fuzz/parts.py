"""What the fuzz targets draw: realistic and hostile texts cut, joined and spoiled, and JSON with changed values."""

import copy
import functools
import json
import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from tests import hostile
from tests.conftest import ROOT
from tests.test_batteries import cases

N_EXAMPLES = os.environ.get("TLS_TASKS_FUZZ_EXAMPLES")
"""Set by scripts/fuzz.py, and then the examples are new ones each time."""


def fuzzed(n_examples):
    """How a target is run: the same few examples in `make test`, as many and as new as asked for in `make fuzz`."""
    if N_EXAMPLES is None:
        return settings(max_examples=n_examples)  # and else as all tests, see tests/conftest.py
    failed = DirectoryBasedExampleDatabase(ROOT / ".hypothesis" / "examples")  # is tried first the next time
    return settings(max_examples=int(N_EXAMPLES), derandomize=False, database=failed, print_blob=True)


LONGEST = 20_000  # characters of a drawn text: how time grows with length is tested elsewhere

PIECES = [
    *hostile.REPEATED,
    *(start + piece for start, piece in hostile.PREFIXED),
    *(piece * 40 for piece in hostile.REPEATED),
    *hostile.SPOILING,
    *'<li> <td> </p> \\item \\boxed{ (\'2011-01-25\', ## date: A 10:30 "food" {"items":'.split(),
    *("<event date='2011-01-25'>", "January 25", "25: ", "25 January 2011", " to "),
]


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
JOINED = st.lists(st.sampled_from(PIECES), max_size=30).map(lambda pieces: "".join(pieces)[:LONGEST])
FAMILIES = ("timelines", "evidence", "trees", "reports", "summaries")


@functools.cache
def answers(family):
    """The answers of the batteries."""
    return [case["answer"] for folder in ("batteries", "batteries/later") for case in cases(family, folder)]


@functools.cache
def _corpus(family):
    every = [text for name in FAMILIES for text in answers(name)]
    own = answers(family) if family else every
    return own, every + [text for text in hostile.HOSTILE if len(text) <= LONGEST]


@st.composite
def texts(draw, family=None):
    """An answer of the corpus with up to six edits, mostly one of the family's own; or any characters or pieces."""
    own, every = _corpus(family)
    text = draw(st.sampled_from(own) | st.sampled_from(every) | ANY_TEXT | JOINED)
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 3, 20, 200])))
        kind = draw(st.sampled_from(["drop", "insert", "character", "again", "cut", "join", "swap"]))
        if kind == "drop":
            text = text[:start] + text[end:]
        elif kind == "insert":
            text = text[:start] + draw(st.sampled_from(PIECES)) + text[start:]
        elif kind == "character":
            text = text[:start] + draw(st.characters()) + text[start + 1 :]
        elif kind == "again":
            text = text[:end] + text[start:end] * draw(st.sampled_from([1, 2, 30])) + text[end:]
        elif kind == "cut":
            text = text[:start]
        elif kind == "swap":
            text = text[end:] + text[start:end] + text[:start]
        else:
            other = draw(st.sampled_from(every))
            text = text[:start] + other[draw(st.integers(0, len(other))) :]
        text = text[:LONGEST]
    return text


def _nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


ODD_VALUES = (
    st.sampled_from(
        [None, True, False, 0, -1, 1.5, 10**18, 10**400, float("nan"), float("inf"), 1e308, -0.0, 2**53 + 1]
    )
    | st.sampled_from(["", " ", "0", "NaN", "\ud800", "\x00", "a\nb", "2011-02-30", "*", "../x", "YES", "e\u0301"])
    | st.sampled_from([[], {}, [None], [[]], {"": None}, _nested(70), _nested(150), ["x"] * 300])
    | st.text(max_size=6)
)
"""Values that a field of JSON may have and should not."""


def places_in(value, path=()):
    """The path of every value in a value of JSON, the root's first."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places_in(item, (*path, key))


@st.composite
def changed(draw, value, most=3):
    """A value of JSON with one to ``most`` changes in a copy: another value, a missing one, one of another place."""
    value = json.loads(json.dumps(value))
    for _ in range(draw(st.integers(1, most))):
        places = list(places_in(value))
        path = draw(st.sampled_from(places))
        kind = draw(st.sampled_from(["odd", "odd", "gone", "other", "text"]))
        if not path:
            if kind == "odd":
                value = copy.deepcopy(draw(ODD_VALUES))
            continue
        *above, key = path
        node = functools.reduce(lambda at, step: at[step], above, value)
        if kind == "gone":
            del node[key]
        elif kind == "other":
            other = functools.reduce(lambda at, step: at[step], draw(st.sampled_from(places)), value)
            node[key] = json.loads(json.dumps(other))
        else:
            node[key] = copy.deepcopy(draw(ODD_VALUES)) if kind == "odd" else draw(texts())
    return value


@st.composite
def changed_bytes(draw, content, most=3):
    """Bytes of which some are others, missing, twice, or zero; never the same as before."""
    new = content
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, len(new)))
        end = min(len(new), start + draw(st.sampled_from([1, 1, 4, 50, 5000])))
        kind = draw(st.sampled_from(["other", "drop", "insert", "cut", "zero", "again"]))
        kept = new[start:end]
        if kind == "other":
            kept = draw(st.binary(min_size=1, max_size=4)) * -(-len(kept) // 4)
        elif kind == "insert":
            kept = draw(st.binary(min_size=1, max_size=20)) + kept
        else:
            kept = {"drop": b"", "cut": b"", "zero": bytes(len(kept)), "again": kept * 2}[kind]
        new = new[:start] + kept + (b"" if kind == "cut" else new[end:])
    return new if new != content else content + b"\n{"
