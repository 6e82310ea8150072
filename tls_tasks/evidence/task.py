"""Responses of extraction tasks -> the values that the harness aggregates."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tls_tasks.core.answers import answer_text
from tls_tasks.evidence.data import accuracy_names
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.schema import read_schema
from tls_tasks.evidence.types import EvidenceSchema

_log = logging.getLogger(__name__)


class _Unscored(dict[str, float]):
    """The sums of a document that could not be scored: whatever is asked for is NaN."""

    def __missing__(self, name: str) -> float:
        return math.nan


def process_evidence(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Score one response against the document's gold objects.

    Args:
        doc: With ``references`` (a JSON list of gold objects), ``schema`` (JSON), ``text`` (what the prompt showed: the
            source of the quotes) and ``doc_id``.
        results: The model's answer as its only element.

    Returns:
        The keys of :func:`result_keys`. Counts whose ratio, or whose F1, is taken at the end, over all documents
        (:func:`~tls_tasks.hosts.aggregations.ratio_of_sums`, :func:`~tls_tasks.hosts.aggregations.f1_of_sums`), so
        that the numbers are those of ``evidence_extraction`` on all of them.

    As in :func:`~tls_tasks.timelines.task.process_timeline` an exception would lose the whole run: text of a model
    raises none, and should the scorer fail all the same, the document's values are NaN and the log says why.
    """
    schema = _schema(doc["schema"])
    return _values(_sums(doc, answer_text(results), schema), schema)


def explain(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Metric -> all that it has to say of one response; arguments as for :func:`process_evidence`.

    Raises:
        TlsTasksError: If the document can't be scored.
    """
    schema, references = _schema(doc["schema"]), [json.loads(doc["references"])]
    score = evidence_extraction([answer_text(results)], references, [doc["text"]], schema=schema)
    return {"evidence_extraction": score.as_dict(detailed=True)}


def result_keys(schema: EvidenceSchema) -> list[str]:
    """The keys of :func:`process_evidence`, which a task's ``metric_list`` must name one by one."""
    return list(_values(_Unscored(), schema))


def _values(sums: Mapping[str, float], schema: EvidenceSchema) -> dict[str, Any]:
    tp, fp, fn = sums["tp"], sums["fp"], sums["fn"]
    return {
        "evidence_f1": {"tp": tp, "fp": fp, "fn": fn},
        "evidence_precision": {"hits": tp, "of": tp + fp},
        "evidence_recall": {"hits": tp, "of": tp + fn},
        "evidence_mean_f1": sums["macro/f1"],
        **{
            f"evidence_{name}_accuracy": {"hits": sums[f"{name}/right"], "of": sums[f"{name}/asked"]}
            for name in accuracy_names(schema)
        },
        "evidence_coverage": {"hits": sums["grounded"], "of": sums["checked"]},
        "evidence_coverage_normalised": {"hits": sums["grounded_normalised"], "of": sums["checked"]},
        "evidence_schema_invalid": sums["schema_invalid"],
        "evidence_parse_failures": sums["parse_failures"],
        "evidence_n_objects": tp + fp,
    }


def _sums(doc: Mapping[str, Any], answer: str, schema: EvidenceSchema) -> Mapping[str, float]:
    try:
        score = evidence_extraction([answer], [json.loads(doc["references"])], [doc["text"]], schema=schema)
        return score.units[0]
    except Exception:  # see process_evidence: nothing may cost the run, and NaN hides nothing
        _log.exception("document %s could not be scored: its values are NaN", doc.get("doc_id", "?"))
        return _Unscored()


@lru_cache
def _schema(text: str) -> EvidenceSchema:
    """All documents of a task have one schema."""
    return read_schema(json.loads(text))
