"""Which items of lists of two trees were compared, and which of several answers count: for people who look at them.

The recursion keeps only counts; the pairs are looked up once more where somebody asks.
"""

from __future__ import annotations

from typing import Any

from tls_tasks.trees.compare import Place, best_answer, compare_items, whole_tree
from tls_tasks.trees.grid import Lists
from tls_tasks.trees.leaf_scores import LeafScorer
from tls_tasks.trees.nodes import MISSING, has_answers
from tls_tasks.trees.pairing import Pairing
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.types import ANY_OF, AnyOf, Branch, ListOf, Path, Position, part_for, resolved
from tls_tasks.trees.weights import GUIDE, VALUES

Alignments = dict[Path, list[tuple[int, int]]]
"""Path of a list in the reference -> positions of its items and of those that they were compared with.

Where a dictionary or list has several valid answers, its path with :data:`~tls_tasks.trees.types.ANY_OF` behind it has
the index of the one that counts, twice.
"""


def below(grounds: Any, step: Any) -> Any:
    """Return what is known of the values below a key or position; nothing where nothing is."""
    return grounds.get(step, {}) if type(grounds) is dict else {}


class Search:
    """Goes the way of the recursion through two trees, and notes which items are compared for the scores of values.

    For treeval's profile, which has no such scores, it is its own pairing. ``grounds`` is what is known of the
    prediction's values, by key and position: nothing here.
    """

    def __init__(self, plan: Plan) -> None:
        """No alignments yet."""
        self.pairing = Pairing(plan, GUIDE if plan.follows_treeval else VALUES, LeafScorer(plan), Lists(plan))
        self.alignments: Alignments = {}

    def of(self, reference: Any, prediction: Any, grounds: Any = None) -> Alignments:
        """Return the pairs of two whole trees."""
        root = self.pairing.plan.root
        if isinstance(root, Branch):
            tree = prediction if isinstance(prediction, dict) else {}
            self.look(Place.CONTENT, root, whole_tree(reference), tree, (), grounds)
        else:
            self.look(Place.KEY, root, reference, prediction, (), grounds)
        return self.alignments

    def paired(self, node: ListOf, reference: Any, prediction: Any, matched: Any, grounds: Any) -> Any:
        """Return the positions of items that are compared, given those that are by their values."""
        return matched

    def look(self, place: Place, node: Any, reference: Any, prediction: Any, path: Path, grounds: Any = None) -> None:
        """Look at two values; ``place``: where they stand."""
        kind = part_for(node, reference)
        if has_answers(resolved(node), reference):
            index, _ = best_answer(reference, prediction, node, self.pairing, place)
            self.alignments |= {(*path, ANY_OF): [(index, index)]}
            self.look(place, node, reference.values[index], prediction, path, grounds)
        elif isinstance(kind, Branch) and isinstance(reference, dict):
            tree = prediction if isinstance(prediction, dict) else {}
            for key, value in reference.items():
                inner = kind.children.get(key, kind.rest and kind.rest.item)
                if key in kind.children or (kind.rest and key in tree):
                    self.look(Place.KEY, inner, value, tree.get(key, MISSING), (*path, key), below(grounds, key))
        elif isinstance(kind, ListOf) and isinstance(reference, list):
            items = prediction if isinstance(prediction, list) else []
            matched = self.pairing.match(reference, items, kind, compare_items)
            if matched := self.paired(kind, reference, items, matched, grounds):
                self.alignments[path] = matched
            for i, j in matched:
                self.look(Place.ITEM, kind.item, reference[i], items[j], (*path, Position(i)), below(grounds, j))


def chosen(value: Any, alignments: Any, path: Path = ()) -> Any:
    """Replace several answers in a reference by the ones that were chosen.

    Example:
        >>> chosen({"a": AnyOf([[1], [2]]), "b": AnyOf([3, 4])}, {("a", ANY_OF): [(1, 1)]})
        {'a': [2], 'b': AnyOf(values=(3, 4))}
    """
    if isinstance(value, AnyOf):
        choice = alignments.get((*path, ANY_OF))
        return value if choice is None else chosen(value.values[choice[0][0]], alignments, path)
    if isinstance(value, dict):
        return {key: chosen(child, alignments, (*path, key)) for key, child in value.items()}
    if isinstance(value, list):
        return [chosen(item, alignments, (*path, Position(index))) for index, item in enumerate(value)]
    return value
