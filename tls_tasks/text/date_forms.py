"""The forms of dates, as patterns over the marks of :mod:`~tls_tasks.text.date_words`.

Groups: ``y``, ``m`` and ``d`` in digits, ``mon`` in marks, ``m2``, ``d2`` and ``mon2`` at the end of a range, ``a`` and
``b`` where either may be the month. Every form begins at a digit or a mark, and no two parts of it that may be repeated
stand side by side, so that a match takes time proportional to its length.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tls_tasks.text.date_words import (
    ARTICLE,
    BEFORE,
    ERA,
    MONTH,
    MONTHS,
    OF,
    RISKY_MONTHS,
    RISKY_WEEKDAY,
    TO,
    UNTIL,
    WEEKDAY,
    YEAR,
)

# The forms are made of marks; see date_words. A year or a day may end in a full stop in the middle of a date, and at
# its end where other punctuation follows.
_STOP = r"(?:\.(?=\s*(?:[^\w\s.]|$)))?"
_ORDINAL = r"(?:st|nd|rd|th|er|re|e|º|ª|°|\.º|η|-?(?:го|е|й))?"
_NAME = rf"[{MONTHS}{RISKY_MONTHS}]+\.?|{MONTH}+\s+[0-9]{{1,2}}(?![0-9])"
_SURE_NAME = rf"[{MONTHS}]+\.?|{MONTH}+\s+[0-9]{{1,2}}(?![0-9])"
_MON, _MON2 = rf"(?P<mon>{_NAME})", rf"(?P<mon2>{_NAME})"
_SURE, _SURE2 = rf"(?P<mon>{_SURE_NAME})", rf"(?P<mon2>{_SURE_NAME})"
_D, _D2 = (rf"(?P<{name}>[0-9]{{1,2}})(?![0-9]){_ORDINAL}" for name in ("d", "d2"))
_Y = rf"(?P<y>[0-9]{{4}})(?![0-9])(?:\s?{ERA}+\.?)?"
_GAP = r"(?:\.?,?\s+|\.|-|/)"
_OF = rf"{_GAP}(?:{OF}+(?:\s+|'))?"
_COMMA = rf"(?:\.?,\s*|\.?\s+|\.|-|/)(?:{OF}+\s+)?(?:{YEAR}+\.?\s+)?"
_TO = rf"\.?\s*(?:-+|~|/|&|[{TO}{UNTIL}]+)\s*(?:[{WEEKDAY}{RISKY_WEEKDAY}]+\.?,?\s+)?"
_CJK_DAY = r"(?P<d>[0-9]{1,2})\s?日"
_CJK_MONTH = r"(?P<m>[0-9]{1,2})\s?月"
_CJK_YEAR = r"(?P<y>[0-9]{4})\s?年\s?"
_A_B = r"(?P<a>[0-9]{1,2})(?P<sep>\s?[-/]|\.\s?)(?P<b>[0-9]{1,2})(?![0-9])"


def _compiled(*forms: str) -> tuple[re.Pattern[str], ...]:
    """Compile forms; ASCII only, or ignoring case would let in letters such as the long s."""
    return tuple(re.compile(form, re.IGNORECASE | re.ASCII) for form in forms)


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
    return Forms(
        _compiled(
            rf"{_D}{_TO}{_D2}{_OF}{_MON}{year}",  # 25-28 January 2011
            rf"{_D}{_OF}{_MON}{_TO}{_D2}{_OF}{_MON2}{year}",  # 25 January - 2 February 2011
            rf"{_D}{_TO}{_D2}\.\s?(?P<m>[0-9]{{1,2}}){year}",  # 25.-28.01.2011
            rf"{_D}\.\s?(?P<m>[0-9]{{1,2}}){_TO}{_D2}\.\s?(?P<m2>[0-9]{{1,2}}){year}",  # 28.01.-02.02.2011
            rf"{cjk_year}{_CJK_MONTH}\s?(?P<d>[0-9]{{1,2}})\s?日?{_TO}(?:(?P<m2>[0-9]{{1,2}})\s?月\s?)?"
            r"(?P<d2>[0-9]{1,2})\s?日",
        ),
        _compiled(
            rf"{_MON}\s+{_D}{_TO}{_D2}{year}",  # January 25-28, 2011
            rf"{_MON}\s+{_D}{_TO}{_MON2}\s+{_D2}{year}",  # January 25 - February 2, 2011
            rf"{_SURE}{_TO}{_SURE2}{year}",  # January-March 2011
        ),
        _compiled(rf"{_D}{_OF}{_MON}{year}", rf"{cjk_year}{_CJK_MONTH}\s?{_CJK_DAY}"),
        _compiled(rf"{_MON}{_GAP}{_D}{year}", rf"{_SURE}{year}"),
    )


ISO_DAY, SHORT_ISO_RANGE = _compiled(
    rf"(?P<y>[0-9]{{4}})(?P<sep>[-/]|\.\s?)(?P<m>[0-9]{{1,2}})(?P=sep)(?P<d>[0-9]{{1,2}})(?![0-9]){_STOP}",
    r"(?P<y>[0-9]{4})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})[-/](?P<d2>[0-9]{1,2})(?![0-9/-])",  # 2011-01-25/28
)
BARE = _compiled(r"(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})(?![0-9])", rf"{_A_B}(?P=sep){_Y}{_STOP}")
FULL = _day_forms(rf"{_COMMA}{_Y}{_STOP}", _CJK_YEAR)
FULL = FULL._replace(
    digits=(
        *BARE,
        *FULL.digits,
        *_compiled(
            rf"{_Y}{_COMMA}{_MON}{_GAP}{_D}(?:\s{OF}\.?)?{_STOP}",  # 2011 January 25; with a d. in Lithuanian
            rf"{_Y}{_COMMA}{_SURE}",
            rf"{_Y}{_COMMA}{_D}{_OF}{_MON}",  # 2011. gada 25. janvāris
            rf"{_A_B}(?P=sep)(?P<y>[0-9]{{2}})(?![\w/-]|\.[0-9])",  # 25.01.11
            rf"{_CJK_YEAR}(?:{_CJK_MONTH})?",
            r"(?P<y>[0-9]{4})[-/](?P<m>[0-9]{1,2})(?![0-9])",
            r"(?P<m>[0-9]{1,2})/(?P<y>[0-9]{4})(?![0-9])",
            _Y,
        ),
    ),
)
NO_YEAR = _day_forms(rf"(?![0-9]|\.?[0-9]){_STOP}", "")
NO_YEAR = NO_YEAR._replace(digits=(*NO_YEAR.digits, *_compiled(rf"{_A_B}{_STOP}", rf"{_CJK_MONTH}")))
NO_MONTH = Forms(_compiled(rf"{_D}{_TO}{_D2}(?![0-9])"), (), _compiled(_CJK_DAY, rf"{_D}(?![0-9]|[.,:/-][0-9])"), ())
_ANY_WEEKDAY = rf"[{WEEKDAY}{RISKY_WEEKDAY}{YEAR}]"
_CJK_WEEKDAY = "[月火水木金土日월화수목금토](?:曜日|曜|요日)?|(?:星期|周|週)[一二三四五六日天]"
TIME, WEEKDAY_AFTER, TO_DATE, PREFIX = _compiled(
    # There may be a blank before the T, or no T at all.
    r"(?:\s?T\s?|,?\s+(?:at\s+)?)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\s?[ap]\.?m\b\.?)?"
    r"(?:\s?(?:Z|UTC|GMT|[ECMP][SD]T|CES?T|BST)\b|\s?[+-][0-9]{2}:?[0-9]{2}(?![0-9-]))?",
    # In brackets, or behind a comma, or where the date would end anyway: "2011-01-25 Sat down" is not a Saturday.
    rf"\s*[(\[]\s*(?:{_ANY_WEEKDAY}+\.?|{_CJK_WEEKDAY})[)\]]?"
    rf"|\s*,?\s*(?:{_ANY_WEEKDAY}+(?:[\s-]+{_ANY_WEEKDAY}+)?\.?|(?:{_CJK_WEEKDAY}))(?=\s*(?:[^\w\s\ue100-\ue1ff]|$))"
    rf"|\s*,\s*{WEEKDAY}+\.?",
    _TO,
    rf"(?P<before>(?:[{BEFORE}{UNTIL}]+\.?(?:[\s-]+|(?<=\.))){{0,3}})"
    rf"(?P<day>(?:(?:{ARTICLE}+\s+|[(\[]?{_ANY_WEEKDAY}+(?:[\s-]+{_ANY_WEEKDAY}+)?\.?[)\]]?,?\s+"
    rf"|{OF}{{2}}[.,]+\s+)){{0,3}}"  # "Di.", "Do."
    rf"(?:{ARTICLE}+(?:\s+|['-]|(?=[0-9])))?)",
)
FULL_DAY = re.compile(
    rf"(?<![\w./\-\ue100-\ue1ff])(?:[0-9]{{4}}(?:[-/]|\.\s?)[0-9]{{1,2}}(?:[-/]|\.\s?)[0-9]{{1,2}}(?![0-9])|[0-9]{{4}}\s?年\s?[0-9]"
    rf"{{1,2}}\s?月\s?[0-9]{{1,2}}\s?日|[0-9]{{1,2}}(?:\s?[-/]|\.\s?)[0-9]{{1,2}}(?:\s?[-/]|\.\s?)[0-9]{{4}}(?![0-9])"
    rf"|[0-9]{{1,2}}{_ORDINAL}(?:{_TO}[0-9]{{1,2}}{_ORDINAL})?{_OF}(?:{_NAME}){_COMMA}[0-9]{{4}}(?![0-9])"
    rf"|[0-9]{{4}}(?:\s?{ERA}+\.?)?{_COMMA}(?:{_NAME}){_GAP}[0-9]{{1,2}}(?![0-9])"
    rf"|(?:{_NAME}){_GAP}[0-9]{{1,2}}{_ORDINAL}(?:{_TO}[0-9]{{1,2}}{_ORDINAL})?{_COMMA}[0-9]{{4}}(?![0-9]))",
    re.IGNORECASE | re.ASCII,
)
YEAR_LABEL = re.compile(rf"(?:{ARTICLE}+\s+)?(?:in\s+)?(?:{YEAR}+\s*:?\s*)?", re.IGNORECASE | re.ASCII)
