"""From sums to results: precision and recall, averages over leaves, the treeval score; the details of each sample."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from tls_tasks.core.score import Result, Score, Unit, mean, plain_mean, ratio, sum_parts, total, without_nan
from tls_tasks.core.terminal import shown
from tls_tasks.trees.compliance import find_issues
from tls_tasks.trees.counts import EXACT, IN_BOTH, IN_PREDICTION, IN_REFERENCE, KINDS, Counts
from tls_tasks.trees.differences import MOST_ROWS, Alignments, Row, alignments_in, differences, table_lines, tree_rows
from tls_tasks.trees.grounds import ground_at
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.read import ParsedTree
from tls_tasks.trees.types import EACH_KEY, Branch, ListOf, Path, SchemaNode, UnionNode, path_name

COUNTS = ("node_tp", "node_fp", "node_fn", "leaf_tp", "leaf_fp", "leaf_fn")
"""Nodes, and leaves with a value: in both trees, in the prediction only, in the reference only."""

VALUE_COUNTS = ("value_hits", "value_hits_exact", "value_given", "value_wanted")
"""Of values (leaves that are not null): their similarities, how many are exact, how many each side has."""

VALUE_PARTS = ("similarity", "exact", "met", "wanted")
"""Of the values of a leaf: their similarities, how many are exact, how many pairs have two values, how many values the
reference has."""

_RATES = ("json_valid", "parsed", "repaired", "duplicate_keys", "non_finite", "schema_compliance")
_GOOD = ("json_valid", "parsed", "schema_compliance")
"""Rates of predictions, and those of which higher is better."""


def common_part(path: Path) -> str:
    """Name the part that says whether both trees have this dictionary or list."""
    return f"seen|{path_name(path)}"


@lru_cache(maxsize=64)
def _parts(plan: Plan) -> list[str]:
    """List the parts of a unit: counts, what leaves were, sums of scores and how many there are."""
    kinds = [f"{kind}|{leaf.name}" for leaf in plan.fields for kind in KINDS]
    scores = [leaf.part(what, metric) for leaf in plan.fields for metric in leaf.metrics for what in ("sum", "n")]
    values = [*VALUE_COUNTS, *(f"{part}|{leaf.name}" for leaf in plan.fields for part in VALUE_PARTS)]
    return [*COUNTS, *kinds, *scores, *(map(common_part, plan.containers.values()) if plan.follows_treeval else values)]


def tree_unit(plan: Plan, by_guide: Counts, by_value: Counts) -> dict[str, float]:
    """Make a unit of a pair of trees: of its counts by the guide's pairing, and of those by the values' pairing."""
    unit = dict.fromkeys(_parts(plan), 0.0) | {name: getattr(by_guide, name) for name in COUNTS}
    for node in by_guide.common:
        unit[common_part(plan.containers[id(node)])] += 1
    for outcome in by_guide.leaves:
        if outcome.kind:
            unit[f"{outcome.kind}|{outcome.field.name}"] += 1
        for metric, score in zip(outcome.field.metrics, outcome.scores, strict=False):
            unit[outcome.field.part("sum", metric)] += score
            unit[outcome.field.part("n", metric)] += 1
    if plan.follows_treeval:
        return unit
    unit |= {"value_given": by_value.outside, "value_hits": by_value.similarity}
    for outcome in by_value.leaves:
        name, is_pair, is_exact = outcome.field.name, outcome.kind in IN_BOTH, outcome.similarity >= EXACT
        unit["value_given"] += outcome.kind in IN_PREDICTION
        unit["value_hits_exact"] += is_exact
        if outcome.kind in IN_REFERENCE:
            unit["value_wanted"] += 1
            unit[f"wanted|{name}"] += 1
        if is_pair:
            unit[f"similarity|{name}"] += outcome.similarity
            unit[f"exact|{name}"] += is_exact
            unit[f"met|{name}"] += 1
    return unit


# --- results ---


def rate_results() -> dict[str, Result]:
    """Return the results that are rates of predictions, and the number of type errors."""
    rates = {name: mean(name, better=name in _GOOD) for name in _RATES}
    return {**rates, "type_errors": total("issue|type", better=False)}


def value_results() -> dict[str, Result]:
    """Return the results for values: precision, recall and F1, by similarity and by exact matches."""
    table: dict[str, Result] = {}
    for suffix in ("", "_exact"):
        parts = (f"value_hits{suffix}", "value_given", "value_wanted")
        table |= {f"{name}_value{suffix}": Result(parts, partial(_value_rate, name), math.nan) for name in _NAMES}
    return table


_NAMES = ("f1", "precision", "recall")


def _value_rate(name: str, hits: float, n_pred: float, n_ref: float) -> float:
    """Return precision, recall or F1 (``name``) of values: ``hits`` by their number on one side, or on average."""
    if n_pred + n_ref == 0:
        return math.nan
    divisor = {"f1": 0.5 * n_pred + 0.5 * n_ref, "precision": n_pred, "recall": n_ref}[name]
    return hits / divisor if divisor else 0.0


VALUE_KEYS = tuple(value_results())


def grounded_results() -> dict[str, Result]:
    """Return the results for grounded values, quotes and fabricated fields; NaN for shares of nothing.

    The parts are those of :func:`tls_tasks.trees.grounds.grounded_unit`.
    """
    parts = ("grounded_hits", "value_given", "value_wanted")
    return {
        **{f"grounded_{name}": Result(parts, partial(_value_rate, name), math.nan) for name in _NAMES},
        "quote_in_source": ratio("quote_found", "quoted", empty=math.nan),
        "value_in_quote": ratio("quote_read", "quoted", empty=math.nan),
        "fabricated": ratio("filled", "left_empty", empty=math.nan, better=False),
        "fabricated_quoted": ratio("filled_quoted", "left_empty", empty=math.nan, better=False),
    }


def node_results(empty: float = 0.0, *, has_values: bool = True) -> dict[str, Result]:
    """Return precision, recall and F1 of nodes and leaves; ``empty`` is their value for no documents.

    A leaf counts where both trees have it, so that by its counts alone an answer without values would be perfect. If
    the units have the numbers of values (``has_values``), it is 0 where a reference has one.
    """
    leaf_parts = (*COUNTS[3:], "value_given", "value_wanted") if has_values else COUNTS[3:]
    return {
        f"{name}_{part}": Result(
            parts, partial(_node_rate, name), empty, best_of_nothing=part == "leaf" or name == "precision"
        )
        for part, parts in (("node", COUNTS[:3]), ("leaf", leaf_parts))
        for name in ("precision", "recall", "f1")
    }


def _node_rate(name: str, hits: float, extra: float, missed: float, n_pred: float = 0, n_ref: float = 0) -> float:
    if n_pred == 0 < n_ref:
        return 0.0
    precision = hits / (hits + extra) if hits + extra else 1.0
    recall = hits / (hits + missed) if hits + missed else 1.0
    if name == "f1":
        return 2 * (precision * recall) / (precision + recall) if precision + recall else 0.0
    return precision if name == "precision" else recall


KEYS = (*node_results(), "treeval_score")
"""The result keys of treeval, each in [0, 1]."""


# --- leaves ---


def _score_parts(plan: Plan) -> list[tuple[str, str]]:
    """List for each metric of each leaf the names of two unit parts: the sum of its scores, and their number."""
    return [(field.part("sum", metric), field.part("n", metric)) for field in plan.fields for metric in field.metrics]


@lru_cache(maxsize=64)
def main_results(plan: Plan) -> dict[str, Result]:
    """Return the results that judge a prediction: of values (but for treeval's profile), and those of :data:`KEYS`."""
    by_node = node_results(has_values=not plan.follows_treeval)
    sums = [part for parts in _score_parts(plan) for part in parts]
    parts = (*by_node["f1_node"].parts, *by_node["f1_leaf"].parts, *sums)
    by_value = {} if plan.follows_treeval else value_results()
    grounded = grounded_results() if plan.has_sources else {}
    return {**by_value, **grounded, **by_node, "treeval_score": Result(parts, partial(_treeval_score, plan, parts))}


def _treeval_score(plan: Plan, parts: Sequence[str], *sums: float) -> float:
    """Return the mean of the normalised averages per metric (1 if there is none), times node F1, times leaf F1."""
    averages = _averages(plan, dict(zip(parts, sums, strict=True)))[1][""]
    clip = not plan.follows_treeval
    defined = [float(plan.metrics[name].normalize(mean, clip)) for name, mean in averages.items() if mean is not None]
    leaf_sums = sums[3 : 6 if plan.follows_treeval else 8]
    return (plain_mean(defined) if defined else 1.0) * _node_rate("f1", *sums[:3]) * _node_rate("f1", *leaf_sums)


_Scores = dict[str, "float | None"]
"""Metric -> mean score; None where nothing was scored."""


def _averages(plan: Plan, sums: Unit) -> tuple[list[_Scores], dict[str, _Scores]]:
    """Return each leaf's mean scores; and label -> mean scores over leaves of a type, or of all (label ``""``)."""
    means = iter([sums[part] / n if (n := sums.get(n_part)) else None for part, n_part in _score_parts(plan)])
    scores: list[_Scores] = [{metric.name: next(means) for metric in field.metrics} for field in plan.fields]
    averages: dict[str, _Scores] = {"": {}}
    for field, leaf_scores in zip(plan.fields, scores, strict=True):
        for label in ("", field.kind):
            averages.setdefault(label, {}).update(dict.fromkeys(leaf_scores))
    for (label, name), values in _votes(plan.root, dict(enumerate(scores)), plan.hierarchical).items():
        averages[label][name] = plain_mean(values)
    return scores, averages


def _votes(node: SchemaNode, scores: dict[int, _Scores], hierarchical: bool) -> dict[tuple[str, str], list[float]]:
    """Return (type or ``""``, metric) -> the values that are averaged for it."""
    if isinstance(node, Field):  # a leaf that stands in several places has one vote
        defined = {name: score for name, score in scores.pop(node.index, {}).items() if score is not None}
        return {(label, name): [score] for name, score in defined.items() for label in ("", node.kind)}
    if isinstance(node, ListOf):
        return _votes(node.item, scores, hierarchical)
    children: Sequence[SchemaNode] = node.parts if isinstance(node, UnionNode) else ()
    if isinstance(node, Branch):
        children = [*node.children.values(), *([node.rest] if node.rest else ())]
    is_own_vote = hierarchical and not isinstance(node, UnionNode)
    votes: dict[tuple[str, str], list[float]] = {}
    for child in children:
        for key, values in _votes(child, scores, is_own_vote).items():
            votes.setdefault(key, []).extend([plain_mean(values)] if is_own_vote else values)
    return votes


# --- what a score says besides ---


def score_details(plan: Plan, score: Score) -> dict[str, Any]:
    """Return a score's details beside its numbers: ``values``, ``leaves``, ``averages`` and ``fields``."""
    sums = Counter(sum_parts(score.units, score.units[0] if score.units else ()))
    fields = {field.name: {kind: int(sums.get(f"{kind}|{field.name}", 0)) for kind in KINDS} for field in plan.fields}
    values = {} if plan.follows_treeval else {"values": _values_per_leaf(plan, sums)}
    return {**values, **_leaves_and_averages(plan, sums), "fields": fields}


OUTSIDE_SCHEMA = "(outside the schema)"
"""Stands among the leaves' names for the values of predictions where the schema has no leaf."""


def _values_per_leaf(plan: Plan, sums: Unit) -> dict[str, dict[str, Any]]:
    """Return leaf name -> rates and counts of its values; values outside the schema have an entry if there are any."""
    values = {field.name: _leaf_values(field, sums) for field in plan.fields}
    n_predicted = sum(counts[kind] for counts in values.values() for kind in ("correct", "wrong", "invented"))
    if outside := int(sums.get("value_given", 0)) - n_predicted:
        rates = {f"{name}_value": 0.0 for name in _NAMES}
        values[OUTSIDE_SCHEMA] = {**rates, "correct": 0, "wrong": 0, "missed": 0, "invented": outside}
    return values


def _leaf_values(field: Field, sums: Unit) -> dict[str, Any]:
    """Return precision, recall and F1 of a leaf's values (None for no values), and how many are correct, wrong ….

    In a list they are those of the items that are aligned by similarity.
    """
    n_pred = sum(int(sums[f"{kind}|{field.name}"]) for kind in ("correct", "wrong", "invented"))
    right, paired, n_ref = (int(sums[f"{part}|{field.name}"]) for part in VALUE_PARTS[1:])
    counts = {"correct": right, "wrong": paired - right, "missed": n_ref - paired, "invented": n_pred - paired}
    hits = sums.get(f"similarity|{field.name}", 0.0)
    rates = {f"{name}_value": _value_rate(name, hits, n_pred, n_ref) for name in _NAMES}
    return {**without_nan(rates), **counts}


def _leaves_and_averages(plan: Plan, sums: Unit) -> dict[str, Any]:
    scores, averages = _averages(plan, sums)
    seen = {part for part, n in sums.items() if part.startswith("seen|") and n} if plan.follows_treeval else None
    leaves = _leaf_tree(plan.root, (), scores, seen)
    return {"leaves": leaves, "averages": {"per_metric": averages.pop(""), "per_leaf_type": averages}}


def _leaf_tree(node: SchemaNode, path: Path, scores: Sequence[_Scores], seen: set[str] | None) -> Any:
    """Return the leaves' scores in the shape of the schema; None for nodes that are not in ``seen``, if it is given."""
    if isinstance(node, Field):
        return None if None in scores[node.index].values() else scores[node.index]
    if seen is not None and path and common_part(path) not in seen:
        return None
    if isinstance(node, ListOf):
        return _leaf_tree(node.item, path, scores, seen)
    if isinstance(node, UnionNode):  # mostly one kind has scores; else a leaf stands beside the keys of a dictionary
        trees = [tree for part in node.parts if (tree := _leaf_tree(part, path, scores, seen)) not in (None, {})]
        merged = {key: child for tree in trees for key, child in tree.items()}
        return trees[0] if len(trees) == 1 else merged or None
    if not isinstance(node, Branch):
        return None
    tree = {key: _leaf_tree(child, (*path, key), scores, seen) for key, child in node.children.items()}
    if node.rest is not None and (rest := _leaf_tree(node.rest, (*path, EACH_KEY), scores, seen)) not in (None, {}):
        tree[str(EACH_KEY)] = rest
    return tree


_LONGEST = 500  # characters of a line


class Sample(NamedTuple):
    """One prediction and its reference.

    Attributes:
        plan: The schema with its settings.
        row: Which row it is.
        units: The units of all rows.
        expected: The reference tree; ``reference`` would be the number of one of several references.
        parsed: The prediction as it was read.
        choices: Which items of lists, and which answers, were compared for the scores of values.
    """

    plan: Plan
    row: int
    units: Sequence[Unit]
    expected: Any
    parsed: ParsedTree
    choices: Sequence[tuple[Any, Any]]

    @property
    def prediction(self) -> Any:
        """The predicted tree; an empty one where none could be read."""
        return {} if self.parsed.failed and isinstance(self.expected, dict) else self.parsed.value

    @property
    def trees(self) -> tuple[Any, Any]:
        """The reference and the predicted tree."""
        return self.expected, self.prediction

    @property
    def alignments(self) -> Alignments:
        """Path of a list in the reference, such as ``lines[0].notes`` -> pairs of positions.

        Of each pair the first is of the reference's item, the second of the prediction's.
        """
        return alignments_in(self.expected, self.choices)

    def differences(self) -> list[dict[str, Any]]:
        """List the values that are wrong, missed or invented, see :func:`~tls_tasks.trees.differences.differences`."""
        records = differences(*self.trees, self.plan, self.alignments, self.has_grounds)
        return [{"row": self.row, **record} for record in records]

    def has_grounds(self, path: Path) -> bool:
        """Tell whether the predicted value at a path is grounded; True for every path if there is no source."""
        ground = ground_at(self.parsed.grounds, path)
        return self.parsed.grounds is None or (ground is not None and ground.holds)

    def side_by_side(self) -> list[Row]:
        """List the rows of both trees, see :func:`~tls_tasks.trees.differences.tree_rows`."""
        return tree_rows(*self.trees, self.plan, self.alignments)

    def explained(self) -> Iterator[str]:
        """Yield lines of text: both trees side by side, problems of reading, and issues with the schema."""
        yield from (f"  {line}" if line else "" for line in table_lines(self.side_by_side()))
        for record in self.differences() if self.parsed.grounds is not None else ():
            if record["kind"] == "ungrounded":
                yield shown(f"  ungrounded: {record['path']}: {record['got']!r}", _LONGEST)
        yield from (f"  reading: {shown(note.kind)}: {shown(note.detail, _LONGEST)}" for note in self.parsed.problems)
        issues = [] if self.parsed.failed else find_issues(self.parsed.guide_tree, self.plan.root)
        yield from (f"  schema: {shown(str(issue), _LONGEST)}" for issue in issues[:MOST_ROWS])

    def as_dict(self) -> dict[str, Any]:
        """Return the results of this row alone: its numbers, leaves, averages and alignments."""
        unit = self.units[self.row]
        return {
            "sample": self.row,
            **{key: result.value([unit]) for key, result in main_results(self.plan).items()},
            **_leaves_and_averages(self.plan, unit),
            "alignments": {path_name(path): [list(pair) for pair in pairs] for path, pairs in self.alignments.items()},
        }
