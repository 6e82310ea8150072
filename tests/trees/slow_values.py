"""The scores of values the slow, obvious way: one pair of trees, one pair of values at a time."""

import math

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.types import Branch, Leaf, ListOf


class SlowValues:
    """``similarity``: (path, reference, prediction) -> similarity of two values of a leaf, in [0, 1]."""

    def __init__(self, schema, similarity, order="unordered"):
        self.schema, self.similarity, self.order = schema, similarity, order

    def hits(self, node, one, other, path=()):
        """The greatest sum of similarities of values that belong together, and then the most exact values."""
        if one is None or other is None:
            return np.zeros(2)
        if isinstance(node, Leaf):
            found = self.similarity(path, one, other) if fits(other, node) else 0.0
            return np.array([found, found >= 1 - 1e-12])
        if isinstance(node, Branch):
            if not isinstance(one, dict) or not isinstance(other, dict):
                return np.zeros(2)
            children = node.children.items()
            return sum(
                (self.hits(child, one.get(key), other.get(key), (*path, key)) for key, child in children), np.zeros(2)
            )
        if not isinstance(one, list) or not isinstance(other, list) or not one or not other:
            return np.zeros(2)
        if self.order == "ordered":
            pairs = zip(one, other, strict=False)
            return sum((self.hits(node.item, mine, yours, path) for mine, yours in pairs), np.zeros(2))
        hits = self.all_hits(node.item, one, other, path)
        return hits[linear_sum_assignment(hits @ [1, 1e-9], maximize=True)].sum(axis=0)

    def all_hits(self, node, one, other, path):
        """The sums of all pairs of items."""
        return np.array([[self.hits(node, mine, yours, path) for yours in other] for mine in one])

    def count(self, node, tree):
        """The values of a tree."""
        if tree is None:
            return 0
        if isinstance(node, Leaf):
            return 1
        if isinstance(tree, dict):
            children = node.children if isinstance(node, Branch) else {}
            return sum(self.count(children.get(key), value) for key, value in tree.items())
        if isinstance(tree, list):
            return sum(self.count(node.item if isinstance(node, ListOf) else None, value) for value in tree)
        return 1

    def evaluate(self, predictions, references):
        """What ``as_dict()`` gives of the values."""
        result = {}
        given, wanted = (sum(self.count(self.schema, tree) for tree in trees) for trees in (predictions, references))
        trees = zip(references, predictions, strict=True)
        sums = sum((self.hits(self.schema, one, other) for one, other in trees), np.zeros(2)).tolist()
        for suffix, hits in zip(("", "_exact"), sums, strict=True):
            none = math.nan if given + wanted == 0 else 0.0
            result[f"precision_value{suffix}"] = hits / given if given else none
            result[f"recall_value{suffix}"] = hits / wanted if wanted else none
            result[f"f1_value{suffix}"] = 2 * hits / (given + wanted) if given + wanted else none
        return result
