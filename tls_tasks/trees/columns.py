"""The values of a key or list in many trees at once, for the walk."""

from __future__ import annotations

from itertools import repeat
from operator import is_, itemgetter
from typing import Any

import numpy as np

from tls_tasks.trees.nodes import MISSING, VALUE
from tls_tasks.trees.pairs import Array, Sides, Tally
from tls_tasks.trees.types import Branch, SchemaNode, all_nodes


def requires_keys(node: SchemaNode) -> bool:
    """Whether a dictionary of the schema has keys that must be there."""
    return any(isinstance(own, Branch) and own.required for _, own in all_nodes(node))


def are_single(sides: Sides) -> tuple[Array, Array]:
    """In which pairs the value of each side is neither a dictionary nor a list."""
    left, right = (
        np.array([not isinstance(value, dict | list) for value in own]) for own in (sides.references, sides.predictions)
    )
    return left[sides.pairs.rows], right[sides.pairs.columns]


def columns(node: Branch, trees: list[Any]) -> tuple[list[list[Any]], int]:
    """The values of each key, and how many keys of the schema there are in all trees together."""
    n_keys = len(trees) * len(node.children)
    try:
        return [list(map(itemgetter(key), trees)) for key in node.children], n_keys
    except KeyError:
        columns = [[tree.get(key, MISSING) for tree in trees] for key in node.children]
        return columns, n_keys - sum(sum(map(is_, column, repeat(MISSING))) for column in columns)


def with_empty(node: SchemaNode, sides: Sides, left: Array | None, right: Array | None) -> Sides:
    """The same, with an empty dictionary (list) for anything that isn't one."""
    empty: Any = {} if isinstance(node, Branch) else []
    values = [
        own
        if states is None
        else [value if state == VALUE else empty for value, state in zip(own, states.tolist(), strict=True)]
        for own, states in ((sides.references, left), (sides.predictions, right))
    ]
    return sides.of(*values)


def count_lists(tally: Tally) -> None:
    """In treeval a list in a list has one vote: its mean."""
    for part in [part for part in tally if part.startswith("sum|")]:
        n = f"n|{part.removeprefix('sum|')}"
        tally[part] = np.divide(tally[part], tally[n], out=np.zeros(tally[n].shape), where=tally[n] > 0)
        tally[n] = (tally[n] > 0).astype(np.int64)
