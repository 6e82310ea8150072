"""Two trees node by node, lists as aligned; and the values that differ."""

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import chain, islice
from typing import Any, NamedTuple

from tls_tasks.core.terminal import shown, text_table, visible
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.counts import leaf_similarity
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import ANY_OF, AnyOf, Branch, ListOf, Path, Position, SchemaNode, node_for, path_name
from tls_tasks.trees.values import child_node, list_children, replace_children, resolve

Alignments = dict[Path, list[tuple[int, int]]]
"""Path of a list in the reference -> positions of its items and of those that they were compared with.

Where a dictionary or list has several valid answers, its path with :data:`~tls_tasks.trees.ANY_OF` behind it has
the index of the one that counts, twice.
"""


def alignments_in(reference: Any, choices: Sequence[tuple[Any, Any]]) -> Alignments:
    """Return the alignments of a reference, by path, from the choices that were recorded by identity."""
    return dict(_with_paths(reference, {id(value): choice for value, choice in choices}, ()))


def _with_paths(value: Any, choices: dict[int, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    choice = choices.get(id(value))
    if isinstance(value, AnyOf) and choice is not None:
        yield (*path, ANY_OF), [(choice, choice)]
        yield from _with_paths(value.values[choice], choices, path)
    elif isinstance(value, list) and choice:
        yield path, choice
    for step, _, child in list_children(None, value):
        yield from _with_paths(child, choices, (*path, step))


def choose_answers(value: Any, alignments: Any, path: Path = ()) -> Any:
    """Return a reference in which several answers are replaced by the one that counted.

    Example:
        >>> choose_answers({"a": AnyOf([[1], [2]]), "b": AnyOf([3, 4])}, {("a", ANY_OF): [(1, 1)]})
        {'a': [2], 'b': AnyOf(values=(3, 4))}
    """
    if isinstance(value, AnyOf) and (choice := alignments.get((*path, ANY_OF))):
        return choose_answers(value.values[choice[0][0]], alignments, path)
    inner = [choose_answers(child, alignments, (*path, step)) for step, _, child in list_children(None, value)]
    return replace_children(value, inner) if inner else value


NO_KEY = object()
"""Stands for the value of a key that a tree doesn't have."""


class Node(NamedTuple):
    """One node of two trees.

    Attributes:
        state: ``branch``: two dictionaries or lists; ``pair``: two values; ``type``: two values of different kinds;
            ``missing``, ``extra``: only the reference, only the prediction has a value; ``absent``: null in both.
        path: Where it is in the reference; of what is extra in the prediction.
        pred_path: Where it is in the prediction.
        node: Its node in the schema; None: the schema has none.
        reference, prediction: The values; :data:`NO_KEY` where there is no key.
    """

    state: str
    path: Path
    pred_path: Path
    node: SchemaNode | None
    reference: Any
    prediction: Any


def side_by_side(node: SchemaNode, reference: Any, prediction: Any, alignments: Alignments) -> Iterator[Node]:
    """Yield the nodes of two trees, in the order of the schema.

    Args:
        node: Their schema.
        reference: A tree.
        prediction: A tree.
        alignments: Which items of two lists belong together; of lists that are not in it, none.
    """
    return _nodes(node, choose_answers(reference, alignments), prediction, (), (), alignments)


def _nodes(
    node: SchemaNode, reference: Any, prediction: Any, path: Path, pred_path: Path, alignments: Alignments
) -> Iterator[Node]:
    if reference is None and prediction is None:
        yield Node("absent", path, pred_path, node, None, None)
    elif reference is NO_KEY or (reference is None and prediction is not NO_KEY):
        yield from one_sided("extra", node, prediction, pred_path, reference)
    elif prediction is None or prediction is NO_KEY:
        yield from one_sided("missing", node, reference, path, prediction)
    elif (part := node_for(node, reference)) is not node_for(node, prediction):
        yield Node("type", path, pred_path, node, reference, prediction)
    elif isinstance(part, Branch) and isinstance(reference, dict) and isinstance(prediction, dict):
        yield Node("branch", path, pred_path, part, reference, prediction)
        for key in dict.fromkeys([*part.children, *(reference if part.rest else ()), *prediction]):
            inner = child_node(part, key)
            ref, pred = reference.get(key, NO_KEY), prediction.get(key, NO_KEY)
            if inner is None:
                yield from one_sided("extra", None, pred, (*pred_path, key))
            elif ref is not NO_KEY or pred is not NO_KEY:
                yield from _nodes(inner, ref, pred, (*path, key), (*pred_path, key), alignments)
    elif isinstance(part, ListOf) and isinstance(reference, list) and isinstance(prediction, list):
        yield Node("branch", path, pred_path, part, reference, prediction)
        matches = {i: j for i, j in alignments.get(path, ())}
        for i, item in enumerate(reference):
            if i not in matches:
                yield from one_sided("missing", part.item, item, (*path, Position(i)))
                continue
            below, pred_below = (*path, Position(i)), (*pred_path, Position(matches[i]))
            yield from _nodes(part.item, item, prediction[matches[i]], below, pred_below, alignments)
        for j in sorted({*range(len(prediction))} - {*matches.values()}):
            yield from one_sided("extra", part.item, prediction[j], (*pred_path, Position(j)))
    else:
        yield Node("pair" if isinstance(part, Field) else "type", path, pred_path, part, reference, prediction)


def one_sided(state: str, node: SchemaNode | None, value: Any, path: Path, counterpart: Any = NO_KEY) -> Iterator[Node]:
    """Yield the nodes of a value that only one tree has; ``counterpart``: null or :data:`NO_KEY` in the other tree."""
    if node is not None:
        node, value = resolve(node, value)
    values = (value, counterpart) if state == "missing" else (counterpart, value)
    yield Node(state, path, path, node, *values)
    for step, inner, child in [] if isinstance(node, Field) else list_children(node, value):
        yield from one_sided(state, inner, child, (*path, step))


def is_pair(node: Node) -> bool:
    """Tell whether a node has two values; a reference of nothing but null has none."""
    return node.state == "pair" and not (isinstance(node.reference, AnyOf) and not node.reference.present)


def differences(
    reference: Any,
    prediction: Any,
    plan: Plan,
    alignments: Alignments,
    has_grounds: Callable[[Path], bool] = lambda path: True,
) -> Iterator[dict[str, Any]]:
    """Yield the values that are wrong, missed, invented or without grounds, in the order of the schema.

    Args:
        reference: A tree.
        prediction: A tree.
        plan: Their schema and the metrics of its leaves.
        alignments: Which items of lists belong together, by similarity.
        has_grounds: Whether the value at a path of the prediction has grounds.

    Returns:
        Dictionaries: ``path`` (a JSONPath; positions of invented values are the prediction's, all others the
        reference's), ``expected``, ``got``, ``kind`` (``wrong``, ``missed``, ``invented``, or ``ungrounded``: a right
        value without grounds), and ``score``: the similarity, from 0 to 1, and 0 without grounds.

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
        lone_nodes: Iterable[Node] = [node]
        if is_pair(node):
            lone_nodes, likeness = (), leaf_similarity(plan, node.node, node.reference, node.prediction)
            if likeness < 1 - 1e-12:
                yield _difference(node.path, node.reference, node.prediction, "wrong", likeness)
            elif not has_grounds(node.pred_path):
                yield _difference(node.path, node.reference, node.prediction, "ungrounded", 0.0)
        elif node.state in ("pair", "type"):
            missed = one_sided("missing", node.node, node.reference, node.path)
            lone_nodes = chain(missed, one_sided("extra", node.node, node.prediction, node.pred_path))
        for lone_node in lone_nodes:
            value = lone_node.reference if lone_node.state == "missing" else lone_node.prediction
            is_scalar = isinstance(lone_node.node, Field) or not isinstance(value, dict | list)
            may_be_null = value is None or (isinstance(value, AnyOf) and value.may_be_null)
            if lone_node.state == "missing" and is_scalar and not may_be_null:
                yield _difference(lone_node.path, value, None, "missed", 0.0)
            elif lone_node.state == "extra" and is_scalar and not may_be_null:
                yield _difference(lone_node.path, None, value, "invented", 0.0)


def _difference(path: Path, expected: Any, got: Any, kind: str, score: float) -> dict[str, Any]:
    if isinstance(expected, AnyOf):
        expected = {ANY_OF: list(expected.values)}
    return {"path": _json_path(path), "expected": expected, "got": got, "kind": kind, "score": score}


def _json_path(path: Path) -> str:
    r"""Return a path as JSONPath (RFC 9535).

    Example:
        >>> _json_path(("lines", Position(2), "unit price", "it's"))
        '$.lines[2][\'unit price\']["it\'s"]'
    """
    steps = path_name(path) if path else ""
    return f"$.{steps}" if steps and not steps.startswith("[") else f"${steps}"


_CUT = 500  # characters of a value that are looked at
MOST_ROWS = 10_000
"""Nodes of two trees that are shown, and issues with their schema: an answer may have a million, which nobody reads."""


class Row(NamedTuple):
    """One node of the two trees.

    Attributes:
        state: ``same``: the best score; ``near``: between; ``wrong``: the worst; ``type``: a value of another type;
            ``missing``, ``extra``: only in the reference, only in the prediction; ``absent``: null in both; ``branch``.
        depth: How deep it is.
        label: Its key or position.
        reference, prediction: Its values as text; empty for branches, None where there is none.
        scores: Metric -> score.
        pred_path: Where it is in the prediction.
    """

    state: str
    depth: int
    label: str
    reference: str | None = ""
    prediction: str | None = ""
    scores: Mapping[str, float] = {}
    pred_path: Path = ()


def tree_rows(reference: Any, prediction: Any, plan: Plan, alignments: Alignments) -> list[Row]:
    """List the rows of two trees for display, in the order of the schema.

    Args:
        reference: A tree.
        prediction: A tree.
        plan: Their schema and the metrics of its leaves.
        alignments: Which items of two lists belong together; of lists that are not in it, none.

    Example:
        >>> from tls_tasks.trees.tree_eval import tree_eval
        >>> gold, tree = {"name": "baroo", "city": "Ulm"}, {"name": "bar"}
        >>> (sample,) = tree_eval([tree], [gold], {"name": "string", "city": "string"}).items
        >>> for row in tree_rows(gold, tree, sample.plan, sample.alignments):
        ...     print(row.state, row.label, row.reference, row.prediction, dict(row.scores))
        near name "baroo" "bar" {'indel_ratio': 0.75}
        missing city "Ulm" None {}
    """
    nodes = [*islice(side_by_side(plan.root, reference, prediction, alignments), MOST_ROWS + 1)]
    hidden = int(isinstance(nodes[0].reference, dict) and nodes[0].state == "branch")  # two dictionaries as roots
    shown_nodes, is_loose = nodes[hidden:MOST_ROWS], plan.follows_treeval
    rows = [_row(node, len(node.path) - hidden, is_loose)._replace(pred_path=node.pred_path) for node in shown_nodes]
    more = Row("branch", 0, f"… at most {MOST_ROWS:,} rows and issues")
    return [*rows, more] if len(nodes) > MOST_ROWS else rows


def _row(node: Node, depth: int, is_loose: bool) -> Row:
    label = path_name(node.path[-1:]) if node.path else "(root)"
    if node.path and node.path[-1] != node.pred_path[-1]:
        label += f" ~ {path_name(node.pred_path[-1:])}"
    texts = _text(node, node.reference), _text(node, node.prediction)
    if node.state != "pair":
        return Row(node.state, depth, label, *texts)
    field: Any = node.node
    is_other, scores = not fits(node.prediction, field), {}
    for metric in field.metrics:
        is_scored = is_loose or not is_other
        scores[metric.name] = float(metric.pairs([node.reference], [node.prediction])[0]) if is_scored else metric.worst
    extremes = {"same": [metric.best for metric in field.metrics], "wrong": [metric.worst for metric in field.metrics]}
    states = (name for name, end in extremes.items() if end == [*scores.values()])
    state = "type" if is_other else next(states, "near")
    return Row(state, depth, label, *texts, scores)


def _text(node: Node, value: Any) -> str | None:
    """Return a value as a row shows it: a list by its length, a dictionary as nothing where its content has rows."""
    if value is NO_KEY:
        return None
    if node.state == "branch" or (node.state in ("missing", "extra") and value and not isinstance(node.node, Field)):
        if isinstance(value, dict):
            return ""
        if isinstance(value, list):
            return "1 item" if len(value) == 1 else f"{len(value)} items"
    return _value_text(value)


def _value_text(value: Any) -> str:
    r"""Return a value as JSON where JSON has it, on one line, safe to show and cut to a length.

    Example:
        >>> print(_value_text("a\x1b[31m"), _value_text(True), _value_text(AnyOf(["a", None])), _value_text({"b": [1]}))
        "a\x1b[31m" true "a" or null {"b": [1]}
    """
    if isinstance(value, AnyOf):
        return " or ".join(map(_value_text, value.values))
    if isinstance(value, str):
        return f'"{visible(value[:_CUT])}"'
    if isinstance(value, datetime.date):
        return value.isoformat()
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys that JSON doesn't have; an integer of too many digits
        text = f"({type(value).__name__})"
    return visible(text[:_CUT])


_SIGNS = json.loads(resources.files("tls_tasks.trees").joinpath("signs.json").read_text("utf-8"))
"""State of a node -> its sign, what it means."""

_LONGEST_CELL = 40  # characters of a table cell; longer text is cut


def table_lines(rows: Sequence[Row]) -> list[str]:
    r"""Return lines of text: a table of sign and key, reference, prediction and scores; an empty line; a legend.

    Example:
        >>> *table, _, legend = table_lines([Row("branch", 0, "seller"), Row("missing", 1, "city", '"Ulm"', None)])
        >>> print(*table, sep="\n")
          key     reference  prediction
          seller
        -   city  "Ulm"
        >>> legend
        '- only in the reference'
    """
    cells = [("  key", "reference", "prediction", "")]
    for row in rows:
        texts = f"{_SIGNS[row.state][0]} {'  ' * row.depth}{row.label}", row.reference or "", row.prediction or ""
        label, reference, prediction = (shown(text, _LONGEST_CELL) for text in texts)
        scores = [f"{key} {score:.2f}" if len(row.scores) > 1 else f"{score:.2f}" for key, score in row.scores.items()]
        cells.append((label, reference, prediction, " ".join(scores)))
    states = {row.state for row in rows}
    legend = (f"{sign} {meaning}" for state, (sign, meaning) in _SIGNS.items() if meaning and state in states)
    return [*text_table(cells).split("\n"), "", "   ".join(legend)]
