"""Every option that a message recommends, tried: with it equal trees have 1, and an empty answer has 0."""

import re

import pytest

from tls_tasks.core.errors import InputError
from tls_tasks.trees.tree_eval import tree_eval

JSON_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
REFUSED = [
    ({}, {"a": 1, "b": {"c": [2, {"d": "x"}]}}),
    ({"type": "object"}, {"a": 1}),
    ({"a": "string"}, {"a": "x", "b": 2}),
    (JSON_SCHEMA, {"a": "x", "b": [2, None]}),
    ({"a": "string"}, {"a": 5}),
    ({"a": "integer"}, {"a": "five"}),
    ({"a": "boolean"}, {"a": 1}),
    ({"a": ["x", "y"]}, {"a": 5}),
    ({"a": "string"}, {"a": {"b": 1}}),
    ({"a": "string"}, {"a": ["x"]}),
    ({"a": ["string"]}, {"a": "x"}),
    ({"a": ["string"]}, {"a": [5, "x", ["y"]]}),
    ({"a": [{"b": "string"}]}, {"a": {"b": "x"}}),
    ({"a": [{"b": "string"}]}, {"a": [{"b": "x"}, {"b": "y", "c": 1}, "z"]}),
    ({"a": {"b": "string"}}, {"a": [{"b": "x"}, 3]}),
    ({"a": {"b": "string"}}, {"a": "x"}),
    ({"a": "string"}, {"a": {"$any_of": [5, {"b": 1}]}}),
    ({"a": "string"}, ["x"]),
    ({"a": "string"}, '"x"'),
    ({"a": {"x": "string"}, "b": "string"}, {"a": {"z": 1}, "b": 5}),
    (["string"], {"a": "x"}),
    ([{"a": "string"}], {"a": "x"}),
    ("string", {"a": "x"}),
    ({"a": "date"}, {"a": "03/05/2024"}),
    ({"a": ["date"]}, {"a": ["2024-05-03", "03/05/2024"]}),
]


def advice(schema, reference):
    """The settings that the message recommends when a reference is refused."""
    with pytest.raises(InputError) as refused:
        tree_eval([{}], [reference], schema)
    told = str(refused.value).partition(", expected ")[2]
    found = [{"schema": schema, "day_month": order} for order in re.findall(r"'(day_first|month_first)'", told)]
    found += [{"schema": None}] * ("schema=None" in told)
    return [*found, {"schema": schema[0]}] if "schema=schema[0]" in told else found


@pytest.mark.parametrize(("schema", "reference"), REFUSED)
def test_what_a_message_recommends_works(schema, reference):
    settings = advice(schema, reference)
    answer = {"a": 5} if "$any_of" in str(reference) else reference
    assert settings
    for chosen in settings:
        score = tree_eval([answer], [reference], **chosen)
        assert (score.f1_value, score.f1_value_exact, score.f1_node, score.f1_leaf) == (1, 1, 1, 1), chosen
        assert not score.differences()
        for empty in ({}, [], "", "none", None):
            assert tree_eval([empty], [reference], **chosen).f1_value == 0, (chosen, empty)


def test_without_a_schema_the_shape_is_that_of_all_references():
    references = [{"a": 1, "l": [{"x": "p"}]}, {"b": {"$any_of": ["u", None]}, "l": []}, {"a": 0.5, "l": None}]
    score = tree_eval([*references[::2], {"b": "u", "c": 3}], [*references[::2], references[1]])
    assert score.as_dict()["values"].keys() == {"a", "l.x", "b", "(outside the schema)"}
    assert "|schema:references|" in score.signature
    assert "schema:" not in tree_eval([{}], [{"a": 1}], {"a": "integer"}).signature
