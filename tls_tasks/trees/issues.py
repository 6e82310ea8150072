"""Which predictions comply with the schema: the issues of many trees at once, key by key.

The same as :func:`~tls_tasks.trees.compliance.complies` tree by tree, which says where they are as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tls_tasks.trees.compliance import ISSUE_KINDS, complies
from tls_tasks.trees.pairs import Array
from tls_tasks.trees.plan import LeafPlan
from tls_tasks.trees.states import MISSING, absent_in, column_of
from tls_tasks.trees.types import Branch, Leaf, SchemaNode

_NOTHING: frozenset[type] = frozenset({type(None), type(MISSING)})


def count_issues(schema: SchemaNode, trees: Sequence[Any], leaves: Sequence[LeafPlan]) -> dict[str, Array]:
    """How many issues of each kind each tree has.

    Args:
        schema: The schema.
        trees: The trees.
        leaves: The plan's leaves, which know the types that need no further look.

    Returns:
        Kind -> ``[trees]``.
    """
    counter = _Counter(leaves)
    counter.node(schema, list(trees), list(range(len(trees))))
    counter.add("type", [row for row, tree in enumerate(trees) if tree is None])
    return {
        kind: np.bincount(np.array(rows, dtype=np.int64), minlength=len(trees)) for kind, rows in counter.rows.items()
    }


class _Counter:
    """Collects the rows of issues by kind."""

    def __init__(self, leaves: Sequence[LeafPlan]) -> None:
        self.rows: dict[str, list[int]] = {kind: [] for kind in ISSUE_KINDS}
        self.quick = {id(leaf.node): _NOTHING if leaf.is_checked else _NOTHING | leaf.types for leaf in leaves}

    def add(self, kind: str, rows: list[int]) -> None:
        self.rows[kind] += rows

    def node(self, node: SchemaNode, values: list[Any], rows: list[int]) -> None:
        """The issues of a node's values, among which null and absent ones are none."""
        kinds = set(map(type, values))
        if isinstance(node, Leaf):
            if not kinds <= self.quick[id(node)]:
                self._leaf(node, values, rows)
            return
        wanted = dict if isinstance(node, Branch) else list
        if kinds != {wanted}:
            pairs = list(zip(values, rows, strict=True))
            self.add("type", [row for one, row in pairs if type(one) not in _NOTHING and not isinstance(one, wanted)])
            values, rows = (
                [one for one, _ in pairs if isinstance(one, wanted)],
                [row for one, row in pairs if isinstance(one, wanted)],
            )
        if isinstance(node, Branch):
            self._branch(node, values, rows)
        else:
            inner = [row for one, row in zip(values, rows, strict=True) for _ in one]
            self.node(node.item, [item for one in values for item in one], inner)

    def _branch(self, node: Branch, trees: list[Any], rows: list[int]) -> None:
        n_known = 0
        for key, child in node.children.items():
            column = column_of(key, trees)
            n_absent = absent_in(column)
            n_known += len(trees) - n_absent
            if n_absent and key in node.required:
                self.add("missing", [row for one, row in zip(column, rows, strict=True) if one is MISSING])
            self.node(child, column, rows)
        if n_known < sum(map(len, trees)):
            known = node.children.keys()
            for tree, row in zip(trees, rows, strict=True):
                self.add("unknown", [row] * sum(key not in known for key in tree))

    def _leaf(self, node: Leaf, values: list[Any], rows: list[int]) -> None:
        try:
            pairs = set(zip(map(type, values), values, strict=True))
        except TypeError:  # lists and dictionaries among them
            for one, row in zip(values, rows, strict=True):
                if self._is_bad(node, type(one), one):
                    self.rows[complies(one, node)[0].kind].append(row)
            return
        bad = {(kind, one): complies(one, node)[0].kind for kind, one in pairs if self._is_bad(node, kind, one)}
        if bad:
            for key, row in zip(zip(map(type, values), values, strict=True), rows, strict=True):
                if key in bad:
                    self.rows[bad[key]].append(row)

    def _is_bad(self, node: Leaf, kind: type, value: Any) -> bool:
        return kind not in self.quick[id(node)] and bool(complies(value, node))
