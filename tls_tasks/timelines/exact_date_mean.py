"""exact_date_mean: the mean over reference sentences of their ROUGE-N F against the text predicted for the same date.

This is the pseudocode "alignment-based ROUGE" that goes round with evaluation scripts. It is not AR: dates must be
equal, extra predicted dates cost nothing, each reference sentence counts alike, words are kept as they are (no stop
words, no stemming).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tls_tasks.core.scores import Counts, mean
from tls_tasks.text.rouge155 import rouge_counts
from tls_tasks.timelines.types import Timeline

_words = re.compile(r"\w+").findall


def lower_words(sentence: str) -> list[str]:
    r"""Lower-case runs of letters, digits and underscores (``\w+``)."""
    found: list[str] = _words(sentence.lower())
    return found


def exact_date_mean(prediction: Timeline, reference: Timeline, n: int) -> float:
    """Score one prediction against one reference.

    Args:
        prediction: All sentences of a date are taken together.
        reference: Each sentence is one unit of the mean.
        n: Length of the n-grams.

    Returns:
        The mean F in [0, 1]; 0.0 for a reference without sentences.

    Example:
        >>> from datetime import date
        >>> reference = Timeline.of({date(2011, 1, 25): ["Protests begin."], date(2011, 2, 11): ["Mubarak resigns."]})
        >>> exact_date_mean(Timeline.of({date(2011, 1, 25): ["Protests begin."]}), reference, 1)
        0.5
    """
    predicted = {entry.date: entry.sentences for entry in prediction}
    return mean(
        [
            _counts(predicted.get(entry.date, ()), sentence, n).prf().f1
            for entry in reference
            for sentence in entry.sentences
        ]
    )


def _counts(prediction: Sequence[str], sentence: str, n: int) -> Counts:
    return rouge_counts(prediction, [[sentence]], n, lower_words)
