"""Responses of summarisation tasks -> the values that the harness aggregates."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.core.answers import answer_text
from tls_tasks.core.json_text import strip_thinking
from tls_tasks.core.scores import PRF, named_prf
from tls_tasks.registry import MetricSpec, metrics_of

_log = logging.getLogger(__name__)

KIND = "summary"


def process_summary(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
    """Score one response against the document's reference summaries.

    Args:
        doc: With ``references`` (a JSON list of summaries) and ``doc_id``.
        results: The model's answer as its only element; ``<think>`` blocks in it are no part of the summary.

    Returns:
        For every summary metric of the registry ``<prefix>_precision``, ``<prefix>_recall`` and ``<prefix>_f1``;
        besides ``n_words``, the length of the summary in words, and ``empty_answers`` (0 or 1).

    As in :func:`~tls_tasks.timelines.task.process_timeline` an exception would lose the whole run: text of a model
    raises none, and should a scorer fail all the same, the document's values are NaN and the log says why.
    """
    summary = _summary(results)
    values: dict[str, float] = {}
    for spec in metrics_of(KIND):
        for prefix, prf in _score(spec, doc, summary).items():
            values |= named_prf(prefix, prf)
    n_words = len(summary.split())
    return {**values, "n_words": n_words, "empty_answers": int(not n_words)}


def explain(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Metric -> all that it has to say of one response, with its signature; arguments as for :func:`process_summary`.

    Raises:
        TlsTasksError: If the document can't be scored.
    """
    references = [json.loads(doc["references"])]
    return {spec.name: spec.load()([_summary(results)], references).as_dict(detailed=True) for spec in metrics_of(KIND)}


def result_keys() -> list[str]:
    """The keys of :func:`process_summary`, which a task's ``metric_list`` must name one by one."""
    keys = [key for spec in metrics_of(KIND) for key in spec.result_keys]
    return [*keys, "n_words", "empty_answers"]


def _summary(results: Sequence[Any]) -> str:
    return strip_thinking(answer_text(results)).text.strip()


def _score(spec: MetricSpec, doc: Mapping[str, Any], summary: str) -> dict[str, PRF]:
    try:
        score = spec.load()([summary], [json.loads(doc["references"])])
        return {prefix: score.prf(prefix) for prefix in spec.prefixes}
    except Exception:  # see process_summary: nothing may cost the run, and NaN hides nothing
        _log.exception("%s could not score document %s: its values are NaN", spec.name, doc.get("doc_id", "?"))
        return {prefix: PRF(math.nan, math.nan, math.nan) for prefix in spec.prefixes}
