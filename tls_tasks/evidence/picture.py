"""What the page draws of one extraction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tls_tasks.text.marks import mark_spans


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """The source with hits, misses and spurious spans marked, and the objects with what is wrong with them."""
    item = explained["evidence_extraction"]["items"][0]
    spans = []
    for mark, objects in (
        ("miss", item["misses"]),
        ("spurious", item["spurious"]),
        ("hit", [match[side] for match in item["matches"] for side in ("reference", "prediction")]),
    ):
        spans += [(start, end, mark) for found in objects for start, end in found["places"] or ()]
    return {
        "kind": "evidence",
        "source": mark_spans(doc["text"], spans),
        **{key: item[key] for key in ("matches", "misses", "spurious")},
    }
