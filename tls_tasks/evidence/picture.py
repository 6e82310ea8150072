"""Data for the picture of an extraction on the HTML page."""

import json
from collections.abc import Mapping
from typing import Any

from tls_tasks.evidence.read import parse_evidence
from tls_tasks.evidence.types import read_schema
from tls_tasks.text.quotes import mark_spans


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source with marked hits, misses and spurious spans, and the objects with their errors."""
    item = explained["evidence_extraction"]["items"][0]
    hits = [match[side] for match in item["matches"] for side in ("reference", "prediction")]
    marked = (("miss", item["misses"]), ("spurious", item["spurious"]), ("hit", hits))
    spans = [(*span, mark) for mark, objects in marked for entry in objects for span in entry["places"] or ()]
    listed = {key: item[key] for key in ("matches", "misses", "spurious")}
    lost = parse_evidence(answer, read_schema(json.loads(doc["schema"]))).lost()
    return {"kind": "evidence", "lost": lost, "source": mark_spans(doc["text"], spans), **listed}
