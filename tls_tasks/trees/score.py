"""The typed score of ``tree_eval``: sums by sample, and everything that follows from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tls_tasks.core.intervals import bootstrap_results, total_of
from tls_tasks.trees.compliance import ISSUE_KINDS
from tls_tasks.trees.pairs import COUNTS, FIELDS, Amount, Links
from tls_tasks.trees.plan import ROOT, LeafPlan, ListPlan, NodePlan, TreePlan
from tls_tasks.trees.read import RATES, ParsedTree
from tls_tasks.trees.scores import Averages, average_leaves, leaf_means, precision_recall_f1, treeval_score
from tls_tasks.trees.totals import READING, Found, Totals, totals_of
from tls_tasks.trees.values import Path

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
class ScoreSettings:
    """What is known before any tree is seen.

    Attributes:
        signature: The settings in one line.
        plan: The schema with its settings.
        hierarchical: Whether averages are hierarchical.
        has_thresholds: Whether pass rates are reported.
        interval: Coverage, resamples and seed of bootstrap intervals, if they are reported.
    """

    signature: str
    plan: TreePlan
    hierarchical: bool = False
    has_thresholds: bool = False
    interval: tuple[float, int, int] | None = None


@dataclass(frozen=True, slots=True)
class TreeScore:
    """What :func:`~tls_tasks.trees.tree_eval.tree_eval` returns.

    Attributes:
        metric: ``tree_eval``.
        settings: The settings.
        n_samples: How many rows.
        found: What was found in the samples.
        parses: What reading each prediction was like; nothing if there was nothing to read.
    """

    metric: ClassVar[str] = "tree_eval"
    settings: ScoreSettings
    n_samples: int
    found: Found
    parses: Sequence[ParsedTree] = ()

    @property
    def signature(self) -> str:
        """The settings in one line."""
        return self.settings.signature

    @property
    def plan(self) -> TreePlan:
        """The schema with its settings."""
        return self.settings.plan

    # --- sums ---

    @property
    def parse_failures(self) -> int:
        """How many predictions could not be read at all."""
        return sum(one.failed for one in self.parses)

    @property
    def units(self) -> list[dict[str, float]]:
        """One sample each: its sums by name, with all names in each."""
        names = _names(self.plan)
        amounts = self.found.tally()
        columns = [_spread(amounts.get(key, 0), self.n_samples).tolist() for key in names.values()]
        rows = [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]
        if self.plan.options.aggregate == "macro":
            return [row | {f"mean|{key}": value for key, value in self._judged(row).items()} for row in rows]
        return rows

    def results(self, totals: Mapping[str, float]) -> dict[str, float]:
        """The reported numbers of any sums of :attr:`units`: :data:`KEYS`, rates, and how many type errors there are.

        Example:
            >>> from tls_tasks.trees.tree_eval import tree_eval
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
        rates = {key: totals.get(key, 0.0) / n if n else 0.0 for key in READING}
        return {**judged, **rates, "type_errors": totals.get("issue|type", 0.0)}

    def _judged(self, totals: Mapping[str, float]) -> dict[str, float]:
        parts = [f"{leaf.name}|{metric.name}" for leaf, metric in self.plan.slots]
        sums, numbers = ([totals.get(f"{what}|{part}", 0.0) for part in parts] for what in ("sum", "n"))
        averages = average_leaves(self.plan, leaf_means(sums, numbers), numbers, self.settings.hierarchical)
        return _judged(self.plan, [totals.get(name, 0.0) for name in COUNTS], averages)

    # --- results ---

    @property
    def headline(self) -> dict[str, Any]:
        """``leaves`` and :data:`KEYS` of :meth:`as_dict` alone, which is quicker: for rewards of single trees.

        Example:
            >>> from tls_tasks.trees.tree_eval import tree_eval
            >>> headline = tree_eval([{"a": "baroo"}], [{"a": "bar"}], {"a": "string"}).headline
            >>> headline["leaves"], headline["treeval_score"]
            ({'a': {'indel_ratio': 0.75}}, 0.75)
        """
        result = self._of(*self._totals(), groups={"": self.plan.groups[""]})
        del result["averages"]
        return result

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
        totals, judged = self._totals()
        result = self._of(totals, judged)
        result["fields"] = self.found.fields()
        if self.settings.has_thresholds:
            result["pass_rates"] = {name: _pass_rate(counts) for name, counts in result["fields"].items()}
        n = self.n_samples
        result.update(zip(READING, [amount / n if n else 0.0 for amount in totals.rates], strict=True))
        result["type_errors"] = int(totals.type_errors)
        if self.settings.interval is not None:
            coverage, n_resamples, seed = self.settings.interval
            intervals = bootstrap_results(self, confidence=coverage, n_resamples=n_resamples, seed=seed)
            result |= {f"{key}_ci": list(intervals[key]) for key in KEYS}
        result["signature"] = self.signature
        if detailed:
            result["items"] = self.samples()
            result["parse_failures"] = self.parse_failures
            result["problems"] = {row: dict(one.counts()) for row, one in enumerate(self.parses) if one.problems}
        return result

    def samples(self) -> list[dict[str, Any]]:
        """Each sample's own numbers, leaves, averages and alignments.

        An alignment is a list's path in the reference -> pairs of places: of the reference's item, of the prediction's.
        """
        tally, n = self.found.tally(), self.n_samples
        columns = {key: _spread(amount, n).tolist() for key, amount in tally.items()}
        rows = (totals_of({key: column[row] for key, column in columns.items()}, self.plan) for row in range(n))
        alignments = _alignments(tally.links, n)
        return [{"sample": row, **self._of(sums), "alignments": alignments[row]} for row, sums in enumerate(rows)]

    def _totals(self) -> tuple[Totals, Mapping[str, float] | None]:
        """The sums over all samples, and under ``macro`` the means of their results."""
        totals = self.found.totals()
        return self._macro(totals) if self.plan.options.aggregate == "macro" else (totals, None)

    def _macro(self, totals: Totals) -> tuple[Totals, Mapping[str, float]]:
        """The totals with one vote for each sample at each leaf, and the means."""
        pairs: list[tuple[float, int]] = []
        amounts = self.found.tally()
        for slot in range(len(self.plan.slots)):
            sums = _spread(amounts.get(("sum", slot), 0), self.n_samples)
            numbers = _spread(amounts.get(("n", slot), 0), self.n_samples)
            has = numbers > 0
            pairs.append((math.fsum((sums[has] / numbers[has]).tolist()), int(has.sum())))
        votes = totals._replace(sums=[one for one, _ in pairs], numbers=[n for _, n in pairs])
        units = self.units
        means = total_of([{key: unit[f"mean|{key}"] for key in KEYS} for unit in units])
        return votes, {key: means[key] / self.n_samples for key in KEYS} if units else {}

    def _of(self, totals: Totals, judged: Mapping[str, float] | None = None, groups: Any = None) -> dict[str, Any]:
        """Leaves, judged numbers (or those that are given) and averages (all, or of some groups) of some totals."""
        plan = self.plan
        means = leaf_means(totals.sums, totals.numbers)
        averages = average_leaves(plan, means, totals.numbers, self.settings.hierarchical, groups)
        if not self.n_samples:
            judged = dict.fromkeys(KEYS, 0.0)
        elif judged is None:
            judged = _judged(plan, totals.counts, averages)
        seen = totals.seen if plan.options.unscored_branches == "null" else None
        leaves = _leaf_tree(plan.root, _leaf_scores(plan, means), seen)
        return {
            "leaves": leaves[ROOT] if plan.is_wrapped else leaves,
            **judged,
            "averages": {"per_metric": averages.pop(""), "per_leaf_type": averages},
        }


def _judged(plan: TreePlan, counts: Sequence[float], averages: Averages) -> dict[str, float]:
    """The values of :data:`KEYS`."""
    precision_node, recall_node, f1_node = precision_recall_f1(*counts[:3])
    precision_leaf, recall_leaf, f1_leaf = precision_recall_f1(*counts[3:])
    return {
        "precision_node": precision_node,
        "recall_node": recall_node,
        "f1_node": f1_node,
        "precision_leaf": precision_leaf,
        "recall_leaf": recall_leaf,
        "f1_leaf": f1_leaf,
        "treeval_score": treeval_score(plan, averages[""], f1_node, f1_leaf),
    }


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


def _spread(amount: Amount, n: int) -> Any:
    return np.broadcast_to(np.asarray(amount), (n,))


def _pass_rate(counts: Mapping[str, int]) -> float | None:
    relevant = sum(counts[kind] for kind in FIELDS if kind != "absent")
    return counts["correct"] / relevant if relevant else None


def _leaf_tree(plan: NodePlan, scores: Sequence[Any], seen: Collection[Path] | None) -> Any:
    """The leaves' scores in the shape of the schema; None for dictionaries and lists not ``seen`` in both trees."""
    if isinstance(plan, LeafPlan):
        return scores[plan.index]
    if seen is not None and plan.path and plan.path not in seen:
        return None
    if isinstance(plan, ListPlan):
        return _leaf_tree(plan.item, scores, seen)
    return {
        key: scores[child.index] if type(child) is LeafPlan else _leaf_tree(child, scores, seen)
        for key, child in plan.children.items()
    }


def _leaf_scores(plan: TreePlan, means: Sequence[float | None]) -> Sequence[dict[str, float | None] | None]:
    """Each leaf's means by metric; None where nothing was scored."""
    scores = [blank.copy() for blank in plan.blanks]
    for (index, name), mean in zip(plan.names, means):  # noqa: B905 - one a slot, and saying so takes time
        scores[index][name] = mean
    return scores if None not in means else [None if None in own.values() else own for own in scores]


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
