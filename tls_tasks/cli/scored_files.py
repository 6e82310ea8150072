"""What the commands over the field's own files share: arguments, tables of scores, JSON, and what is said on stderr."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import note, number, styled
from tls_tasks.core.intervals import caution
from tls_tasks.core.terminal import visible
from tls_tasks.core.text_table import text_table

if TYPE_CHECKING:
    from tls_tasks.core.intervals import Interval
    from tls_tasks.core.score import Score

    Intervals = Mapping[str, Interval]


def add_files(parser: argparse.ArgumentParser, gold: str, predictions: str) -> None:
    """Add GOLD, PREDICTIONS, and the options that all of these commands have."""
    parser.add_argument("gold", type=Path, metavar="GOLD", help=gold)
    parser.add_argument("predictions", type=Path, metavar="PREDICTIONS", help=predictions)
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options alone."""
    parser.add_argument("--confidence", type=float, metavar="P", help="show confidence intervals, e.g. 0.95")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--detailed", action="store_true", help="show what each document's score is made of")


@contextmanager
def warnings_as_notes(command: str) -> Iterator[None]:
    """Print what a metric warns of as notes, each once, without Python's file and line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    note(command, *dict.fromkeys(str(warning.message) for warning in caught))


def intervals_of(args: argparse.Namespace, score: Score) -> Intervals:
    """The intervals that ``--confidence`` asks for."""
    return {} if args.confidence is None else score.intervals(confidence=args.confidence)


def value_table(values: Mapping[str, float], intervals: Intervals, headline: str = "") -> str:
    """Results below each other, with their intervals and what is to be said of these; the headline first, and bold.

    Example:
        >>> print(value_table({"precision": 0.5, "f1": 0.25}, {}, "f1"))
        f1         0.2500
        precision  0.5000
    """
    shown = {key: f"[{number(interval.low)}, {number(interval.high)}]" for key, interval in intervals.items()}
    keys = sorted(values, key=lambda key: key != headline)
    lines = text_table([("", "", ""), *((key, number(values[key]), shown.get(key, "")) for key in keys)]).split("\n")[
        1:
    ]
    said = [f"caution: {text}"] if intervals and (text := caution(intervals)) else []
    return "\n".join([styled(lines[0]) if headline else lines[0], *lines[1:], *said])


def document_table(names: Sequence[str], score: Score, keys: Sequence[str], what: str = "document") -> str:
    """The results of each document (of each unit, where one has several references), a line each."""
    rows = [item.row for item in score.items]
    several = len(set(rows)) < len(rows)
    lines = [[what, *(["reference"] * several), *keys]]
    for item, unit in zip(score.items, score.units, strict=True):
        place = [names[item.row], *([str(item.reference)] if several else [])]
        lines.append([*place, *(number(score.definitions[key].value([unit])) for key in keys)])
    return text_table(lines)


def explained(score: Score, names: Sequence[str]) -> str:
    """What each document's score is made of, below its name."""
    rows = dict.fromkeys(item.row for item in score.items)
    return "\n".join(f"\n{visible(names[row])}\n{score.explain(row)}" for row in rows)


def as_json(
    score: Score,
    names: Sequence[str],
    intervals: Intervals,
    detailed: bool,
    what: str = "documents",
    id_key: str = "id",
) -> dict[str, Any]:
    """The score as plain values, with the results of each document by id."""
    from tls_tasks.core.score import values

    result = score.as_dict(detailed=detailed)
    if intervals:
        result |= {"intervals": intervals, "interval_caution": caution(intervals)}
    result[what] = {name: values(score.definitions, [unit]) for name, unit in zip(names, score.units, strict=True)}
    for item, own in zip(result.get("items", ()), score.items, strict=False):
        item[id_key] = names[own.row]
    return result
