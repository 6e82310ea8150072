"""One entry of a timeline in model text: its parts by name, its text without marks, and what its line begins with."""

import re
from typing import NamedTuple

from tls_tasks.core.reasoning import phrases
from tls_tasks.text.date_forms import marked
from tls_tasks.text.dates import DateExpression, Known, dates_in, leading_dates, may_hold_date, read_date

UNKNOWN = Known()
"""No year, no month."""

PHRASES = phrases(__file__)
DATE_KEYS = tuple(PHRASES["date_keys"].split())
"""Names of a date in JSON, XML and table headers; the first one present is taken."""
END_KEYS = tuple(PHRASES["end_keys"].split())
"""Names of the last day of a range."""
TEXT_KEYS = tuple(PHRASES["text_keys"].split())
"""Names of an entry's text; all that are present are taken."""
ASIDE_KEYS = tuple(PHRASES["aside_keys"].split())
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

    @property
    def is_day(self) -> bool:
        """Whether its date is a day or a range of days."""
        return self.expression is not None and self.expression.precision == "day"

    @property
    def said(self) -> str:
        """The whole entry, for a problem with it."""
        return ": ".join(filter(None, (self.written, " ".join(self.sentences))))


MARKS = "-*+•‣◦▪●○■□·・"
"""Characters that mark a list item."""

_ITEM = re.compile(rf"([ \t]*)(?:>\s?){{0,9}}(?:([{MARKS}])|\(?([0-9]{{1,3}}|[A-Za-z])[.)]|[0-9]\ufe0f?\u20e3)(?:\s|$)")
_BULLET = re.compile(rf"(?:>\s?)*(?:(?:[{MARKS}]|[0-9]{{1,3}}[.)]|[A-Za-z]\)|\[[ xX✓✔]\])(?:\s+|(?<=・)|$)){{0,3}}")
TEXT_LABEL = re.compile(PHRASES["text_label"], re.IGNORECASE)


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
    """The text of a line that belongs to the entry above it: without marker and label; empty for marks.

    Example:
        >>> continued("- **Event:** A"), continued("},")
        ('A', '')
    """
    unmarked = without_marker(line).lstrip("#")
    label = TEXT_LABEL.match(unmarked)
    return clean(unmarked[label.end() if label else 0 :]) if any(map(str.isalnum, unmarked[:240])) else ""


_LINK, _CITATION, _EMPHASIS, _CODE = (re.compile(PHRASES[kind]) for kind in ("link", "citation", "emphasis", "code"))
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
    text = _CITATION.sub("", _LINK.sub(r"\1", text)).strip() if "[" in text or not text.isascii() else text
    text = _EMPHASIS.sub(r"\1\2", _CODE.sub(r"\1", text))
    closing = _QUOTES.get(text[:1])
    bare = text.rstrip(",;)] ")
    text = bare if closing and bare.endswith(closing) else text  # of data, such as ('2011-01-25', 'A'),
    if closing and len(text) > 2 and text.endswith(closing) and text.count(closing) == (2 if closing == text[0] else 1):
        text = text[1:-1].strip()
    return text


# ---- what a line of a timeline begins with: marker, label, date, separator


_LOOK = 240
"""How many characters of a line its marker, its label, its date and its separator may take."""


class Prefix(NamedTuple):
    """A line that begins with a date.

    Attributes:
        expression: None if that is no valid date.
        written: The date as written.
        text: What follows it.
        is_heading: The following lines belong to it: the date stands alone, or the line is a heading or bold.
        level: The number of heading marks before the date.
        sign: What parts the date from the text, such as a colon; empty if only a blank or a bracket does.
        is_short: Whether the year is not written but known from what is above.
    """

    expression: DateExpression | None
    written: str
    text: str
    is_heading: bool
    level: int
    sign: str
    is_short: bool


_PICTURES = "\u2190-\u2bff\U0001f000-\U0010ffff"
_MARKER = re.compile(rf"[ \t:–—{re.escape(MARKS)}#>_~`\"'“”‘’\[\](【《<|=\ufe0f\u200b\u200d\ufeff{_PICTURES}]*")
_LABEL, _PARENTHETICAL, _SIGN, _JOINED = (
    re.compile(PHRASES[kind]) for kind in ("label", "parenthetical", "sign", "joined")
)
_BESIDE, _PART = re.compile(PHRASES["beside_date"], re.IGNORECASE), re.compile(r"[,;，、]\s?")
_WEAK = frozenset(("", "=", ";", "…", ",", "，", "、", ".", "..", "...", "....", "....."))


def split_prefix(line: str, known: Known = UNKNOWN, *, is_item: bool = False) -> Prefix | None:
    """Split a line that begins with a date, after any markers, numbers, labels, brackets or bold marks.

    Args:
        line: A line, without white space around it.
        known: The year and the month that the lines above give.
        is_item: Whether the line is an item among dated items, so that a comma or a blank is enough after its date.

    Returns:
        None if the line does not begin with a date, or if the date is part of a sentence.

    Example:
        >>> split_prefix("- **2011-01-25**: At 10:30 a.m. they march.").text
        'At 10:30 a.m. they march.'
        >>> split_prefix("### 25 January 2011").is_heading
        True
        >>> split_prefix("Event 2: January 25, 2011 - A").text, split_prefix("- January 25: A", Known(2011)).text
        ('A', 'A')
        >>> split_prefix("In January 2011: nothing"), split_prefix("January 25, 2011, was cold.")
        (None, None)
    """
    head = line[:_LOOK]
    if known.year is None and not may_hold_date(head):
        return None
    position = 0
    while True:
        position = _end(_MARKER, head, position)
        if prefix := _dated(line, position, known, is_item):
            return prefix
        if label := _LABEL.match(head, position):
            position = label.end()
        else:
            return None


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _dated(line: str, begin: int, known: Known, is_item: bool) -> Prefix | None:
    """The prefix whose date begins at ``begin``."""
    before, head = line[:begin], line[:_LOOK]
    level = before.count("#") or len(before) - len(before.lstrip("="))
    for found in leading_dates(head[begin:], known):
        written = head[begin : begin + found.end]
        is_short = not may_hold_date(written)
        inside = _PARENTHETICAL.match(head, begin + found.end)
        written = written if inside else head[begin : _end(_JOINED, head, begin + found.end)]
        end = inside.end() if inside else begin + len(written)
        is_year = found.expression is not None and found.expression.precision == "year"
        is_loose = found.is_bare or level > 0 or is_item or "日" in written  # "2011年1月25日" needs no other sign
        parted = _sign(head[end:], is_loose, is_short, is_year)
        if parted is None:
            continue
        length, sign = parted
        text = line[end + length :].lstrip()
        text = clean(text[_end(TEXT_LABEL, text, 0) :]) if text.strip(" =#*_-") else ""
        text = ": ".join(filter(None, (_said(inside), text)))
        is_heading = not text or level > 0 or ("**" in before and line.endswith("**"))
        return Prefix(found.expression, written, text, is_heading, level, sign, is_short)
    return None


def _said(brackets: re.Match[str] | None) -> str:
    """What brackets behind a date say; empty if they hold only words of dates, a time or the number of a source."""
    inside = (brackets and brackets["inside"]) or ""
    return "" if all(map(_BESIDE.fullmatch, _PART.split(marked(inside, throughout=True)))) else inside


def read_cell(written: str, known: Known = UNKNOWN) -> RawEntry:
    """A date in a cell or a value, perhaps with a mark of doubt, a time or brackets behind it, and what these say.

    Example:
        >>> [read_cell(f"2011-01-28{rest}").sentences for rest in ("", "?", " (Friday)", " (Cairo)")]
        [(), (), (), ('Cairo',)]
        >>> read_cell("2011-01-28 in Cairo").expression is None
        True
    """
    cell = written.strip(" ~≈?")
    whole = read_date(cell, known)
    for found in leading_dates(cell, known) if whole is None else ():
        if behind := _PARENTHETICAL.fullmatch(cell, found.end):
            return RawEntry(found.expression, written, tuple(filter(None, [_said(behind)])))
    return RawEntry(whole, written, ())


def _sign(rest: str, is_loose: bool, is_short: bool, is_year: bool) -> tuple[int, str] | None:
    """How long the separator after a date is, and its sign; None if the date is part of a sentence.

    Args:
        rest: What follows the date.
        is_loose: Whether a blank or a comma is enough after it.
        is_short: Whether it lacks its year, so that it may be any number or month.
        is_year: Whether it is a year alone.
    """
    match = _SIGN.match(rest)
    close, sign, end = (match["close"], match["sign"] or "", match.end()) if match else ("", "", 0)
    is_wrapped = not set(close).isdisjoint("])}】》*_")
    following = rest[end:]
    if not following.strip():
        return (len(rest), sign) if is_wrapped or sign not in _WEAK or not is_short or not rest.strip() else None
    if is_short and sign in _WEAK and not is_wrapped:
        return None
    has_gap = close[-1:].isspace() or following[0].isspace()
    if sign in ("", ",", "，", "、", "."):
        has_gap = has_gap or any(map(str.isspace, close)) or (sign not in ("", ".") and is_loose)
        return (end, sign) if has_gap and (is_wrapped or is_loose) else None
    is_number = following.lstrip()[0].isdigit() and (is_year or (is_short and not following[0].isspace()))
    is_number = is_number and not _ORDINAL.match(following.lstrip())
    if sign in ("-", "–", "—", "~") and (is_number or (sign == "-" and not (has_gap or close[-1:].isspace()))):
        return None  # 2000 - 3000 people, 2011-based
    return None if is_short and is_number else (end, sign)


_ORDINAL = re.compile(r"[0-9]+[^\W\d_]")
"""A number that ends no range of years: 2002 - 25th Hour."""

# --- dates elsewhere in a line ---

_PARTED = (" -", " –", " —", ":", "：", ",")
_LONGEST = 1_000
"""Characters of a line whose date is looked for at the end."""


def split_title(line: str) -> Prefix | None:
    """Split a list item, a heading or a bold line that ends in a day, or has one in brackets before a colon.

    Example:
        >>> split_title("- Protests begin (2011-01-25)").text, split_title("## Protests – 25 January 2011").text
        ('Protests begin', 'Protests')
        >>> [split_title(f"- Protests begin (2011-01-25){sign}").text for sign in ("", ".", ":")]
        ['Protests begin', 'Protests begin.', 'Protests begin']
        >>> split_title("1. **Protests (25 January 2011)**: Police wait.").text
        'Protests: Police wait.'
        >>> split_title("Protests began (2011-01-25)"), split_title("- Protests since 2011-01-25")
        (None, None)
    """
    unmarked = without_marker(line.lstrip("#*_ "))
    if unmarked == line:
        return None
    is_heading = line.startswith(("#", "**")) and not unmarked.endswith(".")
    for begin, end, expression in dates_in(unmarked[:_LONGEST]):
        before, after = unmarked[:begin].rstrip(" *_"), unmarked[end:].lstrip(" *_)]）")
        is_bracketed = before.endswith(("(", "[", "（"))
        title = clean(before.rstrip(" -–—:：,([（*_")) if is_bracketed or before.endswith(_PARTED) else ""
        sign, text = after[:1], clean(after[1:].lstrip(" *_"))
        if title and sign in ("", ".", ":", "：") and not text:
            return Prefix(expression, unmarked[begin:end], title + sign * (sign == "."), is_heading, 0, ":", False)
        if title and (sign in (":", "：") or (is_bracketed and sign in ("–", "—", "-"))):
            return Prefix(expression, unmarked[begin:end], f"{title}: {text}", is_heading, 0, ":", False)
    return None
