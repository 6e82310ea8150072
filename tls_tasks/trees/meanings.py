"""Values that are written in another way than the reference has them, and mean the same: for the scores of values.

A number may stand in a text (``"1,234.50"``), one moment may be written in two time zones, and ``01/02/2024`` is a date
once somebody says whether the day or the month comes first. A pair of values is scored as it stands and as it is meant,
and the better score counts.
"""

import datetime
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tls_tasks.core.reasoning import Patterns
from tls_tasks.text.dates import read_date
from tls_tasks.trees.compliance import base_type
from tls_tasks.trees.nodes import children_of
from tls_tasks.trees.pairs import Array, Pairs
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import AnyOf, SchemaNode, part_for

_LONGEST = 100
"""Characters of a text that may be a number or a date."""

_PATTERN = Patterns(__file__)


def number_in(text: str) -> int | float | None:
    """The number that a text is, with thousands set off or not; a comma before other than three digits is a point.

    Example:
        >>> [number_in(text) for text in ("1,234.50", "1,234", "1.234,50", "12,5", "-3e2", "1'000", "5 kg", "1,23,4")]
        [1234.5, 1234, 1234.5, 12.5, -300.0, 1000, None, None]
    """
    stripped = text.strip() if len(text) <= _LONGEST else ""
    match = _PATTERN["number"].fullmatch(stripped)
    if match is None or not (match["point"] or match["comma"]):
        return None
    marks, decimal = (match["mark"], ".") if match["comma"] is None else (match["dot"], ",")
    digits = (match["point"] or match["comma"]).replace(marks or "", "").replace(decimal, ".") + (match["power"] or "")
    number = int(digits) if digits.isdigit() else float(digits)
    signed = number if match["sign"] in ("", "+") else -number
    return None if number == float("inf") else signed


@lru_cache(maxsize=4096)
def _moment(day_month: str, text: str) -> str:
    """A date and time in one way: in UTC where it has a time zone. What is none stays as it is.

    Example:
        >>> _moment("", "2024-01-01T13:00+01:00"), _moment("", "1 January 2024, 1:00 pm"), _moment("", "soon")
        ('2024-01-01T12:00:00Z', '2024-01-01T13:00:00', 'soon')
    """
    stripped = text.strip() if len(text) <= _LONGEST else ""
    time = _PATTERN["time"].search(stripped)
    day = _day(day_month, stripped[: time.start()] if time else stripped)
    if time is None or not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        return day if stripped else text
    hour = int(time["hour"])
    if time["half"]:
        if not 1 <= hour <= 12:
            return text
        hour = hour % 12 + 12 * (time["half"][0] in "pP")
    try:
        at = datetime.datetime.fromisoformat(f"{day}T{hour:02}:{time['minute']}:{time['second'] or '00'}")
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


def _as_number(text: str) -> int | float | str:
    number = number_in(text)
    return text if number is None else number


def _mapped(read: Callable[[str], Any], value: Any) -> Any:
    """What a text is read as, a date as text, and each of several valid answers."""
    if isinstance(value, AnyOf):
        return AnyOf([_mapped(read, answer) for answer in value.values])
    value = value.isoformat() if isinstance(value, datetime.date) else value
    return read(value) if isinstance(value, str) else value


def as_meant(field: Field, pairs: Pairs, scored: Array | None, day_month: str) -> Array | None:
    """The similarities of pairs of values as they are meant, 0 where that is as they stand; None: it is everywhere.

    Args:
        field: The leaf.
        pairs: Its values.
        scored: Which pairs have two values; None: all.
        day_month: ``day_first`` or ``month_first``; of anything else a date with two readings stays as it is.
    """
    kind, live = base_type(field.type), np.broadcast_to(True if scored is None else scored, pairs.n)
    sides, is_day = (pairs.references, pairs.predictions), day_month in ("day_first", "month_first") and kind == "date"
    read: Callable[[str], Any] = partial(_day if is_day else _moment, day_month)
    if not is_day and kind not in ("datetime", "date-time"):
        read, (told, given) = _as_number, (set(map(type, own)) for own in sides)
        if not (str in given and told & _NUMBERS) and not (int in field.types and given & _NUMBERS and told & _TEXTS):
            return None
        was, gave = (_where(lambda value: type(value) in (int, float), own) for own in sides)
        has, has_given = (_where(lambda one: isinstance(one, str) and number_in(one) is not None, own) for own in sides)
        is_meant = was[pairs.rows] & has_given[pairs.columns]
        if int in field.types:
            is_meant |= has[pairs.rows] & gave[pairs.columns]
        live = live & is_meant
    if not live.any():
        return None
    left, right = ([_mapped(read, value) for value in own] for own in sides)
    similarities = [metric.normalize(pairs.of(left, right).scores(metric, live)) for metric in field.metrics]
    found: Array = live * sum(similarities) / len(similarities)
    return found


_NUMBERS = frozenset({int, float, AnyOf})
_TEXTS = frozenset({str, AnyOf})


def _where(test: Callable[[Any], bool], values: Sequence[Any]) -> Array:
    """Which values a test holds for, or one of several answers."""
    return np.array([any(map(test, own.values)) if type(own) is AnyOf else test(own) for own in values], dtype=bool)


def with_numbers(tree: Any, node: SchemaNode) -> Any:
    """A reference, with numbers for texts that are numbers where the schema has a number and nothing else.

    Example:
        >>> from tls_tasks.trees.types import Branch, Leaf, ListOf
        >>> node = Branch({"a": Leaf("number"), "b": ListOf(Leaf("integer"))})
        >>> with_numbers({"a": "1,234.50", "b": ["7", "x"]}, node)
        {'a': 1234.5, 'b': [7, 'x']}
    """
    if isinstance(tree, AnyOf):
        return AnyOf([with_numbers(answer, node) for answer in tree.values])
    node = part_for(node, tree)
    if isinstance(tree, dict | list):
        values = [with_numbers(child, inner) for inner, child in children_of(node, tree)]
        return values if isinstance(tree, list) else dict(zip(tree, values, strict=True))
    return _mapped(_as_number, tree) if base_type(getattr(node, "type", "")) in ("integer", "number") else tree
