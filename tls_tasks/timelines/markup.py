"""HTML and XML in an answer as lines of Markdown: :func:`as_lines`."""

from __future__ import annotations

import html
import re

from tls_tasks.timelines.entries import DATE_KEYS, TEXT_KEYS

_ESCAPE = re.compile(r"\\([-.*_#+!()\[\]])")
# Nothing in it looks beyond the next angle bracket, so that a megabyte of "<a " takes no longer than other text.
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,15})((?:\s[^<>]{0,400})?)/?>(\s{0,40})|<[!?][^<>]{0,400}>()()()()")
_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_TABLE = re.compile(r"^\s{0,9}\||<td", re.MULTILINE | re.IGNORECASE)  # in which a line break stays within its cell
_ATTRIBUTE = re.compile(r"([\w:-]{1,30})\s?=\s?[\"']([^\"'<>]{1,400})[\"']")

_INLINE = frozenset("i em u a span code tt small sup sub mark font cite abbr q time".split())
_OPENING = {
    **dict.fromkeys("html body head main section article div p ul ol dl dt dd table".split(), "\n"),
    **dict.fromkeys(("event", "entry", "item", "tr"), "\n"),
    **dict.fromkeys(("thead", "tbody", "tfoot"), ""),
    **{f"h{level}": "\n" + "#" * level + " " for level in range(1, 7)},
    **{"li": "\n- ", "td": "| ", "th": "| ", "b": "**", "strong": "**", "hr": "\n---\n"},
}
_CLOSING = {"td": " ", "th": " ", "tr": "|", "li": "", "thead": "", "tbody": "", "tfoot": "", "b": "**", "strong": "**"}
_CELLS = frozenset(("tr", "td", "th", "thead", "tbody", "tfoot", "table"))
_DATE_NAMES = frozenset((*DATE_KEYS, "year", "month"))
_NAMES = _DATE_NAMES | frozenset(TEXT_KEYS)


def as_lines(text: str) -> list[str]:
    r"""The lines of a text; tags of HTML and of an XML with our names become Markdown, other tags are left.

    A list item becomes a line with a dash, a heading one with ``#``, a table row one with bars, and an element with a
    date in its attributes a line that begins with that date, so that one reader of lines is enough.

    Example:
        >>> as_lines("<ul><li><b>2011-01-25</b>: R &amp; D</li></ul>")
        ['', '', '- **2011-01-25**: R & D', '']
        >>> as_lines('<event date="2011-01-25">A</event>')
        ['', '2011-01-25: A', '']
        >>> as_lines("<tr><td>2011-01-25</td> <td>A</td></tr>")
        ['', '| 2011-01-25 | A |']
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\n" not in text.strip():
        text = text.replace("\\n", "\n")
    text = _ESCAPE.sub(r"\1", text)
    if "<" in text:
        plain = _TAG.sub(_as_markdown, _BREAK.sub(" " if _TABLE.search(text) else "\n", text))
        if plain != text:
            text = html.unescape(plain)
    return text.split("\n")


def _as_markdown(tag: re.Match[str]) -> str:
    """What stands for a tag."""
    is_closing, name, attributes, blanks = tag[1], (tag[2] or "").lower(), tag[3] or "", tag[4] or ""
    if not name:
        return ""
    if name in _INLINE:
        return blanks
    if not is_closing and attributes and (dates := _attributes(attributes, name)):
        return f"\n{' '.join(dates)}: "
    if name in _OPENING:
        mark = _CLOSING.get(name, "\n") if is_closing else _OPENING[name]
        return mark + ("" if name in _CELLS else blanks)
    if name in _NAMES:
        return "\n" if is_closing else f"\n{name}: "
    return tag[0]


def _attributes(attributes: str, name: str) -> list[str]:
    """The dates in an element's attributes; all of them are its date if it is called ``year`` or the like."""
    found = [(key.lower(), value) for key, value in _ATTRIBUTE.findall(attributes)]
    return [value for key, value in found if key in _DATE_NAMES or name in _DATE_NAMES]
