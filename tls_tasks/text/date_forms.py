"""The forms of dates (``date_forms.yaml``): patterns over token classes, so that a form holds for all languages.

A form never sees a word. :func:`marked` replaces each word of dates first, by characters of Unicode's private use area,
one character a *token class*: ``25 de enero de 2011`` and ``25th of January, 2011`` are both digits, ``OF``, a month,
and so on. A word of n characters becomes n times the character of its class, so that positions stay the same, and a
pattern says ``{{OF}}+`` for the word and ``[{{MONTHS}}]+`` for a month. Words of no class stop the replacing: no date
goes on behind them. Months and weekdays are CLDR's (``data/date_names.json``, written by
``scripts/make_date_names.py``), the other words stand in ``data/date_words.json``: a form with a new word needs it
there, or it never matches. ``am`` is German there: the one of ``10:30 am`` needs no class, since no date is behind it.

Digits are ASCII's and blanks, dashes, full-width and Arabic punctuation are plain when a form sees them.

Groups of a form: ``y``, ``m`` and ``d`` in digits, ``mon`` in marks, ``m2``, ``d2`` and ``mon2`` at the end of a range,
``a`` and ``b`` where either may be the month. Every form begins at a digit or a mark, and no two parts of it that may
be repeated stand side by side, so that a match takes time proportional to its length.
"""

import json
import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

import yaml

from tls_tasks.core.reasoning import filled
from tls_tasks.text.numbers import ascii_digits

# --- token classes: the words of dates ---

_FIRST_MARK = 0xE100
MONTHS, RISKY_MONTHS = "\ue101-\ue10c", "\ue111-\ue11c"
"""Marks of months, as in a class of characters; risky are short names that may be other words, such as ``out``."""

WEEKDAY, RISKY_WEEKDAY = "\ue120", "\ue121"
OF, TO, UNTIL, BEFORE, ARTICLE, YEAR, ERA, MONTH = map(chr, range(0xE122, 0xE12A))  # new: raise the end
"""``of``; ``to``; what may also stand before a date; prepositions, also before a year; words before a day; ``year``
before and after the number; ``month`` before a number."""

_PASSED = ""
_CLASSES = (OF, TO, UNTIL, BEFORE, ARTICLE, YEAR, ERA, MONTH, RISKY_WEEKDAY, _PASSED)  # in the order of date_words.json

# Character by character: blanks, hyphens and dashes, full-width and Arabic punctuation, marks of abbreviation, Korean
# signs for those that Chinese and Japanese share. What looks like a mark of ours is none.
_PLAIN = str.maketrans(
    "\u00a0\u2007\u2009\u202f\u3000\u200e\u200f\u2010\u2011\u2012\u2013\u2014\u2212\uff0d\u05be\u301c\uff5e\uff0f"
    "\uff0c\u060c\u3001\u0970\u05f3\uff08\uff09\uff1a\u2019년월일",
    " " * 7 + "-" * 8 + "~~/" + ",,,..():'年月日",
) | {_FIRST_MARK + offset: "?" for offset in range(0x40)}
_THAI = re.compile(r"[\u0e01-\u0e2e]")
_BUDDHIST = re.compile(r"(?<!\d)2[456]\d\d(?!\d)")  # in Thai, 2554 is 2011
_LETTER = r"[^\s!-@\[-`{-\xa9\xab-\xb9\xbb-\xbf\u0964\u0965\u2000-\u200b\u200e-\u206f\u3000-\u303f\uff00-\uff20年月日]"
_WORD = re.compile(rf"{_LETTER}+(?:\.{_LETTER}+)*")


def _marks() -> dict[str, str]:
    """Word -> its mark."""
    files = (Path(__file__).parent / "data" / f"date_{what}.json" for what in ("names", "words"))
    names, words_of = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    found = dict.fromkeys(names["weekday_abbreviations"], RISKY_WEEKDAY) | dict.fromkeys(names["weekdays"], WEEKDAY)
    found |= {word: mark for mark, words in zip(_CLASSES, words_of.values(), strict=True) for word in words.split()}
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
        plain = ascii_digits(text.translate(_PLAIN))
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


# --- forms ---

_TABLE = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_PARTS = {
    **{"MONTHS": MONTHS, "RISKY_MONTHS": RISKY_MONTHS, "WEEKDAY": WEEKDAY, "RISKY_WEEKDAY": RISKY_WEEKDAY},
    **dict(zip("OF TO UNTIL BEFORE ARTICLE YEAR ERA MONTH".split(), _CLASSES, strict=False)),
}
for _name, _part in _TABLE["parts"].items():
    _PARTS[_name] = filled(_part, _PARTS)


def _compiled(kind: str, **more: str) -> tuple[re.Pattern[str], ...]:
    """The forms of a kind; ASCII only, or ignoring case would let in letters such as the long s."""
    parts = {**_PARTS, **more}
    return tuple(re.compile(filled(form, parts), re.IGNORECASE | re.ASCII) for form in _TABLE[kind])


class Forms(NamedTuple):
    """What may be matched, the first that matches first, by whether a digit begins it."""

    digit_ranges: tuple[re.Pattern[str], ...]
    name_ranges: tuple[re.Pattern[str], ...]
    digits: tuple[re.Pattern[str], ...]
    names: tuple[re.Pattern[str], ...]


def _day_forms(year: str, cjk_year: str) -> Forms:
    """The forms of days and of ranges with a shared part, with what stands for the year behind, and before in Chinese.

    Args:
        year: A separator and a year, or what can't follow where the year is known.
        cjk_year: A year and its sign, or nothing.
    """
    return Forms(*(_compiled(kind, year=year, cjk_year=cjk_year) for kind in Forms._fields))


ISO_DAY, SHORT_ISO_RANGE = _compiled("iso")
BARE = _compiled("bare")
FULL = _day_forms(_PARTS["YEAR_BEHIND"], _PARTS["_CJK_YEAR"])
FULL = FULL._replace(digits=(*BARE, *FULL.digits, *_compiled("full_digits")))
NO_YEAR = _day_forms(_PARTS["NO_YEAR_BEHIND"], "")
NO_YEAR = NO_YEAR._replace(digits=(*NO_YEAR.digits, *_compiled("no_year_digits")))
NO_MONTH = Forms(_compiled("no_month_ranges"), (), _compiled("no_month_digits"), ())
TIME, WEEKDAY_AFTER, TO_DATE, PREFIX = _compiled("around")
(FULL_DAY,), (YEAR_LABEL,) = _compiled("full_day"), _compiled("year_label")
