"""Units -> results: tables, NaN, topics, intervals, standard errors, shards."""

import copy
import math
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.core.errors import InputError, MissingExtraError, OptionError
from tls_tasks.core.prf import PRF, Counts, Item, check_aggregate, f_beta, prf_of_means, prf_unit
from tls_tasks.core.score import Score, Sums, jackknife, mean, ratio, total, unscored, values, without_nan

COUNTS = st.builds(
    lambda hits, spare, found, missed: Counts(hits, hits + spare, found, found + missed),
    *[st.integers(0, 50) for _ in range(4)],
)
ACCURACY = {"accuracy": ratio("right", "of", empty=math.nan)}
RIGHT = [*({"right": n % 3, "of": 1 + n % 5} for n in range(9)), {"right": 0, "of": 0}]


def prf_score(counts, how="f_of_means", topics=None, beta=1.0):
    units = [prf_unit({"x": own}, beta) for own in counts]
    return Score("m", "m|v:1", units, prf_of_means("x", how, beta, topics is not None), topics)


def test_undefined_ratios_are_0():
    assert Counts(0, 0, 0, 0).prf() == PRF(0.0, 0.0, 0.0)
    assert f_beta(0.0, 0.0) == 0.0
    assert set(prf_score([]).results.values()) == {0.0}


@given(st.lists(COUNTS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_units_does_not_matter_to_the_last_bit(items, generator):
    shuffled = list(items)
    generator.shuffle(shuffled)
    for how in ("f_of_means", "mean_f"):
        assert prf_score(shuffled, how).results == prf_score(items, how).results


def test_one_unit_is_the_same_in_every_aggregate():
    item = Counts(1, 3, 1, 2)
    assert {tuple(prf_score([item], how).results.values()) for how in ("f_of_means", "mean_f")} == {tuple(item.prf())}


@pytest.mark.parametrize("how", ["f_of_means", "mean_f"])
def test_topics_have_one_vote_each(how):
    items = [Counts(1, 1, 1, 1), Counts(1, 1, 1, 1), Counts(0, 1, 0, 1)]
    score = prf_score(items, how, ["a", "a", "b"])
    assert score.results == {"x_precision": 0.5, "x_recall": 0.5, "x_f1": 0.5}
    assert (score.by_topic()["a"]["x_f1"], score.by_topic()["b"]["x_f1"]) == (1.0, 0.0)


@given(st.lists(st.tuples(COUNTS, st.sampled_from("abc")), min_size=1, max_size=8))
def test_rows_of_sums_add_up_to_the_results(pairs):
    """What intervals and paired tests rest on, for topics and for single units."""
    items, topics = zip(*pairs, strict=True)
    for score in (prf_score(items), prf_score(items, "mean_f", topics), prf_score(items, "f_of_means", topics)):
        for by_topic in (True, False):
            sums = Sums.of(score, by_topic=by_topic)
            assert sums.values(sums.rows.sum(axis=0)) == pytest.approx(score.results, abs=1e-12)


def test_unknown_aggregate():
    with pytest.raises(OptionError, match="aggregate: got 'median', expected one of 'f_of_means', 'mean_f'"):
        check_aggregate("median", 1.0)


def test_a_score_is_plain_data_and_pickles():
    item = Item(0, None, {"x": Counts(1, 2, 1, 4)}, "a")
    score = Score("m", "m|v:1", [prf_unit(item.counts)], prf_of_means("x", by_topic=True), ["a"], items=[item])
    result = score.as_dict(detailed=True)
    assert result["x_precision"] == 0.5 and score.by_topic() == {
        "a": {"x_precision": 0.5, "x_recall": 0.25, "x_f1": 1 / 3}
    }
    assert result["items"][0]["counts"] == {
        "x": {"precision_hits": 1, "predicted": 2, "recall_hits": 1, "reference": 4}
    }
    assert all(type(value) is float for key, value in result.items() if key.startswith("x_"))
    assert pickle.loads(pickle.dumps(score)).as_dict(detailed=True) == result


# --- NaN: undefined is not broken ---


def test_a_broken_instrument_poisons_and_undefined_does_not():
    table = {**ACCURACY, "asked": total("of")}
    undefined, broken = {"right": 0, "of": 0}, unscored(table)
    assert values(table, [undefined, {"right": 1, "of": 2}])["accuracy"] == 0.5
    assert all(math.isnan(value) for value in values(table, [broken]).values())
    assert all(math.isnan(value) for value in values(table, [broken, {"right": 1, "of": 2}]).values())
    plain = Score("m", "m|v:1", [broken], table, undefined=None).as_dict()
    assert plain == {"accuracy": None, "asked": None, "signature": "m|v:1"}
    assert without_nan({"a": math.nan, "b": 1.0}) == {"a": None, "b": 1.0}


# --- intervals and standard errors ---


def test_the_bootstrap_interval_covers_as_often_as_it_says():
    generator, covered = random.Random(3), 0
    for _ in range(60):
        score = Score("m", "", [{"v": generator.gauss(0.5, 0.1), "n": 1} for _ in range(40)], {"mean": mean("v")})
        low, high = score.intervals(n_resamples=200)["mean"]
        covered += low <= 0.5 <= high
    assert 50 <= covered <= 60  # 95 % of 60 is 57


def test_intervals_hold_the_result_and_are_the_seeds():
    score = Score("m", "", RIGHT, ACCURACY)
    low, high = score.intervals(n_resamples=500)["accuracy"]
    assert 0 < low < score.results["accuracy"] < high < 1
    again = score.intervals(n_resamples=500)
    assert again == {"accuracy": (low, high)} != score.intervals(n_resamples=500, seed=1)


def test_counts_have_no_interval():
    score = Score("m", "", RIGHT, {**ACCURACY, "n": total("of")})
    assert set(score.intervals(n_resamples=5)) == set(score.standard_errors()) == {"accuracy"}


def test_whole_topics_are_drawn():
    same = Score("m", "", [{"v": 1, "n": 1}, {"v": 0, "n": 1}] * 5, {"mean": mean("v")}, ["a", "a", *"bbccddee"])
    assert same.intervals(n_resamples=50)["mean"] == (0.5, 0.5), "each topic has the same mean"
    assert same.standard_errors()["mean"] == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 95}, "confidence: got 95, expected a number between 0 and 1, such as 0.95"),
        ({"confidence": 1.0}, "confidence: got 1, expected a number between 0 and 1"),
        ({"confidence": 0.0}, "confidence: got 0, expected"),
        ({"confidence": math.nan}, "confidence: got nan, expected"),
        ({"n_resamples": 0}, "n_resamples: got 0, expected a whole number above 0"),
    ],
)
def test_impossible_intervals(options, message):
    with pytest.raises(InputError, match=f"^{message}"):
        Score("m", "", RIGHT, ACCURACY).intervals(**options)


def test_nothing_has_no_interval():
    with pytest.raises(InputError, match="confidence_interval: got no rows, expected at least one"):
        Score("m", "", [], ACCURACY).intervals()


def test_the_jackknife_of_a_mean_is_the_textbook_standard_error():
    numbers = [random.Random(5).random() for _ in range(30)]
    centre = sum(numbers) / 30
    textbook = math.sqrt(sum((value - centre) ** 2 for value in numbers) / (30 * 29))
    assert jackknife(mean("v"), [{"v": value, "n": 1} for value in numbers]) == pytest.approx(textbook, rel=1e-12)
    assert math.isnan(jackknife(mean("v"), [{"v": 1, "n": 1}]))


@pytest.mark.parametrize(
    "error",
    [InputError("references", 3, "None", "a list"), OptionError("a", None, "b", "c"), MissingExtraError("x", "hf")],
)
def test_errors_survive_a_process_border(error):
    same = copy.deepcopy(error)  # goes by __reduce__, as sending it does
    assert type(same) is type(error)
    assert str(same) == str(error)
