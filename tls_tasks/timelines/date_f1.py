"""date_f1: precision, recall and F1 of the dates that a timeline selects.

Original: ``evaluate_dates`` of tilse 0.2.1, which compares sets of dates; joint references are united. tilse divides by
zero if one side has no dates; here that scores 0.0 and is flagged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import signature, signed_by
from tls_tasks.core.score import Counts, Item, Score, check_aggregate
from tls_tasks.timelines.pairs import score_pairs
from tls_tasks.timelines.read import DEFAULT_POLICY, TimelinePolicy, read_policy
from tls_tasks.timelines.rows import TimelineRow, read_rows
from tls_tasks.timelines.types import Timeline

VERSION = 4


@dataclass(frozen=True, slots=True)
class _DateF1Config:
    """The settings of :func:`date_f1`, as its signature gives them."""

    tolerance: int = field(default=0, metadata={"sign": "days"})
    reference_mode: str = field(default="separate", metadata={"sign": "refs"})
    aggregate: str = field(default="f_of_means", metadata={"sign": "agg"})
    by_topic: bool = field(default=False, metadata={"quiet": False, "of": ("topics",)})
    beta: float = field(default=1.0, metadata={"quiet": 1.0})
    policy: TimelinePolicy = field(default=DEFAULT_POLICY, metadata={"quiet": DEFAULT_POLICY})


@signed_by(_DateF1Config, data=("predictions", "references"))
def date_f1(
    predictions: Sequence[Any] | Mapping[str, Any],
    references: Sequence[Any] | Mapping[str, Any],
    *,
    tolerance: int = 0,
    reference_mode: str = "separate",
    aggregate: str = "f_of_means",
    beta: float = 1.0,
    topics: Sequence[str] | None = None,
    policy: TimelinePolicy | Mapping[str, str] | None = None,
) -> Score:
    """Score the dates of timelines.

    Args:
        predictions: One timeline per row: model text, JSON, ``[{"date": …, "text": …}]`` or ``{date: [sentence, …]}``,
            or a list of dates.
        references: One timeline per row, or a list of them, or a mapping annotator -> timeline.
        tolerance: How many days apart two matching dates may be, 0 or more. Dates are matched one to one, as many as
            possible.
        reference_mode: ``separate`` scores each reference on its own, ``joint`` the union of their dates.
        aggregate: ``f_of_means`` (what news-tls and LLM-TLS report) or ``mean_f``.
        beta: Weight of recall in F.
        topics: The topic of each row. If given, every topic has the same weight.
        policy: How dates and texts are read from model text, also as a mapping of its options.

    Returns:
        ``date_precision``, ``date_recall``, ``date_f1`` in [0, 1]; see :class:`~tls_tasks.core.score.Score`.

    Raises:
        InputError: Rows that can't be scored, naming index and field.
        OptionError: An option that doesn't exist.

    Example:
        >>> score = date_f1([{"2011-01-25": "a", "2011-01-27": "b"}], [{"2011-01-25": "a", "2011-01-28": "b"}])
        >>> score.as_dict()["date_f1"], score.signature
        (0.5, 'date_f1|days:0|refs:separate|agg:f_of_means|v:4')
        >>> date_f1([{"2011-01-27": "b"}], [{"2011-01-28": "b"}], tolerance=1).as_dict()["date_f1"]
        1.0
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, int) or tolerance < 0:
        raise InputError("tolerance", None, repr(tolerance), "a whole number of days, 0 or more")
    check_aggregate(aggregate, beta)
    config = _DateF1Config(tolerance, reference_mode, aggregate, topics is not None, beta, read_policy(policy))
    rows = read_rows(predictions, references, topics, reference_mode, config.policy)
    items = [_item(row, index, group, config) for row in rows for index, group in row.reference_groups(reference_mode)]
    return score_pairs("date_f1", ("date",), signature("date_f1", config, VERSION), config, rows, items)


_Days = Sequence[date]


def _item(row: TimelineRow, index: int | None, group: Sequence[Timeline], config: _DateF1Config) -> Item:
    """Score a row against a group of references; ``index`` is the reference's number, None for all jointly."""
    predicted = row.prediction.dates
    reference = sorted({day for reference in group for day in reference.dates})
    matches = _match_dates(predicted, reference, config.tolerance)
    counts = Counts(len(matches), len(predicted), len(matches), len(reference))
    details = partial(_details, predicted, reference, matches)
    return Item(row.index, index, {"date": counts}, row.topic, row.empty_flags(group), details, config.beta)


def _details(predicted: _Days, reference: _Days, matches: Sequence[tuple[date, date]]) -> dict[str, Any]:
    """Return the matched, missed and spurious dates in ISO form, for an item's details."""
    matched_predicted, matched_reference = {day for day, _ in matches}, {day for _, day in matches}
    return {
        "matches": [{"predicted": day.isoformat(), "reference": gold.isoformat()} for day, gold in matches],
        "missed": [day.isoformat() for day in reference if day not in matched_reference],
        "spurious": [day.isoformat() for day in predicted if day not in matched_predicted],
    }


def _match_dates(predicted: _Days, reference: _Days, tolerance: int) -> list[tuple[date, date]]:
    """Match ascending dates one to one, at most ``tolerance`` days apart, as many as possible.

    Matching the earliest two dates that fit is optimal: all windows have the same width, so crossing never helps.

    Returns:
        Pairs (predicted date, reference date), ascending.

    Example:
        >>> days = [date(2011, 1, day) for day in (25, 26, 30)]
        >>> [(predicted.day, reference.day) for predicted, reference in _match_dates(days, days[1:], 1)]
        [(25, 26), (30, 30)]
    """
    matches, i, j = [], 0, 0
    while i < len(predicted) and j < len(reference):
        days_apart = predicted[i].toordinal() - reference[j].toordinal()
        if abs(days_apart) <= tolerance:
            matches.append((predicted[i], reference[j]))
        i += days_apart <= tolerance
        j += days_apart >= -tolerance
    return matches
