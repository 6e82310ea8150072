"""What a score shows of itself: its results by name, one line, a data frame, an explanation."""

import importlib
import math
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.errors import InputError, nearest
from tls_tasks.core.parsed import without_notes

_PLACE = ("row", "reference", "topic", "request_id", "run_id")


class Shown:
    """The part of :class:`~tls_tasks.core.score.Score` that people look at; it has no data of its own."""

    def __getattr__(self, name: str) -> Any:
        """A result by its key."""
        known = self.__dict__.get("definitions", ())  # copy and pickle ask before there is any
        if name.startswith("_") or name not in known:
            near = nearest(name, [*known, *(own for own in dir(self) if not own.startswith("_"))])
            raise AttributeError(f"a score has no attribute or result {name!r}{near}")
        return self[name]

    def __getitem__(self, key: str) -> Any:
        """A result as :meth:`as_dict` gives it, without its items."""
        if key in self.definitions:
            return self._result(key)
        if key == "signature":
            return self.signature
        more = self.more(self)
        if key not in more:
            raise KeyError(f"no result {key!r}{nearest(key, [*self.definitions, *more])}")
        return more[key]

    def __repr__(self) -> str:
        """The headline numbers and the signature on one line; never the units."""
        signed = _one_line(self.signature)
        return f"<Score {_one_line(self.metric)}: {self._headline(self.results)}, n {len(self.units)}, {signed}>"

    def _headline(self, results: Mapping[str, float]) -> str:
        """F1 and scores of a whole, or whatever comes first."""
        keys = [key for key in results if "f1" in key.split("_") or key.endswith("_score")] or list(results)[:3]
        return ", ".join(f"{_one_line(key)} {_number(results[key], self.definitions[key].is_count)}" for key in keys)

    def to_pandas(self) -> Any:
        """A data frame with a row for each unit: which document it is of, and its own results.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from error
        rows = []
        for place, unit in enumerate(self.units):
            item = self.items[place] if self.items else None
            row = {key: value for key in _PLACE if (value := getattr(item, key, None)) is not None}
            for key, result in self.definitions.items():
                value = result.value([unit])
                row[key] = int(value) if result.is_count and not math.isnan(value) else value
            rows.append(row)
        return pandas.DataFrame(rows)

    def explain(self, row: int = 0) -> str:
        """What made the score of one document, as text to print.

        Args:
            row: The document's place among the predictions.

        Raises:
            InputError: There is no such row.
        """
        places = [place for place, item in enumerate(self.items) if item.row == row]
        if not places:
            last = max((item.row for item in self.items), default=-1)
            raise InputError("row", None, repr(row), f"a row from 0 to {last}" if last >= 0 else "a score of documents")
        lines: list[str] = []
        for place in places:
            item = self.items[place]
            reference = getattr(item, "reference", None)
            where = f"row {row}" if reference is None else f"row {row}, reference {reference}"
            numbers = {key: result.value([self.units[place]]) for key, result in self.definitions.items()}
            lines += [f"{_one_line(self.metric)}, {where}: {self._headline(numbers)}", *self.explanation(item)]
            if numbers.get("parse_failures"):
                lines.append("  nothing could be read in the answer")
            kinds = self.problems.get(row, {})
            if item_problems := kinds if numbers.get("parse_failures") else without_notes(kinds):
                lines.append("  problems in the answer: " + ", ".join(item_problems))
            lines.append("")
        return "\n".join(lines[:-1])


def _number(value: float | list[float], is_count: bool) -> str:
    if isinstance(value, list):
        return f"[{len(value)} values]"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if is_count else f"{value:.4f}"


def _one_line(text: str) -> str:
    """Text with nothing in it that breaks a line or that a terminal obeys."""
    return text if text.isprintable() else repr(text)
