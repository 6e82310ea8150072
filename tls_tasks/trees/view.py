"""Two trees side by side: a row for each node with its values and scores, missing and extra nodes, lists as aligned.

Nothing of a model's text that a terminal might obey gets into a row.
"""

from __future__ import annotations

import datetime
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tls_tasks.core.score import without_nan
from tls_tasks.core.terminal import shown, visible
from tls_tasks.core.text_table import text_table
from tls_tasks.trees.alignments import chosen
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.read import parse_tree
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import AnyOf, Branch, ListOf, Path, Position, SchemaNode, part_for, path_name

_Alignments = Mapping[Path, Sequence[Sequence[int]]]
"""Path of a list in the reference -> which of its items belongs to which predicted one."""

_CUT = 500  # characters of a value that are looked at

_LONGEST_SOURCE = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Row:
    """One node of the two trees.

    Attributes:
        state: ``same``: the best score; ``near``: between; ``wrong``: the worst; ``type``: a value of another type;
            ``missing``, ``extra``: only in the reference, only in the prediction; ``absent``: null in both; ``branch``.
        depth: How deep it is.
        label: Its key or position.
        reference, prediction: Its values as text; empty for branches, None where there is none.
        scores: Metric -> score.
    """

    state: str
    depth: int
    label: str
    reference: str | None = ""
    prediction: str | None = ""
    scores: Mapping[str, float] = field(default_factory=dict)


def compare(reference: Any, prediction: Any, plan: Plan, alignments: _Alignments) -> list[Row]:
    """The rows of two trees, in the order of the schema.

    Args:
        reference: A tree.
        prediction: A tree.
        plan: Their schema and the metrics of its leaves.
        alignments: Which items of two lists belong together; of lists that are not in it, none.

    Example:
        >>> from tls_tasks.trees.tree_eval import tree_eval
        >>> gold, tree = {"name": "baroo", "city": "Ulm"}, {"name": "bar"}
        >>> (sample,) = tree_eval([tree], [gold], {"name": "string", "city": "string"}).items
        >>> for row in compare(gold, tree, sample.plan, sample.alignments):
        ...     print(row.state, row.label, row.reference, row.prediction, dict(row.scores))
        near name "baroo" "bar" {'indel_ratio': 0.75}
        missing city "Ulm" None {}
    """
    comparison = _Comparison(alignments, plan.options.types == "loose")
    return list(comparison.node(chosen(reference, alignments), prediction, plan.root, (), 0, "(root)"))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The rows of nodes that both trees have; a path is the reference's, with positions."""

    alignments: _Alignments
    is_loose: bool

    def node(
        self, reference: Any, prediction: Any, node: SchemaNode, path: Path, depth: int, label: str
    ) -> Iterator[Row]:
        node = part_for(node, reference)
        if isinstance(node, Branch) and isinstance(reference, dict) and isinstance(prediction, dict):
            if path:
                yield Row("branch", depth, label)
            yield from self._children(reference, prediction, node, path, depth + bool(path))
        elif isinstance(node, ListOf) and isinstance(reference, list) and isinstance(prediction, list):
            yield Row("branch", depth, label, _count(reference), _count(prediction))
            yield from self._items(reference, prediction, node, path, depth + 1)
        elif reference is None and prediction is None:
            yield Row("absent", depth, label, "null", "null")
        elif reference is None:
            yield from _one_sided("extra", prediction, depth, label, "null")
        elif prediction is None:
            yield from _one_sided("missing", reference, depth, label, "null")
        else:
            yield self._leaf(reference, prediction, node, depth, label)

    def _children(self, reference: Any, prediction: Any, node: Branch, path: Path, depth: int) -> Iterator[Row]:
        children = dict(node.children)
        if node.rest is not None:
            children |= dict.fromkeys([key for key in [*reference, *prediction] if key not in children], node.rest.item)
        for key, child in children.items():
            label = path_name((key,))
            if key in reference and key in prediction:
                yield from self.node(reference[key], prediction[key], child, (*path, key), depth, label)
            elif key in reference:
                yield from _one_sided("missing", reference[key], depth, label)
            elif key in prediction:
                yield from _one_sided("extra", prediction[key], depth, label)
        for key in prediction:
            if key not in children:  # extra even if the reference has it, which only types="loose" lets through
                yield from _one_sided("extra", prediction[key], depth, path_name((key,)))

    def _items(self, reference: Any, prediction: Any, node: ListOf, path: Path, depth: int) -> Iterator[Row]:
        pairs = {place: other for place, other in self.alignments.get(path, ())}
        for place, item in enumerate(reference):
            if place in pairs:
                other = pairs[place]
                label = f"[{place}]" if place == other else f"[{place}] ~ [{other}]"
                yield from self.node(item, prediction[other], node.item, (*path, Position(place)), depth, label)
            else:
                yield from _one_sided("missing", item, depth, f"[{place}]")
        found = set(pairs.values())
        for place, item in enumerate(prediction):
            if place not in found:
                yield from _one_sided("extra", item, depth, f"[{place}]")

    def _leaf(self, reference: Any, prediction: Any, node: SchemaNode, depth: int, label: str) -> Row:
        texts = _value_text(reference), _value_text(prediction)
        if not isinstance(node, Field):
            return Row("type", depth, label, *texts)
        is_other = not fits(prediction, node)
        scores = {
            metric.name: metric.worst
            if is_other and not self.is_loose
            else float(metric.pairs([reference], [prediction])[0])
            for metric in node.metrics
        }
        state = "near"
        if is_other:
            state = "type"
        elif all(scores[metric.name] == metric.best for metric in node.metrics):
            state = "same"
        elif all(scores[metric.name] == metric.worst for metric in node.metrics):
            state = "wrong"
        return Row(state, depth, label, *texts, scores)


def _one_sided(state: str, value: Any, depth: int, label: str, other: str | None = None) -> Iterator[Row]:
    """The rows of a node that only one of the trees has; ``other``: what the other one has.

    Example:
        >>> [(row.label, row.reference, row.prediction) for row in _one_sided("extra", {"a": [1, 2]}, 0, "x")]
        [('x', None, ''), ('a', None, '2 items'), ('[0]', None, '1'), ('[1]', None, '2')]
    """
    children: Sequence[tuple[Any, Any]] = []
    if isinstance(value, dict) and value:
        children, text = list(value.items()), ""
    elif isinstance(value, list) and value:
        children, text = list(enumerate(value)), _count(value)
    else:
        text = _value_text(value)
    yield Row(state, depth, label, *((text, other) if state == "missing" else (other, text)))
    for key, child in children:
        yield from _one_sided(state, child, depth + 1, path_name((key,)))


def _count(items: Sequence[Any]) -> str:
    return "1 item" if len(items) == 1 else f"{len(items)} items"


def _value_text(value: Any) -> str:
    r"""A value as JSON, as far as it has it, on one line and safe to show; long ones are cut.

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


_SIGNS = {
    "same": ("=", "the best score"),
    "near": ("~", "between"),
    "wrong": ("x", "the worst score"),
    "type": ("!", "a value of another type"),
    "missing": ("-", "only in the reference"),
    "extra": ("+", "only in the prediction"),
    "absent": (".", "null in both"),
    "branch": (" ", ""),
}
"""State of a node -> its sign, what it means."""

_LONGEST_CELL = 40  # characters


def side_by_side(rows: Sequence[Row]) -> list[str]:
    r"""Lines of text: a table of sign and key, reference, prediction and scores; an empty line; what the signs mean.

    Example:
        >>> *table, _, legend = side_by_side([Row("branch", 0, "seller"), Row("missing", 1, "city", '"Ulm"', None)])
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
        cells.append((label, reference, prediction, _scores(row.scores)))
    states = {row.state for row in rows}
    legend = (f"{sign} {meaning}" for state, (sign, meaning) in _SIGNS.items() if meaning and state in states)
    return [*text_table(cells).split("\n"), "", "   ".join(legend)]


def _scores(scores: Mapping[str, float]) -> str:
    if len(scores) == 1:
        return f"{next(iter(scores.values())):.2f}"
    return " ".join(f"{name} {score:.2f}" for name, score in scores.items())


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """What the page draws of one tree: its rows, and the text that it was taken from.

    ``options`` of a document are arguments of :func:`~tls_tasks.trees.tree_eval.tree_eval`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an answer that can't be read is what the page shows
        score = tree_eval([answer], [doc["reference"]], **{"schema": doc.get("schema"), **doc.get("options", {})})
    (sample,) = score.items
    parsed = parse_tree(answer, sample.plan.root)
    reference = sample.trees[0]
    prediction = {} if parsed.failed and isinstance(reference, dict) else parsed.value
    rows = compare(reference, prediction, sample.plan, sample.alignments)
    return {
        "kind": "tree",
        "rows": [
            [row.state, row.depth, row.label, row.reference, row.prediction, without_nan(row.scores)] for row in rows
        ],
        "source": doc.get("text", "")[:_LONGEST_SOURCE],
    }
