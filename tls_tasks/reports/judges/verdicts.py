"""A judge's words -> yes, no, or undecided."""

from __future__ import annotations

import re

from tls_tasks.core.json_text import strip_thinking
from tls_tasks.reports.types import Verdict

RAW_LENGTH = 200
"""How many characters of a judge's words are kept with a verdict: the last ones, where the verdict stands."""

# A word is whole if neither a letter nor a digit touches it, nor a hyphen or apostrophe with one behind it.
_BEFORE = r"(?<![^\W_])(?<![^\W_]['’-])"
_AFTER = r"(?![^\W_]|['’-][^\W_])"
_WORD = rf"{_BEFORE}(yes|no){_AFTER}"
_CAPITALS = re.compile(rf"{_BEFORE}(YES|NO){_AFTER}")
_MARK = r"[\s\"'’*`_]{0,5}"
_BOTH = re.compile(rf"{_WORD}{_MARK}(?:/|\||\bor\b|\band\b){_MARK}{_WORD}", re.IGNORECASE)
_FIRST = re.compile(rf"[\W_]{{0,20}}{_WORD}", re.IGNORECASE)
_LAST = re.compile(rf"{_WORD}[\W_]{{0,20}}\Z", re.IGNORECASE)
_ANNOUNCED = re.compile(rf"(?:answer|verdict)[\W_]{{0,10}}(?:is[\W_]{{0,10}})?{_WORD}", re.IGNORECASE)


def read_verdict(text: str) -> bool | None:
    """The verdict in a judge's answer.

    ``<think>`` blocks are dropped, and so is an echo of the choice ("YES or NO", "yes/no"). Then the last whole word
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
    word = None
    for word in _CAPITALS.finditer(answer):  # noqa: B007 - the last one is wanted
        pass
    if word is None:
        announced = list(_ANNOUNCED.finditer(answer))
        word = _LAST.search(answer) or (announced[-1] if announced else None) or _FIRST.match(answer)
    return None if word is None else word[1].upper() == "YES"


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
