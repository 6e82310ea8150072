"""Values with their grounds: quotes that stand in the source, and from which the values can be read.

A value counts by how similar it is to the reference's, if it has grounds. Which items of lists belong together is what
the scores of values say; quotes decide between equal items alone.
"""

import datetime
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.core.score import grouped
from tls_tasks.text.dates import MAX_LENGTH, leading_dates
from tls_tasks.text.moments import read_moment
from tls_tasks.text.numbers import numbers_in
from tls_tasks.text.quotes import Source
from tls_tasks.trees.compare import compare_items
from tls_tasks.trees.compliance import DATES, base_type, is_scalar
from tls_tasks.trees.counts import EXACT, leaf_similarity
from tls_tasks.trees.differences import Alignments, alignments_in, choose_answers, is_pair, side_by_side
from tls_tasks.trees.pairing import CompareItems, Pairing, assign, sort_key
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, Path, Position, RecursiveNode, SchemaNode, node_for
from tls_tasks.trees.values import child_node, count_values_outside, list_children, replace_children

Grounds = Any
"""Key or position -> what is known of the values below it, down to the :class:`Ground` of one."""

_TIME = 40  # characters of a time and its zone
_NEAR = 60  # characters around a quote, of which a number in it may be a part
_MORE = re.compile(r"[-/.]\d")  # behind a date that is a part of another
_WORD = re.compile(r"(?<![A-Za-z0-9./\-])[^\W_]")
_PIECE = re.compile(r"(?<=[.!?])\s+|\n+")


class Ground(NamedTuple):
    """What is known of the quote of one value.

    Attributes:
        quote: The quote.
        is_found: Whether it stands in the source as whole words, but for what printing changes.
        is_read: Whether the value can be read from it.
    """

    quote: str
    is_found: bool
    is_read: bool

    @property
    def holds(self) -> bool:
        """Whether the value has grounds."""
        return self.is_found and self.is_read


def find_ground(plan: Plan, source: Source, field: Field, value: Any, quote: str) -> Ground:
    """Return the ground of a value: whether its quote stands in the source, and whether the value is in the quote.

    A quote is whole words, of at least three letters or digits unless the value has fewer.
    """
    spans = source.whole_places(quote, min(3, sum(map(str.isalnum, _shortest(value)))))
    reads = (can_be_read(plan, field, value, source.text, *span) for span in spans)
    return Ground(quote, bool(spans), any(reads) if spans else can_be_read(plan, field, value, quote))


def _shortest(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)


def subgrounds(grounds: Grounds, step: Any) -> Grounds:
    """Return the grounds of the values below a key or position; empty where there are none."""
    return grounds.get(step, {}) if type(grounds) is dict else {}


def ground_at(grounds: Grounds, path: Path) -> Ground | None:
    """Return the ground of the value at a path of the prediction; None if the value has no quote."""
    grounds = reduce(subgrounds, path, grounds)
    return grounds if isinstance(grounds, Ground) else None


def _flatten(grounds: Grounds) -> list[Ground]:
    return [grounds] if isinstance(grounds, Ground) else [leaf for each in grounds.values() for leaf in _flatten(each)]


# --- values in quotes ---


def can_be_read(plan: Plan, field: Field, value: Any, text: str, begin: int = 0, end: int | None = None) -> bool:
    """Tell whether a value can be read from a quote, ``text[begin:end]``.

    Text stands in it as it is printed, a choice as whole words in any case; a number or date in it that is no part of
    another equals the value by the leaf's metrics. Of yes or no nothing is asked.
    """
    kind, end = base_type(field.type), len(text) if end is None else end
    quote, start = text[begin:end], max(0, begin - _NEAR)
    near = text[start : end + _NEAR], begin - start, end - start
    if kind == "boolean" or isinstance(value, bool):
        return True
    value = value.isoformat() if isinstance(value, datetime.date) else value
    if isinstance(value, str) and field.choices:
        return bool(Source(_label(quote)).whole_places(_label(value), 0))
    if not isinstance(value, str) or kind in ("integer", "number"):
        readings: list[Any] = [*_numbers(*near)]
    elif kind in DATES and read_moment(value, plan.day_month):
        readings = [quote, *_dates(*near)]
    else:
        return Source(quote).holds_normalised(value)
    return bool(readings) and leaf_similarity(plan, field, AnyOf(readings), value) >= EXACT


def _label(text: str) -> str:
    return text.casefold().replace("_", " ").replace("-", " ")


def _numbers(text: str, begin: int, end: int) -> Iterator[int | float]:
    """Yield the readings of the numbers in ``text[begin:end]`` that are no part of longer numbers.

    Example:
        >>> sorted(_numbers("EUR 1,234.50 or 12 500", 0, 22)), [*_numbers("EUR 1,234.50 or 12 500", 0, 5)]
        ([12, 500, 1234.5, 12500], [])
    """
    for first, last, values in numbers_in(text):
        if begin <= first and last <= end:
            yield from (int(value) if value == value.to_integral_value() else float(value) for value in values)


def _dates(text: str, begin: int, end: int) -> Iterator[str]:
    """Yield the dates in ``text[begin:end]`` that are no part of others, each without and with what may be its time."""
    for start in (word.start() for word in _WORD.finditer(text, begin, end)):
        for date in leading_dates(text[start : min(end, start + MAX_LENGTH)]):
            last = start + date.end
            if not _MORE.match(text, last):
                yield text[start:last]
                stops = re.finditer(r"\S(?!\S)", text[last : min(end, last + _TIME)])
                yield from (text[start : last + match.end()].rstrip(".,;)") for match in stops)


def with_quotes(plan: Plan, tree: Any, text: str) -> Any:
    """Return a tree in which each value has a sentence or line of the text as quote, if possible one that holds it.

    Example:
        >>> from tls_tasks.trees.plan import make_plan
        >>> with_quotes(make_plan({"n": "integer", "to": "string"}), {"n": 3, "to": None}, "Hello. We are 3.")
        {'n': {'value': 3, 'quote': 'We are 3.'}, 'to': None}
    """
    return _quoted(plan, plan.root, tree, _PIECE.split(text), "")


def _quoted(plan: Plan, node: SchemaNode | None, value: Any, pieces: Sequence[str], key: str) -> Any:
    if isinstance(value, dict | list):
        children = list_children(node, value)
        keys = [str(step) if isinstance(value, dict) else key for step, _, _ in children]
        inner = (_quoted(plan, each, child, pieces, key) for key, (_, each, child) in zip(keys, children, strict=True))
        return replace_children(value, inner)
    node = node and node_for(node, value)
    if value is None or not isinstance(node, Field) or not is_scalar(node):
        return value
    words = str(value).casefold(), *re.findall(r"[a-z]{3,}", key.casefold())
    holding = [piece for piece in pieces if can_be_read(plan, node, value, piece)]
    fallback = [value] if isinstance(value, str) and not node.choices else pieces
    quote = min(holding or fallback, key=lambda piece: [word not in piece.casefold() for word in words])
    return {"value": value, "quote": quote}


# --- which items of lists belong together, and what that is gains ---


class GroundedPairing(Pairing):
    """A pairing in which of equal items of a prediction those count first that add most to the grounded hits.

    Attributes:
        grounds: What is known of the items of each list of the prediction, by its id.
    """

    grounds: Mapping[int, Grounds] = {}

    def match(self, references: Any, predictions: Any, node: ListOf, compare: CompareItems) -> list[tuple[Any, Any]]:
        """Return the positions of the items of two lists that are compared."""
        matched, grounds = super().match(references, predictions, node, compare), self.grounds.get(id(predictions))
        if node.is_keyed or node.is_ordered or not grounds:  # values of a dictionary meet by key
            return matched
        partners, pairs = {j: i for i, j in matched}, list[tuple[int, int]]()
        for positions in grouped(range(len(predictions)), [sort_key(node.item, item) for item in predictions]).values():
            rows = [partners[j] for j in positions if j in partners]
            kinds = {repr(grounds.get(j)): j for j in positions}
            if len(kinds) == 1 or not rows:
                pairs += [(partners[j], j) for j in positions if j in partners]
                continue
            items = [references[i] for i in rows]
            hits = {
                kind: self.gains(node.item, items, predictions[j], subgrounds(grounds, j)) for kind, j in kinds.items()
            }
            weights = np.array([hits[repr(grounds.get(j))] for j in positions]).T
            pairs += [(rows[row], positions[column]) for row, column in assign(weights)]
        chosen_partners = dict(pairs)
        return [(i, chosen_partners[i]) for i, _ in matched]

    def gains(self, node: SchemaNode, references: Sequence[Any], item: Any, grounds: Grounds) -> list[float]:
        """Return for each reference item the sum of grounded similarities if it is paired with this predicted item."""
        aligned = [alignments_in(tree, compare_items(tree, item, node, self).choices) for tree in references]
        pairs = zip(references, aligned, strict=True)
        return [_grounded_hits(self.plan, node, tree, item, alignments, grounds) for tree, alignments in pairs]


def grounds_by_list(prediction: Any, grounds: Grounds) -> Iterator[tuple[int, Grounds]]:
    """Yield (id of a list of the prediction, grounds of its items)."""
    if isinstance(prediction, list):
        yield id(prediction), grounds
    for step, _, child in list_children(None, prediction):
        yield from grounds_by_list(child, subgrounds(grounds, step))


def _grounded_hits(
    plan: Plan, node: SchemaNode, reference: Any, prediction: Any, alignments: Alignments, grounds: Grounds
) -> float:
    """Sum the similarities of the paired values that have grounds."""
    pairs = (pair for pair in side_by_side(node, reference, prediction, alignments) if is_pair(pair))
    grounded = (pair for pair in pairs if (ground := ground_at(grounds, pair.pred_path)) is not None and ground.holds)
    return math.fsum(leaf_similarity(plan, pair.node, pair.reference, pair.prediction) for pair in grounded)


def _empty_fields(
    node: SchemaNode | None, reference: Any, prediction: Any, path: Path, alignments: Alignments, grounds: Grounds
) -> Iterator[tuple[Any, Grounds]]:
    """Yield (predicted value, its grounds) for each scalar field of shared nodes that the reference leaves null or out.

    An empty list is one field.
    """
    if isinstance(reference, AnyOf) and not reference.present:
        reference = None
    part = node and node_for(node, reference)
    if isinstance(part, Branch):
        if isinstance(node, RecursiveNode) and reference is None and not isinstance(prediction, dict):
            return  # a schema within itself goes on for as long as there is something in it
        ref, pred = (tree if isinstance(tree, dict) else {} for tree in (reference, prediction))
        for key in dict.fromkeys([*part.children, *(ref if part.rest else ())]):
            trees = child_node(part, key), ref.get(key), pred.get(key)
            yield from _empty_fields(*trees, (*path, key), alignments, subgrounds(grounds, key))
    elif isinstance(part, ListOf) and reference:
        for i, j in alignments.get(path, ()):
            trees = part.item, reference[i], prediction[j]
            yield from _empty_fields(*trees, (*path, Position(i)), alignments, subgrounds(grounds, j))
    elif reference is None or isinstance(part, ListOf):
        yield prediction, grounds


def grounded_unit(
    plan: Plan, reference: Any, prediction: Any, grounds: Grounds, alignments: Alignments, value_hits: float
) -> dict[str, float]:
    """Return the unit parts of grounds for a pair of trees; ``value_hits`` is an upper bound for the grounded hits."""
    quoted = _flatten(grounds)
    empty = _empty_fields(plan.root, choose_answers(reference, alignments), prediction, (), alignments, grounds)
    counts = [(bool(count_values_outside(None, value)), bool(ground)) for value, ground in empty]
    return {
        "grounded_hits": min(value_hits, _grounded_hits(plan, plan.root, reference, prediction, alignments, grounds)),
        "quoted": len(quoted),
        "quote_found": sum(ground.is_found for ground in quoted),
        "quote_read": sum(ground.is_read for ground in quoted),
        "left_empty": len(counts),
        "filled": sum(is_filled for is_filled, _ in counts),
        "filled_quoted": sum(is_filled and is_quoted for is_filled, is_quoted in counts),
    }
