"""How the commands print scores: tables, the layout of the timeline papers, and ``--json``, ``--detailed``."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tls_tasks.after.run import Run
from tls_tasks.cli.base import count, note, number, say, styled, write_json
from tls_tasks.core.intervals import Interval, caution
from tls_tasks.core.score import Score, values
from tls_tasks.core.terminal import text_table, visible

Intervals = Mapping[str, Interval]

_MEAN_F = (("AR-1", "ar1_mean_f"), ("AR-2", "ar2_mean_f"), ("Date-F1", "date_mean_f"))
_F_OF_MEANS = (("AR-1", "ar1_f1"), ("AR-2", "ar2_f1"), ("Date-F1", "date_f1"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the commands that score files of a family."""
    parser.add_argument("--confidence", type=float, metavar="P", help="show confidence intervals, e.g. 0.95")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--detailed", action="store_true", help="show what each document's score is made of")


@contextmanager
def warnings_as_notes(args: argparse.Namespace) -> Iterator[None]:
    """Print warnings as notes, each once, without Python's file and line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    note(args.command, *dict.fromkeys(str(warning.message) for warning in caught))


def intervals_of(args: argparse.Namespace, score: Score | Run) -> Intervals:
    """The intervals that ``--confidence`` asks for, with ``--resamples`` and ``--seed`` where a command has them."""
    options = {"n_resamples": getattr(args, "resamples", None), "seed": getattr(args, "seed", None)}
    given = {name: value for name, value in options.items() if value is not None}
    return {} if args.confidence is None else score.intervals(confidence=args.confidence, **given)


def with_intervals(result: dict[str, Any], intervals: Intervals) -> dict[str, Any]:
    """A result for JSON, with its intervals if there are any."""
    return {**result, "intervals": intervals, "interval_caution": caution(intervals)} if intervals else result


def print_score(
    args: argparse.Namespace,
    score: Score,
    names: Sequence[str],
    document: str,
    *,
    keys: Sequence[str] = (),
    headline: str = "",
    table: Iterable[str] | None = None,
    result: Mapping[str, Any] | None = None,
) -> None:
    """Print the score of files as ``--json``, ``--confidence`` and ``--detailed`` ask for it.

    Args:
        args: With the options of :func:`add_options`.
        score: Its items know their row.
        names: Of each row.
        document: What a document is called.
        keys: The results that ``--detailed`` shows of each document; none: no such table.
        headline: The result that comes first.
        table: The lines of the results, where they are not :func:`value_table`.
        result: What ``--json`` prints, where it is not :func:`as_json`.
    """
    if args.json:
        write_json(Path("-"), as_json(args, score, names) if result is None else result)
        return
    say("\n".join([value_table(score.results, intervals_of(args, score), headline)] if table is None else table))
    if args.detailed:
        if keys:
            say(f"\n{document_table(names, score, keys, document)}")
        rows = dict.fromkeys(item.row for item in score.items)
        say("\n".join(f"\n{visible(names[row])}\n{score.explain(row)}" for row in rows) + "\n")
    say(score.signature)


def value_table(results: Mapping[str, float], intervals: Intervals, headline: str = "") -> str:
    """Results below each other, with their intervals and what is to be said of these; the headline first, and bold.

    Example:
        >>> print(value_table({"precision": 0.5, "f1": 0.25}, {}, "f1"))
        f1         0.2500
        precision  0.5000
    """
    ends = {key: f"[{number(interval.low)}, {number(interval.high)}]" for key, interval in intervals.items()}
    keys = sorted(results, key=lambda key: key != headline)
    rows = [("", "", ""), *((key, number(results[key]), ends.get(key, "")) for key in keys)]
    _, first, *lines = text_table(rows).split("\n")
    cautions = [f"caution: {text}"] if intervals and (text := caution(intervals)) else []
    return "\n".join([styled(first) if headline else first, *lines, *cautions])


def document_table(names: Sequence[str], score: Score, keys: Sequence[str], what: str) -> str:
    """The results of each document (of each unit, where one has several references), a line each."""
    rows = [item.row for item in score.items]
    several = len(set(rows)) < len(rows)
    lines = [[what, *(["reference"] * several), *keys]]
    for item, unit in zip(score.items, score.units, strict=True):
        head = [names[item.row], *([str(item.reference)] if several else [])]
        lines.append([*head, *(number(score.definitions[key].value([unit])) for key in keys)])
    return text_table(lines)


def as_json(
    args: argparse.Namespace, score: Score, names: Sequence[str], documents: str = "documents", id_key: str = "id"
) -> dict[str, Any]:
    """The score as plain values, with the results of each document by its name."""
    result = with_intervals(score.as_dict(detailed=args.detailed), intervals_of(args, score))
    result[documents] = {name: values(score.definitions, [unit]) for name, unit in zip(names, score.units, strict=True)}
    for plain, item in zip(result.get("items", ()), score.items, strict=False):
        plain[id_key] = names[item.row]
    return result


def papers_layout(results: Mapping[str, float], topics: Mapping[Hashable, Mapping[str, float]]) -> Iterator[str]:
    """The layout that the scripts of timeline papers print, but with the mean over topics first."""
    yield from ("=== Evaluation Results ===", "", styled(f"=== AVERAGE ({count(len(topics), 'topic')}) ==="))
    yield from (*(styled(line) for line in _block(results, _MEAN_F)), "")
    yield "=== F1 OF THE MEAN PRECISION AND RECALL (as reported by news-tls and LLM-TLS) ==="
    yield from (*_block(results, _F_OF_MEANS), "")
    for topic, own in topics.items():
        yield from (f"Topic: {topic}", *_block(own, _MEAN_F), "")


def _block(results: Mapping[str, float], rows: Sequence[tuple[str, str]]) -> list[str]:
    return [f"  {name + ':':<9} {number(results[key])}" for name, key in rows if key in results]
