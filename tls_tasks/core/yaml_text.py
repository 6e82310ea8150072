"""YAML, and outlines that are nearly YAML, in model text: see :func:`find_yaml`.

PyYAML's safe loader is only asked for its events: nothing is constructed, an alias ends the reading (so there are no
bombs), and depth and length are bounded. What an unquoted scalar is, YAML guesses too boldly for documents (a date, the
``no`` of Norway, 0117 as octal): here it is text unless JSON would have it as a number, a boolean or null.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml

from tls_tasks.core.json_text import FoundJson, Weigh, fences
from tls_tasks.core.json_values import MAX_DEPTH, Notes, number_of, object_of
from tls_tasks.core.parsed import problem
from tls_tasks.core.reasoning import strip_thinking

MAX_CHARACTERS = 100_000
"""Characters of a text that PyYAML is given: half a second."""


_FOR_EACH = 200
"""Characters for which beginning to read stands, so that a thousand small outlines are no way around it."""


class Unquoted(str):
    """A scalar without quotes, as it is written."""

    __slots__ = ()


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}

_MARK = r"(?:\*\*?|__|`)?"
_BULLET = r"(?:\*\*[0-9]{1,3}[.:)]\*\*|[-*+•]|[0-9]{1,3}[.)])"
_BULLETS = rf"(?:{_BULLET}[ \t]+)*"
_KEY = r"[^\s:{}\[\],#>|*`][^\s:*`]{0,40}(?:[ \t][^\s:*`]{1,40}){0,3}"
ENTRY = re.compile(rf"[ \t]*{_BULLETS}{_MARK}(?P<key>{_KEY}){_MARK}:{_MARK}(?=\s|$)")
"""How a line of ``key: value`` begins."""

_LINE = re.compile(rf"^([ \t]*)({_BULLETS})(?:{_MARK}({_KEY}){_MARK}:{_MARK}(?=\s|$))?[ \t]*(.*)$", re.MULTILINE)
# An item whose key has a value and other keys below it: with these it is a list of keys.
_ITEM = re.compile(rf"(?m)^([ \t]*){_BULLET} +(?={_MARK}{_KEY}[*_`]*:[*_`]* +[^\s|>].*\n\n?\1[ \t]([ \t]+){_BULLET} )")
_COLUMN = re.compile(rf"(?<=\S)[ ]*\t[ \t]*(?={_KEY}:\s)")  # Attribute: Colour    Value: red
_GOES_ON = re.compile(rf"\s|{_BULLET}[ \t]|#|\.\.\.|[\]}}]")
_IS_ITEM, _IS_KEY = re.compile(rf"{_BULLET}[ \t]"), re.compile(rf"(?!\s|{_BULLET}[ \t]){ENTRY.pattern}")
_NOT_YAML = re.compile(r"^[ \t]*(?:[*+•]|[0-9]{1,3}[.)][ \t]|-[ \t]+[*`]|`)|\t|\*\*", re.MULTILINE)
_NOT_BARE = re.compile(r"[*&!%@`>|?,#\]}-]|.*(?::\s|:$)")


def find_yaml(text: str, weigh: Weigh, *, as_written: bool = False, is_one: bool = False) -> FoundJson:
    r"""Find the YAML, and the Markdown lists and lines of ``key: value``, that the caller can use.

    Fenced blocks if there are such, otherwise all runs of lines that could be an outline. What PyYAML refuses is read
    once more with its lines mended: bold keys, other bullets, tabs, a colon or a special character in a value. Of what
    can't be read then, the beginning counts.

    Args:
        text: What the model wrote.
        weigh: See :data:`~tls_tasks.core.json_text.Weigh`.
        as_written: Whether scalars without quotes stay :class:`Unquoted` text, for a caller who knows the types.
        is_one: Whether one outline is the answer: if it holds more than all others, these are notes beside it.

    Returns:
        What was found; the stage is ``outline``. Never raises, whatever the text.

    Example:
        >>> find_yaml("Here it is:\n\nday: 2025-01-31\nopen: no\nprices: [1.5, ~]\n", len).values
        ({'day': '2025-01-31', 'open': 'no', 'prices': [1.5, None]},)
        >>> find_yaml("- **Name**: Tea: a treatise\n- **Pages**: 12", len).values
        ([{'Name': 'Tea: a treatise'}, {'Pages': 12}],)
        >>> find_yaml("a: &x [1, 1]\nb: [*x, *x]", len).values
        ({'a': '&x [1, 1]', 'b': []},)
    """
    answer, *_ = stripped = strip_thinking(text)
    blocks = [(start, end) for start, end in fences(answer) if answer[start:end].strip()] or [(0, len(answer))]
    read: list[tuple[int, tuple[int, int], Any, Notes]] = []
    notes, left = Notes(), MAX_CHARACTERS
    for outline, place in (found for block in blocks for found in _outlines(answer, *block)):
        left -= len(outline) + _FOR_EACH
        if left < 0:
            notes[problem("not_repaired", f"{len(answer)} characters are too many for YAML")] = None
            break
        value, noted = _reading(outline)
        if weight := weigh(value):
            read.append((weight, place, value if as_written else settled(value), noted))
    places = tuple(place for _, place, *_ in read)
    most = sum(weight for weight, *_ in read) / 2
    if best := [own for own in read if is_one and own[0] > most]:
        notes.update({problem("note", answer[slice(*place)]): None for _, place, *_ in read if place != best[0][1]})
        read = best
    notes.update({one: None for *_, noted in read for one in noted})
    values, problems = tuple(own[2] for own in read), (*stripped.problems(text), *notes)
    found = FoundJson(values, "outline" if values else "none", problems, places)
    return replace(found, problems=(*problems, *found.beside(answer)))


def settled(value: Any) -> Any:
    """A copy in which unquoted scalars are what JSON has them as, and text otherwise.

    Example:
        >>> settled([Unquoted("1.50"), Unquoted("0117"), Unquoted("yes"), Unquoted("null")])
        [1.5, '0117', 'yes', None]
    """
    if isinstance(value, dict):
        return {key: settled(child) for key, child in value.items()}
    if isinstance(value, list):
        return [settled(item) for item in value]
    if not isinstance(value, Unquoted):
        return value
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    return number_of(value, {}) if _NUMBER.fullmatch(value) else str(value)


def _outlines(text: str, start: int, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The runs of lines that could be YAML, without a line of prose before or after them, and where they stand."""
    run: list[str] = []
    begin = position = start
    for line in [*text[start:end].split("\n"), "end"]:
        is_outline = not line.strip() or ENTRY.match(line) or _GOES_ON.match(line)
        # A list ends before keys that are no items of it, such as a note.
        is_other = len(run) > 1 and not run[-1] and _IS_ITEM.match(run[0]) and _IS_KEY.match(line)
        if is_outline and not is_other:
            run.append(line.rstrip())
        else:
            if outline := _without_prose(run):
                yield outline, (begin, min(position, end))
            run, begin = ([line.rstrip()], position) if is_other else ([], position + len(line) + 1)
        position += len(line) + 1


def _without_prose(run: list[str]) -> str:
    """A run of lines without a first and a last paragraph that are one sentence each, such as "Here it is:"."""
    lines = "\n".join(run).strip("\n").split("\n")
    if len(lines) > 1 and lines[0].endswith((":", ":**")) and " " in lines[0]:
        del lines[0]
    if lines[2:] and not lines[-2] and re.search(r":\**$|[.!?]$", lines[-1]) and " " in lines[-1].partition(": ")[2]:
        del lines[-1]
    lines = "\n".join(lines).strip("\n").split("\n")
    if len(lines) > 1 and lines[0][:1] == " " != lines[1][:1]:  # a blank before the answer
        lines[0] = lines[0].lstrip()
    return "\n".join(lines) if ENTRY.match(lines[0]) or _GOES_ON.match(lines[0]) else ""


def _reading(outline: str) -> tuple[Any, Notes]:
    """The outline as it stands, or else with its lines mended."""
    outline = _COLUMN.sub("\n", outline)
    if not _NOT_YAML.search(outline):
        value, notes = _read(outline, {problem("repaired_json", "YAML"): None})
        if not any(noted.kind == "broken_json" for noted in notes):
            return value, notes
    return _read(_LINE.sub(_mended, _ITEM.sub(r"\1-\2- ", outline)), {problem("repaired_json", "an outline"): None})


def _mended(line: re.Match[str]) -> str:
    """A line of an outline as YAML wants it."""
    indent, bullets, key, value = line.groups()
    is_special = _NOT_BARE.match(value) and value not in ("|", ">", "|-", ">-") and not _NUMBER.fullmatch(value)
    if (key or bullets) and is_special:
        value = json.dumps(value, ensure_ascii=False)
    bullets = re.sub(_BULLET, lambda bullet: "-".ljust(len(bullet[0])), bullets)
    return f"{indent.expandtabs(4)}{bullets}{key}: {value}" if key else f"{indent.expandtabs(4)}{bullets}{value}"


def _read(text: str, notes: Notes) -> tuple[Any, Notes]:
    """The last document of a YAML text, as far as it can be read; nothing is None."""
    documents: list[Any] = []
    path: list[tuple[bool, list[Any]]] = [(False, documents)]  # whether it is a mapping, and its keys and values
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            is_mapping, items = path[-1]
            is_key = is_mapping and len(items) % 2 == 0
            if isinstance(event, yaml.ScalarEvent):
                is_plain = event.implicit[0] and not event.style and not is_key
                items.append(Unquoted(event.value) if is_plain else event.value)
            elif isinstance(event, yaml.CollectionStartEvent):
                if is_key or len(path) > MAX_DEPTH:
                    raise ValueError("a key that is no scalar, or too many levels")
                path.append((isinstance(event, yaml.MappingStartEvent), []))
            elif isinstance(event, yaml.CollectionEndEvent):
                _end_collection(path, notes)
            elif isinstance(event, yaml.AliasEvent):
                raise ValueError("an alias")
    except Exception as error:  # of any kind: it is another project's parser on a model's text, which is at fault
        mark = getattr(error, "problem_mark", None)
        is_at_end = mark is not None and mark.index >= len(text.rstrip())
        notes[problem("truncated" if is_at_end else "broken_json", str(error))] = None
    while len(path) > 1:
        _end_collection(path, notes)
    return (documents[-1] if documents else None), notes


def _end_collection(path: list[tuple[bool, list[Any]]], notes: Notes) -> None:
    """Put the innermost list or mapping, without a key that lacks its value, into the one around it."""
    is_mapping, items = path.pop()
    if not is_mapping and any(isinstance(item, dict) for item in items):  # texts among dictionaries are stray lines
        notes.update({problem("unread", item): None for item in items if isinstance(item, str)})
        items = [item for item in items if not isinstance(item, str)]
    value = object_of(list(zip(items[::2], items[1::2], strict=False)), notes) if is_mapping else items
    path[-1][1].append(value)
