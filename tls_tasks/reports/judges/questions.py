"""Read the verdicts of judges: yes or no in an answer, with the end of the answer."""

import math
import re
from itertools import chain

from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.reports.types import Verdict

RAW_LENGTH = 200
"""Characters of a judge's answer that a verdict stores: the last ones, where the verdict stands."""

# A word is whole if neither a letter nor a digit touches it, nor a hyphen or apostrophe with one behind it.
_BEFORE = r"(?<![^\W_])(?<![^\W_]['’-])"
_AFTER = r"(?![^\W_]|['’-][^\W_])"
_WORD = rf"{_BEFORE}(yes|no){_AFTER}"
_MARK = r"[\s\"'’*`_]{0,5}"
_MARKS = r"(?:[^\w?¿]|_){0,20}"  # a question mark makes a verdict a question
_BEFORE_LABEL = r"(?:(?:so|thus|hence|therefore)[\s,]+)?(?:(?:the|my)\s+)?(?:(?:final|correct)\s+)?"
_LABEL = rf"{_BEFORE_LABEL}(?:answer|verdict|judge?ment|decision|conclusion)"
_IS = r"\s+is(?:\s+(?:therefore|thus|clearly))?"
_BOTH = re.compile(rf"{_WORD}{_MARK}(?:/|\||\bor\b|\band\b|\bbut\b){_MARK}{_WORD}", re.IGNORECASE)
_CAPITALS = re.compile(rf"{_BEFORE}(YES|NO){_AFTER}")
_BARE = re.compile(rf"{_MARKS}(?:{_LABEL}(?:{_IS})?{_MARKS})?{_WORD}{_MARKS}", re.IGNORECASE)
# "No" with a word right behind it is an article: "No document says so."
_END = r"(?![\W_]{0,20}\?)(?:(?<=s)|(?<=S)|(?=\s{0,9}(?:[^\w\s]|_|\Z)))"
_OPENING = re.compile(rf"{_MARKS}(?:{_LABEL}(?:{_IS})?{_MARKS})?{_WORD}{_END}", re.IGNORECASE)
_LABELLED = re.compile(rf"{_MARKS}{_LABEL}(?:{_IS})?{_MARKS}{_WORD}{_END}", re.IGNORECASE)
_SAYING = rf"{_BEFORE}(?:{_LABEL}{_IS}|I\s+(?:think|say)){_MARKS}"
_CLOSING = re.compile(rf"(?:[.,:;!…–—-][\s\"'’*`_(]{{0,9}}|{_SAYING}){_WORD}{_MARKS}\Z", re.IGNORECASE)
_NEAR = 200
"""How far from the beginning or the end of a line its verdict may stand, in characters."""

_ANSWER_TAGS = re.compile(r"</?answer>", re.IGNORECASE)
_OBJECT = re.compile(r"(?:```(?:json)?\s)?\s*(\{.*\})\s*(?:```)?", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r'"(?:verdict|answer)"\s{0,9}:\s{0,9}"?(yes|no|true|false)\b', re.IGNORECASE)


def read_verdict(text: str) -> bool | None:
    r"""Read the verdict in a judge's answer; None where there is none.

    Reasoning is dropped, and so is an echo of the choice ("YES or NO", "yes/no"). Then the verdict is

    1. the field ``verdict`` or ``answer`` of an answer in JSON;
    2. the last line that is nothing but a verdict, with markup, a full stop or a label ("**Answer:** yes.");
    3. the word that opens or closes the answer, or stands after a label at the beginning of a line, where all of them
       are the same and no line says the opposite, by its first word or in capitals.

    There is none in an answer that gives both.

    Args:
        text: What the judge wrote; of any length.

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
    if (json_object := _OBJECT.fullmatch(answer)) and (words := _FIELD.findall(json_object[1])):
        return _only({word.lower() in ("yes", "true") for word in words})
    lines = [line.strip() for line in _BOTH.sub(" ", answer).splitlines() if line.strip()]
    bare_lines = [(number, match) for number, line in enumerate(lines) if (match := _BARE.fullmatch(line))]
    if bare_lines:
        return _only({_is_yes(match) for number, match in bare_lines if number >= bare_lines[-1][0] - 1})
    starts, closing = [line[:_NEAR] for line in lines], _CLOSING.search("".join(lines[-1:])[-_NEAR:])
    openings = [*filter(None, map(_OPENING.match, starts))]
    statements = [*map(_OPENING.match, starts[:1]), *map(_LABELLED.match, starts[1:]), closing]
    value = _only({_is_yes(match) for match in statements if match})
    # Capitals before a word that closes their line may be quoted: "It says YES, but that is no evidence: NO".
    shouted = [_CAPITALS.finditer(line) for line in (lines[:-1] if closing else lines)]
    return value if all(_is_yes(match) is value for match in chain(openings, *shouted)) else None


def _is_yes(match: re.Match[str]) -> bool:
    return match[1].upper() == "YES"


def _only(values: set[bool]) -> bool | None:
    """Return the only member of a set; None if it has none or several."""
    return values.pop() if len(values) == 1 else None


def parse_verdict(text: str) -> Verdict:
    """Return the verdict in a judge's answer, with the end of the answer; ``unreadable`` where there is none.

    Example:
        >>> parse_verdict("NOT SURE")
        Verdict(value=None, reason='unreadable', raw='NOT SURE', probability=None, cached=False)
    """
    value = read_verdict(text)
    return Verdict(value, "unreadable" if value is None else "", shorten(text))


def shorten(text: str) -> str:
    r"""Return the end of a judge's answer, on one line, as verdicts store it.

    Example:
        >>> shorten("Yes,\n it does.")
        'Yes, it does.'
    """
    line = " ".join(text[-4 * RAW_LENGTH :].encode("utf-8", "replace").decode().split())
    return line if len(line) <= RAW_LENGTH else f"…{line[1 - RAW_LENGTH :]}"


def from_probability(probability: float) -> Verdict:
    """Build the verdict of a judge that gives the probability of yes: yes from 0.5; NaN is no verdict.

    Example:
        >>> from_probability(0.5).value, from_probability(float("nan"))[:2]
        (True, (None, 'unreadable'))
    """
    if math.isnan(probability):
        return Verdict(None, "unreadable", "NaN")
    return Verdict(probability >= 0.5, probability=probability)
