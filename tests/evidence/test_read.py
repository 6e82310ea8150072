"""Objects in model text: the contract, every form, what is cut or broken, and any text whatever."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests import hostile
from tests.conftest import ORACLES, read_jsonl
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.parsed import Problem
from tls_tasks.core.rows import pack_columns, unpack_column
from tls_tasks.evidence.read import PROBLEM_KINDS, ObjectReader, parse_evidence
from tls_tasks.evidence.rows import check_row, read_rows, to_plain
from tls_tasks.evidence.types import JOURNAL_SCHEMA, Attribute, EvidenceSchema, read_schema, scalar_text

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

ROWS = read_jsonl(ORACLES / "evidence_parsing.jsonl")

TEA = {"domain": "food", "evidence_span": "Had tea", "polarity": "present", "time_bucket": "today"}
CALM = {"domain": "emotion", "evidence_span": "calm", "polarity": "present", "time_bucket": "today"}
BOTH = [TEA, CALM]


def fields(text, schema=JOURNAL_SCHEMA):
    """The fields of the objects; None if the text can't be read."""
    parsed = parse_evidence(text, schema)
    assert set(parsed.kinds()) <= set(PROBLEM_KINDS)
    return None if parsed.value is None else [dict(one.fields) for one in parsed.value]


def spans(text):
    return None if (found := fields(text)) is None else [one.get("evidence_span") for one in found]


# --- the contract ---


OTHER_FORMS = ("markdown table", "yaml")
"""Rows whose objects the original does not read, and we do."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']} {row['name']}")
def test_every_oracle_row(row):
    if row["name"] in OTHER_FORMS:
        told = {"domain": "food", "evidence_span": "Had tea"}
        assert fields(row["raw"]) == [told if row["name"] == "markdown table" else {**told, "polarity": "present"}]
        assert parse_evidence(row["raw"]).status == "repaired"
        return
    raw = row["raw"] if isinstance(row["raw"], str) else row["raw"]["repeat"] * row["raw"]["times"]
    parsed = parse_evidence(raw)
    objects = [dict(one.fields) for one in parsed.value or ()]
    assert (parsed.status, json.dumps(objects)) == (row["status"], json.dumps(row["objects"]))
    assert parsed.failed is (row["status"] == "failed") and len(objects) == row["n_objects"]


def test_the_copy_of_the_oracle_is_whole(shared):
    assert repr(read_jsonl(shared / "oracles" / "evidence_parsing.jsonl")) == repr(ROWS)  # NaN is among them


# --- forms ---


@pytest.mark.parametrize("value", CASES["the_objects_are_found_in_any_wrapper"])
def test_the_objects_are_found_in_any_wrapper(value):
    for text in (
        json.dumps(value),
        f"Sure!\n```json\n{json.dumps(value, indent=2)}\n```",
        f"It is {json.dumps(value)}.",
    ):
        assert fields(text) == BOTH


def test_a_domain_as_key_is_the_domain_of_what_it_holds():
    tea = {"evidence_span": "Had tea"}
    for value in ({"food": [tea]}, {"food": tea}, {"food": ["Had tea"]}, [{"domain": "food", "items": [tea]}]):
        assert fields(json.dumps(value)) == [{"domain": "food", **tea}]
    assert fields(json.dumps({"food": [{"domain": "mind", **tea}]})) == [{"domain": "mind", **tea}]  # its own counts
    assert fields(json.dumps({"meals": [tea]})) == [tea]


def test_keys_are_the_schemas():
    schema = EvidenceSchema("names", ("person",), domain_field="type", span_field="quote")
    text = '{"person": [{"quote": "Ann"}], "more": [{"type": "place", "quote": "Rome"}]}'
    assert fields(text, schema) == [{"type": "person", "quote": "Ann"}, {"type": "place", "quote": "Rome"}]
    assert parse_evidence(json.dumps(BOTH), schema).value[0].issues == ("missing_domain", "missing_span")


@pytest.mark.parametrize(
    ("text", "status"),
    CASES["an_abstention_is_a_value"],
)  # fmt: skip
def test_an_abstention_is_a_value(text, status):
    parsed = parse_evidence(text)
    assert (parsed.value, parsed.status, parsed.counts()) == ((), status, {})


@pytest.mark.parametrize(
    "text",
    [
        "", " \n", "None", "null", "true", "0", '""', "There are none.", "See [1] and [2].", '["Had tea"]', "[1, 2]",
        '{"answer": "none"}', "[null]", '{"food": "tea"}', "- domain: food", "<think>[]", "<think>" + json.dumps(BOTH),
        '[{"domain": "fo', "[", "{", "```json\n```", '{"a": {"b": 1}}',
    ],
)  # fmt: skip
def test_what_is_no_answer_fails(text):
    parsed = parse_evidence(text)
    assert parsed.failed and parsed.status == "failed"


# --- what is cut or broken ---


@pytest.mark.parametrize("start", ["", "Here: ", "```json\n", '{"items": ', "lines"])
def test_a_text_cut_anywhere_keeps_its_whole_objects(start):
    three = [TEA, {**CALM, "evidence_span": 'said "no" [or {so}] \u00e9'}, {**TEA, "evidence_span": "rice"}]
    text = "\n".join(map(json.dumps, three)) if start == "lines" else start + json.dumps(three)
    kept = set()
    for length in range(len(text) + 1):
        found = fields(text[:length]) or []
        assert found == three[: len(found)], text[:length]
        kept.add(len(found))
    assert kept == {0, 1, 2, 3}


@pytest.mark.parametrize("bad", CASES["a_bad_object_never_loses_its_neighbours"])
@pytest.mark.parametrize("around", ["[%s]", '{"items": [%s]}', "```json\n[%s]\n```", "Here: [%s]"])
def test_a_bad_object_never_loses_its_neighbours(bad, around):
    good = [json.dumps(TEA), json.dumps(CALM)]
    parsed = parse_evidence(around % ", ".join([good[0], bad, good[1]]))
    found = [dict(one.fields) for one in parsed.value if dict(one.fields) in BOTH]
    assert found == BOTH or (found == BOTH[:1] and parsed.problems)


@pytest.mark.parametrize("around", ["[%s]", '{"items": [%s]}', "```\n[%s]\n```"])
def test_one_wrong_character_never_costs_a_neighbour_in_silence(around):
    middle = json.dumps({**TEA, "domain": "mind", "evidence_span": "racing thoughts"})
    for position in range(len(middle)):
        for character in ("", '"', "\n", "}", "{", ",", "'", "x"):
            bad = middle[:position] + character + middle[position + 1 :]
            parsed = parse_evidence(around % ", ".join([json.dumps(TEA), bad, json.dumps(CALM)]))
            found = [dict(one.fields) for one in parsed.value]
            assert TEA in found and (CALM in found or parsed.problems), bad  # a quote may swallow the next object


def test_what_is_no_object_is_noted():
    parsed = parse_evidence(json.dumps([TEA, "tea", 3, None, CALM]))
    assert len(parsed.value) == 2 and parsed.counts() == {"bad_entry": 3}
    assert parse_evidence(json.dumps([TEA, {"foo": 1}])).value[1].issues == ("missing_domain", "missing_span")


def test_repeated_objects_are_kept():
    assert spans(json.dumps([TEA, TEA])) == ["Had tea", "Had tea"]


def test_thinking_is_no_answer():
    assert spans(f"<think>{json.dumps([TEA])}</think>{json.dumps([CALM])}") == ["calm"]


# --- issues ---


@pytest.mark.parametrize(("change", "issues"), [case for case in CASES["issues"] if isinstance(case, list)])
def test_issues(change, issues):
    assert ObjectReader(JOURNAL_SCHEMA).read({**TEA, "intensity_bucket": "low", **change}).issues == tuple(issues)


# --- any text ---

PLACEHOLDERS = {"...", "…", "str", "string", "enum"}
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=200)


@given(st.lists(st.fixed_dictionaries({"domain": ANY_TEXT, "evidence_span": ANY_TEXT}), max_size=4), st.booleans())
@example([{"domain": "0|", "evidence_span": "<A>"}, {"domain": "<b>", "evidence_span": "<0 1>"}], False)
def test_objects_come_back_as_they_were(objects, ascii_only):
    assume(not PLACEHOLDERS & {text for one in objects for text in one.values()})
    assert fields(json.dumps(objects, ensure_ascii=ascii_only)) == objects


SMALL, LARGE = dict(hostile.texts(hostile.SMALL)), dict(hostile.texts(hostile.LARGE))


@pytest.mark.parametrize("name", [*SMALL, "objects"])
def test_time_is_linear_in_hostile_text(name):
    if name == "objects":
        texts = [json.dumps([TEA] * (size // len(json.dumps(TEA)))) for size in (hostile.SMALL, hostile.LARGE)]
    else:
        texts = [SMALL[name], LARGE[name]]
    assert hostile.is_linear(parse_evidence, *texts)


def test_deeply_nested_values_are_given_up():
    text = "[" * 60 + json.dumps(TEA) + "]" * 60
    assert parse_evidence(text).failed
    assert spans("[" * 4 + json.dumps(TEA) + "]" * 4) == ["Had tea"]


NAMES = CASES["NAMES"]


@pytest.mark.parametrize("value", NAMES)
def test_names_of_keys_may_be_spelt_in_another_way(value):
    assert fields(json.dumps(value)) == [{"domain": "food", "evidence_span": "tea"}]


def test_a_key_that_is_there_is_not_replaced():
    both = {"domain": "food", "evidence_span": "tea", "EvidenceSpan": "coffee"}
    assert fields(json.dumps(both)) == [both]


# --- rows ---


def test_rows_are_read_in_every_form():
    forms = (json.dumps(BOTH), BOTH, tuple(BOTH), {"items": BOTH}, {"food": [TEA], "emotion": [CALM]})
    rows = list(read_rows(forms, forms, [None] * len(forms), JOURNAL_SCHEMA))
    expected = tuple(ObjectReader(JOURNAL_SCHEMA).read(one) for one in BOTH)
    assert len(rows) == len(forms)
    assert all(parsed.value == wanted == expected and text is None for parsed, wanted, text in rows)


def pack(predictions, references, sources=None):
    columns = {"predictions": predictions, "references": references, "sources": sources}
    return pack_columns(columns, check_row, to_plain)


def test_rows_survive_packing():
    odd = [{**TEA, "evidence_span": "\ud800 \x00 NaN", "dose": [10**30, None]}]
    packed = pack(["no JSON", odd], [BOTH, json.dumps(BOTH)], ["text \ud800", None])
    assert all(isinstance(one, str) and one.encode() for column in packed.values() for one in column)
    assert {name: unpack_column(column) for name, column in packed.items()} == {
        "predictions": ["no JSON", odd], "references": [BOTH, json.dumps(BOTH)], "sources": ["text \ud800", None],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (3, r"predictions\[0\]: got int 3"),
        ([None], r"predictions\[0\]\[0\]: got None, expected an object"),
        ([{**TEA, "when": {1, 2}}], r"predictions\[0\]: got a value of class set"),
        (b"[]", r"predictions\[0\]: got bytes"),
    ],
)
def test_rows_that_cant_be_packed(row, message):
    with pytest.raises(InputError, match=message):
        pack([row], [[]])


# --- schemas ---


def test_a_schema_comes_back_from_plain_values():
    assert read_schema(json.loads(json.dumps(JOURNAL_SCHEMA.as_dict()))) == JOURNAL_SCHEMA
    assert read_schema("journal") is JOURNAL_SCHEMA and read_schema(JOURNAL_SCHEMA) is JOURNAL_SCHEMA
    short = {"name": "x", "domains": ["a", "b"], "attributes": [{"name": "size", "values": [1, 2], "default": 1}]}
    assert read_schema(short) == EvidenceSchema("x", ("a", "b"), (Attribute("size", {"": "size"}, ("1", "2"), "1"),))


def test_the_label_tells_schemas_of_one_name_apart():
    other = read_schema({**JOURNAL_SCHEMA.as_dict(), "domains": ["symptom", "food", "emotion", "mind", "sleep"]})
    assert JOURNAL_SCHEMA.label == "journal" != other.label and other.label.startswith("journal#")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        *CASES["schemas_that_cant_be"],
        ({"domains": ["a"], "attributes": [{"name": "x", "values": ["y"]}] * 2}, "different names"),
    ],
)
def test_schemas_that_cant_be(value, message):
    with pytest.raises(InputError, match=message):
        read_schema(value)


def test_a_schema_with_an_unknown_name():
    with pytest.raises(OptionError, match="expected one of 'journal'"):
        read_schema("diary")


@pytest.mark.parametrize(("value", "text"), CASES["scalars_are_compared_as_text"])
def test_scalars_are_compared_as_text(value, text):
    assert scalar_text(value) == text


# --- drafts, examples and other forms ---


def listed(*objects):
    return json.dumps(list(objects))


def one(domain, span, **others):
    return {"domain": domain, "evidence_span": span, **others}


DRUNK, MIND = one("food", "Had tea"), one("mind", "racing thoughts")


@pytest.mark.parametrize(("text", "expected"), CASES["lists_that_replace"])
def test_a_list_replaces_one_that_it_repeats(text, expected):
    assert fields(text) == expected


def test_what_is_dropped_is_said():
    text = f"Draft: {listed(DRUNK)} Final: {listed(DRUNK, MIND)}"
    assert parse_evidence(text).counts() == {"draft": 1}


@pytest.mark.parametrize(("text", "expected"), CASES["objects_in_other_forms"])
def test_objects_in_other_forms(text, expected):
    assert fields(text) == expected
    assert parse_evidence(text).status == ("failed" if expected is None else "repaired")


REPEATED = {
    "rows": "| domain | evidence_span |\n|-|-|\n",
    "xml": "<domain>food",
    "lists": listed(DRUNK) + "\nwait ",
    "long lists": listed(*(one("food", f"tea {at}") for at in range(19))) + " actually ",
    "headings": "**food**\n",
}


@pytest.mark.parametrize("name", REPEATED)
def test_time_is_linear_in_hostile_forms(name):
    piece = REPEATED[name]
    assert hostile.is_linear(parse_evidence, *(piece * (size // len(piece)) for size in (hostile.SMALL, hostile.LARGE)))


def test_a_row_without_its_quote_is_an_object_and_prose_beside_tables_is_none():
    parsed = parse_evidence(
        "- Two were seen.\n\n| Domain | Evidence span |\n|---|---|\n| food | |\n| mind | tea |\n\nSo be it."
    )
    assert [(one.domain, one.span) for one in parsed.value] == [("food", ""), ("mind", "tea")]
    assert parsed.counts() == {}


@pytest.mark.parametrize(("text", "form"), CASES["what_form_was_read_is_said"])
def test_what_form_was_read_is_said(text, form):
    assert parse_evidence(text).problems == (Problem("repaired_json", form),)
