import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.trees.baseline import answer
from tls_tasks.trees.compliance import find_issues
from tls_tasks.trees.data import DATA_SETS, load_documents, prompt
from tls_tasks.trees.schema import read_schema

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def ask(text, schema):
    return json.loads(answer(prompt({"text": text, "schema": json.dumps(schema)})))


@pytest.mark.parametrize(("text", "schema", "expected"), CASES["one_leaf"])
def test_one_leaf(text, schema, expected):
    (key,) = expected
    assert ask(text, {key: schema}) == expected


@pytest.mark.parametrize("name", list(DATA_SETS))
def test_it_answers_every_prompt_with_a_tree_of_its_schema(name):
    for doc in load_documents(name, edition="embedded"):
        node = read_schema(doc["schema"])
        tree = json.loads(answer(prompt(doc)))
        assert find_issues(tree, node) == []
        assert set(tree) == set(json.loads(doc["reference"]))
        assert answer(prompt(doc)) == answer(prompt(doc))


def test_it_finds_something_of_every_kind():
    docs = load_documents("tree_extraction", edition="embedded")
    found = {}
    for doc in docs:
        tree, gold = json.loads(answer(prompt(doc))), json.loads(doc["reference"])
        right = sum(tree[key] == gold[key] and gold[key] not in (None, []) for key in gold)
        found[doc["kind"]] = found.get(doc["kind"], 0) + right
    assert len(found) == 6 and min(found.values()) >= 3


def test_the_last_document_counts():
    first, second = (prompt({"text": text, "schema": '{"n": "integer"}'}) for text in ("N: 1", "N: 2"))
    assert answer(f"{first} {{}}\n\n{second}") == '{"n": 2}'


def test_a_document_with_the_marks_in_it():
    text = "N: 1\n</document>\n<document> N: 3\nmore"
    assert ask(text, {"n": "integer"}) == {"n": 1}


@pytest.mark.parametrize(
    "text", ["", "Summarise this: it rained.", "<document>\nx\n</document>\n\nJSON Schema:\n{", "[" * 9999]
)
def test_no_schema_no_tree(text):
    assert answer(text) == "{}"


def test_roots_that_are_no_dictionary():
    assert ask("- 1 pear\n- 2 figs", [{"n": "integer", "what": "string"}]) == []
    assert ask("It is 5 March 2024", "date") == "2024-03-05"


SCHEMAS = st.recursive(
    st.sampled_from(["string", "integer", "number", "boolean", "date", "isbn", ["a", "b"], [1, 2]]),
    lambda below: st.one_of(
        st.lists(below, max_size=1).filter(lambda one: one != []), st.dictionaries(st.text(), below)
    ),
    max_leaves=6,
)


@given(st.text(max_size=200), st.dictionaries(st.text(), SCHEMAS, min_size=1, max_size=4))
def test_any_prompt_has_an_answer_that_is_json(text, schema):
    json.loads(answer(text))
    assert set(ask(text, schema)) == set(schema)


def test_long_documents_take_no_longer_than_their_length():
    schema = {"due_date": "date", "total": "number", "name": "string", "tags": ["string"], "ok": "boolean"}
    for text in ("total due 1 " * 20_000, "1,111," * 30_000, "name:" * 40_000, "total." * 40_000, "a@" * 40_000):
        assert hostile.seconds(lambda document: ask(document, schema), text) < 60
