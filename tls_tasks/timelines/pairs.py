"""The Score of scored (row, reference) pairs of timelines, its explanations, and both timeline metrics in one Score."""

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


def score_pairs(
    metric: str,
    prefixes: Sequence[str],
    signed: str,
    config: Any,
    rows: Sequence[TimelineRow],
    items: Sequence[Item],
    variants: _Variants | None = None,
) -> Score:
    """Build the Score of (row, reference) pairs that have been counted.

    Args:
        metric: The metric's name in the registry.
        prefixes: Prefixes of its result keys, such as ``ar1``.
        signed: The signature.
        config: The settings, among them ``aggregate``, ``beta`` and ``by_topic``.
        rows: All rows, for the explanations and the problems of their predictions.
        items: The counts, one item per pair, in order.
        variants: Variant -> the counts of every pair under it, for the detailed result.
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
    """Return the results under all variants and the results of each topic, for the detailed result."""
    details: dict[str, Any] = {}
    if variants:
        units = {name: [prf_unit(pair, beta) for pair in counts] for name, counts in variants.items()}
        details["variants"] = {name: values(table, pairs, score.topics) for name, pairs in units.items()}
    if score.topics is not None:
        details["topics"] = score.by_topic()
    return details


def _explanation(rows: Sequence[TimelineRow], item: Item) -> Iterator[str]:
    """Yield lines for a pair: aligned dates with both texts, dates without a partner, date matches and flags."""
    row, details = rows[item.row], item.details()
    references = row.references if item.reference is None else (row.references[item.reference],)
    texts = {
        side: {day.isoformat(): " ".join(texts) for day, texts in Timeline.from_days(chain(*timelines)).entries}
        for side, timelines in (("predicted", [row.prediction]), ("reference", references))
    }
    sides = details.get("alignment") or {}
    pairs: dict[tuple[Any, ...], list[str]] = {}
    for name, aligned in sides.items():
        for pair in aligned:
            pairs.setdefault(tuple(pair.values()), []).append(name)
    for (predicted, reference, weight, hits), names in sorted(pairs.items()):
        words = "word" if hits == 1 else "words"
        yield f"  {predicted} ~ {reference}: weight {weight:.3g}, {hits:g} {words} in common ({' and '.join(names)})"
        yield f"    predicted  {shown(texts['predicted'][predicted])}"
        yield f"    reference  {shown(texts['reference'][reference])}"
    for column, side in enumerate(texts if sides else ()):
        for day in sorted(texts[side].keys() - {pair[column] for pair in pairs}):
            yield f"  {day}: {side} only"
            yield f"    {side}  {shown(texts[side][day])}"
    if "matches" in details:
        days = [tuple(match.values()) for match in details["matches"]]
        right = [day if day == gold else f"{day} for {gold}" for day, gold in days]
        for name, dates in (("right", right), ("missed", details["missed"]), ("spurious", details["spurious"])):
            yield f"  dates {name}: {', '.join(dates) or '-'}"
    if item.flags:
        yield f"  flags: {', '.join(item.flags)}"


def merge_scores(rouge: Score, dates: Score) -> Score:
    """Merge alignment ROUGE and date F1 of the same pairs into one score: units and results side by side."""
    return replace(
        rouge,
        metric="timelines",
        signature=f"{rouge.signature} + {dates.signature}",
        units=[{**rouge_unit, **date_unit} for rouge_unit, date_unit in zip(rouge.units, dates.units, strict=True)],
        definitions={**rouge.definitions, **dates.definitions},
        items=list(map(_merge_items, rouge.items, dates.items)),
        details=partial(_merged_details, rouge),
    )


def _merge_items(rouge: Item, dates: Item) -> Item:
    flags = tuple(dict.fromkeys((*rouge.flags, *dates.flags)))
    details = partial(_item_details, rouge, dates)
    return replace(rouge, counts={**rouge.counts, **dates.counts}, flags=flags, details=details)


def _item_details(rouge: Item, dates: Item) -> dict[str, Any]:
    return {**rouge.details(), **dates.details()}


def _merged_details(rouge: Score, score: Score) -> dict[str, Any]:
    """Return the variants of alignment ROUGE, and all results of each topic, for the detailed result."""
    return {**rouge.details(rouge), **({} if score.topics is None else {"topics": score.by_topic()})}
