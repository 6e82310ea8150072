"""What all judges do: ask equal questions once, ask about long documents window by window, and read yes or no."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import chain

from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.reports.types import Query, Verdict

WINDOW = 24_000
"""Default size of a window, in characters: about 6,000 tokens of English."""

_RUN = re.compile(r"\w+")

RAW_LENGTH = 200
"""How many characters of a judge's words are kept with a verdict: the last ones, where the verdict stands."""

# A word is whole if neither a letter nor a digit touches it, nor a hyphen or apostrophe with one behind it.
_BEFORE = r"(?<![^\W_])(?<![^\W_]['’-])"
_AFTER = r"(?![^\W_]|['’-][^\W_])"
_WORD = rf"{_BEFORE}(yes|no){_AFTER}"
_MARK = r"[\s\"'’*`_]{0,5}"
_MARKS = r"(?:[^\w?¿]|_){0,20}"  # a question mark makes a verdict a question
_LABEL = (
    r"(?:(?:so|thus|hence|therefore)[\s,]+)?(?:(?:the|my)\s+)?(?:(?:final|correct)\s+)?"
    r"(?:answer|verdict|judge?ment|decision|conclusion)"
)
_IS = r"\s+is(?:\s+(?:therefore|thus|clearly))?"
_BOTH = re.compile(rf"{_WORD}{_MARK}(?:/|\||\bor\b|\band\b){_MARK}{_WORD}", re.IGNORECASE)
_CAPITALS = re.compile(rf"{_BEFORE}(YES|NO){_AFTER}")
_BARE = re.compile(rf"{_MARKS}(?:{_LABEL}(?:{_IS})?{_MARKS})?{_WORD}{_MARKS}", re.IGNORECASE)
# "No" with a word right behind it is an article: "No document says so."
_END = r"(?![\W_]{0,20}\?)(?:(?<=s)|(?<=S)|(?=\s{0,9}(?:[^\w\s]|_|\Z)))"
_OPENING = re.compile(rf"{_MARKS}(?:{_LABEL}(?:{_IS})?{_MARKS})?{_WORD}{_END}", re.IGNORECASE)
_LABELLED = re.compile(rf"{_MARKS}{_LABEL}(?:{_IS})?{_MARKS}{_WORD}{_END}", re.IGNORECASE)
_CLOSING = re.compile(
    rf"(?:[.,:;!…–—-][\s\"'’*`_(]{{0,9}}|{_BEFORE}(?:{_LABEL}{_IS}|I\s+(?:think|say)){_MARKS}){_WORD}{_MARKS}\Z",
    re.IGNORECASE,
)
_NUMBERED = re.compile(rf"{_MARKS}(\d{{1,4}}){_MARKS}{_WORD}{_END}", re.IGNORECASE | re.ASCII)
_NEAR = 200
"""How far from the beginning or the end of a line its verdict may stand, in characters."""

_ANSWER_TAGS = re.compile(r"</?answer>", re.IGNORECASE)
_OBJECT = re.compile(r"(?:```(?:json)?\s)?\s*(\{.*\})\s*(?:```)?", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r'"(?:verdict|answer)"\s{0,9}:\s{0,9}"?(yes|no|true|false)\b', re.IGNORECASE)
_ECHO = 200
"""So many characters of a prompt's beginning or end, words and blanks, make an answer an echo."""


def window_name(window: int | None) -> list[str]:
    """How a judge's name says that it was given a window of its own.

    Example:
        >>> window_name(500), window_name(None)
        (['window:500'], [])
    """
    return [] if window is None else [f"window:{window}"]


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
        if text[candidate].isspace():
            return candidate
    return position


def read_verdict(text: str, prompts: Sequence[str] = ()) -> bool | None:
    r"""The verdict in a judge's answer.

    Reasoning is dropped, and so is an echo of the choice ("YES or NO", "yes/no"). Then the verdict is

    1. the field ``verdict`` or ``answer`` of an answer in JSON;
    2. the last line that is nothing but a verdict, with markup, a full stop or a label ("**Answer:** yes.");
    3. the word that opens or closes the answer, or stands after a label at the beginning of a line, where all of them
       are the same and no line says the opposite, by its first word or in capitals.

    There is none in an answer that contains its prompt or gives both.

    Args:
        text: What the judge wrote; of any length.
        prompts: What the judge was sent.

    Returns:
        True for yes, False for no, None where neither can be read.

    Example:
        >>> [read_verdict(text) for text in ("YES.", "Yes, there is no doubt", "NO\nNote: it says YES", "It isn't: no")]
        [True, True, False, False]
        >>> [read_verdict(text) for text in ("NOT SURE", "YES or NO?", "NO, but then: YES", "No document says so.")]
        [None, None, None, None]
        >>> read_verdict("<think>It says YES.</think> **No**")
        False
    """
    answer = strip_thinking(_ANSWER_TAGS.sub("\n", text)).text.strip()
    if _is_echo(answer, prompts):
        return None
    if (found := _OBJECT.fullmatch(answer)) and (words := _FIELD.findall(found[1])):
        return _only({word.lower() in ("yes", "true") for word in words})
    lines = [line.strip() for line in _BOTH.sub(" ", answer).splitlines() if line.strip()]
    bare = [(number, match) for number, line in enumerate(lines) if (match := _BARE.fullmatch(line))]
    if bare:
        last = bare[-1][0]
        return _only({_is_yes(match) for number, match in bare if number >= last - 1})
    return _stated(lines)


def read_numbered(text: str, n: int, prompts: Sequence[str] = ()) -> list[bool | None]:
    r"""The verdicts on ``n`` questions that were asked together, one a line after its number; None where it is unclear.

    Example:
        >>> read_numbered("1: YES\n2. **no**\n3: maybe\n4: YES or NO\n5: YES\n5: NO", 6)
        [True, False, None, None, None, None]
    """
    answer = strip_thinking(_ANSWER_TAGS.sub("\n", text)).text.strip()
    found: dict[int, set[bool]] = {}
    if not _is_echo(answer, prompts):
        for line in _BOTH.sub(" ", answer).splitlines():
            if match := _NUMBERED.match(line[:_NEAR]):
                said = {word.upper() == "YES" for word in (match[2], *_CAPITALS.findall(line))}
                found.setdefault(int(match[1]), set()).update(said)
    return [_only(found.get(number, set())) for number in range(1, n + 1)]


def _stated(lines: Sequence[str]) -> bool | None:
    """The verdict that an answer opens or closes with, if nothing else in it says the opposite."""
    if not lines:
        return None
    heads, closing = [line[:_NEAR] for line in lines], _CLOSING.search(lines[-1][-_NEAR:])
    stated = [_OPENING.match(heads[0]), *map(_LABELLED.match, heads[1:]), closing]
    value = _only({_is_yes(match) for match in stated if match})
    # Capitals before a word that closes their line may be quoted: "It says YES, but that is no evidence: NO".
    capitals = [_CAPITALS.finditer(line) for line in (lines[:-1] if closing else lines)]
    said = [*filter(None, map(_OPENING.match, heads)), *chain.from_iterable(capitals)]
    return value if all(_is_yes(match) is value for match in said) else None


def _is_yes(match: re.Match[str]) -> bool:
    return match[1].upper() == "YES"


def _only(values: set[bool]) -> bool | None:
    """The only value there is."""
    return values.pop() if len(values) == 1 else None


def _is_echo(answer: str, prompts: Sequence[str]) -> bool:
    """Whether an answer has the beginning or the end of a prompt in it, whatever stands between the words."""
    said = _words(answer)
    if len(said) < _ECHO:
        return False
    sent = [words for prompt in prompts if len(words := _words(_ANSWER_TAGS.sub("\n", prompt))) >= _ECHO]
    return any(words[:_ECHO] in said or words[-_ECHO:] in said for words in sent)


def _words(text: str) -> str:
    return " ".join(_RUN.findall(text.casefold()))


def verdict_in(text: str, prompts: Sequence[str] = ()) -> Verdict:
    """The verdict in a judge's answer, with the end of the answer; ``unreadable`` where there is none.

    Example:
        >>> verdict_in("NOT SURE")
        Verdict(value=None, reason='unreadable', raw='NOT SURE', probability=None, cached=False)
    """
    value = read_verdict(text, prompts)
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
