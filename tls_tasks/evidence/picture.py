"""What the page draws of an extraction."""

from collections.abc import Mapping
from typing import Any

from tls_tasks.text.quotes import mark_spans


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """The source with hits, misses and spurious spans marked, and the objects with what is wrong with them."""
    item = explained["evidence_extraction"]["items"][0]
    hits = [match[side] for match in item["matches"] for side in ("reference", "prediction")]
    marked = (("miss", item["misses"]), ("spurious", item["spurious"]), ("hit", hits))
    spans = [(*place, mark) for mark, objects in marked for found in objects for place in found["places"] or ()]
    listed = {key: item[key] for key in ("matches", "misses", "spurious")}
    return {"kind": "evidence", "source": mark_spans(doc["text"], spans), **listed}
