"""Which value in an answer is the tree that the schema asks for, and what it has of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tls_tasks.core.json_text import unpacked
from tls_tasks.core.json_values import RepeatedKeys, folded
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
_PLACEHOLDER = re.compile(rf"(?:{'|'.join(_TYPES)}|date|float|int|bool|str)(?:\s*\|.*)?|\.\.\.|…|<[^<>]*>", re.DOTALL)
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
    """Whether a value is a schema, or an example that has types and dots for values.

    What complies with the schema that is asked for is no schema, however much it looks like one; nor is anything where
    a value of any type is asked for.

    Example:
        >>> is_echo({"type": "object", "properties": {"a": {"type": "string"}}}), is_echo({"a": {"type": "string"}})
        (True, True)
        >>> is_echo({"a": "string", "b": ["..."]}), is_echo({"a": "string", "b": 1}), is_echo({"type": "car"})
        (True, False, False)
        >>> is_echo({"field": {"type": "string"}}, Branch({"field": Branch({"type": Leaf("string")})}))
        False
    """
    if not isinstance(value, dict) or not value or isinstance(node, Leaf):
        return False
    if len(value) > 1 and all(map(_is_placeholder, value.values())):
        return True
    properties = value.get("properties")
    described = properties if isinstance(properties, dict) and properties else value
    if not all(map(_is_described, described.values())) and not all(map(_is_described, value.values())):
        return False
    return node is None or bool(complies(value, node))


def _is_described(value: Any) -> bool:
    if not isinstance(value, dict) or _SCHEMA_WORDS.keys().isdisjoint(value):
        return False
    kind = value.get("type", "object")
    is_type = kind in _TYPES if isinstance(kind, str) else True
    return is_type and all(isinstance(value[word], _SCHEMA_WORDS[word]) for word in _SCHEMA_WORDS if word in value)


def _is_placeholder(value: Any, depth: int = 0) -> bool:
    if isinstance(value, dict | list):
        inners = value.values() if isinstance(value, dict) else value
        return bool(value) and depth < _MAX_WRAPPERS and all(_is_placeholder(inner, depth + 1) for inner in inners)
    return isinstance(value, str) and bool(_PLACEHOLDER.fullmatch(value.strip()))


def _names(value: dict[str, Any], node: Branch) -> dict[str, Any]:
    """The schema's key that each key of a dictionary means; itself if it means none, or one that is there."""
    if node.children.keys() >= value.keys():
        return {key: key for key in value}
    labels = {folded(str(key)): key for key in node.children}
    meant = {key: key if key in node.children else labels.get(folded(str(key)), key) for key in value}
    taken = Counter(meant.values())
    return {key: key if taken[name] > 1 else name for key, name in meant.items()}


def joined_parts(values: Sequence[Any], node: SchemaNode | None) -> dict[str, Any] | None:
    """The one tree that several values are parts of: each has keys of the schema, and none has those of another."""
    if not isinstance(node, Branch) or not all(isinstance(value, dict) for value in values):
        return None
    pairs = [pair for value in values for pair in value.items()]
    joined = dict(pairs)
    return joined if len(joined) == len(pairs) and joined.keys() <= node.children.keys() else None


def fitted(value: Any, node: SchemaNode | None) -> Any:
    """What an outline or XML says, as the schema has it: types of scalars, names of keys, lists.

    Text stays as it is written where the schema wants text. A key may be written as a label (``Invoice number``). A
    list of items with one key each, which is how Markdown has dictionaries, becomes one.

    Example:
        >>> node = Branch({"unit_price": Leaf("number"), "paid": Leaf("boolean"), "id": Leaf("string")})
        >>> fitted([{"Unit price": Unquoted("4.50")}, {"Paid": Unquoted("no")}, {"ID": Unquoted("0117")}], node)
        {'unit_price': 4.5, 'paid': False, 'id': '0117'}
    """
    if isinstance(node, Branch):
        if isinstance(value, list) and (joined := _joined(value)) is not None:
            value = joined
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
            return [fitted(item, node.item) for item in value]
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


def _joined(items: list[Any]) -> dict[str, Any] | None:
    """The dictionary that a list of dictionaries with different keys makes up."""
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    pairs = [pair for item in items for pair in item.items()]
    return dict(pairs) if len(dict(pairs)) == len(pairs) else None


def _with_names(value: dict[str, Any], node: Branch) -> dict[str, Any]:
    pairs = value.pairs if isinstance(value, RepeatedKeys) else list(value.items())
    known = {folded(str(key)) for key in node.children}
    nested: dict[str, Any] = {}
    for key, child in pairs:
        outer, dot, inner = key.partition(".")
        if dot and inner and folded(key) not in known and folded(outer) in known:
            within = nested.get(outer)
            key, child = outer, {**(within if isinstance(within, dict) else {}), inner: child}
        nested[key] = child
    names = _names(nested, node)
    return {names[key]: fitted(child, node.children.get(names[key])) for key, child in nested.items()}


def _of_type(value: Unquoted, leaf: Leaf) -> Any:
    plain = settled(value)
    if plain is None or leaf.type in ("integer", "number", "any"):
        return plain
    if leaf.type == "boolean":
        return _YES_OR_NO.get(value.lower(), plain)
    if leaf.type == "choice":
        return plain if plain in leaf.choices else str(value)
    return str(value)


def fit(value: Any, node: SchemaNode | None) -> Any:
    """The tree of an outline or of XML: what is in its wrappers, :func:`fitted`."""
    whole = fitted(value, node)
    if looks_like(whole, node) or not isinstance(node, Branch):
        return whole
    for _ in range(_MAX_WRAPPERS):
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        elif isinstance(value, dict) and len(value) == 1:
            (value,) = value.values()
        whole_inner = fitted(value, node)
        if looks_like(whole_inner, node):
            return whole_inner
    return whole
