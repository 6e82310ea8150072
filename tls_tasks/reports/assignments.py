"""Nuggets that somebody has assigned to whole reports already: the four scores of nuggetizer, without a judge.

A nugget is vital or okay, and a report gives it (``support``, 1), gives a part of it (``partial_support``, a half) or
does not give it (``not_support``, 0). The strict scores count what is given whole, the others all values; each over the
vital nuggets or over all. Where nuggetizer could not decide, it writes ``failed``. A result of many reports is the mean
of the defined values.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError, check_choice, describe
from tls_tasks.core.score import total
from tls_tasks.reports.score import ReportItem, macro
from tls_tasks.reports.types import PARTLY

NUGGETIZER = "nuggetizer"
"""The profile of that program: what is undefined is 0, and a failed assignment counts as ``not_support``."""

KEYS = ("strict_vital_score", "strict_all_score", "vital_score", "all_score")
_FORM = 'a list of {"text", "importance", "assignment"}, or an object with such a list in "nuggets"'

Assigned = Sequence[Mapping[str, Any]]
"""The nuggets of a request with their importance, as they are assigned to one report."""

_VALUES = {"support": 1.0, "partial_support": PARTLY, "not_support": 0.0, "failed": None}
_CHOICES = {"importance": ("vital", "okay", "failed"), "assignment": tuple(_VALUES)}


def check_profile(profile: Any, assignments: Any) -> None:
    """Refuse a profile that does not exist, or that has no assignments to count."""
    check_choice("nugget_profile", profile, (None, NUGGETIZER))
    if profile is not None and assignments is None:
        raise InputError("nugget_profile", None, "it without nugget_assignments", "both")


def as_assigned(row: Any, where: str) -> Assigned:
    """The assigned nuggets of one report: a list of them, or an object that has the list in ``nuggets``.

    Raises:
        InputError: Anything else, naming ``where`` it is, and the nugget.
    """
    nuggets = row.get("nuggets") if isinstance(row, Mapping) else row
    if not isinstance(nuggets, list | tuple) or not all(isinstance(nugget, Mapping) for nugget in nuggets):
        raise InputError(where, None, describe(row), _FORM)
    for number, nugget in enumerate(nuggets):
        for name, choices in _CHOICES.items():
            check_choice(f"{where}, nuggets[{number}].{name}", nugget.get(name), choices)
    return nuggets


def scores_of(nuggets: Assigned, profile: str | None) -> dict[str, float]:
    """The four scores of a report; NaN where they are undefined.

    Example:
        >>> nuggets = [{"importance": "okay", "assignment": name} for name in ("support", "partial_support")]
        >>> scores_of(nuggets, None)
        {'strict_vital_score': nan, 'strict_all_score': 0.5, 'vital_score': nan, 'all_score': 0.75}
        >>> scores_of(nuggets, "nuggetizer")["vital_score"]
        0.0
    """
    scores = dict.fromkeys(KEYS, 0.0 if profile == NUGGETIZER else math.nan)
    for name in ("vital", "all"):
        values = [_VALUES[own["assignment"]] for own in nuggets if name in ("all", own["importance"])]
        if values and (None not in values or profile == NUGGETIZER):
            scores[f"strict_{name}_score"] = values.count(1.0) / len(values)
            scores[f"{name}_score"] = sum(value or 0.0 for value in values) / len(values)
    return scores


def with_assigned(item: ReportItem, nuggets: Assigned | None, profile: str | None) -> ReportItem:
    """A report's numbers with those of its assigned nuggets; it has none of these without nuggets (None)."""
    told = [{name: own.get(name) for name in ("text", *_CHOICES)} for own in nuggets or ()]
    scores = dict.fromkeys(KEYS, math.nan) if nuggets is None else scores_of(nuggets, profile)
    n_failed = sum(own["assignment"] == "failed" for own in told)
    return item.with_more(scores, {"nuggets_unassigned": n_failed}, assigned=told)


ASSIGNED_TABLE = {**{key: macro(key) for key in KEYS}, "nuggets_unassigned": total("nuggets_unassigned", better=False)}
"""The results."""
