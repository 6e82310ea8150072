"""What all judges do: ask equal questions once, ask about long documents window by window, and read yes or no."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.reports.types import Query, Verdict

WINDOW = 24_000
"""Default size of a window, in characters: about 6,000 tokens of English."""

_BLANK = re.compile(r"\s")

RAW_LENGTH = 200
"""How many characters of a judge's words are kept with a verdict: the last ones, where the verdict stands."""

# A word is whole if neither a letter nor a digit touches it, nor a hyphen or apostrophe with one behind it.
_BEFORE = r"(?<![^\W_])(?<![^\W_]['’-])"
_AFTER = r"(?![^\W_]|['’-][^\W_])"
_WORD = rf"{_BEFORE}(yes|no){_AFTER}"
_MARK = r"[\s\"'’*`_]{0,5}"
_BOTH = re.compile(rf"{_WORD}{_MARK}(?:/|\||\bor\b|\band\b){_MARK}{_WORD}", re.IGNORECASE)
_PLACES = (
    re.compile(rf"{_BEFORE}(YES|NO){_AFTER}"),
    re.compile(rf"{_WORD}[\W_]{{0,20}}\Z", re.IGNORECASE),
    re.compile(rf"(?:answer|verdict)[\W_]{{0,10}}(?:is[\W_]{{0,10}})?{_WORD}", re.IGNORECASE),
    re.compile(rf"\A[\W_]{{0,20}}{_WORD}", re.IGNORECASE),
)
"""Where a verdict may stand, in the order in which they are tried."""


def distinct(queries: Sequence[Query]) -> tuple[list[Query], list[int]]:
    """The different questions in order, and for each query the position of its question among them.

    Example:
        >>> first, second = Query("negative", {"sentence": "a"}), Query("negative", {"sentence": "b"})
        >>> distinct([first, second, first])[1]
        [0, 1, 0]
    """
    questions: dict[object, Query] = {}
    for query in queries:
        questions.setdefault(query.identity, query)
    positions = {identity: position for position, identity in enumerate(questions)}
    return list(questions.values()), [positions[query.identity] for query in queries]


def ask_in_windows(
    queries: Sequence[Query], size: int, ask: Callable[[Sequence[Query]], Sequence[Verdict]]
) -> list[Verdict]:
    """Ask about each window of documents longer than ``size`` characters; neighbouring windows share a tenth.

    One verdict per query, in order. A single yes is a yes, and ``raw`` says which window gave it. Without a yes, a
    window without a verdict leaves the query without one. Otherwise it is a no.

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
    return [_combined([next(verdicts) for _ in of_query]) for of_query in pieces]


def _pieces(query: Query, size: int) -> list[Query]:
    document = query.fields.get("document", "")
    if len(document) <= size:
        return [query]
    return [
        Query(query.kind, {**query.fields, "document": window}, {**query.about, "window": number})
        for number, window in enumerate(_windows(document, size, size // 10), start=1)
    ]


def _combined(verdicts: list[Verdict]) -> Verdict:
    if len(verdicts) == 1:
        return verdicts[0]
    values = [verdict.value for verdict in verdicts]
    position = next(values.index(value) for value in (True, None, False) if value in values)
    chosen = verdicts[position]
    probabilities = [verdict.probability for verdict in verdicts if verdict.probability is not None]
    return chosen._replace(
        raw=f"window {position + 1} of {len(verdicts)}: {chosen.raw}",
        probability=max(probabilities, default=None),
        cached=all(verdict.cached for verdict in verdicts),
    )


def _windows(text: str, size: int, overlap: int) -> tuple[str, ...]:
    """Cut a text into overlapping pieces, at whitespace if there is any nearby.

    Every passage of at most ``overlap`` characters is in one of the pieces as a whole, so that what supports a claim is
    not cut in two. Chinese and Japanese have no whitespace and are cut anywhere.

    Args:
        text: Any text.
        size: The greatest length of a piece in characters, above 0.
        overlap: How many characters two neighbours share at least; at most half of ``size``.

    Returns:
        The pieces in order, at least one; a text of ``size`` characters or fewer is returned as it is.

    Example:
        >>> _windows("the talks ended on Monday without a result, and will go on", size=40, overlap=12)
        ('the talks ended on Monday without a', ' Monday without a result, and will go on')
        >>> _windows("short", size=40, overlap=12)
        ('short',)
    """
    pieces = []
    start = 0
    while len(text) - start > size:
        end = _back_to_blank(text, start + size, size // 4)
        pieces.append(text[start:end])
        # At most 1/2 + 1/4 + 1/8 of the size is given back, so that every step is a step forward.
        start = _back_to_blank(text, end - overlap, size // 8)
    return (*pieces, text[start:])


def _back_to_blank(text: str, position: int, reach: int) -> int:
    """The nearest blank at or before a position, no further than ``reach``; else the position itself."""
    for candidate in range(position, position - reach - 1, -1):
        if _BLANK.match(text, candidate):
            return candidate
    return position


def read_verdict(text: str) -> bool | None:
    """The verdict in a judge's answer.

    Reasoning is dropped, and so is an echo of the choice ("YES or NO", "yes/no"). Then the last whole word
    YES or NO in capitals counts. Where there is none, small letters count in three places only, since "no" is an
    everyday word: at the end of the answer, after "answer" or "verdict", at the beginning; in this order.

    Args:
        text: What the judge wrote; of any length.

    Returns:
        True for yes, False for no, None where neither can be read.

    Example:
        >>> [read_verdict(text) for text in ("YES.", "NO, but then: YES", "Yes, there is no doubt", "the answer is no")]
        [True, True, True, False]
        >>> [read_verdict(text) for text in ("NOT SURE", "YES or NO?", "", "<think>YES", "there is no evidence for it")]
        [None, None, None, None, None]
        >>> read_verdict("<think>It says YES.</think> **No**")
        False
    """
    answer = _BOTH.sub(" ", strip_thinking(text).text).strip()
    found = next(filter(None, (place.findall(answer) for place in _PLACES)), [])
    return found[-1].upper() == "YES" if found else None


def verdict_in(text: str) -> Verdict:
    """The verdict in a judge's answer, with the end of the answer; ``unreadable`` where there is none.

    Example:
        >>> verdict_in("NOT SURE")
        Verdict(value=None, reason='unreadable', raw='NOT SURE', probability=None, cached=False)
    """
    value = read_verdict(text)
    return Verdict(value, "unreadable" if value is None else "", shorten(text))


def shorten(text: str) -> str:
    r"""The end of a judge's answer, on one line, as it is kept with the verdict.

    Example:
        >>> shorten("Yes,\n it does.")
        'Yes, it does.'
    """
    line = " ".join(text[-4 * RAW_LENGTH :].encode("utf-8", "replace").decode().split())
    return line if len(line) <= RAW_LENGTH else f"…{line[1 - RAW_LENGTH :]}"


def from_probability(probability: float) -> Verdict:
    """The verdict of a judge that knows the probability of yes: yes from 0.5; NaN is no verdict.

    Example:
        >>> from_probability(0.5).value, from_probability(float("nan"))[:2]
        (True, (None, 'unreadable'))
    """
    if math.isnan(probability):
        return Verdict(None, "unreadable", "NaN")
    return Verdict(probability >= 0.5, probability=probability)
