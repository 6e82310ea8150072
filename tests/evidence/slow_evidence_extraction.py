"""Evidence-grounded extraction as its rules say it, slow and plain: the oracle of the fast one under Hypothesis."""

from collections import Counter
from itertools import permutations

FIELDS = {"emotion": "arousal_bucket"}


def jaccard(left, right):
    left, right = set(left.lower().split()), set(right.lower().split())
    return len(left & right) / len(left | right) if left | right else 1.0


def candidates(gold, predicted, threshold):
    """All pairs of one domain that overlap enough."""
    found = []
    for g, wanted in enumerate(gold):
        for p, told in enumerate(predicted):
            value = jaccard(wanted["evidence_span"], told["evidence_span"])
            if wanted["domain"] == told["domain"] and value >= threshold and value > 0:
                found.append((g, p, value))
    return found


def greedy(gold, predicted, threshold=0.5):
    """All pairs sorted by falling overlap; each taken if both its objects are free."""
    pairs = sorted(candidates(gold, predicted, threshold), key=lambda pair: -pair[2])
    taken, used, matches = set(), set(), []
    for g, p, value in pairs:
        if g not in taken and p not in used:
            taken.add(g)
            used.add(p)
            matches.append((g, p, value))
    return sorted(matches)


def best_sum(gold, predicted, threshold=0.5):
    """The greatest number of matches and, of those choices, the greatest sum of overlaps, by trying all choices."""
    values = {(g, p): value for g, p, value in candidates(gold, predicted, threshold)}
    places = [*range(len(predicted)), *[None] * len(gold)]
    best = (0, 0.0)
    for choice in set(permutations(places, len(gold))):
        chosen = [values[g, p] for g, p in enumerate(choice) if (g, p) in values]
        best = max(best, (len(chosen), sum(chosen)))
    return best


def counts(documents, **options):
    """The counts of a corpus of (text, gold, predictions)."""
    totals = Counter()
    for text, gold, predicted in documents:
        matches = greedy(gold, predicted, **options)
        totals["tp"] += len(matches)
        totals["fp"] += len(predicted) - len(matches)
        totals["fn"] += len(gold) - len(matches)
        for g, p, _ in matches:
            level = FIELDS.get(gold[g]["domain"], "intensity_bucket")
            same_level = gold[g].get(level, "unknown") == predicted[p].get(level, "unknown")
            same_time = gold[g]["time_bucket"] == predicted[p]["time_bucket"]
            totals["polarity"] += gold[g]["polarity"] == predicted[p]["polarity"]
            totals["level"] += same_level
            totals["time"] += same_time
            totals["bucket"] += same_level and same_time
        totals["grounded"] += sum(
            bool(one["evidence_span"].strip()) and one["evidence_span"] in text for one in predicted
        )
    return totals
