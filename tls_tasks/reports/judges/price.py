"""What judging costs, before anybody is asked.

Which questions are asked depends on the verdicts on earlier ones. So the reports are scored several times by judges who
suppose the verdicts that no cache has: what all of these are asked is asked for certain, and nothing is asked that none
of them is.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError
from tls_tasks.reports.judges.recordings import Recorded, Recorder
from tls_tasks.reports.types import QUERY_KINDS, Judge, Query, Verdict

BYTES_PER_TOKEN = 4
"""Of UTF-8, in a prompt: about what tokenizers make of English; two thirds of it in most other languages."""

TOKENS_PER_VERDICT = 3

# Kinds that are answered NO; all others YES. Between them they take every branch of both trees.
_REFUSED = ((), ("nugget_agreement",), ("negative",), ("negative", "first_instance"), QUERY_KINDS)


def calls_of(judge: Any, queries: Sequence[Query]) -> list[tuple[int, int]]:
    """How many questions and bytes each request has that a judge sends, if it sends any and has no answer in a cache.

    Every window of a long document is a question.
    """
    return judge.calls(queries) if hasattr(judge, "calls") else []


def known_to(judge: Any, queries: Sequence[Query]) -> Sequence[Verdict]:
    """The verdicts that a judge has in its cache; one without a value for every other question."""
    return judge.known(queries) if hasattr(judge, "known") else [Verdict(None)] * len(queries)


class _Supposed:
    """Says what is in a judge's cache, and of all else what is supposed."""

    name = "supposed"

    def __init__(self, judge: Judge, other: Judge) -> None:
        self._judge, self._other = judge, other

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order."""
        pairs = zip(known_to(self._judge, queries), self._other.ask(queries), strict=True)
        return [supposed if known.value is None else known for known, supposed in pairs]


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
    """Kind of question -> what it takes; only kinds that may be asked, and ``all`` for their sum.

    Args:
        score: Scores the reports by a judge.
        judge: Who would be asked. One that sends nothing, such as a recording, has questions and no calls.
    """
    runs: list[dict[Any, Query]] = []
    for refused in _REFUSED:
        verdicts = {kind: kind not in refused for kind in QUERY_KINDS}
        supposed = Recorder(_Supposed(judge, Recorded([], defaults=verdicts, name="supposed")))
        score(supposed)
        runs.append({query.identity: query for query, _ in supposed.asked})
    queries = {identity: query for run in runs for identity, query in run.items()}
    prices = {}
    for kind in QUERY_KINDS:
        possible = {identity: query for identity, query in queries.items() if query.kind == kind}
        certain = [query for identity, query in possible.items() if all(identity in run for run in runs)]
        if possible:
            prices[kind] = Price(*zip(_totals(certain, judge), _totals([*possible.values()], judge), strict=True))
    columns = zip([(0, 0)] * 4, *prices.values(), strict=True)
    sums: Any = [tuple(map(sum, zip(*ranges, strict=True))) for ranges in columns]
    return {**prices, "all": Price(*sums)}


def _totals(queries: Sequence[Query], judge: Judge) -> tuple[int, int, int, int]:
    calls = calls_of(judge, queries)
    n_verdicts, n_bytes = map(sum, zip((0, 0), *calls, strict=True))
    return len(queries), len(calls), n_bytes // BYTES_PER_TOKEN, n_verdicts * TOKENS_PER_VERDICT
