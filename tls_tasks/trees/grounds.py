"""Values with their grounds: quotes that stand in the source, and from which the values can be read.

A value counts by how similar it is to the reference's, if it has grounds. Which items of lists belong together is what
the scores of values say; quotes decide between equal items alone.
"""

import datetime
import math
import re
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.core.score import grouped
from tls_tasks.text.dates import MAX_LENGTH, dates_in, leading_dates, read_date
from tls_tasks.text.numbers import APART, digits_of, numbers_in
from tls_tasks.text.quotes import Source
from tls_tasks.trees.alignments import Alignments, alignments_in, chosen, steps_of
from tls_tasks.trees.compare import compare_items, compare_trees
from tls_tasks.trees.compliance import base_type, is_scalar
from tls_tasks.trees.counts import EXACT
from tls_tasks.trees.differences import inner_node, is_pair, side_by_side
from tls_tasks.trees.grid import Lists
from tls_tasks.trees.leaf_scores import LeafScorer, similarity_of
from tls_tasks.trees.meanings import number_in
from tls_tasks.trees.nodes import values_outside
from tls_tasks.trees.pairing import CompareItems, Pairing, assign
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.sorting import sort_key
from tls_tasks.trees.types import Again, AnyOf, Branch, ListOf, Path, Position, SchemaNode, part_for
from tls_tasks.trees.weights import GUIDE, VALUES

Grounds = Any
"""Key or position -> what is known of the values below it, down to the :class:`Ground` of one."""

_DIGITS = re.compile(  # the 3 of A3 and A-3 is no number, the 12 of EUR12 is
    rf"(?:(?<!\w)[+\-\u2212])?(?:(?<![\w.])\.)?(?:(?<![^\W_])|(?<=\b[A-Z]{{3}})){APART}"
    r"\d[\d.,'\u2019 \u00a0\u202f]*(?:[eE][+-]?\d+)?"
)
_TIME = 40  # characters of a time and its zone
_PIECE = re.compile(r"(?<=[.!?])\s+|\n+")


class Ground(NamedTuple):
    """What is known of the quote of one value.

    Attributes:
        quote: The quote.
        is_found: Whether it stands in the source, but for Unicode's form, quotation marks and blanks.
        is_read: Whether the value can be read from it.
    """

    quote: str
    is_found: bool
    is_read: bool

    @property
    def holds(self) -> bool:
        """Whether the value has grounds."""
        return self.is_found and self.is_read


def ground_of(plan: Plan, source: Source, field: Field, value: Any, quote: str) -> Ground:
    """What is known of the quote of a value."""
    return Ground(quote, source.holds_normalised(quote), can_be_read(plan, field, value, quote))


def below(grounds: Grounds, step: Any) -> Grounds:
    """Return what is known of the values below a key or position; nothing where nothing is."""
    return grounds.get(step, {}) if type(grounds) is dict else {}


def ground_at(grounds: Grounds, path: Path) -> Ground | None:
    """What is known of the quote of the value at a path of the prediction; None: it has none."""
    grounds = reduce(below, path, grounds)
    return grounds if isinstance(grounds, Ground) else None


def _all(grounds: Grounds) -> list[Ground]:
    return [grounds] if isinstance(grounds, Ground) else [one for own in grounds.values() for one in _all(own)]


# --- values in quotes ---


def can_be_read(plan: Plan, field: Field, value: Any, quote: str) -> bool:
    """Whether a value can be read from its quote.

    Text stands in it, but for Unicode's form, quotation marks and blanks; a number or date in it equals the value by
    the leaf's metrics. Of a choice and of yes or no nothing is asked.
    """
    kind = base_type(field.type)
    if field.choices or kind == "boolean" or isinstance(value, bool):
        return True
    value = value.isoformat() if isinstance(value, datetime.date) else value
    if isinstance(value, str) and kind not in ("integer", "number"):
        dated = read_date(value) if kind in ("date", "datetime", "date-time") else None
        if dated is None:
            return Source(quote).holds_normalised(value)
        known: Sequence[Any] = [*_days(quote, kind != "date", dated.precision == "day")]
    else:
        spoken = (values for own, values in numbers_in(quote) if any(map(str.isalpha, own)))
        known = [*dict.fromkeys([*_numbers(digits_of(quote)), *(float(own) for values in spoken for own in values)])]
    return bool(known) and similarity_of(plan, field, AnyOf(known), value) >= EXACT


def _numbers(quote: str) -> Iterator[int | float]:
    """The numbers in a text; what may be thousands or several numbers is both.

    Example:
        >>> [*_numbers("2 rooms, EUR 1,234.50 or 12,50 each, 10-12 people, -3 degrees")]
        [2, 1234.5, 12.5, 10, 12, -3]
        >>> [*_numbers("12 500 kg")]
        [12500, 12, 500]
    """
    for digits in _DIGITS.findall(quote):
        for text in dict.fromkeys([digits.strip(), *digits.split()]):
            if (number := number_in(text.strip(".,'\u2019") if text[:1] != "." else text)) is not None:
                yield number


def _days(quote: str, has_time: bool, is_day: bool) -> Iterator[str]:
    """The dates in a text as it writes them and as ISO does; with what follows, where that may be a time."""
    yield quote
    for begin, end, found in dates_in(quote):
        yield quote[begin:end]
        if not found.other and not found.end:
            yield found.date.isoformat()
        if has_time:
            ends = (own.end() for own in re.finditer(r"\S+", quote[begin : end + _TIME]))
            yield from (quote[begin : begin + own].rstrip(".,;)") for own in ends if begin + own > end)
    if not is_day:  # months and years
        for start in (own.start() for own in re.finditer(r"\b\w", quote)):
            ends = (start + own.end for own in leading_dates(quote[start : start + MAX_LENGTH]))
            yield from (quote[start:end] for end in ends)


def with_quotes(plan: Plan, tree: Any, text: str) -> Any:
    """A tree with a sentence or line of the text as quote of each value: if possible, one from which it can be read.

    Example:
        >>> from tls_tasks.trees.plan import make_plan
        >>> with_quotes(make_plan({"n": "integer", "to": "string"}), {"n": 3, "to": None}, "Hello. We are 3.")
        {'n': {'value': 3, 'quote': 'We are 3.'}, 'to': None}
    """
    return _quoted(plan, plan.root, tree, _PIECE.split(text), "")


def _quoted(plan: Plan, node: SchemaNode | None, value: Any, pieces: Sequence[str], key: str) -> Any:
    if isinstance(value, list):
        return [_quoted(plan, inner_node(node, Position(0)), item, pieces, key) for item in value]
    if isinstance(value, dict):
        return {key: _quoted(plan, inner_node(node, key), own, pieces, str(key)) for key, own in value.items()}
    node = node and part_for(node, value)
    if value is None or not isinstance(node, Field) or not is_scalar(node):
        return value
    words = str(value).casefold(), *re.findall(r"[a-z]{3,}", key.casefold())
    holding = [piece for piece in pieces if can_be_read(plan, node, value, piece)]
    others = [value] if isinstance(value, str) else pieces
    quote = min(holding or others, key=lambda piece: [word not in piece.casefold() for word in words])
    return {"value": value, "quote": quote}


# --- which items of lists belong together, and what that is worth ---


class _Grounded(Pairing):
    """The pairing of values; of equal items of a prediction those count first that add most to the grounded hits."""

    def __init__(self, plan: Plan, prediction: Any, grounds: Grounds) -> None:
        super().__init__(plan, GUIDE if plan.follows_treeval else VALUES, LeafScorer(plan), Lists(plan))
        self.grounds = dict(_by_list(prediction, grounds))

    def match(self, references: Any, predictions: Any, node: ListOf, compare: CompareItems) -> list[tuple[Any, Any]]:
        """Return the positions of the items of two lists that are compared."""
        matched, grounds = super().match(references, predictions, node, compare), self.grounds.get(id(predictions))
        if node.is_keyed or node.is_ordered or not grounds:  # values of a dictionary meet by key
            return matched
        partners, pairs = {j: i for i, j in matched}, list[tuple[int, int]]()
        for places in grouped(range(len(predictions)), [sort_key(node.item, item) for item in predictions]).values():
            rows = [partners[j] for j in places if j in partners]
            kinds = {repr(grounds.get(j)): j for j in places}
            if len(kinds) == 1 or not rows:
                pairs += [(partners[j], j) for j in places if j in partners]
                continue
            items = [references[i] for i in rows]
            of_kind = {
                kind: self.worth(node.item, items, predictions[j], below(grounds, j)) for kind, j in kinds.items()
            }
            weights = np.array([of_kind[repr(grounds.get(j))] for j in places]).T
            pairs += [(rows[row], places[column]) for row, column in zip(*assign(weights), strict=True)]
        return sorted(pairs)

    def worth(self, node: SchemaNode, references: Sequence[Any], item: Any, grounds: Grounds) -> list[float]:
        """What an item adds with each of these items of the reference."""
        found = [alignments_in(own, compare_items(own, item, node, self).choices) for own in references]
        pairs = zip(references, found, strict=True)
        return [_hits(self.plan, node, own, item, alignments, grounds) for own, alignments in pairs]


def _by_list(prediction: Any, grounds: Grounds) -> Iterator[tuple[int, Grounds]]:
    """What is known of the items of each list, by its id."""
    if isinstance(prediction, list):
        yield id(prediction), grounds
    for step, child in steps_of(prediction):
        yield from _by_list(child, below(grounds, step))


def aligned(plan: Plan, reference: Any, prediction: Any, grounds: Grounds) -> Alignments:
    """Which items and answers belong together by similarity; of equal items the better grounded first."""
    counts = compare_trees(reference, prediction, _Grounded(plan, prediction, grounds))
    return alignments_in(reference, counts.choices)


def _hits(
    plan: Plan, node: SchemaNode, reference: Any, prediction: Any, alignments: Alignments, grounds: Grounds
) -> float:
    """The sum of the similarities of values that have grounds."""
    found = (own for own in side_by_side(node, reference, prediction, alignments) if is_pair(own))
    grounded = (own for own in found if (ground := ground_at(grounds, own.other)) is not None and ground.holds)
    return math.fsum(similarity_of(plan, own.node, own.reference, own.prediction) for own in grounded)


def _left_empty(
    node: SchemaNode | None, reference: Any, prediction: Any, path: Path, alignments: Alignments, grounds: Grounds
) -> Iterator[tuple[Any, Grounds]]:
    """What a prediction has in the scalar fields that the reference leaves null or out, in nodes that both trees have.

    An empty list is one field.
    """
    if isinstance(reference, AnyOf) and not reference.present:
        reference = None
    part = node and part_for(node, reference)
    if isinstance(part, Branch):
        if isinstance(node, Again) and reference is None and not isinstance(prediction, dict):
            return  # a schema within itself goes on for as long as there is something in it
        left, right = (own if isinstance(own, dict) else {} for own in (reference, prediction))
        for key in dict.fromkeys([*part.children, *(left if part.rest else ())]):
            trees = inner_node(part, key), left.get(key), right.get(key)
            yield from _left_empty(*trees, (*path, key), alignments, below(grounds, key))
    elif isinstance(part, ListOf) and reference:
        for i, j in alignments.get(path, ()):
            trees = part.item, reference[i], prediction[j]
            yield from _left_empty(*trees, (*path, Position(i)), alignments, below(grounds, j))
    elif reference is None or isinstance(part, ListOf):
        yield prediction, grounds


def unit_of(plan: Plan, reference: Any, prediction: Any, grounds: Grounds, value_hits: float) -> dict[str, float]:
    """The sums of a pair of trees; ``value_hits`` is the sum of all similarities, which rounding must not exceed."""
    alignments, known = aligned(plan, reference, prediction, grounds), _all(grounds)
    empty = _left_empty(plan.root, chosen(reference, alignments), prediction, (), alignments, grounds)
    counts = [(bool(values_outside(None, value)), bool(own)) for value, own in empty]
    return {
        "grounded_hits": min(value_hits, _hits(plan, plan.root, reference, prediction, alignments, grounds)),
        "quoted": len(known),
        "quote_found": sum(ground.is_found for ground in known),
        "quote_read": sum(ground.is_read for ground in known),
        "left_empty": len(counts),
        "filled": sum(is_filled for is_filled, _ in counts),
        "filled_quoted": sum(is_filled and is_quoted for is_filled, is_quoted in counts),
    }
