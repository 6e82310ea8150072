r"""HTML, XML, LaTeX and the marks of chat templates in an answer, as lines: :func:`as_lines`.

Nothing is rendered. A list item becomes a line with a dash, a heading one with ``#``, a table row one with bars, and an
element with a date in its attributes a line that begins with that date, so that one reader of lines is enough.
"""

from __future__ import annotations

import html
import re
from collections import Counter

from tls_tasks.timelines.entries import DATE_KEYS, TEXT_KEYS

_TEMPLATE_MARK = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:eos|bos|end_of_turn|start_of_turn)>|\[/?INST\]")
_ESCAPE = re.compile(r"\\([-.*_#+!()\[\]])")
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]{0,30})(?P<attributes>(?:\s[^<>]{0,400})?)/?>|<!--[^<>]{0,400}-->|<[?!][^<>]{0,200}>"
)
_ATTRIBUTE = re.compile(r"""([\w:-]{1,30})\s?=\s?["']([^"'<>]{1,400})["']""")
_BREAK = re.compile(r"[ \t]{0,40}\n\s*")
_ROWSPAN = re.compile(r"rowspan\s?=\s?[\"']?([0-9]{1,3})", re.IGNORECASE)

_INLINE = dict.fromkeys(
    ("i", "em", "u", "a", "span", "code", "tt", "small", "sup", "sub", "mark", "font", "cite", "abbr", "q", "time"), ""
) | {"b": "**", "strong": "**"}
_BLOCKS = {
    **dict.fromkeys(
        ("html", "body", "head", "main", "section", "article", "div", "p", "ul", "ol", "dl", "dt", "dd"), "\n"
    ),
    **dict.fromkeys(("table", "thead", "tbody", "tfoot", "caption", "blockquote", "pre", "header", "footer"), "\n"),
    **{f"h{level}": "\n" + "#" * level + " " for level in range(1, 7)},
    "br": "\n",
    "hr": "\n---\n",
}
_JOINED = frozenset(("li", "dt", "dd", "p", "h1", "h2", "h3", "h4", "h5", "h6"))
_DATE_NAMES = frozenset((*DATE_KEYS, "year", "month"))
_TEXT_NAMES = frozenset(TEXT_KEYS)


def as_lines(text: str) -> list[str]:
    r"""The lines of a text, without markup other than Markdown's.

    Example:
        >>> as_lines("<ul><li><b>2011-01-25</b>: R &amp; D</li></ul>")
        ['', '', '- **2011-01-25**: R & D', '']
        >>> as_lines('<event date="2011-01-25">A</event>')
        ['', '2011-01-25: A', '']
        >>> as_lines(r"\item \textbf{2011\-01\-25}: 5\% more")
        ['- **2011-01-25**: 5% more']
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\\n" in text and "\n" not in text.strip():
        text = text.replace("\\n", "\n")
    text = _TEMPLATE_MARK.sub("\n", text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", _without_latex(text) if _LATEX.search(text) else text)
    if "<" in text and _TAG.search(text):
        text = _Tags(text).read()
    return text.split("\n")


class _Tags:
    """Reads a text with tags from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[str] = []
        self.opened = Counter((tag["name"] or "").lower() for tag in _TAG.finditer(text) if not tag["close"])
        self.lists = 0
        self.in_bars = text.lstrip().startswith("|")  # whether this line is a row of a Markdown table
        self.joins = False  # whether line breaks are only white space here, as in a list item
        self.in_table = False
        self.row: int | None = None  # the column of the next cell
        self.spans: Counter[int] = Counter()  # column -> rows that an earlier cell still covers

    def read(self) -> str:
        position = 0
        is_html = False
        for tag in _TAG.finditer(self.text):
            self._text(self.text[position : tag.start()])
            position = tag.end()
            name = (tag["name"] or "").lower()
            piece = self._tag(name, tag)
            is_html = is_html or piece != tag[0]
            self.pieces.append(piece)
        self._text(self.text[position:])
        text = "".join(self.pieces)
        return html.unescape(text) if is_html else text

    def _text(self, text: str) -> None:
        if self.in_table and self.row is None:
            self.in_table = not text.strip()
            text = text.lstrip()
        if "\n" in text:
            self.in_bars = text[text.rindex("\n") :].lstrip().startswith("|")
            if self.joins or self.row is not None:
                text = _BREAK.sub(" ", text)
        self.pieces.append(text)

    def _tag(self, name: str, tag: re.Match[str]) -> str:
        """What stands for a tag."""
        if name in _INLINE:
            return _INLINE[name]
        if name in ("tr", "td", "th"):
            return self._table(name, tag)
        if self.row is not None or (self.in_bars and name == "br"):
            return "<br>" if name in ("br", "p", "li") and not tag["close"] else ""
        if self.in_table and name in ("thead", "tbody", "tfoot"):
            return ""
        if name == "" or name in ("br", "hr"):
            return _BLOCKS.get(name, "")
        self.joins = name in _JOINED and not tag["close"]
        self.in_table = False
        if name in ("ul", "ol"):
            self.lists = max(0, self.lists + (-1 if tag["close"] else 1))
        if name == "li":
            return "" if tag["close"] else "\n" + "  " * min(self.lists - 1, 9) + "- "
        if name in _BLOCKS:
            return "\n" if tag["close"] else _BLOCKS[name]
        return self._element(name, tag)

    def _table(self, name: str, tag: re.Match[str]) -> str:
        if name == "tr":
            is_open, was_in_table, self.in_table = self.row is not None, self.in_table, True
            self.row = None if tag["close"] else 0
            return "|\n" if is_open else "" if was_in_table else "\n"
        if tag["close"] or self.row is None:
            return " "
        empty = ""
        while self.spans[self.row] > 0 and self.row < 100:
            self.spans[self.row] -= 1
            self.row += 1
            empty += "| "
        if span := _ROWSPAN.search(tag["attributes"]):
            self.spans[self.row] = int(span[1]) - 1
        self.row += 1
        return empty + "| "

    def _element(self, name: str, tag: re.Match[str]) -> str:
        """An element that is not HTML's: its date and its text, or a line of its own."""
        known = name in _DATE_NAMES or name in _TEXT_NAMES
        self.joins = known and not tag["close"]
        if tag["close"]:
            return "\n" if known or name in ("event", "entry", "item", "milestone") else self._loose(tag)
        pairs = [(key.lower(), value) for key, value in _ATTRIBUTE.findall(tag["attributes"])]
        dates = [value for key, value in pairs if key in _DATE_NAMES or name in _DATE_NAMES]
        texts = [value for key, value in pairs if key in _TEXT_NAMES and value not in dates]
        if dates:
            is_number = len(dates) > 1 and all(value.isdigit() for value in dates)
            return "\n" + ("-" if is_number else " ").join(dates) + ": " + " ".join(texts)
        return f"\n{name}: " if known else self._loose(tag)

    def _loose(self, tag: re.Match[str]) -> str:
        """An unknown tag at an end of a line ends the line, as does one of several between tags; others are left."""
        before = self.text[max(0, tag.start() - 40) : tag.start()].rstrip(" \t")
        after = self.text[tag.end() : tag.end() + 40].lstrip(" \t")
        ends = ("\n>", "\n<") if self.opened[tag["name"].lower()] > 1 else ("\n", "\n")
        is_within = before and before[-1] not in ends[0] and after and after[0] not in ends[1]
        return tag[0] if is_within else f"\n{tag[0]}\n"


# --- LaTeX ---


def is_latex(text: str) -> bool:
    """Whether a text has commands of LaTeX, so that its braces are no JSON."""
    return _LATEX.search(text) is not None


_LATEX = re.compile(r"\\(?:begin|end|item|boxed|fbox|text[a-z]{2}|(?:sub)*section|hline)\b")
_BRACES = r"\{((?:[^{}\n]|\{[^{}\n]{0,100}\}){0,300})\}"
_LATEX_FORMS = (
    (re.compile(r"\\[\[\]]"), r"\n"),
    (re.compile(r"\\(?:begin|end)\{[\w*]{1,20}\}(?:\[[^\]\n]{0,60}\]|" + _BRACES + ")*"), r"\n"),
    (re.compile(r"\\item\s*\[([^\]\n]{1,120})\]"), r"- **\1** "),
    (re.compile(r"\\item\b[ \t]?"), "- "),
    (re.compile(r"\\(?:(?:sub)*section|paragraph)\*?" + _BRACES), r"\n# \1\n"),
    (re.compile(r"\\textbf" + _BRACES), r"**\1**"),
    (re.compile(r"\\(?:text[a-z]{0,2}|emph|mathrm|mbox)" + _BRACES), r"\1"),
    (re.compile(r"\\(?:hline|toprule|midrule|bottomrule|centering|noindent|(?:small|med|big)skip)\b"), ""),
    (re.compile(r"\\([%&$#_{}])"), r"\1"),
)
_CELL_BREAK = re.compile(r"(?<!\\)&")


def _without_latex(text: str) -> str:
    """LaTeX as Markdown: items, bold, headings, and table rows with bars."""
    lines = (_table_row(line) for line in _unboxed(text).split("\n"))
    text = "\n".join(line for line in lines if line is not None)
    for form, plain in _LATEX_FORMS:
        text = form.sub(plain, text)
    return text


def _table_row(line: str) -> str | None:
    r"""``a & b \\`` with bars; rules between rows are dropped, since a table is a run of lines."""
    stripped = line.strip()
    if stripped in (r"\hline", r"\toprule", r"\midrule", r"\bottomrule"):
        return None
    row = stripped.removesuffix(r"\hline").rstrip()
    if not row.endswith("\\\\"):
        return line.lstrip(" &").replace("\\\\", "\n")
    cells = [cell.strip() for cell in _CELL_BREAK.split(row.removesuffix("\\\\"))]
    return f"| {' | '.join(cells)} |" if len(cells) > 1 and cells[0] else " ".join(cells)


def _unboxed(text: str) -> str:
    r"""The text with the contents of its last ``\boxed{…}`` on lines of their own, as the final answer."""
    opening = max(text.rfind(mark) for mark in ("\\boxed{", "\\fbox{"))
    if opening < 0:
        return text
    begin = text.index("{", opening) + 1
    depth = 1
    for brace in re.finditer(r"[{}]", text[begin:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            end = begin + brace.start()
            return f"{text[:opening]}\n<answer>\n{text[begin:end]}\n</answer>\n{text[end + 1 :]}"
    return f"{text[:opening]}\n<answer>\n{text[begin:]}"
