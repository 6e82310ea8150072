"""Judges for :func:`~tls_tasks.reports.report_eval.report_eval` made of what the caller has at hand.

A judge is an object with ``ask`` (see :class:`~tls_tasks.reports.types.Judge`; ``tls_tasks.reports.judges`` has those
that call models), a function of a query, or recorded judgments (see :mod:`tls_tasks.reports.judges.recordings`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.text_rows import describe
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.judges.verdicts import read_verdict, shorten
from tls_tasks.reports.types import Judge, Query, Verdict

JUDGE_FORMS = "a judge (see tls_tasks.reports.judges), a function of a query, or recorded judgments (a list of dicts)"


def as_judge(judge: Any) -> Judge:
    """A judge from whatever the caller has.

    Args:
        judge: An object with ``ask``; a function, see :class:`FunctionJudge`; recorded judgments, a list of rows or
            ``{"judgments": rows, "defaults": {kind: verdict}}``; None: nothing may be asked.

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
        return FunctionJudge(judge)
    raise InputError("judge", None, describe(judge), JUDGE_FORMS)


class NoJudge:
    """Refuses to be asked: for reports that can be scored without."""

    name = "none"

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """Says what is missing.

        Raises:
            InputError: Always.
        """
        kinds = ", ".join(dict.fromkeys(query.kind for query in queries))
        raise InputError("judge", None, f"None, and {len(queries)} questions to ask ({kinds})", JUDGE_FORMS)


class FunctionJudge:
    """A judge that asks a function: query -> what :func:`verdict_of` takes. An exception is an unscored verdict.

    Example:
        >>> judge = FunctionJudge(lambda query: "not" in query.fields["sentence"].split())
        >>> judge.ask([Query("negative", {"sentence": "It was not so."})])[0].value
        True
    """

    def __init__(self, function: Callable[[Query], Any]) -> None:
        self._function = function
        self.name = f"custom({getattr(function, '__qualname__', type(function).__qualname__)})"

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict a query, in order.

        Raises:
            InputError: An answer that is none.
        """
        return [self._ask(query) for query in queries]

    def _ask(self, query: Query) -> Verdict:
        try:
            answer = self._function(query)
        except Exception as error:  # whatever it is: the instrument's fault, counted, and shown by a warning
            return Verdict(None, "failed", shorten(repr(error)))
        return verdict_of(answer, self.name)


def verdict_of(answer: Any, name: str = "judge") -> Verdict:
    """The verdict in an answer.

    Args:
        answer: A :class:`~tls_tasks.reports.types.Verdict`; True or False; the probability of yes in [0, 1], 0.5 and
            more is yes; the words of a model; None for no verdict.
        name: Who said it, for errors.

    Raises:
        InputError: Anything else.

    Example:
        >>> [verdict_of(answer).value for answer in (True, "yes.", " NO", "MAYBE", 0.7, None)]
        [True, True, False, None, True, None]
    """
    if hasattr(answer, "item"):
        answer = answer.item()  # a number of numpy or torch
    if isinstance(answer, Verdict):
        return answer
    if answer is None or isinstance(answer, bool):
        return Verdict(answer, "missing" if answer is None else "")
    if isinstance(answer, str):
        value = read_verdict(answer)
        return Verdict(value, "unreadable" if value is None else "", shorten(answer))
    if isinstance(answer, float) and math.isnan(answer):
        return Verdict(None, "unreadable", "NaN")
    if isinstance(answer, int | float) and 0 <= answer <= 1:
        return Verdict(answer >= 0.5, probability=float(answer))
    raise InputError(
        f"answer of {name}", None, describe(answer), "a bool, a number in [0, 1], a str, a Verdict or None"
    )
