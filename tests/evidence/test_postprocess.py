"""The step before scoring: each kind of change, what is dropped, and what holds of any objects."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.evidence.postprocess import postprocess
from tls_tasks.evidence.read import ObjectReader
from tls_tasks.evidence.types import JOURNAL_SCHEMA, Attribute, EvidenceSchema

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

READER = ObjectReader(JOURNAL_SCHEMA)
TEXT = "Had tea. Felt calm."
TEA = {"domain": "food", "evidence_span": "Had tea", "polarity": "present", "intensity_bucket": "low",
       "time_bucket": "today"}  # fmt: skip
CALM = {"domain": "emotion", "evidence_span": "Felt calm", "polarity": "present", "arousal_bucket": "low",
        "time_bucket": "today"}  # fmt: skip


def run(*rows, **options):
    return postprocess([READER.read(row) for row in rows], TEXT, **options)


def without(row, *keys):
    return {key: value for key, value in row.items() if key not in keys}


def test_what_fits_is_left_alone():
    assert [one.fields for one in run(TEA, {**CALM, "note": "kept"})] == [TEA, {**CALM, "note": "kept"}]


@pytest.mark.parametrize(("row", "changed"), CASES["what_can_be_made_to_fit"])
def test_what_can_be_made_to_fit(row, changed):
    (fitted,) = run(row)
    assert dict(fitted.fields) == changed and fitted.issues == ()


@pytest.mark.parametrize(("row", "why"), CASES["what_cant_is_dropped"])
def test_what_cant_is_dropped(row, why):
    assert why in READER.read(row).issues
    assert [dict(kept.fields) for kept in run(TEA, row, CALM)] == [TEA, CALM]


@pytest.mark.parametrize(("ungrounded", "left"), [("keep", ["present"]), ("drop", []), ("uncertain", ["uncertain"])])
def test_what_is_done_with_a_quote_that_is_none(ungrounded, left):
    fitted = run({**TEA, "evidence_span": "had tea"}, ungrounded=ungrounded)
    assert [one.fields["polarity"] for one in fitted] == left


def test_an_empty_quote_is_invalid_whatever_is_kept():
    for ungrounded in ("keep", "uncertain"):
        assert run({**TEA, "evidence_span": ""}, ungrounded=ungrounded) == ()


def test_marking_gives_an_object_the_polarity_that_it_lacked():
    fitted = run({**without(TEA, "polarity"), "evidence_span": "rice"}, ungrounded="uncertain")
    assert [one.fields["polarity"] for one in fitted] == ["uncertain"]


def test_two_values_that_fold_alike_are_not_guessed():
    schema = EvidenceSchema("s", ("food",), (Attribute("size", {"": "size"}, ("A b", "a-b"), "A b"),))
    (one,) = postprocess(
        [ObjectReader(schema).read({"domain": "food", "evidence_span": "tea", "size": "a_b"})], "tea", schema
    )
    assert one.fields["size"] == "A b"  # the default


def test_what_is_asked_wrongly():
    with pytest.raises(OptionError, match="ungrounded: got 'mark', expected one of None, 'keep', 'drop', 'uncertain'"):
        run(TEA, ungrounded="mark")
    with pytest.raises(InputError, match="no attribute of domain 'food' may be 'uncertain'"):
        postprocess([], "", EvidenceSchema("s", ("food",)), "uncertain")


VALUES = st.sampled_from(
    ["food", "emotion", "Had tea", "x", "present", "low", "Today", "", None, 3, ["low"], float("nan")]
)
ROWS = st.dictionaries(st.sampled_from([*TEA, "arousal_bucket", "note"]), VALUES)


@given(st.lists(ROWS, max_size=4), st.sampled_from(["keep", "drop", "uncertain"]))
def test_what_is_left_fits_and_is_not_changed_again(rows, ungrounded):
    before = repr(rows)
    done = run(*rows, ungrounded=ungrounded)
    assert repr(rows) == before  # the caller's rows are not touched
    assert all(one.issues == () for one in done)
    assert postprocess(done, TEXT, ungrounded=ungrounded) == done
    if ungrounded == "drop":
        assert all(one.span in TEXT for one in done)
