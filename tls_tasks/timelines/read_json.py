"""Timelines in JSON: lists of objects, maps date -> text, pairs, lists of dated strings, and wrappers around them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.core.json_values import RepeatedKeys
from tls_tasks.core.parsed import Problem, problem
from tls_tasks.text.dates import MAX_LENGTH, Known, may_hold_date, within
from tls_tasks.timelines.entries import ASIDE_KEYS, DATE_KEYS, END_KEYS, TEXT_KEYS, UNKNOWN, RawEntry, read_cell
from tls_tasks.timelines.read_lines import read_lines

_MAX_DEPTH = 6
"""Levels of wrappers and lists that are looked into."""

_Pairs = Sequence[tuple[str, Any]]
_Item = RawEntry | Problem


def json_entries(value: object) -> list[_Item]:
    """The entries of a timeline in JSON, and a problem for each thing that is not one.

    Forms, each also within lists and objects such as ``{"timeline": …}``: an object with one of
    :data:`~tls_tasks.timelines.entries.DATE_KEYS` and text under any of
    :data:`~tls_tasks.timelines.entries.TEXT_KEYS`; an object whose keys are dates; a list of a date and its
    text; a str of dated lines. A text is a str, a list of them, or an object with text; strings are kept as they are.

    Args:
        value: Any JSON value.

    Returns:
        In the order of the text; no :class:`RawEntry` if the value is not a timeline.

    Example:
        >>> json_entries({"timeline": [{"start": "2011-01-25", "summary": "Protests."}]})[0].sentences
        ('Protests.',)
        >>> json_entries([["2011-01-25T00:00:00", ["Protests.", "Police."]]])[0].sentences
        ('Protests.', 'Police.')
        >>> json_entries([1, 2])
        [Problem(kind='bad_entry', detail='1'), Problem(kind='bad_entry', detail='2')]
    """
    return list(_read(value, 0))


def count_entries(value: object) -> int:
    """How many entries of a timeline a JSON value holds, whether or not their dates can be read."""
    return sum(isinstance(item, RawEntry) for item in json_entries(value))


def is_empty_answer(value: object) -> bool:
    """Whether a JSON value says that there is nothing: an empty list or object, or a wrapper around only those.

    Example:
        >>> is_empty_answer([]), is_empty_answer({"timeline": []}), is_empty_answer([{}]), is_empty_answer(None)
        (True, True, False, False)
    """
    if isinstance(value, dict):
        return all(inner in ([], {}) for inner in value.values())
    return value == []


def _read(value: Any, depth: int, known: Known = UNKNOWN) -> Iterator[_Item]:
    if depth > _MAX_DEPTH:
        yield problem("bad_entry", "nested too deeply")
    elif isinstance(value, dict):
        yield from _object(value, depth, known)
    elif isinstance(value, list):
        yield from _list(value, depth, known)
    else:
        yield from _read_text(value, known) or [problem("bad_entry", _written(value))]


def _read_text(value: Any, known: Known) -> list[_Item]:
    """The entries in a str of dated lines; empty if there are none."""
    if not isinstance(value, str) or not (known.year or may_hold_date(value)):
        return []
    lines = read_lines(value, known=known)
    return lines if any(isinstance(item, RawEntry) for item in lines) else []


def _list(value: list[Any], depth: int, known: Known) -> Iterator[_Item]:
    first, texts = (value[0], value[1:]) if len(value) > 1 and isinstance(value[0], str) else ("", [])
    dated = read_cell(first, known)
    if dated.expression and not any(isinstance(text, str) and read_cell(text).expression for text in texts):
        yield from _entry(dated, texts)
        return
    for item in value:
        yield from _read(item, depth + 1, known)


def _object(value: dict[str, Any], depth: int, known: Known) -> Iterator[_Item]:
    pairs = value.pairs if isinstance(value, RepeatedKeys) else list(value.items())
    named = {_key(key): inner for key, inner in pairs}
    known = _context(named, known)
    is_named = not set(DATE_KEYS).isdisjoint(named)
    if not is_named and any(read_cell(key, known).expression for key in value):
        yield from _map(pairs, depth, known)
        return
    dated = _dated(named, known)
    texts = _texts(pairs, dated is not None)
    if entries := _wrapped(pairs, depth, known, is_dated=dated is not None and (is_named or "year" not in named)):
        yield from entries
    elif dated is not None and (texts or (dated.expression and depth)):
        # A single object with nothing but a date may be what is left of an entry that was cut off.
        yield from _entry(dated, texts)
        yield from _beside(pairs, [*texts, dated.written])
    elif dated is None and (entries := [item for _, text in pairs for item in _read_text(text, known)]):
        yield from entries
    elif depth and (texts or dated or not pairs):
        strings = [item for item in _sentences(texts, 0) if isinstance(item, str)]
        yield problem("undated_text" if texts else "bad_entry", " ".join(strings or named))


def _wrapped(pairs: _Pairs, depth: int, known: Known, is_dated: bool) -> list[_Item]:
    """The entries in an object's lists and objects, and what else it holds; empty if there is no entry.

    If the object has a date of its own, strings in its lists are its text.
    """
    entries: list[_Item] = []
    dates = (*DATE_KEYS, *END_KEYS)
    for key, inner in pairs:
        if _key(key) not in dates:
            texts_apart = is_dated and isinstance(inner, list)
            within = [item for item in inner if not isinstance(item, str)] if texts_apart else inner
            entries += _dated_within(key, within, depth, known) or _beside([(key, inner)], [])
    return entries if any(isinstance(item, RawEntry) for item in entries) else []


def _dated_within(key: str, inner: Any, depth: int, known: Known) -> list[_Item]:
    """What is read of the list or object under a key, if an entry with a date is among it."""
    items = list(_read(inner, depth + 1, within(key, known))) if isinstance(inner, (list, dict)) else []
    return items if any(isinstance(item, RawEntry) and item.expression for item in items) else []


def _map(pairs: _Pairs, depth: int, known: Known) -> Iterator[_Item]:
    """An object date -> text; a key without a digit was not meant as a date, unless it is a month of a known year."""
    for key, inner in pairs:
        if _key(key) in ("year", "month"):
            continue
        dated = read_cell(key, known)
        if not dated.is_day and (items := _dated_within(key, inner, depth, known)):
            yield from items
        elif dated.expression is None and not any(char.isdigit() for char in key[:MAX_LENGTH]):
            yield problem("bad_entry", key)
        else:
            yield from _entry(dated, [inner])


def _context(named: dict[str, Any], known: Known) -> Known:
    """The year and the month that an object gives to what is in it."""
    for name in ("year", "month", *DATE_KEYS):
        value = named.get(name)
        if name == "month" and known.year and str(value).isdecimal():
            value = f"{known.year}-{value}"
        if isinstance(value, (str, int)):
            known = within(str(value), known)
    return known


def _key(key: str) -> str:
    """A key as our tables spell it: ``Start Date`` is ``start_date``."""
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def _texts(pairs: _Pairs, is_dated: bool = False) -> list[Any]:
    """The values that hold an entry's text; beside a date, whatever else is text if no name is known."""
    beside = (*DATE_KEYS, *END_KEYS, *ASIDE_KEYS, "year", "month")
    others = [(key, inner) for key, inner in pairs if _key(key) not in beside]
    # event_description, key events
    if texts := [inner for key, inner in others if set(_key(key).split("_")) & set(TEXT_KEYS)]:
        return texts
    return [inner for _, inner in others if is_dated and isinstance(inner, str) and not read_cell(inner).expression]


def _beside(pairs: _Pairs, read: list[Any]) -> Iterator[Problem]:
    """What an object holds beside its dates and what is read of it."""
    dates = (*DATE_KEYS, *END_KEYS, "year", "month")
    for key, inner in pairs:
        if inner and _key(key) not in dates and inner not in read:
            yield problem("aside", f"{key}: {inner}")


def _dated(named: dict[str, Any], known: Known) -> RawEntry | None:
    """An object's date and what else stands with it: the first readable one, or else the first; None if it has none."""
    present = [named[key] for key in DATE_KEYS if key in named]
    if not present and "year" in named:
        present = [" ".join(_written(named[key]) for key in ("month", "year") if key in named)]
    # Keys in other languages than English.
    present = present or [one for one in named.values() if isinstance(one, str) and read_cell(one).expression][:1]
    for value in present:
        dated = _date(value, known)
        if expression := dated.expression:
            ends = (_date(named.get(key), known).expression for key in END_KEYS)
            last = next((end for end in ends if end and end.precision == expression.precision), None)
            is_range = last is not None and last.date > expression.date and not expression.is_range
            return dated._replace(expression=replace(expression, end=last.date)) if last and is_range else dated
    return RawEntry(None, _written(next((one for one in present if one is not None), None)), ()) if present else None


def _date(value: Any, known: Known) -> RawEntry:
    """The date in a value: a str, or a number such as ``2011``, ``20110125``, or ``25`` in a month that is known."""
    if isinstance(value, int) and not isinstance(value, bool) and (1000 <= value <= 99991231 or known.month):
        value = str(value)
    return read_cell(value, known) if isinstance(value, str) else RawEntry(None, _written(value), ())


def _entry(dated: RawEntry, texts: list[Any]) -> Iterator[_Item]:
    sentences = list(_sentences(texts, 0))
    yield dated._replace(sentences=(*dated.sentences, *(item for item in sentences if isinstance(item, str))))
    yield from (item for item in sentences if isinstance(item, Problem))


def _sentences(value: Any, depth: int) -> Iterator[str | Problem]:
    """The strings of a text, unchanged; numbers as strings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth <= _MAX_DEPTH:
        for item in value:
            yield from _sentences(item, depth + 1)
    elif isinstance(value, dict) and (texts := _texts(list(value.items()))):
        yield from _sentences(texts, depth + 1)
        yield from _beside(list(value.items()), texts)
    elif isinstance(value, (int, float)):
        if value == value:  # NaN is not text, and is reported where it is read
            yield str(value)
    elif value is not None:
        yield problem("bad_entry", _written(value))


def _written(value: Any) -> str:
    """A scalar as text, a container by its kind; empty for null."""
    if isinstance(value, (list, dict)):
        return "list" if isinstance(value, list) else f"object with {', '.join(list(value)[:5])}"
    return "" if value is None else str(value)
