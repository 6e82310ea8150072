"""What judging costs, before anybody is asked.

Which questions are asked depends on the verdicts on earlier ones. So the reports are scored several times by judges who
suppose the verdicts: what all of these are asked is asked for certain, and nothing is asked that none of them is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tls_tasks.core.errors import InputError
from tls_tasks.reports.types import QUERY_KINDS, Judge, Query, Verdict

BYTES_PER_TOKEN = 4
"""Of UTF-8, in a prompt: about what tokenizers make of English; two thirds of it in most other languages."""

TOKENS_PER_VERDICT = 3

# Kinds that are answered NO; all others YES. Between them they take every branch of both trees.
_SUPPOSED: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"nugget_agreement"}),
    frozenset({"negative"}),
    frozenset({"negative", "first_instance"}),
    frozenset(QUERY_KINDS),
)


class Call(NamedTuple):
    """A request that a judge would send.

    Attributes:
        kind: Of its questions.
        n_questions: How many it asks; every window of a long document is one.
        n_bytes: The length of its messages.
    """

    kind: str
    n_questions: int
    n_bytes: int


@runtime_checkable
class PaidJudge(Protocol):
    """A judge that knows what it would send."""

    def calls(self, queries: Sequence[Query]) -> list[Call]:
        """The requests that these questions take, without those that a cache answers."""


class Price(NamedTuple):
    """What the questions of a kind take, at least and at most.

    Attributes:
        questions: Different questions.
        calls: Requests.
        prompt_tokens: Tokens sent, estimated.
        completion_tokens: Tokens received, if verdicts are all that a model writes.
    """

    questions: tuple[int, int]
    calls: tuple[int, int]
    prompt_tokens: tuple[int, int]
    completion_tokens: tuple[int, int]

    def money(self, per_prompt: float, per_completion: float) -> tuple[float, float]:
        """What it costs, from prices of a million tokens.

        Example:
            >>> Price((1, 2), (1, 2), (1_000_000, 2_000_000), (0, 100_000)).money(2, 10)
            (2.0, 5.0)
        """
        low, high = zip(self.prompt_tokens, self.completion_tokens, strict=True)
        least, most = ((sent * per_prompt + received * per_completion) / 1e6 for sent, received in (low, high))
        return least, most


def read_prices(name: str, text: Any) -> tuple[float, float]:
    """The prices of a million tokens, sent and received, from text such as ``2.5,10``.

    Raises:
        InputError: For anything else; ``name`` is what it was given as.

    Example:
        >>> read_prices("--price", "2.5,10")
        (2.5, 10.0)
    """
    try:
        sent, received = map(float, text.split(","))
    except (AttributeError, ValueError):
        sent = received = math.nan
    if not (0 <= sent < math.inf and 0 <= received < math.inf):
        raise InputError(name, None, repr(text), "two prices of a million tokens, sent and received: 2.5,10")
    return sent, received


def price(score: Callable[[Judge], Any], judge: Judge) -> dict[str, Price]:
    """Kind of question -> what it takes; only kinds that may be asked.

    Args:
        score: Scores the reports by a judge.
        judge: Who would be asked. One that sends nothing, such as a recording, has questions and no calls.
    """
    queries: dict[object, Query] = {}
    n_judges: Counter[object] = Counter()  # how many of the supposed judges are asked a question
    for refused in _SUPPOSED:
        supposed = _Supposed(refused)
        score(supposed)
        queries |= supposed.asked
        n_judges.update(supposed.asked.keys())
    prices = {}
    for kind in QUERY_KINDS:
        possible = [query for query in queries.values() if query.kind == kind]
        certain = [query for query in possible if n_judges[query.identity] == len(_SUPPOSED)]
        if possible:
            prices[kind] = Price(*zip(_totals(certain, judge), _totals(possible, judge), strict=True))
    return prices


def total(prices: Mapping[str, Price]) -> Price:
    """The sum over kinds.

    Example:
        >>> each = Price((1, 2), (1, 2), (10, 20), (3, 6))
        >>> total({"a": each, "b": each})
        Price(questions=(2, 4), calls=(2, 4), prompt_tokens=(20, 40), completion_tokens=(6, 12))
    """
    columns = zip(*prices.values(), strict=True)
    sums = [(sum(low for low, _ in column), sum(high for _, high in column)) for column in columns]
    return Price(*sums) if sums else Price(*[(0, 0)] * 4)


class _Supposed:
    """Says NO to some kinds of questions and YES to all others, and keeps what it was asked."""

    name = "supposed"

    def __init__(self, refused: frozenset[str]) -> None:
        self._refused = refused
        self.asked: dict[object, Query] = {}

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        for query in queries:
            self.asked.setdefault(query.identity, query)
        return [Verdict(query.kind not in self._refused) for query in queries]


def _totals(queries: Sequence[Query], judge: Judge) -> tuple[int, int, int, int]:
    calls = judge.calls(queries) if isinstance(judge, PaidJudge) else []
    n_bytes, n_verdicts = sum(call.n_bytes for call in calls), sum(call.n_questions for call in calls)
    return len(queries), len(calls), n_bytes // BYTES_PER_TOKEN, n_verdicts * TOKENS_PER_VERDICT
