"""Both pairings by brute force over all pairings, and views that show the pairs which the headline counts."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees.test_tree_eval import RANDOM_CASES, metrics_of
from tls_tasks.trees.counts import leaf_similarity
from tls_tasks.trees.differences import is_pair, side_by_side
from tls_tasks.trees.tree_eval import tree_eval

WORDS = st.sampled_from(["a", "ab", "abc", "bc", "drums", ""])
ITEMS = st.lists(st.fixed_dictionaries({"t": WORDS, "n": st.integers(0, 2)}), max_size=6)
SCHEMA = {"l": [{"t": "string", "n": "integer"}]}


def pairings_of(references, predictions):
    """Every way to pair as many items as there can be."""
    if len(references) > len(predictions):
        return [[(i, j) for j, i in pairs] for pairs in pairings_of(predictions, references)]
    columns = itertools.permutations(range(len(predictions)), len(references))
    return [list(enumerate(chosen)) for chosen in columns]


def scored(predictions, references):
    return tree_eval([{"l": predictions}], [{"l": references}], SCHEMA)


def alike(references, predictions):
    """The similarities of the values of all pairs of items, and how many are exact, each scored alone."""
    units = [[scored([one], [reference]).units[0] for one in predictions] for reference in references]
    return [[(unit["value_hits"], unit["value_hits_exact"]) for unit in row] for row in units]


@settings(max_examples=20)
@given(ITEMS, ITEMS)
def test_the_values_pairing_is_the_best_of_all(references, predictions):
    unit = scored(predictions, references).units[0]
    sums, values = [], alike(references, predictions)
    for pairs in pairings_of(references, predictions):
        sums.append((round(sum(values[i][j][0] for i, j in pairs), 9), sum(values[i][j][1] for i, j in pairs)))
    hits, n_exact = max(sums)
    assert unit["value_hits"] == pytest.approx(hits, abs=1e-8)
    assert unit["value_hits_exact"] == n_exact


@settings(max_examples=20)
@given(ITEMS, ITEMS)
def test_the_guides_pairing_is_the_best_of_all(references, predictions):
    """The sum over pairs of the mean over metrics of an item is the greatest that there is."""
    leaves = scored(predictions, references).as_dict()["leaves"]["l"]
    means = [next(iter(leaf.values())) for leaf in leaves.values()] if leaves["t"] else []
    n = min(len(references), len(predictions))
    values = alike(references, predictions)
    best = max(sum(values[i][j][0] / 2 for i, j in pairs) for pairs in pairings_of(references, predictions))
    assert math.fsum(means) / 2 * n == pytest.approx(best, abs=1e-6)


@given(RANDOM_CASES)
def test_the_pairs_that_views_show_give_the_headline(case):
    score = tree_eval(case.predictions, case.references, case.schema, metrics_of(case.schema))
    hits = given_and_wanted = 0.0
    for item, unit in zip(score.items, score.units, strict=True):
        nodes = [node for node in side_by_side(item.plan.root, *item.trees, item.alignments) if is_pair(node)]
        own = math.fsum(leaf_similarity(item.plan, node.node, node.reference, node.prediction) for node in nodes)
        assert own == pytest.approx(unit["value_hits"], abs=1e-9)
        hits, given_and_wanted = hits + own, given_and_wanted + unit["value_given"] + unit["value_wanted"]
    if given_and_wanted:
        assert score.results["f1_value"] == pytest.approx(2 * hits / given_and_wanted)


@pytest.mark.parametrize("n", [1, 50])
def test_a_callers_metric_is_asked_once_for_all_pairs_outside_lists(n):
    calls = []

    def judge(predictions, references):
        calls.append(len(predictions))
        return [float(one == other) for one, other in zip(predictions, references, strict=True)]

    trees = [{"a": f"x{row}", "b": {"c": "y"}, "n": row} for row in range(n)]
    others = [{"a": f"z{row}", "b": {"c": f"y{row}"}, "n": row} for row in range(n)]
    tree_eval(others, trees, {"a": "string", "b": {"c": "string"}, "n": "integer"}, {"a": judge})
    assert calls == [n]


def test_a_callers_metric_gets_no_pair_of_a_list_twice():
    pairs = []

    def judge(predictions, references):
        pairs.extend(zip(predictions, references, strict=True))
        return [float(one == other) for one, other in zip(predictions, references, strict=True)]

    tree_eval([{"l": ["a", "b", "x"]}], [{"l": ["b", "c", "a"]}], {"l": ["string"]}, {"l": judge})
    assert len(pairs) == len(set(pairs)) == 9
