"""tree_eval: structured answers (JSON trees) scored leaf by leaf, and node by node, against reference trees.

Original: treeval (git a56937f) and its conceptual guide. The defaults follow the guide; ``compat="treeval"`` gives the
program's numbers wherever it has any. What differs is in :class:`~tls_tasks.trees.options.TreeOptions`.
"""

from __future__ import annotations

import marshal
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tls_tasks.core.errors import InputError, OptionError, ParseFailureWarning
from tls_tasks.core.signature import signature
from tls_tasks.core.text_rows import describe
from tls_tasks.trees.compliance import ISSUE_KINDS, complies
from tls_tasks.trees.issues import count_issues
from tls_tasks.trees.options import TreeOptions, resolve_options
from tls_tasks.trees.pairs import Aligned, Tally
from tls_tasks.trees.plan import ROOT, TreePlan
from tls_tasks.trees.planner import make_plan
from tls_tasks.trees.read import MODES, RATES, UNREAD, ParsedTree, parse_rates
from tls_tasks.trees.rows import read_columns
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.score import ScoreSettings, TreeScore
from tls_tasks.trees.states import Sides
from tls_tasks.trees.totals import Found, Walked
from tls_tasks.trees.visit import BadReferenceError, UnreadError, Walk

VERSION = 1


@dataclass(frozen=True, slots=True)
class TreeEvalConfig:
    """The settings of :func:`tree_eval`, as they stand in its signature."""

    leaves: str
    metrics: str
    options: TreeOptions
    averaging: str = field(default="flat", metadata={"sign": "avg"})
    parse_mode: str = field(default="lenient", metadata={"sign": "parse"})
    interval: str = field(default="", metadata={"sign": "ci", "quiet": ""})


def tree_eval(
    predictions: Sequence[Any],
    references: Sequence[Any],
    schema: Any,
    leaf_metrics: Any = None,
    *,
    compat: str | None = None,
    exclusive_metrics: bool = False,
    list_order: Any = "unordered",
    hierarchical_averaging: bool = False,
    weights: Any = None,
    thresholds: Any = None,
    parse_mode: str = "lenient",
    confidence_interval: float | None = None,
    n_resamples: int = 1000,
    seed: int = 12345,
    options: Mapping[str, str] | None = None,
) -> TreeScore:
    """Score trees against reference trees of the same schema.

    Args:
        predictions: One tree a row: plain Python values, JSON text, or whatever a model wrote.
        references: One tree a row: plain Python values or JSON text; several valid answers of a leaf as
            ``{"$any_of": [...]}`` or :class:`~tls_tasks.trees.values.AnyOf`.
        schema: What :func:`~tls_tasks.trees.schema.read_schema` reads: treeval's form, JSON Schema, a pydantic
            model.
        leaf_metrics: Type or path -> a metric or a list of them, or a tree in the shape of the schema. Metrics as
            :func:`~tls_tasks.trees.leaf_metrics.resolve_metric` takes them. None: the defaults of the types.
        compat: ``treeval``: its program's numbers.
        exclusive_metrics: Whether a leaf that has metrics by its path doesn't have those of its type as well.
        list_order: ``unordered``, ``ordered``, ``key:NAME`` (dictionaries by the value of a key), or path -> one of
            these.
        hierarchical_averaging: Whether a dictionary's mean counts as one value in that of the dictionary around it.
        weights: Type or path -> the leaf's weight in averages and alignments, from 0.
        thresholds: Type or path -> the normalised score from which a value is correct, in [0, 1]; or one for all.
        parse_mode: How model text is read, see :func:`~tls_tasks.trees.read.parse_tree`.
        confidence_interval: Coverage of bootstrap intervals of the main results, for example 0.95.
        n_resamples: Resamples of the intervals.
        seed: Seed of the intervals.
        options: What differs from the preset: fields of :class:`~tls_tasks.trees.options.TreeOptions`.

    Returns:
        The score; ``as_dict()`` as in :meth:`~tls_tasks.trees.score.TreeScore.as_dict`.

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
    if parse_mode not in MODES:
        raise OptionError.unknown("parse_mode", parse_mode, MODES)
    plan = _plan(schema, compat, options or {}, (leaf_metrics, exclusive_metrics, list_order, weights, thresholds))
    found, parses = _found(plan, predictions, references, parse_mode)
    interval = None if confidence_interval is None else _interval(confidence_interval, n_resamples, seed)
    settings = _settings(plan, bool(hierarchical_averaging), thresholds is not None, parse_mode, interval)
    return TreeScore(settings, len(predictions), found, parses)


@lru_cache(maxsize=64)
def _settings(
    plan: TreePlan, hierarchical: bool, has_thresholds: bool, parse_mode: str, interval: tuple[float, int, int] | None
) -> ScoreSettings:
    metrics = ",".join(sorted({metric.signature for _, metric in plan.slots}))
    averaging = "hierarchical" if hierarchical else "flat"
    signed = "" if interval is None else "{},{},seed{}".format(*interval)
    config = TreeEvalConfig(plan.digest, metrics, plan.options, averaging, parse_mode, signed)
    return ScoreSettings(signature("tree_eval", config, VERSION), plan, hierarchical, has_thresholds, interval)


_PLANS: dict[bytes, TreePlan] = {}
"""Plans that were made before, since working one out takes longer than scoring a tree."""


def _plan(schema: Any, compat: str | None, options: Mapping[str, str], settings: tuple[Any, ...]) -> TreePlan:
    """The plan; kept where schema and settings are plain values, whose bytes say all about them."""
    try:
        key = marshal.dumps((schema, compat, sorted(options.items()) if options else None, settings), 2)
    except (ValueError, AttributeError):  # functions, modules, classes; options that are no dictionary
        return _made(schema, compat, options, settings)
    if key not in _PLANS:
        if len(_PLANS) >= 64:
            _PLANS.clear()
        _PLANS[key] = _made(schema, compat, options, settings)
    return _PLANS[key]


def _made(schema: Any, compat: str | None, options: Mapping[str, str], settings: tuple[Any, ...]) -> TreePlan:
    leaf_metrics, exclusive_metrics, list_order, weights, thresholds = settings
    return make_plan(
        read_schema(schema),
        resolve_options(compat, options),
        leaf_metrics=leaf_metrics,
        exclusive_metrics=exclusive_metrics,
        list_order=list_order,
        weights=weights,
        thresholds=thresholds,
        compat=compat,
    )


def _interval(coverage: Any, n_resamples: Any, seed: Any) -> tuple[float, int, int]:
    if isinstance(coverage, bool) or not isinstance(coverage, int | float):
        raise InputError("confidence_interval", None, describe(coverage), "a coverage such as 0.95")
    for name, value in (("n_resamples", n_resamples), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(name, None, describe(value), "a whole number")
    return coverage, n_resamples, seed


def _found(
    plan: TreePlan, predictions: Sequence[Any], references: Sequence[Any], parse_mode: str
) -> tuple[Found, list[ParsedTree]]:
    """Everything that is counted, and what reading the predictions was like (nothing if there was nothing to read)."""
    if _are_trees(predictions, references):
        try:
            tally = _walk(plan, list(predictions), list(references), is_read=False)
        except (UnreadError, RecursionError):  # a tree that is too deep fails in reading
            pass
        else:
            tally.update(UNREAD)
            return Walked(plan, len(predictions), tally), []
    columns = read_columns(predictions, references, plan.schema, parse_mode)
    parses = [parsed for parsed, _ in columns]
    _warn_of_failures(parses)
    given = [FAILED if one.failed else one.value for one in parses]
    tally = _walk(plan, given, [tree for _, tree in columns], is_read=True)
    rates = [parse_rates([one]) for one in parses]
    tally.update({name: np.array([int(row[name]) for row in rates], dtype=np.int64) for name in RATES})
    return Walked(plan, len(parses), tally), parses


_DICT: frozenset[type] = frozenset({dict})
_ROWS: frozenset[type] = frozenset({list, tuple})

FAILED = object()
"""Stands for a prediction in which nothing could be read."""


def _are_trees(predictions: Any, references: Any) -> bool:
    """Whether every row is a dictionary: then they may need no reading."""
    return (
        type(predictions) in _ROWS
        and type(references) in _ROWS
        and len(predictions) == len(references)
        and _DICT.issuperset(map(type, predictions))
        and _DICT.issuperset(map(type, references))
    )


def _warn_of_failures(parses: Sequence[ParsedTree]) -> None:
    failed = [row for row, one in enumerate(parses) if one.failed]
    if failed:
        warnings.warn(
            f"nothing could be read in {len(failed)} of {len(parses)} predictions (rows {failed[:5]} first); they "
            "count as trees without nodes",
            ParseFailureWarning,
            stacklevel=4,
        )


def _walk(plan: TreePlan, predictions: list[Any], references: list[Any], is_read: bool) -> Tally:
    """Walk through all trees.

    Raises:
        InputError: A reference that doesn't follow the schema.
        UnreadError: A tree that must be read first.
    """
    n, tally, walk = len(predictions), Tally(), Walk(plan, is_read)
    given, expected = predictions, references
    if plan.is_wrapped:
        given = [{} if one is FAILED else {ROOT: one} for one in predictions]
        expected = [{ROOT: one} for one in references]
    elif is_read:
        given = [one if isinstance(one, dict) else {} for one in predictions]
        walk.is_clean = set(map(type, predictions)) <= {dict}
    if not set(map(type, expected)) <= {dict}:
        raise _bad_reference(plan, references)
    try:
        if n:
            walk.branch(plan.root, Sides(expected, given, Aligned(n), details=True), tally)
    except BadReferenceError:
        raise _bad_reference(plan, references) from None
    tally["samples"] = 1
    tally.update(_compliance(plan, predictions, walk.is_clean))
    return tally


def _bad_reference(plan: TreePlan, references: Sequence[Any]) -> InputError:
    """The error for the first reference that doesn't follow the schema."""
    wanted = "a tree that follows the schema, or types='loose'"
    for row, tree in enumerate(references):
        for issue in complies(tree, plan.schema):
            if issue.kind in ("type", "unknown"):
                return InputError("references", row, str(issue), wanted)
    return InputError("references", None, "a tree that does not follow the schema", wanted)


def _compliance(plan: TreePlan, predictions: Sequence[Any], is_clean: bool) -> dict[str, Any]:
    """Which predictions comply with the schema, and how many issues of each kind there are."""
    if is_clean:
        return {"schema_compliance": 1, **{f"issue|{kind}": 0 for kind in ISSUE_KINDS}}
    issues = count_issues(plan.schema, [{} if one is FAILED else one for one in predictions], plan.leaves)
    read = np.array([one is not FAILED for one in predictions])
    counts = {kind: rows * read for kind, rows in issues.items()}
    return {
        "schema_compliance": (sum(counts.values()) == 0) & read,
        **{f"issue|{kind}": rows for kind, rows in counts.items()},
    }
