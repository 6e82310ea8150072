"""Two trees side by side as text: each leaf with its scores, missing and extra nodes marked, lists as aligned.

Text in, text out: nothing is printed here, and nothing of a model's text reaches a terminal unescaped.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tls_tasks.text.terminal import fitted, visible, width
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, Path, Position, SchemaNode, path_name

MARKS: Mapping[str, tuple[str, str, str]] = {
    "same": ("=", "32", "the best score"),
    "near": ("~", "33", "between"),
    "wrong": ("x", "31", "the worst score"),
    "type": ("!", "31;1", "a value of another type"),
    "missing": ("-", "31", "only in the reference"),
    "extra": ("+", "35", "only in the prediction"),
    "absent": (".", "2", "null in both"),
    "branch": (" ", "1", ""),
}
"""State of a node -> its sign, its colour (SGR), what it means."""

Alignments = Mapping[Path, Sequence[Sequence[int]]]
"""Path of a list in the reference -> which of its items belongs to which predicted one."""

LEAST_COLUMNS = 48
"""Columns below which a table can't be read."""

_CUT = 500  # characters of a value that are looked at


@dataclass(frozen=True, slots=True)
class _Row:
    """One node of the two trees.

    Attributes:
        state: A key of :data:`MARKS`.
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


def compare(reference: Any, prediction: Any, plan: Plan, alignments: Alignments) -> list[_Row]:
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
    return list(comparison.node(reference, prediction, plan.root, (), 0, ""))


@dataclass(frozen=True, slots=True)
class _Comparison:
    alignments: Alignments
    is_loose: bool

    def node(
        self, reference: Any, prediction: Any, node: SchemaNode, path: Path, depth: int, label: str
    ) -> Iterator[_Row]:
        """The rows of a node that both trees have; ``path`` is the reference's, with positions."""
        if isinstance(node, Branch) and isinstance(reference, dict) and isinstance(prediction, dict):
            if label:
                yield _Row("branch", depth, label)
            yield from self._children(reference, prediction, node, path, depth + bool(label))
        elif isinstance(node, ListOf) and isinstance(reference, list) and isinstance(prediction, list):
            yield _Row("branch", depth, label or "(list)", _count(reference), _count(prediction))
            yield from self._items(reference, prediction, node, path, depth + 1)
        elif reference is None and prediction is None:
            yield _Row("absent", depth, label or "(root)", "null", "null")
        elif reference is None or prediction is None:
            yield from self._null(reference, prediction, node, depth, label or "(root)")
        else:
            yield self._leaf(reference, prediction, node, depth, label or "(root)")

    def _children(self, reference: Any, prediction: Any, node: Branch, path: Path, depth: int) -> Iterator[_Row]:
        for key, child in node.children.items():
            label = path_name((key,))
            if key in reference and key in prediction:
                yield from self.node(reference[key], prediction[key], child, (*path, key), depth, label)
            elif key in reference:
                yield from _one_sided("missing", reference[key], depth, label)
            elif key in prediction:
                yield from _one_sided("extra", prediction[key], depth, label)
        for key in prediction:
            if key not in node.children:
                yield from _one_sided("extra", prediction[key], depth, path_name((key,)))

    def _items(self, reference: Any, prediction: Any, node: ListOf, path: Path, depth: int) -> Iterator[_Row]:
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

    def _null(self, reference: Any, prediction: Any, node: SchemaNode, depth: int, label: str) -> Iterator[_Row]:
        if reference is None:
            first, *rest = _one_sided("extra", prediction, depth, label)
            yield _Row("extra", depth, label, "null", first.prediction)
        else:
            first, *rest = _one_sided("missing", reference, depth, label)
            yield _Row("missing", depth, label, first.reference, "null")
        yield from rest

    def _leaf(self, reference: Any, prediction: Any, node: SchemaNode, depth: int, label: str) -> _Row:
        left, right = _value_text(reference), _value_text(prediction)
        if not isinstance(node, Field):
            return _Row("type", depth, label, left, right)
        metrics, is_other = node.metrics, not fits(prediction, node)
        if is_other and not self.is_loose:
            return _Row("type", depth, label, left, right, {metric.name: metric.worst for metric in metrics})
        scores = {metric.name: float(metric.pairs([reference], [prediction])[0]) for metric in metrics}
        if is_other:
            return _Row("type", depth, label, left, right, scores)
        if all(scores[metric.name] == metric.best for metric in metrics):
            return _Row("same", depth, label, left, right, scores)
        is_worst = all(scores[metric.name] == metric.worst for metric in metrics)
        return _Row("wrong" if is_worst else "near", depth, label, left, right, scores)


def _one_sided(state: str, value: Any, depth: int, label: str) -> Iterator[_Row]:
    """The rows of a node that only one of the trees has.

    Example:
        >>> [(row.label, row.reference, row.prediction) for row in _one_sided("extra", {"a": [1, 2]}, 0, "x")]
        [('x', None, ''), ('a', None, '2 items'), ('[0]', None, '1'), ('[1]', None, '2')]
    """
    if isinstance(value, dict) and value:
        yield _one_sided_row(state, depth, label, "")
        for key, child in value.items():
            yield from _one_sided(state, child, depth + 1, path_name((key,)))
    elif isinstance(value, list) and value:
        yield _one_sided_row(state, depth, label, _count(value))
        for place, item in enumerate(value):
            yield from _one_sided(state, item, depth + 1, f"[{place}]")
    else:
        yield _one_sided_row(state, depth, label, _value_text(value))


def _one_sided_row(state: str, depth: int, label: str, text: str) -> _Row:
    return _Row(state, depth, label, *((text, None) if state == "missing" else (None, text)))


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


def render(rows: Sequence[_Row], columns: int = 100, color: bool = False) -> str:
    """The rows as a table: sign, key, reference, prediction, scores.

    Args:
        rows: What :func:`compare` returned.
        columns: How wide it may be; below :data:`LEAST_COLUMNS` it is made for so many.
        color: Whether to colour it, by SGR sequences.

    Example:
        >>> rows = [_Row("branch", 0, "seller"), _Row("missing", 1, "city", '"Ulm"', None)]
        >>> print(render(rows, 60))
          key     reference                prediction
          seller
        -   city  "Ulm"
    """
    labels = ["  " * row.depth + visible(row.label[:_CUT]) for row in rows]
    scores = [_scores(row.scores) for row in rows]
    widths = _widths(max(LEAST_COLUMNS, columns), labels, scores)
    lines = [_line("  ", ("key", "reference", "prediction", ""), widths)]
    for row, label, score in zip(rows, labels, scores, strict=True):
        sign, colour, _ = MARKS[row.state]
        line = _line(f"{sign} ", (label, row.reference or "", row.prediction or "", score), widths)
        lines.append(f"\x1b[{colour}m{line}\x1b[0m" if color else line)
    return "\n".join(lines)


def _scores(scores: Mapping[str, float]) -> str:
    if len(scores) == 1:
        return f"{next(iter(scores.values())):.2f}"
    return " ".join(f"{visible(name)} {score:.2f}" for name, score in scores.items())


def _widths(columns: int, labels: Sequence[str], scores: Sequence[str]) -> tuple[int, int, int, int]:
    """The columns of label, reference, prediction and scores."""
    label = min(max(map(width, ("key   ", *labels))), columns // 4)
    score = min(max(map(width, ("", *scores))), columns // 3)
    value = (columns - 2 - label - score - 3 * 2) // 2
    return label, value, value, score


def _line(sign: str, cells: tuple[str, str, str, str], widths: tuple[int, int, int, int]) -> str:
    return (sign + "  ".join(fitted(cell, size) for cell, size in zip(cells, widths, strict=True))).rstrip()


def legend(rows: Sequence[_Row]) -> str:
    """What the signs mean that occur in the rows, on one line.

    Example:
        >>> legend([_Row("same", 0, "a"), _Row("extra", 0, "b")])
        '= the best score   + only in the prediction'
    """
    states = {row.state for row in rows}
    return "   ".join(f"{sign} {meaning}" for state, (sign, _, meaning) in MARKS.items() if meaning and state in states)
