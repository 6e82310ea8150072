"""The words of dates in some fifty languages, each replaced by marks of the same length.

What :mod:`~tls_tasks.text.dates` matches are marks, so that its forms hold for all languages: ``25 de enero de 2011``
and ``25th of January, 2011`` are a number, a preposition, a month, and so on. Marks are characters of the private use
area, one class a character, and months one character each; a word of n characters becomes n marks, so that positions
stay the same. Months and weekdays are CLDR's (``data/date_names.json``, written by ``scripts/make_date_names.py``).
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

_FIRST_MARK = 0xE100
MONTHS, RISKY_MONTHS = "\ue101-\ue10c", "\ue111-\ue11c"
"""Marks of months, as in a class of characters; risky are short names that may be other words, such as ``out``."""

WEEKDAY, RISKY_WEEKDAY = "\ue120", "\ue121"
OF, TO, UNTIL, BEFORE, ARTICLE, YEAR, ERA, MONTH = "\ue122 \ue123 \ue124 \ue125 \ue126 \ue127 \ue128 \ue129".split()
"""``of``; ``to``; what may also stand before a date; prepositions, also before a year; words before a day; ``year``
before and after the number; ``month`` before a number."""

_PASSED = ""
_WORDS = {
    OF: "of de del della di do d ng",
    TO: "to through and y e et und och og en a al à i và 至 到 から",
    UNTIL: "until till bis au do até hasta до по tot til",
    BEFORE: "from between on or early mid late around by after since circa c ca about before approximately approx"
    " anfang mitte ende début fin inizio fine",
    ARTICLE: "the am vom den der dem ab seit le du dès el la il l all dal dall ika pada tanggal ngày op sinds dnia"
    " dne med στις em no på fra från od в с с з от يوم في",
    YEAR: "year years jahr jahre jahres année an año ano anno jaar år rok roku năm tahun yıl yılı έτος ค.ศ พ.ศ عام"
    " سنة წლის",
    ERA: "г год года р рік року године r godine թ m ж م",
    MONTH: "tháng thg",
    RISKY_WEEKDAY: "mo mi fr sa so",
    _PASSED: "at am a.m p.m pm t z utc gmt st nd rd th er re ème e º ª го е й η",
}
_WORDS[_PASSED] = _WORDS[_PASSED].replace(" am ", " ")  # German; "10:30 am" has no date behind it

# Character by character: blanks, hyphens and dashes, full-width and Arabic punctuation, marks of abbreviation, Korean
# signs for those that Chinese and Japanese share. What looks like a mark of ours is none.
_PLAIN = str.maketrans(
    "\u00a0\u2007\u2009\u202f\u3000\u200e\u200f\u2010\u2011\u2012\u2013\u2014\u2212\uff0d\u05be\u301c\uff5e\uff0f"
    "\uff0c\u060c\u3001\u0970\u05f3\uff08\uff09\uff1a\u2019년월일",
    " " * 7 + "-" * 8 + "~~/" + ",,,..():'年月日",
) | {_FIRST_MARK + offset: "?" for offset in range(0x40)}
_DIGIT = re.compile(r"[^\D0-9]")
_THAI = re.compile(r"[\u0e01-\u0e2e]")
_BUDDHIST = re.compile(r"(?<!\d)2[456]\d\d(?!\d)")  # in Thai, 2554 is 2011
_LETTER = r"[^\s!-@\[-`{-\xa9\xab-\xb9\xbb-\xbf\u0964\u0965\u2000-\u200b\u200e-\u206f\u3000-\u303f\uff00-\uff20年月日]"
_WORD = re.compile(rf"{_LETTER}+(?:\.{_LETTER}+)*")


def _marks() -> dict[str, str]:
    """Word -> its mark."""
    path = Path(__file__).parent / "data" / "date_names.json"
    names = json.loads(path.read_text(encoding="utf-8"))
    found = dict.fromkeys(names["weekday_abbreviations"], RISKY_WEEKDAY) | dict.fromkeys(names["weekdays"], WEEKDAY)
    found |= {word: mark for mark, words in _WORDS.items() for word in words.split()}
    for kind, first in (("month_abbreviations", RISKY_MONTHS[0]), ("months", MONTHS[0])):
        found |= {word: chr(ord(first) + number - 1) for word, number in names[kind].items()}
    return found


_MARKS = _marks()


def marked(text: str, throughout: bool = False) -> str:
    """A text with ASCII digits and plain punctuation, and with marks for the words of dates.

    Args:
        text: Any text.
        throughout: Whether words are replaced wherever they stand; if not, up to the first that belongs to no date.

    Returns:
        A text of the same length.

    Example:
        >>> marked("25 January") == "25 " + 7 * chr(0xe101)
        True
        >>> marked("٢٥/١/٢٠١١ Mayor in May")
        '25/1/2011 Mayor in May'
    """
    plain = text
    if not text.isascii():
        plain = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text.translate(_PLAIN))
        if _THAI.search(text):
            plain = _BUDDHIST.sub(lambda year: str(int(year[0]) - 543), plain)
    if throughout:
        return _WORD.sub(lambda word: (_mark(word[0]) or "") * len(word[0]) or word[0], plain)
    parts: list[str] = []
    at = 0
    for word in _WORD.finditer(plain):
        mark = _mark(word[0])
        if mark is None:
            break
        if mark:
            parts += plain[at : word.start()], mark * len(word[0])
            at = word.end()
    return "".join((*parts, plain[at:]))


def _mark(word: str) -> str | None:
    """The mark of a word; empty for one that may stand in a date as it is, None for one that may not."""
    found = _MARKS.get(word.lower())
    return found if found is not None or word.isascii() else _MARKS.get(unicodedata.normalize("NFC", word.lower()))


def month_of(marks: str) -> int:
    """The month that a name stands for, its number where the language has no names.

    Example:
        >>> month_of(marked("décembre")), month_of(marked("tháng 12"))
        (12, 12)
    """
    return int(marks.rstrip(".").lstrip(MONTH)) if marks[0] == MONTH else ord(marks[0]) & 0xF
