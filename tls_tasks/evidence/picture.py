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
        "matches": [
            {
                "domain": match["reference"]["domain"],
                "reference": match["reference"]["span"],
                "predicted": match["prediction"]["span"],
                "overlap": match["overlap"],
                "wrong": [
                    [name, str(pair["predicted"]), str(pair["reference"])]
                    for name, pair in match["attributes"].items()
                    if not pair["right"]
                ],
            }
            for match in item["matches"]
        ],
        "misses": [[missed["domain"], missed["span"]] for missed in item["misses"]],
        "spurious": [
            [extra["domain"], extra["span"], [*extra["issues"], *([] if extra["grounded"] else ["not in the text"])]]
            for extra in item["spurious"]
        ],
    }
