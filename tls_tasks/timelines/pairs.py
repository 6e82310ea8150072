"""What the timeline metrics share: from rows to (row, reference) pairs, and from such pairs to a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from tls_tasks.core.errors import warn_of_repeated, warn_of_unread
from tls_tasks.core.options import check_choice
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.prf import Counts, Item, prf_of_means, prf_unit
from tls_tasks.core.rows import read_columns
from tls_tasks.core.score import Result, Results, Score, values
from tls_tasks.core.terminal import shown
from tls_tasks.timelines.read import TimelinePolicy
from tls_tasks.timelines.rows import is_row, read_prediction, read_references
from tls_tasks.timelines.types import Timeline


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One prediction with its references.

    Attributes:
        index: Row number.
        topic: The row's topic, if topics were given.
        parsed: The prediction as it was read.
        references: At least one timeline.
    """

    index: int
    topic: str | None
    parsed: Parsed[Timeline]
    references: tuple[Timeline, ...]

    @property
    def prediction(self) -> Timeline:
        """The predicted timeline; empty if nothing could be read, which scores 0."""
        return self.parsed.value or Timeline()

    def groups(self, mode: str) -> Iterator[tuple[int | None, tuple[Timeline, ...]]]:
        """The references that are scored together, each group with its position (None: all of them)."""
        if mode == "joint":
            yield None, self.references
        else:
            for position, reference in enumerate(self.references):
                yield position, (reference,)

    def empty_flags(self, references: Sequence[Timeline]) -> tuple[str, ...]:
        """``empty_prediction`` and ``empty_reference``: a side without any date, which scores 0 by definition."""
        sides = {"empty_prediction": self.prediction, "empty_reference": any(references)}
        return tuple(flag for flag, has_dates in sides.items() if not has_dates)


def read_rows(
    predictions: Sequence[Any],
    references: Sequence[Any],
    topics: Sequence[str] | None,
    reference_mode: str,
    policy: TimelinePolicy,
) -> list[TimelineRow]:
    """Read all rows.

    Args:
        predictions: One timeline per row.
        references: One timeline per row, or a list of them.
        topics: The topic of each row, or None.
        reference_mode: ``separate`` or ``joint``; checked here, since both metrics have it.
        policy: How model text is read.

    Raises:
        InputError: Columns of unequal length, or a row that is no timeline.
        OptionError: There is no such reference mode.

    Warns:
        ParseFailureWarning: Some predictions could not be read.
        RepeatedDateWarning: A reference timeline has a date more than once.
    """
    check_choice("reference_mode", reference_mode, ("separate", "joint"))
    columns = {"predictions": predictions, "references": references, "topics": topics}
    answers, golds, labels = read_columns(is_row, **columns)
    repeated: list[str] = []
    rows = [
        TimelineRow(
            index,
            None if labels is None else str(labels[index]),
            read_prediction(answer, index, policy),
            read_references(golds[index], index, policy, repeated),
        )
        for index, answer in enumerate(answers)
    ]
    warn_of_unread([row.index for row in rows if row.parsed.failed], len(rows), "timelines")
    warn_of_repeated(repeated)
    return rows


def score_of(
    metric: str,
    prefixes: Sequence[str],
    signed: str,
    config: Any,
    rows: Sequence[TimelineRow],
    items: Sequence[Item],
    variants: Mapping[str, Sequence[Mapping[str, Counts]]] | None = None,
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
        problems={row.index: row.parsed.counts() for row in rows if row.parsed.problems},
        parse_failures=sum(row.parsed.failed for row in rows),
        details=partial(_details, variants or {}, table, config.beta),
        explanation=partial(_explanation, rows),
    )


def _details(
    variants: Mapping[str, Sequence[Mapping[str, Counts]]], table: Results, beta: float, score: Score
) -> dict[str, Any]:
    """The results under all variants, and of each topic."""
    details: dict[str, Any] = {}
    if variants:
        details["variants"] = {
            name: values(table, [prf_unit(pair, beta) for pair in counts], score.topics)
            for name, counts in variants.items()
        }
    if score.topics is not None:
        details["topics"] = score.by_topic()
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
