"""What lm-eval's registries know of us, for task files of anybody's own: metrics, an aggregation and a filter.

A file that names ``metric: rouge_l`` with ``aggregation: tls_pooled`` reports what :func:`tls_tasks.rouge_l` gives for
the corpus, where the harness would take the mean over documents. The entry points in ``pyproject.toml`` name these.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from lm_eval.api.filter import Filter

from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.hosts.lm_eval import Number
from tls_tasks.registry import METRICS

_log = logging.getLogger(__name__)


def _metric(name: str, references: Sequence[Any], predictions: Sequence[Any], **options: Any) -> dict[str, float]:
    """A document's results, by their keys; NaN where it can't be scored: an exception would lose the whole run."""
    spec = METRICS[name]
    try:
        score = spec.load()(predictions, references, **options)
    except Exception:  # whatever a scorer raises must not cost the answers; NaN shows it, and the log says why
        _log.exception("%s: could not score a document: its results are NaN", name)
        return dict.fromkeys(spec.result_keys, math.nan)
    table = {key: score.definitions[key] for key in spec.result_keys}
    return {key: Number(result.value(score.units), score.units, result) for key, result in table.items()}


alignment_rouge, date_f1, rouge_l, tree_eval = (
    partial(_metric, name) for name in ("alignment_rouge", "date_f1", "rouge_l", "tree_eval")
)


def pooled(numbers: Sequence[float]) -> float:
    r"""The corpus's result: of the documents' sums, not of their results. NaN if a document could not be scored.

    Example:
        >>> one = date_f1(["2011-01-25: Clashes."], ["2011-01-25: Police.\n2011-01-26: A strike."])
        >>> two = date_f1(["2011-01-25: Clashes.\n2011-01-26: A strike."], ["2011-01-26: Strike!"])
        >>> pooled([one["date_f1"], two["date_f1"]]), one["date_f1"] == two["date_f1"] == 2 / 3
        (0.75, True)
    """
    if not all(isinstance(number, Number) for number in numbers):
        return math.nan
    results: Sequence[Any] = numbers
    return results[0].about.value([unit for number in results for unit in number.units]) if results else math.nan


class Answer(Filter):
    """Leaves of a model's text what our own tasks score of it: without reasoning, chat tokens and made-up next turns.

    Example:
        >>> Answer().apply([["<think>Hm. 7?</think>8"]], [{}])
        [['8']]
    """

    def apply(self, resps: Sequence[Sequence[str]], docs: Sequence[Any]) -> list[list[str]]:
        """The answers of all documents."""
        return [[strip_thinking(text).text for text in answers] for answers in resps]
