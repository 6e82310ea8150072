"""JSON Lines of reports and requests: rows read with file, line and field of what is wrong, and rows written."""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tls_tasks.core.atomic import atomic_file
from tls_tasks.core.errors import json_fault
from tls_tasks.core.parsed import Parsed, Problem
from tls_tasks.core.terminal import visible
from tls_tasks.reports.types import Report, ReportRequest

T = TypeVar("T", Report, ReportRequest)

FORMS: Mapping[str, dict[str, str]] = json.loads(Path(__file__).with_name("forms.json").read_text(encoding="utf-8"))
"""The forms of rows that are known, of ``reports`` and ``requests``: whose form it is -> what a row looks like."""

_MOST_KEYS, _KEY_LENGTH = 12, 40
"""How much of a row that was not understood an error shows."""


class BadRow(NamedTuple):
    """Something in a file that could not be read as it stood.

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
        """As shown to users."""
        return f"{self.file}, line {self.line}: {self.message}"


Read = tuple[tuple[T, ...], tuple[BadRow, ...]]
"""What the rows of a file hold, and what was wrong with them."""


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON Lines, completely or not at all.

    Raises:
        OSError: The file can't be written.
    """
    # UTF-8 has no lone surrogates; written with a backslash they are JSON's own escapes.
    with atomic_file(path) as file, file.open("w", encoding="utf-8", errors="backslashreplace") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def with_keys(row: Any) -> str:
    """What an error says of an object that was not understood: the keys that were there.

    Example:
        >>> with_keys({"facts": [], "qid": 7}), with_keys({}), with_keys(7)
        ('with the keys facts, qid', 'with no keys', '')
    """
    if not isinstance(row, Mapping):
        return ""
    keys = [visible(str(key))[:_KEY_LENGTH] for key in islice(row, _MOST_KEYS)]
    more = f" and {len(row) - _MOST_KEYS} more" if len(row) > _MOST_KEYS else ""
    return f"with the keys {', '.join(keys)}{more}" if keys else "with no keys"


def read_rows(
    lines: Iterable[str], name: str, parse: Callable[[Any], Parsed[T]], key: Callable[[T], Any], forms: dict[str, str]
) -> Read[T]:
    """Read rows, one a line; a file of one object or one list over several lines is read as well.

    An object that only holds rows is read as those: ``banks`` (NuggetBanks), or ``artifacts`` with ``data``
    (castorini). A bad row is listed with file, line and field, and the other rows are read.

    Args:
        lines: The lines.
        name: The file's name, for messages.
        parse: A row -> what it holds.
        key: What must be unique to a row; the first of several counts, and one that is equal to it is passed over.
        forms: The forms that a row may have, and what tells each apart; for messages.

    Returns:
        What the rows hold, and what was wrong with them.
    """
    known = f"; known forms: {'; '.join(f'{shape} ({who})' for who, shape in forms.items())}"
    first: dict[Any, tuple[int, T]] = {}
    bad: list[BadRow] = []
    for line, row, error in _json_rows(list(lines)):
        parsed: Parsed[T] = Parsed(None, (Problem("no_json", error),)) if error else parse(row)
        if parsed.value is None or not parsed.value.request_id:
            details = parsed.problems[0].detail if parsed.value is None else "no request_id"
            if isinstance(row, Mapping):
                details += f", in an object {with_keys(row)}{known}"
                known = ""  # once a file
            bad.append(BadRow(name, line, details))
            continue
        bad += (BadRow(name, line, f"{noted.detail}: {noted.kind}", False) for noted in parsed.problems)
        unique = key(parsed.value)
        first_line, value = first.setdefault(unique, (line, parsed.value))
        if value != parsed.value:
            bad.append(BadRow(name, line, f"a second row for {unique!r}; the one of line {first_line} counts"))
    return tuple(value for _, value in first.values()), tuple(bad)


def _json_rows(lines: list[str]) -> list[tuple[int, Any, str]]:
    """Line number, value, and what was wrong."""
    whole, error = _load("\n".join(lines))
    values = [(1, value, "") for value in (whole if isinstance(whole, list) else [whole])]
    if error:
        values = [(n, *_load(line)) for n, line in enumerate(lines, start=1) if line.strip().strip("\ufeff")]
    return [(number, row, error) for number, value, error in values for row in _held(value)]


def _held(value: Any) -> list[Any]:
    """The rows in an object that only holds rows; otherwise the value itself."""
    if isinstance(value, Mapping) and isinstance(value.get("banks"), Mapping):
        return list(value["banks"].values())
    if isinstance(value, Mapping) and isinstance(value.get("artifacts"), list):
        found = (own.get("data", own.get("value")) for own in value["artifacts"] if isinstance(own, Mapping))
        return [row for data in found for row in (data if isinstance(data, list) else [data])]
    return [value]


def _load(text: str) -> tuple[Any, str]:
    try:
        return json.loads(text.lstrip("\ufeff")), ""
    except (ValueError, RecursionError) as error:
        return None, f"not JSON: {json_fault(error)}"
