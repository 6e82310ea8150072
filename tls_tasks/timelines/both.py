"""AR-1, AR-2 and date F1 of the same timelines in one score: what :func:`tls_tasks.timelines.score` calls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tls_tasks.core.prf import Item
from tls_tasks.core.score import Score
from tls_tasks.timelines.alignment_rouge import alignment_rouge
from tls_tasks.timelines.date_f1 import date_f1


def score_timelines(
    predictions: Any, references: Any, options: Mapping[str, Any], tolerance: int, own: Mapping[str, Any]
) -> Score:
    """Both scores in one: their units and definitions side by side; ``own`` options are alignment ROUGE's alone."""
    words = alignment_rouge(predictions, references, **options, **own)
    dates = date_f1(predictions, references, tolerance=tolerance, **options)
    return replace(
        words,
        metric="timelines",
        signature=f"{words.signature} + {dates.signature}",
        units=[{**left, **right} for left, right in zip(words.units, dates.units, strict=True)],
        definitions={**words.definitions, **dates.definitions},
        items=_merged(words.items, dates.items),
        details=partial(_details, words),
    )


def _merged(words: Sequence[Item], dates: Sequence[Item]) -> list[Item]:
    return [
        replace(
            left,
            counts={**left.counts, **right.counts},
            flags=tuple(dict.fromkeys((*left.flags, *right.flags))),
            details=partial(_both, left, right),
        )
        for left, right in zip(words, dates, strict=True)
    ]


def _both(left: Item, right: Item) -> dict[str, Any]:
    return {**left.details(), **right.details()}


def _details(words: Score, score: Score) -> dict[str, Any]:
    return {**words.details(words), **({} if score.topics is None else {"topics": score.by_topic()})}
