"""JSON in model text: see :func:`find_json`.

The caller says what it can use by weighing a value, so that neither a citation ``[1]`` nor a schema that the model
repeats is taken for its answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal

from tls_tasks.core.json_pieces import Piece, cuts, end_of_json, piece_at
from tls_tasks.core.json_values import MAX_REPAIRED_DEPTH, Notes, loosely_decoded, mended, repaired
from tls_tasks.core.parsed import Problem, beside, problem, problem_kinds
from tls_tasks.core.reasoning import strip_thinking

Stage = Literal["none", "whole", "fence", "scan", "truncated", "repaired", "outline"]
"""How a value was found: the later, the further the text is from what was asked for."""

JSON_PROBLEM_KINDS = problem_kinds("json")
"""What may be wrong with JSON in a text."""

PACKED = problem("repaired_json", "JSON in a string")

Weigh = Callable[[Any], int]
"""How many of the caller's items a value holds; 0 (or False) if the value is of no use."""


@dataclass(frozen=True, slots=True)
class FoundJson:
    """The JSON of a text.

    Attributes:
        values: The usable values in the order of the text; several if there are several blocks, lines or lists. An
            object with a key twice is a :class:`~tls_tasks.core.json_values.RepeatedKeys`.
        stage: The last stage that was needed for them; ``none`` if there is no usable value.
        problems: What was repaired or dropped; kinds are :data:`JSON_PROBLEM_KINDS`.
        places: Where each value stands in the text without its thinking: start and end.
    """

    values: tuple[Any, ...]
    stage: Stage
    problems: tuple[Problem, ...] = ()
    places: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    def gaps(self, text: str) -> list[str]:
        """The text without its thinking before, between and after the values, but for what is cut off and counted."""
        is_cut = any(noted.kind == "truncated" for noted in self.problems) or not self.values
        starts, ends = zip(*self.places, (len(text), len(text)), strict=True)
        return [text[end:start] for end, start in zip((0, *ends), starts[: -1 if is_cut else None], strict=False)]

    def beside(self, text: str) -> Iterator[Problem]:
        """What stands beside the values in the text without its thinking."""
        for place, gap in enumerate(self.gaps(text)):
            yield from beside(gap, is_between=0 < place < len(self.values), is_json=self.stage != "outline")


_FENCE = re.compile(r"^[ \t]{0,12}(`{3,}|~{3,})[ \t]{0,12}([\w+.-]{0,30})", re.MULTILINE | re.ASCII)
_JSON_BEGINS = tuple('[{"-0123456789tfnNI')
# A list of numbers in prose is a citation, so it is no beginning; nor is a bracket before a word.
_BLANKS = r"(?:\s|\\{1,4}[nrt])*"
_BEGINNING = re.compile(rf"\{{{_BLANKS}(?:[\"'“”„‘A-Za-z_]|//|# )|\[{_BLANKS}(?:[\[{{\"'“”„‘\]]|(?:/[/*]|#) )")
_IS_LIKE_JSON = re.compile(rf"\{{{_BLANKS}\"|\[{_BLANKS}[\[{{\"]")
_MAX_WRAPPERS = 4  # levels of strings in strings in which JSON is looked for
_MOST_AGAIN = 200_000  # characters that are read again at most, for what is whole within or behind what is damaged
_MAX_PIECES = 10_000  # of a text, after which it is given up: a model in a loop
_USELESS = 10  # pieces for which one without anything usable stands
_MAX_REPAIRS = 7_000**2  # json_repair is quadratic: what all its pieces of a text may cost, or a single one
_REPAIR_COST = 200  # characters for which a call of json_repair stands


def fences(text: str) -> Iterator[tuple[int, int]]:
    r"""Where the contents of the blocks between lines of three or more backticks or tildes begin and end.

    The last block may lack its end.

    Example:
        >>> text = "a\n```json\n[1]\n```\nb\n~~~\n[2]"
        >>> [text[start:end] for start, end in fences(text)]
        ['\n[1]\n', '\n[2]']
    """
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is not None:
            yield opening.end(), fence.start()
        closes = opening is not None and fence[1].startswith(opening[1]) and not fence[2]
        opening = None if closes else fence
    if opening is not None:
        yield opening.end(), len(text)


def find_json(text: str, weigh: Weigh, weigh_cut: Weigh | None = None, *, deep: bool = False) -> FoundJson:
    r"""Find the JSON values that the caller can use.

    The first of these with a usable value wins: the whole text; the whole text without its thinking; fenced blocks;
    all lists and objects in prose. Of one that is cut off, the whole entries count. One that is damaged is mended; if
    it can't be, the entries before the damage count, and what is whole behind it.

    Args:
        text: What the model wrote.
        weigh: See :data:`Weigh`; it meets values of every shape.
        weigh_cut: The same for values that are cut off or damaged, where it matters that an object may lack what
            follows; like ``weigh`` if not given.
        deep: Whether as much as possible is wanted: a document of any length, and of an object that is cut off the
            finished parts of its unfinished objects, and of its lists of scalars.

    Returns:
        What was found. Never raises, whatever the text.

    Example:
        >>> found = find_json('As [1] says:\n```json\n[{"n": 1},]\n```', lambda value: isinstance(value, list))
        >>> found.values, found.stage, [one.detail for one in found.problems]
        (([{'n': 1}],), 'fence', ['trailing comma', 'As [1] says:'])
        >>> find_json('[{"n": 1}, {"n": 2}, {"n"', len).values
        ([{'n': 1}, {'n': 2}],)
        >>> find_json("nothing", len)
        FoundJson(values=(), stage='none', problems=())
    """
    answer = strip_thinking(text)
    before = answer.problems(text)
    wholes = (text,) if answer.unfinished else dict.fromkeys((text, answer.text))
    for whole in wholes if deep or not answer.beyond else ():
        if found := _whole(whole, weigh):
            return found if whole == text else replace(found, problems=before + found.problems)
    search = _Search(weigh, weigh_cut or weigh, deep)
    result = _in_fences(answer.text, search) or search.in_prose(answer.text)
    return replace(result, problems=(*before, *result.problems, *result.beside(answer.text)))


def is_whole_json(text: str, accept: Callable[[Any], bool]) -> bool:
    """Whether a text, or all that is fenced in it, is JSON that the caller accepts: for answers such as ``[]``.

    Example:
        >>> is_whole_json("<think>None?</think>[]", lambda value: value == [])
        True
        >>> is_whole_json("I found []", lambda value: value == [])
        False
    """
    answer = strip_thinking(text).text
    blocks = [answer[start:end] for start, end in fences(answer) if answer[start:end].strip()] or [answer]
    return bool(_whole(text, accept)) or all(_whole(block, accept) for block in blocks)


def _whole(text: str, weigh: Weigh) -> FoundJson | None:
    """The text as one JSON value; None if it is none or of no use."""
    stripped = text.strip().lstrip("\ufeff")
    notes: Notes = {}
    if not stripped.startswith(_JSON_BEGINS):
        return None
    try:
        value = loosely_decoded(stripped, notes)
    except (ValueError, RecursionError):
        value = unpacked(unpacked(f'"{stripped}"'))  # what a string holds, without its quotes
        if isinstance(value, str):
            return None
        notes = {PACKED: None}
    usable = _usable(value, weigh, notes)
    return FoundJson(usable, "whole", tuple(notes), ((0, len(text)),)) if usable else None


def _in_fences(text: str, search: _Search) -> FoundJson | None:
    """The usable values of all fenced blocks together; None if there are none."""
    results = []
    for start, end in takewhile(lambda _: search.n_pieces < _MAX_PIECES, fences(text)):
        block = text[start:end]
        result = _whole(block, search.weigh) or search.in_prose(block)
        search.n_pieces += 1
        results.append(replace(result, places=tuple((start + begin, start + stop) for begin, stop in result.places)))
    stages = {result.stage for result in results if result.values}
    names = ("values", "problems", "places")
    values, problems, places = (tuple(part for own in results for part in getattr(own, name)) for name in names)
    return FoundJson(values, _last(stages, "fence"), problems, places) if values else None


def _last(stages: Set[Stage], otherwise: Stage) -> Stage:
    """The last of the stages that were needed."""
    return "repaired" if "repaired" in stages else "truncated" if "truncated" in stages else otherwise


def _usable(value: Any, weigh: Weigh, notes: Notes) -> tuple[Any, ...]:
    """The value if it is of use, or else with the JSON that its strings hold; nothing if that is of no use either.

    Example:
        >>> _usable({"items": "[1, 2]"}, lambda value: isinstance(value["items"], list), {})
        ({'items': [1, 2]},)
    """
    if weigh(value):
        return (value,)
    inner = unpacked(value)
    if inner is value:
        return ()
    notes[PACKED] = None
    return _usable(inner, weigh, notes)


def unpacked(value: Any, depth: int = 0) -> Any:
    """A value in which each string that is a JSON list or object is replaced by it; itself if there is none."""
    if isinstance(value, str):
        text = value.strip()
        try:
            return loosely_decoded(text, {}) if text[:1] + text[-1:] in ("[]", "{}", '""') else value
        except (ValueError, RecursionError):
            return value
    if isinstance(value, list | dict) and depth < _MAX_WRAPPERS:
        inners = value.values() if isinstance(value, dict) else value
        new = [unpacked(inner, depth + 1) for inner in inners]
        if any(one is not old for one, old in zip(new, inners, strict=True)):
            return dict(zip(value, new, strict=True)) if isinstance(value, dict) else new
    return value


class _Search:
    """One search of a text: what the caller can use, what json_repair may still be given, and how much was read."""

    def __init__(self, weigh: Weigh, weigh_cut: Weigh, deep: bool) -> None:
        self.weigh, self.weigh_cut, self.deep = weigh, weigh_cut, deep
        self.repairs, self.n_pieces = _MAX_REPAIRS, 0

    def in_prose(self, text: str) -> FoundJson:
        """The usable lists and objects of a text."""
        values: list[Any] = []
        places: list[tuple[int, int]] = []
        notes: Notes = {}
        stages: set[Stage] = set()
        position, left = 0, _MOST_AGAIN
        while self.n_pieces < _MAX_PIECES and (begin := _BEGINNING.search(text, position)):
            piece = piece_at(text, begin.start(), len(text))
            usable, stage, end = self._of_piece(text, piece, notes)
            stages.add(stage)
            if usable:
                values += usable
                places.append((piece.start, end))
            self.n_pieces += 1 if usable else _USELESS
            if end < piece.end:  # what follows is read again, unless that would be endless work
                left -= piece.end - piece.start
            position = end if left > 0 else piece.end
        return FoundJson(tuple(values), _last(stages, "scan") if values else "none", tuple(notes), tuple(places))

    def _of_piece(self, text: str, piece: Piece, notes: Notes) -> tuple[tuple[Any, ...], Stage, int]:
        """What is usable of a piece, how it was read, and where reading goes on."""
        damaged = piece
        if not piece.is_unfinished:
            content = text[piece.start : piece.end]
            if self.deep or not piece.path:  # where brackets don't match, json_repair may join neighbours
                usable, stage = self._use(content, piece.depth, self.weigh, notes)
                if usable or stage == "scan":
                    return usable, stage, piece.end
            damaged = piece_at(text, piece.start, piece.start + end_of_json(content))
        is_like_json = _IS_LIKE_JSON.match(text, piece.start) is not None
        if is_like_json:
            kind = "truncated" if piece.is_unfinished else "broken_json"
            notes[problem(kind, text[max(piece.start, damaged.end - 40) : damaged.end + 40])] = None
        for part, cut in cuts(text, damaged, self.deep):
            usable, stage = self._use(part, piece.depth, self.weigh_cut, notes)
            if usable and piece.is_unfinished:
                return usable, "truncated" if stage == "scan" else stage, piece.end
            if usable:
                return usable, stage, max(cut, piece.start + 1)
        unread: Stage = "truncated" if is_like_json and piece.is_unfinished else "none"
        return (), unread, max(damaged.end if is_like_json else 0, piece.start + 1)

    def _use(self, content: str, depth: int, weigh: Weigh, notes: Notes) -> tuple[tuple[Any, ...], Stage]:
        """The value of a balanced piece, if it is of use, and how it was read: ``none`` if it can't be."""
        for read in (loosely_decoded, mended, repaired):
            own: Notes = {}
            if read is repaired:
                cost = (len(content) + _REPAIR_COST) ** 2
                if depth > MAX_REPAIRED_DEPTH or cost > self.repairs:
                    break
                self.repairs -= cost
            with suppress(Exception):  # of any kind: json_repair is another project's parser, the text is at fault
                usable = _usable(read(content, own), weigh, own)
                notes.update(own if usable else {})
                return usable, "repaired" if read is repaired else "scan"
        notes[problem("not_repaired", content)] = None
        return (), "none"
