"""tree_eval the slow, obvious way: one pair of trees, one pair of values at a time, by the words of the rules.

Metrics are functions of a reference and a prediction; all else is written down here once more: what is a node, what is
a leaf, how lists are aligned. Only scipy's solver is the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.types import Branch, Leaf, ListOf

NO_KEY = object()


class Result:
    """Counts of nodes and leaves, the scores of each leaf and metric, and what each leaf was."""

    def __init__(self):
        self.counts, self.fields = Counter(), Counter()
        self.scores = defaultdict(list)  # (path, metric) -> [score, …]

    def add(self, other, means=False):
        self.counts.update(other.counts)
        self.fields.update(other.fields)
        for key, scores in other.scores.items():
            self.scores[key] += [sum(scores) / len(scores)] if means and scores else scores


def type_of(node):
    return dict if isinstance(node, Branch) else list if isinstance(node, ListOf) else object


def is_value(value):
    return value is not NO_KEY and value is not None


def mean(numbers):
    return sum(numbers) / len(numbers)


class Slow:
    """``metrics``: path -> {name: function}; ``ranges``: name -> (low, high, higher is better).

    By the rules of the guide, or with ``compat="treeval"`` as its program counts.
    """

    def __init__(self, schema, metrics, ranges, compat=None, order="unordered"):
        self.schema, self.metrics, self.ranges, self.order = schema, metrics, ranges, order
        self.is_program = compat == "treeval"
        self.items = not self.is_program

    # --- nodes of a value ---

    def generic_size(self, value):
        """The nodes below a value that the schema doesn't know."""
        if isinstance(value, dict):
            return sum(1 + self.generic_size(one) for one in value.values())
        if isinstance(value, list) and self.items:
            return sum(self.generic_size(one) if isinstance(one, dict | list) else 1 for one in value)
        return 0

    def size(self, node, value):
        """The nodes below a value that the schema knows."""
        if not self.items:
            return self.generic_size(value)
        if isinstance(node, Branch) and isinstance(value, dict):
            return sum(
                1 + (self.size(node.children[key], one) if key in node.children else self.generic_size(one))
                for key, one in value.items()
            )
        return self.item_size(node, value) if isinstance(node, ListOf) and isinstance(value, list) else 0

    def item_size(self, node, value):
        if isinstance(node, ListOf) and isinstance(value, list):
            return sum(self.item_size(node.item, one) for one in value)
        return self.size(node, value) if isinstance(node, Branch) and isinstance(value, dict) else 1

    def schema_size(self, node):
        return sum(1 + self.schema_size(one) for one in node.children.values()) if isinstance(node, Branch) else 0

    def schema_leaves(self, node):
        return sum(map(self.schema_leaves, node.children.values())) if isinstance(node, Branch) else 1

    def value_leaves(self, value):
        return sum(map(self.value_leaves, value.values())) if isinstance(value, dict) else 1

    # --- the walk ---

    def branch(self, node, expected, given, path=(), inside=False):
        result = Result()
        for key, child in node.children.items():
            one, other = expected.get(key, NO_KEY), given.get(key, NO_KEY)
            result.add(self.child(child, one, other, (*path, key), inside))
        for key, value in given.items():
            if key not in node.children:
                result.counts["node_fp"] += 1 + (0 if self.is_program else self.generic_size(value))
        return result

    def child(self, node, one, other, path, inside):
        result = Result()
        counts, has_one, has_other = result.counts, is_value(one), is_value(other)
        is_right = has_other and isinstance(other, type_of(node))
        if one is not NO_KEY and other is not NO_KEY:
            counts["node_tp"] += 1
            if not isinstance(node, Branch) and (has_one or has_other):
                counts["leaf_fp" if not has_one else "leaf_tp" if has_other else "leaf_fn"] += 1
        elif one is not NO_KEY or (other is NO_KEY and self.is_program):
            counts["node_fn"] += 1
        elif other is not NO_KEY:
            counts["node_fp"] += 1
        if isinstance(node, Leaf):
            self.leaf(node, one if has_one else None, other if has_other else None, path, result)
        elif has_one and is_right:
            result.add(self.below(node, one, other, path, inside))
        else:
            self.one_sided(node, one if has_one else None, other if is_right else None, path, result)
            self.alone(node, one, other, path, result)
        return result

    def alone(self, node, one, other, path, result):
        """A dictionary or list that at most one of the trees has."""
        counts, is_list = result.counts, isinstance(node, ListOf)
        below_one = self.size(node, one) if is_value(one) else 0
        if is_value(one) and is_value(other):  # of another type
            if is_list:
                counts["node_fn"] += self.item_size(node, one)
                if isinstance(node.item, Leaf):
                    for name in self.metrics[path]:
                        result.scores[path, name].append(self.worst(name))
            elif not self.is_program:
                counts["node_fn"] += below_one
        elif is_value(one) or (other is NO_KEY and (one is not NO_KEY or self.is_program)):
            if not self.is_program:
                counts["node_fn"] += below_one
            elif not is_list:
                counts["node_fn"] += self.schema_size(node)
                counts["leaf_fn"] += self.schema_leaves(node)
        elif is_value(other):
            if isinstance(other, type_of(node)) and not (self.is_program and one is NO_KEY):
                counts["node_fp"] += self.size(node, other)
            if self.is_program and one is None and not is_list:
                counts["leaf_fp"] += self.value_leaves(other)

    def one_sided(self, node, one, other, path, result):
        """The fields of all leaves below, of which at most one side has any."""
        if isinstance(node, Branch):
            for key, child in node.children.items():
                values = ((side or {}).get(key) for side in (one, other))
                mine, yours = (value if isinstance(value, type_of(child)) else None for value in values)
                self.one_sided(child, mine, yours, (*path, key), result)
        elif isinstance(node, ListOf):
            for kind, items in (("missed", one or []), ("invented", other or [])):
                for item in items:
                    self.lonely_item(node.item, item, kind, path, result)
            if not one and not other and isinstance(node.item, Leaf):
                result.fields["absent", path] += 1
        else:
            self.no_pair(one, other, path, result)

    def no_pair(self, one, other, path, result):
        kind = "missed" if one is not None else "invented" if other is not None else "absent"
        result.fields[kind, path] += 1

    def lonely_item(self, node, item, kind, path, result):
        found = Result()
        if isinstance(node, Leaf):
            found.fields[kind, path] += item is not None
        else:
            mine = item if isinstance(item, type_of(node)) else None
            self.one_sided(node, mine if kind == "missed" else None, mine if kind == "invented" else None, path, found)
        for (name, where), times in found.fields.items():
            if name == kind:
                result.fields[name, where] += times

    def leaf(self, node, one, other, path, result, nulls_are_values=False):
        if not nulls_are_values and (one is None or other is None):
            self.no_pair(one, other, path, result)
            return
        is_wrong = not self.is_program and other is not None and not fits(other, node)
        scores = {
            name: self.worst(name) if is_wrong else metric(one, other) for name, metric in self.metrics[path].items()
        }
        for name, score in scores.items():
            result.scores[path, name].append(score)
        is_correct = mean([self.normal(*pair) for pair in scores.items()]) >= 1 - 1e-12 and not is_wrong
        result.fields["correct" if is_correct else "wrong", path] += 1

    def below(self, node, one, other, path, inside):
        return (self.branch if isinstance(node, Branch) else self.lists)(node, one, other, path, inside)

    # --- lists ---

    def lists(self, node, one, other, path, inside):
        pairs = self.pairing(node, one, other, path)
        matched, result = Result(), Result()
        for i, j in pairs:
            matched.add(self.item(node.item, one[i], other[j], path))
        result.add(matched, means=inside and self.is_program)
        for kind, count, items, found in (
            ("missed", "node_fn", one, {i for i, _ in pairs}),
            ("invented", "node_fp", other, {j for _, j in pairs}),
        ):
            for place, item in enumerate(items):
                if place not in found:
                    result.counts[count] += self.item_size(node.item, item)
                    self.lonely_item(node.item, item, kind, path, result)
        if isinstance(node.item, Leaf) and not one and not other:
            result.fields["absent", path] += 1
        return result

    def pairing(self, node, one, other, path):
        if self.order == "ordered":
            return list(zip(range(len(one)), range(len(other)), strict=False))
        if not one or not other:
            return []
        left, right = (list(range(len(items))) for items in (one, other))
        if not self.is_program:  # ties don't depend on the order in the file
            left.sort(key=lambda i: self.sort_key(node.item, one[i]))
            right.sort(key=lambda j: self.sort_key(node.item, other[j]))
        weights = np.array([[self.weight(node.item, one[i], other[j], path) for j in right] for i in left])
        if not self.is_program and 1 in weights.shape:
            best = int(weights.argmax())
            return [(left[0], right[best])] if len(left) == 1 else [(left[best], right[0])]
        rows, columns = linear_sum_assignment(weights, maximize=True)
        return [(left[i], right[j]) for i, j in zip(rows, columns, strict=True)]

    def sort_key(self, node, item):
        return item if isinstance(item, str) and isinstance(node, Leaf) else "\0" + self.visible(node, item)

    def visible(self, node, value):
        """A value as text, without the order of keys and of lists."""
        if isinstance(node, Branch) and isinstance(value, dict):
            known = [self.visible(one, value[key]) if key in value else "" for key, one in node.children.items()]
            unknown = sorted(self.all_nodes(one) for key, one in value.items() if key not in node.children)
            return "{" + ",".join(known) + (str(unknown) if unknown else "") + "}"
        if isinstance(node, ListOf) and isinstance(value, list):
            items = [self.visible(node.item, one) for one in value]
            return f"[{','.join(items if self.order == 'ordered' else sorted(items))}]"
        return repr(value)

    def all_nodes(self, value):
        if isinstance(value, dict):
            return sum(1 + self.all_nodes(one) for one in value.values())
        if isinstance(value, list):
            return sum(self.all_nodes(one) if isinstance(one, dict | list) else 1 for one in value)
        return 0

    def item(self, node, one, other, path):
        result = Result()
        if isinstance(node, Leaf):
            result.counts["node_tp"] += self.items
            self.leaf(node, one, other, path, result, nulls_are_values=self.is_program)
            return result
        wanted = type_of(node)
        is_one, is_other = isinstance(one, wanted), isinstance(other, wanted)
        if one is None and other is None:
            result.counts["node_tp"] += 1
        else:
            result.counts["node_fn"] += not is_one
            result.counts["node_fp"] += not is_other
        result.add(self.below(node, one if is_one else wanted(), other if is_other else wanted(), path, True))
        return result

    def weight(self, node, one, other, path):
        if one is None and other is None and not (isinstance(node, Leaf) and self.is_program):
            return 1.0
        result = self.item(node, one, other, path)
        if isinstance(node, Leaf):
            scores = {name: result.scores[path, name] for name in self.metrics[path]}
            if not all(scores.values()):
                return 0.0
            if len(scores) == 1 and self.is_program:
                return next(iter(scores.values()))[0]
            return mean([self.normal(name, own[0], not self.is_program) for name, own in scores.items()])
        normal = self.normal_means({key: mean(scores) for key, scores in result.scores.items() if scores})[1]
        f1s = prf(result.counts)["f1_node"] * prf(result.counts)["f1_leaf"]
        if self.is_program:
            return (mean(normal) if normal else 1.0) * f1s
        return (mean(normal) if normal else f1s) + 1e-9 * f1s

    # --- scores ---

    def worst(self, name):
        low, high, up = self.ranges[name]
        return float(low if up else high)

    def normal(self, name, score, is_clipped=True):
        low, high, up = self.ranges[name]
        if (low, high) != (0, 1) or is_clipped:
            score = (min(max(score, low), high) - low) / (high - low)
        return score if up else 1 - score

    def normal_means(self, leaves):
        """The mean over leaves of each metric, as it is and normalised."""
        by_metric = defaultdict(list)
        for (_, name), score in leaves.items():
            by_metric[name].append(score)
        per_metric = {name: mean(own) for name, own in by_metric.items()}
        return per_metric, [self.normal(name, own, not self.is_program) for name, own in per_metric.items()]

    def evaluate(self, predictions, references):
        """The corpus's numbers: what ``as_dict()`` gives of them."""
        total = Result()
        for one, other in zip(references, predictions, strict=True):
            total.add(self.branch(self.schema, one, other))
        leaves = {key: mean(scores) for key, scores in total.scores.items() if scores}
        per_metric, normal = self.normal_means(leaves)
        result = prf(total.counts)
        result["treeval_score"] = (mean(normal) if normal else 1.0) * result["f1_node"] * result["f1_leaf"]
        return result, leaves, per_metric, total.fields


def prf(counts):
    result = {}
    for part in ("node", "leaf"):
        hits, extra, missed = (counts[f"{part}_{kind}"] for kind in ("tp", "fp", "fn"))
        precision = hits / (hits + extra) if hits + extra else 1.0
        recall = hits / (hits + missed) if hits + missed else 1.0
        result[f"precision_{part}"], result[f"recall_{part}"] = precision, recall
        result[f"f1_{part}"] = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return result
