"""What the page draws of one timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tls_tasks.text.marks import mark_words
from tls_tasks.text.rouge155 import tokenize
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Both timelines, which dates are aligned, and the words that aligned dates share."""
    predicted = parse_timeline(answer).value or Timeline()
    reference = parse_timeline(doc["reference"]).value or Timeline()
    alignment = explained["alignment_rouge"]["items"][0]["alignment"]
    matches = explained["date_f1"]["items"][0]["matches"]
    pairs = [(pair["predicted"], pair["reference"]) for side in alignment.values() for pair in side]
    words = {
        side: {
            entry.date.isoformat(): {word for text in entry.sentences for word in tokenize(text)} for entry in timeline
        }
        for side, timeline in (("predicted", predicted), ("reference", reference))
    }
    shared: dict[tuple[str, str], set[str]] = defaultdict(set)
    for left, right in pairs:
        shared["predicted", left] |= words["reference"][right]
        shared["reference", right] |= words["predicted"][left]
    return {
        "kind": "timeline",
        "predicted": _days("predicted", predicted, shared),
        "reference": _days("reference", reference, shared),
        "precision": _pairs(alignment["precision"]),
        "recall": _pairs(alignment["recall"]),
        "same": [pair["predicted"] for pair in matches if pair["predicted"] == pair["reference"]],
    }


def _days(side: str, timeline: Timeline, shared: Mapping[tuple[str, str], set[str]]) -> list[list[Any]]:
    days = []
    for entry in timeline:
        day = entry.date.isoformat()
        days.append([day, [mark_words(sentence, shared.get((side, day), ())) for sentence in entry.sentences]])
    return days


def _pairs(rows: list[Mapping[str, Any]]) -> list[list[Any]]:
    return [[row["predicted"], row["reference"], row["weight"], row["hits"]] for row in rows]
