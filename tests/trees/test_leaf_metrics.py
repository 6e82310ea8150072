"""Leaf metrics against slow definitions, matrices against pairs, other people's metrics."""

from __future__ import annotations

import datetime
import json
import math
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.summaries import rouge_l as our_rouge_l
from tls_tasks.text.tokenizers import NORMALIZERS, unicode_words
from tls_tasks.trees.leaf_metrics import DEFAULT_METRICS, CustomMetricWarning, resolve_metric
from tls_tasks.trees.leaf_values import BUILT_IN, TREEVAL_METRICS, UNFIT, LeafMetric
from tls_tasks.trees.types import AnyOf

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


class Odd:
    """A class of the user's that can't be hashed and equals its like."""

    __hash__ = None

    def __eq__(self, other):
        return isinstance(other, Odd)


class Plain:
    """A class of the user's with an identity."""


TEXTS = st.text(alphabet="ab é\u0301ß,;.-\ud800\x00東A", max_size=12)
WORDS = st.lists(st.sampled_from(["the", "The", "cat", "cat,", "sat", "é", "東京"]), max_size=6).map(" ".join)
NUMBERS = (
    st.integers(-5, 5) | st.floats(-5, 5) | st.sampled_from([10**30, 10**400, 10**400 + 1, -(10**400), 1e308, -1e308])
)
DATES = st.sampled_from(
    ["2011-01-25", "25 January 2011", "2011-01-26T10:00Z", "2011-01", "Jan 2011", "2011", "spring", " spring", "",
     "25-28 January 2011", "2011-01-25/29", "01/02/2011", datetime.date(2011, 1, 25), datetime.datetime(2011, 1, 27, 5)]
)  # fmt: skip
ODD = st.sampled_from(
    [None, True, False, 1, 0, 1.0, -0.0, "1", "", "yes", " No ", math.nan, math.inf, [1, "a"], [True, "a"], ["a", 1.0],
     [], (), {}, {"a": 1}, {"a": True}, {"a": 1.0}, {"b": [math.nan]}, Odd(), Plain(), np.int64(1), np.float64(0.0),
     np.bool_(True), b"x", frozenset({"a"}), 10**400]
)  # fmt: skip
ANYTHING = TEXTS | WORDS | NUMBERS | DATES | ODD


# --- the slow definitions ---


def edit_distance(left, right, substitution):
    """The textbook's table; ``substitution`` costs 1 (Levenshtein) or 2 (insertions and deletions only)."""
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        above, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (one != other) * substitution)
    return row[-1]


def slow_indel(left, right):
    return 1 - edit_distance(left, right, 2) / (len(left) + len(right)) if left or right else 1.0


def slow_levenshtein(left, right):
    return 1 - edit_distance(left, right, 1) / max(len(left), len(right)) if left or right else 1.0


def slow_token_f1(left, right):
    left, right = unicode_words(left), unicode_words(right)
    if not left or not right:
        return float(left == right)
    common = sum((Counter(left) & Counter(right)).values())
    return 2 * common / (len(left) + len(right))


def slow_rouge_l(left, right):
    if not left.split() or not right.split():
        return float(left.split() == right.split())
    return our_rouge_l.rouge_l([right], [left]).as_dict()["rouge_l_f1"]


def slow_equal(left, right):
    """Strict in types, through lists and dictionaries."""
    if isinstance(left, bool | np.bool_) or isinstance(right, bool | np.bool_):
        return isinstance(left, bool | np.bool_) and isinstance(right, bool | np.bool_) and bool(left) == bool(right)
    numbers = (int, float, np.integer)
    if isinstance(left, numbers) or isinstance(right, numbers):
        return isinstance(left, numbers) and isinstance(right, numbers) and bool(left == right)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(slow_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(slow_equal(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right


def slow_number_closeness(left, right):
    if left == right:
        return 1.0
    left, right = Fraction(left), Fraction(right)
    return float(max(0, 1 - abs(left - right) / max(abs(left), abs(right))))


def slow_treeval_exact_match(left, right):
    """trees_metrics.json: by the type of the prediction, ``right``."""
    if isinstance(right, str) or isinstance(left, str):
        return left == right
    if isinstance(right, float | bool):
        left = float(left) if isinstance(left, int) else left  # NumPy 1 can't take integers of more than 64 bits
        return bool(np.isclose(right, left, rtol=1e-5, atol=1e-8))
    return bool(left == right)


def pairs(name, left, right, **options):
    return resolve_metric(name, **options).pairs([left], [right])[0]


@pytest.mark.parametrize(
    ("name", "slow", "values"),
    [
        ("indel_ratio", slow_indel, TEXTS),
        ("levenshtein_similarity", slow_levenshtein, TEXTS),
        ("token_f1", slow_token_f1, WORDS | TEXTS),
        ("rouge_l", slow_rouge_l, WORDS | TEXTS),
    ],
)
def test_texts(name, slow, values):
    @given(values, values)
    def check(left, right):
        assert pairs(name, left, right) == pytest.approx(slow(left, right), abs=1e-12)

    check()


@given(WORDS, WORDS)
def test_rouge_l_is_ours_to_the_last_bit(left, right):
    assert pairs("rouge_l", left, right) == slow_rouge_l(left, right)


@given(ANYTHING, ANYTHING)
def test_exact_match(left, right):
    assert pairs("exact_match", left, right) == float(slow_equal(left, right))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        *CASES["exact_match_by_hand"],
        (math.nan, math.nan, 0),
        (10**30, 10**30 + 1, 0),
        (10**30, 10**30, 1),
        ([1, 2], (1, 2), 1),
        (2**53, float(2**53), 1),
        (2**53 + 1, float(2**53), 0),
    ],
)
def test_exact_match_by_hand(left, right, expected):
    assert pairs("exact_match", left, right) == expected


@given(NUMBERS, NUMBERS, st.sampled_from([0.0, 0.5, 2]))
def test_tolerance(reference, prediction, tolerance):
    found = pairs("exact_match", reference, prediction, tolerance=tolerance)
    allowed = Fraction(tolerance)
    distance = abs(Fraction(reference) - Fraction(prediction))
    assume(abs(distance - allowed) > 1e-9 or distance == 0)  # at the limit itself floats round
    if max(abs(reference), abs(prediction)) < 1e300:
        assert found == float(distance <= allowed)


def test_tolerance_leaves_types_alone():
    metric = resolve_metric("exact_match", tolerance=1)
    assert metric.pairs([1, 1, 1, "a", True, None], [True, "1", 1.5, "a", True, 0]).tolist() == [0, 0, 1, 1, 1, 0]
    for wrong in ({"tolerance": -1}, {"tolerance": True}, {"tolerance": math.nan}, {"tolerance": "1"}):
        with pytest.raises(InputError, match=r"tolerance: got .*, expected a number from 0"):
            resolve_metric("exact_match", **wrong)


PLAIN_VALUES = NUMBERS.filter(lambda value: abs(value) < 1e300) | TEXTS | st.booleans()


@given(PLAIN_VALUES, PLAIN_VALUES)
def test_treeval_exact_match(left, right):
    assert pairs("exact_match", left, right, compat="treeval") == float(slow_treeval_exact_match(left, right))


def test_treeval_exact_match_by_hand():
    metric = resolve_metric("exact_match", compat="treeval")
    left, right, expected = zip(*CASES["treeval_exact_match_by_hand"], strict=True)
    assert metric.pairs(left, right).tolist() == list(expected)
    assert np.diag(metric.matrix(left, right)).tolist() == list(expected)
    assert metric.name == "exact_match"


@given(NUMBERS, NUMBERS)
def test_number_closeness(left, right):
    assert pairs("number_closeness", left, right) == pytest.approx(slow_number_closeness(left, right), abs=1e-12)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        *CASES["date_closeness"],
        ("2011-01-25", "2011-01-26T10:00Z", 1 / 2),
        ("2011-01-25", datetime.date(2011, 2, 1), 1 / 8),
        (datetime.datetime(2011, 1, 25, 9), "2011-01-25", 1),
        ("2011-01", "2011-02", 1 / 32),
        ("25-28 January 2011", "2011-01-25/29", 1 / 2),
    ],
)
def test_date_closeness(left, right, expected):
    metric = resolve_metric("date_closeness")
    assert metric.pairs([left], [right])[0] == pytest.approx(expected)
    assert metric.pairs([right], [left])[0] == pytest.approx(expected)


# --- what holds for all of them ---

EVERY = [*[(name, None) for name in BUILT_IN], *[(name, "treeval") for name in TREEVAL_METRICS]]


@pytest.mark.parametrize(("name", "compat"), EVERY)
def test_nothing_raises_and_matrices_are_pairs(name, compat):
    metric = resolve_metric(name, compat=compat)

    @given(st.lists(ANYTHING, max_size=6), st.lists(ANYTHING, max_size=6))
    def check(left, right):
        matrix = metric.matrix(left, right)
        assert matrix.shape == (len(left), len(right))
        assert matrix.dtype == np.float64
        assert name in ("mse", "abs_err") or np.all((matrix >= 0) & (matrix <= 1))
        grid = [(one, other) for one in left for other in right]
        flat = metric.pairs([one for one, _ in grid], [other for _, other in grid])
        assert flat.shape == (len(grid),)
        assert matrix.ravel().tolist() == flat.tolist()
        for value in (*left, *right):
            if metric.prepare(value) is not UNFIT and name != "exact_match":
                assert metric.pairs([value], [value])[0] == metric.best

    check()


@given(
    st.lists(st.lists(TEXTS, min_size=1, max_size=3) | TEXTS, min_size=1, max_size=5),
    st.lists(TEXTS, min_size=5, max_size=5),
)
def test_several_valid_answers(answers, predictions):
    metric = resolve_metric("indel_ratio")
    references = [AnyOf(one) if isinstance(one, list) else one for one in answers]
    matrix = metric.matrix(references, predictions)
    for row, one in zip(matrix, answers, strict=True):
        texts = one if isinstance(one, list) else [one]
        assert row.tolist() == np.max([metric.pairs([text] * 5, predictions) for text in texts], axis=0).tolist()
    assert metric.pairs(references, predictions[: len(answers)]).tolist() == np.diag(matrix).tolist()


def test_the_best_of_several_answers_where_lower_is_better():
    metric = resolve_metric(
        lambda one, other: abs(one - other), name="error", score_range=(0, 10), higher_is_better=False
    )
    assert metric.pairs([AnyOf([1, 7])], [6]).tolist() == [1]
    assert metric.matrix([AnyOf([1, 7]), 3], [6, 2]).tolist() == [[1, 1], [3, 1]]
    assert (metric.worst, metric.best) == (10, 0)


# --- names and options ---


def test_names():
    assert all(name in BUILT_IN for names in DEFAULT_METRICS.values() for name in names)
    for name in BUILT_IN:
        assert resolve_metric(name).name == name
        assert resolve_metric(name).signature == name
    assert resolve_metric("indel_ratio", name="ratio").name == "ratio"
    assert resolve_metric("levenshtein", compat="treeval").pairs(["baroo"], ["bar"])[0] == 0.75
    metric = resolve_metric("indel_ratio")
    assert resolve_metric(metric) is metric
    assert isinstance(metric, LeafMetric)
    combined = resolve_metric({"metric": "exact_match", "tolerance": 1, "normalize": ["lower"], "name": "near"})
    assert (combined.name, combined.signature) == ("near", "exact_match(tolerance=1,normalize=lower)")


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        *CASES["wrong_metrics"],
        ("exact_match", {"score_range": (0, 2)}, "'exact_match' with"),
        (len, {"score_range": (1, 1)}, "score_range: got \\(1, 1\\) of 'len'"),
        (len, {"score_range": (0, math.inf)}, "both finite"),
        (type("Nameless", (), {"__call__": lambda self, one, other: 1.0})(), {}, "give name="),
    ],
)
def test_wrong_metrics(metric, options, message):
    with pytest.raises(InputError, match=message):
        resolve_metric(metric, **options)
    assert issubclass(OptionError, InputError)


@pytest.mark.parametrize(("names", "left", "right"), CASES["normalizers"])
def test_normalizers(names, left, right):
    assert pairs("exact_match", left, right) == 0
    assert pairs("exact_match", left, right, normalize=names) == 1
    assert resolve_metric("exact_match", normalize=names).matrix([left, 5], [right, 5]).tolist() == [[1, 0], [0, 1]]


@given(st.text())
def test_normalizers_take_any_text(text):
    for function in NORMALIZERS.values():
        assert function(function(text)) == function(text) or function is NORMALIZERS["nfkc"]


def test_normalizers_one_after_the_other():
    metric = resolve_metric("exact_match", normalize="lower").normalized("strip").normalized([])
    assert metric.pairs([" A"], ["a "]).tolist() == [1]
    assert metric.signature == "exact_match(normalize=lower,normalize=strip)"


# --- other people's metrics ---


class Counting:
    """Looks like a module of evaluate; ``answer`` makes its result."""

    def __init__(self, name, answer):
        self.name, self.answer, self.calls = name, answer, []

    def __len__(self):
        return 0  # as evaluate's modules, which are falsy

    def compute(self, *, predictions=None, references=None, **options):
        self.calls.append((list(predictions), list(references), options))
        return self.answer([abs(len(one) - len(other)) for one, other in zip(predictions, references, strict=True)])


@pytest.mark.parametrize(
    "answer",
    [
        lambda scores: scores,
        lambda scores: np.array(scores),
        lambda scores: {"length": scores},
        lambda scores: {"score": scores},
        lambda scores: {"precision": scores, "f1": scores, "hashcode": "x"},
    ],
)
def test_one_question_for_all_distinct_pairs(answer):
    module = Counting("length", answer)
    metric = resolve_metric(module, score_range=(0, 5), higher_is_better=False, lang="en")
    assert metric.name == "length"
    assert metric.signature == "custom(length)(lang=en)"
    assert metric.matrix(["a", "abc", "a"], ["ab", "ab"]).tolist() == [[1, 1], [1, 1], [1, 1]]
    assert module.calls == [(["ab", "ab"], ["a", "abc"], {"lang": "en"})]
    assert metric.pairs(["a"], ["ab"]).tolist() == [1]


@pytest.mark.parametrize(
    "answer", [lambda scores: {"length": sum(scores) / len(scores)}, lambda scores: np.mean(scores)]
)
def test_pair_by_pair_with_a_warning(answer):
    module = Counting("length", answer)
    metric = resolve_metric(module, score_range=(0, 9))
    with pytest.warns(CustomMetricWarning, match="'length' gives one number for many pairs"):
        assert metric.pairs(["a", "abc", "a"], ["abc", "abc", "abc"]).tolist() == [2, 0, 2]
    assert len(module.calls) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric.matrix(["a"], ["abc"])


def test_functions():
    def of_lists(predictions, references):
        return [float(one == other) for one, other in zip(predictions, references, strict=True)]

    def of_a_pair(prediction, reference):
        return len(prediction) / len(reference)

    assert resolve_metric(of_lists).pairs(["a", "b"], ["a", "a"]).tolist() == [1, 0]
    assert resolve_metric(of_a_pair).pairs(["ab", "b"], ["a", "b"]).tolist() == [0.5, 1]
    assert resolve_metric(of_a_pair, name="x").name == "x"
    assert resolve_metric(max, name="most").pairs([3], [5]).tolist() == [5]


def test_values_that_look_alike_are_told_apart():
    seen = []
    metric = resolve_metric(lambda one, other: seen.append((one, other)) or 0.5, name="seen")
    metric.pairs([1, True, 1.0, 1, [1], [True], Odd(), {"a": 1}, {"a": 1}], [1] * 9)
    assert repr([other for _, other in seen[:6]]) == "[1, True, 1.0, [1], [True], " + repr(seen[5][1]) + "]"
    assert len(seen) == 7


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda scores: {"rouge1": 1.0, "rouge2": 1.0}, r"keys \['rouge1', 'rouge2'\], expected result_key="),
        (lambda scores: [1.0], "from 'length', expected"),
        (lambda scores: ["x"] * len(scores), "got str 'x' from 'length', expected"),
    ],
)
def test_results_without_scores(answer, message):
    with pytest.raises(InputError, match=message):
        resolve_metric(Counting("length", answer)).pairs(["a", "b"], ["a", "a"])


def test_result_key():
    module = Counting("rouge", lambda scores: {"rouge1": scores, "rouge2": [0 for _ in scores]})
    assert resolve_metric(module, result_key="rouge1").pairs(["a", "b"], ["ab", "a"]).tolist() == [1, 0]
    assert module.calls[0][2] == {}


def test_no_number_is_the_worst_score():
    metric = resolve_metric(lambda one, other: math.nan if one == other else 1, name="nan", score_range=(-1, 1))
    with pytest.warns(CustomMetricWarning, match="no number for 1 of 2 pairs; they count as its worst score, -1"):
        assert metric.pairs(["a", "b"], ["a", "a"]).tolist() == [-1, 1]


def test_ranges_that_are_known():
    assert resolve_metric(Counting("sacrebleu", list)).score_range == (0, 100)
    assert resolve_metric(Counting("mse", list)).higher_is_better is False
    assert resolve_metric(Counting("mse", list), score_range=(0, 7), higher_is_better=True).best == 7


def test_a_module_of_evaluate():
    evaluate = pytest.importorskip("evaluate")
    from tests.conftest import ROOT

    module = evaluate.load(str(ROOT / "metrics" / "rouge_l"))
    assert not module  # which is why nothing may ask whether there is a module by its truth
    metric = resolve_metric(module, use_aggregator=False, result_key="rouge_l_f1")
    assert metric.name == "rouge_l"
    expected = resolve_metric("rouge_l").matrix(["the cat sat", "a dog"], ["the cat", "the dog", "the cat"])
    assert metric.matrix(["the cat sat", "a dog"], ["the cat", "the dog", "the cat"]).tolist() == expected.tolist()
