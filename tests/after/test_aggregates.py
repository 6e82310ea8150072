"""Numbers made again of what was logged: by which way, and what is said where there is none."""

import math

import pytest

from tls_tasks.after.aggregates import Logged, table_of

NAN = math.nan


@pytest.mark.parametrize(
    ("key", "logged", "expected"),
    [
        ("acc", Logged(["True", "False", True, 1], "mean", reported=0.75), 0.75),
        ("acc", Logged(["0.5", 0.25], "", reported=0.375), 0.375),
        ("rouge", Logged([1.0, NAN, 0.5, None], "nanmean", reported=0.75), 0.75),
        ("acc", Logged([0.5, NAN], "mean", reported=NAN), NAN),
        ("mcc", Logged([[1, 1], [0, 0], [1, 0], [0, 0]], "", reported=1 / math.sqrt(3)), 1 / math.sqrt(3)),
        ("f1,strict", Logged([[1, 1], [0, 1]], "f1", reported=2 / 3), 2 / 3),
        ("mine", Logged([3, 1, 2], "median", reported=2), 2),
        # No number is reported: what the metric's name says, and a mean where that says nothing of such values.
        ("perplexity", Logged([-1.0, -3.0]), math.exp(2)),
        ("f1", Logged([0.5, 1.0]), 0.75),
        ("my_own", Logged([0.5, 1.0]), 0.75),
    ],
)
def test_made_again(key, logged, expected):
    table, (units,), said = table_of([{key: logged}], len(logged.values))
    assert not said and table[key].value(units) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("logged", "name", "words"),
    [
        (
            Logged([1, 0], "agg", reported=0.7),
            "x (mean of documents)",
            "its values is 0.5; its aggregation, agg, is a function",
        ),
        (
            Logged([1, 0], "mean", reported=0.7),
            "x (mean of documents)",
            "0.7, which can't be made again: the mean of i",
        ),
        (Logged([[0, "[0.5 0.5]"]], "brier_score", reported=0.5), None, "brier_score of its values is nan"),
        (Logged(["a", "b"], reported=0.5), None, "its values are no numbers"),
        (Logged([[1, 0]], "agg"), None, "can't be made: its aggregation, agg, is a function of the task's own"),
        (Logged([], "mean", reported=0.5), None, "reported as 0.5"),
        (Logged([0.5], "mean", reported=NAN), "x (mean of documents)", "reported as nan, which can't be made again"),
    ],
)
def test_what_can_not_be_made_again_is_said(logged, name, words):
    table, _, said = table_of([{"x": logged}], len(logged.values))
    assert list(table) == [name] * (name is not None) and words in said["x"]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_scores_of_sentences_are_made_again_of_their_statistics(name):
    sacrebleu = pytest.importorskip("sacrebleu")
    wanted, given = ["the cat sat on the mat", "a dog ran"], ["the cat sat on a mat", "the dog ran off"]
    expected = getattr(sacrebleu, f"corpus_{name}")(given, [wanted]).score
    logged = Logged([list(pair) for pair in zip(wanted, given, strict=True)], name, reported=expected)
    table, (units,), said = table_of([{name: logged}], 2)
    assert not said and len(units) == 2 and table[name].value(units) == pytest.approx(expected)
