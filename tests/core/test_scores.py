import copy
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.core.errors import InputError, MissingExtraError, OptionError
from tls_tasks.core.scores import (
    PRF,
    Counts,
    Item,
    Score,
    aggregate,
    aggregate_by_group,
    bootstrap_interval,
    f_beta,
    mean,
)

COUNTS = st.builds(
    lambda hits, spare, found, missed: Counts(hits, hits + spare, found, found + missed),
    *[st.integers(0, 50) for _ in range(4)],
)


def test_undefined_ratios_are_0():
    assert Counts(0, 0, 0, 0).prf() == PRF(0.0, 0.0, 0.0)
    assert f_beta(0.0, 0.0) == 0.0
    assert mean([]) == 0.0
    assert aggregate([], "f_of_means") == PRF(0.0, 0.0, 0.0)


@given(st.lists(COUNTS, min_size=1, max_size=6))
def test_micro_is_the_score_of_the_sum_and_an_empty_item_leaves_it(items):
    total = Counts(*(sum(getattr(item, name) for item in items) for name in Counts.__slots__))
    assert aggregate(items, "micro") == total.prf()
    assert aggregate([*items, Counts(0, 0, 0, 0)], "micro") == total.prf()


@given(st.lists(COUNTS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter_to_the_last_bit(items, generator):
    shuffled = list(items)
    generator.shuffle(shuffled)
    for how in ("f_of_means", "mean_f", "micro"):
        assert aggregate(shuffled, how) == aggregate(items, how)


def test_one_item_is_the_same_in_every_aggregate():
    item = Counts(1, 3, 1, 2)
    assert {aggregate([item], how) for how in ("f_of_means", "mean_f", "micro")} == {item.prf()}


def test_groups_have_one_vote_each():
    items = [Counts(1, 1, 1, 1), Counts(1, 1, 1, 1), Counts(0, 1, 0, 1)]
    overall, by_group = aggregate_by_group(items, ["a", "a", "b"], "mean_f")
    assert overall.f1 == 0.5
    assert (by_group["a"].f1, by_group["b"].f1) == (1.0, 0.0)


def test_unknown_aggregate():
    with pytest.raises(OptionError, match="aggregate: got 'median', expected one of 'f_of_means', 'mean_f', 'micro'"):
        aggregate([], "median")


def test_the_bootstrap_interval_covers_as_often_as_it_says():
    generator, covered = random.Random(3), 0
    for _ in range(60):
        values = [generator.gauss(0.5, 0.1) for _ in range(40)]
        low, high = bootstrap_interval(
            40, lambda rows, values=values: mean([values[row] for row in rows]), n_resamples=200
        )
        covered += low <= 0.5 <= high
    assert 50 <= covered <= 60  # 95 % of 60 is 57


@pytest.mark.parametrize("options", [{"confidence": 1.0}, {"confidence": 0.0}, {"n_resamples": 0}])
def test_impossible_intervals(options):
    with pytest.raises(InputError, match="confidence_interval: got 3 items"):
        bootstrap_interval(3, lambda rows: 0.0, **options)


def test_a_score_is_plain_data():
    score = Score("m", "m|v:1", ("x",), (Item(0, None, {"x": Counts(1, 2, 1, 4)}, "a"),), by_topic=True)
    result = score.as_dict(detailed=True)
    assert result["x_precision"] == 0.5 and result["topics"] == {
        "a": {"x_precision": 0.5, "x_recall": 0.25, "x_f1": 1 / 3}
    }
    assert result["items"][0]["counts"] == {
        "x": {"precision_hits": 1, "predicted": 2, "recall_hits": 1, "reference": 4}
    }
    assert all(type(value) is float for key, value in result.items() if key.startswith("x_"))


def test_nan_is_not_hidden():
    assert math.isnan(mean([1.0, math.nan]))


@pytest.mark.parametrize(
    "error",
    [InputError("references", 3, "None", "a list"), OptionError("a", None, "b", "c"), MissingExtraError("x", "hf")],
)
def test_errors_survive_a_process_border(error):
    same = copy.deepcopy(error)  # goes by __reduce__, as sending it does
    assert type(same) is type(error)
    assert str(same) == str(error)
