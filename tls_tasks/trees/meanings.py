"""Values that are written in another way than the reference has them, and mean the same: for the scores of values.

A number may stand in a text (``"1,234.50"``), one moment may be written in two time zones, and ``01/02/2024`` is a date
once somebody says whether the day or the month comes first. A pair of values is scored as it stands and as it is meant,
and the better score counts.
"""

import datetime
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from tls_tasks.core.reasoning import Patterns
from tls_tasks.text.dates import read_date
from tls_tasks.trees.compliance import base_type
from tls_tasks.trees.nodes import children_of
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


def reader_of_meanings(field: Field, day_month: str) -> Callable[[str], Any]:
    """Choose how texts of a leaf are read: as dates, as moments, or as numbers."""
    kind = base_type(field.type)
    if kind == "date" and day_month in ("day_first", "month_first"):
        return partial(_day, day_month)
    return partial(_moment, day_month) if kind in ("datetime", "date-time") else _as_number


def reads_numbers(field: Field, day_month: str) -> bool:
    """Whether texts of a leaf are read as numbers, not as dates."""
    return reader_of_meanings(field, day_month) is _as_number


def has_meaning(field: Field, read: Callable[[str], Any], reference: Any, prediction: Any) -> bool:
    """Whether two values may be equal in another notation; of numbers one at least is a text."""
    if read is not _as_number:
        return True
    answers = reference.values if type(reference) is AnyOf else (reference,)
    if isinstance(prediction, str):
        return any(type(answer) in (int, float) for answer in answers) and number_in(prediction) is not None
    return (
        int in field.types
        and type(prediction) in (int, float)
        and any(isinstance(answer, str) and number_in(answer) is not None for answer in answers)
    )


def meaning(read: Callable[[str], Any], value: Any) -> Any:
    """Read a text, a date as text, and each of several valid answers."""
    if isinstance(value, AnyOf):
        return AnyOf([meaning(read, answer) for answer in value.values])
    value = value.isoformat() if isinstance(value, datetime.date) else value
    return read(value) if isinstance(value, str) else value


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
    return meaning(_as_number, tree) if base_type(getattr(node, "type", "")) in ("integer", "number") else tree
