"""Units -> results: tables, NaN, topics, intervals, standard errors, shards."""

import copy
import json
import math
import pickle
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from tls_tasks.core import score as core
from tls_tasks.core.errors import InputError, MissingExtraError, OptionError
from tls_tasks.core.options import interval_options
from tls_tasks.core.score import Score, Sums, jackknife, mean, ratio, total, unscored, values, without_nan

COUNTS = st.builds(
    lambda hits, spare, found, missed: core.Counts(hits, hits + spare, found, found + missed),
    *[st.integers(0, 50) for _ in range(4)],
)
ACCURACY = {"accuracy": ratio("right", "of", empty=math.nan)}
RIGHT = [*({"right": n % 3, "of": 1 + n % 5} for n in range(9)), {"right": 0, "of": 0}]


def prf_score(counts, how="f_of_means", topics=None, beta=1.0):
    units = [core.prf_unit({"x": own}, beta) for own in counts]
    return Score("m", "m|v:1", units, core.prf_of_means("x", how, beta, topics is not None), topics)


def test_undefined_ratios_are_0():
    assert core.Counts(0, 0, 0, 0).prf() == core.PRF(0.0, 0.0, 0.0)
    assert core.f_beta(0.0, 0.0) == 0.0
    assert set(prf_score([]).results.values()) == {0.0}


@given(st.lists(COUNTS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_units_does_not_matter_to_the_last_bit(items, generator):
    shuffled = list(items)
    generator.shuffle(shuffled)
    for how in ("f_of_means", "mean_f"):
        assert prf_score(shuffled, how).results == prf_score(items, how).results


def test_no_documents_have_the_value_that_was_said():
    table = {"silent": ratio("x", "n"), "undefined": ratio("x", "n", empty=math.nan), "best": ratio("x", "n", empty=1)}
    assert repr(values(table, [])) == "{'silent': 0.0, 'undefined': nan, 'best': 1}"
    assert repr(values(table, [{"x": 0, "n": 0}])) == "{'silent': 0.0, 'undefined': nan, 'best': 1}"


def test_one_unit_is_the_same_in_every_aggregate():
    item = core.Counts(1, 3, 1, 2)
    every = {tuple(prf_score([item], how, beta=2.0).results.values()) for how in ("f_of_means", "mean_f")}
    assert every == {tuple(item.prf(2.0))}


@pytest.mark.parametrize("how", ["f_of_means", "mean_f"])
def test_topics_have_one_vote_each(how):
    items = [core.Counts(1, 1, 1, 1), core.Counts(1, 1, 1, 1), core.Counts(0, 1, 0, 1)]
    score = prf_score(items, how, ["a", "a", "b"])
    assert score.results == {"x_precision": 0.5, "x_recall": 0.5, "x_f1": 0.5}
    assert (score.topic_results()["a"]["x_f1"], score.topic_results()["b"]["x_f1"]) == (1.0, 0.0)


@given(st.lists(st.tuples(COUNTS, st.sampled_from("abc")), min_size=1, max_size=8))
def test_rows_of_sums_add_up_to_the_results(pairs):
    """What intervals and paired tests rest on, for topics and for single units."""
    items, topics = zip(*pairs, strict=True)
    for score in (prf_score(items), prf_score(items, "mean_f", topics), prf_score(items, "f_of_means", topics)):
        for by_topic in (True, False):
            sums = Sums.from_score(score, by_topic=by_topic)
            assert sums.values(sums.rows.sum(axis=0)) == pytest.approx(score.results, abs=1e-12)


def test_unknown_aggregate():
    with pytest.raises(OptionError, match="aggregate: got 'median', expected one of 'f_of_means', 'mean_f'"):
        core.check_aggregate("median", 1.0)


def test_a_score_is_plain_data_and_pickles():
    item = core.Item(0, None, {"x": core.Counts(1, 2, 1, 4)}, "a")
    units, table = [core.prf_unit(item.counts)], core.prf_of_means("x", by_topic=True)
    score = Score("m", "m|v:1", units, table, ["a"], items=[item])
    result = score.as_dict(detailed=True)
    assert result["x_precision"] == 0.5 and score.topic_results() == {
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


def numbers_of(values, **options):
    return Score("m", "", [{"v": value, "n": 1} for value in values], {"mean": mean("v")}, **options)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("n", [2, 7, 9, 40, 99])
def test_below_100_the_interval_is_students_t_on_the_log_odds_scale(n, confidence):
    """Leave out one, the slow way, with scipy's t; F1 of means, which is no mean."""
    counts = [core.Counts(n % 4, 3 + n % 3, n % 4, 5) for n in range(1, n + 1)]
    score = prf_score(counts)
    value, left_out = score.x_f1, [prf_score(counts[:place] + counts[place + 1 :]).x_f1 for place in range(n)]
    error = math.sqrt((n - 1) / n * sum((one - sum(left_out) / n) ** 2 for one in left_out))
    reach = t.ppf(1 - (1 - confidence) / 2, df=n - 1) * error / (value * (1 - value))
    ends = [1 / (1 + math.exp(-(math.log(value / (1 - value)) + sign * reach))) for sign in (-1, 1)]
    found = score.intervals(confidence=confidence)["x_f1"]
    assert found == pytest.approx(tuple(ends), rel=1e-9) and 0 < found.low < value < found.high < 1
    assert score.standard_errors()["x_f1"] == pytest.approx(error, rel=1e-9)
    assert (found.n, found.is_trusted) == (n, n >= 8)
    assert score.intervals(confidence=confidence, seed=1, n_resamples=1)["x_f1"] == found, "nothing is drawn"


def test_what_is_not_bounded_has_the_plain_t_interval():
    values = [3.0, 8.0, 1.0, 5.0, 9.0, 2.0, 7.0, 4.0, 6.0]
    score = Score("m", "", [{"v": value, "n": 1} for value in values], {"mean": mean("v", bounded=False)})
    reach = t.ppf(0.975, df=8) * math.sqrt(7.5 / 9)  # the variance of 1 to 9 is 7.5
    assert score.intervals()["mean"] == pytest.approx((5 - reach, 5 + reach))


def test_from_100_on_it_is_the_percentile_bootstrap():
    generator = random.Random(4)
    values = [generator.random() for _ in range(100)]
    generator, means = random.Random(12345), []
    for _ in range(1000):
        means.append(math.fsum(values[place] for place in generator.choices(range(100), k=100)) / 100)
    means.sort()
    found = numbers_of(values).intervals()["mean"]
    assert found == pytest.approx((means[25], means[974]), abs=1e-12)
    assert (found.n, found.is_trusted) == (100, True)
    assert numbers_of(values).intervals(seed=1)["mean"] != found == numbers_of(values).intervals()["mean"]


def test_ends_between_two_draws_are_the_outer_ones():
    """Half of ten draws lies from 2.5 to 7.5: no end may cut a draw off, so that the third and the eighth are taken."""
    generator = random.Random(5)
    values = [generator.random() for _ in range(100)]
    generator = random.Random(12345)
    means = sorted(math.fsum(values[place] for place in generator.choices(range(100), k=100)) / 100 for _ in range(10))
    found = numbers_of(values).intervals(confidence=0.5, n_resamples=10)["mean"]
    assert found == pytest.approx((means[2], means[7]), abs=1e-12)


def test_an_interval_is_a_pair_that_can_be_sent():
    found = numbers_of([0.2, 0.4]).intervals()["mean"]
    low, high = found
    assert json.loads(json.dumps(found)) == [low, high] == [found.low, found.high]
    for same in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert same == found and same.n == 2


def test_the_units_of_a_row_are_one_draw():
    """A document asked about five times says no more than once."""
    values = [0.1, 0.9, 0.4, 0.6, 0.3, 0.8, 0.5, 0.2, 0.7]
    once = numbers_of(values)
    often = numbers_of([value for value in values for _ in range(5)], rows=[row for row in range(9) for _ in range(5)])
    apart = numbers_of([value for value in values for _ in range(5)])
    assert often.intervals()["mean"] == pytest.approx(once.intervals()["mean"]) and often.intervals()["mean"].n == 9
    assert often.standard_errors()["mean"] == pytest.approx(once.standard_errors()["mean"])
    assert apart.standard_errors()["mean"] == pytest.approx(once.standard_errors()["mean"] * math.sqrt(8 / 44))
    by_topic = replace(often, topics=["a", *"bbbbbbbb" * 5, *"cccc"])
    assert by_topic.intervals()["mean"].n == 3, "topics hold rows"
    assert len(Sums.from_score(by_topic, by_topic=False).rows) == 9


def test_what_adds_nothing_to_a_result_is_no_cluster_of_it():
    """Twenty documents, three of which have anything to be right about: two degrees of freedom, not nineteen."""
    nothing, asked = [{"right": 0, "of": 0}] * 17, [{"right": right, "of": 4} for right in (1, 2, 4)]
    all_of_them, few = (Score("m", "", units, ACCURACY) for units in (nothing + asked, asked))
    assert all_of_them.intervals() == few.intervals() and all_of_them.intervals()["accuracy"].n == 3
    assert all_of_them.standard_errors() == few.standard_errors()


@pytest.mark.parametrize(
    ("values", "interval", "said"),
    [
        ([0.5], None, "no intervals: at least two topics or documents must contribute to a result"),
        ([1.0] * 9, (1.0, 1.0), "all documents gave the same value, so the interval has no width: mean"),
        ([0.1] * 9, (0.1, 0.1), "all documents gave the same value, so the interval has no width: mean"),
        ([0.1, *[0.3] * 8], ..., ""),
        ([0.1, math.nan, *[0.3] * 98], None, "no intervals: at least two topics or documents must contribute"),
        ([0.1, math.nan, *[0.3] * 99], None, "no intervals: at least two topics or documents must contribute"),
        ([0.1, 0.2, 0.4, 0.9], ..., "only 4 topics or documents: these intervals are too narrow; use at least 8"),
    ],
)
def test_what_is_said_of_intervals(values, interval, said):
    score = replace(numbers_of(values), interval={"confidence": 0.95, "n_resamples": 50, "seed": 1})
    found = score.as_dict()
    if interval is None:
        assert "mean_ci" not in found
    elif interval is not ...:
        assert found["mean_ci"] == pytest.approx(interval, abs=1e-12)
    assert found["ci_caution"].startswith(said) and bool(found["ci_caution"]) == bool(said)
    assert "ci_caution" not in replace(score, interval=None).as_dict()


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


def test_a_seed_may_be_0():
    interval_options(0.95, 10, 0)
    with pytest.raises(InputError, match="seed: got -1"):
        interval_options(0.95, 10, -1)
