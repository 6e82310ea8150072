"""The extraction tasks."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tls_tasks.core.score import Result, Score, mean, total
from tls_tasks.core.task import Task, shorter_text
from tls_tasks.evidence.data import ALL_SETS, data_set_schema, examples, load_documents, prompt
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.picture import picture
from tls_tasks.evidence.score import results
from tls_tasks.evidence.types import EvidenceSchema, read_schema


def _results(schema: EvidenceSchema) -> dict[str, Result]:
    """Return the table of a task; the schema's attributes determine its accuracies."""
    shares = {key: result for key, result in results(schema).items() if not result.is_count}
    return {
        **{f"evidence_{key.removeprefix('evidence_')}": result for key, result in shares.items()},
        "evidence_mean_f1": mean("macro/f1"),
        "evidence_schema_invalid": total("schema_invalid", better=False),
        "evidence_parse_failures": total("parse_failures", better=False),
        "evidence_n_objects": mean("objects", better=None, bounded=False),
    }


@lru_cache
def _schema(text: str) -> EvidenceSchema:
    """Read a schema from JSON, once for all documents of a task, which have the same."""
    return read_schema(json.loads(text))


def _score(doc: Mapping[str, Any], answer: str) -> Score:
    """Score one answer; its quotes are looked up in the part of the text that the prompt showed."""
    columns = [answer], [json.loads(doc["references"])], [doc["text"]]
    return evidence_extraction(*columns, schema=_schema(doc["schema"]), postprocess=doc.get("postprocess") or None)


TASKS = {
    name: Task(
        *(name, "evidence", _results(data_set_schema(data_set)), load_documents, prompt),
        target=lambda doc: str(doc["references"]),  # the gold objects are the ideal answer
        unit=lambda doc, answer: _score(doc, answer).units[0],
        scores=lambda doc, answer: {"evidence_extraction": _score(doc, answer)},
        picture=picture,
        headline="evidence_f1",
        get_table=lambda doc: _results(_schema(doc["schema"])),
        fewshot=examples,
        shorter=shorter_text,
    )
    for name, data_set in ALL_SETS.items()
}
