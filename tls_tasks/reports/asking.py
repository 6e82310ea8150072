"""Judges for :func:`~tls_tasks.reports.report_eval.report_eval` made of what the caller has at hand.

A judge is an object with ``ask`` (see :class:`~tls_tasks.reports.types.Judge`; ``tls_tasks.reports.judges`` has those
that call models), a function of a query, or recorded judgments (see :mod:`tls_tasks.reports.judges.recordings`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.rows import describe
from tls_tasks.reports.judges.callable import from_callable
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.types import Judge, Query, Verdict

_JUDGE_FORMS = "a judge (see tls_tasks.reports.judges), a function of a query, or recorded judgments (a list of dicts)"


def as_judge(judge: Any) -> Judge:
    """A judge from whatever the caller has.

    Args:
        judge: An object with ``ask``; a function, see :func:`~tls_tasks.reports.judges.callable.from_callable`;
            recorded judgments, a list of rows or ``{"judgments": rows, "defaults": {kind: verdict}}``; None: nothing
            may be asked.

    Raises:
        InputError: Anything else, or a row that is no judgment; names it.

    Example:
        >>> judge = as_judge([{"kind": "check_negative", "sentence": "s", "verdict": "NO"}])
        >>> [verdict.value for verdict in judge.ask([Query("negative", {"sentence": text}) for text in "st"])]
        [False, None]
    """
    if judge is None:
        return NoJudge()
    if isinstance(judge, Mapping) and "judgments" in judge:
        return Recorded(judge["judgments"], defaults=judge.get("defaults"))
    if isinstance(judge, list | tuple):
        return Recorded(judge)
    if callable(getattr(judge, "ask", None)):
        found: Judge = judge
        return found
    if callable(judge):
        return from_callable(judge, f"custom({getattr(judge, '__qualname__', type(judge).__qualname__)})")
    raise InputError("judge", None, describe(judge), _JUDGE_FORMS)


class NoJudge:
    """Refuses to be asked: for reports that can be scored without a judge."""

    name = "none"

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """Say what is missing.

        Raises:
            InputError: Always.
        """
        kinds = ", ".join(dict.fromkeys(query.kind for query in queries))
        raise InputError("judge", None, f"None, and {len(queries)} questions to ask ({kinds})", _JUDGE_FORMS)
