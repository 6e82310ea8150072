"""The files of the extraction tasks' embedded edition: form, gold trees against schemas and texts, the README."""

import datetime
import json
import re

import pytest

from tests.conftest import read_jsonl
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.trees.compliance import find_issues
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.types import Branch, ListOf

pytestmark = pytest.mark.usefixtures("isolated")

FOLDERS = ("tree_extraction", "tree_paraloq")
KINDS = ("invoice", "song", "recipe", "meeting", "product", "cv")


SCHEMAS = json.loads((EMBEDDED / "tree_extraction" / "schemas.json").read_text(encoding="utf-8"))
ROWS = {task: read_jsonl(EMBEDDED / task / "documents.jsonl") for task in FOLDERS}
CASES = [pytest.param(row, id=row["id"]) for task in FOLDERS for row in ROWS[task]]
every_row = pytest.mark.parametrize("row", CASES)


def type_label(row):
    return row["schema"] if isinstance(row["schema"], str) else row["title"]


def node_of(row):
    return read_schema(SCHEMAS[row["schema"]] if isinstance(row["schema"], str) else row["schema"])


def leaves(tree, node):
    """Each leaf's value with its node; empty lists have none."""
    if isinstance(node, Branch):
        for key, child in node.children.items():
            yield from leaves(tree[key], child)
    elif isinstance(node, ListOf):
        for item in tree:
            yield from leaves(item, node.item)
    else:
        yield tree, node


def lists(tree, node):
    if isinstance(node, Branch):
        for key, child in node.children.items():
            yield from lists(tree[key], child)
    elif isinstance(node, ListOf):
        yield tree
        for item in tree:
            yield from lists(item, node.item)


def test_six_kinds_of_six_documents():
    assert tuple(SCHEMAS) == KINDS
    assert [row["schema"] for row in ROWS["tree_extraction"]] == [kind for kind in KINDS for _ in range(6)]
    assert len(ROWS["tree_paraloq"]) == 3
    ids = [row["id"] for task in FOLDERS for row in ROWS[task]]
    assert len(ids) == len(set(ids))


def test_the_schemas_have_every_shape():
    types = {leaf.type for row in ROWS["tree_extraction"] for _, leaf in leaves(row["reference"], node_of(row))}
    assert types == {"string", "integer", "number", "boolean", "date", "choice"}
    nested = read_schema(SCHEMAS["meeting"]).children["agenda"].item.children["actions"]
    assert isinstance(nested, ListOf) and isinstance(nested.item, Branch), "a list of dictionaries within such a list"
    assert any(isinstance(child, Branch) for child in read_schema(SCHEMAS["invoice"]).children.values())


@every_row
def test_the_gold_tree_complies_with_its_schema_and_has_every_key(row):
    assert find_issues(row["reference"], node_of(row)) == []
    list(leaves(row["reference"], node_of(row)))  # a key that is missing raises


@every_row
def test_the_text_is_of_the_promised_size_and_clean(row):
    assert 60 <= len(row["text"].split()) <= 200
    assert row["text"] == row["text"].strip() and row["text"].replace("\n", "").isprintable()


@every_row
def test_texts_of_the_gold_tree_stand_word_for_word_in_the_document(row):
    for value, leaf in leaves(row["reference"], node_of(row)):
        if leaf.type == "string" and value is not None:
            assert value == " ".join(value.split()) != ""
            assert re.search(rf"(?<!\w){re.escape(value)}(?!\w)", row["text"]), value


@every_row
def test_the_days_of_the_gold_tree_are_named_in_the_document(row):
    for value, leaf in leaves(row["reference"], node_of(row)):
        if leaf.type == "date" and value is not None:
            day = datetime.date.fromisoformat(value)
            forms = rf"\b{day.day} {day:%B}\b|\b{day.day} {day:%b}\b|{value}"
            assert re.search(forms, row["text"]) and str(day.year) in row["text"], value


def test_there_are_traps():
    rows = ROWS["tree_extraction"]
    assert sum(any(value is None for value, _ in leaves(row["reference"], node_of(row))) for row in rows) >= 24
    assert sum(any(not one for one in lists(row["reference"], node_of(row))) for row in rows) >= 9
    assert sum(not row["text"].isascii() for row in rows) >= 12
    for kind in KINDS:
        of_kind = [row for row in rows if row["schema"] == kind]
        assert any(value is None for row in of_kind for value, _ in leaves(row["reference"], node_of(row)))
    # Numbers in words or with thousands separators: numbers of the tree whose digits are not in the text.
    numbers = [
        (row["text"], value)
        for row in rows
        for value, leaf in leaves(row["reference"], node_of(row))
        if leaf.type in ("integer", "number") and value is not None
    ]
    hidden = [value for text, value in numbers if not re.search(rf"(?<![\d.]){re.escape(f'{value:g}')}", text)]
    assert len(hidden) >= 25


def test_readme_rows_are_counted_from_the_files():
    readme = (EMBEDDED / "README.md").read_text(encoding="utf-8").splitlines()
    for task in FOLDERS:
        for kind in dict.fromkeys(type_label(row) for row in ROWS[task]):
            rows = [row for row in ROWS[task] if type_label(row) == kind]
            words = sum(len(row["text"].split()) for row in rows)
            values = [value for row in rows for value, _ in leaves(row["reference"], node_of(row))]
            n_null = sum(value is None for value in values)
            assert f"| `{task}` | {kind} | {len(rows)} | {words} | {len(values)} | {n_null} |" in readme
