"""tree_eval the slow, obvious way: one pair of trees, one pair of values at a time, by the words of the rules.

Metrics are functions of a reference and a prediction; all else is written down here once more: what is a node, what is
a leaf, how lists are aligned. Only scipy's solver is the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from types import SimpleNamespace

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.types import Branch, Leaf, ListOf

NO_KEY = object()


class Rules(SimpleNamespace):
    """The rules by name; ``|`` changes some of them."""

    def __or__(self, changes):
        return Rules(**{**vars(self), **changes})


RULES = {
    None: Rules(
        types="strict",
        missing_nodes="reference",
        absent_in_both="ignored",
        extra_nodes="all",
        branch_leaves="ignored",
        list_items="nodes",
        null_items="absent",
        alignment="metrics",
        ties="canonical",
        single_metric="normalized",
        clipping="always",
        unmatched_items="nodes",
        inner_lists="items",
    ),
    "treeval": Rules(
        types="loose",
        missing_nodes="schema",
        absent_in_both="missed",
        extra_nodes="one",
        branch_leaves="counted",
        list_items="surplus",
        null_items="value",
        alignment="treeval_score",
        ties="given",
        single_metric="raw",
        clipping="not_unit",
        unmatched_items="nodes",
        inner_lists="lists",
    ),
}
"""``compat`` -> the rules of the guide, and those of treeval's program."""


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


class Slow:
    """``metrics``: path -> {name: function}; ``ranges``: name -> (low, high, higher is better)."""

    def __init__(self, schema, metrics, ranges, options, order="unordered"):
        self.schema, self.metrics, self.ranges, self.options, self.order = schema, metrics, ranges, options, order
        self.items = options.list_items == "nodes"

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
        if isinstance(node, ListOf) and isinstance(value, list):
            return sum(self.item_size(node.item, one) for one in value)
        return 0

    def item_size(self, node, value):
        wanted = dict if isinstance(node, Branch) else list if isinstance(node, ListOf) else ()
        if isinstance(node, ListOf) and isinstance(value, list):
            return sum(self.item_size(node.item, one) for one in value)
        return self.size(node, value) if isinstance(value, wanted) else 1

    def schema_size(self, node):
        return sum(1 + self.schema_size(one) for one in node.children.values()) if isinstance(node, Branch) else 0

    def schema_leaves(self, node):
        if not isinstance(node, Branch):
            return 1
        return sum(self.schema_leaves(one) for one in node.children.values())

    def value_leaves(self, value):
        return sum(self.value_leaves(one) for one in value.values()) if isinstance(value, dict) else 1

    # --- the walk ---

    def branch(self, node, expected, given, path=(), inside=False):
        result = Result()
        for key, child in node.children.items():
            one, other = expected.get(key, NO_KEY), given.get(key, NO_KEY)
            result.add(self.child(child, one, other, (*path, key), inside))
        for key, value in given.items():
            if key not in node.children:
                more = self.generic_size(value) if self.options.extra_nodes == "all" else 0
                result.counts["node_fp"] += 1 + more
        return result

    def child(self, node, one, other, path, inside):
        result, options = Result(), self.options
        in_one, in_other = one is not NO_KEY, other is not NO_KEY
        has_one, has_other = in_one and one is not None, in_other and other is not None
        counts = result.counts
        wanted = dict if isinstance(node, Branch) else list if isinstance(node, ListOf) else object
        is_right = has_other and isinstance(other, wanted)
        # the node itself
        if in_one and in_other:
            counts["node_tp"] += 1
            if not isinstance(node, Branch):
                kind = {(True, True): "tp", (True, False): "fn", (False, True): "fp"}.get((has_one, has_other))
                if kind:
                    counts[f"leaf_{kind}"] += 1
        elif in_one or (not in_other and options.absent_in_both == "missed"):
            counts["node_fn"] += 1
        elif in_other:
            counts["node_fp"] += 1
        # what is below it
        if isinstance(node, Leaf):
            self.leaf(node, one if has_one else None, other if has_other else None, path, result)
        elif has_one and is_right:
            result.add(self.below(node, one, other, path, inside))
        else:
            self.alone(node, one, other, path, result, in_one, in_other, has_one, is_right, has_other)
        return result

    def alone(self, node, one, other, path, result, in_one, in_other, has_one, is_right, has_other):
        """A dictionary or list that at most one of the trees has."""
        options, counts = self.options, result.counts
        self.one_sided(node, one if has_one else None, other if is_right else None, path, result)
        below_one = self.size(node, one) if has_one else 0
        below_other = self.size(node, other) if is_right else 0
        is_list = isinstance(node, ListOf)
        missed_in_both = options.absent_in_both == "missed" and not in_one and not in_other
        absent = not in_other and (in_one or missed_in_both)
        if has_one and in_other and has_other and not is_right:  # of another type
            if is_list:
                counts["node_fn"] += sum(self.item_size(node.item, item) for item in one)
                if isinstance(node.item, Leaf):
                    for name in self.metrics[path]:
                        result.scores[path, name].append(self.worst(name))
            elif self.is_plain():
                counts["node_fn"] += below_one
            return
        null = has_one and in_other and not has_other
        if absent or null:
            if options.missing_nodes == "reference":
                counts["node_fn"] += below_one
            elif not is_list:
                counts["node_fn"] += self.schema_size(node)
            if not is_list and options.branch_leaves == "counted":
                counts["leaf_fn"] += self.schema_leaves(node)
        extra = in_one and not has_one and has_other
        if extra or (in_other and not in_one and options.extra_nodes == "all"):
            counts["node_fp"] += below_other
        if extra and not is_list and options.branch_leaves == "counted":
            counts["leaf_fp"] += self.value_leaves(other)

    def is_plain(self):
        options = self.options
        return (options.missing_nodes, options.extra_nodes, options.branch_leaves, options.absent_in_both) == (
            "reference", "all", "ignored", "ignored",
        )  # fmt: skip

    def one_sided(self, node, one, other, path, result):
        """The fields of all leaves below, of which at most one side has any."""
        if isinstance(node, Branch):
            for key, child in node.children.items():
                mine, yours = (one or {}).get(key), (other or {}).get(key)
                wanted = dict if isinstance(child, Branch) else list if isinstance(child, ListOf) else object
                self.one_sided(
                    child,
                    mine if isinstance(mine, wanted) else None,
                    yours if isinstance(yours, wanted) else None,
                    (*path, key),
                    result,
                )
        elif isinstance(node, ListOf):
            items = [("missed", item) for item in one or []] + [("invented", item) for item in other or []]
            for kind, item in items:
                self.lonely_item(node.item, item, kind, path, result)
            if not items and isinstance(node.item, Leaf):
                result.fields["absent", path] += 1
        else:
            kind = "missed" if one is not None else "invented" if other is not None else "absent"
            result.fields[kind, path] += 1

    def lonely_item(self, node, item, kind, path, result):
        found = Result()
        if isinstance(node, Leaf):
            found.fields[kind, path] += item is not None
        else:
            mine = item if isinstance(item, dict if isinstance(node, Branch) else list) else None
            self.one_sided(node, mine if kind == "missed" else None, mine if kind == "invented" else None, path, found)
        for (name, where), times in found.fields.items():
            if name == kind:
                result.fields[name, where] += times
                if self.options.unmatched_items == "worst":
                    for metric in self.metrics[where]:
                        result.scores[where, metric] += [self.worst(metric)] * times

    def leaf(self, node, one, other, path, result, nulls_are_values=False):
        if not nulls_are_values and (one is None or other is None):
            kind = "missed" if one is not None else "invented" if other is not None else "absent"
            result.fields[kind, path] += 1
            return
        is_wrong = self.options.types == "strict" and other is not None and not fits(other, node)
        scores = {
            name: self.worst(name) if is_wrong else metric(one, other) for name, metric in self.metrics[path].items()
        }
        for name, score in scores.items():
            result.scores[path, name].append(score)
        mean = sum(self.normal(name, score, "always") for name, score in scores.items()) / len(scores)
        is_correct = mean >= 1 - 1e-12 and not is_wrong
        result.fields["correct" if is_correct else "wrong", path] += 1

    def below(self, node, one, other, path, inside):
        if isinstance(node, Branch):
            return self.branch(node, one, other, path, inside)
        return self.lists(node, one, other, path, inside)

    # --- lists ---

    def lists(self, node, one, other, path, inside):
        pairs = self.pairing(node, one, other, path)
        matched, result = Result(), Result()
        for i, j in pairs:
            matched.add(self.item(node.item, one[i], other[j], path))
        result.add(matched, means=inside and self.options.inner_lists == "lists")
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
        if self.options.ties == "canonical":
            left.sort(key=lambda i: self.sort_key(node.item, one[i]))
            right.sort(key=lambda j: self.sort_key(node.item, other[j]))
        weights = np.array([[self.weight(node.item, one[i], other[j], path) for j in right] for i in left])
        if self.options.ties == "canonical" and 1 in weights.shape:
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
            self.leaf(node, one, other, path, result, self.options.null_items == "value")
            return result
        wanted = dict if isinstance(node, Branch) else list
        is_one, is_other = isinstance(one, wanted), isinstance(other, wanted)
        if one is None and other is None:
            result.counts["node_tp"] += 1
        else:
            result.counts["node_fn"] += not is_one
            result.counts["node_fp"] += not is_other
        result.add(self.below(node, one if is_one else wanted(), other if is_other else wanted(), path, True))
        return result

    def weight(self, node, one, other, path):
        if one is None and other is None and not (isinstance(node, Leaf) and self.options.null_items == "value"):
            return 1.0
        plain = Slow(self.schema, self.metrics, self.ranges, self.options | {"unmatched_items": "nodes"}, self.order)
        result = plain.item(node, one, other, path)
        if isinstance(node, Leaf):
            scores = {name: result.scores[path, name] for name in self.metrics[path]}
            if not all(scores.values()):
                return 0.0
            if len(scores) == 1 and self.options.single_metric == "raw":
                return next(iter(scores.values()))[0]
            return sum(self.normal(name, own[0], self.options.clipping) for name, own in scores.items()) / len(scores)
        means = defaultdict(list)
        for (_, name), scores in result.scores.items():
            if scores:
                means[name].append(sum(scores) / len(scores))
        per_metric = [self.normal(name, sum(own) / len(own), self.options.clipping) for name, own in means.items()]
        f1s = prf(result.counts)["f1_node"] * prf(result.counts)["f1_leaf"]
        if self.options.alignment == "treeval_score":
            return (sum(per_metric) / len(per_metric) if per_metric else 1.0) * f1s
        return (sum(per_metric) / len(per_metric) if per_metric else f1s) + 1e-9 * f1s

    # --- scores ---

    def worst(self, name):
        low, high, up = self.ranges[name]
        return float(low if up else high)

    def normal(self, name, score, clipping):
        low, high, up = self.ranges[name]
        if (low, high) != (0, 1) or clipping == "always":
            score = (min(max(score, low), high) - low) / (high - low)
        return score if up else 1 - score

    def evaluate(self, predictions, references):
        """The corpus's numbers: what ``as_dict()`` gives of them."""
        total = Result()
        for one, other in zip(references, predictions, strict=True):
            total.add(self.branch(self.schema, one, other))
        leaves = {key: sum(scores) / len(scores) for key, scores in total.scores.items() if scores}
        means = defaultdict(list)
        for (_, name), score in leaves.items():
            means[name].append(score)
        per_metric = {name: sum(own) / len(own) for name, own in means.items()}
        normal = [self.normal(name, score, self.options.clipping) for name, score in per_metric.items()]
        result = prf(total.counts)
        mean = sum(normal) / len(normal) if normal else 1.0
        result["treeval_score"] = mean * result["f1_node"] * result["f1_leaf"]
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
