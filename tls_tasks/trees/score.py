"""From sums to results: precision and recall, averages over leaves, the treeval score; what is said of each sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from tls_tasks.core.prf import plain_mean
from tls_tasks.core.score import Result, Score, Unit, mean, ratio, sums_of, total, without_nan
from tls_tasks.trees.alignments import alignments_of
from tls_tasks.trees.counts import COUNTS, GUIDE, KINDS, SOFT, VALUE_PARTS, seen_part
from tls_tasks.trees.differences import differences
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import EACH_KEY, Branch, ListOf, OneOf, Path, SchemaNode, path_name

_RATES = {
    "json_valid": True,
    "parsed": True,
    "repaired": False,
    "duplicate_keys": False,
    "non_finite": False,
    "schema_compliance": True,
}
"""Rates of predictions -> whether higher is better."""

Averages = dict[str, dict[str, "float | None"]]
"""Type -> metric -> mean over leaves; ``""`` for all types, None where nothing was scored."""


@lru_cache(maxsize=64)
def results(plan: Plan) -> dict[str, Result]:
    """The table of results: :func:`judged`, rates of reading and compliance, the number of type errors."""
    own = judged(plan)
    if plan.options.aggregate == "macro":  # over the samples that have a value
        own = {key: ratio(f"mean|{key}", f"n|{key}", empty=result.empty) for key, result in own.items()}
    return {**own, **rate_results()}


def rate_results() -> dict[str, Result]:
    """How many predictions are what, and the number of type errors."""
    rates = {name: mean(name, better=better) for name, better in _RATES.items()}
    return {**rates, "type_errors": total("issue|type", better=False)}


def value_results() -> dict[str, Result]:
    """Precision, recall and F1 of values, by similarity and by exact matches; NaN where neither side has a value."""
    return {
        f"{name}_value{suffix}": Result(
            (f"value_hits{suffix}", "value_given", f"value_wanted{suffix}"), partial(_of_values, name), math.nan
        )
        for suffix in ("", "_exact")
        for name in _DIVISORS
    }


_DIVISORS: Mapping[str, tuple[float, float]] = {"f1": (0.5, 0.5), "precision": (1, 0), "recall": (0, 1)}
"""What the sum of similarities is divided by: how much of the values given, and of those wanted."""


def _of_values(name: str, hits: float, given: float, wanted: float) -> float:
    if given + wanted == 0:
        return math.nan
    of_given, of_wanted = _DIVISORS[name]
    divisor = of_given * given + of_wanted * wanted
    return hits / divisor if divisor else 0.0


VALUE_KEYS = tuple(value_results())


def node_results(empty: float = 0.0, *, for_silence: float | None = 0.0) -> dict[str, Result]:
    """Precision, recall and F1 of nodes and leaves.

    Args:
        empty: Of no documents.
        for_silence: Of leaves where no answer has a value though a reference has one; None: what the counts give.
    """
    leaf_parts = (*COUNTS[3:], *(() if for_silence is None else ("value_given", "value_wanted")))
    return {
        f"{name}_{part}": Result(
            parts,
            partial(_unless_silent, function, for_silence) if part == "leaf" else function,
            empty,
            best_of_nothing=part == "leaf" or name == "precision",  # leaves count in both trees only
        )
        for part, parts in (("node", COUNTS[:3]), ("leaf", leaf_parts))
        for name, function in (("precision", _precision), ("recall", _recall), ("f1", _f1))
    }


def _unless_silent(function: Callable[[float, float, float], float], for_silence: float | None, *sums: float) -> float:
    """What a function makes of three counts; the number ``for_silence`` where of values given and wanted none is given.

    A leaf counts where both trees have it, so that by its counts alone an answer without values would be perfect.
    """
    if for_silence is not None and sums[3] == 0 < sums[4]:
        return for_silence
    return function(*sums[:3])


def _precision(hits: float, extra: float, missed: float) -> float:
    return hits / (hits + extra) if hits + extra else 1.0


def _recall(hits: float, extra: float, missed: float) -> float:
    return hits / (hits + missed) if hits + missed else 1.0


def _f1(hits: float, extra: float, missed: float) -> float:
    precision, recall = _precision(hits, extra, missed), _recall(hits, extra, missed)
    return 2 * (precision * recall) / (precision + recall) if precision + recall else 0.0


KEYS = (*node_results(), "treeval_score")
"""The result keys of treeval, each in [0, 1]."""


def with_means(plan: Plan, units: Sequence[Unit]) -> list[dict[str, float]]:
    """Units with their own results as parts, of which ``aggregate="macro"`` takes the mean; NaN has no vote."""
    table, found = judged(plan), list[dict[str, float]]()
    for unit in units:
        own = {key: result.value([unit]) for key, result in table.items()}
        votes = {f"n|{key}": float(not math.isnan(value)) for key, value in own.items()}
        found.append(
            {**unit, **votes, **{f"mean|{key}": value if value == value else 0.0 for key, value in own.items()}}
        )
    return found


# --- leaves ---


def _score_parts(plan: Plan, what: str) -> list[str]:
    return [field.part(what, metric) for field in plan.fields for metric in field.metrics]


@lru_cache(maxsize=64)
def judged(plan: Plan) -> dict[str, Result]:
    """The results by which a prediction is judged: those of values, but for treeval's profile, and :data:`KEYS`."""
    if plan.follows_treeval:
        of_values, of_nodes = {}, node_results(for_silence=None)
    else:
        of_values, of_nodes = value_results(), node_results()
    parts = (*of_nodes["f1_node"].parts, *of_nodes["f1_leaf"].parts)
    parts += (*_score_parts(plan, "sum"), *_score_parts(plan, "n"))
    return {**of_values, **of_nodes, "treeval_score": Result(parts, partial(_treeval_score, plan, of_nodes))}


def _treeval_score(plan: Plan, of_nodes: Mapping[str, Result], *sums: float) -> float:
    """The mean of the normalised averages per metric, times node F1, times leaf F1; 1 for the mean of none."""
    node, leaf = of_nodes["f1_node"], of_nodes["f1_leaf"]
    n_counts = len(node.parts) + len(leaf.parts)
    counts, scores = sums[:n_counts], sums[n_counts:]
    means = _means(scores[: len(scores) // 2], scores[len(scores) // 2 :])
    averages = _average_leaves(plan, means)[""]
    clip = not plan.follows_treeval
    known = [float(plan.metrics[name].normalize(mean, clip)) for name, mean in averages.items() if mean is not None]
    return (plain_mean(known) if known else 1.0) * node.of(*counts[:3]) * leaf.of(*counts[3:])


def _means(sums: Sequence[float], numbers: Sequence[float]) -> tuple[float | None, ...]:
    """The mean score of each metric at each leaf; None where nothing was scored."""
    return tuple([total / n if n else None for total, n in zip(sums, numbers, strict=True)])


@lru_cache(maxsize=1)  # a score's results and its details want the same
def _average_leaves(plan: Plan, means: tuple[float | None, ...]) -> Averages:
    """The mean of each metric over leaves: of all leaves, and of each type's.

    Args:
        plan: The plan.
        means: The mean of each metric at each leaf, in the order of the plan.
    """
    named = ((field, metric.name) for field in plan.fields for metric in field.metrics)
    scores: dict[int, dict[str, float | None]] = {}
    averages: Averages = {"": {}}
    for (field, name), score in zip(named, means, strict=True):
        scores.setdefault(field.index, {})[name] = score
        for label in ("", field.kind):
            averages.setdefault(label, {})[name] = None
    for (label, name), values in _votes(plan.root, scores, plan.hierarchical).items():
        averages[label][name] = plain_mean(values)
    return averages


def _votes(
    node: SchemaNode, scores: dict[int, dict[str, float | None]], hierarchical: bool
) -> dict[tuple[str, str], list[float]]:
    """By type and metric, the values of which an average is taken."""
    votes: dict[tuple[str, str], list[float]] = {}
    if isinstance(node, ListOf):
        return _votes(node.item, scores, hierarchical)
    if isinstance(node, OneOf):
        return _votes(Branch(dict(enumerate(node.parts))), scores, False)
    if isinstance(node, Field):  # a leaf that stands in several places has one vote
        known = {name: score for name, score in scores.pop(node.index, {}).items() if score is not None}
        return {(label, name): [score] for name, score in known.items() for label in ("", node.kind)}
    children = (
        [*node.children.values(), *([] if node.rest is None else [node.rest])] if isinstance(node, Branch) else ()
    )
    for child in children:
        for key, values in _votes(child, scores, hierarchical).items():
            votes.setdefault(key, []).extend([plain_mean(values)] if hierarchical else values)
    return votes


# --- what a score says besides ---


def details_of(plan: Plan, score: Score) -> dict[str, Any]:
    """What a score says beside its numbers: ``leaves``, ``averages`` and ``fields``."""
    sums: Unit = sums_of(score.units, score.units[0] if score.units else ())
    if plan.options.aggregate == "macro":  # one vote for each sample at each leaf
        for total_part, n_part in zip(_score_parts(plan, "sum"), _score_parts(plan, "n"), strict=True):
            votes = [unit[total_part] / unit[n_part] for unit in score.units if unit[n_part]]
            sums = {**sums, total_part: math.fsum(votes), n_part: len(votes)}
    fields = {field.name: {kind: int(sums.get(f"{kind}|{field.name}", 0)) for kind in KINDS} for field in plan.fields}
    values = {} if plan.follows_treeval else {"values": {field.name: _of_field(field, sums) for field in plan.fields}}
    return {**values, **_leaves_and_averages(plan, sums), "fields": fields}


def _of_field(field: Field, sums: Unit) -> dict[str, float | int | None]:
    """Precision, recall and F1 of a leaf's values, None where there are none, and how many are what.

    In a list they are those of the items that are aligned by similarity.
    """
    given = sum(int(sums.get(f"{kind}|{field.name}", 0)) for kind in ("correct", "wrong", "invented"))
    right, met, spare, wanted = (int(sums.get(f"{part}|{field.name}", 0)) for part in VALUE_PARTS[1:])
    missed = wanted + spare - met
    counts = {"correct": right, "wrong": met - right, "missed": missed, "invented": given - met}
    hits = sums.get(f"soft|sum|{field.name}", 0.0)
    own = {
        f"{name}_value": _of_values(name, hits, met + counts["invented"], met + counts["missed"]) for name in _DIVISORS
    }
    return {**without_nan(own), **counts}


def _leaves_and_averages(plan: Plan, sums: Unit) -> dict[str, Any]:
    means = _means(*([sums.get(part, 0.0) for part in _score_parts(plan, what)] for what in ("sum", "n")))
    averages = _average_leaves(plan, means)
    of_leaf = iter(means)
    scores = [{metric.name: next(of_leaf) for metric in field.metrics} for field in plan.fields]
    seen = None
    if plan.follows_treeval:
        seen = {part for part, n in sums.items() if part.startswith("seen|") and n}
    return {
        "leaves": _leaf_tree(plan.root, (), scores, seen),
        "averages": {
            "per_metric": dict(averages[""]),
            "per_leaf_type": {kind: dict(of_kind) for kind, of_kind in averages.items() if kind},
        },
    }


def _leaf_tree(node: SchemaNode, path: Path, scores: Sequence[Mapping[str, Any]], seen: set[str] | None) -> Any:
    """The leaves' scores in the shape of the schema; None for dictionaries and lists not ``seen`` in both trees."""
    if isinstance(node, Field):
        return None if None in scores[node.index].values() else scores[node.index]
    if seen is not None and path and seen_part(path) not in seen:
        return None
    if isinstance(node, ListOf):
        return _leaf_tree(node.item, path, scores, seen)
    if isinstance(node, OneOf):  # of one kind or of none as a rule; else a leaf stands beside the keys of a dictionary
        trees = [tree for part in node.parts if (tree := _leaf_tree(part, path, scores, seen)) not in (None, {})]
        keyed = {key: own for tree in trees for key, own in tree.items()}
        return trees[0] if len(trees) == 1 else keyed or None
    if not isinstance(node, Branch):
        return None
    tree = {key: _leaf_tree(child, (*path, key), scores, seen) for key, child in node.children.items()}
    if node.rest is not None and (rest := _leaf_tree(node.rest, (*path, EACH_KEY), scores, seen)) not in (None, {}):
        tree[str(EACH_KEY)] = rest
    return tree


class Sample(NamedTuple):
    """One prediction and its reference.

    Attributes:
        plan: The schema with its settings.
        row: Which row it is.
        units: The units of all rows.
        trees: The reference and the prediction.
    """

    plan: Plan
    row: int
    units: Sequence[Unit]
    trees: tuple[Any, Any]

    @property
    def alignments(self) -> Mapping[Path, Sequence[tuple[int, int]]]:
        """Path of a list in the reference, such as ``lines[0].notes`` -> pairs of positions.

        Of each pair the first is of the reference's item, the second of the prediction's.
        """
        return alignments_of(self.plan, *self.trees, GUIDE)

    def differences(self) -> list[dict[str, Any]]:
        """What of its values is wrong, missed or invented, see :func:`~tls_tasks.trees.differences.differences`."""
        objective = GUIDE if self.plan.follows_treeval else SOFT
        alignments = alignments_of(self.plan, *self.trees, objective)
        return [{"row": self.row, **own} for own in differences(*self.trees, self.plan, alignments)]

    def as_dict(self) -> dict[str, Any]:
        """Its own numbers, leaves, averages and alignments."""
        unit = self.units[self.row]
        return {
            "sample": self.row,
            **{key: result.value([unit]) for key, result in judged(self.plan).items()},
            **_leaves_and_averages(self.plan, unit),
            "alignments": {path_name(path): [list(pair) for pair in found] for path, found in self.alignments.items()},
        }
