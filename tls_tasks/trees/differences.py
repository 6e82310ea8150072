"""Two trees node by node, lists as aligned; and the values that differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.prf import plain_mean
from tls_tasks.trees.alignments import chosen
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.meanings import as_meant
from tls_tasks.trees.pairs import Pairs
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import ANY_OF, AnyOf, Branch, ListOf, Path, Position, SchemaNode, part_for, settled

Alignments = Mapping[Path, Sequence[Sequence[int]]]
"""Path of a list in the reference -> which of its items belongs to which predicted one."""

NO_KEY = object()
"""Stands for the value of a key that a tree doesn't have."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node of two trees.

    Attributes:
        state: ``branch``: two dictionaries or lists; ``pair``: two values; ``type``: two values of different kinds;
            ``missing``, ``extra``: only the reference, only the prediction has a value; ``absent``: null in both.
        path: Where it is in the reference; of what is extra in the prediction.
        other: Where it is in the prediction.
        node: Its node in the schema; None: the schema has none.
        reference, prediction: The values; :data:`NO_KEY` where there is no key.
    """

    state: str
    path: Path
    other: Path
    node: SchemaNode | None
    reference: Any
    prediction: Any


def side_by_side(node: SchemaNode, reference: Any, prediction: Any, alignments: Alignments) -> Iterator[Node]:
    """The nodes of two trees, in the order of the schema.

    Args:
        node: Their schema.
        reference: A tree.
        prediction: A tree.
        alignments: Which items of two lists belong together; of lists that are not in it, none.
    """
    return _nodes(node, chosen(reference, alignments), prediction, (), (), alignments)


def _nodes(
    node: SchemaNode, reference: Any, prediction: Any, path: Path, other: Path, alignments: Alignments
) -> Iterator[Node]:
    if reference is None and prediction is None:
        yield Node("absent", path, other, node, None, None)
    elif reference is NO_KEY or (reference is None and prediction is not NO_KEY):
        yield from alone("extra", node, prediction, other, reference)
    elif prediction is None or prediction is NO_KEY:
        yield from alone("missing", node, reference, path, prediction)
    elif (part := part_for(node, reference)) is not part_for(node, prediction):
        yield Node("type", path, other, node, reference, prediction)
    elif isinstance(part, Branch) and isinstance(reference, dict) and isinstance(prediction, dict):
        yield Node("branch", path, other, part, reference, prediction)
        for key in dict.fromkeys([*part.children, *(reference if part.rest else ()), *prediction]):
            inner = _inner(part, key)
            left, right = reference.get(key, NO_KEY), prediction.get(key, NO_KEY)
            if inner is None:
                yield from alone("extra", None, right, (*other, key))
            elif left is not NO_KEY or right is not NO_KEY:
                yield from _nodes(inner, left, right, (*path, key), (*other, key), alignments)
    elif isinstance(part, ListOf) and isinstance(reference, list) and isinstance(prediction, list):
        yield Node("branch", path, other, part, reference, prediction)
        matches = {i: j for i, j in alignments.get(path, ())}
        for i, item in enumerate(reference):
            j, below = matches.get(i), (*path, Position(i))
            if j is None:
                yield from alone("missing", part.item, item, below)
            else:
                yield from _nodes(part.item, item, prediction[j], below, (*other, Position(j)), alignments)
        matched = set(matches.values())
        for j, item in enumerate(prediction):
            if j not in matched:
                yield from alone("extra", part.item, item, (*other, Position(j)))
    else:
        yield Node("pair" if isinstance(part, Field) else "type", path, other, part, reference, prediction)


def alone(state: str, node: SchemaNode | None, value: Any, path: Path, counterpart: Any = NO_KEY) -> Iterator[Node]:
    """The nodes of a value that only one tree has; ``counterpart``: what the other has there, null or no key."""
    if node is not None:
        node, value = settled(node, value)
    values = (value, counterpart) if state == "missing" else (counterpart, value)
    yield Node(state, path, path, node, *values)
    if not isinstance(node, Field):
        for step, child in _children(value):
            yield from alone(state, _inner(node, step), child, (*path, step))


def _children(value: Any) -> Iterator[tuple[Hashable, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((Position(index), item) for index, item in enumerate(value))


def _inner(node: SchemaNode | None, step: Hashable) -> SchemaNode | None:
    """The node below a dictionary's or list's; None: the schema has none."""
    if isinstance(node, ListOf) and type(step) is Position:
        return node.item
    if isinstance(node, Branch) and type(step) is not Position:
        return node.children.get(step, node.rest and node.rest.item)
    return None


def differences(reference: Any, prediction: Any, plan: Plan, alignments: Alignments) -> Iterator[dict[str, Any]]:
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
    for node in side_by_side(plan.root, reference, prediction, alignments):
        if node.state == "pair" and not (isinstance(node.reference, AnyOf) and not node.reference.present):
            similarity = _similarity(node, plan)
            if similarity < 1 - 1e-12:
                yield _difference(node.path, node.reference, node.prediction, "wrong", similarity)
        elif node.state in ("pair", "type"):
            for state, value, path in (("missing", node.reference, node.path), ("extra", node.prediction, node.other)):
                for inner in alone(state, node.node, value, path):
                    yield from _one_sided(inner)
        else:
            yield from _one_sided(node)


def _one_sided(node: Node) -> Iterator[dict[str, Any]]:
    if node.state not in ("missing", "extra"):
        return
    value = node.reference if node.state == "missing" else node.prediction
    is_container = isinstance(value, dict | list) and not isinstance(node.node, Field)
    if is_container or value is None or (isinstance(value, AnyOf) and value.may_be_null):
        return
    if node.state == "missing":
        yield _difference(node.path, value, None, "missed", 0.0)
    else:
        yield _difference(node.path, None, value, "invented", 0.0)


def _difference(path: Path, expected: Any, got: Any, kind: str, score: float) -> dict[str, Any]:
    if isinstance(expected, AnyOf):
        expected = {ANY_OF: list(expected.values)}
    return {"path": _json_path(path), "expected": expected, "got": got, "kind": kind, "score": score}


def _similarity(node: Node, plan: Plan) -> float:
    """The mean of the metrics of two values, as they stand or as they are meant, whichever is better."""
    field: Any = node.node
    similarity = 0.0
    if plan.options.types == "loose" or fits(node.prediction, field):
        scores = [metric.pairs([node.reference], [node.prediction])[0] for metric in field.metrics]
        pairs = zip(field.metrics, scores, strict=True)
        similarity = plain_mean([float(metric.normalize(score)) for metric, score in pairs])
    if plan.follows_treeval:
        return similarity
    pair = Pairs.aligned([node.reference], [node.prediction])
    meant = as_meant(field, pair, None, plan.options.day_month)
    return similarity if meant is None else max(similarity, float(meant[0]))


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
