"""What every parser of model text returns."""

import json
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")

DETAIL_LENGTH = 80
"""Characters of model text kept in a problem's detail."""

_NOT_IN_NAMES = re.compile(r"[\W_]+")
_JSON = re.compile(r"\s*[\[\]{}\"]")
_ITEM = re.compile(rf"{_JSON.pattern}|[ \t>]*(?:[-*+•◦–]\s|\(?[0-9]{{1,3}}[.)]\s|\|)")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_NAME_WORDS = 3  # a text of more words is no name, no title and no state
LONGEST_ASIDE = 1_000
"""Characters of an introduction or a closing; what is longer may be a part of the answer that was not understood."""

_KINDS = json.loads(Path(__file__).with_name("problem_kinds.json").read_text(encoding="utf-8"))
NOTES = frozenset(_KINDS["notes"])
"""The kinds of problems that say how something was read. With any other kind, words of the answer are lost."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing in a model's text that could not be taken as it stood.

    Attributes:
        kind: What sort of trouble, a fixed word of the parser's (``invalid_date``, ``repeated_date`` …); counted.
        detail: The text concerned, shortened: for people, never parsed.
    """

    kind: str
    detail: str

    @property
    def is_note(self) -> bool:
        """Whether it only says how something was read: no words of the answer are lost."""
        return self.kind in NOTES


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """A parsed value and what was wrong on the way.

    Attributes:
        value: The typed object; None if nothing at all could be read (a parse failure). An empty object is a value.
        problems: Everything that was dropped, repaired or merged, in the order of the text.

    Example:
        >>> parsed = Parsed((1, 2), (Problem("invalid_date", "2011-13-45"),))
        >>> parsed.failed, parsed.counts()
        (False, {'invalid_date': 1})
    """

    value: T | None
    problems: tuple[Problem, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether nothing at all could be read."""
        return self.value is None

    def counts(self) -> dict[str, int]:
        """How often each kind of problem with which words are lost occurred."""
        return without_notes(self.kinds())

    def notes(self) -> dict[str, int]:
        """Return how often each kind of note occurred."""
        return only_notes(self.kinds())

    def lost(self) -> list[str]:
        """Return the passages whose words are lost, shortened, in the order of the text."""
        return [problem.detail for problem in self.problems if not problem.is_note and problem.detail]

    def kinds(self) -> dict[str, int]:
        """How often each kind of problem occurred, notes included."""
        return dict(Counter(problem.kind for problem in self.problems))


def without_notes(kinds: Mapping[str, int]) -> dict[str, int]:
    """Those of the counted kinds of problems with which words are lost."""
    return {kind: count for kind, count in kinds.items() if kind not in NOTES}


def only_notes(kinds: Mapping[str, int]) -> dict[str, int]:
    """Those of the counted kinds that are notes."""
    return {kind: count for kind, count in kinds.items() if kind in NOTES}


def problem(kind: str, text: str) -> Problem:
    """A problem with its text shortened and made safe to write (a lone surrogate can't be encoded).

    Example:
        >>> problem("invalid_date", " " + "soon " * 100).detail[-9:]
        'oon soon…'
    """
    detail = text[: 4 * DETAIL_LENGTH].strip()
    if len(detail) > DETAIL_LENGTH:
        detail = detail[: DETAIL_LENGTH - 1] + "…"
    return Problem(kind, detail.encode("utf-8", "replace").decode("utf-8"))


def beside(text: str, *, is_between: bool = False, is_json: bool = False) -> Iterator[Problem]:
    """What stands beside what was read of a text, line by line: a ``note``, or ``unread``, which is a loss.

    A line of words is lost if it stands between two things that were read, if it is of the same form (a list item, a
    row, or JSON), or if the passage is too long for an introduction or a closing. One that ends in a colon announces.

    Args:
        text: What stands there.
        is_between: Whether something was read before it and something behind it.
        is_json: Whether what was read is JSON, so that lists and long passages beside it are no part of it.

    Example:
        >>> [(one.kind, one.detail) for one in beside("Here it is:")], [one.kind for one in beside("- tea")]
        ([('note', 'Here it is:')], ['unread'])
    """
    is_lost = is_between or (len(text) > LONGEST_ASIDE and not is_json)
    form = _JSON if is_json else _ITEM
    for line in text.split("\n"):
        if any(map(str.isalnum, line)) and not _FENCE.match(line):
            is_label = line.rstrip("*_ \t\r").endswith((":", "："))
            yield problem("unread" if form.match(line) or (is_lost and not is_label) else "note", line)


def unread_in(value: Any, read: Any, but_for: Container[str] = ()) -> Iterator[Problem]:
    """The texts of some words in a JSON value that are not among those read, but for those under these keys.

    Example:
        >>> wrapper = {"run_id": "my run", "note": "Not sure that it is.", "result": {"drink": "tea"}}
        >>> [noted.detail for noted in unread_in(wrapper, {"drink": "tea"})]
        ['Not sure that it is.']
    """
    texts = set(map(str, leaves(read)))
    for leaf in leaves(value, but_for):
        if isinstance(leaf, str) and len(leaf.split(None, _NAME_WORDS)) > _NAME_WORDS and leaf not in texts:
            yield problem("unread", leaf)


def leaves(value: Any, but_for: Container[str] = ()) -> Iterator[Any]:
    """The scalars in a value, in order, but for those under these keys."""
    waiting = [value]  # no recursion: JSON may be nested deeper than Python goes
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Mapping):
            inner = [child for key, child in inner.items() if key not in but_for]
        if isinstance(inner, list | tuple):
            waiting += inner[::-1]
        else:
            yield inner


def problem_kinds(*readers: str) -> Mapping[str, str]:
    """Each kind of problem that readers report -> what it means: those of a family, of ``json``, and of any text.

    Example:
        >>> problem_kinds("trees", "json")["wrapped"]
        'a wrapper was taken off'
    """
    return {kind: meaning for reader in (*readers, "text") for kind, meaning in _KINDS[reader].items()}


def folded(name: str) -> str:
    """A name without what does not tell names apart: case, blanks, hyphens and underscores.

    Example:
        >>> folded("Last night"), folded("last_night"), folded("lastNight")
        ('lastnight', 'lastnight', 'lastnight')
    """
    return _NOT_IN_NAMES.sub("", name).casefold()
