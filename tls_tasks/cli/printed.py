"""How the commands print scores: tables, the layout of the timeline papers, and ``--json``, ``--detailed``."""

import argparse
import csv
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tls_tasks.after.logs import find_runs
from tls_tasks.after.run import Run
from tls_tasks.cli.base import count, no_formula, note, number, say, write_json
from tls_tasks.core.atomic import atomic_file
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.intervals import Interval, caution
from tls_tasks.core.score import Score, values
from tls_tasks.core.terminal import text_table, visible

Intervals = Mapping[str, Interval]

_PAPERS = {"AR-1": "ar1", "AR-2": "ar2", "Date-F1": "date"}


def intervals_of(args: argparse.Namespace, score: Score | Run) -> Intervals:
    """The intervals that ``--confidence`` asks for."""
    return {} if args.confidence is None else score.intervals(confidence=args.confidence)


def add_outputs(add: Callable[..., Any]) -> None:
    """Add the options that every scoring command has."""
    add("--csv", type=Path, metavar="FILE", help="write a table, one row per document and metric")
    low = "exit with 3 if a result is below VALUE, or undefined (repeatable)"
    add("--fail-if-below", action="append", default=[], metavar="METRIC:VALUE", help=low)


def gate(args: argparse.Namespace, results: Sequence[Mapping[str, float]]) -> int:
    """3 if a result is below what ``--fail-if-below`` asks for, which notes say; else 0.

    Raises:
        InputError: What is no metric with a number; OptionError if no result is called so.
    """
    notes = []
    for text in args.fail_if_below:
        key, bound = metric_and_number(text)
        if bound is None:
            raise InputError("--fail-if-below", None, repr(text), "METRIC:VALUE, such as rouge_l_f1:0.3")
        values = [own[key] for own in results if key in own]
        if not values:
            raise OptionError.unknown("--fail-if-below", key, [*dict.fromkeys(key for own in results for key in own)])
        notes += [f"{key} is {number(value)}, below {bound:g}" for value in values if not value >= bound]
    return 3 * note(args.command, *notes)


def metric_and_number(text: str) -> tuple[str, float | None]:
    """The parts of METRIC:NUMBER; a metric may have a colon in its name, and None is no number.

    Example:
        >>> metric_and_number("f1:0.5"), metric_and_number("tls:f1")
        (('f1', 0.5), ('tls:f1', None))
    """
    metric, _, number_text = text.rpartition(":")
    with suppress(ValueError):
        return (metric, float(number_text)) if metric else (text, None)
    return text, None


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table; text that a spreadsheet would take for a formula begins with an apostrophe."""
    # half a surrogate pair, which a name in a log may contain, as its escape
    with atomic_file(path) as made, made.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(rows[0] if rows else ())
        writer.writerows([no_formula(cell) if isinstance(cell, str) else cell for cell in row.values()] for row in rows)


def score_rows(score: Score, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of ``--csv``: the corpus first, with an empty ``doc_id``, then each document (and reference)."""
    units = [("", "", score.results)]
    for item, unit in zip(score.items, score.units, strict=True):
        reference = getattr(item, "reference", None)
        units.append((names[item.row], "" if reference is None else reference, values(score.definitions, [unit])))
    for doc_id, reference, results in units:
        for key, value in results.items():
            yield {"doc_id": doc_id, "reference": reference, "metric": key, "value": value}


def older_runs(places: Sequence[str], taken: Sequence[Path], tasks: Sequence[str] | None) -> Iterator[str]:
    """What to say of a folder with several runs of a model, of which the newest count."""
    for place in places:
        logs = [path for run in find_runs([place]) for name, path in run.samples.items() if not tasks or name in tasks]
        if n_older := len(set(logs) - set(taken)):
            yield f"{place}: the newest run of each model and task counts; older logs: {n_older}"


def print_score(
    args: argparse.Namespace,
    score: Score,
    names: Sequence[str],
    document: str,
    *,
    keys: Sequence[str] = (),
    headline: str = "",
    table: Iterable[str] = (),
    result: Mapping[str, Any] | None = None,
) -> int:
    """Print the score of files as ``--json``, ``--confidence`` and ``--detailed`` ask for it.

    Args:
        args: With the options of :mod:`tls_tasks.cli.files`.
        score: Its items know their row.
        names: Of each row.
        document: What a document is called.
        keys: The results that ``--detailed`` shows of each document; none: no such table.
        headline: The result that comes first.
        table: The lines of the results, where they are not :func:`value_table`.
        result: What ``--json`` prints, where it is not :func:`as_json`.

    Returns:
        The exit code, see :func:`gate`.
    """
    if "scores" in args:  # of `compare`, which prints what it makes of several
        args.scores.append((score, names, headline))
        return 0
    if args.csv is not None:
        write_csv(args.csv, [*score_rows(score, names)])
    intervals = intervals_of(args, score)
    if args.json:
        more = {"intervals": intervals, "interval_caution": caution(intervals)} if intervals else {}
        write_json(Path("-"), {**(as_json(args, score, names) if result is None else result), **more})
        return gate(args, [score.results])
    lines = list(table)
    if intervals or not lines:
        shown = {key: score.results[key] for key in (intervals if lines else score.results)}
        lines.append(value_table(shown, intervals, headline))
    say("\n".join(lines))
    if args.detailed:
        if keys:
            say(f"\n{_document_table(names, score, keys, document)}")
        rows = dict.fromkeys(item.row for item in score.items)
        say("\n".join(f"\n{visible(names[row])}\n{score.explain(row)}" for row in rows) + "\n")
    say(score.signature)
    return gate(args, [score.results])


def value_table(results: Mapping[str, float], intervals: Intervals, headline: str = "") -> str:
    """Results below each other, with their intervals and what is to be said of these; the headline first.

    Example:
        >>> print(value_table({"precision": 0.5, "f1": 0.25}, {}, "f1"))
        f1         0.2500
        precision  0.5000
    """
    ends = {key: f"[{number(low)}, {number(high)}]" for key, (low, high) in intervals.items()}
    keys = sorted(results, key=lambda key: key != headline)
    rows = [("", "", ""), *((key, number(results[key]), ends.get(key, "")) for key in keys)]
    _, table = text_table(rows).split("\n", 1)
    cautions = [f"caution: {text}"] if intervals and (text := caution(intervals)) else []
    return "\n".join([table, *cautions])


def columns_table(columns: Mapping[str, Mapping[str, Any]], head: str = "") -> str:
    """Values by name below each other, in columns; empty where a column has none, ``-`` where it is undefined.

    Example:
        >>> print(columns_table({"a": {"n": 3, "mean": 0.5, "ci": (0.25, 0.75)}, "b": {"n": 4}}, "of"))
        of    a                 b
        n     3                 4
        mean  0.5000
        ci    [0.2500, 0.7500]
    """
    names = dict.fromkeys(name for column in columns.values() for name, value in column.items() if value != "")
    rows = ((name, *(_cell(column.get(name, "")) for column in columns.values())) for name in names)
    return text_table([(head, *columns), *rows])


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(number, value))}]"
    return "-" if value is None else number(value) if isinstance(value, float) else str(value)


def _document_table(names: Sequence[str], score: Score, keys: Sequence[str], what: str) -> str:
    """The results of each document (of each unit, where one has several references), a line each."""
    rows = [item.row for item in score.items]
    several = len(set(rows)) < len(rows)
    lines = [[what, *["reference"] * several, *keys]]
    for item, unit in zip(score.items, score.units, strict=True):
        results = (number(score.definitions[key].value([unit])) for key in keys)
        lines.append([names[item.row], *([str(item.reference)] if several else []), *results])
    return text_table(lines)


def as_json(args: argparse.Namespace, score: Score, names: Sequence[str]) -> dict[str, Any]:
    """The score as plain values, with the results of each document by its name."""
    result = score.as_dict(detailed=args.detailed)
    result["documents"] = {
        name: values(score.definitions, [unit]) for name, unit in zip(names, score.units, strict=True)
    }
    for plain, item in zip(result.get("items", ()), score.items, strict=False):
        plain["id"] = names[item.row]
    return result


def papers_layout(results: Mapping[str, float], topics: Mapping[Hashable, Mapping[str, float]]) -> Iterator[str]:
    """The layout that the scripts of timeline papers print, but with the mean over topics first."""
    yield from ("=== Evaluation Results ===", "", (f"=== AVERAGE ({count(len(topics), 'topic')}) ==="))
    yield from (*_block(results, "mean_f"), "")
    yield "=== F1 OF THE MEAN PRECISION AND RECALL (as reported by news-tls and LLM-TLS) ==="
    yield from (*_block(results, "f1"), "")
    for topic, of_topic in topics.items():
        yield from (f"Topic: {topic}", *_block(of_topic, "mean_f"), "")


def _block(results: Mapping[str, float], mean: str) -> list[str]:
    return [f"  {name + ':':<9} {number(results.get(f'{key}_{mean}', math.nan))}" for name, key in _PAPERS.items()]
