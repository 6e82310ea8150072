"""What the timeline metrics share: from scored (row, reference) pairs to a score, and what explains a pair."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from tls_tasks.core.score import Counts, Item, Result, Results, Score, prf_of_means, prf_unit, values
from tls_tasks.core.terminal import shown
from tls_tasks.timelines.rows import TimelineRow
from tls_tasks.timelines.types import Timeline

_Variants = Mapping[str, Sequence[Mapping[str, Counts]]]


def score_of(
    metric: str,
    prefixes: Sequence[str],
    signed: str,
    config: Any,
    rows: Sequence[TimelineRow],
    items: Sequence[Item],
    variants: _Variants | None = None,
) -> Score:
    """The score of (row, reference) pairs.

    Args:
        metric: Registry name.
        prefixes: Of its result keys.
        signed: The signature.
        config: The settings, among them ``aggregate``, ``beta`` and ``by_topic``.
        rows: The rows that the pairs are of.
        items: One per pair, in order.
        variants: Name -> the pairs' counts under another variant, for the detailed result.
    """
    table: dict[str, Result] = {}
    for prefix in prefixes:
        table |= prf_of_means(prefix, config.aggregate, config.beta, config.by_topic)
    return Score(
        metric=metric,
        signature=signed,
        units=[prf_unit(item.counts, config.beta) for item in items],
        definitions=table,
        topics=[item.topic for item in items] if config.by_topic else None,
        rows=[item.row for item in items],
        items=items,
        problems={row.index: row.parsed.kinds() for row in rows if row.parsed.problems},
        parse_failures=sum(row.parsed.failed for row in rows),
        details=partial(_details, variants or {}, table, config.beta),
        explanation=partial(_explanation, rows),
    )


def _details(variants: _Variants, table: Results, beta: float, score: Score) -> dict[str, Any]:
    """The results under all variants, and of each topic."""
    details: dict[str, Any] = {}
    if variants:
        units = {name: [prf_unit(pair, beta) for pair in counts] for name, counts in variants.items()}
        details["variants"] = {name: values(table, own, score.topics) for name, own in units.items()}
    if score.topics is not None:
        details["topics"] = score.topic_results()
    return details


def _explanation(rows: Sequence[TimelineRow], item: Item) -> Iterator[str]:
    """The dates that were aligned, with both texts; the dates that are right, missed and spurious."""
    row, details = rows[item.row], item.details()
    references = row.references if item.reference is None else (row.references[item.reference],)
    texts = {
        side: {day.isoformat(): " ".join(texts) for day, texts in Timeline.of(chain(*timelines)).entries}
        for side, timelines in (("predicted", [row.prediction]), ("reference", references))
    }
    sides = details.get("alignment") or {}
    pairs: dict[tuple[Any, ...], list[str]] = {}
    for name, aligned in sides.items():
        for pair in aligned:
            pairs.setdefault(tuple(pair.values()), []).append(name)
    for (left, right, weight, hits), names in sorted(pairs.items()):
        words = "word" if hits == 1 else "words"
        yield f"  {left} ~ {right}: weight {weight:.3g}, {hits:g} {words} in common ({' and '.join(names)})"
        yield f"    predicted  {shown(texts['predicted'][left])}"
        yield f"    reference  {shown(texts['reference'][right])}"
    for place, side in enumerate(texts if sides else ()):
        for day in sorted(texts[side].keys() - {pair[place] for pair in pairs}):
            yield f"  {day}: {side} only"
            yield f"    {side}  {shown(texts[side][day])}"
    if "matches" in details:
        days = [tuple(match.values()) for match in details["matches"]]
        right_days = [left if left == right else f"{left} for {right}" for left, right in days]
        for name, listed in (("right", right_days), ("missed", details["missed"]), ("spurious", details["spurious"])):
            yield f"  dates {name}: {', '.join(listed) or '-'}"
    if item.flags:
        yield f"  flags: {', '.join(item.flags)}"


def merged(words: Score, dates: Score) -> Score:
    """AR-1, AR-2 and date F1 of the same timelines in one score: their units and definitions side by side."""
    return replace(
        words,
        metric="timelines",
        signature=f"{words.signature} + {dates.signature}",
        units=[{**left, **right} for left, right in zip(words.units, dates.units, strict=True)],
        definitions={**words.definitions, **dates.definitions},
        items=list(map(_merged_item, words.items, dates.items)),
        details=partial(_merged_details, words),
    )


def _merged_item(left: Item, right: Item) -> Item:
    flags = tuple(dict.fromkeys((*left.flags, *right.flags)))
    return replace(left, counts={**left.counts, **right.counts}, flags=flags, details=partial(_both, left, right))


def _both(left: Item, right: Item) -> dict[str, Any]:
    return {**left.details(), **right.details()}


def _merged_details(words: Score, score: Score) -> dict[str, Any]:
    return {**words.details(words), **({} if score.topics is None else {"topics": score.topic_results()})}
