"""Which value in an answer is the tree that the schema asks for, and what it has of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tls_tasks.core.json_text import unpacked
from tls_tasks.core.parsed import folded
from tls_tasks.core.yaml_text import Unquoted, settled
from tls_tasks.trees.compliance import complies
from tls_tasks.trees.types import Branch, Leaf, ListOf, SchemaNode

_MAX_WRAPPERS = 4  # levels of wrappers in which a tree is looked for
_MAX_WRAPPED = 100  # values of wrappers that are looked at

_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
_SCHEMA_WORDS: dict[str, Any] = {
    **dict.fromkeys(["anyOf", "oneOf", "allOf", "enum"], list),
    **dict.fromkeys(["items", "properties"], dict),
    **{"type": str | list, "$ref": str, "const": object},
}
_NOTHING = ("", "[]", "-", "–", "—", "none", "None", "N/A", "n/a")
_YES_OR_NO = {"yes": True, "no": False, "on": True, "off": False, "true": True, "false": False}


def looks_like(value: Any, node: SchemaNode | None) -> bool:
    """Whether a value has the shape of the schema's root: a key in common, or both are lists."""
    if isinstance(node, Branch):
        return isinstance(value, dict) and not node.children.keys().isdisjoint(value)
    return isinstance(value, list) if isinstance(node, ListOf) else True


def unwrapped(value: Any, node: SchemaNode | None) -> Any:
    """The one dictionary in a value that has the schema's keys, if the value itself hasn't; otherwise the value.

    A wrapper is a dictionary (``{"result": …}``, ``{"name": "extract", "arguments": …}``) or a list of one item. Its
    keys are not the schema's, but for those that what is in it has, too. If two in it would do, none is taken; nor does
    a schema that allows other keys have a wrapper around what complies with it.

    Example:
        >>> node = Branch({"a": Leaf("string"), "name": Leaf("string")})
        >>> unwrapped({"name": "extract", "arguments": {"a": "x", "name": "y"}}, node)
        {'a': 'x', 'name': 'y'}
        >>> unwrapped({"results": [{"a": "x"}, {"a": "y"}]}, node)
        {'results': [{'a': 'x'}, {'a': 'y'}]}
    """
    if not isinstance(node, Branch) or not isinstance(value, dict | list):
        return value
    wanted = node.children.keys()
    own = wanted & value.keys() if isinstance(value, dict) else set()
    if isinstance(value, dict) and (len(own) == len(value) or (node.rest is not None and not complies(value, node))):
        return value
    found = [(len(wanted & inner.keys()), inner) for inner in _inside(value, node) if own < wanted & inner.keys()]
    most = max((n_keys for n_keys, _ in found), default=0)
    best = [inner for n_keys, inner in found if n_keys == most]
    return best[0] if len(best) == 1 else value


def _inside(value: Any, node: Branch, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The dictionaries within a wrapper, but not those within the schema's own keys."""
    if depth == _MAX_WRAPPERS or len(value) > _MAX_WRAPPED:
        return
    inners = value if isinstance(value, list) else (value[key] for key in value if key not in node.children)
    for packed in inners:
        inner = unpacked(packed) if isinstance(packed, str) else packed
        if isinstance(inner, dict):
            yield inner
        if isinstance(inner, dict | list):
            yield from _inside(inner, node, depth + 1)


def is_echo(value: Any, node: SchemaNode | None = None) -> bool:
    """Whether a value is a schema, of an object or of each of its keys.

    What complies with the schema that is asked for is no schema, however much it looks like one; nor is anything where
    a value of any type is asked for.

    Example:
        >>> is_echo({"type": "object", "properties": {"a": {"type": "string"}}}), is_echo({"a": {"type": "string"}})
        (True, True)
        >>> is_echo({"a": "string", "b": 1}), is_echo({"type": "car"})
        (False, False)
        >>> is_echo({"field": {"type": "string"}}, Branch({"field": Branch({"type": Leaf("string")})}))
        False
    """
    if not isinstance(value, dict) or not value or isinstance(node, Leaf):
        return False
    properties = value.get("properties")
    described = properties if isinstance(properties, dict) and properties else value
    if not all(map(_is_schema, described.values())) and not all(map(_is_schema, value.values())):
        return False
    return node is None or bool(complies(value, node))


def _is_schema(value: Any) -> bool:
    if not isinstance(value, dict) or _SCHEMA_WORDS.keys().isdisjoint(value):
        return False
    kind = value.get("type", "object")
    is_type = kind in _TYPES if isinstance(kind, str) else True
    return is_type and all(isinstance(value[word], _SCHEMA_WORDS[word]) for word in _SCHEMA_WORDS if word in value)


def fit(value: Any, node: SchemaNode | None) -> Any:
    """The tree of an outline: what is in its wrappers, as the schema has it: types of scalars, names of keys, lists.

    Text stays as it is written where the schema wants text. A key may be written as a label (``Invoice number``) or as
    a path (``home.city``). A list of items with one key each, which is how Markdown has dictionaries, becomes one.

    Example:
        >>> node = Branch({"unit_price": Leaf("number"), "paid": Leaf("boolean"), "id": Leaf("string")})
        >>> fit([{"Unit price": Unquoted("4.50")}, {"Paid": Unquoted("no")}, {"ID": Unquoted("0117")}], node)
        {'unit_price': 4.5, 'paid': False, 'id': '0117'}
    """
    return _fitted(unwrapped(value, node), node)


def _fitted(value: Any, node: SchemaNode | None) -> Any:
    if isinstance(node, Branch):
        if isinstance(value, list):
            value = _joined(value)
        if isinstance(value, dict):
            return _with_names(value, node)
    elif isinstance(node, ListOf):
        is_item = isinstance(node.item, Branch) and looks_like(value, node.item)
        if isinstance(value, dict) and len(value) == 1 and not is_item:
            (value,) = value.values()
            value = value if isinstance(value, list) else [value]
        if isinstance(value, Unquoted) and isinstance(node.item, Leaf):
            value = _listed(value)
        if isinstance(value, list):
            return [_fitted(item, node.item) for item in value]
    elif isinstance(node, Leaf) and isinstance(value, Unquoted):
        return _of_type(value, node)
    return settled(value)


def _listed(text: Unquoted) -> Any:
    """The items that a scalar lists where a list is wanted: ``a, b``, ``a; b``, ``[a, b]``, one, or none."""
    if settled(text) is None or text in _NOTHING:
        return []
    inner = text[1:-1] if text[0] + text[-1] == "[]" else text
    parts = re.split(";|<br ?/?>" if re.search(";|<br", inner) else ",", inner)
    return [Unquoted(part.strip().strip("\"'")) for part in parts if part.strip()]


def _joined(items: list[Any]) -> Any:
    """The dictionary that a list of dictionaries with different keys makes up; otherwise the list."""
    pairs = [pair for item in items if isinstance(item, dict) for pair in item.items()]
    is_one = all(isinstance(item, dict) for item in items) and len(dict(pairs)) == len(pairs) > 0
    return dict(pairs) if is_one else items


def _with_names(value: dict[str, Any], node: Branch) -> dict[str, Any]:
    """A dictionary with the schema's keys in place of labels and paths."""
    labels = {folded(str(key)): key for key in node.children}
    named: dict[Any, Any] = {}
    for key, child in _nested(value, labels).items():
        name = key if key in node.children else labels.get(folded(key), key)
        named[key if name in value else name] = child
    return {key: _fitted(child, node.children.get(key)) for key, child in named.items()}


def _nested(value: dict[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
    """A dictionary with nested ones in place of paths as keys."""
    nested: dict[str, Any] = {}
    for key, child in value.items():
        outer, _, inner = key.partition(".")
        if inner and folded(key) not in labels and folded(outer) in labels:
            within = nested.get(outer)
            nested[outer] = {**(within if isinstance(within, dict) else {}), inner: child}
        else:
            nested[key] = child
    return nested


def _of_type(value: Unquoted, leaf: Leaf) -> Any:
    meaning = settled(value)
    if meaning is None or leaf.type in ("integer", "number", "any"):
        return meaning
    if leaf.type == "boolean":
        return _YES_OR_NO.get(value.lower(), meaning)
    return meaning if leaf.type == "choice" and meaning in leaf.choices else str(value)
