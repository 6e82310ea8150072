"""References with several valid answers for a dictionary or a list: the one that the prediction fits best counts.

All answers are walked, each beside the prediction; then one of them is taken for each aim: for nodes and leaves the one
of the greatest weight, for the scores of values the one of the greatest F1. Of leaves, metrics see all answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tls_tasks.trees.align import Matches
from tls_tasks.trees.found import Choices, Links
from tls_tasks.trees.pairs import EXACT, GUIDE, MORE, SOFT, Array, Pairs, Sides, Tally, aim_of, at
from tls_tasks.trees.plan import Field
from tls_tasks.trees.similarity import f1_of_pairs, value_counts, weigh
from tls_tasks.trees.types import ANY_OF, AnyOf, OneOf, Path, Position, SchemaNode

if TYPE_CHECKING:
    from tls_tasks.trees.walk import Walk


def has_answers(node: SchemaNode, values: list[Any]) -> bool:
    """Whether a reference has several answers that are to be walked; those that are scalars are a leaf's."""
    if isinstance(node, Field) or AnyOf not in set(map(type, values)):
        return False
    several = [value.values for value in values if type(value) is AnyOf]
    return not isinstance(node, OneOf) or any(isinstance(one, dict | list) for answers in several for one in answers)


def walk_answers(
    walk: Walk, step: Callable[[Sides, Tally], None], node: SchemaNode, sides: Sides, tally: Tally, path: Path
) -> list[Links | Choices]:
    """Walk all answers, and add what was counted of the best ones.

    Args:
        walk: Knows the plan.
        step: Walks values.
        node: Their node.
        sides: The values.
        tally: What is added to.
        path: Where they are.

    Returns:
        Which answers were chosen.
    """
    each = [value.values if type(value) is AnyOf else (value,) for value in sides.references]
    lengths = np.array(list(map(len, each)))
    begins, own = np.cumsum(lengths) - lengths, sides.pairs
    if own.is_grid:
        first, sizes = begins[:, None], lengths[:, None]
        pairs, owners = Pairs.grid(sum(map(len, each)), own.shape[1]), np.zeros(0, dtype=np.int64)
    else:
        sizes = lengths[own.rows]
        first, owners = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(own.rows)), sizes)
        pairs = Pairs(begins[own.rows][owners] + np.arange(len(owners)) - first[owners], own.columns[owners])
    first, sizes = np.broadcast_to(first, own.shape), np.broadcast_to(sizes, own.shape)
    told = Sides([answer for answers in each for answer in answers], sides.predictions, pairs, sides.are_items)
    if walk.has_details:  # then each reference has its own prediction
        pairs = Pairs.aligned(len(owners))
        told = Sides(told.references, at(sides.predictions, owners), pairs, sides.are_items)
    below, outer = Tally(), walk.links
    walk.links = []
    step(told, below)
    f1 = f1_of_pairs(node, told, below, walk.aims[1:], walk.is_loose)
    scores = [np.broadcast_to(score, pairs.shape) for score in (weigh(walk.plan, node, below, pairs.shape), *f1)]
    best = [_best(own_scores, first, sizes) for own_scores in scores]
    for name, amount in below.items():
        if not isinstance(amount, np.ndarray):
            tally.add(name, amount)
            continue
        of_aim = [np.take_along_axis(np.broadcast_to(amount, pairs.shape), own_best, 0) for own_best in best]
        if name.startswith("wanted|") and SOFT in walk.aims:  # what the first has is wanted whatever is compared
            wanted = np.take_along_axis(np.broadcast_to(amount, pairs.shape), first, 0) + 0
            tally.add(name, wanted)
            tally.add(f"soft|spare|{name.partition('|')[2]}", of_aim[SOFT] - wanted)
            tally.add("exact|spare", of_aim[EXACT] - wanted)
        else:
            tally.add(name, of_aim[aim_of(name) if len(of_aim) > 1 else GUIDE])
    n_values = np.broadcast_to(value_counts(node, told.references, walk.is_loose)[pairs.rows], pairs.shape)
    for aim in walk.aims[1:]:
        more = np.take_along_axis(n_values, best[aim], 0) - np.take_along_axis(n_values, first, 0)
        tally.add(MORE[aim], more)
    links, walk.links = walk.links, outer
    if not walk.has_details:
        return []
    are_several = np.array([type(value) is AnyOf for value in sides.references])[own.rows]
    chosen = Choices(path, [np.where(are_several, own_best - first, -1) for own_best in best])
    return [chosen, *(_of_best(link, owners, best) for link in links)]


def _best(scores: Array, first: Array, sizes: Array) -> Array:
    """The place of the best answer of each pair; of equal ones the first."""
    best = np.array(first)
    for offset in range(1, int(sizes.max(initial=0))):
        other = first + np.minimum(offset, sizes - 1)
        is_better = np.take_along_axis(scores, other, 0) > np.take_along_axis(scores, best, 0) + 1e-12
        best = np.where(is_better, other, best)
    return best


def _of_best(link: Links | Choices, owners: Array, best: list[Array]) -> Links | Choices:
    """What was found in answers as what was found in their references."""
    if isinstance(link, Choices):
        return Choices(link.path, [own[of_aim] for own, of_aim in zip(link.of_aim, best, strict=True)])
    known = link.matches
    own = owners[known.owners]
    of_aim = [known.is_own(aim) & (of_best[own] == known.owners) for aim, of_best in enumerate(best)]
    matches = Matches(known.left, known.right, own, known.rows, known.columns, of_aim, known.is_keyed)
    return Links(link.path, matches, link.inner)


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
