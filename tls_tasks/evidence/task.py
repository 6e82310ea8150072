"""The extraction tasks."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tls_tasks.core.score import Result, Score, mean, total
from tls_tasks.core.task import Task, shorter_text
from tls_tasks.evidence.data import ALL_SETS, examples, load_documents, prompt, schema_of
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.picture import picture
from tls_tasks.evidence.score import results
from tls_tasks.evidence.types import EvidenceSchema, read_schema


def _results(schema: EvidenceSchema) -> dict[str, Result]:
    """The table of a task: which accuracies there are follows from the schema."""
    found = {key: result for key, result in results(schema).items() if not result.is_count}
    return {
        **{f"evidence_{key.removeprefix('evidence_')}": result for key, result in found.items()},
        "evidence_mean_f1": mean("macro/f1"),
        "evidence_schema_invalid": total("schema_invalid", better=False),
        "evidence_parse_failures": total("parse_failures", better=False),
        "evidence_n_objects": mean("objects", better=None, bounded=False),
    }


@lru_cache
def _schema(text: str) -> EvidenceSchema:
    """All documents of a task have one schema."""
    return read_schema(json.loads(text))


def _score(doc: Mapping[str, Any], answer: str) -> Score:
    """The text is what the prompt showed: the source of the quotes."""
    columns = [answer], [json.loads(doc["references"])], [doc["text"]]
    return evidence_extraction(*columns, schema=_schema(doc["schema"]), postprocess=doc.get("postprocess") or None)


TASKS = {
    name: Task(
        *(name, "evidence", _results(schema_of(data_set)), load_documents, prompt),
        target=lambda doc: str(doc["references"]),  # the gold objects are what a model should write
        unit=lambda doc, answer: _score(doc, answer).units[0],
        scores=lambda doc, answer: {"evidence_extraction": _score(doc, answer)},
        picture=picture,
        headline="evidence_f1",
        table_of=lambda doc: _results(_schema(doc["schema"])),
        fewshot=examples,
        shorter=shorter_text,
    )
    for name, data_set in ALL_SETS.items()
}
