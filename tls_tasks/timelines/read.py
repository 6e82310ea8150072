"""Timelines in model text: :func:`parse_timeline`.

JSON is tried first (:mod:`~tls_tasks.core.json_text`), then lines and tables (:mod:`~tls_tasks.timelines.read_lines`).
A :class:`TimelinePolicy` decides what can be read in two ways, and whatever is dropped, merged or repaired is reported
as a problem of one of :data:`PROBLEM_KINDS`.
"""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from tls_tasks.core.errors import InputError, check_choice, check_options, describe
from tls_tasks.core.json_text import find_json, is_whole_json
from tls_tasks.core.parsed import Parsed, Problem, problem, problem_kinds
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.text.dates import DateExpression, DayMonth, Numeric, dates_in, settle
from tls_tasks.timelines.entries import RawEntry
from tls_tasks.timelines.read_json import count_entries, is_empty_answer, json_entries
from tls_tasks.timelines.read_lines import read_lines
from tls_tasks.timelines.types import Timeline

PROBLEM_KINDS = problem_kinds("timelines", "json")
"""Every kind of problem that :func:`parse_timeline` reports."""


@dataclass(frozen=True, slots=True)
class TimelinePolicy:
    """What happens to entries that are not simply a day and its text. Each such entry is counted as a problem.

    Attributes:
        partial: A month or a year: read it as its ``first_day`` (as CHRONOS' loader does), or ``drop`` the entry.
        repeated: Several entries with one date: ``merge`` them (a text that occurs twice is kept once), or keep the
            ``first`` or the ``last``.
        day_month: Whether the day or the month comes first in ``01/02/2011``: ``day_first``, ``month_first``, or
            ``list``: as in the list's other dates with that separator, such as ``25/01/2011``. If these don't tell, the
            day comes first between dots, and an entry with another separator is dropped.

    Raises:
        OptionError: An unknown value.

    Example:
        >>> TimelinePolicy(partial="last_day")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: partial: got 'last_day', expected one of 'first_day', 'drop'; did you mean 'first_day'?
    """  # noqa: E501 - the message is one line

    partial: Literal["first_day", "drop"] = "first_day"
    repeated: Literal["merge", "first", "last"] = "merge"
    day_month: Literal["list", "day_first", "month_first"] = "list"

    def __post_init__(self) -> None:
        """Check the options once."""
        for option, choices in OPTIONS.items():
            check_choice(option, getattr(self, option), choices)

    def __str__(self) -> str:
        """What differs from the default, for signatures."""
        given = ((field, getattr(self, field.name)) for field in fields(self))
        return ",".join(f"{field.name}={value}" for field, value in given if value != field.default)


OPTIONS: dict[str, tuple[str, ...]] = {name: get_args(kind) for name, kind in get_type_hints(TimelinePolicy).items()}
"""The choices of each option of a policy, the default first."""

DEFAULT_POLICY = TimelinePolicy()


def read_policy(value: Any) -> TimelinePolicy:
    """A policy from whatever the caller has: a policy, a mapping of its options, None for the default.

    Raises:
        InputError: Anything else; OptionError for an option or a value that doesn't exist.

    Example:
        >>> str(read_policy({"repeated": "last", "partial": "drop"}))
        'partial=drop,repeated=last'
    """
    if isinstance(value, TimelinePolicy):
        return value
    if not isinstance(value, Mapping | None):
        raise InputError("policy", None, describe(value), f"a TimelinePolicy or a mapping of {', '.join(OPTIONS)}")
    check_options("policy", value or (), OPTIONS)
    return TimelinePolicy(**(value or {}))


def parse_timeline(text: str | None, policy: TimelinePolicy = DEFAULT_POLICY) -> Parsed[Timeline]:
    r"""Read the timeline that a model wrote.

    Args:
        text: The model's text, None if it gave none: JSON, or lines and tables with dates (``docs/reading.md`` has the
            forms). Prose, code fences and thinking around it are ignored. Several lists or blocks are read as one
            timeline.
        policy: What to do where the text leaves a choice.

    Returns:
        The timeline, and what was dropped, merged or repaired (:data:`PROBLEM_KINDS`). The value is None if there is no
        usable date, and an empty timeline if the answer is an empty list or object. No text raises.

    Example:
        >>> parsed = parse_timeline('[{"start": "2011-01-25", "summary": "Protests."}, {"start": "soon", "text": ""}]')
        >>> parsed.value.as_rows(), parsed.counts()
        ([{'date': '2011-01-25', 'text': ['Protests.']}], {'invalid_date': 1})
        >>> parse_timeline("- 25 January 2011: Protests.\n- Feb 2011: Talks.", TimelinePolicy(partial="drop")).kinds()
        {'partial_date': 1}
        >>> parse_timeline("No dates here.").failed, parse_timeline("[]").failed
        (True, False)
    """
    if text is None:
        return Parsed(None, (problem("no_answer", ""),))
    found = find_json(text, count_entries)
    items = [item for value in found.values for item in json_entries(value)]
    noted = [replace(one, kind="dated_text") if _is_dated_note(one) else one for one in found.problems]
    from_json = _assembled([*noted, *items], policy)
    answer = strip_thinking(text)
    if not from_json.failed and found.stage != "repaired":
        return from_json
    left_out = answer.problems(text)
    from_lines = _assembled([*left_out, *read_lines(answer.text)], policy)
    if from_json.value is not None or from_lines.value is not None:
        # What json_repair makes of dated lines that contain a bracket must not win over the lines.
        more = _n_sentences(from_lines) - _n_sentences(from_json)
        return from_lines if more > 0 else from_json
    if not found.values and is_whole_json(text, is_empty_answer):
        return Parsed(Timeline(), left_out)
    return from_json if from_json.problems else from_lines


def _is_dated_note(noted: Problem) -> bool:
    """Whether a note about text beside JSON holds a day: it may be an entry."""
    return noted.kind == "note" and any(dates_in(noted.detail))


def _n_sentences(parsed: Parsed[Timeline]) -> int:
    """How many sentences were read; -1 if nothing was."""
    return -1 if parsed.value is None else parsed.value.n_sentences


def _assembled(items: Iterable[RawEntry | Problem], policy: TimelinePolicy) -> Parsed[Timeline]:
    """Make a timeline of entries under a policy; the value is None if there is no usable date."""
    days: dict[datetime.date, list[str]] = {}
    problems: list[Problem] = []
    for item in _settled(list(items), policy):
        if isinstance(item, Problem):
            problems.append(item)
            continue
        day = _day(item, policy)
        problems += _problems_of(item, item.said if day is None else item.written)
        if day is None:
            continue
        if (lost := add_day(days, day, item.sentences, policy)) is not None:
            problems.append(problem("repeated_date", item._replace(sentences=lost).said))
    return Parsed(Timeline.from_days(days) if days else None, tuple(problems))


def add_day(
    days: dict[datetime.date, list[str]], day: datetime.date, sentences: Sequence[str], policy: TimelinePolicy
) -> tuple[str, ...] | None:
    """Add an entry to the days; return which sentences its date's repetition loses, None for a new date."""
    before = days.get(day)
    if before is None or policy.repeated == "last":
        days[day] = list(sentences)
    elif policy.repeated == "merge":
        before += [text for text in sentences if text not in before]  # base models repeat themselves
    return None if before is None else {"merge": (), "first": tuple(sentences), "last": tuple(before)}[policy.repeated]


def _settled(items: list[RawEntry | Problem], policy: TimelinePolicy) -> Iterator[RawEntry | Problem]:
    """The items with one reading of each date; where day and month can't be told apart, with none."""
    expressions = [item.expression for item in items if isinstance(item, RawEntry) and item.expression]
    written_orders: dict[str, set[DayMonth]] = defaultdict(set)
    for expression in expressions:
        if expression.numeric and expression.numeric.order:
            written_orders[expression.numeric.separator].add(expression.numeric.order)
    for item in items:
        if isinstance(item, RawEntry) and item.expression and item.expression.other:
            yield item._replace(expression=_one_reading(item.expression, written_orders, policy))
        else:
            yield item


def _one_reading(
    expression: DateExpression, written_orders: Mapping[str, Set[DayMonth]], policy: TimelinePolicy
) -> DateExpression | None:
    """The date in the order that the policy or the list says; None if neither does."""
    separator = expression.numeric.separator if expression.numeric else ""
    if policy.day_month != "list":
        orders: Set[DayMonth] = {policy.day_month}
    else:
        orders = written_orders.get(separator) or ({"day_first"} if separator == "." else set())
    return settle(expression, Numeric(separator, *orders)) if len(orders) == 1 else None


def _problems_of(entry: RawEntry, said: str) -> list[Problem]:
    """What is wrong with an entry, regardless of the others; ``said`` is its date, with the text if that is dropped."""
    expression = entry.expression
    if expression is None:
        return [problem("invalid_date" if entry.written.strip() else "undated_text", entry.said)]
    kinds = {
        "partial_date": expression.precision != "day",
        "date_range": expression.is_range,
        "empty_entry": not any(sentence.strip() for sentence in entry.sentences),
    }
    return [problem(kind, said) for kind, is_so in kinds.items() if is_so]


def _day(entry: RawEntry, policy: TimelinePolicy) -> datetime.date | None:
    """The day that an entry stands for; None if the entry is dropped."""
    expression = entry.expression
    if expression is None or (expression.precision != "day" and policy.partial == "drop"):
        return None
    return expression.date
