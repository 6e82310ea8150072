"""AR-1, AR-2 and date F1 of the same timelines in one score, for :func:`tls_tasks.timelines.score`."""

from dataclasses import replace
from functools import partial
from typing import Any

from tls_tasks.core.prf import Item
from tls_tasks.core.score import Score


def merged(words: Score, dates: Score) -> Score:
    """Both scores in one: their units and definitions side by side."""
    return replace(
        words,
        metric="timelines",
        signature=f"{words.signature} + {dates.signature}",
        units=[{**left, **right} for left, right in zip(words.units, dates.units, strict=True)],
        definitions={**words.definitions, **dates.definitions},
        items=list(map(_merged_item, words.items, dates.items)),
        details=partial(_details, words),
    )


def _merged_item(left: Item, right: Item) -> Item:
    flags = tuple(dict.fromkeys((*left.flags, *right.flags)))
    return replace(left, counts={**left.counts, **right.counts}, flags=flags, details=partial(_both, left, right))


def _both(left: Item, right: Item) -> dict[str, Any]:
    return {**left.details(), **right.details()}


def _details(words: Score, score: Score) -> dict[str, Any]:
    return {**words.details(words), **({} if score.topics is None else {"topics": score.by_topic()})}
