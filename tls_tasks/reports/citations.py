r"""Citation marks in prose, and the documents that they point to.

A mark is an opening, ids and a closing: ``[1]``, ``(Doc. 2)``, ``【4:0†source】``, ``<sup>3</sup>``, ``\cite{2, 5-7}``,
``¹``. What it cites is a number (the place of a document in the list that the prompt showed), the id or the title of a
document, or a key of the answer's own list of references. Marks side by side are one, and what stands around them for
their sake alone (``(see [1], [2])``) goes with them. Words that name a document (``According to document 2, …``) are
part of their sentence and stay. A mark that points to no document is kept as an unknown id: citing what does not exist
is a wrong citation, not a missing one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tls_tasks.reports.references import SMALL, Entry

_MAX_RANGE = 50
"""The most documents that a range such as ``[2-9]`` may span."""
_MAX_ENTRIES = 500
"""The most entries of a list of references that are looked at."""

_NOUN = r"(?:doc(?:ument)?|source|passage)"
# Openings and closings, with insides of bounded length: a text full of brackets takes no longer than any other. The
# target of a link belongs to its mark.
_MARK = re.compile(
    r"[\[【［〔]{1,2}(?P<square>[^\[\]【】［］〔〕\n]{1,300})[\]】］〕]{1,2}(?:\([^()\s]{1,500}\))?"
    r"|(?<!\w)[(（](?P<round>[^()（）\[\]【】<>\n]{1,300})[)）]"
    r"|(?<![\w^\\])\{(?P<curly>[0-9][0-9,;\s–-]{0,60})\}"
    rf"|<(?P<bare>(?:{_NOUN}|ref|cite|citation)[\s:_#-]{{1,3}}[0-9][0-9,;\s–-]{{0,60}})/?>(?![^<>]{{0,1000}}</)"
    r"|<(?P<tag>cite|citation|sup|refs?|reference|source|a|doc|document|fn|footnote|co)\b(?P<attributes>[^<>]{0,200}?)"
    r"(?:/>|>(?P<tagged>[^<>]{1,1000})</(?P=tag)(?::[^<>]{0,60})?>)"
    r"|\\[A-Za-z]{0,20}cite[A-Za-z]{0,10}\*?(?:\[[^\[\]\n]{0,80}\]){0,2}\{(?P<tex>[^{}\n]{1,300})\}"
    r"|\$?(?:\^|\\textsuperscript)\{?(?P<power>[0-9][0-9,;–-]{0,60})\}?\^?\$?"
    rf"|⁽?(?P<small>[{SMALL}](?:[,;·˒⁻–\s]?\s?[{SMALL}]){{0,40}})(?![⁺⁻ⁿ])⁾?"
    rf"|\b(?P<words>{_NOUN}\s(?:no\.?\s|#)?[0-9]{{1,4}}\b(?!\s?[-–.,]?[0-9])"
    rf"|{_NOUN}s\s[0-9]{{1,4}}(?:(?:,?\s(?:and|or|und)\s|\s?&\s?|,\s?|\s?[-–]\s?)[0-9]{{1,4}})+\b)",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s{0,3}(?:(?P<span>[-–—])|[,;&·]?\s?(?:and\b|und\b)?)\s{0,3}")
_SEPARATOR = re.compile(r"[,;，、；]\s{0,3}(?:(?:and|und)\s)?|\s(?:and|or|und|et|y)\s|&")
_LABEL = re.compile(
    r"(?:(?:see(?: also)?|cf\.?|as \w{1,20} in)\s{1,3})?(?:(?:docs?|documents?|doc_ids?|ids?|sources?|refs?|references?"
    r"|passages?|articles?|texts?|nos?|cit(?:e|es|ed|ation|ations)|footnotes?|notes?|fn|dok(?:ument[eo]?n?)?|quellen?"
    r"|documentos?|documenti|fuentes?|font[ei]|文档|文献|来源)(?![^\W\d_])[\s.:：#=_-]*){0,2}",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[SDR](?=[0-9]{1,3}$)")
_PAGE = re.compile(
    r"(?:pp?\.?|pages?|lines?|sections?|para(?:graph)?s?\.?|§)\s?[0-9]{1,6}(?:\s?[-–]\s?[0-9]{1,6})?", re.IGNORECASE
)
_NUMBER = re.compile(r"[#^@]?([0-9]{1,6})\^?")
_RANGE = re.compile(r"[#^]?([0-9]{1,6})\s?(?:[-–—−]|to\s)\s?[#^]?([0-9]{1,6})")
_PLACED = re.compile(r"([0-9]{1,6})(?:(?::[0-9]{1,6})?\s?†.*|\s?[:|]\s?[^\W\d_].*|\s[-–—]\s[^\W\d_].*)")
_ID_LIKE = re.compile(r"(?=[^\s]{0,100}[^\W\d_])(?=[^\s]{0,100}\d)(?=[^\s]{0,100}(?:[-_:/]|\d{3}))[^\s]{4,100}")
_YEAR = re.compile(r"\b((?:1[5-9]|20)[0-9]{2})[a-z]?\b")
_SENTENCE_OF = re.compile(r"(?<=[0-9])-[0-9:]+")
_ATTRIBUTE = re.compile(r"""(?<!\w)(\w{1,20})=\s?["']?#?([^"'<>=\s][^"'<>=/]{0,99})""")
_NUMBERED = re.compile(rf"\b{_NOUN}\s?(?:no\.?\s|#)?([0-9]{{1,4}})\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s,;()\[\]<>\"']+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_NAMES = frozenset("see cf eg et al and und the of in by".split())
_TO_LEAVE_OUT = "cite_start"
_UNITS = frozenset("m km cm dm mm nm µm μm ft yd mi in sec mc ha px hm s h".split())
_OUTER = (  # what opens right before a mark and closes right after it
    (re.compile(rf"\(\s?{_LABEL.pattern}$", re.IGNORECASE), re.compile(r"\s?\)")),
    (re.compile(r"<(?:sup|cite|ref|small|span|a|b|i)\b[^<>]{0,30}>\s?$", re.I), re.compile(r"\s?</[a-z]{1,5}>", re.I)),
    (re.compile(r"\$?\^\{?$"), re.compile(r"\}?[$^]?|$")),
    (re.compile(r"(?<!\*)\*{1,2}$"), re.compile(r"\*{1,2}")),
)


class Mark(NamedTuple):
    """A citation mark.

    Attributes:
        position: Where it stood, in characters of the text without marks.
        ids: What it cites, in order.
    """

    position: int
    ids: tuple[str, ...]


class _Found(NamedTuple):
    """A mark in a text: where it begins and ends, what it cites, and which of its text stays."""

    start: int
    end: int
    ids: tuple[str, ...]
    inside: str
    stays: str | None = None


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
        self._by_year: dict[str, list[tuple[frozenset[str], str]]] = {}
        self._round = False

    def of_answer(self, body: str, entries: Iterable[Entry] = ()) -> Citations:
        """The same for one answer: by the keys and authors of its list of references, and in its own style.

        Plain numbers in round brackets are marks if the answer has no other marks and one of them ends a clause.

        Args:
            body: The answer without its list of references.
            entries: The list.

        Example:
            >>> entries = [Entry("x", "Hale (2019). Document 1.", True)]
            >>> citations = Citations(["a", "b"]).of_answer("It rained (2).", entries)
            >>> citations.strip("It rained (2)."), citations.ids("Hale, 2019"), citations.ids("x")
            (('It rained.', (Mark(position=9, ids=('b',)),)), ('a',), ('a',))
        """
        own = Citations(self._listed)
        own._titles = self._titles
        for key, rest, _ in list(entries)[:_MAX_ENTRIES]:
            doc_id = self._document_in(rest, key) or next(iter(self.ids(key)), "")
            if year := _YEAR.search(rest):
                author = rest[: year.start()].strip(" (.,*")
                entry = _words(author or rest), doc_id or f"{author} {year[1]}".strip()
                own._by_year.setdefault(year[1], []).append(entry)
            if key and doc_id:
                own._keys.setdefault(_bare(key), doc_id)
        marks = list(_MARK.finditer(body))
        if not any(match["round"] is None and match["words"] is None and own._read(match) for match in marks):
            own._round = any(match["round"] and _ends_clause(match) and own._numbers(match["round"]) for match in marks)
        return own

    def is_list(self, entries: Sequence[Entry], body: str) -> bool:
        """Whether the lines after a text are a list of references without a heading.

        They are if all are names of documents or links, or marks that the text has with something that is no sentence.
        """
        if not entries or all(entry.key and (self._named(entry.rest) or "://" in entry.rest) for entry in entries):
            return bool(entries)
        if not all(entry.rest and not entry.rest[0].islower() for entry in entries):
            return False
        marks = [set(self.ids(entry.key)) for entry in entries if entry.is_mark and not self.strip(entry.rest)[1]]
        cited = {doc_id for mark in self.strip(body)[1] for doc_id in mark.ids}
        return len(entries) > 1 and len(marks) == len(entries) and all(ids and ids <= cited for ids in marks)

    def is_known(self, doc_id: str) -> bool:
        """Whether the list has this document."""
        return self._known.get(doc_id.casefold()) == doc_id

    def of_number(self, number: int) -> str:
        """The id of the document with this number; outside the list, the document of that name or the number."""
        if 1 <= number <= len(self._listed):
            return self._listed[number - 1]
        return self._known.get(str(number), str(number))

    def ids(self, content: str, *, strict: bool = False) -> tuple[str, ...]:
        """What the inside of a mark cites; nothing unless every part of it is a citation.

        Args:
            content: The text between opening and closing.
            strict: For round brackets: only documents of the list and labelled numbers (``doc 3``) count.
        """
        if found := self._named(content) or self._by_author(content):
            return (found,) if isinstance(found, str) else found
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
        for found in self._find(text):
            piece = text[position : found.start]
            position = found.end
            if found.stays is not None:
                piece += found.stays
            elif not (piece := piece.rstrip(" \t\n~")) and not pieces:  # at the very beginning: leave no space behind
                position += len(text[position:]) - len(text[position:].lstrip())
            elif text[position : position + 1].isalnum():
                piece += " "
            pieces.append(piece)
            length += len(piece)
            if found.ids:
                marks.append(Mark(length, found.ids))
        return "".join([*pieces, text[position:]]), tuple(marks)

    def _find(self, text: str) -> Iterator[_Found]:
        """The marks of a text: those side by side are one, with what surrounds them for their sake."""
        last: _Found | None = None
        position = done = 0
        while match := _MARK.search(text, position):
            found = self._read(match)
            position = match.end() if found else match.start() + 1
            if not found:
                continue
            joint = (
                _JOINT.fullmatch(text, last.end, found.start) if last and last.stays is found.stays is None else None
            )
            if last and joint:
                span = joint["span"] and self.ids(f"{last.inside}-{found.inside}")
                ids = tuple(dict.fromkeys([*last.ids, *(span or ()), *found.ids]))
                last = _Found(last.start, found.end, ids, found.inside)
                continue
            if last:
                yield (whole := _with_outer(text, last, done))
                done = whole.end
            last = found
        if last:
            yield _with_outer(text, last, done)

    def _read(self, match: re.Match[str]) -> _Found | None:
        """A match as a mark; None if it is none."""
        text, start, kind = match.string, match.start(), match.lastgroup or ""
        inside, stays = match[kind], None
        if kind in ("square", "bare"):
            ids = self.ids(inside)
        elif kind == "round":
            ids = self.ids(inside, strict=True)
            if not ids and self._round and not _opens(text, start):
                ids = self._numbers(inside)
            if not ids and (year := _YEAR.fullmatch(inside)):
                ids, stays = self._of_author(_words(text[max(0, start - 40) : start]), year[1]), match[0]
        elif kind == "curly":
            ids = self._numbers(inside)
        elif kind == "words":
            ids, stays = self._numbers(_LABEL.sub("", inside, count=1)), inside
        elif kind == "tex":
            ids = self.ids(inside) or tuple(map(str.strip, inside.split(",")))
        elif kind in ("small", "power"):
            numbers = re.sub(r"[\s˒·]+", ",", inside.replace("⁻", "-")) if kind == "small" else inside
            is_number = inside[0] > "⁹" and _opens(text, start)  # of a list's item
            ids = () if is_number or _is_power(text, start) else self.ids(unicodedata.normalize("NFKC", numbers))
        elif kind == "tagged" and (match["tag"].lower() != "sup" or not _is_power(text, start)):
            bare = inside.strip(" []()")
            ids = self.ids(bare, strict=any(map(str.isalpha, bare)) and match["tag"].lower() in ("a", "sup"))
            if not ids and (ids := self._attributes(match["attributes"])):
                stays = inside
        else:
            ids = self._attributes(match["attributes"])
        if not ids and inside != _TO_LEAVE_OUT:
            return None
        return _Found(start, match.end(), ids, inside, stays)

    def _attributes(self, text: str) -> tuple[str, ...]:
        """The documents that a tag names in its attributes; ``index="3-1"`` is the first sentence of document 3."""
        if text[:1] == ":":
            return self.ids(text[1:].strip())
        values = ((value[1], value[2].strip()) for value in _ATTRIBUTE.finditer(text))
        found = (self.ids(_SENTENCE_OF.sub("", value) if name == "index" else value) for name, value in values)
        return next((ids for ids in found if ids and all(map(self.is_known, ids))), ())

    def _numbers(self, content: str) -> tuple[str, ...]:
        """What a text of numbers of documents cites; nothing if one is out of the list."""
        if any(map(str.isalpha, re.sub(r"\b(?:and|or|to|und)\b", "", content))):
            return ()
        ids = self.ids(content)
        return ids if all(map(self.is_known, ids)) else ()

    def _part(self, part: str, bare: str, strict: bool) -> list[str]:
        if known := self._named(part) or self._named(bare):
            return [known]
        if strict:
            return []
        if span := _RANGE.fullmatch(bare):
            first, last = int(span[1]), int(span[2])
            numbers = map(str, range(first, last + 1) if 0 <= last - first < _MAX_RANGE else ())
            return [self._keys.get(number) or self.of_number(int(number)) for number in numbers]
        if found := _NUMBER.fullmatch(bare) or _PLACED.fullmatch(bare):
            return [self._keys.get(found[1]) or self.of_number(int(found[1]))]
        if _LETTER.match(bare) and int(bare[1:]) <= len(self._listed):
            return [self.of_number(int(bare[1:]))]
        return [bare] if _ID_LIKE.fullmatch(bare) else []

    def _named(self, text: str) -> str:
        """The document that has this key, id or title; a number is only looked for among the keys."""
        bare = _bare(text)
        found = self._keys.get(bare)
        if found or bare.isdigit():
            return found or ""
        return self._known.get(text.strip("`*\"'").casefold()) or self._known.get(bare) or self._titles.get(bare) or ""

    def _by_author(self, content: str) -> tuple[str, ...]:
        """What ``Hale, 2019; Dahl et al. 2020`` cites; nothing unless the answer's own list has them all."""
        parts = content.split(";") if self._by_year else ()
        years = [(part, _YEAR.search(part)) for part in parts]
        found = [self._of_author(_words(part[: year.start()]), year[1]) if year else () for part, year in years]
        return tuple(dict.fromkeys(doc_id for ids in found for doc_id in ids)) if all(found) else ()

    def _of_author(self, words: frozenset[str], year: str) -> tuple[str, ...]:
        """The document of that year whose author shares most of the words."""
        entries = self._by_year.get(year, ())
        shared, doc_id = max(((len(words & own), doc_id) for own, doc_id in entries), default=(0, ""), key=_first)
        return (doc_id,) if shared else ()

    def _document_in(self, rest: str, key: str) -> str:
        """The document that an entry of a list of references names; that of its own number if it names several."""
        if named := self._named(rest):
            return named
        if (number := _NUMBERED.search(rest)) and 1 <= int(number[1]) <= len(self._listed):
            return self.of_number(int(number[1]))
        for token in _TOKEN.findall(rest):
            if not token.isdigit() and (known := self._known.get(token.casefold().strip(".:"))):
                return known
        text = _bare(rest)
        titles = {title: doc_id for title, doc_id in self._titles.items() if len(title) > 7 and title in text}
        own = self.of_number(int(key)) if key.isdecimal() else ""
        return own if not titles or own in titles.values() else titles[max(titles, key=len)]


def _first(pair: tuple[int, str]) -> int:
    return pair[0]


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" \"'`*_“”‘’«».,:;()[]^#")


def _words(text: str) -> frozenset[str]:
    """The words by which an author can be known."""
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in _NO_NAMES)


def _opens(text: str, position: int) -> bool:
    """Whether a number in round brackets numbers what follows it."""
    before = text[max(0, position - 12) : position].rstrip(" ")
    return not before or before[-1] in ",;:\n" or before.endswith((" and", " or", " und"))


def _ends_clause(match: re.Match[str]) -> bool:
    text = match.string
    ends = text[match.end() : match.end() + 1] in ("", *".,;:!?\n。") or text[
        max(0, match.start() - 4) : match.start()
    ].rstrip(" ")[-1:] in (*".!?",)
    return ends and not _opens(text, match.start())


def _is_power(text: str, position: int) -> bool:
    """Whether something raised belongs to a unit (m²), a letter (x²), or digits that are no year (10⁶)."""
    before = text[max(0, position - 24) : position]
    word = re.search(r"[^\W_]+$", before)
    if not word:
        return before[-1:] in ("⁻", "⁺")
    if word[0].isdigit():
        return not _YEAR.fullmatch(word[0])
    name = word[0].lstrip("0123456789")
    return name in _UNITS or (len(name) == 1 and name.isascii())


def _with_outer(text: str, found: _Found, done: int) -> _Found:
    """A mark with what stands around it for its sake alone."""
    start, end = found.start, found.end
    for _ in range(3 if found.stays is None else 0):
        before, after = text[max(done, start - 60) : start], text[end : end + 12]
        pairs = ((opening.search(before), closing.match(after)) for opening, closing in _OUTER)
        pair = next(((opened, closed) for opened, closed in pairs if opened and closed), None)
        if pair is None:
            break
        start, end = start - len(before) + pair[0].start(), end + pair[1].end()
    return found._replace(start=start, end=end)
