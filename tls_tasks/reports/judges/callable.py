"""A judge that asks a function, such as one that runs a model of textual entailment."""

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

from tls_tasks.core.errors import InputError, describe
from tls_tasks.core.options import custom_sign
from tls_tasks.reports.judges.questions import from_probability, parse_verdict, shorten
from tls_tasks.reports.types import Query, Verdict

_log = logging.getLogger(__name__)


class CallableJudge:
    """A judge that asks a function of the caller.

    Args:
        function: Takes a :class:`~tls_tasks.reports.types.Query` and returns True or False; the probability of yes in
            [0, 1], where 0.5 is a yes; the words of a model; a :class:`~tls_tasks.reports.types.Verdict`; or None for
            no verdict. If it raises an exception, the query is left without a verdict.
        name: For the signature.

    Example:
        >>> judge = CallableJudge(lambda query: "not" in query.fields["sentence"].split(), name="word")
        >>> judge.name
        'custom(word)'
        >>> judge.ask([Query("negative", {"sentence": "It was not so."})])[0].value
        True
    """

    def __init__(self, function: Callable[[Query], Any], name: str | None = None) -> None:
        if not callable(function):
            raise InputError("function", None, describe(function), "a function that takes a Query")
        self._function, self.name = function, custom_sign(function, name)

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """Return one verdict per query, in order."""
        return [self._ask(query) for query in queries]

    def _ask(self, query: Query) -> Verdict:
        try:
            answer = self._function(query)
        except Exception as error:  # whatever it raises, the judge failed: the question is unscored and counted
            _log.warning("judge %s failed on a question of kind %s: %r", self.name, query.kind, error)
            return Verdict(None, "failed", shorten(repr(error)))
        return _read_answer(answer, self.name)


def _read_answer(answer: Any, name: str) -> Verdict:
    """Read the verdict in an answer that :class:`CallableJudge` allows; ``name``: the judge, for errors.

    Raises:
        InputError: Anything else.

    Example:
        >>> [_read_answer(answer, "j").value for answer in (True, "yes.", " NO", "MAYBE", 0.7, None)]
        [True, True, False, None, True, None]
    """
    if hasattr(answer, "item"):
        answer = answer.item()  # numpy and torch wrap a number in a scalar
    if isinstance(answer, Verdict):
        return answer
    if answer is None or isinstance(answer, bool):
        return Verdict(answer, "missing" if answer is None else "")
    if isinstance(answer, str):
        return parse_verdict(answer)
    if isinstance(answer, int | float) and (math.isnan(answer) or 0 <= answer <= 1):
        return from_probability(float(answer))
    raise InputError(f"answer of {name}", None, describe(answer), "a bool, a number in [0, 1], a str or a Verdict")
