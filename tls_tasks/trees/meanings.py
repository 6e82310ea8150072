"""Values that are written in another way than the reference has them, and mean the same: for the scores of values.

A number may stand in a text (``"1,234.50"``), one moment may be written in two time zones, and ``01/02/2024`` is a date
once somebody says whether the day or the month comes first. A pair of values is scored as it stands and as it is meant,
and the better score counts.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tls_tasks.text.dates import read_date
from tls_tasks.trees.compliance import base_type
from tls_tasks.trees.counts import Array
from tls_tasks.trees.pairs import Pairs
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import AnyOf, Branch, ListOf, SchemaNode, part_for

_LONGEST = 100
"""Characters of a text that may be a number or a date."""

_NUMBER = re.compile(
    r"(?P<sign>[+\-\u2212]?)"
    r"(?:(?P<point>(?:\d+|[1-9]\d{0,2}(?P<mark>[,'\u2019 \u00a0\u202f])\d{3}(?:(?P=mark)\d{3})*)?(?:\.\d+)?)"
    r"|(?P<comma>(?:\d+|[1-9]\d{0,2}(?P<dot>[. \u00a0\u202f])\d{3}(?:(?P=dot)\d{3})*),\d+))"
    r"(?P<power>[eE][+-]?\d+)?",
    re.ASCII,
)
_TIME = re.compile(
    r"[Tt\s,]\s*(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?\s*(?:(?P<zero>Z|UTC|GMT)|(?P<sign>[+\-\u2212])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?$",
    re.ASCII | re.IGNORECASE,
)


def number_in(text: str) -> int | float | None:
    """The number that a text is, with thousands set off or not; a comma before other than three digits is a point.

    Example:
        >>> [number_in(text) for text in ("1,234.50", "1,234", "1.234,50", "12,5", "-3e2", "1'000", "5 kg", "1,23,4")]
        [1234.5, 1234, 1234.5, 12.5, -300.0, 1000, None, None]
    """
    stripped = text.strip() if len(text) <= _LONGEST else ""
    match = _NUMBER.fullmatch(stripped)
    if match is None or not (match["point"] or match["comma"]):
        return None
    marks, decimal = (match["mark"], ".") if match["comma"] is None else (match["dot"], ",")
    digits = (match["point"] or match["comma"]).replace(marks or "", "").replace(decimal, ".") + (match["power"] or "")
    number = int(digits) if digits.isdigit() else float(digits)
    if number in (float("inf"), float("-inf")):
        return None
    return number if match["sign"] in ("", "+") else -number


@lru_cache(maxsize=4096)
def _moment(day_month: str, text: str) -> str:
    """A date and time in one way: in UTC where it has a time zone. What is none stays as it is.

    Example:
        >>> _moment("", "2024-01-01T13:00+01:00"), _moment("", "1 January 2024, 1:00 pm"), _moment("", "soon")
        ('2024-01-01T12:00:00Z', '2024-01-01T13:00:00', 'soon')
    """
    stripped = text.strip() if len(text) <= _LONGEST else ""
    time = _TIME.search(stripped)
    day = _day(day_month, stripped[: time.start()] if time else stripped)
    if time is None or not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        return day if stripped else text
    hour = int(time["hour"])
    if time["half"]:
        if not 1 <= hour <= 12:
            return text
        hour = hour % 12 + 12 * (time["half"][0] in "pP")
    try:
        at = datetime.datetime.fromisoformat(day)
        at = at.replace(hour=hour, minute=int(time["minute"]), second=int(time["second"] or 0))
        if time["sign"]:
            offset = datetime.timedelta(hours=int(time["hours"]), minutes=int(time["minutes"] or 0))
            at = at - offset if time["sign"] == "+" else at + offset
    except (ValueError, OverflowError):  # a leap second, 25:00, the end of the calendar
        return text
    part = (time["part"] or "").rstrip("0")
    return at.isoformat() + (f".{part}" if part else "") + ("Z" if time["zero"] or time["sign"] else "")


@lru_cache(maxsize=4096)
def _day(day_month: str, text: str) -> str:
    """A date as ISO has it, where it can be read in one way; what is none stays as it is.

    Example:
        >>> _day("day_first", "01/02/2024"), _day("month_first", "01/02/2024"), _day("", "01/02/2024")
        ('2024-02-01', '2024-01-02', '01/02/2024')
    """
    found = read_date(text) if len(text) <= _LONGEST else None
    if found is not None and found.other and day_month in ("day_first", "month_first"):
        found = found if day_month == "day_first" else found.other
    elif found is None or found.other:
        return text
    if found.precision != "day":
        return text
    return found.date.isoformat() + (f" to {found.end.isoformat()}" if found.end else "")


def _in_one_way(read: Callable[[str], str], value: Any) -> Any:
    if isinstance(value, datetime.date):
        value = value.isoformat()
    return read(value) if isinstance(value, str) else value


def _as_number(value: Any) -> Any:
    number = number_in(value) if isinstance(value, str) else None
    return value if number is None else number


def _mapped(read: Callable[[Any], Any], value: Any) -> Any:
    """What each of several valid answers is read as."""
    return AnyOf([read(answer) for answer in value.values]) if isinstance(value, AnyOf) else read(value)


def as_meant(field: Field, pairs: Pairs, scored: Array | None, day_month: str) -> Array | None:
    """The similarities of pairs of values as they are meant, 0 where that is as they stand; None: it is everywhere.

    Args:
        field: The leaf.
        pairs: Its values.
        scored: Which pairs have two values; None: all.
        day_month: ``day_first`` or ``month_first``; of anything else a date with two readings stays as it is.
    """
    kind = base_type(field.type)
    if kind in ("datetime", "date-time") or (kind == "date" and day_month in ("day_first", "month_first")):
        read = partial(_in_one_way, partial(_day if kind == "date" else _moment, day_month))
        left, right = ([_mapped(read, value) for value in own] for own in (pairs.references, pairs.predictions))
        live = np.ones(pairs.n, dtype=bool) if scored is None else scored
    else:
        told, given = (set(map(type, own)) for own in (pairs.references, pairs.predictions))
        if not (str in given and told & _NUMBERS) and not (int in field.types and given & _NUMBERS and told & _TEXTS):
            return None
        left, right = ([_mapped(_as_number, value) for value in own] for own in (pairs.references, pairs.predictions))
        (was, has), (gave, has_given) = _kinds(pairs.references, left), _kinds(pairs.predictions, right)
        rows, columns = pairs.rows, pairs.columns
        live = was[rows] & has_given[columns]
        if int in field.types:
            live = live | (has[rows] & gave[columns])
        live = live if scored is None else live & scored
    if not live.any():
        return None
    similarities = [metric.normalize(pairs.of(left, right).scores(metric, live)) for metric in field.metrics]
    found: Array = live * sum(similarities) / len(similarities)
    return found


_NUMBERS = frozenset({int, float, AnyOf})
_TEXTS = frozenset({str, AnyOf})


def _kinds(values: Sequence[Any], meant: Sequence[Any]) -> tuple[Array, Array]:
    """Which values are numbers, and which are texts that are meant as numbers; several answers may be both."""
    found = np.zeros((2, len(values)), dtype=bool)
    for place, (value, read) in enumerate(zip(values, meant, strict=True)):
        answers, readings = ((one.values if type(one) is AnyOf else (one,)) for one in (value, read))
        found[0, place] = any(type(answer) in (int, float) for answer in answers)
        found[1, place] = any(answer is not own for answer, own in zip(answers, readings, strict=True))
    return found[0], found[1]


def with_numbers(tree: Any, node: SchemaNode) -> Any:
    """A reference, with numbers for texts that are numbers where the schema has a number and nothing else.

    Example:
        >>> from tls_tasks.trees.types import Leaf
        >>> node = Branch({"a": Leaf("number"), "b": ListOf(Leaf("integer"))})
        >>> with_numbers({"a": "1,234.50", "b": ["7", "x"]}, node)
        {'a': 1234.5, 'b': [7, 'x']}
    """
    if isinstance(tree, AnyOf):
        return AnyOf([with_numbers(answer, node) for answer in tree.values])
    node = part_for(node, tree)
    if isinstance(node, Branch) and isinstance(tree, dict):
        rest = node.rest and node.rest.item
        known = {key: node.children.get(key, rest) for key in tree}
        return {key: with_numbers(value, own) if (own := known[key]) else value for key, value in tree.items()}
    if isinstance(node, ListOf) and isinstance(tree, list):
        return [with_numbers(item, node.item) for item in tree]
    is_number = base_type(getattr(node, "type", "")) in ("integer", "number")
    return _as_number(tree) if is_number else tree
