"""What the page draws of an extraction."""

import json
from collections.abc import Mapping
from typing import Any

from tls_tasks.evidence.read import parse_evidence
from tls_tasks.evidence.types import read_schema
from tls_tasks.text.quotes import mark_spans


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """The source with hits, misses and spurious spans marked, and the objects with what is wrong with them."""
    item = explained["evidence_extraction"]["items"][0]
    hits = [match[side] for match in item["matches"] for side in ("reference", "prediction")]
    marked = (("miss", item["misses"]), ("spurious", item["spurious"]), ("hit", hits))
    spans = [(*place, mark) for mark, objects in marked for found in objects for place in found["places"] or ()]
    listed = {key: item[key] for key in ("matches", "misses", "spurious")}
    lost = parse_evidence(answer, read_schema(json.loads(doc["schema"]))).lost()
    return {"kind": "evidence", "lost": lost, "source": mark_spans(doc["text"], spans), **listed}
