"""Check whether a value has the type of its leaf, and list the issues of a tree with its schema."""

import datetime
import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

from tls_tasks.trees.types import AnyOf, Branch, Leaf, ListOf, Path, SchemaNode, UnionNode, node_for, path_name
from tls_tasks.trees.values import resolve

ISSUE_KINDS = ("missing", "unknown", "type", "choice", "format")
"""What may not comply: a required key is absent, a key is not in the schema, a value is of another type or not among
the choices, a date is no ISO date."""


class _Issue(NamedTuple):
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


_DATES = (str, datetime.date)
_CLASSES = {"string": str, "boolean": bool, "date": _DATES, "datetime": _DATES, "object": Mapping, "null": type(None)}
_OTHER_NAMES = {
    "str": "string", "text": "string", str: "string", "int": "integer", int: "integer", "float": "number",
    float: "number", "bool": "boolean", bool: "boolean", datetime.date: "date", datetime.datetime: "datetime",
}  # fmt: skip


DATES = ("date", "datetime", "date-time")
"""The types of dates."""

TYPE_NAMES = frozenset({*_CLASSES, *_OTHER_NAMES, "integer", "number", "any", "choice", "date-time"})
"""The labels that have a meaning."""


def base_type(label: Hashable) -> Any:
    """Return the type that a label stands for: ``string`` for ``str`` and the class :class:`str`; a custom label stays.

    Example:
        >>> base_type("bool"), base_type(int), base_type("isbn")
        ('boolean', 'integer', 'isbn')
    """
    return _OTHER_NAMES.get(label, label)


def fits(value: Any, leaf: Leaf) -> bool:
    """Tell whether a value that is not null has the type of its leaf.

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
    label = base_type(leaf.type)
    kind: Any = _CLASSES.get(label, label)
    if label in ("integer", "number"):  # as in JSON Schema, 1.0 is an integer; True isn't
        return _is_number(value) and (label == "number" or isinstance(value, int) or value.is_integer())
    if label in _CLASSES or isinstance(kind, type):
        return isinstance(value, kind)
    if isinstance(label, str) and "|" in label:
        return any(fits(value, Leaf(name)) for name in label.split("|"))
    return True


def is_scalar(leaf: Leaf) -> bool:
    """Tell whether the leaf's type excludes dictionaries.

    Example:
        >>> [is_scalar(Leaf(name)) for name in ("string", "date-time", "any", "object", "isbn")]
        [True, True, False, False, False]
    """
    return leaf.type == "date-time" or not fits({}, leaf)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def plain_types(leaf: Leaf) -> frozenset[type]:
    """Return the Python types whose values all fit a leaf, so that :func:`fits` need not be called."""
    return frozenset(type(value) for value in ("", 0, 0.5, True) if fits(value, leaf))


def _same_type(value: Any, choice: Hashable) -> bool:
    if isinstance(choice, str):
        return isinstance(value, str)
    return isinstance(value, bool) if isinstance(choice, bool) else _is_number(value)


def find_issues(tree: Any, node: SchemaNode) -> list[_Issue]:
    """List the issues in which a tree does not comply with its schema; an empty list if it complies.

    Null complies everywhere but as the root: it is how a tree says that there is no value. Dates are to be ISO dates.

    Args:
        tree: A tree of plain values.
        node: Its schema.

    Returns:
        The issues in the order of the schema. What is below a value of the wrong type is not looked at.

    Example:
        >>> node = Branch({"n": Leaf("integer"), "tags": ListOf(Leaf("string"))}, frozenset({"n"}))
        >>> [str(issue) for issue in find_issues({"n": "5", "tags": ["a", 7], "x": 1}, node)]
        ['n: type: wanted integer, got str', 'tags[1]: type: wanted string, got int', 'x: unknown: not in the schema']
        >>> find_issues({"n": None}, node)
        []
    """
    return [_wrong_type((), node, None)] if tree is None else list(_issues(tree, node, ()))


def _issues(value: Any, node: SchemaNode, path: Path) -> Iterator[_Issue]:
    if value is None:
        return
    if isinstance(value, AnyOf) and resolve(node, value)[1] is not value:
        for answer in value.values:
            yield from _issues(answer, node, path)
        return
    node = node_for(node, value)
    if isinstance(node, Leaf):
        if not fits(value, node):
            yield _wrong_type(path, node, value)
        elif node.choices and not any(_same_type(value, choice) and value == choice for choice in node.choices):
            yield _Issue(path, "choice", f"none of the {len(node.choices)} choices")
        elif isinstance(value, str) and not _is_well_formed(value, base_type(node.type)):
            yield _Issue(path, "format", f"no ISO {node.type}")
    elif isinstance(node, ListOf) and isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from _issues(item, node.item, (*path, position))
    elif isinstance(node, Branch) and isinstance(value, Mapping):
        for key, child in node.children.items():
            if key in value:
                yield from _issues(value[key], child, (*path, key))
            elif key in node.required:
                yield _Issue((*path, key), "missing", "required by the schema")
        for key in [key for key in value if key not in node.children]:
            if node.rest is None:
                yield _Issue((*path, key), "unknown", "not in the schema")
            else:
                yield from _issues(value[key], node.rest.item, (*path, key))
    else:
        yield _wrong_type(path, node, value)


def reference_violations(tree: Any, node: SchemaNode) -> list[_Issue]:
    """List the issues that no reference may have: wrong types and unknown keys. Keys may be missing, choices differ."""
    return [issue for issue in find_issues(tree, node) if issue.kind in ("type", "unknown")]


def _type_words(node: Any) -> str:
    if isinstance(node, UnionNode):
        return " or ".join(map(_type_words, node.parts))
    return str(node.type) if isinstance(node, Leaf) else "a list" if isinstance(node, ListOf) else "a dictionary"


def _wrong_type(path: Path, node: SchemaNode, value: Any) -> _Issue:
    return _Issue(path, "type", f"wanted {_type_words(node)}, got {'null' if value is None else type(value).__name__}")


_ISO = re.compile(
    r"\d{4}-\d\d-\d\d([T ](?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)


def _is_well_formed(text: str, kind: Hashable) -> bool:
    """Tell whether text is an ISO date, or date and time, where the leaf is one; True for other leaves."""
    if kind not in ("date", "datetime"):
        return True
    match = _ISO.fullmatch(text)
    if match is None or (match[1] is None) != (kind == "date"):
        return False
    try:
        return bool(datetime.date.fromisoformat(text[:10]))
    except ValueError:
        return False
