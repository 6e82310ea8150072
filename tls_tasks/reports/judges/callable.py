"""Judges made of a function, or of other judges by kind of question."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tls_tasks.core.custom import custom_sign
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.rows import describe
from tls_tasks.reports.judges.price import Call, PaidJudge
from tls_tasks.reports.judges.questions import distinct, from_probability, shorten, verdict_in
from tls_tasks.reports.types import QUERY_KINDS, Judge, Query, Verdict

_log = logging.getLogger(__name__)


class CallableJudge:
    """A judge that asks a function; see :func:`from_callable`."""

    def __init__(self, function: Callable[[Query], Any], name: str) -> None:
        self._function = function
        self.name = name

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; the function is called once for each different question."""
        questions, positions = distinct(queries)
        verdicts = [self._ask(query) for query in questions]
        return [verdicts[position] for position in positions]

    def _ask(self, query: Query) -> Verdict:
        try:
            answer = self._function(query)
        except Exception as error:  # a fault of the instrument, whatever it is: unscored and counted
            _log.warning("judge %s failed on a question of kind %s: %r", self.name, query.kind, error)
            return Verdict(None, "failed", shorten(repr(error)))
        return _verdict_of(answer, self.name)


def from_callable(function: Callable[[Query], Any], name: str | None = None) -> CallableJudge:
    """A judge that asks a function.

    Args:
        function: Takes a :class:`~tls_tasks.reports.types.Query` and returns what :func:`_verdict_of` accepts. If it
            raises an exception, the query is left without a verdict.
        name: For the signature, which adds a hash of the function's source.

    Example:
        >>> judge = from_callable(lambda query: "not" in query.fields["sentence"].split(), name="word")
        >>> judge.name.partition("#")[0]
        'custom(word'
        >>> judge.ask([Query("negative", {"sentence": "It was not so."})])[0].value
        True
    """
    if not callable(function):
        raise InputError("function", None, describe(function), "a function that takes a Query")
    return CallableJudge(function, custom_sign(function, name))


class ByKind:
    """A judge that passes each kind of question to a judge of its own, such as an NLI model for citation support.

    Args:
        judges: Kind of question -> judge.
        other: The judge for all other kinds.

    Raises:
        OptionError: A kind that doesn't exist.

    Example:
        >>> from tls_tasks.reports.judges.recordings import Recorded
        >>> no = Recorded([], defaults={"negative": "NO"}, name="no")
        >>> judge = ByKind({"citation_support": Recorded([], name="yes")}, no)
        >>> judge.name, judge.ask([Query("negative", {"sentence": "s"})])[0].value
        ('no,default:negative=NO,citation_support=yes', False)
    """

    def __init__(self, judges: Mapping[str, Judge], other: Judge) -> None:
        for kind in judges:
            if kind not in QUERY_KINDS:
                raise OptionError.unknown("judges", kind, QUERY_KINDS)
        self._judges, self._other = dict(judges), other
        self.name = ",".join([other.name, *(f"{kind}={judge.name}" for kind, judge in judges.items())])

    def calls(self, queries: Sequence[Query]) -> list[Call]:
        """The requests that the judges would send."""
        shares = [(judge, positions) for judge, positions in self._shares(queries) if isinstance(judge, PaidJudge)]
        return [call for judge, positions in shares for call in judge.calls([queries[index] for index in positions])]

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order."""
        verdicts: dict[int, Verdict] = {}
        for judge, positions in self._shares(queries):
            verdicts |= zip(positions, judge.ask([queries[index] for index in positions]), strict=True)
        return [verdicts[index] for index in range(len(queries))]

    def _shares(self, queries: Sequence[Query]) -> list[tuple[Judge, list[int]]]:
        """Each judge with the positions of its questions."""
        positions: dict[str, list[int]] = {}
        for index, query in enumerate(queries):
            positions.setdefault(query.kind if query.kind in self._judges else "", []).append(index)
        return [(self._judges.get(kind, self._other), members) for kind, members in positions.items()]


def _verdict_of(answer: Any, name: str) -> Verdict:
    """The verdict in an answer.

    Args:
        answer: A :class:`~tls_tasks.reports.types.Verdict`; True or False; the probability of yes in [0, 1], where 0.5
            is a yes; the words of a model; None for no verdict.
        name: The judge, for errors.

    Raises:
        InputError: Anything else.

    Example:
        >>> [_verdict_of(answer, "j").value for answer in (True, "yes.", " NO", "MAYBE", 0.7, None)]
        [True, True, False, None, True, None]
    """
    if hasattr(answer, "item"):
        answer = answer.item()  # a scalar of numpy or torch
    if isinstance(answer, Verdict):
        return answer
    if answer is None or isinstance(answer, bool):
        return Verdict(answer, "missing" if answer is None else "")
    if isinstance(answer, str):
        return verdict_in(answer)
    if isinstance(answer, int | float) and (math.isnan(answer) or 0 <= answer <= 1):
        return from_probability(float(answer))
    raise InputError(
        f"answer of {name}", None, describe(answer), "a bool, a number in [0, 1], a str, a Verdict or None"
    )
