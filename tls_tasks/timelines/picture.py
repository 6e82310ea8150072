"""Data for the picture of a timeline on the HTML page."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain
from typing import Any

from tls_tasks.text.quotes import mark_words
from tls_tasks.text.rouge155 import tokenize
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Return both timelines with the words that aligned dates share, the alignment, and the dates in both timelines.

    Args:
        doc: The task's document, with ``reference``.
        answer: The model's text.
        explained: Metric -> its detailed result for this answer.
    """
    parsed = parse_timeline(answer)
    predicted = parsed.value or Timeline()
    reference = parse_timeline(doc["reference"]).value or Timeline()
    alignment = explained["alignment_rouge"]["items"][0]["alignment"]
    matches = explained["date_f1"]["items"][0]["matches"]
    words = {"predicted": _words(predicted), "reference": _words(reference)}
    shared: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pair in chain.from_iterable(alignment.values()):
        day, gold = pair["predicted"], pair["reference"]
        shared["predicted", day] |= words["reference"][gold]
        shared["reference", gold] |= words["predicted"][day]
    return {
        "kind": "timeline",
        "lost": parsed.lost(),
        "predicted": _days("predicted", predicted, shared),
        "reference": _days("reference", reference, shared),
        # "precision" and "recall" hold rows: predicted date, reference date, weight, hits.
        **{direction: [list(pair.values()) for pair in pairs] for direction, pairs in alignment.items()},
        "same": [pair["predicted"] for pair in matches if pair["predicted"] == pair["reference"]],
    }


def _words(timeline: Timeline) -> dict[str, set[str]]:
    """Return ISO date -> ROUGE words of the day."""
    return {entry.date.isoformat(): set(chain.from_iterable(map(tokenize, entry.sentences))) for entry in timeline}


def _days(side: str, timeline: Timeline, shared: Mapping[tuple[str, str], set[str]]) -> list[list[Any]]:
    """Return ``[ISO date, sentences]`` for each day, each sentence with its shared words marked."""
    days = ((entry.date.isoformat(), entry.sentences) for entry in timeline)
    return [[day, [mark_words(text, shared.get((side, day), ())) for text in texts]] for day, texts in days]
