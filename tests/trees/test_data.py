"""Extraction data: rows, schemas by name, the order of the sources, the prompt."""

import json
from pathlib import Path

import pytest

from tests.data.hub_parts import hub_file, numbered
from tests.data_parts import write_lines
from tests.test_data import write_parquet
from tls_tasks.core.errors import DataError
from tls_tasks.data.sources import EmbeddedEditionWarning
from tls_tasks.trees.data import DATA_SETS, TreeDocument, _load_trees, _prompt_schema, load_documents, prompt, read_rows

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

NAMES = list(DATA_SETS)
every_set = pytest.mark.parametrize("name", NAMES)
SCHEMA = {"name": "string", "n": "integer", "tags": ["string"]}
TREE = {"name": "Ä", "n": 3, "tags": []}
ROW = {"id": "a", "text": "A text.", "schema": SCHEMA, "reference": TREE}
EXPECTED = TreeDocument("a", "", "A text.", json.dumps(SCHEMA), json.dumps(TREE, ensure_ascii=False))


# ---- rows


def test_schema_and_tree_as_json_text():
    row = {**ROW, "schema": json.dumps(SCHEMA), "reference": json.dumps(TREE, ensure_ascii=False)}
    assert read_rows("x", numbered([row], "line")) == (EXPECTED,)


def test_a_schema_by_its_name_gives_the_kind_and_a_title_does_so_too():
    by_name, titled = read_rows(
        "x", numbered([{**ROW, "schema": "thing"}, {**ROW, "id": "b", "title": "Thing"}], "line"), {"thing": SCHEMA}
    )
    assert (by_name.kind, by_name.schema) == ("thing", EXPECTED.schema)
    assert titled.kind == "Thing"


def test_json_schema_and_several_answers_are_kept_as_they_are():
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": "A."}}}
    row = {**ROW, "schema": schema, "reference": {"a": {"$any_of": ["x", "y", None]}}}
    (document,) = read_rows("x", numbered([row], "line"))
    assert json.loads(document.schema) == schema
    assert json.loads(document.reference) == row["reference"]


@pytest.mark.parametrize(("rows", "message"), CASES["rows_that_are_no_documents_are_errors_that_name_the_line"])
def test_rows_that_are_no_documents_are_errors_that_name_the_line(rows, message):
    rows = [{**ROW, **row["ROW"]} if "ROW" in row else row for row in rows]
    with pytest.raises(DataError, match=message):
        read_rows("x", numbered(rows, "line"), {"thing": SCHEMA, "text": "string"})


def test_a_missing_key_and_a_value_beside_its_choices_can_be_scored_and_pass():
    row = {**ROW, "schema": {"size": ["s", "m"], "n": "integer"}, "reference": {"size": "xl"}}
    assert len(read_rows("x", numbered([row], "line"))) == 1


# ---- files and the order of the sources


@pytest.mark.parametrize("name", ["rows.jsonl", "test.jsonl"])
def test_schemas_stand_beside_the_rows_and_are_no_rows(tmp_path, name):
    write_lines(tmp_path / name, [{**ROW, "schema": "thing"}])
    (tmp_path / "schemas.json").write_text(json.dumps({"thing": SCHEMA}))
    for data in (tmp_path, tmp_path / name):
        (document,) = _load_trees("tree_extraction", data=data).documents
        assert (document.kind, document.schema) == ("thing", EXPECTED.schema)


@pytest.mark.parametrize(("files", "message"), CASES["broken_folders_are_errors_that_name_file_and_line"])
def test_broken_folders_are_errors_that_name_file_and_line(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        _load_trees("tree_extraction", data=tmp_path)


@pytest.fixture
def cached(tmp_path):
    """Puts rows where the hub's cache has the file of tree_paraloq."""
    return lambda rows: write_parquet(hub_file(tmp_path, DATA_SETS["tree_paraloq"]), rows)


PARALOQ = {
    "title": "Thing", "topic": "t", "medium": "note", "text": "A text.",
    "schema": '{"type": "object", "properties": {"n": {"type": "integer"}}}', "item": '{"n": 3}',
}  # fmt: skip


def test_hub_of_paraloq(cached):
    cached([PARALOQ])
    loaded = _load_trees("tree_paraloq")
    assert loaded.documents == (TreeDocument("0", "Thing", "A text.", PARALOQ["schema"], '{"n": 3}'),)
    revision = DATA_SETS["tree_paraloq"].hub.revision
    assert (loaded.edition, loaded.origin) == ("hub", f"paraloq/json_data_extraction@{revision}")


def test_rows_of_the_hub_that_cant_be_read_are_left_out_and_counted(cached, caplog):
    cached([PARALOQ, {**PARALOQ, "item": "{"}, {**PARALOQ, "schema": '{"$ref": "x", "$defs": {}}'}, PARALOQ])
    loaded = _load_trees("tree_paraloq", edition="hub")
    assert [document.id for document in loaded.documents] == ["0", "3"]
    assert loaded.origin.endswith(" (2 of 4 rows left out)")
    assert "row 2: references: got text that is no JSON" in caplog.text


def test_a_hub_without_a_readable_row_is_passed_over(cached, caplog):
    cached([{**PARALOQ, "item": "{"}])
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_trees("tree_paraloq").edition == "embedded"
    assert "none of its 1 rows can be read" in caplog.text


# ---- the whole way, as the harness calls it


@every_set
def test_prompt_has_the_text_first_and_the_instruction_last(name):
    for doc in load_documents(name, edition="embedded"):
        text = prompt(doc)
        assert text.startswith(f"<document>\n{doc['text']}\n</document>\n\nJSON Schema:\n{{")
        assert text.endswith("Write only one JSON object.\n\nJSON:")
        assert "Write null for what the document does not say" in text
        (line,) = [line for line in text.split("\n") if line == _prompt_schema(doc["schema"])]
        assert set(json.loads(line)["properties"]) == set(json.loads(doc["reference"]))


def test_prompt_of_json_schema_shows_it_as_it_is_and_others_allow_null():
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": "A."}}}
    assert json.loads(_prompt_schema(json.dumps(schema))) == schema
    assert json.loads(_prompt_schema('{"a": ["x", "y"]}'))["properties"]["a"] == {"enum": ["x", "y", None]}


def test_dates_are_asked_for_where_there_are_some_and_the_root_is_named():
    with_dates = prompt({"text": "T", "schema": '[{"day": "date"}]'})
    assert "Write dates as YYYY-MM-DD." in with_dates and "only one JSON array." in with_dates
    without = prompt({"text": "T", "schema": '["a", "b"]'})
    assert "dates" not in without and "only one JSON value." in without
