"""JSON in model text, found in stages, the strictest first: see :func:`find_json`.

The caller says what it can use by weighing a value, so that neither a citation ``[1]`` nor a schema that the model
repeats is taken for its answer. json_repair is very good at guessing, which is why it comes last: of two objects on two
lines it keeps one, it finishes objects that a token limit cut off, and it is quadratic (30 s for 900 kB).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, SupportsIndex

from tls_tasks.core.json_scan import LOOSE_ONLY, Container, scan
from tls_tasks.core.json_values import Notes, number_of, object_of, problem
from tls_tasks.core.parsed import Problem
from tls_tasks.core.reasoning import strip_thinking

Stage = Literal["none", "whole", "fence", "jsonl", "scan", "truncated", "repaired", "outline"]
"""The stages in the order in which they are tried: the later, the further the text is from what was asked for."""

JSON_PROBLEM_KINDS = (
    "unfinished_thinking",  # a thinking block never ended; what it holds is no answer
    "truncated",  # the text ends inside a list or an object; its last, unfinished entry is dropped
    "broken_json",  # something inside a list or an object can't be read and was dropped
    "repaired_json",  # not quite JSON; the detail says what was set right
    "not_repaired",  # json_repair had to be left out or failed
    "duplicate_key",  # an object has a key twice; the last one counts
    "non_finite",  # NaN, Infinity, or a number that no float can hold
)
"""What may be wrong with JSON in a text."""

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
        places: Where each value stands in the text without its thinking: start and end. The lines of JSON Lines have
            the place of their block.
    """

    values: tuple[Any, ...]
    stage: Stage
    problems: tuple[Problem, ...] = ()
    places: tuple[tuple[int, int], ...] = field(default=(), repr=False)


class _Search(NamedTuple):
    """What one search of a text goes by."""

    weigh: Weigh
    weigh_cut: Weigh
    budget: _RepairBudget
    deep: bool


_FENCE = re.compile(r"^[ \t]{0,12}(`{3,}|~{3,})[ \t]{0,12}([\w+.-]{0,30})", re.MULTILINE | re.ASCII)
_JSON_BEGINS = tuple('[{"-0123456789tfnNI')
_MAX_WRAPPERS = 4  # levels of wrappers, and of strings in strings, in which JSON is looked for
_REPAIRABLE = re.compile(r"\{|\[\s*[\[{\"']")


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

    In this order, and the first stage with a usable value wins: the whole text; the whole text without its thinking;
    fenced blocks; JSON Lines; whole lists and objects in prose; the whole entries of a list or object that is cut off
    or damaged; the same with loose quotes; json_repair. What is damaged in the middle goes through the last two as
    well, which win if they find more items.

    Args:
        text: What the model wrote.
        weigh: See :data:`Weigh`; it meets values of every shape.
        weigh_cut: The same for values that are cut off or damaged, where it matters that an object may lack what
            follows; like ``weigh`` if not given.
        deep: Of an object that is cut off, whether as much as possible is wanted: the finished parts of its unfinished
            objects, and of its lists of scalars.

    Returns:
        What was found. Never raises, whatever the text.

    Example:
        >>> found = find_json('As [1] says:\n```json\n[{"n": 1},]\n```', lambda value: isinstance(value, list))
        >>> found.values, found.stage, found.problems
        (([{'n': 1}],), 'fence', (Problem(kind='repaired_json', detail='trailing comma'),))
        >>> find_json('[{"n": 1}, {"n": 2}, {"n"', len).values
        ([{'n': 1}, {'n': 2}],)
        >>> find_json("nothing", len)
        FoundJson(values=(), stage='none', problems=())
    """
    if whole := _whole(text, weigh):
        return whole
    answer = strip_thinking(text)
    before = (problem("unfinished_thinking", text),) if answer.unfinished else ()
    if not before and answer.text != text and (whole := _whole(answer.text, weigh)):
        return whole
    search = _Search(weigh, weigh_cut or weigh, _RepairBudget(), deep)
    found = _in_fences(answer.text, search) or _in_region(answer.text, search)
    return replace(found, problems=before + found.problems)


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
    return all(_whole(block, accept) for block in blocks)


def _decoder(notes: Notes, strict: bool = True) -> json.JSONDecoder:
    """The standard library's decoder, which neither refuses large numbers nor hides repeated keys."""
    return json.JSONDecoder(
        strict=strict,
        object_pairs_hook=lambda pairs: object_of(pairs, notes),
        parse_int=lambda token: number_of(token, notes),
        parse_float=lambda token: number_of(token, notes),
        parse_constant=lambda token: number_of(token, notes),
    )


_IN_STRINGS = _decoder({}, strict=False)


def _whole(text: str, weigh: Weigh) -> FoundJson | None:
    """The text as one JSON value; None if it is none or of no use."""
    stripped = text.strip().lstrip("\ufeff")
    if not stripped.startswith(_JSON_BEGINS):
        return None
    for strict in (True, False):
        notes: Notes = {}
        try:
            value = _decoder(notes, strict).decode(stripped)
        except RecursionError:
            return None
        except ValueError as error:
            if str(error).startswith("Invalid control character"):
                continue
            return None
        if not strict:
            notes[problem("repaired_json", "control character in a string")] = None
        usable = _usable(value, weigh, notes)
        return FoundJson(usable, "whole", tuple(notes), ((0, len(text)),)) if usable else None
    return None


def _usable(value: Any, weigh: Weigh, notes: Notes) -> tuple[Any, ...]:
    """The value if it is of use, or else with the JSON that its strings hold; nothing if that is of no use either.

    Example:
        >>> _usable({"items": "[1, 2]"}, lambda value: isinstance(value["items"], list), {})
        ({'items': [1, 2]},)
    """
    if weigh(value):
        return (value,)
    for _ in range(_MAX_WRAPPERS):
        packed, value = value, unpacked(value)
        if value is packed:
            break
        if weigh(value):
            notes[problem("repaired_json", "JSON in a string")] = None
            return (value,)
    return ()


def unpacked(value: Any, depth: int = 0) -> Any:
    """A value in which each string that is a JSON list or object is replaced by it; itself if there is none."""
    if isinstance(value, str):
        text = value.strip()
        try:
            return _IN_STRINGS.decode(text) if text[:1] + text[-1:] in ("[]", "{}", '""') else value
        except (ValueError, RecursionError):
            return value
    if isinstance(value, list | dict) and depth < _MAX_WRAPPERS:
        inners = value.values() if isinstance(value, dict) else value
        found = [unpacked(inner, depth + 1) for inner in inners]
        if any(new is not old for new, old in zip(found, inners, strict=True)):
            return dict(zip(value, found, strict=True)) if isinstance(value, dict) else found
    return value


def _in_fences(text: str, search: _Search) -> FoundJson | None:
    """The usable values of all fenced blocks together; None if there are none."""
    values: list[Any] = []
    problems: list[Problem] = []
    places: list[tuple[int, int]] = []
    stage: Stage = "fence"
    for start, end in fences(text):
        block = text[start:end]
        if not block.strip():
            continue
        found = _whole(block, search.weigh) or _in_region(block, search)
        values += found.values
        problems += found.problems
        places += [(start + begin, start + stop) for begin, stop in found.places]
        stage = found.stage if found.stage in ("truncated", "repaired") and stage != "repaired" else stage
    return FoundJson(tuple(values), stage, tuple(problems), tuple(places)) if values else None


def _in_region(text: str, search: _Search) -> FoundJson:
    """What a piece of text holds that is not one JSON value: JSON Lines, values in prose, damaged values."""
    weigh = search.weigh
    if (lines := _json_lines(text, weigh)) is not None:
        return lines
    strict = _scanned(text, search)
    # If the only trouble is that the text ends too early, there is nothing to guess.
    if not _is_damaged(strict) and (strict.values or strict.problems or not _REPAIRABLE.search(text)):
        return strict
    loose = _scanned(text, search, loose=True) if _is_damaged(strict) or LOOSE_ONLY.search(text) else strict
    best = max(strict, loose, key=lambda found: (_weight(found, weigh), not _is_damaged(found)))
    if (best.values and not _is_damaged(best)) or not (begin := _REPAIRABLE.search(text)):
        return best
    guessed = _repaired(text, begin.start(), search.budget)
    if _weight(guessed, weigh) > _weight(best, weigh):
        return guessed
    return best if guessed.values else replace(best, problems=best.problems + guessed.problems)


def _weight(found: FoundJson, weigh: Weigh) -> int:
    """How many items there are in all."""
    return sum(int(weigh(value)) for value in found.values)


def _is_damaged(found: FoundJson) -> bool:
    """Whether something in the middle could not be read."""
    return any(noted.kind == "broken_json" for noted in found.problems)


def _json_lines(text: str, weigh: Weigh) -> FoundJson | None:
    """One list or object a line; None if a line is something else."""
    notes: Notes = {}
    decoder = _decoder(notes)
    values: list[Any] = []
    try:
        for line in text.strip().lstrip("\ufeff").split("\n"):
            if line := line.strip():
                if line[0] not in "[{":
                    return None
                values.append(decoder.decode(line))
    except (ValueError, RecursionError):
        return None
    usable = tuple(found for value in values for found in _usable(value, weigh, notes))
    place = (0, len(text))
    return FoundJson(usable, "jsonl", tuple(notes), (place,) * len(usable)) if usable else FoundJson((), "none")


def _scanned(text: str, search: _Search, *, loose: bool = False) -> FoundJson:
    """The usable values in prose, whole or cut."""
    values: list[Any] = []
    places: list[tuple[int, int]] = []
    notes: Notes = {problem("repaired_json", "quotes"): None} if loose else {}
    stage: Stage = "none"
    for found in scan(text, loose=loose, deep=search.deep):
        weigh = search.weigh if found.state == "whole" else search.weigh_cut
        usable = next((use for cut in found.cuts if (use := _usable(cut, weigh, notes))), ())
        if usable:
            values += usable
            places.append((found.start, found.end))
            notes.update(found.notes)
            stage = "repaired" if loose else "scan"
        if found.state != "whole":
            notes[_damage(text, found)] = None
        if found.state == "unfinished" and stage == "scan":
            stage = "truncated"
    return FoundJson(tuple(values), stage, tuple(notes), tuple(places))


def _damage(text: str, found: Container) -> Problem:
    """Where a container stops being readable."""
    kind = "truncated" if found.state == "unfinished" else "broken_json"
    return problem(kind, text[max(found.start, found.end - 40) : found.end + 40])


def _repaired(text: str, begin: int, budget: _RepairBudget) -> FoundJson:
    """What json_repair makes of the text up to its last closing bracket, so that it does not finish a cut-off entry."""
    place, text = (begin, len(text)), text[begin:]
    end = max(text.rfind("}"), text.rfind("]")) + 1 or len(text)
    problems = [problem("repaired_json", "json_repair")]
    if "{" in text[end:] or "[" in text[end:]:
        problems.append(problem("truncated", text[end:]))
    try:
        return FoundJson((_repair(text[:end], budget),), "repaired", tuple(problems), (place,))
    except Exception as error:  # of any kind, see _repair(); the model's text is at fault, and is counted
        return FoundJson((), "none", (problem("not_repaired", str(error) or repr(error)),))


# json_repair is another project's parser on hostile text: it gets a budget.


class _RepairBudgetError(Exception):
    """json_repair was given too much text, or looked at it too often."""


@dataclass(slots=True)
class _RepairBudget:
    """What json_repair may still do for one model text.

    Attributes:
        characters: Characters that it may be given, in all.
        steps: How often it may look at one; ordinary trouble needs 2 to 4 a character.
    """

    characters: int = 100_000
    steps: int = 2_000_000


class _Metered(str):
    """A str that counts how often it is indexed. Its pieces share the count.

    json_repair looks ahead for the end of a string, again and again if it finds none: ten kilobytes of ``'it's',`` take
    it seconds, a hundred take minutes. Counting is what can be done from outside.

    Example:
        >>> text = _Metered("abc", _RepairBudget(steps=2))
        >>> text[0], text[1:]
        ('a', 'bc')
        >>> text[1:][0]
        Traceback (most recent call last):
        ...
        tls_tasks.core.json_text._RepairBudgetError: json_repair takes too long
    """

    budget: _RepairBudget

    def __new__(cls, text: str, budget: _RepairBudget) -> _Metered:
        """``budget`` is what the count is taken from."""
        metered = super().__new__(cls, text)
        metered.budget = budget
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        piece = super().__getitem__(key)
        self.budget.steps -= 1 + len(piece) // 100
        if self.budget.steps < 0:
            raise _RepairBudgetError("json_repair takes too long")
        return _Metered(piece, self.budget) if isinstance(key, slice) else piece

    def __add__(self, other: str) -> _Metered:
        return _Metered(super().__add__(other), self.budget)


def _repair(text: str, budget: _RepairBudget) -> Any:
    """What json_repair makes of a text.

    Args:
        text: JSON with something wrong in it.
        budget: What it may still do; used up.

    Raises:
        Exception: Of any kind: it is another project's parser on hostile text. RecursionError, ValueError and
            :class:`_RepairBudgetError` are what was seen.

    Example:
        >>> _repair("[{'a': 1,}", _RepairBudget())
        [{'a': 1}]
    """
    import json_repair

    budget.characters -= len(text)
    if budget.characters < 0:
        raise _RepairBudgetError(f"{len(text)} characters are too many for json_repair")
    if (n_open := sum(map(text.count, "[{")) - sum(map(text.count, "]}"))) > 500:  # it refuses these, after seconds
        raise _RepairBudgetError(f"{n_open} lists and objects that never end are too many for json_repair")
    # Through JSON once more, so that no string of the value is a _Metered one.
    return json.loads(json.dumps(json_repair.loads(_Metered(text, budget))))
