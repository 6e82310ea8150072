"""Where treeval's guide, its code and good sense part: each point is an option, and a preset is a set of values.

``docs/tree_eval_options.md`` has the table with the reasons; a test holds it against this module.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import InputError, OptionError


def _option(default: Any, *others: Any) -> Any:
    """A field with its default, which comes first, and the other values it may have."""
    return dataclasses.field(default=default, metadata={"choices": (default, *others)})


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How trees are counted, aligned and averaged. The defaults follow treeval's guide; letters are our study's.

    Attributes:
        types: ``strict``: a value of another type than its leaf's scores the worst, and ``True`` is not 1;
            ``loose``: metrics see every value, and exact match is treeval's (B8, B10, B11).
        missing_nodes: What an absent branch misses: the nodes that the ``reference`` has there, or those of the
            ``schema``.
        absent_in_both: A key that neither tree has: ``ignored``, or ``missed`` (B15).
        extra_nodes: A key that the reference doesn't have: ``all`` of its nodes are false positives, or ``one`` (B18).
        branch_leaves: Leaves of a branch that one of the trees doesn't have, or has as null: ``ignored`` in leaf
            precision and recall, since they are not in both trees, or ``counted`` (B17).
        list_items: ``nodes``: items of lists count as nodes, found or not; ``surplus``: only those that find no
            counterpart, always as false (B19).
        null_items: Null in a list: ``absent`` (it is met by null only, and no metric sees it), or a ``value``.
        alignment: What decides which dictionaries of two lists belong together: their ``metrics``, and their F1 between
            equal ones, or their ``treeval_score`` (D1).
        ties: Between pairings that are equally good: ``canonical`` (the order of the lists doesn't matter), or
            ``given`` (scipy's choice for the lists as they stand).
        single_metric: Scores by which lists are aligned where a leaf has one metric: ``normalized``, or ``raw``, which
            looks for the greatest also where lower is better (B3).
        clipping: Scores out of their range: ``always`` clipped, or only in ranges ``not_unit``, other than (0, 1)
            (B12).
        unmatched_items: Items without counterpart: count as ``nodes`` only, or their metrics get the ``worst`` score
            too (D2).
        inner_lists: A list within items of a list: all ``items`` have a vote in a leaf's mean, or all ``lists`` (D3).
        leaf_average: In the mean of a metric each of the ``leaves`` has a vote, or each of their ``values`` (D4).
        aggregate: Results of the summed counts (``micro``), or the mean of the samples' results (``macro``) (D5).
        unscored_branches: A branch in which nothing was scored: a tree of None (``leaves``), or None (``null``).

    Example:
        >>> TreeOptions().list_items, PRESETS["treeval"].list_items
        ('nodes', 'surplus')
    """

    types: str = _option("strict", "loose")
    missing_nodes: str = _option("reference", "schema")
    absent_in_both: str = _option("ignored", "missed")
    extra_nodes: str = _option("all", "one")
    branch_leaves: str = _option("ignored", "counted")
    list_items: str = _option("nodes", "surplus")
    null_items: str = _option("absent", "value")
    alignment: str = _option("metrics", "treeval_score")
    ties: str = _option("canonical", "given")
    single_metric: str = _option("normalized", "raw")
    clipping: str = _option("always", "not_unit")
    unmatched_items: str = _option("nodes", "worst")
    inner_lists: str = _option("items", "lists")
    leaf_average: str = _option("leaves", "values")
    aggregate: str = _option("micro", "macro")
    unscored_branches: str = _option("leaves", "null")

    def __post_init__(self) -> None:
        """Refuse values that don't exist."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value not in field.metadata["choices"]:
                raise OptionError.unknown(field.name, value, field.metadata["choices"])

    @property
    def is_plain(self) -> bool:
        """Whether a dictionary that isn't there counts as an empty one, and no key as no node."""
        return (
            self.missing_nodes == "reference"
            and self.extra_nodes == "all"
            and self.branch_leaves == "ignored"
            and self.absent_in_both == "ignored"
        )

    def __str__(self) -> str:
        """The preset's name, and what differs from it."""
        name = "treeval" if self.types == "loose" and self.list_items == "surplus" else "guide"
        preset = PRESETS["treeval" if name == "treeval" else None]
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != getattr(preset, field.name)
        ]
        return ",".join([name, *changed])


PRESETS: Mapping[str | None, TreeOptions] = {
    None: TreeOptions(),
    "treeval": TreeOptions(
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
        leaf_average="leaves",
        aggregate="micro",
        unscored_branches="null",
    ),
}
"""``compat`` -> its options."""

OPTION_NAMES = tuple(field.name for field in dataclasses.fields(TreeOptions))


def resolve_options(compat: str | None, changes: Mapping[str, Any]) -> TreeOptions:
    """The preset with the options that the caller has changed.

    Raises:
        OptionError: No such preset, option or value.

    Example:
        >>> str(resolve_options("treeval", {"alignment": "metrics"}))
        'treeval,alignment=metrics'
        >>> resolve_options(None, {"list_item": "nodes"})
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: option: got 'list_item', expected one of 'types', 'missing_nodes', \
'absent_in_both', 'extra_nodes', 'branch_leaves', 'list_items', 'null_items', 'alignment', 'ties', 'single_metric', \
'clipping', 'unmatched_items', 'inner_lists', 'leaf_average', 'aggregate', 'unscored_branches'
    """
    if not isinstance(changes, Mapping):
        raise InputError("options", None, repr(changes), f"a dictionary of {', '.join(OPTION_NAMES)}")
    if not isinstance(compat, str | None) or compat not in PRESETS:
        raise OptionError.unknown("compat", compat, PRESETS)
    for name in changes:
        if name not in OPTION_NAMES:
            raise OptionError.unknown("option", name, OPTION_NAMES)
    return dataclasses.replace(PRESETS[compat], **changes) if changes else PRESETS[compat]
