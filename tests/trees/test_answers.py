"""Several valid answers for dictionaries, lists and whole trees."""

import copy
import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.trees.test_tree_eval import RANDOM_CASES, make_case, make_tree
from tests.trees.test_values import ORDERS, score_of, values_in, with_value
from tls_tasks.core.errors import InputError, ParseFailureWarning
from tls_tasks.trees.score import KEYS, VALUE_KEYS
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import AnyOf

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

SCHEMA = {
    "name": "choice", "home": {"city": "choice", "zip": "choice"}, "tags": ["choice"],
    "lines": [{"a": "choice", "b": "choice"}],
}  # fmt: skip
REFERENCE = {
    "name": "x", "home": {"city": "Ulm", "zip": "1"}, "tags": ["p", "q"],
    "lines": [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}],
}  # fmt: skip


def any_of(*answers):
    return {"$any_of": list(answers)}


def values_of(prediction, reference, schema=SCHEMA, **options):
    results = tree_eval([prediction], [reference], schema, **options).results
    return [round(results[key], 4) for key in VALUE_KEYS]


def told(score):
    """All numbers of a score, and what differs."""
    return repr((score.as_dict(), score.differences(), [sample.as_dict()["treeval_score"] for sample in score.items]))


def wrapped(generator, tree):
    """A tree in which some dictionaries and lists are one answer of several."""
    if isinstance(tree, dict):
        tree = {key: wrapped(generator, value) for key, value in tree.items()}
    elif isinstance(tree, list):
        tree = [wrapped(generator, item) for item in tree]
    else:
        return tree
    return any_of(*[tree] * generator.randint(1, 2)) if generator.random() < 0.3 else tree


@given(RANDOM_CASES, ORDERS, st.sampled_from([None, "treeval"]), st.randoms(use_true_random=False))
@example(make_case(401), "unordered", None, random.Random(1))  # equally good alignments: the same is taken
@example(make_case(562578), "unordered", "treeval", random.Random(1))  # null items beside items with answers
def test_the_same_answer_several_times_is_that_answer(case, order, compat, generator):
    references = [wrapped(generator, tree) for tree in case.references]
    scores = [score_of(case, order, references=own, compat=compat) for own in (case.references, references)]
    assert told(scores[0]) == told(scores[1])
    assert list(scores[1].explanation(scores[1].items[0]))  # it is shown


@given(st.integers(0, 10**6), ORDERS)
def test_of_several_trees_the_better_f1_counts(seed, order):
    """Whatever their sizes; where neither side has a value nothing is better."""
    generator = random.Random(seed)
    schema = {"a": "string", "l": ["string"], "d": [{"x": "string", "y": ["integer"]}], "b": {"c": "integer"}}
    one, other, prediction = (make_tree(generator, schema, 1) or {} for _ in range(3))
    own = [
        tree_eval([prediction], [reference], schema, list_order=order).results
        for reference in (one, other, any_of(one, other))
    ]
    *known, found = (1.0 if math.isnan(result["f1_value"]) else result["f1_value"] for result in own)
    assert found == pytest.approx(max(known))


def varied(generator, tree, lost=0.0):
    """The tree with other values, or without some of them."""
    if isinstance(tree, dict):
        return {key: varied(generator, value, lost) for key, value in tree.items() if generator.random() >= lost}
    if isinstance(tree, list):
        return [varied(generator, item, lost) for item in tree if generator.random() >= lost]
    return tree if generator.random() < 0.5 else f"{tree}{generator.choice('abc')}"


def with_answers(generator, tree, lost=0.0):
    """A reference that has the tree among several answers, at any places."""
    if not isinstance(tree, dict | list):
        return tree
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    inner = [(key, with_answers(generator, value, lost)) for key, value in items]
    inner = dict(inner) if isinstance(tree, dict) else [value for _, value in inner]
    if generator.random() < 0.5:
        return inner
    answers = [inner, *(varied(generator, tree, lost) for _ in range(generator.randint(1, 2)))]
    generator.shuffle(answers)
    return any_of(*answers)


@given(st.integers(0, 10**6), ORDERS, st.sampled_from([None, "treeval"]))
def test_perfect_is_1_and_silence_0_with_several_answers(seed, order, compat):
    reference = with_answers(random.Random(seed), REFERENCE, lost=0.2)
    options = {"list_order": order, "compat": compat}
    score = tree_eval([REFERENCE], [reference], SCHEMA, **options)
    keys = KEYS if compat else (*KEYS, *VALUE_KEYS)
    assert {key: score.results[key] for key in keys} == dict.fromkeys(keys, 1.0)
    assert score.differences() == []
    if not compat:
        results = tree_eval([{}], [reference], SCHEMA, **options).results
        silence = [results[key] for key in VALUE_KEYS]
        assert silence == [0] * 6 or all(map(math.isnan, silence))  # NaN: an answer of the whole tree has no values


def edit_of(found, prediction):
    """The prediction with what differs made right, if it is the value of a key of the root or in ``home``."""
    steps = found["path"].removeprefix("$.").split(".")
    if steps[0] not in ("name", "home") or found["kind"] == "invented":
        return None
    tree = copy.deepcopy(prediction)
    if len(steps) > 1 and not isinstance(tree.get("home"), dict):
        return None
    return with_value(tree, steps, found["expected"])


@given(st.integers(0, 10**6))
def test_making_one_value_right_never_lowers_f1_with_answers_of_one_size(seed):
    generator = random.Random(seed)
    reference, prediction = with_answers(generator, REFERENCE), varied(generator, REFERENCE)
    score = tree_eval([prediction], [reference], SCHEMA)
    for found in score.differences():
        if (edited := edit_of(found, prediction)) is not None:
            assert tree_eval([edited], [reference], SCHEMA).results["f1_value"] >= score.results["f1_value"] - 1e-12


@given(st.integers(0, 10**6))
def test_a_value_like_nothing_never_scores_above_a_missing_one_with_several_answers(seed):
    generator = random.Random(seed)
    reference, prediction = with_answers(generator, REFERENCE), varied(generator, REFERENCE)
    for place, _ in generator.sample(list(values_in(prediction)), 2):
        scores = [tree_eval([with_value(prediction, place, new)], [reference], SCHEMA).results for new in ("§", None)]
        assert all(scores[0][key] <= scores[1][key] + 1e-12 for key in VALUE_KEYS)


@given(st.integers(0, 10**6), st.sampled_from([None, "treeval"]))
def test_differences_of_several_answers_are_what_is_counted(seed, compat):
    generator = random.Random(seed)
    reference, prediction = with_answers(generator, REFERENCE), varied(generator, REFERENCE)
    score = tree_eval([prediction], [reference], SCHEMA, compat=compat)
    found, unit = score.differences(), score.units[0]
    if not compat:
        missing = sum(1 - one["score"] for one in found if one["kind"] != "invented")
        assert unit["value_wanted"] - unit["value_hits"] == pytest.approx(missing)
        n_unfit = sum(1 - one["score"] for one in found if one["kind"] != "missed")
        assert unit["value_given"] - unit["value_hits"] == pytest.approx(n_unfit)
        assert unit["value_wanted"] == 9


# --- by hand ---


@pytest.mark.parametrize(("prediction", "f1", "precision", "recall"), CASES["a_dictionary_with_two_answers"])
def test_a_dictionary_with_two_answers(prediction, f1, precision, recall):
    reference = {"home": any_of({"city": "Ulm"}, {"city": "Ulm", "zip": "2"})}
    assert values_of({"home": prediction}, reference) == [round(one, 4) for one in (f1, precision, recall)] * 2


def test_lists_with_several_answers():
    reference = {"tags": any_of(["a", "b"], ["c"], [])}
    assert values_of({"tags": ["c"]}, reference) == [1] * 6
    assert values_of({"tags": ["b", "a"]}, reference) == [1] * 6
    assert values_of({"tags": ["a"]}, reference) == [0.6667, 1, 0.5] * 2
    assert all(math.isnan(one) for one in values_of({"tags": []}, reference))  # nothing is right, too
    assert tree_eval([{"tags": []}], [reference], SCHEMA).results["f1_node"] == 1


def test_items_with_several_answers_find_their_place():
    reference = {
        "lines": [any_of({"a": "1"}, {"a": "1", "b": "9"}), any_of({"a": "2", "b": "2"}, {"a": "3", "b": "3"})]
    }
    prediction = {"lines": [{"a": "3", "b": "3"}, {"a": "1", "b": "9"}]}
    score = tree_eval([prediction], [reference], SCHEMA)
    assert [score.results[key] for key in VALUE_KEYS] == [1] * 6
    assert score.items[0].alignments[("lines",)] == [(0, 1), (1, 0)]
    assert score.as_dict()["values"]["lines.b"]["correct"] == 2
    alone = tree_eval([{"lines": []}], [reference], SCHEMA)  # what finds no counterpart has its first answer
    assert [found["expected"] for found in alone.differences()] == ["1", "2", "2"]
    assert alone.units[0]["value_wanted"] == 3


def test_of_equally_good_answers_it_is_the_first():
    reference = {"tags": any_of(["p"], ["q", "r"], ["r", "q"])}
    score = tree_eval([{"tags": ["r", "q"]}], [reference], SCHEMA)
    assert score.items[0].alignments[("tags", "$any_of")] == [(1, 1)]


def test_a_value_that_may_be_absent_is_not_missed_where_it_is_there():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    score = tree_eval([{"a": "x"}, {}], [{"a": AnyOf([None, "x"])}] * 2, schema=schema)
    counts = {"correct": 1, "wrong": 0, "missed": 0, "invented": 0}
    assert counts.items() <= score.as_dict(detailed=True)["values"]["a"].items()


def test_a_dictionary_that_may_be_absent():
    reference = {"name": "x", "home": any_of({"city": "Ulm"}, None)}
    assert values_of({"name": "x"}, reference) == values_of({"name": "x", "home": None}, reference) == [1] * 6
    assert values_of({"name": "x", "home": {"city": "Ulm"}}, reference) == [1] * 6
    assert values_of({"name": "x", "home": {"city": "Bonn"}}, reference) == [0.5] * 6


def test_exact_values_are_those_of_the_answer_that_is_most_similar():
    schema = {"d": {"a": "string", "b": "string"}}
    reference = {"d": any_of({"a": "abcdefgh", "b": "abcdefgh"}, {"a": "abcdefg", "b": "zzz"})}
    prediction = {"d": {"a": "abcdefg", "b": "abcdefg"}}
    assert values_of(prediction, reference, schema) == [0.9333] * 3 + [0.0] * 3


TREE_OR_NONE = {"$any_of": [{"a": "x"}, None]}


@pytest.mark.parametrize("reference", [TREE_OR_NONE, any_of(None, {"a": "x"})])
def test_no_tree_at_all_may_be_right(reference):
    score = tree_eval([{"a": "x"}, "null", {"a": "y"}], [reference] * 3, {"a": "string"})
    right, none, wrong = (sample.as_dict() for sample in score.items)
    assert {right[key] for key in KEYS} == {none[key] for key in KEYS} == {1.0}
    assert {right[key] for key in VALUE_KEYS} == {1.0}
    assert all(math.isnan(none[key]) for key in VALUE_KEYS), "neither side has a value"
    assert {wrong[key] for key in VALUE_KEYS} == {0.0}
    assert [found["row"] for found in score.differences()] == [2]
    assert all(list(score.explanation(sample)) for sample in score.items)


@pytest.mark.parametrize("none", [None, "null", "```json\nnull\n```"])
@pytest.mark.parametrize(("schema", "tree"), [({"a": "string"}, {"a": "x"}), (["string"], ["x"])])
def test_null_is_no_answer_where_there_is_a_tree(none, schema, tree):
    with pytest.warns(ParseFailureWarning):
        score = tree_eval([none, tree], [tree, tree], schema)
    assert (score.parse_failures, score.results["parsed"], score.problems) == (1, 0.5, {0: {"no_tree": 1}})
    assert score.items[0].as_dict()["f1_value"] == 0
    accepted = tree_eval([none, tree], [any_of(tree, None)] * 2, schema)
    assert accepted.parse_failures == 0
    assert accepted.results["f1_value"] == accepted.results["parsed"] == 1


def test_an_answer_that_cannot_be_read_is_never_no_tree():
    with pytest.warns(ParseFailureWarning):
        score = tree_eval(["I don't know."], [TREE_OR_NONE], {"a": "string"})
    assert score.results["recall_node"] == score.results["recall_value"] == 0
    assert [found["kind"] for found in score.differences()] == ["missed"]


def test_values_of_several_kinds():
    schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    schema = {"type": "object", "properties": {"a": schema}}
    for answer in ("x", ["x"], ["y", "x"]):
        assert values_of({"a": answer}, {"a": any_of("x", ["x"], ["x", "y"])}, schema) == [1] * 6
    assert values_of({"a": [["x"], {"b": 1}]}, {"a": any_of([1], [{"b": 1}, ["x"]])}, {"a": "any"}) == [1] * 6


def test_answers_within_answers_and_in_python():
    reference = {
        "home": AnyOf([{"city": AnyOf(["Ulm", "Ulm/Donau"]), "zip": "1"}, None]),
        "tags": AnyOf([("a",), ("b",)]),
    }
    assert values_of({"home": {"city": "Ulm/Donau", "zip": "1"}, "tags": ["b"]}, reference) == [1] * 6
    assert values_of({"tags": ["a"]}, reference) == [1] * 6
    nested = json.dumps({"home": any_of(any_of({"city": "A"}, {"city": "B"}), {"city": "C"})})
    assert [values_of({"home": {"city": city}}, nested)[0] for city in "ABCD"] == [1, 1, 1, 0]


def test_answers_that_do_not_follow_the_schema_are_refused():
    for bad in (any_of({"city": 5}), any_of({"town": "Ulm"}), any_of({"city": "Ulm"}, "Ulm"), any_of(["Ulm"])):
        with pytest.raises(InputError, match=r"references\[0\]"):
            tree_eval([{}], [{"home": bad}], {"home": {"city": "string"}})
    with pytest.raises(InputError, match="a list of one answer or more"):
        tree_eval([{}], [{"home": any_of()}], SCHEMA)
