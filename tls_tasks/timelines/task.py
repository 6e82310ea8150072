"""Responses of timeline tasks -> the values that the harness aggregates."""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.core.answers import answer_text
from tls_tasks.core.errors import ParseFailureWarning
from tls_tasks.core.scores import PRF
from tls_tasks.registry import MetricSpec, metrics_of
from tls_tasks.text.rouge155 import NonAsciiWarning
from tls_tasks.timelines.items import NO_TIMELINE
from tls_tasks.timelines.read import parse_timeline

_log = logging.getLogger(__name__)

KIND = "timelines"


def process_timeline(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Score one response against the document's reference timeline.

    Args:
        doc: With ``reference`` (JSON rows of one timeline), ``topic`` and ``doc_id``.
        results: The model's answer as its only element.

    Returns:
        For every timeline metric of the registry ``<prefix>_precision``, ``<prefix>_recall`` (floats), ``<prefix>_f1``
        (what :func:`~tls_tasks.hosts.aggregations.f_of_means` folds) and ``<prefix>_mean_f``; besides
        ``parse_failures`` (0 or 1) and ``n_dates``.

    An exception here would lose the answers of the whole run, which may have cost a night. Text of a model raises none;
    should a scorer fail all the same, the document's values are NaN, which shows in every aggregate, and the log says
    why. The samples log keeps the answer, so that it can be scored again.
    """
    response = answer_text(results)
    parsed = parse_timeline(response)
    values: dict[str, Any] = {}
    for spec in metrics_of(KIND):
        values |= _metric_values(spec, doc, parsed.value if parsed.value is not None else NO_TIMELINE)
    values["parse_failures"] = int(parsed.failed)
    values["n_dates"] = len(parsed.value or ())
    return values


def explain(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Metric -> all that it has to say of one response: alignments, matches, misses, signature.

    Args:
        doc: As for :func:`process_timeline`.
        results: The model's answer as its only element.

    Raises:
        TlsTasksError: If the document can't be scored.
    """
    return {spec.name: _scored(spec, doc, answer_text(results)).as_dict(detailed=True) for spec in metrics_of(KIND)}


def result_keys() -> list[str]:
    """The keys of :func:`process_timeline`, which a task's ``metric_list`` must name one by one."""
    keys = []
    for spec in metrics_of(KIND):
        for prefix in spec.prefixes:
            keys += [f"{prefix}_{part}" for part in (*PRF._fields, "mean_f")]
    return [*keys, "parse_failures", "n_dates"]


def _metric_values(spec: MetricSpec, doc: Mapping[str, Any], prediction: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    scores = _score(spec, doc, prediction)
    for prefix in spec.prefixes:
        prf = scores[prefix]
        values[f"{prefix}_precision"] = float(prf.precision)
        values[f"{prefix}_recall"] = float(prf.recall)
        values[f"{prefix}_f1"] = {name: float(value) for name, value in prf._asdict().items()}
        values[f"{prefix}_mean_f"] = {"f1": float(prf.f1), "topic": str(doc.get("topic", ""))}
    return values


def _scored(spec: MetricSpec, doc: Mapping[str, Any], prediction: Any) -> Any:
    with warnings.catch_warnings():
        # Both are counted for the whole run by metrics of their own; a line a document would bury the table.
        warnings.simplefilter("ignore", ParseFailureWarning)
        warnings.simplefilter("ignore", NonAsciiWarning)
        return spec.load()([prediction], [json.loads(doc["reference"])])


def _score(spec: MetricSpec, doc: Mapping[str, Any], prediction: Any) -> dict[str, PRF]:
    try:
        score = _scored(spec, doc, prediction)
        return {prefix: score.prf(prefix) for prefix in spec.prefixes}
    except Exception:  # see process_timeline: nothing may cost the run, and NaN hides nothing
        _log.exception("%s could not score document %s: its values are NaN", spec.name, doc.get("doc_id", "?"))
        return {prefix: PRF(math.nan, math.nan, math.nan) for prefix in spec.prefixes}
