"""compat="extractbench": ExtractBench's own numbers, and what is added where it gives none."""

import json
import math
import pickle

import pytest
from pydantic import BaseModel

import tls_tasks
from tests.conftest import ORACLES, read_jsonl
from tls_tasks.core.errors import InputError, OptionError, ParseFailureWarning
from tls_tasks.trees import extractbench

CASES = read_jsonl(ORACLES / "extractbench.jsonl")
P, R, F1 = extractbench.KEYS


def score(answers, references, schema=None, **options):
    return tls_tasks.tree_eval(answers, references, schema or {}, compat="extractbench", **options)


def test_as_the_program():
    for case in CASES:
        found = score([json.dumps(case["actual"])], [case["expected"]], case["schema"]).results
        assert {name: found[name] for name in case["scores"]} == pytest.approx(case["scores"], abs=1e-12), case["seed"]


def test_a_corpus_is_the_mean_over_documents():
    """Long documents have no more weight; those without a cell have none."""
    answers = [{"a": 1}, {str(i): i for i in range(9)}, {}]
    references = [{"a": 2}, {str(i): i for i in range(9)}, {"tags": ["a", "b"]}]
    whole = score(answers, references)
    assert (whole[F1], whole["v_correct"], whole["expected_cells"]) == (0.5, 9, 10)
    apart = [score([a], [r]) for a, r in zip(answers, references, strict=True)]
    assert [own[F1] for own in apart[:2]] == [0, 1] and math.isnan(apart[2][F1])
    assert list(whole.units) == [unit for own in apart for unit in own.units]
    assert whole.intervals(keys=[F1])[F1] == pytest.approx((0, 1), abs=1e-9)
    assert pickle.loads(pickle.dumps(whole)) == whole


def test_answers_that_are_no_dictionary_have_zero():
    """The program drops them from the mean, and counts as zero what it could not parse."""
    with pytest.warns(ParseFailureWarning):
        found = score(["[1]", "no tree", '{"a": null}'], [{"a": None}] * 3)
    assert found.results[F1] == found.results[P] == found.results[R] == pytest.approx(1 / 3)
    assert [item.as_dict()[F1] for item in found.items] == [0, 0, 1]


def test_references_that_cannot_be_scored():
    with pytest.raises(InputError, match=r"references\[1\].*a dictionary"):
        score([{}, {}], [{"a": 1}, [1]])
    with pytest.raises(InputError, match=r"references\[0\].*several valid answers"):
        score([{"a": 1}], [{"a": {"$any_of": [1, 2]}}])


@pytest.mark.parametrize(
    "option",
    [
        {"leaf_metrics": {"string": "rouge_l"}},
        {"options": {"types": "loose"}},
        {"list_order": "ordered"},
        {"list_order": {"a": "ordered"}},
        {"hierarchical_averaging": True},
    ],
)
def test_options_that_it_does_not_have(option):
    with pytest.raises(InputError, match="compat='extractbench' has no such option") as caught:
        score([{"a": 1}], [{"a": 1}], **option)
    assert str(caught.value).startswith(next(iter(option)))


def test_compat_is_one_of_three():
    with pytest.raises(OptionError, match="'treeval', 'extractbench'; did you mean 'extractbench'"):
        tls_tasks.tree_eval([{}], [{}], {}, compat="extractbnch")


def test_signature_names_what_the_schema_decides():
    """The order of keys, descriptions and types of values decide nothing; what is a list does."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    same = {"type": "object", "properties": {"b": {"type": "number", "title": "B"}, "a": {"type": "string"}}}
    other = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "integer"}}}
    signatures = [score([{}], [{}], own).signature for own in (schema, same, other)]
    assert signatures[0] == signatures[1] != signatures[2]
    assert signatures[0].startswith("tree_eval|compat:extractbench|schema:")
    assert "parse:strict" in score(["{}"], [{}], schema, parse_mode="strict").signature


def test_schemas_in_other_forms():
    """A field that the schema calls a list is one where the reference has null: its records are cells of the answer."""
    answer, reference = {"lines": [{"n": 1, "x": 2}]}, {"lines": None}
    line = {"type": "object", "properties": {"n": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"lines": {"type": "array", "items": line}}}
    for own in (schema, json.dumps(schema), {"lines": [{"n": "integer"}]}):
        found = score([answer], [reference], own).results
        assert (found["expected_cells"], found["predicted_cells"], found["predicted_rows"]) == (0, 1, 1)
    assert score([answer], [reference]).results["expected_cells"] == 1


def test_a_model_is_its_json_schema_taken_literally():
    """The fields of its records are behind a $ref, where they are not looked for."""

    class Line(BaseModel):
        n: int

    class Bill(BaseModel):
        lines: list[Line]

    for own in (Bill, Bill.model_json_schema()):
        found = score([{"lines": [{"n": 1}]}], [{"lines": None}], own).results
        assert (found["expected_cells"], found["predicted_cells"], found["predicted_rows"]) == (0, 0, 0)


def test_cells_without_a_counterpart_are_those_of_the_schema_at_any_depth():
    schema = {"lines": [{"sub": [{"deep": [{"a": "integer", "b": "integer"}]}]}]}
    found = score([{"lines": []}], [{"lines": [{"sub": [{"deep": [{"a": 1}]}]}]}], schema).results
    assert (found["expected_cells"], found["predicted_cells"]) == (2, 0)


def test_the_order_of_fields_does_not_sign():
    one, other = ({"a!": "any", "a": ["any"], 1: "any"}, {1: "any", "a": ["any"], "a!": "any"})
    assert score([{}], [{}], one).signature == score([{}], [{}], other).signature


@pytest.mark.filterwarnings("error")  # of a time zone that is not known
def test_dates_do_not_depend_on_today():
    pairs = [("1/2/75", "2075-01-02"), ("1/2/76", "1976-01-02"), ("at 10 2024", "2024-10-01")]
    pairs += [("2024-10-01 10:00 QQT", "2024-10-01")]
    for text, day in [*pairs, ("1 May 1900", "1900-05-01")]:
        assert score([{"a": text}], [{"a": day}])[F1] == 1


def test_python_values():
    import datetime

    answer = {"day": "May 3, 2024", "at": "2024-05-03T10:00", "odd": [1, True, {"b": 1.0}]}
    reference = {"day": datetime.date(2024, 5, 3), "at": datetime.datetime(2024, 5, 3, 9), "odd": [1, 1, {"b": 1}]}
    assert score([answer], [reference])[F1] == 1


def test_records_beyond_the_limit_are_not_paired(monkeypatch):
    monkeypatch.setattr(extractbench, "_MOST_PAIRS", 3)
    rows = [{"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": 3, "b": 3}]
    found = score([{"l": [rows[0], {"a": 2}, {"a": 3}]}], [{"l": rows}]).results
    assert (found["v_correct"], found["expected_cells"], found["value_incomplete"]) == (0, 6, 1)


def test_its_results_have_intervals():
    found = score(['{"a": "x"}'] * 3, [{"a": "x"}, {"a": "x"}, {"a": "y"}], {"a": "string"}, confidence_interval=0.95)
    assert {key for key in found.as_dict() if key.endswith("_ci")} == {f"{key}_ci" for key in (P, R, F1)}
