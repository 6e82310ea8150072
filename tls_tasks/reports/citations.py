r"""Citation marks in prose, and the documents that they point to.

A mark is a list of ids in brackets, ``[1]``, ``(Doc. 2)``, ``【4:0†source】``, or the words ``document 2``. All other
spellings, ``<sup>3</sup>``, ``\cite{2, 5-7}``, ``¹``, are first rewritten in square brackets (:func:`in_brackets`).
What a mark cites is a number (the place of a document in the list that the prompt showed), the id or the title of a
document, or a key of the answer's own list of references. Marks side by side are one, and what stands around them for
their sake alone (``(see [1], [2])``) goes with them. Words that name a document (``According to document 2, …``) are
part of their sentence and stay. A mark that points to no document is kept as an unknown id: citing what does not exist
is a wrong citation, not a missing one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_MAX_RANGE = 50
"""The most documents that a range such as ``[2-9]`` may span."""
_MAX_ENTRIES = 500
"""The most entries of a list of references that are looked at."""

# Openings and closings, with insides of bounded length: a text full of brackets takes no longer than any other.
_NOUN = r"(?:doc(?:ument)?|source|passage)"
_NUMBERS = r"[0-9][0-9,;\s–-]{0,60}"
_SMALL = "⁰¹²³⁴-⁹①-⑳"
_SPELLINGS = (
    # <cite index="3-1">It rained.</cite>, <co: 3>It rained.</co: 3>
    (re.compile(r"<(co|cite)\b[:\s][^<>0-9]{0,40}([0-9]{1,4})[^<>]{0,100}>([^<>]{1,1000})</\1[^<>]{0,60}>"), r"\3[\2]"),
    # <cite>3</cite>, <a href="#3">[3]</a>
    (re.compile(r"<(a|cite|citation|ref|doc)\b[^<>]{0,200}>([^<>]{0,60}[0-9][^<>]{0,60})</\1>"), r"[\2]"),
    (re.compile(rf"<(?:{_NOUN}|ref|cite)[\s:_#-]{{1,3}}({_NUMBERS})/?>"), r"[\1]"),
    (re.compile(r"\\[A-Za-z]{0,20}cite[A-Za-z]{0,10}\*?(?:\[[^\[\]\n]{0,80}\]){0,2}\{([^{}\n]{1,300})\}"), r"[\1]"),
)
"""Another way to write a mark -> the same in square brackets."""

_IN_HTML = r"<sup\b[^<>]{0,100}>(?P<html>[^<>]{1,100})</sup>"
_IN_TEX = r"\$?(?<!\[)(?:\^|\\textsuperscript)\{?(?P<power>\[?[0-9][0-9,;\s–-]{0,60}\]?)\}?[\^$]{0,2}"
_IN_SMALL = rf"⁽?(?P<small>[{_SMALL}](?:[,;·˒⁻–\s]?\s?[{_SMALL}]){{0,40}})(?![⁺⁻ⁿ])⁾?"
_RAISED = re.compile(rf"{_IN_HTML}|{_IN_TEX}|{_IN_SMALL}")
# What stands before a power: a unit (m²), a letter (x²), digits that are no year (10⁶).
_UNIT = r"(?<![^\W_])[0-9]*(?:[A-Za-z]|[kcdmnµμ]m|ft|yd|mi|in|sec|mc|ha|px)"
_POWER = re.compile(rf"(?:{_UNIT}|(?<![^\W_])(?!(?:1[5-9]|20)[0-9]{{2}}$)[0-9]+|[⁻⁺])$")
# The target of a link belongs to its mark.
_SQUARE = r"[\[【［〔]{1,2}(?P<square>[^\[\]【】［］〔〕\n]{1,300})[\]】］〕]{1,2}(?:\([^()\s]{1,500}\))?"
_NOT_SQUARE = r"(?<![\w^\\])[({（](?P<round>[^(){}（）\[\]【】<>\n]{1,300})[)}）]"
_ONE = rf"{_NOUN}\s(?:no\.?\s|#)?[0-9]{{1,4}}\b(?!\s?[-–.,]?[0-9])"
_SEVERAL = rf"{_NOUN}s\s[0-9]{{1,4}}(?:(?:,?\s(?:and|or|und)\s|\s?&\s?|,\s?|\s?[-–]\s?)[0-9]{{1,4}})+\b"
_MARK = re.compile(rf"(?i){_SQUARE}|{_NOT_SQUARE}|\b(?P<words>{_ONE}|{_SEVERAL})")
_JOINT = re.compile(r"\s{0,3}(?:(?P<span>[-–—])|[,;&·]?\s?(?:and\b|und\b)?)\s{0,3}")
_SEPARATOR = re.compile(r"[,;，、；]\s{0,3}(?:(?:and|und)\s)?|\s(?:and|or|und|et|y)\s|&")
_LABEL = re.compile(
    r"(?:(?:see(?: also)?|cf\.?|as \w{1,20} in)\s{1,3})?(?:(?:docs?|documents?|doc_ids?|ids?|sources?|refs?|references?"
    r"|passages?|articles?|texts?|nos?|cit(?:e|es|ed|ation|ations)|footnotes?|notes?|fn|dok(?:ument[eo]?n?)?|quellen?"
    r"|documentos?|documenti|fuentes?|font[ei]|文档|文献|来源)(?![^\W\d_])[\s.:：#=_-]*){0,2}",
    re.IGNORECASE,
)
_OPENED = re.compile(rf"\(\s?{_LABEL.pattern}$", re.IGNORECASE)
_CLOSED = re.compile(r"\s?\)")
_PARTS = r"pp?\.?|pages?|lines?|sections?|para(?:graph)?s?\.?|§"
_PAGE = re.compile(rf"(?i)(?:{_PARTS})\s?[0-9]{{1,6}}(?:\s?[-–]\s?[0-9]{{1,6}})?")
_NUMBER = re.compile(r"[#^@SDR]?([0-9]{1,6})\^?")
_RANGE = re.compile(r"[#^]?([0-9]{1,6})\s?(?:[-–—−]|to\s)\s?[#^]?([0-9]{1,6})")
_PLACED = re.compile(r"([0-9]{1,6})(?:(?::[0-9]{1,6})?\s?†.*|\s?[:|]\s?[^\W\d_].*|\s[-–—]\s[^\W\d_].*)")
_ID_LIKE = re.compile(r"(?=[^\s]{0,100}[^\W\d_])(?=[^\s]{0,100}\d)(?=[^\s]{0,100}(?:[-_:/]|\d{3}))[^\s]{4,100}")
_NUMBERED = re.compile(rf"\b{_NOUN}\s?(?:no\.?\s|#)?([0-9]{{1,4}})\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s,;()\[\]<>\"']+")
_ROUND = re.compile(rf"(?<=[^,;:\s])\s?[({{（](?P<round>{_NUMBERS})[)}}）](?=[.,;:!?\n。]|$)")
_BULLET = r"\s{0,12}(?:[-*+•>]\s{1,4}|[0-9]{1,3}[.)]\s{1,3}(?=[\[【]))?\*{0,2}"
_KEY = r"(?:[\[【]{1,2}\^?(?P<square>[^\[\]【】\n]{1,60})[\]】]{1,2}:?|(?P<number>\(?[0-9]{1,3}[.):])(?=\s))?"
_ENTRY = re.compile(_BULLET + _KEY + r"\*{0,2}[:\s]{0,3}(?P<rest>.*)")


class Mark(NamedTuple):
    """A citation mark.

    Attributes:
        position: Where it stood, in characters of the text without marks.
        ids: What it cites, in order.
    """

    position: int
    ids: tuple[str, ...]


Entry = tuple[str, str]
"""An entry of a list of references: what it is called, empty if it has no name, and what it says."""


class _Match(NamedTuple):
    """A mark in a text: where it begins and ends, what it cites, and whether its words stay."""

    start: int
    end: int
    ids: tuple[str, ...]
    inside: str
    stays: bool = False


class Citations:
    """Reads marks against the list of documents that a prompt showed.

    Args:
        doc_ids: Their ids, in the order of their numbers.
        titles: Their titles, in the same order, as far as there are any.

    Example:
        >>> citations = Citations(["coast-01", "coast-02"])
        >>> citations.ids("1, 2"), citations.ids("doc 2"), citations.ids("coast-01; 9"), citations.ids("sic")
        (('coast-01', 'coast-02'), ('coast-02',), ('coast-01', '9'), ())
    """

    def __init__(self, doc_ids: Sequence[str] = (), titles: Sequence[str] = ()) -> None:
        self._listed = tuple(doc_ids)
        self._known = {doc_id.casefold(): doc_id for doc_id in reversed(self._listed)}
        self._titles = {bare: own for title, own in zip(titles, doc_ids, strict=False) if len(bare := _bare(title)) > 3}
        self._keys: dict[str, str] = {}
        self._round = False

    def of_answer(self, body: str, entries: Iterable[Entry] = ()) -> Citations:
        """The same for one answer: by the keys of its list of references, and in its own style.

        Plain numbers in round or curly brackets are marks if the answer has no others and one of them ends a clause.

        Args:
            body: The answer without its list of references.
            entries: The list.

        Example:
            >>> citations = Citations(["a", "b"]).of_answer("It rained (2).", [("x", "Document 1.")])
            >>> citations.strip("It rained (2)."), citations.ids("x")
            (('It rained.', (Mark(position=9, ids=('b',)),)), ('a',))
        """
        of_answer = Citations(self._listed)
        of_answer._titles = self._titles
        for key, rest in list(entries)[:_MAX_ENTRIES]:
            if key and (doc_id := self._document_in(rest) or next(iter(self.ids(key)), "")):
                of_answer._keys.setdefault(_bare(key), doc_id)
        if not any(of_answer._read(match) for match in _MARK.finditer(body) if match["words"] is None):
            of_answer._round = any(of_answer._numbers(match["round"]) for match in _ROUND.finditer(body))
        return of_answer

    def is_known(self, doc_id: str) -> bool:
        """Whether the list has this document."""
        return self._known.get(doc_id.casefold()) == doc_id

    def of_number(self, number: int) -> str:
        """The id of the document with this number; outside the list, the document of that name or the number."""
        if 1 <= number <= len(self._listed):
            return self._listed[number - 1]
        return self._known.get(str(number), str(number))

    def named(self, text: str) -> str:
        """The document that has this key, id or title; a number is only looked for among the keys."""
        bare = _bare(text)
        if bare in self._keys or bare.isdigit():
            return self._keys.get(bare, "")
        return self._known.get(text.strip("`*\"'").casefold()) or self._known.get(bare) or self._titles.get(bare) or ""

    def ids(self, content: str, *, strict: bool = False) -> tuple[str, ...]:
        """What the inside of a mark cites; nothing unless every part of it is a citation.

        Args:
            content: The text between opening and closing.
            strict: For round brackets: only documents of the list and labelled numbers (``doc 3``) count.
        """
        if doc_id := self.named(content):
            return (doc_id,)
        ids: list[str] = []
        labelled = titled = False
        for part in map(str.strip, _SEPARATOR.split(content)):
            label = _LABEL.match(part)
            bare = part[label.end() :].strip() if label else part
            labelled = labelled or bare != part
            own = self._part(part, bare, strict and not labelled)
            if own:
                ids += own
                titled = titled or bool(_PLACED.fullmatch(bare))
            elif not ids or not (_PAGE.fullmatch(part) or titled):
                return ()
        return tuple(dict.fromkeys(ids))

    def strip(self, text: str) -> tuple[str, tuple[Mark, ...]]:
        """Remove the marks from a text.

        Returns:
            The text without marks, and the marks with their positions in it.

        Example:
            >>> Citations(["a", "b"]).strip("It rained (see [1], [2]). It stopped [sic].")
            ('It rained. It stopped [sic].', (Mark(position=9, ids=('a', 'b')),))
        """
        pieces: list[str] = []
        marks: list[Mark] = []
        length = position = 0
        for bare in self._matches(text):
            match = _with_brackets(text, bare, position)
            piece = text[position : match.end if match.stays else match.start]
            position = match.end
            if not match.stays:
                piece = piece.rstrip(" \t\n~")
                if not piece and not pieces:  # at the very beginning: leave no space behind
                    position += len(text[position:]) - len(text[position:].lstrip())
                elif text[position : position + 1].isalnum():
                    piece += " "
            pieces.append(piece)
            length += len(piece)
            if match.ids:
                marks.append(Mark(length, match.ids))
        return "".join([*pieces, text[position:]]), tuple(marks)

    def _matches(self, text: str) -> list[_Match]:
        """The marks of a text: those side by side are one."""
        matches: list[_Match] = []
        position = 0
        while possible := _MARK.search(text, position):
            match = self._read(possible)
            position = possible.end() if match else possible.start() + 1
            last = matches[-1] if match and matches and not (matches[-1].stays or match.stays) else None
            if match and last and (joint := _JOINT.fullmatch(text, last.end, match.start)):
                between = self.ids(f"{last.inside}-{match.inside}") if joint["span"] else ()
                ids = tuple(dict.fromkeys([*last.ids, *between, *match.ids]))
                matches[-1] = _Match(last.start, match.end, ids, match.inside)
            elif match:
                matches.append(match)
        return matches

    def _read(self, match: re.Match[str]) -> _Match | None:
        """A match as a mark; None if it is none."""
        kind = match.lastgroup or ""
        inside, is_round = match[kind], kind == "round"
        ids = self._numbers(_LABEL.sub("", inside, count=1)) if kind == "words" else self.ids(inside, strict=is_round)
        if not ids and is_round and self._round and not _opens(match.string, match.start()):
            ids = self._numbers(inside)
        is_mark = ids or inside == "cite_start"  # which cites nothing and is no word of the report
        return _Match(match.start(), match.end(), ids, inside, kind == "words") if is_mark else None

    def _numbers(self, content: str) -> tuple[str, ...]:
        """What a text of numbers of documents cites; nothing if one is out of the list."""
        if any(map(str.isalpha, re.sub(r"\b(?:and|or|to|und)\b", "", content))):
            return ()
        ids = self.ids(content)
        return ids if all(map(self.is_known, ids)) else ()

    def _part(self, part: str, bare: str, strict: bool) -> list[str]:
        if known := self.named(part) or self.named(bare):
            return [known]
        if strict:
            return []
        numbers = [number[1]] if (number := _NUMBER.fullmatch(bare) or _PLACED.fullmatch(bare)) else []
        if span := _RANGE.fullmatch(bare):
            first, last = int(span[1]), int(span[2])
            numbers = list(map(str, range(first, last + 1))) if 0 <= last - first < _MAX_RANGE else []
        if span or number:
            return [self._keys.get(number) or self.of_number(int(number)) for number in numbers]
        return [bare] if _ID_LIKE.fullmatch(bare) else []

    def _document_in(self, rest: str) -> str:
        """The document that an entry of a list of references names."""
        number = _NUMBERED.search(rest)
        if number and 1 <= int(number[1]) <= len(self._listed):
            return self.of_number(int(number[1]))
        tokens = (token.casefold().strip(".:") for token in _TOKEN.findall(rest) if not token.isdigit())
        return self.named(rest) or next((self._known[token] for token in tokens if token in self._known), "")


def entry_of(line: str) -> Entry:
    """What a line of a list of references says.

    Example:
        >>> entry_of("- [2] Rain (2019)"), entry_of("Hale (2020). Snow.")
        (('2', 'Rain (2019)'), ('', 'Hale (2020). Snow.'))
    """
    entry = next(_ENTRY.finditer(line[:500]))  # it matches any line
    return entry["square"] or (entry["number"] or "").strip("(.):"), entry["rest"].strip()


def in_brackets(text: str) -> str:
    r"""A text whose marks are written in square brackets, but for those in round ones and in words.

    Example:
        >>> in_brackets(r"It rained<sup>3</sup> on 7 m².² It stopped \cite{2, 5-7}.")
        'It rained[3] on 7 m².[2] It stopped [2, 5-7].'
    """
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    return _RAISED.sub(_lowered, text)


def _lowered(match: re.Match[str]) -> str:
    inside = match[match.lastgroup or ""]
    is_item = "①" <= inside[0] <= "⑳" and _opens(match.string, match.start())
    if is_item or _POWER.search(match.string[max(0, match.start() - 24) : match.start()]):
        return match[0]
    if match["small"]:
        inside = unicodedata.normalize("NFKC", re.sub(r"[\s˒·]+", ",", inside.replace("⁻", "-")))
    return f"[{inside}]"


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" \"'`*_“”‘’«».,:;()[]^#")


def _opens(text: str, position: int) -> bool:
    """Whether a number in round brackets numbers what follows it."""
    before = text[max(0, position - 12) : position].rstrip(" ")
    return not before or before[-1] in ",;:\n" or before.endswith((" and", " or", " und"))


def _with_brackets(text: str, match: _Match, done: int) -> _Match:
    """A mark with the round brackets around it, as far as the mark before it leaves them."""
    before = text[max(done, match.start - 60) : match.start]
    opened, closed = _OPENED.search(before), _CLOSED.match(text, match.end)
    if match.stays or not opened or not closed:
        return match
    return match._replace(start=match.start - len(before) + opened.start(), end=closed.end())
