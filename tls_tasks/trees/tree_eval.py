"""tree_eval: structured answers (JSON trees) scored leaf by leaf, and node by node, against reference trees.

Original: treeval (git a56937f) and its conceptual guide. The defaults follow the guide; ``compat="treeval"`` gives the
program's numbers wherever it has any. What differs is in ``docs/tree_eval_options.md``.
"""

import marshal
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from tls_tasks.core.errors import InputError, check_choice, check_switches, warn_of_unread
from tls_tasks.core.options import INTERVAL, interval_options, interval_sign, signature, signed_by
from tls_tasks.core.score import Score
from tls_tasks.trees.compare import compare_trees
from tls_tasks.trees.compliance import ISSUE_KINDS, find_issues, reference_violations
from tls_tasks.trees.counts import Counts, LeafScorer
from tls_tasks.trees.grounds import GroundedPairing, find_ground, grounded_unit, grounds_by_list
from tls_tasks.trees.pairing import Lists, Pairing
from tls_tasks.trees.plan import Plan, make_plan
from tls_tasks.trees.read import MODES, ParsedTree
from tls_tasks.trees.rows import read_rows
from tls_tasks.trees.score import Sample, main_results, rate_results, score_details, tree_unit
from tls_tasks.trees.shape import infer_schema
from tls_tasks.trees.types import AnyOf, Branch, ListOf, SchemaNode
from tls_tasks.trees.value_normalization import EXPECTED_DATE, parse_numbers, unread_dates
from tls_tasks.trees.values import MISSING
from tls_tasks.trees.weights import GUIDE, VALUES

VERSION = 6


@dataclass(frozen=True, slots=True)
class _TreeEvalConfig:
    """The settings of :func:`tree_eval`, as they stand in its signature."""

    leaves: str = field(metadata={"of": ("schema", "list_order")})
    metrics: str = field(metadata={"of": ("leaf_metrics",)})
    options: str = field(metadata={"of": ("compat", "day_month")})
    averaging: str = field(default="flat", metadata={"sign": "avg", "of": ("hierarchical_averaging",)})
    schema: str = field(default="given", metadata={"quiet": "given", "of": ()})
    parse_mode: str = field(default="lenient", metadata={"sign": "parse"})
    quotes: bool = field(default=False, metadata={"quiet": False, "of": ()})  # sources are no option, but decide it
    interval: str = field(default="", metadata={"sign": "ci", "quiet": "", "of": INTERVAL})


@signed_by(_TreeEvalConfig, data=("predictions", "references", "sources"))
def tree_eval(
    predictions: Sequence[Any],
    references: Sequence[Any],
    schema: Any = None,
    leaf_metrics: Any = None,
    *,
    sources: Sequence[str | None] | None = None,
    compat: str | None = None,
    list_order: Any = "unordered",
    day_month: str = "as_written",
    hierarchical_averaging: bool = False,
    parse_mode: str = "lenient",
    confidence_interval: float | None = None,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> Score:
    """Score trees against reference trees of the same schema.

    Args:
        predictions: One tree a row: plain Python values, JSON text, or whatever a model wrote. None and ``null`` are no
            answer, unless the reference accepts null.
        references: One tree a row: plain Python values or JSON text; several valid answers of a leaf,
            a dictionary or a list as ``{"$any_of": [...]}`` or :class:`~tls_tasks.trees.types.AnyOf`.
        schema: What :func:`~tls_tasks.trees.schema.read_schema` reads: treeval's form ("string", ["string"],
            ["4/4", "2/2"] for a choice, dictionaries, [{...}]), JSON Schema, what pydantic's TypeAdapter takes.
            None: the references' own shape, so that keys that none of them has are too many.
        leaf_metrics: Type or path -> a metric or a list of them, or a tree in the shape of the schema. Metrics are
            names, ``{"metric": name, option: value}``, functions, or modules of evaluate, see
            :func:`~tls_tasks.trees.leaf_metrics.resolve_metric`. None: the defaults of the types.
        sources: The documents' texts, one a row: predictions may give values with their quotes, as
            ``{"value": 3, "quote": "3 men"}`` or as ``{"answer": …, "quotes": …}``, each in the shape of the tree.
            None, or None for every row: there are none, and these are dictionaries like any other.
        compat: None: the numbers of treeval's guide. ``treeval``: those of its program, which takes no
            ``sources``.
        list_order: ``unordered``, ``ordered``, or path -> one of these.
        day_month: What ``01/02/2024`` is, for the scores of values: a text (``as_written``), or a day (``day_first``,
            ``month_first``); not with ``compat``.
        hierarchical_averaging: Whether the mean of a dictionary counts as one value in the mean of the dictionary that
            contains it.
        parse_mode: How model text is read: ``lenient``, or ``strict``: JSON and nothing else.
        confidence_interval: Coverage of intervals of the main results over rows, for example 0.95.
        n_resamples: Resamples of a bootstrap, which is made of 100 rows or more.
        seed: Seed of the bootstrap.

    Returns:
        Of values (leaves that are not null): ``precision_value``, ``recall_value``, ``f1_value``, the sum of the
        similarities of matched values, divided by the number of values; ``precision_value_exact`` … count the values
        that are right. NaN if neither side has a value; left out with ``compat="treeval"``.
        Of the structure: ``precision_node``, ``recall_node``, ``f1_node``. Of leaves with a value on both sides:
        ``precision_leaf``, ``recall_leaf``, ``f1_leaf``. ``treeval_score``: the mean of the metrics times both F1. All
        of these are in [0, 1].
        ``leaves``: a tree in the shape of the schema, without its lists; each leaf has the means of its metrics, or
        None if nothing was scored. ``values``: path -> precision, recall and F1 of its values, and how many are
        correct, wrong, missed and invented; values outside the schema have a line. ``averages``:
        ``per_metric`` and ``per_leaf_type``. ``fields``: path -> how many leaves are correct, wrong, missed, invented
        and rightly absent.
        ``json_valid``, ``parsed``, ``repaired``, ``duplicate_keys``, ``non_finite``, ``schema_compliance``: rates of
        predictions. ``type_errors``: how many values have another type than the schema says. ``<key>_ci`` ([low, high])
        where asked for.

        With ``sources``: ``grounded_precision``, ``grounded_recall`` and ``grounded_f1`` are those of values, but a
        similarity counts only if the value's quote stands in the source and the value can be read from it;
        ``quote_in_source`` and ``value_in_quote``: shares of quoted values; ``fabricated``: of the fields that the
        reference leaves null or out, the share that is filled, and ``fabricated_quoted`` with a quote. NaN of nothing.

    Raises:
        InputError: Rows that can't be scored: columns of unequal length, a reference that doesn't follow the schema.
        OptionError: An option or metric that doesn't exist.

    Warns:
        ParseFailureWarning: Predictions in which nothing could be read.

    Example:
        >>> schema = {"name": "string", "year": "integer", "tags": ["string"]}
        >>> gold = {"name": "Café", "year": 2024, "tags": ["food", "drink"]}
        >>> score = tree_eval(['{"name": "Cafe", "year": 2024, "tags": ["drink"]}'], [gold], schema).as_dict()
        >>> score["leaves"]
        {'name': {'indel_ratio': 0.75}, 'year': {'exact_match': 1.0}, 'tags': {'indel_ratio': 1.0}}
        >>> round(score["recall_node"], 2), score["fields"]["tags"]["missed"]
        (0.8, 1)
    """
    check_choice("compat", compat, (None, "treeval"))
    check_choice("parse_mode", parse_mode, MODES)
    check_switches(hierarchical_averaging=hierarchical_averaging)
    interval = interval_options(confidence_interval, n_resamples, seed)
    if isinstance(sources, list | tuple) and all(text is None for text in sources):
        sources = None
    if compat and sources is not None:
        raise InputError("sources", None, f"texts with compat={compat!r}", "no sources: that program knows no quotes")
    quoted, shape = sources is not None, "given" if schema is not None else "references"
    schema = infer_schema(predictions, references) if schema is None else schema
    plan = _cached_plan(schema, compat, leaf_metrics, list_order, day_month, hierarchical_averaging, quoted)
    columns = predictions, references, plan.root, parse_mode, compat is None
    rows = [
        (parsed, _check_reference(plan, row, parsed, tree))
        for row, (parsed, tree) in enumerate(read_rows(*columns, sources, partial(find_ground, plan)))
    ]
    items = _samples(plan, rows)
    metrics = ",".join(sorted({metric.signature for field in plan.fields for metric in field.metrics}))
    averaging = "hierarchical" if hierarchical_averaging else "flat"
    profile = (compat or "guide") + (f",day_month={day_month}" if day_month != "as_written" else "")
    config = _TreeEvalConfig(
        plan.digest, metrics, profile, averaging, shape, parse_mode, quoted, interval_sign(interval)
    )
    return Score(
        signature=signature("tree_eval", config, VERSION),
        units=items[0].units if items else [],
        definitions={**main_results(plan), **rate_results()},
        items=items,
        more=partial(score_details, plan),
        interval=None if interval is None else {**interval, "keys": list(main_results(plan))},
        explanation=Sample.explained,
        **_reading_summary([parsed for parsed, _ in rows]),
    )


def _reading_summary(parses: Sequence[ParsedTree]) -> dict[str, Any]:
    """Return a Score's arguments on how predictions were read; warn of those in which nothing could be read."""
    unread = [row for row, parsed in enumerate(parses) if parsed.failed]
    warn_of_unread(unread, len(parses), "trees")
    problems = {row: parsed.kinds() for row, parsed in enumerate(parses) if parsed.problems}
    return {"metric": "tree_eval", "problems": problems, "parse_failures": len(unread)}


def _reading_unit(parsed: ParsedTree, root: SchemaNode) -> dict[str, float]:
    """Return the unit parts on how a prediction was read, and on its compliance with the schema."""
    issues = [] if parsed.failed else [issue.kind for issue in find_issues(parsed.guide_tree, root)]
    kinds = {f"issue|{kind}": issues.count(kind) for kind in ISSUE_KINDS}
    return {**parsed.rates(), "n": 1, "schema_compliance": not issues and not parsed.failed, **kinds}


def _cached_plan(*settings: Any) -> Plan:
    """Return the plan of these settings; it is cached if they are plain values."""
    try:
        return _plan_from_bytes(marshal.dumps(settings, 2))  # tells 1, 1.0 and True, lists and tuples apart
    except ValueError:  # functions, modules, classes; or settings that are refused, once more
        return make_plan(*settings)


@lru_cache(maxsize=64)
def _plan_from_bytes(settings: bytes) -> Plan:
    """Return the plan of marshalled settings; making it takes longer than scoring a tree."""
    return make_plan(*marshal.loads(settings))  # noqa: S302 - our own, from above


def _samples(plan: Plan, rows: Sequence[tuple[ParsedTree, Any]]) -> list[Sample]:
    """Score all pairs of trees; return a sample with its unit for each."""
    units, samples = list[dict[str, float]](), list[Sample]()
    for row, ((parsed, tree), counts) in enumerate(zip(rows, count_trees(plan, rows), strict=True)):
        unit = tree_unit(plan, *counts) | _reading_unit(parsed, plan.root)
        sample = Sample(plan, row, units, tree, parsed, counts[1].choices)
        if plan.has_sources:
            unit |= grounded_unit(plan, *sample.trees, parsed.grounds, sample.alignments, unit["value_hits"])
        units.append(unit)
        samples.append(sample)
    return samples


def count_trees(plan: Plan, rows: Sequence[tuple[ParsedTree, Any]]) -> list[tuple[Counts, Counts]]:
    """Count all pairs of trees, by the guide's pairing and by the values' pairing.

    The guide's sees a prediction as it is written, where a leaf is an object by mistake.
    """
    scorer, lists, counts = LeafScorer(plan), Lists(plan), list[tuple[Counts, Counts]]()
    by_guide, by_value = Pairing(plan, GUIDE, scorer, lists), GroundedPairing(plan, VALUES, scorer, lists)
    for parsed, reference in rows:
        written, tree = (MISSING, MISSING) if parsed.failed else (parsed.guide_tree, parsed.value)
        by_value.grounds = dict(grounds_by_list(parsed.value, parsed.grounds)) if plan.has_sources else {}
        first = compare_trees(reference, written, by_guide)
        counts.append((first, first if plan.follows_treeval else compare_trees(reference, tree, by_value)))
        lists.clear()
    scorer.score(outcome for pair in counts for each in pair for outcome in each.leaves)
    return counts


def _check_reference(plan: Plan, row: int, parsed: ParsedTree, gold: Any) -> Any:
    """Return a reference as it is compared: it follows the schema, and numeric texts are numbers.

    Raises:
        InputError: It doesn't.
    """
    if isinstance(plan.root, Branch):
        gold = _fill_nulls(gold, parsed.failed)
    issues = [] if gold is None and not isinstance(plan.root, Branch) else reference_violations(gold, plan.root)
    if plan.follows_treeval:  # its metrics see values of any type
        issues = [issue for issue in issues if not issue.path and isinstance(plan.root, Branch)]
    if not issues or not reference_violations(numbers := parse_numbers(gold, plan.root), plan.root):
        tree = numbers if issues else gold
        if unread := [] if plan.follows_treeval else unread_dates(tree, plan.root, plan.day_month):
            raise InputError("references", row, unread[0], EXPECTED_DATE)
        return tree
    is_item = isinstance(plan.root, ListOf) and not reference_violations(gold, plan.root.item)
    follows = f"a tree that follows the schema{f' ({plan.form})' * bool(plan.form)}"
    expected = f"{follows}, or schema=None{'; did you mean schema=schema[0]?' * is_item}"
    raise InputError("references", row, str(issues[0]), expected)


def _fill_nulls(reference: Any, is_unread: bool) -> Any:
    """Return a reference with an empty tree for null among its answers, which an answer that can't be read isn't."""
    if not isinstance(reference, AnyOf):
        return reference
    answers = reference.present if is_unread and reference.present else reference.values
    return AnyOf([{} if answer is None else _fill_nulls(answer, is_unread) for answer in answers])
