"""The correction of judged scores: other programs' numbers, the formulas word by word, and coverage by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ORACLES, read_jsonl
from tls_tasks.core.correction import correct, estimate, variance

CASES = read_jsonl(ORACLES / "corrections.jsonl")


def columns(case):
    return [np.array(case[name], float) for name in ("people", "judge", "rest")]


@pytest.mark.parametrize("case", CASES)
def test_the_mean_of_ppi_python(case):
    assert estimate(*columns(case), case["lambda"]) == pytest.approx(case["theta"], abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_variance_of_independent_items(case):
    """The closed form, and truescore's within 1 / n, relatively."""
    people, judge, rest = columns(case)
    n, n_rest, tuned = len(people), len(rest), case["lambda"]
    n_all = n + n_rest
    of_labels = (n - 1) / n * np.var(people - tuned * judge, ddof=1) / n
    of_rest = tuned**2 * (n_rest - 1) / n_rest * np.var(rest, ddof=1) / n_rest
    found = variance(people, judge, rest, tuned, range(n), range(n, n_all))
    assert found == pytest.approx(n_all / (n_all - 1) * (of_labels + of_rest), abs=1e-12)
    assert found == pytest.approx(case["variance"], rel=1 / n)


# ---- the formulas, word by word


def slow(items, confidence=0.95):
    """theta, its ends and lambda in plain Python."""
    from scipy.stats import t

    labelled = [(request, float(verdict), float(label)) for request, verdict, label in items if label is not None]
    others = [(request, float(verdict)) for request, verdict, label in items if label is None]
    n, n_others = len(labelled), len(others)

    def mean(values):
        return math.fsum(values) / len(values) if values else 0.0

    def spread(left, right):
        pairs = list(zip(left, right, strict=True))
        return math.fsum((a - mean(left)) * (b - mean(right)) for a, b in pairs) / (len(pairs) - 1)

    judge, people, rest = [row[1] for row in labelled], [row[2] for row in labelled], [row[1] for row in others]
    every = judge + rest
    tuned = 0.0
    if n > 1 and n_others and len(set(every)) > 1:
        tuned = spread(people, judge) / (spread(every, every) * (1 + n / n_others))
        tuned = min(max(tuned, 0.0), 1.0)
    theta = mean(people) + tuned * (mean(rest) - mean(judge)) * (n_others > 0)
    residuals = [label - tuned * verdict for _, verdict, label in labelled]
    requests = {row[0] for row in items}
    total = 0.0
    for request in requests:
        of_labels = [r - mean(residuals) for r, row in zip(residuals, labelled, strict=True) if row[0] == request]
        of_rest = [row[1] - mean(rest) for row in others if row[0] == request]
        error = math.fsum(of_labels) / n + (tuned * math.fsum(of_rest) / n_others if n_others else 0.0)
        total += error**2
    n_requests = len({row[0] for row in labelled})
    if n_requests < 2:
        return theta, None, tuned
    reach = float(t.ppf((1 + confidence) / 2, n_requests - 1))
    reach *= math.sqrt(len(requests) / (len(requests) - 1) * total)
    return theta, (max(0.0, theta - reach), min(1.0, theta + reach)), tuned


ITEMS = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.sampled_from([None, None, True, False])), min_size=1)


@given(ITEMS.filter(lambda items: any(label is not None for _, _, label in items)))
def test_as_the_formulas_say(items):
    found, (theta, ends, tuned) = correct(items), slow(items)
    assert found.tuning == pytest.approx(tuned, abs=1e-12)
    assert found.value == pytest.approx(min(max(theta, 0.0), 1.0), abs=1e-12)
    assert found.interval is None if ends is None else found.interval == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize(
    ("items", "value", "tuned"),
    [
        ([(g, True, True) for g in range(4)] + [(g, False, False) for g in range(4)], 0.5, 0.0),  # nothing unlabelled
        ([(g, True, g < 1) for g in range(4)] + [(g, True, None) for g in range(4)], 0.25, 0.0),  # always YES
        ([(g, g < 2, g >= 2) for g in range(4)] + [(g, True, None) for g in range(4)], 0.5, 0.0),  # always wrong
        # A judge who is right, 2 labels of each class and 12 others, 9 of them YES: cov 1/3, var 16/15 * 11/16 * 5/16.
        ([(g, g < 2, g < 2) for g in range(4)] + [(g, g < 9, None) for g in range(12)], 0.75, 1.0),
    ],
)
def test_how_much_a_judge_counts(items, value, tuned):
    found = correct(items)
    assert (found.value, found.tuning) == (value, tuned)


def test_one_request_has_no_interval_and_few_are_not_trusted():
    assert correct([(0, True, True), (0, False, False), (0, True, None)]).interval is None
    few = correct([(g, g % 2, g % 3) for g in range(7)])
    assert few.interval.n == 7 and not few.interval.is_trusted
    assert correct([(g, g % 2, g % 2) for g in range(8)]).interval.is_trusted


# ---- coverage


def draw(generator, n_requests=80, per_request=15, sensitivity=0.85, specificity=0.7, mean=0.6, spread=0.7):
    """Requests, labels and verdicts; requests differ in how often labels are YES and in how often the judge errs."""
    requests = np.repeat(np.arange(n_requests), per_request)
    share = 1 / (1 + np.exp(-(np.log(mean / (1 - mean)) + spread * generator.standard_normal(n_requests))))
    people = generator.random(len(requests)) < share[requests]
    slip = 0.1 * generator.standard_normal(n_requests)[requests]
    says_yes = np.where(people, sensitivity, 1 - specificity) + slip
    return requests, people, generator.random(len(requests)) < says_yes


def true_mean(mean=0.6, spread=0.7):
    """What people say of the items of all requests that there could be."""
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    return float((weights / (1 + np.exp(-(math.log(mean / (1 - mean)) + spread * points)))).sum() / weights.sum())


def coverage(n, n_draws, seed=1, **options):
    """How often the interval of n labels holds people's mean over all requests, over those drawn, and the judge's own.

    Each draw has other requests. The judge's own interval is that of its mean, with the items taken as independent.
    """
    generator, hits, hits_drawn, naive = np.random.default_rng(seed), 0, 0, 0
    truth = true_mean(**{name: options[name] for name in ("mean", "spread") if name in options})
    for _ in range(n_draws):
        requests, people, judge = draw(generator, **options)
        has_label = np.zeros(len(people), bool)
        has_label[generator.choice(len(people), n, replace=False)] = True
        rows = zip(requests.tolist(), judge.tolist(), people.tolist(), has_label.tolist(), strict=True)
        found = correct([(request, says, label if known else None) for request, says, label, known in rows])
        low, high = found.interval
        hits += low <= truth <= high
        hits_drawn += low <= people.mean() <= high
        naive += abs(judge.mean() - truth) <= 1.96 * math.sqrt(judge.var() / len(judge))
    return hits / n_draws, hits_drawn / n_draws, naive / n_draws


@pytest.mark.parametrize("n", [100, 200])
def test_the_interval_holds_peoples_mean(n):
    """Of 300 draws .95 are expected within .925 and .975; the judge's own interval holds it far less often."""
    found, found_drawn, naive = coverage(n, 300)
    assert found >= 0.93 and found_drawn >= 0.93 and naive < 0.5
