"""JSON Lines of reports and nuggets: a bad row is listed with file, line and field, and loses nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from tls_tasks.core.parsed import Parsed, Problem

T = TypeVar("T")


class BadRow(NamedTuple):
    """Something in a file that could not be taken as it stood.

    Attributes:
        file: The file's name.
        line: The line's number, from 1.
        message: What was wrong; begins with the field where there is one.
        lost: Whether the whole row is lost, or only the part that the message names.
    """

    file: str
    line: int
    message: str
    lost: bool = True

    def __str__(self) -> str:
        """For people."""
        return f"{self.file}, line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Rows(Generic[T]):
    """What a file holds, and what is wrong in it."""

    values: tuple[T, ...]
    bad: tuple[BadRow, ...]


def read_rows(
    lines: Iterable[str],
    name: str,
    parse: Callable[[Any], Parsed[T]],
    key: Callable[[T], Hashable],
    said: Callable[[Problem], str],
) -> Rows[T]:
    """Read rows, one a line; a file of one object or one list over several lines is read as well.

    Args:
        lines: The lines.
        name: The file's name, for messages.
        parse: A row -> what it holds.
        key: What must be unique; of equal ones the first counts.
        said: A problem -> the words for it.
    """
    first: dict[Hashable, int] = {}
    values: list[T] = []
    bad: list[BadRow] = []
    for line, row, trouble in _json_rows(list(lines)):
        if trouble:
            bad.append(BadRow(name, line, trouble))
            continue
        parsed = parse(row)
        bad += [BadRow(name, line, said(one), parsed.value is None) for one in parsed.problems]
        if parsed.value is None:
            continue
        unique = key(parsed.value)
        if unique in first:
            bad.append(BadRow(name, line, f"a second row for {unique!r}; the one of line {first[unique]} counts"))
        else:
            first[unique] = line
            values.append(parsed.value)
    return Rows(tuple(values), tuple(bad))


def _json_rows(texts: list[str]) -> Iterator[tuple[int, Any, str]]:
    """Line number, value, and what was wrong."""
    if (whole := _one_value(texts)) is not None:
        yield from ((1, row, "") for row in whole)
        return
    for number, line in enumerate(texts, start=1):
        if line.strip().strip("\ufeff"):
            value, trouble = _load(line)
            yield number, value, trouble


def _one_value(texts: list[str]) -> list[Any] | None:
    """The rows of a file that is one list, or one object over several lines; None if it is neither."""
    first = next((text for text in texts if text.strip().strip("\ufeff")), "")
    if not first.lstrip("\ufeff \t").startswith("[") and not _load(first)[1]:
        return None
    value, trouble = _load("\n".join(texts))
    if trouble:
        return None
    return value if isinstance(value, list) else [value]


def _load(text: str) -> tuple[Any, str]:
    try:
        return json.loads(text.lstrip("\ufeff")), ""
    except (ValueError, RecursionError) as error:
        return None, f"not JSON: {error}"
