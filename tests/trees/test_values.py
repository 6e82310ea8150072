"""Precision, recall and F1 of values: the slow, obvious version, and what must hold of any trees."""

import copy
import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tests.trees.slow_values import SlowValues
from tests.trees.test_tree_eval import RANDOM_CASES, alone, make_tree, metrics_of, near, scored
from tls_tasks.trees.counts import KINDS
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.score import KEYS, VALUE_KEYS
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import AnyOf, Branch, Leaf, ListOf

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

ORDERS = st.sampled_from(["unordered", "unordered", "ordered"])
SCHEMA = {"description": "string", "price": "number", "lines": [{"item": "string", "n": "integer"}], "tags": ["string"]}
REFERENCE = {
    "description": "blue chair", "price": 12.5, "lines": [{"item": "leg", "n": 4}, {"item": "seat", "n": 1}],
    "tags": ["wood", "oak"],
}  # fmt: skip


def of_values(prediction, reference, schema=SCHEMA, **options):
    result = scored(prediction, reference, schema, **options)
    parts = ("precision_value", "recall_value", "f1_value")
    return [round(result[f"{part}{how}"], 4) for how in ("", "_exact") for part in parts]


def same(left, right):
    return near(left, right) or (math.isnan(left) and math.isnan(right))


def slow_of(score, schema, order="unordered"):
    plan = score.items[0].plan
    metrics = {field.path: field.metrics for field in plan.fields}

    def similarity(path, expected, given):
        found = [metric.normalize(alone(metric)(expected, given)) for metric in metrics[path]]
        return sum(found) / len(found)

    return SlowValues(read_schema(schema), similarity, order)


def score_of(case, order, **changes):
    """The score of a random case, but for what is changed of it."""
    rows = {"predictions": case.predictions, "references": case.references, **changes}
    return tree_eval(**rows, schema=case.schema, leaf_metrics=metrics_of(case.schema), list_order=order)


@given(RANDOM_CASES, ORDERS)
def test_every_number_is_that_of_the_slow_version(case, order):
    score = score_of(case, order)
    slow = slow_of(score, case.schema, order).evaluate(case.predictions, case.references)
    for key in VALUE_KEYS:
        assert same(slow[key], score.results[key]), key


@given(RANDOM_CASES, ORDERS)
def test_the_fields_add_up_to_the_whole(case, order):
    """With values that the schema has no leaf for, which have a line of their own."""
    score = score_of(case, order)
    fields = score.as_dict()["values"].values()
    sums = {part: sum(unit[part] for unit in score.units) for part in ("value_given", "value_wanted", "value_hits")}
    met, missed = (sum(own[kind] for own in fields for kind in kinds) for kinds in (("correct", "wrong"), ("missed",)))
    assert met + missed == sums["value_wanted"]
    assert met + sum(own["invented"] for own in fields) == sums["value_given"]
    assert all(own[kind] >= 0 for own in fields for kind in KINDS[:4])
    hits = sum((own["recall_value"] or 0.0) * (own["correct"] + own["wrong"] + own["missed"]) for own in fields)
    assert near(hits, sums["value_hits"])


@given(RANDOM_CASES)
def test_perfect_is_1_and_silence_0(case):
    slow = slow_of(tree_eval(case.references, case.references, case.schema), case.schema)
    n_values = sum(slow.count(slow.schema, tree) for tree in case.references)
    for answers, expected in ((case.references, 1.0), ([{}] * len(case.references), 0.0)):
        score = tree_eval(answers, case.references, case.schema)
        for key in VALUE_KEYS:
            assert score.results[key] == expected if n_values else math.isnan(score.results[key])
        if answers is case.references:
            result = score.as_dict()
            assert {result[key] for key in KEYS} == {1.0} and result["type_errors"] == 0
            assert not any(
                field[kind] for field in result["fields"].values() for kind in ("wrong", "missed", "invented")
            )
    if n_values:
        results = score.results  # of silence
        assert not any(results[f"{name}_leaf"] for name in ("precision", "recall", "f1"))
        assert all(leaf is None for leaf in flat(score.as_dict()["leaves"]))


def flat(leaves):
    if not isinstance(leaves, dict):
        return [leaves]
    return [leaf for inner in leaves.values() for leaf in flat(inner)]


# --- making one value right, or wrong ---


def edits(slow, node, one, other, path=(), at=()):
    """Places of values that may be made right under a best alignment, and what belongs there (None: nothing)."""
    if isinstance(node, Leaf):
        return [(at, one)]
    if isinstance(node, Branch):
        one, found = one if isinstance(one, dict) else {}, []
        if not isinstance(other, dict):
            return []
        for key, child in node.children.items():
            mine, yours = one.get(key), other.get(key)
            if isinstance(child, Leaf) or yours is not None:
                found += edits(slow, child, mine, yours, (*path, key), (*at, key))
        return found + [((*at, key), None) for key in other if key not in node.children]
    if not isinstance(one, list) or not isinstance(other, list):
        return []
    pairs, alone_there = aligned(slow, node, one, other, path)
    found = [
        edit for i, j in pairs for edit in edits(slow, node.item, one[i], other[j], path, (*at, j))
    ]  # fmt: skip
    return found + [((*at, j), None) for j in alone_there if isinstance(node, ListOf) and isinstance(node.item, Leaf)]


def aligned(slow, node, one, other, path):
    if slow.order == "ordered" or not one or not other:
        pairs = list(zip(range(len(one)), range(len(other)), strict=False))
    else:
        hits = slow.all_hits(node.item, one, other, path) @ [1, 1e-9]
        pairs = list(zip(*(side.tolist() for side in linear_sum_assignment(hits, maximize=True)), strict=True))
    return pairs, [j for j in range(len(other)) if j not in {j for _, j in pairs}]


def with_value(tree, place, value):
    tree = copy.deepcopy(tree)
    inner = tree
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = copy.deepcopy(value)
    return tree


@given(RANDOM_CASES, ORDERS, st.randoms(use_true_random=False))
def test_making_one_value_right_never_lowers_the_f1(case, order, generator):
    def results(prediction):
        return score_of(case, order, predictions=[prediction], references=[reference])

    reference, prediction = case.references[0], case.predictions[0]
    score, key = results(prediction), "f1_value"
    slow = slow_of(score, case.schema, order)
    places = edits(slow, slow.schema, reference, prediction)
    for place, value in generator.sample(places, min(3, len(places))):
        before, after = score.results[key], results(with_value(prediction, place, value)).results[key]
        assert after >= before - 1e-12 or math.isnan(before) or math.isnan(after), (place, value, before, after)


@given(st.integers(0, 10**6), ORDERS)
def test_a_value_of_similarity_0_never_scores_above_a_missing_one(seed, order):
    """One value after the other is replaced by one that is like nothing in the reference, or left out."""
    generator = random.Random(seed)
    schema = {"a": "string", "l": ["string"], "d": [{"x": "string", "y": ["integer"]}], "b": {"c": "integer"}}
    reference, prediction = make_tree(generator, schema, 1) or {}, make_tree(generator, schema, 1) or {}
    unlike = {str: "§§§", int: 99}
    places = list(values_in(prediction))
    for place, value in generator.sample(places, min(3, len(places))):
        bad, without = (with_value(prediction, place, new) for new in (unlike[type(value)], None))
        scores = [tree_eval([tree], [reference], schema, list_order=order).results for tree in (bad, without)]
        for key in VALUE_KEYS:
            assert not scores[0][key] > scores[1][key] + 1e-12, (key, place)


def values_in(tree, at=()):
    if isinstance(tree, dict | list):
        for key, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from values_in(inner, (*at, key))
    elif tree is not None:
        yield at, tree


# --- by hand ---


@pytest.mark.parametrize(("prediction", "precision", "recall", "f1"), CASES["values_are_counted"])
def test_values_are_counted(prediction, precision, recall, f1):
    assert of_values(prediction, REFERENCE) == [round(one, 4) for one in (precision, recall, f1)] * 2


def test_an_answer_that_is_no_tree_has_what_values_there_are_in_it():
    assert of_values(["x", "y"], {"a": "x"}, {"a": "string"})[:3] == [0, 0, 0]
    assert tree_eval(['["x", "y"]'], [{"a": "x"}], {"a": "string"}).units[0]["value_given"] == 2


def test_exact_values_are_counted_where_similarities_pair_the_items():
    """The one reference item is more like the first item as a whole, and equals the second in one value."""
    schema = {"l": [{"a": "string", "b": "string"}]}
    reference = {"l": [{"a": "abcdefgh", "b": "abcdefgh"}]}
    prediction = {"l": [{"a": "abcdefg", "b": "abcdefg"}, {"a": "abcdefgh", "b": "zzz"}]}
    soft = 14 / 15  # InDel similarity of 8 and 7 letters
    assert of_values(prediction, reference, schema) == [
        round(one, 4) for one in (2 * soft / 4, 2 * soft / 2, 4 * soft / 6, 0, 0, 0)
    ]
    fields = scored(prediction, reference, schema)["values"]
    assert {kind: fields["l.a"][kind] for kind in KINDS[:4]} == {"correct": 0, "wrong": 1, "missed": 0, "invented": 1}


@pytest.mark.parametrize("halves", ["am", "mz"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_of_equal_sums_the_most_exact_values_count(halves, is_reversed):
    """Two halves, or one exact value and one that has nothing in common: wherever they stand, and however they sort."""
    items = [{"a": halves, "b": halves}, {"a": "mm", "b": "yy"}]
    prediction = {"l": items[::-1] if is_reversed else items}
    schema = {"l": [{"a": "string", "b": "string"}]}
    assert [of_values({"l": [item]}, {"l": [{"a": "mm", "b": "mm"}]}, schema)[1] for item in items] == [0.5, 0.5]
    score = tree_eval([prediction], [{"l": [{"a": "mm", "b": "mm"}]}], schema)
    assert (score.units[0]["value_hits"], score.units[0]["value_hits_exact"]) == (1, 1)
    assert score.items[0].alignments == {("l",): [(0, 0 if is_reversed else 1)]}


def test_nothing_on_either_side_is_nan():
    result = tree_eval([{}, {"a": None}], [{"a": None}, {}], {"a": "string"}).as_dict()
    assert all(math.isnan(result[key]) for key in VALUE_KEYS)
    assert result["values"]["a"] == {
        "precision_value": None, "recall_value": None, "f1_value": None,
        "correct": 0, "wrong": 0, "missed": 0, "invented": 0,
    }  # fmt: skip
    assert result["f1_leaf"] == 1.0
    nothing = tree_eval([], [], {"a": "string"}).as_dict()
    assert all(math.isnan(value) for key, value in nothing.items() if "_value" in key)
    assert nothing["fields"] == {"a": dict.fromkeys(nothing["fields"]["a"], 0)}


def test_a_reference_without_values_and_an_answer_with_some_is_0():
    assert of_values({"a": "x"}, {"a": None}, {"a": "string"}) == [0] * 6


@pytest.mark.parametrize(("answer", "expected"), [("USA", [1] * 6), (None, [math.nan] * 6), ("Peru", [0] * 6)])
def test_where_null_is_a_valid_answer_the_reference_has_a_value_if_the_prediction_has(answer, expected):
    found = of_values({"a": answer}, {"a": AnyOf(["USA", None])}, {"a": "choice"})
    assert all(map(same, found, expected))


def test_where_null_is_a_valid_answer_of_an_item_recall_stays_below_1():
    schema, reference = {"l": ["string"]}, {"l": [AnyOf(["abc", None]), "xyz"]}
    assert of_values({"l": ["xyz"]}, reference, schema) == [1] * 6
    assert of_values({"l": ["abc"]}, reference, schema) == [1, 0.5, 0.6667] * 2
    assert of_values({"l": ["abc", "xyz"]}, reference, schema) == [1] * 6


def test_the_scores_of_values_come_first_and_treevals_profile_has_none():
    result = tree_eval([{}], [{"a": "x"}], {"a": "string"}, compat="treeval").as_dict()
    assert not {*VALUE_KEYS, "values"} & result.keys() and next(iter(result)) == "precision_node"
    assert tuple(tree_eval([{}], [{"a": "x"}], {"a": "string"}).as_dict())[: len(VALUE_KEYS)] == VALUE_KEYS


# --- what differs, as data ---


@given(RANDOM_CASES, ORDERS)
def test_differences_are_what_is_counted(case, order):
    score = score_of(case, order)
    found, fields = score.differences(), score.as_dict()["values"].values()
    for kind in ("wrong", "missed"):
        assert [one["kind"] for one in found].count(kind) == sum(own[kind] for own in fields)
    given = sum(unit["value_given"] for unit in score.units)
    invented = given - sum(own["correct"] + own["wrong"] for own in fields)
    assert [one["kind"] for one in found].count("invented") == invented
    right = sum(own["correct"] for own in fields)
    assert near(right + sum(one["score"] for one in found), sum(unit["value_hits"] for unit in score.units))


def test_differences_name_place_kind_and_both_values():
    prediction = {
        "description": "blue chairs",
        "lines": [{"item": "seat", "n": 2}, {"item": "arm", "n": 7}, {"item": "leg", "n": 4}],
        "tags": ["oak"], "odd key": [True, None],
    }  # fmt: skip
    found = tree_eval([REFERENCE, prediction], [REFERENCE, REFERENCE], SCHEMA).differences()
    assert [tuple(one.values())[:5] for one in found] == [
        (1, "$.description", "blue chair", "blue chairs", "wrong"),
        (1, "$.price", 12.5, None, "missed"),
        (1, "$.lines[1].n", 1, 2, "wrong"),
        (1, "$.lines[1].item", None, "arm", "invented"),
        (1, "$.lines[1].n", None, 7, "invented"),
        (1, "$.tags[0]", "wood", None, "missed"),
        (1, "$['odd key'][0]", None, True, "invented"),
    ]
    assert [round(one["score"], 4) for one in found] == [0.9524, 0, 0, 0, 0, 0, 0]


def test_an_enum_of_texts_and_dictionaries_is_scored_by_what_is_in_it():
    schema = {"type": "object", "properties": {"v": {"enum": ["x", {"a": 1, "b": 2}, {"a": 1, "b": 3}]}}}
    assert of_values({"v": {"a": 1, "b": 3}}, {"v": {"a": 1, "b": 2}}, schema)[:3] == [0.5] * 3
