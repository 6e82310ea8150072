"""Scored runs as text for people: the timeline layout of the TLS papers' scripts, and a table for the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.score import Interval

_TIMELINE_ROWS = (("AR-1", "ar1_mean_f"), ("AR-2", "ar2_mean_f"), ("Date-F1", "date_mean_f"))
_MEANS = (("AR-1", "ar1_f1"), ("AR-2", "ar2_f1"), ("Date-F1", "date_f1"))


def score_text(scored: ScoredTask, intervals: Mapping[str, Interval]) -> str:
    """What ``tls-tasks score`` prints of one task of one run.

    Args:
        scored: The task.
        intervals: Metric -> interval, for those that are to be shown with one.
    """
    head = (
        f"{scored.task.name} (version {scored.task.version:g}, {scored.edition} edition), "
        f"{len(scored.score.ids)} documents, {scored.model}: {scored.log.path.name}"
    )
    values = scored.score.as_dict()
    body = _timelines(scored) if scored.task.family == "timelines" else ""
    parts = [head, body, value_table(values, intervals), *scored.signatures().values()]
    return "\n".join(part for part in parts if part) + "\n"


def _timelines(scored: ScoredTask) -> str:
    """A block a topic, then the mean over topics, each topic with one vote."""
    topics = scored.score.by_topic()
    lines = ["=== Evaluation Results ===", ""]
    for topic, results in topics.items():
        lines += [f"Topic: {topic}", *_block(results, _TIMELINE_ROWS), ""]
    values = scored.score.as_dict()
    lines += [f"=== AVERAGE ({len(topics)} topics) ===", *_block(values, _TIMELINE_ROWS), ""]
    lines += ["=== F1 OF THE MEAN PRECISION AND RECALL (as news-tls and LLM-TLS report it) ==="]
    return "\n".join([*lines, *_block(values, _MEANS), ""])


def _block(values: Mapping[str, float], rows: Sequence[tuple[str, str]]) -> list[str]:
    return [f"  {name + ':':<9} {number(values[key])}" for name, key in rows if key in values]


def value_table(values: Mapping[str, float], intervals: Mapping[str, Interval]) -> str:
    """Metric, value and interval, in columns.

    Example:
        >>> print(value_table({"f1": 0.5, "n_words": 12.0}, {"f1": Interval(0.25, 0.75)}))
        f1       0.5000  [0.2500, 0.7500]
        n_words  12.0000
    """
    width = max(map(len, values), default=0)
    rows = []
    for key, value in values.items():
        low_high = f"[{number(intervals[key].low)}, {number(intervals[key].high)}]" if key in intervals else ""
        rows.append(f"{key:<{width}}  {number(value)}  {low_high}".rstrip())
    return "\n".join(rows)


def number(value: float) -> str:
    """Four decimals; ``NaN`` for what could not be computed.

    Example:
        >>> number(0.12345), number(float("nan"))
        ('0.1235', 'NaN')
    """
    return "NaN" if math.isnan(value) else f"{value:.4f}"
