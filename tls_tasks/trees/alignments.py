"""Which items of lists of two trees belong together, and which of several answers count: for people who look at them.

The walk keeps only sums; what belongs together is found once more where somebody asks.
"""

from typing import Any

from tls_tasks.trees.nodes import MISSING
from tls_tasks.trees.pairs import Pairs
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.similarity import has_answers
from tls_tasks.trees.types import ANY_OF, AnyOf, Branch, ListOf, OneOf, Path, Position, part_for, resolved
from tls_tasks.trees.walk import Step, Walk, whole_tree

Alignments = dict[Path, list[tuple[int, int]]]
"""Path of a list in the reference -> positions of its items and of those that they were aligned with.

Where a dictionary or list has several valid answers, its path with :data:`~tls_tasks.trees.types.ANY_OF` behind it has
the place of the one that counts, twice.
"""


def below(grounds: Any, step: Any) -> Any:
    """What is known of the values below a key or position; nothing where nothing is."""
    return grounds.get(step, {}) if type(grounds) is dict else {}


class Search:
    """Goes the same way as the walk through two trees, and notes what belongs together for an objective.

    Objectives are those of :data:`~tls_tasks.trees.pairs.GUIDE`. ``grounds`` is what is known of the prediction's
    values, by key and position: nothing here.
    """

    def __init__(self, plan: Plan, objective: int) -> None:
        """Nothing found yet."""
        self.walk, self.objective = Walk(plan), objective
        self.alignments: Alignments = {}

    def of(self, reference: Any, prediction: Any, grounds: Any = None) -> Alignments:
        """What belongs together in two whole trees."""
        root = self.walk.plan.root
        if isinstance(root, Branch):
            tree = prediction if isinstance(prediction, dict) else {}
            self.look(self.walk.tree, root, whole_tree(reference), tree, (), grounds)
        else:
            self.look(self.walk.value, root, reference, prediction, (), grounds)
        return self.alignments

    def paired(self, node: ListOf, reference: Any, prediction: Any, matched: Any, grounds: Any) -> Any:
        """The positions of items that belong together, of those that do by their values."""
        return matched

    def look(self, step: Step, node: Any, reference: Any, prediction: Any, path: Path, grounds: Any = None) -> None:
        """Look at two values; ``step``: how the walk goes through them."""
        own = resolved(node)
        if has_answers(own, reference):
            _, _, best = self.walk.best_answers(step, node, Pairs.aligned([reference], [prediction]))
            index = int(best[self.objective][0])
            self.alignments |= {(*path, ANY_OF): [(index, index)]}
            self.look(step, node, reference.values[index], prediction, path, grounds)
        elif isinstance(own, OneOf):
            part = part_for(own, reference)
            other = prediction if part_for(own, prediction) is part else MISSING
            self.look(step, part, reference, other, path, grounds)
        elif isinstance(own, Branch) and isinstance(reference, dict):
            prediction = prediction if isinstance(prediction, dict) else {}
            known = [key for key in own.children if key in reference]
            others = [key for key in reference if own.rest and key in prediction and key not in own.children]
            for key in (*known, *others):
                inner, other = own.children.get(key, own.rest and own.rest.item), prediction.get(key, MISSING)
                self.look(self.walk.value, inner, reference[key], other, (*path, key), below(grounds, key))
        elif isinstance(own, ListOf) and isinstance(reference, list):
            prediction = prediction if isinstance(prediction, list) else []
            matches = self.walk.align(own, Pairs.aligned([reference], [prediction]))
            is_own = matches.is_of[self.objective]
            pairs = zip(matches.rows[is_own].tolist(), matches.columns[is_own].tolist(), strict=True)
            matched = [(matches.left.places[i], matches.right.places[j]) for i, j in pairs]
            if matched := self.paired(own, reference, prediction, matched, grounds):
                self.alignments[path] = matched
            for i, j in matched:
                where, known = (*path, Position(i)), below(grounds, j)
                self.look(self.walk.items, own.item, reference[i], prediction[j], where, known)


def chosen(value: Any, alignments: Any, path: Path = ()) -> Any:
    """A reference with the answers that were chosen in place of several.

    Example:
        >>> chosen({"a": AnyOf([[1], [2]]), "b": AnyOf([3, 4])}, {("a", ANY_OF): [(1, 1)]})
        {'a': [2], 'b': AnyOf(values=(3, 4))}
    """
    if isinstance(value, AnyOf):
        known = alignments.get((*path, ANY_OF))
        return value if known is None else chosen(value.values[known[0][0]], alignments, path)
    if isinstance(value, dict):
        return {key: chosen(own, alignments, (*path, key)) for key, own in value.items()}
    if isinstance(value, list):
        return [chosen(own, alignments, (*path, Position(place))) for place, own in enumerate(value)]
    return value
