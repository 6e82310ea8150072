"""Normalise values that are written in another way than the reference and mean the same: for the scores of values.

A number may stand in a text (``"1,234.50"``), one moment may be written in two time zones, and ``01/02/2024`` is a date
once somebody says whether the day or the month comes first. A pair of values is scored as it stands and normalised, and
the better score counts.
"""

import datetime
from collections.abc import Callable
from functools import partial
from typing import Any

from tls_tasks.text.moments import read_moment
from tls_tasks.text.numbers import read_number
from tls_tasks.trees.compliance import DATES, base_type
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import AnyOf, Leaf, Path, SchemaNode, node_for, path_name
from tls_tasks.trees.values import list_children, replace_children


def _read_number(text: str) -> int | float | str:
    number = read_number(text)
    return text if number is None else number


def _moment(day_month: str, has_time: bool, text: str) -> str:
    return read_moment(text, day_month, has_time) or text


def value_reader(field: Field, day_month: str) -> Callable[[str], Any]:
    """Return the function that reads texts of this leaf: as dates, as moments, or as numbers."""
    kind = base_type(field.type)
    return partial(_moment, day_month, kind != "date") if kind in DATES else _read_number


def reads_numbers(field: Field, day_month: str) -> bool:
    """Tell whether texts of a leaf are read as numbers, not as dates."""
    return value_reader(field, day_month) is _read_number


def needs_normalization(field: Field, read: Callable[[str], Any], reference: Any, prediction: Any) -> bool:
    """Tell whether two values may be equal in another notation; of numbers one at least is a text."""
    if read is not _read_number:
        return bool(normalized(read, reference) != reference or normalized(read, prediction) != prediction)
    answers = reference.values if type(reference) is AnyOf else (reference,)
    if isinstance(prediction, str):
        return any(type(answer) in (int, float) for answer in answers) and read_number(prediction) is not None
    return (
        int in field.types
        and type(prediction) in (int, float)
        and any(isinstance(answer, str) and read_number(answer) is not None for answer in answers)
    )


def normalized(read: Callable[[str], Any], value: Any) -> Any:
    """Return a value with its text read by ``read``; a date is read as its ISO text, each of several answers alone."""
    if isinstance(value, AnyOf):
        return AnyOf([normalized(read, answer) for answer in value.values])
    value = value.isoformat() if isinstance(value, datetime.date) else value
    return read(value) if isinstance(value, str) else value


def parse_numbers(tree: Any, node: SchemaNode) -> Any:
    """Return a reference with numbers for numeric texts, where the schema has a number and nothing else.

    Example:
        >>> from tls_tasks.trees.types import Branch, Leaf, ListOf
        >>> node = Branch({"a": Leaf("number"), "b": ListOf(Leaf("integer"))})
        >>> parse_numbers({"a": "1,234.50", "b": ["7", "x"]}, node)
        {'a': 1234.5, 'b': [7, 'x']}
    """
    if isinstance(tree, AnyOf):
        return AnyOf([parse_numbers(answer, node) for answer in tree.values])
    node = node_for(node, tree)
    if isinstance(tree, dict | list):
        return replace_children(tree, [parse_numbers(child, inner) for _, inner, child in list_children(node, tree)])
    return normalized(_read_number, tree) if base_type(getattr(node, "type", "")) in ("integer", "number") else tree


EXPECTED_DATE = "a date with one reading, such as 2024-05-03, or day_month='day_first' or 'month_first'"


def unread_dates(tree: Any, node: SchemaNode, day_month: str = "", path: Path = ()) -> list[str]:
    """List the texts of a reference that should be dates and can't be read, each with its path.

    Example:
        >>> from tls_tasks.trees.types import Branch, Leaf
        >>> unread_dates({"due": "03/05/2024", "paid": "3.5.2024"}, Branch({"due": Leaf("date"), "paid": Leaf("date")}))
        ["due: '03/05/2024'"]
    """
    if isinstance(tree, AnyOf):
        return [text for answer in tree.values for text in unread_dates(answer, node, day_month, path)]
    node = node_for(node, tree)
    if isinstance(tree, str):
        is_date = isinstance(node, Leaf) and base_type(node.type) in DATES
        return [f"{path_name(path)}: {tree!r}"] if is_date and read_moment(tree, day_month) is None else []
    children = [(child, inner, day_month, (*path, step)) for step, inner, child in list_children(node, tree) if inner]
    return [text for child in children for text in unread_dates(*child)]
