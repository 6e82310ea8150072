"""tree_eval: treeval's numbers, its guide's, the slow obvious version, and what must hold of any trees."""

import dataclasses
import json
import math
import random
import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.conftest import ORACLES, ROOT, read_jsonl
from tests.trees.slow_tree_eval import Slow
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.score import values
from tls_tasks.trees.compliance import ISSUE_KINDS, find_issues
from tls_tasks.trees.counts import KINDS
from tls_tasks.trees.leaf_metrics import resolve_metric
from tls_tasks.trees.pairing import ALIGNED, assign
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.score import KEYS
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import AnyOf, leaves_by_path
from tls_tasks.trees.values import count_nodes

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

ROWS = read_jsonl(ORACLES / "trees.jsonl")
ERRORS = read_jsonl(ORACLES / "trees_errors.jsonl")


def rows_of(kind):
    return [pytest.param(row, id=row["group"]) for row in ROWS if row["kind"] == kind]


def near(left, right):
    if left is None or right is None:
        return left is right
    return abs(left - right) < 1e-9


def assert_same_tree(expected, got, path="$"):
    if isinstance(expected, dict):
        assert isinstance(got, dict) and expected.keys() == got.keys(), path
        for key, value in expected.items():
            assert_same_tree(value, got[key], f"{path}.{key}")
    else:
        assert near(expected, got), (path, expected, got)


def scored(prediction, reference, schema, *args, **options):
    """One row's result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tree_eval([prediction], [reference], schema, *args, **options).as_dict()


# --- treeval's numbers, to 1e-9 ---


@pytest.mark.parametrize("row", rows_of("treeval"))
def test_every_number_is_treevals(row):
    result = tree_eval(
        row["hypothesis"], row["reference"], row["schema"], row["metrics"],
        compat="treeval", hierarchical_averaging=row["hierarchical_averaging"],
    ).as_dict()  # fmt: skip
    expected = row["expected"]
    assert_same_tree(expected["leaves"], result["leaves"])
    assert_same_tree({key: expected[key] for key in KEYS}, {key: result[key] for key in KEYS})
    assert_same_tree(expected["per_metric"], result["averages"]["per_metric"])
    if expected["per_leaf_type"] is not None:  # None: treeval stops
        types = result["averages"]["per_leaf_type"]
        for label, means in expected["per_leaf_type"].items():
            assert_same_tree(means or dict.fromkeys(types[label]), types[label])


@pytest.mark.parametrize("row", rows_of("matching"))
def test_matching_is_treevals(row):
    matrix = np.array(row["matrix"], dtype=float)
    weights = matrix if row["maximize"] else -matrix
    rows, columns = zip(*assign(weights), strict=True)
    assert near(matrix[list(rows), list(columns)].sum(), row["expected"]["total"])


@pytest.mark.parametrize("row", rows_of("count_nodes"))
def test_nodes_are_counted_as_in_treeval(row):
    assert count_nodes(row["tree"]) == row["expected"]


def test_the_copies_of_the_oracles_are_whole(shared):
    assert read_jsonl(shared / "oracles" / "trees.jsonl") == ROWS
    assert read_jsonl(shared / "oracles" / "trees_errors.jsonl") == ERRORS


# --- where treeval has no numbers ---

PARTS_FROM_THE_PROTOTYPE = CASES["parts_from_the_prototype"]
"""As ``docs/trees.md`` says."""


def with_our_names(metrics):
    return json.loads(json.dumps(metrics).replace('"levenshtein"', '"indel_ratio"'))


@pytest.mark.parametrize("compat", [None, "treeval"])
@pytest.mark.parametrize("row", [pytest.param(row, id=row["group"]) for row in ERRORS])
def test_what_treeval_cannot_do_has_a_value(row, compat):
    metrics = row["metrics"] if compat else with_our_names(row["metrics"])
    result = tree_eval(row["hypothesis"], row["reference"], row["schema"], metrics, compat=compat).as_dict()
    assert all(0 <= result[key] <= 1 for key in KEYS)
    expected = row["suggested_by_prototype"]
    if compat and "treeval_expected" in row:
        expected = row["treeval_expected"]
    same = all(near(expected[key], result[key]) for key in KEYS)
    means = with_our_names(expected["per_metric"]) if not compat else expected["per_metric"]
    same = same and all(near(mean, result["averages"]["per_metric"][name]) for name, mean in means.items())
    assert same is not (compat is None and row["group"] in PARTS_FROM_THE_PROTOTYPE)


TABLE = re.compile(r"^\| (`[^`]+`)(?: under `l`)? \| `([^`]+)` \| `([^`]+)`[^|]*\| ([\d. |]+) \|$", re.MULTILINE)


def definitions():
    text = (ROOT / "docs" / "trees.md").read_text(encoding="utf-8")
    for match in TABLE.finditer(text):
        schema, reference, prediction = (json.loads(match[i].strip("`")) for i in (1, 2, 3))
        schema = {"l": schema} if " under " in match[0].split(" | ")[0] else schema
        yield pytest.param(
            schema, reference, prediction, [float(one) for one in match[4].split("|")], id=match[0][2:70]
        )


def test_the_table_of_definitions_is_read():
    assert len(list(definitions())) == 28


@pytest.mark.parametrize(("schema", "reference", "prediction", "expected"), list(definitions()))
def test_values_by_definition(schema, reference, prediction, expected):
    result = scored(prediction if isinstance(prediction, dict) else json.dumps(prediction), reference, schema)
    got = [result[key] for key in ("precision_node", "recall_node", "precision_leaf", "recall_leaf", "treeval_score")]
    assert [round(value, 6) for value in got] == expected


def test_no_rows_are_0():
    result = tree_eval([], [], {"a": "string"}).as_dict()
    table = tree_eval([], [], {"a": "string"}).definitions
    assert [key for key in table if table[key].better is False] == [
        "repaired",
        "duplicate_keys",
        "non_finite",
        "type_errors",
    ]
    assert {key for key in table if table[key].best_of_nothing} == {
        "precision_node",
        "precision_leaf",
        "recall_leaf",
        "f1_leaf",
    }
    assert {result[key] for key in KEYS} == {0.0} and result["leaves"] == {"a": None}


def test_text_that_cannot_be_read_is_an_empty_tree_and_a_parse_failure():
    with pytest.warns(UserWarning, match="1 of 2 predictions could not be read as trees"):
        score = tree_eval(["I can't.", '{"a": "x"}'], [{"a": "x"}] * 2, {"a": "string"})
    result = score.as_dict(detailed=True)
    assert (score.parse_failures, result["parsed"], result["schema_compliance"]) == (1, 0.5, 0.5)
    assert [item["recall_node"] for item in result["items"]] == [0.0, 1.0] and result["notes"] == {0: {"no_json": 1}}


@pytest.mark.parametrize("answer", ["[1, 2]", "5"])
def test_what_is_no_object_does_not_comply_even_if_no_key_is_required(answer):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    result = scored(answer, {"a": "x"}, schema)
    assert (result["parsed"], result["schema_compliance"], result["recall_node"]) == (1.0, 0.0, 0.0)
    assert scored("{}", {"a": "x"}, schema)["schema_compliance"] == 1.0


def test_the_plan_of_a_schema_is_made_once():
    plans = [
        tree_eval([{}], [{}], schema).items[0].plan for schema in ({"a": "string"}, {"a": "string"}, {"a": "date"})
    ]
    assert plans[0] is plans[1] is not plans[2]


# --- the guide ---

FIGURE_SCHEMA = {"x": {"a": "integer", "b": "string"}, "y": {"c": "integer", "d": "integer", "e": "integer"}}


@pytest.mark.parametrize("compat", [None, "treeval"])
def test_the_figure_of_the_guide(compat):
    reference = {"x": {"a": 1, "b": None}, "y": {"c": None, "d": 1, "e": 1}}
    prediction = {"x": {"a": 1, "b": None}, "y": {"c": 3, "new": 1}}
    result = scored(prediction, reference, FIGURE_SCHEMA, compat=compat)
    assert (result["precision_node"], result["recall_node"]) == (5 / 6, 5 / 7)
    assert (result["precision_leaf"], result["recall_leaf"]) == (1 / 2, 1 / 1)


SONG = CASES["SONG"]
SONG_SCHEMA = CASES["SONG_SCHEMA"]


def test_the_song_of_the_guide():
    prediction = {**SONG, "instruments": ["drums", "guitar", "synthesizer"], "has_lyrics": "yes"}
    score = tree_eval([prediction], [SONG], SONG_SCHEMA, {"string": ["exact_match", "indel_ratio"]})
    result = score.as_dict(detailed=True)
    assert result["items"][0]["alignments"] == {"instruments": [[1, 1], [3, 0], [0, 2]]}
    assert result["leaves"]["instruments"] == {"exact_match": 2 / 3, "indel_ratio": pytest.approx((2 + 12 / 17) / 3)}
    assert result["leaves"]["has_lyrics"] == {"exact_match": 0.0} and result["type_errors"] == 1
    assert result["fields"]["instruments"] == {"correct": 2, "wrong": 1, "missed": 1, "invented": 0, "absent": 0}
    assert result["averages"]["per_leaf_type"]["choice"] == {"exact_match": 1.0}
    assert result["recall_node"] == 12 / 13 and score.signature == (
        "tree_eval|leaves:915398f7|metrics:exact_match,indel_ratio|options:guide|avg:flat|parse:lenient|v:6"
    )


def test_a_key_may_be_called_like_a_result():
    schema = {"f1_node": "integer", "treeval_score": {"leaves": "string"}, "signature": ["string"]}
    tree = {"f1_node": 7, "treeval_score": {"leaves": "x"}, "signature": ["a"]}
    result = scored(tree, tree, schema)
    assert result["f1_node"] == 1.0 and result["leaves"]["f1_node"] == {"exact_match": 1.0}
    assert result["leaves"]["treeval_score"] == {"leaves": {"indel_ratio": 1.0}}


@pytest.mark.parametrize(("schema", "tree", "leaves"), CASES["the_root_may_be_no_dictionary"])
def test_the_root_may_be_no_dictionary(schema, tree, leaves):
    result = tree_eval([json.dumps(tree)], [json.dumps(tree)], schema).as_dict(detailed=True)
    assert result["leaves"] == leaves and {result[key] for key in KEYS} == {1.0}
    assert result["items"][0]["leaves"] == leaves


# --- each option does what it says ---


@pytest.mark.parametrize("case", CASES["profiles"], ids=lambda case: case["rule"])
def test_the_guide_and_its_program_differ(case):
    trees = [case[name] for name in ("prediction", "reference", "schema")]
    for compat in (None, "treeval"):
        expected = case[compat or "guide"]
        assert_same_tree(expected, scored(*trees, case.get("metrics"), compat=compat)[case["key"]])


# --- orders, several answers, other people's metrics ---


def test_ordered_lists_are_compared_by_place():
    trees = [{"l": [2, 1], "m": [2, 1]}, {"l": [1, 2], "m": [1, 2]}, {"l": ["integer"], "m": ["integer"]}]
    assert scored(*trees, list_order="ordered")["leaves"] == {"l": {"exact_match": 0.0}, "m": {"exact_match": 0.0}}
    assert scored(*trees, list_order={"m": "ordered"})["leaves"]["l"] == {"exact_match": 1.0}


def test_several_valid_answers():
    schema = {"a": "string", "l": ["integer"]}
    reference = {"a": {"$any_of": ["United States", "USA", None]}, "l": [{"$any_of": [1, 2]}, 3]}
    result = tree_eval([{"a": "USA", "l": [3, 2]}, {"a": None, "l": []}], [reference] * 2, schema).as_dict()
    assert result["leaves"] == {"a": {"indel_ratio": 1.0}, "l": {"exact_match": 1.0}}
    assert result["fields"]["a"] == {"correct": 1, "wrong": 0, "missed": 0, "invented": 0, "absent": 1}
    same = tree_eval([{"a": "USA", "l": []}], [{"a": AnyOf(["x", "USA"]), "l": []}], schema).as_dict()
    assert same["leaves"]["a"] == {"indel_ratio": 1.0}


def test_metrics_of_types_paths_and_others():
    def shout(prediction, reference):
        return float(prediction.upper() == reference.upper())

    schema = {"a": "string", "b": {"c": "string"}, "day": "date", "n": "number"}
    metrics = {"string": [shout], "b.c": ["token_f1"], "n": {"metric": "exact_match", "tolerance": 0.1}}
    prediction, reference = {"a": "X", "b": {"c": "Y"}, "day": "25 January 2011", "n": 1.05}, {
        "a": "x", "b": {"c": "y"}, "day": "2011-01-25", "n": 1,
    }  # fmt: skip
    result = scored(prediction, reference, schema, metrics)
    assert result["leaves"] == {
        "a": {"shout": 1.0}, "b": {"c": {"token_f1": 1.0, "shout": 1.0}},
        "day": {"date_closeness": 1.0}, "n": {"exact_match": 1.0},
    }  # fmt: skip


def test_a_metric_out_of_its_range_is_clipped():
    metric = resolve_metric(lambda prediction, reference: 7.0, name="seven")
    result = scored({"a": 1}, {"a": 1}, {"a": "integer"}, {"integer": metric})
    assert result["leaves"]["a"] == {"seven": 7.0}
    assert (result["treeval_score"], result["fields"]["a"]["correct"]) == (1.0, 1)


def test_hierarchical_averages():
    schema = {"n1": "integer", "n2": "integer", "n3": {"n4": "integer", "n5": "integer"}}
    reference = {"n1": 0, "n2": 1, "n3": {"n4": 0, "n5": 1}}
    prediction = {"n1": 1, "n2": 1, "n3": {"n4": 1, "n5": 1}}
    assert scored(prediction, reference, schema)["averages"]["per_metric"] == {"exact_match": 0.5}
    deep = scored(prediction, reference, schema, hierarchical_averaging=True)
    assert deep["averages"]["per_metric"]["exact_match"] == pytest.approx((0 + 1 + 0.5) / 3)
    assert deep["averages"]["per_leaf_type"]["integer"]["exact_match"] == pytest.approx(0.5)


# --- what the caller does wrong ---


@pytest.mark.parametrize(("arguments", "options", "message"), CASES["what_the_caller_does_wrong_is_named"])
def test_what_the_caller_does_wrong_is_named(arguments, options, message):
    schema = {"a": "string", "l": ["string"]}
    with pytest.raises((InputError, OptionError), match=message):
        tree_eval(*arguments, schema, **options)


def test_what_names_a_path_and_a_type_is_the_path():
    schema = {"date": "string", "day": "date", "x": "date"}
    plan = tree_eval([{}], [{}], schema, {"date": "token_f1", "type:date": "exact_match"}).items[0].plan
    assert [field.metrics[0].name for field in plan.fields] == ["token_f1", "exact_match", "exact_match"]


def test_two_metrics_of_one_name():
    other = resolve_metric(max, name="exact_match", score_range=(0, 9))
    for schema, metrics, where in (
        ({"a": "integer", "b": "integer"}, {"a": other, "b": "exact_match"}, "b"),
        ({"a": "integer"}, {"a": [other, "exact_match"]}, "a"),
    ):
        with pytest.raises(InputError, match=f"another metric 'exact_match' for {where}, expected a name of its own"):
            tree_eval([{}], [{}], schema, metrics)


# --- what models write ---

HOSTILE = [
    {"a": float("nan")}, {"a": float("inf")}, {"a": 10**400}, {"a": "\ud800"}, {"a": ()}, {"l": ({},)},
    {"a": "x" * 100_000}, {"l": [[[[[]]]]]}, {"l": {"a": 1}}, {"b": [{"c": 1}]}, {"b": {"c": {"d": {}}}},
    {1: 2, None: 3},
    {"l": [None, 1, "x", [], {}, True]}, {"d": [None, 1, {"c": [None, [1]]}, {"c": "x"}]}, {"a": {"$any_of": []}},
]  # fmt: skip


@pytest.mark.parametrize("compat", [None, "treeval"])
@pytest.mark.parametrize("prediction", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_a_model_gives_raises(prediction, compat):
    schema = {"a": "integer", "l": ["string"], "b": {"c": "number"}, "d": [{"c": [["integer"]]}]}
    gold = {"a": 1, "l": ["x", "y"], "b": {"c": 1.5}, "d": [{"c": [[1], [2, 3]]}, {"c": []}]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = tree_eval([prediction, gold], [gold, gold], schema, compat=compat)
    assert all(0 <= score.as_dict()[key] <= 1 for key in KEYS) and score.as_dict()["schema_compliance"] == 0.5


def deep(levels):
    tree = {}
    for _ in range(levels):
        tree = {"x": [tree]}
    return tree


def test_trees_that_are_too_deep_are_none():
    for tree in ({"a": 1, "z": deep(5000)}, {"a": deep(5000)}):
        result = scored(tree, {"a": 1}, {"a": "integer"})
        assert result["recall_node"] == result["parsed"] == 0.0


# --- against the slow version, and what must hold ---

TYPES = CASES["TYPES"]
METRICS = {"exact_match": (0, 1, True), "indel_ratio": (0, 1, True), "gap": (0, 3, False)}


def gap(prediction, reference):
    numbers = all(isinstance(one, int | float) for one in (prediction, reference))
    return float(abs(prediction - reference)) if numbers else 10.0


GAP = resolve_metric(gap, name="gap", score_range=(0, 3), higher_is_better=False)
BY_TYPE = {"string": ["exact_match", "indel_ratio"], "integer": ["exact_match", GAP], "number": [GAP], "boolean": []}


def make_schema(generator, depth=0):
    def child():
        leaf, kind = generator.choice(list(TYPES)), generator.random()
        if kind < 0.45 or depth > 2:
            return leaf
        if kind < 0.55:
            return ["red", "green"]
        if kind < 0.7:
            return [leaf]
        if kind < 0.85:
            return [make_schema(generator, depth + 1)]
        return [[leaf]] if kind < 0.9 else make_schema(generator, depth + 1)

    return {key: child() for key in "abcd"[: generator.randint(1, 4)]}


ODD = [5, "x", [1], {"z": 1}, True, 1.5, ["a"], [], {}]


def make_tree(generator, schema, noise):
    """``noise`` 0: a whole tree, 1: with nulls and without keys, 2: with values of any type."""
    if noise and generator.random() < 0.1:
        return None
    if noise == 2 and generator.random() < 0.08:
        return generator.choice(ODD)
    if isinstance(schema, dict):
        return {
            key: make_tree(generator, child, noise)
            for key, child in schema.items()
            if not (noise and generator.random() < 0.1)
        }
    if isinstance(schema, list) and len(schema) > 1:
        return generator.choice(schema if noise < 2 else [*schema, "blue"])
    if isinstance(schema, list):
        return [make_tree(generator, schema[0], noise) for _ in range(generator.randint(0, 4))]
    return generator.choice(TYPES[schema])


def changed(generator, schema, tree):
    """The tree with some of it changed, dropped, added, and its lists shuffled."""
    if generator.random() < 0.25:
        return make_tree(generator, schema, 2)
    if isinstance(schema, dict) and isinstance(tree, dict):
        new = {
            key: changed(generator, schema[key], value) if generator.random() < 0.4 else value
            for key, value in tree.items()
            if generator.random() > 0.08
        }
        if generator.random() < 0.1:
            new["zz"] = generator.choice([1, {"a": 1, "b": {"c": 2}}, [1, {"a": 2}]])
        return new
    if isinstance(schema, list) and len(schema) == 1 and isinstance(tree, list):
        items = [changed(generator, schema[0], one) if generator.random() < 0.3 else one for one in tree]
        items = [one for one in items if generator.random() > 0.1]
        return generator.sample(items, len(items))
    return tree


@dataclasses.dataclass
class Case:
    schema: dict
    references: list
    predictions: list


def make_case(seed):
    generator = random.Random(seed)
    schema = make_schema(generator)
    noise = generator.choice([0, 1])
    references = [make_tree(generator, schema, noise) or {} for _ in range(generator.choice([1, 1, 2, 4]))]
    predictions = [changed(generator, schema, tree) for tree in references]
    return Case(schema, references, [tree if isinstance(tree, dict) else {} for tree in predictions])


RANDOM_CASES = st.integers(0, 10**6).map(make_case)
COMPAT = st.sampled_from([None, "treeval"])


def metrics_of(schema):
    present = {("choice" if leaf.choices else leaf.type) for leaf in leaves_by_path(read_schema(schema)).values()}
    return {f"type:{label}": metrics for label, metrics in BY_TYPE.items() if label in present and metrics}


def alone(metric):
    return lambda expected, given: float(metric.pairs([expected], [given])[0])


@given(RANDOM_CASES, COMPAT, st.sampled_from(["unordered", "unordered", "ordered"]))
def test_every_number_is_that_of_the_slow_version(case, compat, order):
    metrics = metrics_of(case.schema)
    score = tree_eval(case.predictions, case.references, case.schema, metrics, compat=compat, list_order=order)
    plan = score.items[0].plan
    functions = {field.path: {one.name: alone(one) for one in field.metrics} for field in plan.fields}
    slow = Slow(read_schema(case.schema), functions, METRICS, compat, order)
    numbers, leaves, per_metric, fields = slow.evaluate(case.predictions, case.references)
    if compat is None and score.results["f1_value"] == 0 == sum(unit["value_given"] for unit in score.units):  # silence
        numbers |= dict.fromkeys(("precision_leaf", "recall_leaf", "f1_leaf", "treeval_score"), 0.0)
    result = score.as_dict()
    assert_same_tree(numbers, {key: result[key] for key in numbers})
    assert_same_tree({name: per_metric.get(name) for name in plan.metrics}, result["averages"]["per_metric"])
    for field in plan.fields:
        for metric in field.metrics:
            total, n = (sum(unit[field.part(what, metric)] for unit in score.units) for what in ("sum", "n"))
            assert near(leaves.get((field.path, metric.name)), total / n if n else None)
        assert {kind: fields[kind, field.path] for kind in KINDS} == result["fields"][field.name]


def shuffled(generator, tree):
    if isinstance(tree, dict):
        return {key: shuffled(generator, value) for key, value in tree.items()}
    if isinstance(tree, list):
        return generator.sample([shuffled(generator, one) for one in tree], len(tree))
    return tree


@given(RANDOM_CASES, st.randoms(use_true_random=False))
def test_the_order_of_lists_never_matters(case, generator):
    def result(predictions, references):
        return tree_eval(predictions, references, case.schema, metrics_of(case.schema)).as_dict()

    other = (
        [shuffled(generator, tree) for tree in case.predictions],
        [shuffled(generator, one) for one in case.references],
    )
    assert result(*other) == result(case.predictions, case.references)


@given(RANDOM_CASES)
def test_node_counts_add_up(case):
    totals = Counter()
    for unit in tree_eval(case.predictions, case.references, case.schema).units:
        totals.update(unit)
    slow = Slow(read_schema(case.schema), {}, {})
    of_references, of_predictions = (
        sum(slow.size(slow.schema, tree) for tree in trees) for trees in (case.references, case.predictions)
    )
    assert totals["node_tp"] + totals["node_fn"] == of_references
    assert totals["node_tp"] + totals["node_fp"] == of_predictions


@given(RANDOM_CASES, st.sampled_from([None, "treeval"]))
def test_the_sums_of_the_samples_are_the_batch(case, compat):
    batch = tree_eval(case.predictions, case.references, case.schema, compat=compat)
    single = [
        tree_eval([prediction], [reference], case.schema, compat=compat).units[0]
        for prediction, reference in zip(case.predictions, case.references, strict=True)
    ]
    assert batch.units == single
    assert values(batch.definitions, single) == batch.results
    for item, unit in zip(batch.as_dict(detailed=True)["items"], single, strict=True):
        assert all(item[key] == batch.definitions[key].value([unit]) for key in KEYS)


SEVERAL_KINDS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {
    "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}]}  # fmt: skip


@pytest.mark.parametrize(
    ("node", "values"),
    [
        (SEVERAL_KINDS, ["x", ["x", "y"], {"a": 1}, None, [], {}]),
        ({"type": "array", "items": SEVERAL_KINDS}, [["x", {"a": 1}], [["x"]], [], ["x"], None]),
        (SEVERAL_KINDS, [AnyOf(["x", ["x"]]), AnyOf(["x", "y"]), {"b": "x"}]),
        ({"$ref": "#"}, [{"v": {"v": {}}}, {"v": None}, {}, None, AnyOf([{"v": {}}, None])]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, [{"u": "x"}, {}, None]),
        ({}, [1, {"u": [1, {"w": 2}]}, [[1], 2], None]),
    ],
    ids=["kinds", "items of kinds", "answers", "itself", "other keys", "any"],
)
def test_every_row_counts_the_same_whatever_the_others_are(node, values):
    schema = {"type": "object", "properties": {"v": node, "w": {"type": "string"}}}
    references, predictions = [], []
    for reference in values:
        for prediction in values:
            references.append({"v": reference, "w": "x"})
            predictions.append({"v": prediction.values[0] if isinstance(prediction, AnyOf) else prediction})
    alone = [tree_eval([one], [other], schema).units[0] for one, other in zip(predictions, references, strict=True)]
    assert tree_eval(predictions, references, schema).units == alone


@given(RANDOM_CASES, st.sampled_from([None, "treeval"]))
def test_issues_are_those_of_each_tree_whatever_is_scored(case, compat):
    units = tree_eval(case.predictions, case.references, case.schema, compat=compat).units
    for unit, tree in zip(units, case.predictions, strict=True):
        kinds = [issue.kind for issue in find_issues(tree, read_schema(case.schema))]
        assert [unit[f"issue|{kind}"] for kind in ISSUE_KINDS] == [kinds.count(kind) for kind in ISSUE_KINDS]
        assert unit["schema_compliance"] == (not kinds)


@given(RANDOM_CASES, st.sampled_from([None, "treeval"]))
def test_text_and_trees_score_the_same(case, compat):
    by_text = tree_eval(
        [json.dumps(tree) for tree in case.predictions],
        [json.dumps(tree) for tree in case.references],
        case.schema,
        compat=compat,
    )
    assume(not any("wrapped" in kinds for kinds in by_text.problems.values()))  # data have no wrappers
    assert by_text.as_dict() == tree_eval(case.predictions, case.references, case.schema, compat=compat).as_dict()


@given(RANDOM_CASES)
def test_alignments_name_items_of_both_lists(case):
    items = tree_eval(case.predictions, case.references, case.schema).as_dict(detailed=True)["items"]
    for item, reference in zip(items, case.references, strict=True):
        for path, links in item["alignments"].items():
            found = follow(reference, path)
            assert isinstance(found, list) and {one for one, _ in links} <= set(range(len(found)))
            assert len({one for one, _ in links}) == len({other for _, other in links}) == len(links)


def follow(tree, path):
    for key, place in re.findall(r"(\w+)|\[(\d+)\]", path):
        tree = tree[int(place)] if place else tree[key]
    return tree


# --- long lists, and few rows at a time ---


def test_long_lists_are_cut_into_chunks(monkeypatch):
    generator = random.Random(5)
    lists = [[{"a": generator.randrange(50), "t": generator.choices("xyz", k=3)} for _ in range(60)] for _ in range(2)]
    schema = {"l": [{"a": "integer", "t": ["string"]}]}
    whole = tree_eval([{"l": lists[0]}], [{"l": lists[1]}], schema).as_dict()
    monkeypatch.setattr("tls_tasks.trees.weights.CHUNK", 500)
    assert tree_eval([{"l": lists[0]}], [{"l": lists[1]}], schema).as_dict() == whole


@pytest.mark.parametrize(("text", "n_inner", "n", "correct", "invented"), CASES["a_model_that_does_not_stop"])
def test_a_model_that_does_not_stop_costs_no_more_than_it_must(text, n_inner, n, correct, invented):
    gold, compared = [{"a": f"x{place}", "n": [place]} for place in range(50)], []
    equals = {"l.a": lambda one, other: compared.append(other) or float(one == other)}
    endless = gold[:3] + [{"a": text.format(place), "n": [1] * n_inner} for place in range(n)] + gold[3:5]
    found = scored({"l": endless}, {"l": gold}, {"l": [{"a": "string", "n": ["integer"]}]}, equals)["fields"]["l.a"]
    assert (found["correct"], found["invented"]) == (correct, invented) and len(compared) <= ALIGNED


def test_what_is_repeated_is_looked_for_in_its_own_list():
    """Two wanted items at the end of a list whose others are those of the list before, which is right."""
    before = [f"item {place:02}" for place in range(10, 48)]
    rows = [before, ["item 00", "item 01", *before]]
    score = tree_eval([{"l": row} for row in rows], [{"l": before}, {"l": before[-2:]}], {"l": ["string"]})
    field = score.as_dict()["fields"]["l"]
    assert (field["correct"], field["invented"], field["missed"]) == (38 + 2, 38, 0)


def test_kinds_of_items_that_are_compared_with_none():
    schema = {"$defs": {"v": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/v"}}, {"type": "string"}]}}}
    schema |= {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/v"}}}}
    reference = {"a": [["x", ["y"]], []] * 6}
    assert scored({"a": [[[]], "x", None] * 5}, reference, schema)["f1_node"] > 0


def test_an_item_of_another_kind_is_one_node_missed_and_one_too_many():
    kinds = [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "number"}}}]
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": {"anyOf": kinds}}}}
    score = tree_eval([{"l": [{"a": 1}]}], [{"l": ["x"]}], schema)
    assert score.results["f1_node"] == 0.5  # the list is right


@pytest.mark.parametrize(("answers", "wanted"), [([None, None], 1.0), (["x", "y"], None)])
def test_a_field_that_may_only_be_null_is_left_empty(answers, wanted):
    score = tree_eval([{"a": "x"}], [{"a": {"$any_of": answers}}], {"a": "string"}, sources=["an x"])
    found = score.results["fabricated"]
    assert found == wanted or (wanted is None and math.isnan(found))
