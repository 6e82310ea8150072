"""tree_eval where values, settings or metrics are not what one expects at first."""

import enum
import json
from pathlib import Path

import pydantic
import pytest

from tls_tasks.cli import main
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.trees.leaf_metrics import resolve_metric
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import AnyOf

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


class Color(str, enum.Enum):
    red = "red"
    blue = "blue"


class Car(pydantic.BaseModel):
    color: Color
    colors: list[Color]


@pytest.mark.parametrize("compat", [None, "treeval"])
def test_members_of_an_enum_are_their_values(compat):
    gold = Car(color="red", colors=["red", "blue"]).model_dump()
    result = tree_eval(['{"color": "red", "colors": ["blue", "red"]}'], [gold], Car, compat=compat).as_dict()
    assert result["leaves"] == {"color": {"exact_match": 1.0}, "colors": {"exact_match": 1.0}}


def test_null_where_the_program_counts_leaves_below_a_dictionary():
    schema = {"a": {"b": {"c": "integer"}}, "d": "string"}
    given = {"a": {"b": {"c": 1}}, "d": "x"}
    assert tree_eval([given], [{"a": None, "d": "x"}], schema, compat="treeval").precision_leaf == 0.5


def test_null_among_the_answers_of_an_item():
    result = tree_eval([{"a": [None, "b"]}], [{"a": [AnyOf(["b", None]), "b"]}], {"a": ["string"]})
    assert result.as_dict()["fields"]["a"] | {"correct": 1, "absent": 1} == result.as_dict()["fields"]["a"]
    moved = tree_eval([{"a": [None, "ab"]}], [{"a": [AnyOf(["ab", None]), "ax"]}], {"a": ["string"]})
    assert moved.items[0].as_dict()["alignments"] == {"a": [[0, 1], [1, 0]]}


@pytest.mark.parametrize(
    ("tolerance", "reference", "prediction", "score"),
    [
        *CASES["a_tolerance_is_what_it_says"],
        (2, 10**400, 10**400 + 1, 1.0),
        (2, 10**400, 10**400 + 3, 0.0),
        (2, 10**400, "x", 0.0),
    ],
)
def test_a_tolerance_is_what_it_says(tolerance, reference, prediction, score):
    metric = resolve_metric("exact_match", tolerance=tolerance)
    assert metric.pairs([reference, 0], [prediction, 0]).tolist() == [score, 1.0]
    assert metric.matrix([0, reference], [prediction, 0]).tolist() == [[0.0, 1.0], [score, 0.0]]


def test_large_integers_in_lists():
    result = tree_eval([{"a": [10**5000, 2]}], [{"a": [1, 2]}], {"a": ["integer"]}).as_dict()
    assert result["leaves"] == {"a": {"exact_match": 0.5}}
    assert tree_eval([{"a": [10**5000]}], [{"a": [10**5000]}], {"a": ["integer"]}).as_dict()["treeval_score"] == 1.0


# --- metrics ---


def test_another_name_changes_the_key_and_nothing_else():
    def scored(metric):
        return tree_eval([{"a": "bar"}], [{"a": "baroo"}], {"a": "string"}, {"a": metric})

    renamed = scored({"metric": "indel_ratio", "name": "exact_match"})
    assert renamed.as_dict()["leaves"] == {"a": {"exact_match": 0.75}}
    assert renamed.signature == scored("indel_ratio").signature
    assert renamed.signature != scored({"metric": "exact_match", "name": "exact_match"}).signature


def both(predictions, references):
    return {"p": [1.0] * len(predictions), "r": [0.5] * len(predictions)}


def test_the_key_of_a_result_is_in_the_signature():
    precision, recall = (resolve_metric(both, result_key=key) for key in "pr")
    assert precision.signature == "custom(both)(result_key=p)"
    assert precision.signature != recall.signature
    assert resolve_metric(both, name="mine", result_key="p").signature == precision.signature


def test_sets_of_names_and_functions():
    def one(prediction, reference):
        return 1.0

    result = tree_eval([{"a": "x"}], [{"a": "y"}], {"a": "string"}, {"a": {one, "exact_match"}}).as_dict()
    assert result["leaves"] == {"a": {"exact_match": 0.0, "one": 1.0}}


def test_others_are_asked_once_a_list_and_once_for_all_pairs_outside_lists():
    calls = []

    def counted(predictions, references):
        calls.append(list(zip(predictions, references, strict=True)))
        return [float(one == other) for one, other in zip(predictions, references, strict=True)]

    references = [{"a": [f"{row}-{i}" for i in range(20)], "b": str(row % 3)} for row in range(10)]
    predictions = [{**one, "a": one["a"][::-1]} for one in references]
    result = tree_eval(predictions, references, {"a": ["string"], "b": "string"}, {"string": counted}).as_dict()
    assert result["leaves"]["a"]["counted"] == result["leaves"]["b"]["counted"] == 1.0
    assert all(len(pairs) == len(set(pairs)) for pairs in calls)
    assert [len(pairs) for pairs in calls] == [20 * 20] * 10 + [3]  # all pairs of items of each list; b's


# --- settings ---

NESTED = {"seller": {"name": "string"}, "x": "string", "lines": [{"id": "string"}]}
TREE = {"seller": {"name": "a"}, "x": "b", "lines": [{"id": "c"}]}


@pytest.mark.parametrize(("settings", "message"), CASES["settings_that_mean_nothing_are_refused"])
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        tree_eval([TREE], [TREE], NESTED, **settings)


def test_options_are_looked_at_whatever_the_rows_are():
    for options in ({"parse_mode": "stict"}, {"compat": []}):
        with pytest.raises(OptionError):
            tree_eval([TREE], [TREE], NESTED, **options)


def test_the_root_of_a_list_has_a_name():
    texts = [["b", "a"]], [["a", "b"]]
    assert tree_eval(*texts, ["string"], list_order={"$": "ordered"}).as_dict()["leaves"] == {"indel_ratio": 0.0}
    assert tree_eval(*texts, ["string"], {"$": "exact_match"}).as_dict()["leaves"] == {"exact_match": 1.0}


# --- schemas ---


@pytest.mark.parametrize("text", ["schemas/invoice.json", "invoice.json", "Here is the schema: {}", "```json\n{}\n```"])
def test_text_that_is_no_schema(text):
    with pytest.raises(InputError, match="JSON or a type name; of a file give the content"):
        read_schema(text)


def test_names_of_types_are_schemas():
    assert [read_schema(name).type for name in ("string", '"date"', "isbn", "integer|string", "my-type")] == [
        "string", "date", "isbn", "integer|string", "my-type"
    ]  # fmt: skip


def of_property(schema, **definitions):
    return {"type": "object", "properties": {"a": schema}, **definitions}


@pytest.mark.parametrize(("schema", "message"), CASES["json_schema_with_a_mistake"])
def test_json_schema_with_a_mistake(schema, message):
    with pytest.raises(InputError, match=message):
        read_schema(schema)


def test_references_to_parts_of_lists_and_escaped_names():
    schema = of_property({"$ref": "#/$defs/A%20B"}, **{"$defs": {"A B": {"type": "integer"}}})
    assert read_schema(schema).children["a"].type == "integer"
    schema = of_property({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]})
    schema["properties"]["b"] = {"$ref": "#/properties/a/anyOf/0"}
    assert read_schema(schema).children["b"].type == "date"


# --- the terminal ---


def test_the_view_has_the_scores_of_the_scorer(tmp_path, capsys):
    for name, value in (("p", {"b": True}), ("g", {"b": 1}), ("s", {"b": "integer"})):
        (tmp_path / name).write_text(json.dumps(value))
    paths = ["--predictions", str(tmp_path / "p"), "--references", str(tmp_path / "g")]
    for options, score in (([], "0.00"), (["--compat", "treeval"], "1.00")):
        assert main(["trees", *paths, "--schema", str(tmp_path / "s"), *options]) == 0
        assert ["!", "b", "1", "true", score] in [line.split() for line in capsys.readouterr().out.splitlines()]


# --- text ---


@pytest.mark.parametrize("text", ['{"a": 007}', '{"a": -01}', '{"a":\u00a07}', '{"a": 0012.50}'])
def test_what_is_no_json_is_repaired(text):
    result = tree_eval([text], [{"a": 7}], {"a": "number"}).as_dict()
    assert (result["json_valid"], result["parsed"], result["repaired"]) == (0.0, 1.0, 1.0)


def test_what_was_answered_before_is_asked_again_in_another_scoring():
    answers = iter([0.25, 0.75])
    metric = resolve_metric(lambda prediction, reference: next(answers), name="changing")
    scores = [tree_eval([{"a": "x"}], [{"a": "y"}], {"a": "string"}, {"a": metric}).as_dict() for _ in range(2)]
    assert [score["leaves"]["a"]["changing"] for score in scores] == [0.25, 0.75]


def test_a_float_makes_floats_of_the_batch_only_if_its_pair_is_scored():
    references, predictions = [{"a": 1000000}, {"a": None}], [{"a": 1000005}, {"a": 0.5}]
    result = tree_eval(predictions, references, {"a": "integer"}, compat="treeval").as_dict()
    assert result["leaves"] == {"a": {"exact_match": 0.0}}
    references[1] = {"a": 1}
    result = tree_eval(predictions, references, {"a": "integer"}, compat="treeval").as_dict()
    assert result["leaves"] == {"a": {"exact_match": 0.5}}
