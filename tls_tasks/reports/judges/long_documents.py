"""Long documents are judged window by window, and support a sentence if one of the windows does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tls_tasks.core.errors import InputError
from tls_tasks.reports.types import Query, Verdict
from tls_tasks.text.windows import windows

WINDOW = 24_000
"""Characters of a document that a judge is shown at a time by default: some 6,000 tokens of English."""

_FIELD = "document"


def check_window(size: object) -> None:
    """Refuse a size that is none.

    Raises:
        InputError: Not a whole number of at least 100.
    """
    if not isinstance(size, int) or isinstance(size, bool) or size < 100:
        raise InputError("window", None, repr(size), "a whole number of characters, at least 100")


def ask_in_windows(
    queries: Sequence[Query], size: int, ask: Callable[[Sequence[Query]], Sequence[Verdict]]
) -> list[Verdict]:
    """Ask about each window of a document that is longer than ``size`` characters; neighbours share a tenth.

    One verdict a query, in order. One yes is yes, and what the judge wrote says of which window; where none is yes, one
    window without a verdict leaves the query without; else it is no.

    Example:
        >>> document = "It rained. " * 30 + "Talks ended."
        >>> def ask(asked):
        ...     return [Verdict("Talks" in query.fields["document"], raw="said") for query in asked]
        >>> verdicts = ask_in_windows([Query("citation_support", {"document": document, "sentence": "s"})], 100, ask)
        >>> verdicts[0].value, verdicts[0].raw
        (True, 'window 4 of 4: said')
    """
    pieces = [_pieces(query, size) for query in queries]
    verdicts = iter(ask([piece for of_query in pieces for piece in of_query]))
    return [_any([next(verdicts) for _ in of_query]) for of_query in pieces]


def _pieces(query: Query, size: int) -> list[Query]:
    document = query.fields.get(_FIELD)
    if not isinstance(document, str) or len(document) <= size:
        return [query]
    return [
        Query(query.kind, {**query.fields, _FIELD: window}, {**query.about, "window": number})
        for number, window in enumerate(windows(document, size, size // 10), start=1)
    ]


def _any(verdicts: list[Verdict]) -> Verdict:
    if len(verdicts) == 1:
        return verdicts[0]
    # Yes before no verdict before no, and of equal ones the first.
    position = min(range(len(verdicts)), key=lambda index: {True: 0, None: 1, False: 2}[verdicts[index].value])
    chosen = verdicts[position]
    known = [verdict.probability for verdict in verdicts if verdict.probability is not None]
    raw = f"window {position + 1} of {len(verdicts)}: {chosen.raw}"
    return chosen._replace(raw=raw, probability=max(known, default=None), cached=all(one.cached for one in verdicts))
