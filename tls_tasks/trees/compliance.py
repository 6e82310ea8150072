"""Whether a value has the type of its leaf, and what in a tree does not comply with its schema."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from tls_tasks.trees.types import AnyOf, Branch, Leaf, ListOf, OneOf, Path, SchemaNode, part_for, path_name, settled

ISSUE_KINDS = ("missing", "unknown", "type", "choice", "format")
"""What may not comply: a required key is absent, a key is not in the schema, a value is of another type or not among
the choices, a date is no ISO date."""


@dataclass(frozen=True, slots=True)
class _Issue:
    """One thing in which a tree does not comply with its schema.

    Attributes:
        path: Where: keys and positions.
        kind: One of :data:`ISSUE_KINDS`.
        detail: For people: what was wanted, what was there.

    Example:
        >>> str(_Issue(("lines", 0, "price"), "type", "wanted number, got str"))
        'lines[0].price: type: wanted number, got str'
    """

    path: Path
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{path_name(self.path)}: {self.kind}: {self.detail}"


def _is_integer(value: Any) -> bool:
    """As in JSON Schema, 1.0 is an integer; True isn't."""
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[Hashable, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "date": lambda value: isinstance(value, str | datetime.date),
    "datetime": lambda value: isinstance(value, str | datetime.date),
    "object": lambda value: isinstance(value, Mapping),
    "null": lambda value: value is None,
}
_OTHER_NAMES = {
    "str": "string", "text": "string", str: "string",
    "int": "integer", int: "integer",
    "float": "number", float: "number",
    "bool": "boolean", bool: "boolean",
    datetime.date: "date", datetime.datetime: "datetime",
}  # fmt: skip


def base_type(label: Hashable) -> Hashable:
    """The type that a label stands for: ``string`` for ``str`` and the class :class:`str`; a custom label stays.

    Example:
        >>> base_type("bool"), base_type(int), base_type("isbn")
        ('boolean', 'integer', 'isbn')
    """
    return _OTHER_NAMES.get(label, label)


def fits(value: Any, leaf: Leaf) -> bool:
    """Whether a value that is not null has the type of its leaf.

    Numbers and booleans differ (``True`` is no integer), text is never a number, ``1.0`` is an integer. A choice fits
    if its type is that of a choice, whether or not it is one of them. Custom labels and ``any`` take every value; a
    class as label takes its instances. Of an :class:`~tls_tasks.trees.types.AnyOf` each answer must fit.

    Example:
        >>> fits("5", Leaf("integer")), fits(True, Leaf("integer")), fits(5, Leaf("number")), fits([], Leaf("isbn"))
        (False, False, True, True)
        >>> fits("purple", Leaf("choice", ("red", "green"))), fits(7, Leaf("choice", ("red", "green")))
        (True, False)
    """
    if isinstance(value, AnyOf):
        return all(fits(answer, leaf) for answer in value.present)
    if leaf.choices:
        return any(_same_type(value, choice) for choice in leaf.choices)
    test = _TYPES.get(base_type(leaf.type))
    if test is not None:
        return test(value)
    if isinstance(leaf.type, type):
        return isinstance(value, leaf.type)
    if isinstance(leaf.type, str) and "|" in leaf.type:
        return any(fits(value, Leaf(name)) for name in leaf.type.split("|"))
    return True


def plain_types(leaf: Leaf) -> frozenset[type]:
    """Types whose values all fit a leaf, so that :func:`fits` need not be asked."""
    return frozenset(type(value) for value in ("", 0, 0.5, True) if fits(value, leaf))


def _same_type(value: Any, choice: Hashable) -> bool:
    if isinstance(choice, str):
        return isinstance(value, str)
    return isinstance(value, bool) if isinstance(choice, bool) else _is_number(value)


def complies(tree: Any, node: SchemaNode) -> list[_Issue]:
    """What in a tree does not comply with its schema; nothing if it does.

    Null complies everywhere but as the root: it is how a tree says that there is no value. Dates are to be ISO dates.

    Args:
        tree: A tree of plain values.
        node: Its schema.

    Returns:
        The issues in the order of the schema. What is below a value of the wrong type is not looked at.

    Example:
        >>> node = Branch({"n": Leaf("integer"), "tags": ListOf(Leaf("string"))}, frozenset({"n"}))
        >>> [str(issue) for issue in complies({"n": "5", "tags": ["a", 7], "x": 1}, node)]
        ['n: type: wanted integer, got str', 'tags[1]: type: wanted string, got int', 'x: unknown: not in the schema']
        >>> complies({"n": None}, node)
        []
    """
    if tree is None:
        return [_wrong_type((), node, None)]
    issues: list[_Issue] = []
    _check(tree, node, (), issues)
    return issues


def _check(value: Any, node: SchemaNode, path: Path, issues: list[_Issue]) -> None:
    if value is None:
        return
    if isinstance(value, AnyOf) and settled(node, value)[1] is not value:
        for answer in value.values:
            _check(answer, node, path, issues)
        return
    node = part_for(node, value)
    if isinstance(node, Leaf):
        if not fits(value, node):
            issues.append(_wrong_type(path, node, value))
        elif node.choices and not any(_same_type(value, choice) and value == choice for choice in node.choices):
            issues.append(_Issue(path, "choice", f"none of the {len(node.choices)} choices"))
        elif isinstance(value, str) and not _is_well_formed(value, base_type(node.type)):
            issues.append(_Issue(path, "format", f"no ISO {node.type}"))
    elif isinstance(node, ListOf) and isinstance(value, list | tuple):
        for position, item in enumerate(value):
            _check(item, node.item, (*path, position), issues)
    elif isinstance(node, Branch) and isinstance(value, Mapping):
        for key, child in node.children.items():
            if key in value:
                _check(value[key], child, (*path, key), issues)
            elif key in node.required:
                issues.append(_Issue((*path, key), "missing", "required by the schema"))
        unknown = [key for key in value if key not in node.children]
        if node.rest is not None:
            for key in unknown:
                _check(value[key], node.rest.item, (*path, key), issues)
            return
        issues += [_Issue((*path, key), "unknown", "not in the schema") for key in unknown]
    else:
        issues.append(_wrong_type(path, node, value))


def slips(tree: Any, node: SchemaNode) -> list[_Issue]:
    """What no reference may have: values of other types, unknown keys. Keys may be missing, and choices be others."""
    return [issue for issue in complies(tree, node) if issue.kind in ("type", "unknown")]


def _wanted(node: SchemaNode) -> str:
    if isinstance(node, OneOf):
        return " or ".join(map(_wanted, node.parts))
    if isinstance(node, Leaf):
        return str(node.type)
    return "a list" if isinstance(node, ListOf) else "a dictionary"


def _wrong_type(path: Path, node: SchemaNode, value: Any) -> _Issue:
    return _Issue(path, "type", f"wanted {_wanted(node)}, got {'null' if value is None else type(value).__name__}")


_ISO = re.compile(
    r"\d{4}-\d\d-\d\d([T ](?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)


def _is_well_formed(text: str, kind: Hashable) -> bool:
    """Whether text is an ISO date or date and time where the leaf is one."""
    if kind not in ("date", "datetime"):
        return True
    match = _ISO.fullmatch(text)
    if match is None or (match[1] is None) != (kind == "date"):
        return False
    try:
        return bool(datetime.date.fromisoformat(text[:10]))
    except ValueError:
        return False
