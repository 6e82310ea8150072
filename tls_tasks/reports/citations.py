r"""Citation marks in prose, and the documents that they point to.

One rule: a candidate is any bracket, link, tag, footnote or label, and it is a mark if its content, without labels and
markup, is the id or the title of a document, a key of the answer's own list of sources, or a number (the place of a
document in the list that the prompt showed). Spellings other than brackets and labels, ``<sup>3</sup>``,
``\cite{2, 5-7}``, ``¹``, are first rewritten in square brackets (:func:`in_brackets`).

A candidate that looks like an id and points to no document is kept as an unknown id: citing what does not exist is a
wrong citation, not a missing one. But a lone year (``[2020]``) is text, and so is a bracket joined to a word
(``a[7]``) where no other such bracket points to a document. Numbers in round brackets and behind full stops
(``end.3 Next``) are marks in an answer that has no others, if one of them points to a document.

Marks side by side are one, and what stands around them for their sake alone (``(see [1], [2])``) goes with them. Words
that name a document (``According to document 2, …``) are part of their sentence and stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from os.path import commonprefix
from typing import NamedTuple

from tls_tasks.core.reasoning import Patterns
from tls_tasks.reports.documents import addresses, normalize_url

_MAX_RANGE = 50
"""The most documents that a range such as ``[2-9]`` may span."""
_MAX_MARKS = 5_000
"""The most candidates of an answer that say of which kind its marks are."""
_MAX_ENTRIES = 500
"""The most entries of a list of references that are looked at."""

_PATTERN = Patterns(__file__)
_CLOSED = re.compile(r"\s?\)")
_TOKEN = re.compile(r"[^\s,;()\[\]<>\"']+")
_KEY = re.compile(r"[\[【]\^?([0-9]{1,3})[\]】](?!\()[\s,]{0,3}")
_STOPS = ".,;:!?*_"
_CLAUSE_END = re.compile(r"[\s,;*_]*(?:[.。;!?)]|https?://|[\[【]|$)", re.MULTILINE)


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
    """A mark in a text: where it begins and ends, what it cites, what it says, and which words of it stay."""

    start: int
    end: int
    ids: tuple[str, ...]
    inside: str
    kept: str = ""


class Citations:
    """Reads marks against the list of documents that a prompt showed.

    Args:
        doc_ids: Their ids, in the order of their numbers.
        titles: Their titles, in the same order, as far as there are any.
        is_numbered: Whether a number cites the document in its place; no such list stands before a report on its own.

    Example:
        >>> citations = Citations(["coast-01", "coast-02"])
        >>> citations.ids("1, 2"), citations.ids("doc 2"), citations.ids("coast-01; 9"), citations.ids("sic")
        (('coast-01', 'coast-02'), ('coast-02',), ('coast-01', '9'), ())
    """

    def __init__(self, doc_ids: Sequence[str] = (), titles: Sequence[str] = (), *, is_numbered: bool = True) -> None:
        self._listed, self._is_numbered = tuple(doc_ids), is_numbered
        self._known = {form(own.casefold()): own for form in (normalize_url, str) for own in reversed(self._listed)}
        self._titles = {bare: own for title, own in zip(titles, doc_ids, strict=False) if len(bare := _bare(title)) > 3}
        self._keys: dict[str, str] = {}
        # What all ids begin with makes others look like one: doc-z beside doc-a, s9 beside s1.
        prefix = commonprefix([own.casefold() for own in self._listed]).rstrip("0123456789")  # noqa: RUF071 - by characters
        more = "[0-9]{1,9}" if prefix.isalnum() else r"\S{1,100}"
        self._alike = re.compile(re.escape(prefix) + more if prefix else "(?!)", re.IGNORECASE)
        self._weak = False  # whether numbers behind full stops and in round brackets are marks
        self._joins = True  # whether unknown numbers joined to words are

    def of_answer(self, body: str, entries: Iterable[Entry] = ()) -> Citations:
        """The same for one answer: by the keys of its list of references, and in its own style.

        Plain numbers behind full stops, or in round or curly brackets at the end of a clause, are marks if the answer
        has no others.

        Args:
            body: The answer without its list of references.
            entries: The list.

        Example:
            >>> citations = Citations(["a", "b"]).of_answer("It rained (2).", [("x", "Document 1.")])
            >>> citations.strip("It rained (2)."), citations.ids("x")
            (('It rained.', (Mark(position=9, ids=('b',)),)), ('a',))
        """
        of_answer = Citations(self._listed, is_numbered=self._is_numbered)
        of_answer._titles, of_answer._joins = self._titles, False
        for key, rest in list(entries)[:_MAX_ENTRIES]:
            # The key of an address that is no document's is known, and cites nothing.
            if key and (doc_id := self.document_in(rest) or next(iter(self.ids(key)), key * ("://" in rest))):
                of_answer._keys.setdefault(_bare(key), doc_id)
        marks = [match for match in islice(_PATTERN["mark"].finditer(body), _MAX_MARKS) if of_answer._read(match)]
        of_answer._joins = any(match["joined"] is not None for match in marks)
        if all(match["words"] is not None for match in marks):
            weak = _PATTERN["weak_mark"].finditer(body)
            numbers = (match["round"] or match["behind"] or of_answer._keyed(match["before"]) for match in weak)
            of_answer._weak = any(ids and all(map(of_answer.is_known, ids)) for ids in map(of_answer.ids, numbers))
        return of_answer

    def _keyed(self, numbers: str) -> str:
        """Numbers that the list of references has, all of them; empty otherwise."""
        return numbers if self._keys.keys() >= set(re.findall("[0-9]+", numbers)) else ""

    def is_known(self, doc_id: str) -> bool:
        """Whether the list has this document."""
        return self._known.get(doc_id.casefold()) == doc_id

    def may_have(self, doc_id: str) -> bool:
        """Whether this document is in the list, or the report has no list but its own."""
        return not self._is_numbered or self.is_known(doc_id)

    def of_number(self, number: int) -> str:
        """The id of the document with this number; outside the list, the document of that name or the number."""
        if self._is_numbered and 1 <= number <= len(self._listed):
            return self._listed[number - 1]
        return self._known.get(str(number), str(number))

    def named(self, text: str) -> str:
        """The document that has this key, id or title; a number is only looked for among the keys."""
        bare = _bare(text)
        if bare in self._keys or bare.isdigit():
            return self._keys.get(bare, "")
        page = re.split(r"[?&]utm_|#", bare, maxsplit=1)[0].rstrip("/")
        names = (text.strip("`*\"'").casefold(), bare, page, normalize_url(page))
        return next((self._known[name] for name in names if name in self._known), "") or self._titles.get(bare, "")

    def ids(self, content: str, *, strict: bool = False) -> tuple[str, ...]:
        """What the inside of a mark cites; nothing unless every part of it is a citation.

        Args:
            content: The text between opening and closing.
            strict: For round brackets: only documents of the list, ids like theirs and labelled numbers (``doc 3``)
                count.
        """
        if doc_id := self.named(content):
            return (doc_id,)
        ids: list[str] = []
        labelled = titled = False
        for part in (part.strip(" ()") for part in _PATTERN["separator"].split(content)):
            stages = list(_without_labels(part))
            labelled = labelled or len(stages) > 1
            if own := self._part(stages, strict and not labelled):
                ids += own
                titled = titled or bool(_PATTERN["titled"].fullmatch(stages[-1]))
            elif not (ids and titled):
                return ()
        is_year = _PATTERN["years"].fullmatch(content.strip()) and not any(map(self.is_known, ids))
        return () if is_year else tuple(dict.fromkeys(ids))

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
            piece = text[position : match.start] + match.kept
            position = match.end
            if not match.kept:
                piece = piece.rstrip(" \t\n~")
                if match.inside.endswith(".") and text[position : position + 1] not in ".,;:)":
                    piece += "." * piece[-1:].isalnum()  # "It rained [a.] It snowed [b.]"
                position += piece.endswith((".", "!", "?", "。")) and text.startswith(".", position)
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
        while possible := _PATTERN["mark"].search(text, position):
            match = self._read(possible)
            position = possible.end() if match else possible.start() + 1
            last = matches[-1] if match and matches and not (matches[-1].kept or match.kept) else None
            if match and last and (joint := _PATTERN["between_marks"].fullmatch(text, last.end, match.start)):
                between = self.ids(f"{last.inside}-{match.inside}") if joint["span"] else ()
                ids = tuple(dict.fromkeys([*last.ids, *between, *match.ids]))
                matches[-1] = _Match(last.start, match.end, ids, match.inside)
            elif match:
                matches.append(match)
        return matches

    def _read(self, match: re.Match[str]) -> _Match | None:
        """A match as a mark; None if it is none."""
        kind = "square" if match["square"] is not None else match.lastgroup or ""
        inside, kept = match[kind], match[0] if kind == "words" else ""
        ids: tuple[str, ...] = ()
        if kind == "square":
            url, ids = match["target"] or "", self.ids(inside) or self._named_source(inside)
            if target := self.named(url) or ("" if ids else next(iter(self.ids(url, strict=True)), "")):
                is_mark = ids or match["opened"] is not None or _PATTERN["source_name"].fullmatch(inside)
                ids, kept = (target,), "" if is_mark else inside
            elif match["joined"] is not None and not (self._joins or not self._listed or any(map(self.is_known, ids))):
                ids = ()
        elif kind == "url":
            ids = self.ids(inside.rstrip(_STOPS), strict=True)
            kept = "" if _cites_only(match) else inside.rstrip(_STOPS)
            return _Match(match.start(), match.start() + len(inside.rstrip(_STOPS)), ids, inside, kept) if ids else None
        elif kind not in ("behind", "before"):
            is_name = kind == "field" and not self._is_numbered
            ids = (inside,) if is_name else self.ids(inside.rstrip("."), strict=True)
            ids = ids if kind != "words" or all(map(self.is_known, ids)) else ()
        if self._weak and not ids and _PATTERN["numbers"].fullmatch(inside) and not _opens(match.string, match.start()):
            ids = self.ids(inside)
            ends = kind in ("behind", "before") or match.string[match.end() : match.end() + 1] in ".,;:!?\n。"
            ids = ids if all(map(self.is_known, ids)) or (ends and len(inside) < 4) else ()
            ids = ids if kind != "before" or self._keyed(inside) else ()
        # "cite_start" cites nothing and is no word of the report.
        return _Match(*match.span(), ids, inside, kept) if ids or inside == "cite_start" else None

    def _named_source(self, inside: str) -> tuple[str, ...]:
        """What a label says in a report whose documents nobody lists: a title in quotes, a file or any document."""
        source = None if self._is_numbered else _PATTERN["named_source"].fullmatch(inside)
        return (next(filter(None, source.groups())).strip(),) if source else ()

    def _part(self, stages: Sequence[str], strict: bool) -> list[str]:
        """What a part of a mark cites, from the part and what is left of it without one label after the other."""
        bare = stages[-1]
        if known := next(filter(None, map(self.named, chain(stages, map(_head, stages)))), ""):
            return [known]
        alike = list(filter(self._alike.fullmatch, stages))
        if strict:
            return alike[:1]
        numbers = [number[1]] if (number := _PATTERN["number"].fullmatch(_head(bare))) else []
        if span := _PATTERN["range"].fullmatch(bare):
            first, last = int(span[1]), int(span[2])
            numbers = list(map(str, range(first, last + 1))) if 0 <= last - first < _MAX_RANGE else []
        if span or number:
            return [self._keys.get(number) or self.of_number(int(number)) for number in numbers]
        is_id = _PATTERN["like_an_id"].fullmatch(bare) or re.fullmatch(r"-?@[^\s@]{2,100}", bare)
        return alike[:1] or ([bare.lstrip("-@")] if is_id else [])

    def document_in(self, rest: str) -> str:
        """The document that an entry of a list of references names."""
        pages = (self.named(url) for url in addresses(rest))
        if page := next(filter(None, pages), ""):
            return page
        number = _PATTERN["numbered"].search(rest)
        if number and 1 <= int(number[1]) <= len(self._listed):
            return self.of_number(int(number[1]))
        tokens = (token.casefold().strip(".:") for token in _TOKEN.findall(rest) if not token.isdigit())
        named = self.named(rest) or next((self._known[token] for token in tokens if token in self._known), "")
        bare = _bare(rest)
        return named or next((own for title, own in self._titles.items() if " " in title and title in bare), "")

    def is_source(self, line: str) -> bool:
        """Whether a line after the text is sure to be an entry of a list of sources: it is an address or a document."""
        key, rest = entry_of(line)
        is_address = _PATTERN["address_at_end"].search(line) or (key and "://" in rest and not rest.endswith(")."))
        return bool(is_address or self.named(rest if key else _head(rest)))


def entries_of(lines: Iterable[str]) -> list[Entry]:
    """What lists of references say: an entry may have several keys and several lines.

    Example:
        >>> entries_of(["[1] [3] Rain", "https://bay.org", "", "- [2] Snow"])
        [('1', 'Rain https://bay.org'), ('3', 'Rain https://bay.org'), ('2', 'Snow')]
    """
    entries: list[tuple[list[str], list[str]]] = [([], [])]
    for line in lines:
        key, rest = entry_of(line)
        if key or not line:
            entries.append(([key], []))
        while key and (another := _KEY.match(rest)):
            entries[-1][0].append(another[1])
            rest = rest[another.end() :]
        entries[-1][1].append(rest)
    return [(key, " ".join(rest)) for keys, rest in entries for key in keys if key]


def entry_of(line: str) -> Entry:
    """What a line of a list of references says.

    Example:
        >>> entry_of("- [2] Rain (2019)"), entry_of("Hale (2020). Snow.")
        (('2', 'Rain (2019)'), ('', 'Hale (2020). Snow.'))
    """
    entry = next(_PATTERN["entry"].finditer(line[:2_000]))  # it matches any line
    return (entry["square"] or entry["number"] or "").strip(" (.):"), entry["rest"].strip()


def in_brackets(text: str, citations: Citations) -> str:
    r"""A text whose marks are written in square brackets, but for those in round ones and in words.

    An @ says that no such bracket stood there: it may be joined to a word.

    Example:
        >>> in_brackets(r"It rained<sup>3</sup> on 7 m².² It stopped \cite{2, 5-7}.", Citations("abc"))
        'It rained[@3] on 7 m².[@2] It stopped [@2; @5-7].'
        >>> in_brackets("It rained <ref>c</ref>. <cite>The Times</cite>", Citations("abc"))
        'It rained [@c]. <cite>The Times</cite>'
    """

    def cited(tag: re.Match[str]) -> str:
        inside = re.sub(r"[\[\]]", "", tag["inside"])
        return f"[@{inside}]" if citations.ids(inside) else tag[0]

    between = _PATTERN["separator"].split
    text = _PATTERN["sure_mark"].sub(lambda mark: f"[@{'; @'.join(between(mark[mark.lastindex or 0]))}]", text)
    text = _PATTERN["link_in_html"].sub(r"[\2](\1)", text)
    return _PATTERN["raised"].sub(_lowered, _PATTERN["tag_around"].sub(cited, text))


def _lowered(match: re.Match[str]) -> str:
    inside = re.sub(r"\]\([^()\s]{1,500}\)|[\[\]]", "", match[match.lastgroup or ""])
    is_item = "①" <= inside[:1] <= "⑳" and _opens(match.string, match.start())
    if is_item or _PATTERN["power"].search(match.string[max(0, match.start() - 24) : match.start()]):
        return match[0]
    if match["small"]:
        inside = unicodedata.normalize("NFKC", re.sub(r"[\s˒·]+", ",", inside.replace("⁻", "-")))
    return f"[{'@' * inside[:1].isdigit()}{inside}]"


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" \"'`*_“”‘’«».,:;()[]{}<>^#@†-–—")


def _without_labels(part: str) -> Iterator[str]:
    """A part of a mark, and what is left of it without one label after the other: "see Source: doc 3", …, "3"."""
    yield part
    for _ in range(3):
        if label := _PATTERN["label_of_mark"].match(part):
            part = part[label.end() :].strip()
            yield part


def _head(text: str) -> str:
    """What stands before a title or a place: "4" of "4:0†source", "doc-b" of "doc-b: Rain"."""
    titled = _PATTERN["titled"].fullmatch(text)
    return titled[1] if titled else text


def _opens(text: str, position: int) -> bool:
    """Whether a number in round brackets numbers what follows it."""
    before = text[max(0, position - 12) : position].rstrip(" ")
    return not before or before[-1] in ",;:\n" or before.endswith((" and", " or", " und"))


def _cites_only(url: re.Match[str]) -> bool:
    """Whether an address stands before or behind a full stop, and not within a clause."""
    inside = url["url"]
    before = url.string[max(0, url.start() - 3) : url.start()].rstrip(" *_([")
    is_at_end = _CLAUSE_END.match(url.string, url.start() + len(inside.rstrip(".!?*_")))
    return bool(is_at_end) or before.endswith((".", "!", "?", "。"))


def _with_brackets(text: str, match: _Match, done: int) -> _Match:
    """A mark with the round brackets around it, as far as the mark before it leaves them."""
    before = text[max(done, match.start - 60) : match.start]
    opened, closed = _PATTERN["opened"].search(before), _CLOSED.match(text, match.end)
    if match.kept or not opened or not closed:
        return match
    return match._replace(start=match.start - len(before) + opened.start(), end=closed.end())
