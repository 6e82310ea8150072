"""Display of scores: results by name, one line of text, an explanation."""

import math
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.errors import InputError, nearest
from tls_tasks.core.parsed import without_notes


class ScoreDisplay:
    """The base of :class:`~tls_tasks.core.score.Score` that displays it; it has no data."""

    def __getattr__(self, name: str) -> Any:
        """Return a result by its key."""
        keys = self.__dict__.get("definitions", ())  # missing while copy and pickle build a score
        if name.startswith("_") or name not in keys:
            near = nearest(name, [*keys, *(attribute for attribute in dir(self) if not attribute.startswith("_"))])
            raise AttributeError(f"a score has no attribute or result {name!r}{near}")
        return self[name]

    def __getitem__(self, key: str) -> Any:
        """Return a result as :meth:`as_dict` gives it, without its items."""
        if key in self.definitions:
            return self._result(key)
        if key == "signature":
            return self.signature
        more = self.more(self)
        if key not in more:
            raise KeyError(f"no result {key!r}{nearest(key, [*self.definitions, *more])}")
        return more[key]

    def __repr__(self) -> str:
        """Return the headline numbers and the signature on one line; never the units."""
        signed = _one_line(self.signature)
        return f"<Score {_one_line(self.metric)}: {self._headline(self.results)}, n {len(self.units)}, {signed}>"

    def _headline(self, results: Mapping[str, float]) -> str:
        """Return F1 and ``_score`` results, or the first three, as text."""
        keys = [key for key in results if "f1" in key.split("_") or key.endswith("_score")] or list(results)[:3]
        return ", ".join(f"{_one_line(key)} {_number(results[key], self.definitions[key].is_count)}" for key in keys)

    def explain(self, row: int = 0) -> str:
        """Return the details that explain the score of one document, as text to print.

        Args:
            row: The document's index among the predictions.

        Raises:
            InputError: There is no such row.
        """
        indices = [index for index, item in enumerate(self.items) if item.row == row]
        if not indices:
            last = max((item.row for item in self.items), default=-1)
            raise InputError("row", None, repr(row), f"a row from 0 to {last}" if last >= 0 else "a score of documents")
        lines: list[str] = []
        for index in indices:
            item = self.items[index]
            reference = getattr(item, "reference", None)
            heading = f"row {row}" if reference is None else f"row {row}, reference {reference}"
            results = {key: result.value([self.units[index]]) for key, result in self.definitions.items()}
            lines += [f"{_one_line(self.metric)}, {heading}: {self._headline(results)}", *self.explanation(item)]
            if results.get("parse_failures"):
                lines.append("  nothing could be read in the answer")
            kinds = self.problems.get(row, {})
            if item_problems := kinds if results.get("parse_failures") else without_notes(kinds):
                lines.append("  problems in the answer: " + ", ".join(item_problems))
            lines.append("")
        return "\n".join(lines[:-1])


def _number(value: float | list[float], is_count: bool) -> str:
    """Return a value as text: NaN, a whole number, four decimals, or the number of values of a list."""
    if isinstance(value, list):
        return f"[{len(value)} values]"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if is_count else f"{value:.4f}"


def _one_line(text: str) -> str:
    """Return text in which nothing breaks a line or is obeyed by a terminal."""
    return text if text.isprintable() else repr(text)
