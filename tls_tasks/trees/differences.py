"""What differs between two trees, value by value, where the items of lists are aligned by similarity."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.sums import plain_mean
from tls_tasks.trees.alignments import chosen
from tls_tasks.trees.meanings import as_meant
from tls_tasks.trees.nodes import MAYBE, NULL, VALUE, WRONG, state_of
from tls_tasks.trees.pairs import Operands
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, Path, Position, SchemaNode, part_for, settled

_Alignments = Mapping[Path, Sequence[tuple[int, int]]]

_Found = tuple[Path, Any, Any, str, float]
"""Where, what was expected, what was there, its kind, its similarity."""


def differences(reference: Any, prediction: Any, plan: Plan, alignments: _Alignments) -> Iterator[dict[str, Any]]:
    """The values that are wrong, missed or invented, in the order of the schema.

    Args:
        reference: A tree.
        prediction: A tree.
        plan: Their schema and the metrics of its leaves.
        alignments: Which items of lists belong together, by similarity.

    Returns:
        Dictionaries: ``path`` (a JSONPath; positions of invented values are the prediction's, all others the
        reference's), ``expected``, ``got``, ``kind`` (``wrong``, ``missed``, ``invented``), and ``score``: the
        similarity, from 0 to 1.

    Example:
        >>> from tls_tasks.trees.tree_eval import tree_eval
        >>> score = tree_eval([{"a": "bar", "c": 1}], [{"a": "baroo", "b": 2}], {"a": "string", "b": "integer"})
        >>> for found in score.differences():
        ...     print(*found.values())
        0 $.a baroo bar wrong 0.75
        0 $.b 2 None missed 0.0
        0 $.c None 1 invented 0.0
    """
    walk = _Differences(alignments, plan.options.types == "loose", plan)
    reference = chosen(reference, alignments)
    for path, expected, got, kind, similarity in walk.node(plan.root, reference, prediction, (), ()):
        yield {"path": _json_path(path), "expected": _plain(expected), "got": got, "kind": kind, "score": similarity}


@dataclass(frozen=True, slots=True)
class _Differences:
    alignments: _Alignments
    is_loose: bool
    plan: Plan

    def node(self, node: SchemaNode | None, one: Any, other: Any, path: Path, there: Path) -> Iterator[_Found]:
        """Of a node; ``path`` has the positions of the reference, ``there`` those of the prediction."""
        one_part, node = node and part_for(node, one), node and part_for(node, other)
        if one_part is not node:  # values of two kinds; null is no value of any
            yield from _alone(one_part, one, path, "missed")
            yield from _alone(node, other, there, "invented")
        elif isinstance(node, Field):
            yield from self._leaf(node, one, other, path, there)
        elif isinstance(node, Branch) and isinstance(one, dict) and isinstance(other, dict):
            for key in dict.fromkeys([*node.children, *(one if node.rest else ()), *other]):
                inner = _inner(node, key)
                yield from self.node(inner, one.get(key), other.get(key), (*path, key), (*there, key))
        elif isinstance(node, ListOf) and isinstance(one, list) and isinstance(other, list):
            pairs = dict(self.alignments.get(path, ()))
            for i, item in enumerate(one):
                j = pairs.get(i)
                place = (*path, Position(i))
                if j is None:
                    yield from _alone(node.item, item, place, "missed")
                else:
                    yield from self.node(node.item, item, other[j], place, (*there, Position(j)))
            found = set(pairs.values())
            for j, item in enumerate(other):
                if j not in found:
                    yield from _alone(node.item, item, (*there, Position(j)), "invented")
        else:
            yield from _alone(node, one, path, "missed")
            yield from _alone(node, other, there, "invented")

    def _leaf(self, node: Field, one: Any, other: Any, path: Path, there: Path) -> Iterator[_Found]:
        left, right = state_of(node, one, self.is_loose), state_of(node, other, self.is_loose)
        has_right = right in (VALUE, WRONG)
        if left == NULL or (left == MAYBE and not has_right):
            yield from _alone(node, other, there, "invented")
        elif not has_right:
            yield path, one, None, "missed", 0.0
        else:
            similarity = 0.0
            if right == VALUE:
                scores = [float(metric.normalize(metric.pairs([one], [other])[0])) for metric in node.metrics]
                similarity = plain_mean(scores)
            if not self.plan.follows_treeval:
                pair = Operands.aligned([one], [other])
                meant = as_meant(node, pair, None, self.plan.options.day_month)
                similarity = similarity if meant is None else max(similarity, float(meant[0]))
            if similarity < 1 - 1e-12:
                yield path, one, other, "wrong", similarity


def _inner(node: Branch, key: Hashable) -> SchemaNode | None:
    """What the schema has at a key of a dictionary; None: nothing."""
    return node.children.get(key, node.rest and node.rest.item)


def _alone(node: SchemaNode | None, value: Any, path: Path, kind: str) -> Iterator[_Found]:
    """The values of one side alone."""
    if node is not None:
        node, value = settled(node, value)
    if value is None or (isinstance(value, AnyOf) and value.may_be_null):
        return
    if not isinstance(node, Field) and isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else ((Position(i), item) for i, item in enumerate(value))
        for key, child in items:
            inner = node.item if isinstance(node, ListOf) and isinstance(value, list) else None
            if isinstance(node, Branch) and isinstance(value, dict):
                inner = _inner(node, key)
            yield from _alone(inner, child, (*path, key), kind)
        return
    yield (path, value, None, kind, 0.0) if kind == "missed" else (path, None, value, kind, 0.0)


def _plain(value: Any) -> Any:
    """Of several valid answers all, as a reference in JSON has them."""
    from tls_tasks.trees.rows import as_plain

    return as_plain(value) if isinstance(value, AnyOf) else value


def _json_path(path: Path) -> str:
    r"""A path as JSONPath (RFC 9535) has it.

    Example:
        >>> _json_path(("lines", Position(2), "unit price", "it's"))
        "$.lines[2]['unit price']['it\\'s']"
    """
    steps = "$"
    for step in path:
        if type(step) is Position:
            steps += f"[{int(step)}]"
        elif isinstance(step, str) and step.isidentifier():
            steps += f".{step}"
        else:
            text = str(step).replace("\\", "\\\\").replace("'", "\\'")
            steps += f"['{text}']"
    return steps
