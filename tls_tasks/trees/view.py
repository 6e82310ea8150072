"""Two trees side by side: a row for each node with its values and scores, missing and extra nodes, lists as aligned.

Nothing of a model's text that a terminal might obey gets into a row.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tls_tasks.core.terminal import shown, text_table, visible
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.differences import NO_KEY, Alignments, Node, side_by_side
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, path_name

_CUT = 500  # characters of a value that are looked at


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


def compare(reference: Any, prediction: Any, plan: Plan, alignments: Alignments) -> list[Row]:
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
    rows = []
    hidden = 0  # two dictionaries as roots have no row
    for node in side_by_side(plan.root, reference, prediction, alignments):
        if not node.path and isinstance(node.reference, dict) and node.state == "branch":
            hidden = 1
        else:
            rows.append(_row(node, len(node.path) - hidden, plan.options.types == "loose"))
    return rows


def _row(node: Node, depth: int, is_loose: bool) -> Row:
    label = path_name(node.path[-1:]) if node.path else "(root)"
    if node.path and node.path[-1] != node.other[-1]:
        label += f" ~ {path_name(node.other[-1:])}"
    texts = _text(node, node.reference), _text(node, node.prediction)
    if node.state != "pair":
        return Row(node.state, depth, label, *texts)
    field: Any = node.node
    is_other = not fits(node.prediction, field)
    scores = {
        metric.name: metric.worst
        if is_other and not is_loose
        else float(metric.pairs([node.reference], [node.prediction])[0])
        for metric in field.metrics
    }
    state = "near"
    if is_other:
        state = "type"
    elif all(scores[metric.name] == metric.best for metric in field.metrics):
        state = "same"
    elif all(scores[metric.name] == metric.worst for metric in field.metrics):
        state = "wrong"
    return Row(state, depth, label, *texts, scores)


def _text(node: Node, value: Any) -> str | None:
    """A value as a row shows it: of a list how long it is, of a dictionary nothing where its content has rows."""
    if value is NO_KEY:
        return None
    if node.state == "branch" or (node.state in ("missing", "extra") and value and not isinstance(node.node, Field)):
        if isinstance(value, dict):
            return ""
        if isinstance(value, list):
            return _count(value)
    return _value_text(value)


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


def table_lines(rows: Sequence[Row]) -> list[str]:
    r"""Lines of text: a table of sign and key, reference, prediction and scores; an empty line; what the signs mean.

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
        cells.append((label, reference, prediction, _scores(row.scores)))
    states = {row.state for row in rows}
    legend = (f"{sign} {meaning}" for state, (sign, meaning) in _SIGNS.items() if meaning and state in states)
    return [*text_table(cells).split("\n"), "", "   ".join(legend)]


def _scores(scores: Mapping[str, float]) -> str:
    if len(scores) == 1:
        return f"{next(iter(scores.values())):.2f}"
    return " ".join(f"{name} {score:.2f}" for name, score in scores.items())
