"""The typed score of ``tree_eval``: sums by sample, and everything that follows from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tls_tasks.intervals import bootstrap_results, total_of
from tls_tasks.parsing.tree_compliance import ISSUE_KINDS
from tls_tasks.parsing.tree_values import Path
from tls_tasks.parsing.trees import RATES
from tls_tasks.scorers.tree_pairs import COUNTS, FIELDS, Amount, Links
from tls_tasks.scorers.tree_plan import ROOT, LeafPlan, ListPlan, NodePlan, TreePlan
from tls_tasks.scorers.tree_scores import average_leaves, leaf_means, node_scores, treeval_score

KEYS = (
    "precision_node",
    "recall_node",
    "f1_node",
    "precision_leaf",
    "recall_leaf",
    "f1_leaf",
    "treeval_score",
)
"""The result keys by which a prediction is judged, each in [0, 1]."""

ADDITIVE = (*COUNTS, "samples", "schema_compliance", *RATES, *(f"issue|{kind}" for kind in ISSUE_KINDS))
"""Names of a sample's sums, besides those of its leaves."""


@dataclass(frozen=True, slots=True)
class TreeScore:
    """What :func:`~tls_tasks.scorers.tree_eval.tree_eval` returns.

    Attributes:
        metric: ``tree_eval``.
        signature: The settings in one line.
        plan: The schema with its settings.
        n_samples: How many rows.
        amounts: The sums of each sample by name, see :class:`~tls_tasks.scorers.tree_pairs.Tally`.
        hierarchical: Whether averages are hierarchical.
        has_thresholds: Whether pass rates are reported.
        parse_failures: How many predictions could not be read at all.
        problems: Row -> kind of trouble in the model's text -> how often.
        links: Which items of lists belong together.
        confidence: Options of :func:`~tls_tasks.intervals.bootstrap_results`, if intervals are reported.
    """

    metric: str
    signature: str
    plan: TreePlan
    n_samples: int
    amounts: Mapping[Any, Amount]
    hierarchical: bool = False
    has_thresholds: bool = False
    parse_failures: int = 0
    problems: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    links: Sequence[Links] = ()
    confidence: Mapping[str, Any] | None = None

    # --- sums ---

    @property
    def units(self) -> list[dict[str, float]]:
        """One sample each: its sums by name, with all names in each."""
        names = _names(self.plan)
        columns = [_spread(self.amounts.get(key, 0), self.n_samples).tolist() for key in names.values()]
        rows = [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]
        if self.plan.options.aggregate == "macro":
            return [row | {f"mean|{key}": value for key, value in self._judged(row).items()} for row in rows]
        return rows

    def results(self, totals: Mapping[str, float]) -> dict[str, float]:
        """The reported numbers of any sums of :attr:`units`: :data:`KEYS`, rates, and how many type errors there are.

        Example:
            >>> from tls_tasks.scorers.tree_eval import tree_eval
            >>> score = tree_eval([{"a": 1}], [{"a": 1}], {"a": "integer"})
            >>> score.results(total_of(score.units))["treeval_score"]
            1.0
        """
        n = totals.get("samples", 0.0)
        if not n:
            judged = dict.fromkeys(KEYS, 0.0)
        elif self.plan.options.aggregate == "macro":
            judged = {key: totals.get(f"mean|{key}", 0.0) / n for key in KEYS}
        else:
            judged = self._judged(totals)
        rates = {key: totals.get(key, 0.0) / n if n else 0.0 for key in (*RATES, "schema_compliance")}
        return {**judged, **rates, "type_errors": totals.get("issue|type", 0.0)}

    def _judged(self, totals: Mapping[str, float]) -> dict[str, float]:
        sums, numbers = _slot_totals(self.plan, totals)
        return _judged(self.plan, [totals.get(name, 0.0) for name in COUNTS], sums, numbers, self.hierarchical)

    # --- results ---

    def as_dict(self, detailed: bool = False) -> dict[str, Any]:
        """The result as plain values.

        Returns:
            ``leaves``: a tree in the shape of the schema, lists left out, each leaf ``{metric: mean score}`` or None
            where nothing was scored. :data:`KEYS`. ``averages``: ``per_metric`` and ``per_leaf_type``. ``fields``: path
            -> how many values are correct, wrong, missed, invented and rightly absent. ``pass_rates`` where thresholds
            were given: path -> correct ones of all but the rightly absent. Rates of reading, ``schema_compliance``,
            ``type_errors``, ``signature``, ``<key>_ci`` where asked for. ``detailed`` adds ``items`` (each sample's
            numbers, leaves, and which items of its lists were aligned), ``parse_failures`` and ``problems``.
        """
        totals = self._totals()
        result = self._of(totals)
        result["fields"] = {
            leaf.name: {kind: int(totals.get((kind, leaf.index), 0)) for kind in FIELDS} for leaf in self.plan.leaves
        }
        if self.has_thresholds:
            result["pass_rates"] = {name: _pass_rate(counts) for name, counts in result["fields"].items()}
        n = self.n_samples
        for name in (*RATES, "schema_compliance"):
            result[name] = totals.get(name, 0) / n if n else 0.0
        result["type_errors"] = int(totals.get("issue|type", 0))
        if self.confidence is not None:
            intervals = bootstrap_results(self, **self.confidence)
            result |= {f"{key}_ci": list(intervals[key]) for key in KEYS}
        result["signature"] = self.signature
        if detailed:
            result["items"] = self.samples()
            result["parse_failures"] = self.parse_failures
            result["problems"] = {row: dict(kinds) for row, kinds in self.problems.items()}
        return result

    def samples(self) -> list[dict[str, Any]]:
        """Each sample's own numbers, leaves, averages and alignments.

        An alignment is a list's path in the reference -> pairs of places: of the reference's item, of the prediction's.
        """
        columns = {key: _spread(amount, self.n_samples).tolist() for key, amount in self.amounts.items()}
        alignments = _alignments(self.links, self.n_samples)
        rows = ({key: column[row] for key, column in columns.items()} for row in range(self.n_samples))
        return [{"sample": row, **self._of(sums), "alignments": alignments[row]} for row, sums in enumerate(rows)]

    def _totals(self) -> dict[Any, float]:
        """The sums over all samples; exactly rounded, so that the order of the rows doesn't matter."""
        if self.plan.options.aggregate == "macro":
            return self._macro_totals()
        return {key: _total(amount, self.n_samples) for key, amount in self.amounts.items()}

    def _macro_totals(self) -> dict[Any, float]:
        """The same with one vote for each sample at each leaf, and with the means of the samples' results."""
        totals = {key: _total(amount, self.n_samples) for key, amount in self.amounts.items()}
        for slot in range(len(self.plan.slots)):
            sums = _spread(self.amounts.get(("sum", slot), 0), self.n_samples)
            numbers = _spread(self.amounts.get(("n", slot), 0), self.n_samples)
            has = numbers > 0
            totals[("sum", slot)] = math.fsum((sums[has] / numbers[has]).tolist())
            totals[("n", slot)] = int(has.sum())
        units = self.units
        return totals | total_of([{key: unit[f"mean|{key}"] for key in KEYS} for unit in units])

    def _of(self, totals: Mapping[Any, float]) -> dict[str, Any]:
        """Leaves, judged numbers and averages of some totals."""
        plan = self.plan
        sums = [totals.get(("sum", slot), 0.0) for slot in range(len(plan.slots))]
        numbers = [totals.get(("n", slot), 0) for slot in range(len(plan.slots))]
        means = leaf_means(plan, sums, numbers)
        averages = average_leaves(plan, means, numbers, self.hierarchical)
        counts = [totals.get(name, 0) for name in COUNTS]
        nodes = node_scores(counts)
        judged: dict[str, Any] = {**nodes._asdict(), "treeval_score": treeval_score(plan, averages, nodes)}
        if not totals.get("samples"):
            judged = dict.fromkeys(KEYS, 0.0)
        elif KEYS[0] in totals:  # means of samples
            judged = {key: totals[key] / self.n_samples for key in KEYS}
        seen = None
        if plan.options.unscored_branches == "null":
            seen = {key[1] for key, n in totals.items() if type(key) is tuple and key[0] == "seen" and n}
        leaves = _leaf_tree(plan.root, means, seen)
        return {
            "leaves": leaves[ROOT] if plan.is_wrapped else leaves,
            **judged,
            "averages": _named_averages(plan, averages),
        }


def _judged(
    plan: TreePlan, counts: Sequence[float], sums: Sequence[float], numbers: Sequence[float], hierarchical: bool
) -> dict[str, float]:
    nodes = node_scores(counts)
    averages = average_leaves(plan, leaf_means(plan, sums, numbers), numbers, hierarchical)
    return {**nodes._asdict(), "treeval_score": treeval_score(plan, averages, nodes)}


def _names(plan: TreePlan) -> dict[str, Any]:
    """The name of each sum -> its key among the amounts."""
    names: dict[str, Any] = {name: name for name in ADDITIVE}
    for slot, (leaf, metric) in enumerate(plan.slots):
        names[f"sum|{leaf.name}|{metric.name}"] = ("sum", slot)
        names[f"n|{leaf.name}|{metric.name}"] = ("n", slot)
    for leaf in plan.leaves:
        for kind in FIELDS:
            names[f"{kind}|{leaf.name}"] = (kind, leaf.index)
    return names


def _slot_totals(plan: TreePlan, totals: Mapping[str, float]) -> tuple[list[float], list[float]]:
    parts = [f"{leaf.name}|{metric.name}" for leaf, metric in plan.slots]
    return [totals.get(f"sum|{part}", 0.0) for part in parts], [totals.get(f"n|{part}", 0.0) for part in parts]


def _spread(amount: Amount, n: int) -> Any:
    return np.broadcast_to(np.asarray(amount), (n,))


def _total(amount: Amount, n: int) -> float:
    if not isinstance(amount, np.ndarray):
        return amount * n
    if amount.dtype.kind == "f":
        return math.fsum(amount.tolist())
    return sum(amount.tolist()) if n < _FEW else int(amount.sum())


_FEW = 200  # for so few numbers Python is quicker than numpy


def _pass_rate(counts: Mapping[str, int]) -> float | None:
    relevant = sum(counts[kind] for kind in FIELDS if kind != "absent")
    return counts["correct"] / relevant if relevant else None


def _leaf_tree(plan: NodePlan, means: Sequence[float | None], seen: Collection[Path] | None) -> Any:
    """The leaves' means in the shape of the schema; None for dictionaries and lists not ``seen`` in both trees."""
    if isinstance(plan, LeafPlan):
        scores = {metric.name: means[slot] for slot, metric in zip(plan.slots, plan.metrics, strict=True)}
        return scores if any(mean is not None for mean in scores.values()) else None
    if seen is not None and plan.path and plan.path not in seen:
        return None
    if isinstance(plan, ListPlan):
        return _leaf_tree(plan.item, means, seen)
    return {key: _leaf_tree(child, means, seen) for key, child in plan.children.items()}


def _named_averages(plan: TreePlan, averages: Mapping[tuple[str, str], float]) -> dict[str, Any]:
    per_metric: dict[str, float | None] = {}
    per_type: dict[str, dict[str, float | None]] = {}
    for label, name in plan.groups:
        (per_type.setdefault(label, {}) if label else per_metric)[name] = averages.get((label, name))
    return {"per_metric": per_metric, "per_leaf_type": per_type}


def _alignments(links: Sequence[Links], n_samples: int) -> list[dict[str, list[list[int]]]]:
    """Each sample's alignments."""
    samples: list[dict[str, list[list[int]]]] = [{} for _ in range(n_samples)]
    for place, name, pair in _walk_links(links, [(row, "") for row in range(n_samples)], ""):
        samples[place].setdefault(name, []).append(pair)
    return samples


def _walk_links(
    links: Sequence[Links], owners: Sequence[tuple[int, str]], outer: str
) -> Iterator[tuple[int, str, list[int]]]:
    """Sample, list and pair of places of each link. ``owners``: sample and path of what the lists are in."""
    for one in links:
        inner: list[tuple[int, str]] = []
        for owner, reference, prediction in zip(one.owners, one.references, one.predictions, strict=True):
            sample, before = owners[owner]
            name = _below(before, outer, one.name)
            yield sample, name, [reference, prediction]
            inner.append((sample, f"{name}[{reference}]"))
        yield from _walk_links(one.inner, inner, one.name)


def _below(before: str, outer: str, name: str) -> str:
    """The path of a list in an item: ``lines[0]``, ``lines`` and ``lines.notes`` are ``lines[0].notes``."""
    if outer != "$":
        return before + name.removeprefix(outer)
    rest = "" if name == outer else name if name.startswith("[") else f".{name}"
    return before.removeprefix("$") + rest
