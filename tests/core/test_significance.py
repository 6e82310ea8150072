"""Paired tests against scipy's, sacrebleu's, and cases worked by hand."""

import math
import random

import numpy as np
import pytest
from scipy.stats import permutation_test, t

from tests.conftest import ORACLES
from tls_tasks.core.errors import InputError
from tls_tasks.core.score import Result, Score, Sums, mean, total
from tls_tasks.core.significance import Settings, compare, holm, smallest_p


def sums(units, table, topics=None):
    return Sums.from_score(Score("m", "m|v:1", units, table, topics))


def Mean(values, topics=None):
    return sums([{"hit": value, "n": 1.0} for value in values], {"mean": mean("hit")}, topics)


def micro_f1(tp, fp, fn):
    return 2 * tp / (2 * tp + fp + fn) if 2 * tp + fp + fn else 0.0


def F1(counts):
    """Micro F1: no mean of anything."""
    parts = ("tp", "fp", "fn")
    units = [dict(zip(parts, map(float, row), strict=True)) for row in counts]
    return sums(units, {"f1": Result(parts, micro_f1)})


def numbers(seed, n, shift=0.0):
    generator = random.Random(seed)
    return [generator.random() + shift for _ in range(n)]


@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_exact_p_values_are_scipys(n):
    left, right = numbers(1, n), numbers(2, n, 0.1)
    [found] = compare(Mean(left), Mean(right), ["mean"])
    expected = permutation_test(
        (right, left), lambda a, b: np.mean(a) - np.mean(b), permutation_type="samples", n_resamples=np.inf
    )
    assert found.exact and found.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    assert found.difference == pytest.approx(expected.statistic, abs=1e-12)


def test_exact_p_value_of_a_corpus_f1_is_scipys():
    generator = random.Random(3)
    left, right = ([[generator.randint(0, 5) for _ in range(3)] for _ in range(8)] for _ in range(2))
    rows = list(range(8))

    def f1(chosen_left, chosen_right):
        def value(codes):
            # a code is the unit's number, and 100 more for the second system's counts
            picked = [(right if code >= 100 else left)[int(code) % 100] for code in codes]
            tp, fp, fn = (sum(column) for column in zip(*picked, strict=True))
            return 2 * tp / (2 * tp + fp + fn)

        return value(chosen_right) - value(chosen_left)

    expected = permutation_test(
        (rows, [row + 100 for row in rows]), f1, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    [found] = compare(F1(left), F1(right), ["f1"])
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_random_exchanges_come_near_the_exact_value(monkeypatch):
    left, right = numbers(5, 12), numbers(6, 12, 0.2)
    [exact] = compare(Mean(left), Mean(right), ["mean"])
    monkeypatch.setattr("tls_tasks.core.significance.MOST_EXACT", 0)
    [found] = compare(Mean(left), Mean(right), ["mean"])
    assert exact.exact and not found.exact
    assert found.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(exact.p_value / 10_000))


def test_the_same_system_twice():
    values = numbers(1, 30)
    [found] = compare(Mean(values), Mean(values), ["mean"])
    assert (found.p_value, found.difference, tuple(found.interval)) == (1.0, 0.0, (0.0, 0.0))


def test_four_units_cannot_go_below_an_eighth():
    [found] = compare(Mean([0.1] * 4), Mean([0.9] * 4), ["mean"])
    assert found.p_value == smallest_p(4) == 0.125
    [clustered] = compare(*(Mean([value] * 40, [row % 4 for row in range(40)]) for value in (0.1, 0.9)), ["mean"])
    assert (clustered.p_value, clustered.n_units) == (0.125, 4)
    assert smallest_p(0) == 1.0 and smallest_p(100) == 1 / 10_001


def test_clusters_are_exchanged_whole():
    """As if each cluster's sums were one unit."""
    left, right = numbers(7, 24), numbers(8, 24, 0.05)
    labels = [row // 3 for row in range(24)]
    [found] = compare(Mean(left, labels), Mean(right, labels), ["mean"])
    merged = [[sum(values[3 * row : 3 * row + 3]) / 3 for row in range(8)] for values in (left, right)]
    [expected] = compare(Mean(merged[0]), Mean(merged[1]), ["mean"])
    assert found.p_value == expected.p_value
    assert found.interval == pytest.approx(expected.interval, abs=1e-12)


def test_the_interval_of_a_clear_difference_leaves_out_zero_and_holds_the_difference():
    left = numbers(9, 50)
    [found] = compare(Mean(left), Mean([value + 0.2 + 0.01 * row for row, value in enumerate(left)]), ["mean"])
    assert 0.2 < found.interval.low < found.difference < found.interval.high and found.p_value == 1 / 10_001


@pytest.mark.parametrize("n", [2, 8, 30])
def test_the_interval_of_a_difference_of_few_is_students_t(n):
    """Of a mean difference the textbook's paired t interval, on the log-odds scale of -1 to 1."""
    left, right = numbers(1, n), numbers(2, n)
    gains = [b - a for a, b in zip(left, right, strict=True)]
    middle, share = np.mean(gains), (np.mean(gains) + 1) / 2
    reach = t.ppf(0.975, df=n - 1) * np.std(gains, ddof=1) / math.sqrt(n) / 2 / (share * (1 - share))
    ends = [2 / (1 + math.exp(-(math.log(share / (1 - share)) + sign * reach))) - 1 for sign in (-1, 1)]
    [found] = compare(Mean(left), Mean(right), ["mean"])
    assert found.interval == pytest.approx(tuple(ends), abs=1e-9) and found.interval.low < middle < found.interval.high
    assert found.interval.n == n and found.interval.is_trusted == (n >= 8)


def test_one_pair_has_no_interval():
    [found] = compare(Mean([0.1]), Mean([0.9]), ["mean"])
    assert found.interval is None and found.p_value == 1.0 and math.isnan(found.detectable)
    assert compare(Mean([0.1, 0.2]), Mean([0.9, 0.7]), ["mean"])[0].detectable > 0


def test_seeded():
    left, right = numbers(1, 40), numbers(2, 40)
    one, two, other = (
        compare(Mean(left), Mean(right), ["mean"], settings=Settings(n_permutations=500, seed=seed))
        for seed in (1, 1, 2)
    )
    assert one == two != other


def test_a_value_that_could_not_be_computed_has_neither_p_value_nor_interval():
    [found] = compare(Mean([math.nan, 0.5]), Mean([0.5, 0.5]), ["mean"])
    assert math.isnan(found.p_value) and found.interval is None


def test_holm():
    assert holm([0.01, 0.02, 0.03, 0.5]) == pytest.approx([0.04, 0.06, 0.06, 0.5])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == []
    assert holm([0.04, math.nan, 0.01])[::2] == [0.04, 0.02]


def test_units_must_be_the_same():
    with pytest.raises(InputError, match="2 and 1 units"):
        compare(Mean([1, 2]), Mean([1]), ["mean"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(n_permutations=0), "n_permutations: got 0, expected a whole number above 0"),
        (Settings(confidence=95.0), "confidence: got 95, expected a number between 0 and 1"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(InputError, match=message):
        compare(Mean([1, 2]), Mean([1, 3]), ["mean"], settings=settings)


def bleu_of(rows, metric):
    """Sums of sacrebleu's statistics of each sentence, and its BLEU of them."""
    units = [{str(place): float(value) for place, value in enumerate(row)} for row in rows]

    def bleu(*totals):
        return metric._compute_score_from_stats([int(value) for value in totals]).score

    return sums(units, {"bleu": Result(tuple(units[0]), bleu)})


def test_against_sacrebleus_paired_tests():
    """BLEU's statistics add up over sentences too, so that sacrebleu's own tests can be run beside ours."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    generator = random.Random(11)
    words = "the army of city protest talks end begin north south march vote ship oil camp".split()
    references = [generator.choices(words, k=generator.randint(8, 14)) for _ in range(60)]

    def noisy(rate):
        return [
            " ".join(w if generator.random() > rate else generator.choice(words) for w in row) for row in references
        ]

    outputs, joined = {"base": noisy(0.45), "better": noisy(0.4)}, [" ".join(row) for row in references]

    metric = BLEU(references=[joined])
    sides = (bleu_of(metric._extract_corpus_statistics(lines, None), metric) for lines in outputs.values())
    [found] = compare(*sides, ["bleu"], settings=Settings(n_permutations=4000))
    metrics = {"BLEU": BLEU(references=[joined])}
    _, results = PairedTest(list(outputs.items()), metrics, None, test_type="ar", n_samples=4000)()
    base, better = results["BLEU"]
    assert (found.first, found.second) == pytest.approx((base.score, better.score), abs=1e-9)
    assert 0.005 < better.p_value < 0.9, "a p-value near 0 or 1 would agree whatever we do"
    assert found.p_value == pytest.approx(better.p_value, abs=0.03)


@pytest.mark.parametrize(
    ("system", "of_multeval"), [("FBK.4870", 0.0218), ("LMU-nmt-reranked.4934", 0.09029), ("online-B.0", 0.94111)]
)
def test_sacrebleus_own_example(system, of_multeval):
    """WMT17 systems against LIUM, as sacrebleu tests its own: p-values of MultEval, 10,000 exchanges, within 0.01."""
    from sacrebleu.metrics import BLEU

    with np.load(ORACLES / "sacrebleu_wmt17.npz") as oracle:
        statistics = dict(zip(oracle["systems"].tolist(), oracle["statistics"].tolist(), strict=True))

    base, other = (bleu_of(statistics[name], BLEU(tokenize="none")) for name in ("LIUM-NMT.4900", system))
    [found] = compare(base, other, ["bleu"], settings=Settings(n_permutations=10_000, n_resamples=10))
    assert len(base.rows) == 3004 and found.p_value == pytest.approx(of_multeval, abs=0.01)


def test_the_interval_of_a_difference_of_counts_is_not_cut_to_shares():
    left, right = (sums([{"n": float(n)} for n in own], {"n": total("n")}) for own in ([9, 8, 9, 7], [1, 2, 1, 3]))
    [found] = compare(left, right, ["n"])
    assert found.interval.low < found.difference == -26 < found.interval.high
