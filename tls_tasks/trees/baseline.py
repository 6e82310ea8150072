"""The rules baseline: fills a JSON Schema from a document by regular expressions and the words of the keys.

A value is what stands nearest to the words of its key: a date, a number, one of the choices, or the rest of the line.
It reads the prompt and nothing else, as a model would, and the same prompt always gives the same answer.
"""

from __future__ import annotations

import datetime
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.types import Branch, Leaf, ListOf, SchemaNode

REACH = 80
"""Characters between the words of a key and its value, at most: about a line."""

_OPEN = re.compile(r"^<document>\n", re.MULTILINE)
_MIDDLE = "\n</document>\n\nJSON Schema:\n"

_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,7}}\.?"
_DAY_FIRST = rf"(\d{{1,2}})(?:st|nd|rd|th)? {_MONTH},? (\d{{4}})"
_MONTH_FIRST = rf"{_MONTH} (\d{{1,2}}),? (\d{{4}})"
_DATE = re.compile(rf"\b(?:(\d{{4}})-(\d\d)-(\d\d)|{_DAY_FIRST}|{_MONTH_FIRST})\b", re.IGNORECASE | re.ASCII)
# Thousands stand in threes behind commas, apostrophes or blanks; a comma before one or two digits is a decimal sign.
_WHOLE = r"\d{1,3}(?:[,'’ \u00a0\u202f]\d{3})+(?!\d)|\d{1,15}"
_NUMBER = re.compile(rf"(?<![\w.,-])({_WHOLE})(?:[.,](\d{{1,4}})(?!\d))?(?![\w-]|[.,]\d)", re.ASCII)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")
_PHONE = re.compile(r"(?<![\w-])\+?\d{1,4}(?:[ -]\d{2,6}){1,5}(?![\w-])", re.ASCII)
_NO = re.compile(r"\b(?:no|not|none|never|without|nothing)\b|n't\b", re.IGNORECASE)
_BULLET = re.compile(r"\s{0,8}(?:[-*•]|\d{1,3}[.)])\s+")
_LABEL = re.compile(r"[ .]*(?:[:·]|\.{3,})[ .]*")
_PARTS = re.compile(r"[,;]\s*(?:and\s+)?|\s+and\s+")
_CLAUSE_END = re.compile(r"(?<=\w\w)[.;!?]|[.;!?](?=\s)|[()\n]")
_LIST_END = re.compile(r"(?<=\w\w)[.!?](?=\s|$)|\n")
_KEY_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
# Words in keys that say of what kind a value is, not which one it is.
_KIND_WORDS = frozenset("a cm date from has id in is kg name no number of on the to".split())
_FIRST_LINE = frozenset(("name", "title"))


class Place(NamedTuple):
    """Something in a text: where it begins and ends, and what value it has."""

    start: int
    end: int
    value: Any


def answer(prompt: str) -> str:
    r"""Answer an extraction prompt.

    Args:
        prompt: What :func:`tls_tasks.trees.data.prompt` makes: the document between the lines ``<document>`` and
            ``</document>``, then a line of JSON Schema. If there are more than one (few-shot), the last is the one
            that is asked about.

    Returns:
        JSON that has the form of the schema; ``{}`` if there is no schema in the prompt.

    Example:
        >>> schema = '{"type": "object", "properties": {"due_date": {"type": "string", "format": "date"}, "total": {"type": "number"}}}'
        >>> answer(f"<document>\nDue on 4 April 2024. Total: 1,342.30\n</document>\n\nJSON Schema:\n{schema}\n\nJSON:")
        '{"due_date": "2024-04-04", "total": 1342.3}'
    """  # noqa: E501 - a schema is one line
    begin, middle, end = prompt.rpartition(_MIDDLE)
    if not middle:
        return "{}"
    openings = [match.end() for match in _OPEN.finditer(begin + "\n")]
    document = begin[openings[-1] :] if openings else begin
    try:
        node = read_schema(json.loads(end.partition("\n")[0]), "json_schema")
    except (ValueError, RecursionError, InputError):  # a prompt of another task
        return "{}"
    return json.dumps(fill(node, document), ensure_ascii=False)


def fill(node: SchemaNode, text: str, path: tuple[Hashable, ...] = ()) -> Any:
    """The value of a node.

    Args:
        node: A part of the schema.
        text: What it is filled from.
        path: The keys from the root down to it; their words say what to look for.

    Returns:
        A dictionary, a list or a scalar, as the node wants; None for a leaf that was not found.

    Example:
        >>> fill(ListOf(Leaf("string")), "Present: Ann Lee, Bo Ek and Cy.", ("present",))
        ['Ann Lee', 'Bo Ek', 'Cy']
    """
    if isinstance(node, Branch):
        return {str(key): fill(child, text, (*path, key)) for key, child in node.children.items()}
    if isinstance(node, ListOf):
        return _fill_list(node, text, path)
    if node.choices:
        return _nearest(_choices_in(text, node), text, path, alone=True)
    find = _FINDERS.get(str(node.type).split("|")[0], _find_string)
    return find(text, path)


def dates_in(text: str) -> list[Place]:
    """The dates with a day, as ISO text.

    Example:
        >>> [place.value for place in dates_in("from 5 March 2024 to Apr. 4, 2024, not 2024-13-45")]
        ['2024-03-05', '2024-04-04']
    """
    places = []
    for match in _DATE.finditer(text):
        year, month, day, day_first, month_name, year_last, month_first, day_last, year_end = match.groups()
        number = int(month or _MONTHS[(month_name or month_first).lower()])
        with suppress(ValueError):  # there is no such day
            day_found = datetime.date(int(year or year_last or year_end), number, int(day or day_first or day_last))
            places.append(Place(match.start(), match.end(), day_found.isoformat()))
    return places


def numbers_in(text: str) -> list[Place]:
    """The numbers that are no part of a date or a code; whole ones are integers.

    Example:
        >>> [place.value for place in numbers_in("12 480,50 and CHF 1'850 or 7.4, on 5 March 2024, BW-2")]
        [12480.5, 1850, 7.4]
    """
    dates = dates_in(text)
    starts = [place.start for place in dates]
    places = []
    for match in _NUMBER.finditer(text):
        before = bisect_left(starts, match.end()) - 1
        if before >= 0 and dates[before].end > match.start():
            continue
        whole = int(re.sub(r"\D", "", match[1]))
        value = float(f"{whole}.{match[2]}") if match[2] else whole
        places.append(Place(match.start(), match.end(), value))
    return places


def _choices_in(text: str, leaf: Leaf) -> list[Place]:
    """Where a choice stands as a word of its own; the longer one where two begin alike."""
    names = {str(choice).lower(): choice for choice in leaf.choices}
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found = re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE)
    # Lower case can have another length or spelling than what the pattern matched.
    return [Place(match.start(), match.end(), names[match[0].lower()]) for match in found if match[0].lower() in names]


def _words(path: Sequence[Hashable]) -> list[str]:
    """The words of the last key; with those of the key above where it only says of what kind the value is."""
    own = _key_words(path[-1:])
    telling = [word for word in own if word not in _KIND_WORDS]
    return telling or [word for word in _key_words(path[-2:-1]) if word not in _KIND_WORDS] or own


def _key_words(keys: Sequence[Hashable]) -> list[str]:
    return [word.lower() for key in keys for word in _KEY_WORD.findall(str(key))]


def _mentions(words: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Where words of a key stand, in any form of theirs: ``ingredients`` for ``ingredient`` and the other way round."""
    stems = [re.escape(word[:-1] if len(word) > 4 else word) for word in words]
    if not stems:
        return []
    return [match.span() for match in re.finditer(rf"(?<![^\W\d_])(?:{'|'.join(stems)})\w{{0,4}}", text, re.IGNORECASE)]


def _nearest(places: Sequence[Place], text: str, path: Sequence[Hashable], *, alone: bool = False) -> Any:
    """The value of the place nearest to the key's words, one behind them before one in front of them.

    Args:
        places: In order.
        text: The text.
        path: The keys.
        alone: Whether the first place will do where no word of the key is near one.
    """
    starts = [place.start for place in places]
    best: tuple[int, Any] | None = None
    for begin, end in _mentions(_words(path), text):
        behind = bisect_left(starts, begin)
        for cost, index in ((1, behind), (3, behind - 1)):
            if 0 <= index < len(places):
                gap = max(places[index].start - end, begin - places[index].end, 0)
                if gap <= REACH and (best is None or cost * gap < best[0]):
                    best = (cost * gap, places[index].value)
    if best is None:
        return places[0].value if alone and places else None
    return best[1]


def _find_date(text: str, path: tuple[Hashable, ...]) -> Any:
    return _nearest(dates_in(text), text, path, alone=set(_words(path)) <= _KIND_WORDS)


def _find_number(text: str, path: tuple[Hashable, ...]) -> Any:
    return _nearest(numbers_in(text), text, path)


def _find_integer(text: str, path: tuple[Hashable, ...]) -> Any:
    return _nearest([place for place in numbers_in(text) if isinstance(place.value, int)], text, path)


def _find_boolean(text: str, path: tuple[Hashable, ...]) -> Any:
    """Whether the clause that names it denies it; None if nothing names it."""
    for begin, end in _mentions(_words(path), text)[:1]:
        clause = _clause(text, begin, end)
        return _NO.search(clause) is None
    return None


def _clause(text: str, begin: int, end: int) -> str:
    """What stands around a place, between sentence ends, as far as it can be reached."""
    before = text[max(0, begin - REACH) : begin]
    after = text[end : end + REACH]
    first = max((match.end() for match in _CLAUSE_END.finditer(before)), default=0)
    last = _CLAUSE_END.search(after)
    return before[first:] + text[begin:end] + (after[: last.start()] if last else after)


def _find_string(text: str, path: tuple[Hashable, ...]) -> Any:
    words = _key_words(path[-1:])
    for word, pattern in (("email", _EMAIL), ("phone", _PHONE)):
        if word in words and (match := pattern.search(text)):
            return match[0]
    labelled = _labelled(text, path, _CLAUSE_END)
    if labelled is not None:
        return labelled
    if len(path) == 1 and not _FIRST_LINE.isdisjoint(words):
        line = text.lstrip().partition("\n")[0][:REACH]
        return _to(_CLAUSE_END, line) or None
    return None


def _labelled(text: str, path: tuple[Hashable, ...], end_of: re.Pattern[str]) -> str | None:
    """What stands behind the key's words and a colon, up to where it ends."""
    for _, end in _mentions(_words(path), text):
        label = _LABEL.match(text, end)
        if label and (value := _to(end_of, text[label.end() : label.end() + 4 * REACH])):
            return value
    return None


def _to(end_of: re.Pattern[str], text: str) -> str:
    """The text up to where it ends, without blanks and commas around it."""
    stop = end_of.search(text)
    return (text[: stop.start()] if stop else text).strip(" ,")


def _fill_list(node: ListOf, text: str, path: tuple[Hashable, ...]) -> list[Any]:
    """Of leaves: what is enumerated behind the key's words. Of anything else: one item for each line of a list."""
    if isinstance(node.item, Leaf):
        enumerated = _labelled(text, path, _LIST_END)
        parts = [part.strip() for part in _PARTS.split(enumerated)] if enumerated else []
        return [part for part in parts if part] if str(node.item.type) == "string" else []
    return [_fill_item(node.item, line, path) for line in _item_lines(text)]


def _item_lines(text: str) -> list[str]:
    """Lines with a bullet; without such lines those with a word and two numbers, as in tables."""
    lines = text.split("\n")
    bullets = [_BULLET.sub("", line, count=1) for line in lines if _BULLET.match(line)]
    if bullets:
        return bullets
    return [line for line in lines if not dates_in(line) and len(numbers_in(line)) > 1 and line.strip()[:1].isalpha()]


def _fill_item(node: SchemaNode, line: str, path: tuple[Hashable, ...]) -> Any:
    """One item from one line: its first words for the first text, its numbers in order, choices and dates in it."""
    if not isinstance(node, Branch):
        return fill(node, line, path)
    numbers = iter([place.value for place in numbers_in(line)])
    names = iter([part for part in re.split(r"[,:.;]\s|\s{2,}", _without_numbers(line, node)) if part.strip()])
    item: dict[str, Any] = {}
    for key, child in node.children.items():
        if not isinstance(child, Leaf) or child.choices or child.type not in ("string", "number", "integer"):
            item[str(key)] = fill(child, line, (*path, key))
        elif child.type == "string":
            item[str(key)] = next((name.strip(" ,.") for name in names), None)
        else:
            item[str(key)] = next(numbers, None)
    return item


def _without_numbers(line: str, node: Branch) -> str:
    """The line without the numbers and choices at its head: ``250 g flour`` is about flour."""
    heads = [_choices_in(line, child) for child in node.children.values() if isinstance(child, Leaf) and child.choices]
    places = sorted(place for group in (*heads, numbers_in(line)) for place in group)
    for place in places:
        if line[: place.start].strip():
            break
        line = " " * place.end + line[place.end :]
    return line.strip()


_FINDERS: dict[str, Callable[[str, tuple[Hashable, ...]], Any]] = {
    "date": _find_date,
    "datetime": _find_date,
    "number": _find_number,
    "integer": _find_integer,
    "boolean": _find_boolean,
    "object": lambda text, path: None,  # without a schema of its own there is nothing to look for
}
