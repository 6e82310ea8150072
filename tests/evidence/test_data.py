"""Extraction data: rows, offsets, the files, the order of the sources, the prompt."""

import json
from pathlib import Path

import pytest

from tests.data.hub_parts import hub_file, numbered
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.data.sources import EmbeddedEditionWarning
from tls_tasks.evidence.data import (
    DATA_SETS,
    EvidenceDocument,
    _load_evidence,
    data_set_schema,
    load_documents,
    prompt,
    read_files,
    read_rows,
    read_schema_file,
)
from tls_tasks.evidence.types import JOURNAL_SCHEMA, Attribute, EvidenceSchema

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

NAMES = list(DATA_SETS)
every_set = pytest.mark.parametrize("name", NAMES)

TEA = {"domain": "food", "evidence_span": "Had tea", "polarity": "present", "time_bucket": "today"}
CALM = {
    "domain": "emotion",
    "evidence_span": "calm",
    "polarity": "present",
    "arousal_bucket": "low",
    "time_bucket": "today",
}
TEXT = "Had tea. Then calm, calm."
ROW = {"journal_id": "a", "text": TEXT, "items": [TEA, CALM]}
PLANTS = EvidenceSchema("plants", ("tree", "herb"), (Attribute("size", {"": "size"}, ("small", "big")),))
ENTITIES = [{"label": "FOOD", "start": 0, "end": 7, "text": "Had tea"}, {"label": "AGE", "start": 4, "end": 7}]
NO_ATTRIBUTES = EvidenceSchema("s", ("food", "emotion"))


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else lines(content), encoding="utf-8")
    return path


# ---- rows


def test_objects_as_json_text_and_as_parquet_gives_them():
    (document,) = read_rows(JOURNAL_SCHEMA, numbered([{**ROW, "items": json.dumps([TEA])}]))
    assert document.objects == (TEA,)
    padded = [{**TEA, "arousal_bucket": None, "intensity_bucket": None}]
    assert read_rows(JOURNAL_SCHEMA, numbered([{**ROW, "items": padded}]))[0].objects == (TEA,)


def test_rows_without_an_id_are_numbered_and_an_empty_list_is_gold():
    rows = [{"text": TEXT, "items": []}] * 2
    assert [(one.id, one.objects) for one in read_rows(JOURNAL_SCHEMA, numbered(rows))] == [("0", ()), ("1", ())]


def row_of(told):
    """A row of a case: "b" is the second of ROWS; {"ROW": …} changes ROW, {"TEA": …} its only object, "..." drops."""
    if not isinstance(told, dict):
        return ROWS[1] if told == "b" else told
    if "TEA" in told:
        return {**ROW, "items": [{key: value for key, value in (TEA | told["TEA"]).items() if value != "..."}]}
    return {**ROW, **told["ROW"]} if "ROW" in told else told


@pytest.mark.parametrize(("row", "message"), CASES["rows_that_are_no_gold_are_errors"])
def test_rows_that_are_no_gold_are_errors(row, message):
    with pytest.raises(DataError, match=message):
        read_rows(JOURNAL_SCHEMA, numbered([row_of(row)]))


def test_spans_from_offsets_other_labels_passed_over_and_a_passage_once():
    twice = [{"label": "emotion", "start": 14, "end": 18}, {"label": "emotion", "start": 20, "end": 24}]
    (document,) = read_rows(NO_ATTRIBUTES, numbered([{"full_text": TEXT, "ner_info": ENTITIES + twice}]))
    assert document.objects == (
        {"domain": "food", "evidence_span": "Had tea"},
        {"domain": "emotion", "evidence_span": "calm"},
    )


def test_an_entity_of_two_passages_is_the_stretch_between_but_many_misplaced_are_an_error():
    parts = [{"label": "food", "start": 0, "end": 13, "text": "Had Then"}]
    others = [{"label": "emotion", "start": number, "end": number + 2} for number in range(10)]
    (document,) = read_rows(NO_ATTRIBUTES, numbered([{"text": TEXT, "entities": others + parts}]))
    assert document.objects[-1]["evidence_span"] == "Had tea. Then"
    with pytest.raises(DataError, match="row 1: the offsets of 1 of 1 entities don't point at their text"):
        read_rows(NO_ATTRIBUTES, numbered([{"text": TEXT, "entities": parts}]))


def test_attributes_of_entities_are_kept():
    entities = [{"label": "tree", "start": 0, "end": 3, "size": "big"}]
    (document,) = read_rows(PLANTS, numbered([{"text": "Oak", "entities": entities}]))
    assert document.objects == ({"domain": "tree", "evidence_span": "Oak", "size": "big"},)


@pytest.mark.parametrize("offsets", [(-1, 3), (3, 3), (5, 3), (0, 99), (0.0, 3), ("0", 3), (True, 3), (None, 3)])
def test_impossible_offsets_are_errors(offsets):
    entity = {"label": "food", "start": offsets[0], "end": offsets[1]}
    with pytest.raises(DataError, match=r"row 1, entity 1: start and end must be offsets in a text of 25"):
        read_rows(NO_ATTRIBUTES, numbered([{"text": TEXT, "entities": [entity]}]))


def test_a_schema_of_ones_own():
    scale = EvidenceSchema("scale", ("pain",), (Attribute("degree", {"": "degree"}, ("1", "2")),))
    row = {"text": "Ouch.", "items": [{"domain": "pain", "evidence_span": "Ouch", "degree": 2}]}
    assert read_rows(scale, numbered([row]))[0].objects[0]["degree"] == 2
    row = {"text": "A small oak.", "items": [{"domain": "tree", "evidence_span": "small oak", "size": "small"}]}
    assert read_rows(PLANTS, numbered([row]))[0].objects == tuple(row["items"])
    with pytest.raises(DataError, match="unknown_size"):
        read_rows(PLANTS, numbered([{**row, "items": [{**row["items"][0], "size": "tall"}]}]))


# ---- files


EXPECTED = (EvidenceDocument("a", TEXT, (TEA, CALM)), EvidenceDocument("b", "Nothing.", ()))
ROWS = [ROW, {"journal_id": "b", "text": "Nothing.", "items": []}]


def write_pair(folder, journals=ROWS, gold=ROWS):
    write(folder / "journals.jsonl", [{key: row[key] for key in ("journal_id", "text")} for row in journals])
    write(folder / "gold.jsonl", [{key: row[key] for key in ("journal_id", "items")} for row in gold])
    return folder


@pytest.mark.parametrize("place", ["", "journals"])
def test_two_files_are_the_data(tmp_path, place):
    write_pair(tmp_path / "journals")
    assert _load_evidence("evidence_journals", data=tmp_path / place).documents == EXPECTED


@pytest.mark.parametrize(
    ("journals", "gold", "message"), CASES["two_files_that_do_not_fit_are_errors_that_name_file_and_line"]
)
def test_two_files_that_do_not_fit_are_errors_that_name_file_and_line(tmp_path, journals, gold, message):
    with pytest.raises(DataError, match=message):
        _load_evidence("evidence_journals", data=write_pair(tmp_path, map(row_of, journals), map(row_of, gold)))


def test_journals_without_the_file_of_gold(tmp_path):
    write_pair(tmp_path)
    (tmp_path / "gold.jsonl").unlink()
    with pytest.raises(DataError, match=r"gold\.jsonl: no such file"):
        _load_evidence("evidence_journals", data=tmp_path)


def three(tmp_path, predictions, **files):
    write_pair(tmp_path, **files)
    predictions = write(tmp_path / "p.jsonl", predictions)
    return read_files(tmp_path / "journals.jsonl", tmp_path / "gold.jsonl", predictions, JOURNAL_SCHEMA)


def test_three_files_in_the_order_of_the_journals(tmp_path):
    journals, predictions = three(tmp_path, [{"id": "b", "items": "model text"}, {"journal_id": "a", "objects": [TEA]}])
    assert [(journal.id, journal.text) for journal in journals] == [("a", TEXT), ("b", "Nothing.")]
    assert [journal.objects for journal in journals] == [(TEA, CALM), ()]
    assert predictions == {"a": json.dumps([TEA]), "b": "model text"}
    assert three(tmp_path, [{"id": "b", "items": []}])[1] == {"a": None, "b": "[]"}


@pytest.mark.parametrize(
    ("predictions", "files", "message"), CASES["three_files_that_do_not_fit_are_errors_that_name_file_and_line"]
)
def test_three_files_that_do_not_fit_are_errors_that_name_file_and_line(tmp_path, predictions, files, message):
    with pytest.raises(DataError, match=message):
        three(tmp_path, predictions, **{name: map(row_of, rows) for name, rows in files.items()})


def test_a_schema_file(tmp_path):
    file = write(tmp_path / "s.json", json.dumps(PLANTS.as_dict()))
    assert read_schema_file(file) == PLANTS
    with pytest.raises(DataError, match=r"s\.json: not JSON"):
        read_schema_file(write(file, "{"))
    with pytest.raises(InputError, match="schema"):
        read_schema_file(write(file, '{"domains": 3}'))
    with pytest.raises(DataError, match=r"none\.json"):
        read_schema_file(tmp_path / "none.json")


# ---- the order


def test_the_hub_copy_of_maccrobat(tmp_path):
    cached = hub_file(tmp_path, DATA_SETS["evidence_maccrobat"])
    document = {
        "full_text": "He took aspirin.",
        "ner_info": [{"text": "aspirin", "label": "MEDICATION", "start": 8, "end": 15}],
        "tokens": ["He"],
        "ner_labels": ["O"],
    }
    cached.write_text(json.dumps({"data": [document] * 200, "all_ner_labels": ["O"]}))
    loaded = _load_evidence("evidence_maccrobat")
    assert (loaded.edition, len(loaded.documents)) == ("hub", 200)
    assert loaded.origin == f"singh-aditya/MACCROBAT_biomedical_ner@{DATA_SETS['evidence_maccrobat'].hub.revision}"
    assert loaded.documents[7] == EvidenceDocument(
        "7", "He took aspirin.", ({"domain": "MEDICATION", "evidence_span": "aspirin"},)
    )
    cached.write_text(json.dumps({"data": [document] * 3}))
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_evidence("evidence_maccrobat").edition == "embedded"
    with pytest.raises(DataError, match=r"rows: 3, but data_sets\.json expects 200"):
        _load_evidence("evidence_maccrobat", edition="hub")


# ---- the whole way, as the harness calls it


def test_a_schema_of_ones_own_goes_all_the_way(tmp_path):
    schema = PLANTS.as_dict()
    row = {"text": "A small oak.", "items": [{"domain": "tree", "evidence_span": "small oak", "size": "small"}]}
    file = write(tmp_path / "x.jsonl", [row])
    for given in (schema, str(write(tmp_path / "schema.json", json.dumps(schema)))):
        doc = load_documents("evidence_journals", data=file, schema=given)[0]
        assert '- "domain": one of "tree", "herb"\n' in prompt(doc) and '- "size": one of "small", "big"\n' in prompt(
            doc
        )
        assert "personal journal" not in prompt(doc)
    with pytest.raises(InputError, match="schema: got plants, expected data of that schema"):
        load_documents("evidence_journals", schema=schema)


@every_set
def test_the_prompt_states_the_schema_and_puts_the_instruction_last(name):
    schema = data_set_schema(DATA_SETS[name])
    for doc in load_documents(name, edition="embedded"):
        text = prompt(doc)
        assert text.startswith(f"<document>\n{doc['text']}\n</document>\n\n") and text.endswith("\n\nJSON:")
        stated = text.removeprefix(f"<document>\n{doc['text']}\n</document>")
        keys = {attribute.key_for(domain) for attribute in schema.attributes for domain in schema.domains}
        values = {value for attribute in schema.attributes for value in attribute.values}
        for word in {"domain", "evidence_span", *schema.domains, *keys, *values}:
            assert f'"{word}"' in stated
        assert "character for character" in stated and "answer []" in stated
    assert ("(only for emotion)" in stated) is (name == "evidence_journals")
