"""What lm-eval's registries know of us, for anybody's task files, and its aggregations.

A file that names ``metric: rouge_l`` with ``aggregation: tls_pooled`` reports what :func:`tls_tasks.rouge_l` gives for
the corpus, where the harness would take the mean over documents. The entry points in ``pyproject.toml`` name these.
"""

import logging
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import lm_eval.api.metrics  # the harness's own come first
from lm_eval.api import registry
from lm_eval.api.filter import Filter

from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.core.score import mean_unit
from tls_tasks.hosts.lm_eval import Number
from tls_tasks.hosts.releases import mend
from tls_tasks.registry import METRICS


@lru_cache
def registered_aggregation(metric: str, name: str) -> tuple[str, Callable[[list[Any]], float]] | None:
    """The aggregation that the harness has registered under a name; without a name the metric's own.

    Returns:
        Its name and the function; None if there is none.

    Example:
        >>> name, function = registered_aggregation("mcc", "")
        >>> name, function([[1, 0], [0, 1]])
        ('matthews_corrcoef', -1.0)
        >>> registered_aggregation("mcc", "of_the_task") is None
        True
    """
    registered: Any = registry.metric_registry if _METRIC else registry.metric_agg_registry
    default = registered.get(metric) if not name and metric in registered else None
    own = getattr(default, "aggregation", default)
    for known in registry.aggregation_registry:
        function: Callable[[list[Any]], float] = registry.aggregation_registry.get(known)
        if known == name or function is own:
            return known, function
    return None


_METRIC: Any = getattr(lm_eval.api.metrics, "Metric", None)
"""What 0.5 registers; 0.4 has functions, and registries for what else is to be said of them."""

_log = logging.getLogger(__name__)


def score_document(
    name: str, references: Sequence[Any], predictions: Sequence[Any], **options: Any
) -> dict[str, float]:
    """A document's results, by their keys; NaN where it can't be scored: an exception would lose the whole run."""
    spec, scorer = METRICS[name], METRICS[name].load()
    keys: Sequence[str] = spec.result_keys
    try:
        table = scorer([], [], **options).definitions  # options decide which results there are
        keys = [key for key, result in table.items() if key not in spec.further_keys and not result.is_count]
        units = scorer(predictions, references, **options).units
    except Exception:  # whatever a scorer raises must not cost the answers; NaN shows it, and the log says why
        _log.exception("%s: could not score a document: its results are NaN", name)
        return dict.fromkeys(keys, math.nan)
    return {key: Number(table[key].value(units), units, table[key], pooled) for key in keys}


def _score_repeats(name: str, references: Sequence[Any], predictions: Sequence[Any], **options: Any) -> dict[str, Any]:
    """The same of a document with several predictions, as 0.5 hands them over: all parts are their means."""
    rows = [score_document(name, references, [prediction], **options) for prediction in predictions]
    return {key: [_mean([row[key] for row in rows])] for key in rows[0]}


def _mean(numbers: Sequence[Any]) -> float:
    if not all(isinstance(number, Number) for number in numbers):
        return math.nan
    units = [mean_unit(row) for row in zip(*(number.units for number in numbers), strict=True)]
    return Number(numbers[0].about.value(units), units, numbers[0].about, pooled)


def pooled(numbers: Sequence[float]) -> float:
    r"""The corpus's result: of the documents' sums, not of their results. NaN if a document could not be scored.

    Example:
        >>> one = score_document("date_f1", ["2011-01-25: Clashes."], ["2011-01-25: Police.\n2011-01-26: A strike."])
        >>> two = score_document("date_f1", ["2011-01-25: Clashes.\n2011-01-26: A strike."], ["2011-01-26: Strike!"])
        >>> pooled([one["date_f1"], two["date_f1"]]), one["date_f1"] == two["date_f1"] == 2 / 3
        (0.75, True)
    """
    if not all(isinstance(number, Number) for number in numbers):
        return math.nan
    results: Sequence[Any] = numbers
    return results[0].about.value([unit for number in results for unit in number.units]) if results else math.nan


def _named(name: str) -> Any:
    """What this release registers under the name of a metric; in 0.4 its direction and aggregation stand beside it."""
    if _METRIC:
        function = partial(_score_repeats, name)
        return _METRIC(name=name, fn=function, aggregation=pooled, output_type={"generate_until"})
    registry.metric_agg_registry.register(name, target=pooled)
    registry.higher_is_better_registry.register(name, target=True)
    return partial(score_document, name)


mend()
registry.aggregation_registry.register("tls_pooled", target=pooled)  # no path: 0.4 looks an aggregation's name up
alignment_rouge, date_f1, rouge_l, tree_eval = map(_named, ("alignment_rouge", "date_f1", "rouge_l", "tree_eval"))


class Answer(Filter):
    """Leaves of a model's text what our own tasks score of it: without reasoning, chat tokens and made-up next turns.

    Example:
        >>> Answer().apply([["<think>Hm. 7?</think>8"]], [{}])
        [['8']]
    """

    def apply(self, resps: Sequence[Sequence[str]], docs: Sequence[Any]) -> list[list[str]]:
        """The answers of all documents."""
        return [[(found := strip_thinking(text)).text + found.beyond for text in answers] for answers in resps]
