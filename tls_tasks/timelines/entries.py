"""One entry of a timeline in model text: what models call its parts, and its text without marks."""

from __future__ import annotations

import re
from typing import NamedTuple

from tls_tasks.text.dates import DateExpression, Known

UNKNOWN = Known()
"""No year, no month."""

DATE_KEYS = ("date", "start", "start_date", "event_date", "datetime", "timestamp", "time", "day", "when")
"""Names of a date in JSON, XML and table headers; the first one present is taken."""

END_KEYS = ("end", "end_date")
"""Names of the last day of a range."""

TEXT_KEYS = tuple(
    "text summary event events description content sentences sentence details headline title heading news body".split()
)
"""Names of an entry's text; all that are present are taken."""

ASIDE_KEYS = tuple(
    "id no nr number source sources url link links reference references ref refs citation citations confidence"
    " importance category type tags".split()
)
"""Names of what stands beside an entry's text and is no part of it."""


class RawEntry(NamedTuple):
    """One entry of a timeline in model text.

    Attributes:
        expression: Its date, None if the date can't be read.
        written: The date as written; empty if there is none.
        sentences: Its text.
    """

    expression: DateExpression | None
    written: str
    sentences: tuple[str, ...]


MARKS = "-*+•‣◦▪●○■□·・"
"""Characters that mark a list item."""

_ITEM = re.compile(rf"([ \t]*)(?:>\s?){{0,9}}(?:([{MARKS}])|\(?([0-9]{{1,3}}|[A-Za-z])[.)]|[0-9]\ufe0f?\u20e3)(?:\s|$)")
_BULLET = re.compile(rf"(?:>\s?)*(?:(?:[{MARKS}]|[0-9]{{1,3}}[.)]|[A-Za-z]\)|\[[ xX✓✔]\])(?:\s+|(?<=・)|$)){{0,3}}")
TEXT_LABEL = re.compile(
    r"[*_]{0,3}(?:text|summary|events?|description|content|details|what(?: happened)?)[*_]{0,3}"
    r"\s?[:=][*_]{0,3}(?:\s[|>][+-]?\s*$|\s|$)",
    re.IGNORECASE,
)
_ASIDE_LABEL = re.compile(
    r"[*_]{0,3}(?:sources?|references?|url|link|id|category|location)[*_]{0,3}\s?[:=][*_]{0,3}\s", re.IGNORECASE
)

_NO_TEXT = re.compile(  # print(timeline), Event 2
    r"[a-z_][\w.]{0,40}\([\w.,= \"']{0,80}\);?|[*_]{0,3}[^\W\d_]{2,15}\s#?[0-9]{1,3}[*_]{0,3}\s?:?[*_]{0,3}"
)


def item_of(line: str) -> tuple[str, int] | None:
    """Kind and indentation of a list item's marker; None if the line has no marker.

    Example:
        >>> item_of("  - a"), item_of("2. a"), item_of("b) a"), item_of("a")
        (('-', 2), ('1', 0), ('a', 0), None)
    """
    match = _ITEM.match(line)
    if match is None:
        return None
    indent, mark, number = match.groups()
    return mark or ("a" if (number or "1").isalpha() else "1"), len(indent.expandtabs(4))


def without_marker(line: str) -> str:
    """A line without its list marker and its quotation mark.

    Example:
        >>> without_marker("> - [x] a"), without_marker("1. 2011")
        ('a', '2011')
    """
    return line[_BULLET.match(line).end() :]  # type: ignore[union-attr] # it matches the empty text, too


def continued(line: str) -> str:
    """The text of a line that belongs to the entry above it: without marker and label; empty for a source or marks.

    Example:
        >>> continued("- **Event:** A"), continued("Source: BBC"), continued("},")
        ('A', '', '')
    """
    unmarked = without_marker(line).lstrip("#")
    if _ASIDE_LABEL.match(unmarked) or _NO_TEXT.fullmatch(unmarked) or not any(map(str.isalnum, unmarked[:240])):
        return ""
    return clean(TEXT_LABEL.sub("", unmarked, count=1) if TEXT_LABEL.match(unmarked) else unmarked)


_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\((?:[a-z]{2,6}:|www\.|/|#)[^()\s]{0,300}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?\)"
)
_CITATION = re.compile(
    r"(?<=\S)\s?(?:\[\^?[0-9]{1,3}(?:[,;–-]\s?\^?[0-9]{1,3}){0,9}\]|【[0-9]{1,3}[†:][^【】\n]{0,40}】)"
)
_EMPHASIS = re.compile(
    r"(?<![\w*])\*([^\s*](?:[^*\n]{0,300}[^\s*])?)\*(?![\w*])|(?<!\w)_([^\s_](?:[^_\n]{0,300}[^\s_])?)_(?!\w)"
)
_CODE = re.compile(r"`([^`\n]{1,300})`")
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "「": "」"}


def clean(text: str) -> str:
    """A sentence without surrounding white space, Markdown's emphasis and links, and marks of citations.

    Example:
        >>> clean(" **Day of Rage** in [Cairo](https://example.org).[1] ")
        'Day of Rage in Cairo.'
        >>> clean('"We stay," he says.'), clean('"They stay."')
        ('"We stay," he says.', 'They stay.')
    """
    text = text.replace("**", "").strip()
    text = _CITATION.sub("", _LINK.sub(r"\1", text)).strip() if "[" in text or "【" in text else text
    text = _EMPHASIS.sub(r"\1\2", _CODE.sub(r"\1", text))
    closing = _QUOTES.get(text[:1])
    bare = text.rstrip(",;)] ")
    text = bare if closing and bare.endswith(closing) else text  # of data, such as ('2011-01-25', 'A'),
    if closing and len(text) > 2 and text.endswith(closing) and text.count(closing) == (2 if closing == text[0] else 1):
        text = text[1:-1].strip()
    return text
