"""``tls-tasks score``: score logged answers again, or any log or rows with a metric."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import (
    Subparsers,
    add_command,
    count,
    no_formula,
    note,
    progress,
    progress_of_blocks,
    say,
    write_json,
)
from tls_tasks.cli.scored_files import value_table
from tls_tasks.cli.timelines import papers_layout
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.intervals import caution
from tls_tasks.core.terminal import visible
from tls_tasks.core.whole import replaced
from tls_tasks.registry import METRICS

if TYPE_CHECKING:
    from tls_tasks.after.run import Run
    from tls_tasks.after.scored_runs import ScoredTask
    from tls_tasks.core.intervals import Interval
    from tls_tasks.core.score import Score

    Intervals = Mapping[str, Interval]

_COLUMNS = (
    *("run", "model", "task", "version", "edition", "status", "fingerprint", "context_budget", "n_documents"),
    *("doc_id", "topic", "metric", "value"),
)
"""Columns of the CSV and Parquet tables; ``doc_id`` and ``topic`` are empty in the rows of the corpus."""

_NUMBERS = {"version", "n_documents", "value"}


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "score", _run)
    parser.add_argument("files", nargs="+", metavar="FILE", help="samples, results, or folders of them")
    parser.add_argument("--newest", action="store_true", help="use only the newest run of each task in a folder")
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--task", help="treat every samples file as one of this task")
    files.add_argument("--metric", help="score any log, or rows from another tool, with this metric")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="NAME=FIELD,…",
        help="what --metric takes as prediction, reference, topic, source: columns, or fields of a log",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of --metric, as JSON or text"
    )
    parser.add_argument(
        "-o",
        "--units",
        type=Path,
        metavar="FOLDER",
        help="stream one large samples file, and keep each document's units",
    )
    parser.add_argument(
        "--shard", type=_shard, metavar="I/N", help="with -o: only every N-th block; `merge` joins them"
    )
    parser.add_argument("--workers", type=_whole_number, metavar="N", help="with -o: processes (one a core)")
    parser.add_argument("--engine", choices=["local", "ray"], help="with -o: what scores; ray needs the extra `ray`")
    parser.add_argument("--address", metavar="ADDRESS", help="with --engine ray: of a cluster (one of its own)")
    add_output(parser)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a table, one row per document and metric")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="write the same table as Parquet")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is printed of runs."""
    parser.add_argument("--confidence", type=float, metavar="P", help="show confidence intervals, e.g. 0.95")
    parser.add_argument("--resamples", type=int, metavar="N", help="resamples of bootstrap intervals (1000)")
    parser.add_argument("--seed", type=int, help="random seed of the intervals (12345)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON; - for stdout")


def _run(args: argparse.Namespace) -> int:
    """Score logged answers again, or any log or rows with a metric.

    FILES are what lm_eval has logged (--log_samples, --predict_only). No model is needed, and an unchanged log
    gives the numbers that lm_eval printed. Broken lines, missing or repeated documents, and numbers that differ
    from the results file are reported on stderr.

    With --metric, the files are logs of any task and host, or rows from any other tool, one JSON object a line.
    Of a log, `answer` is compared with `target`, of rows `prediction` with `reference` (or `references`), and `topic`
    and `source` are used where the metric takes them; --map says otherwise. A FIELD is a path with dots: of a log
    answer, target, input, doc.FIELD (or FIELD alone), resps, filtered_resps, of rows a column; a number is a place in
    a list. A document that cannot be scored is an error.

    With -o, one samples file of any size is scored block by block on all cores. FOLDER keeps the units of each document
    (what the results are sums of) as Parquet; the same command goes on where it was stopped. --shard I/N scores a part
    of the blocks, so that N machines share the work: `tls-tasks merge` joins their folders. --engine ray scores on a
    cluster. FILE may then be Parquet with the rows of a samples file, or a URL of either that fsspec opens.

    In the table of --csv, text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a
    carriage return) begins with an apostrophe; the tables of --json and --parquet hold it as it is.

    Exit codes: 0 scored; 1 scored, but a log has problems (named on stderr); 2 not scored

    Examples:
      tls-tasks score out/                                  everything below a folder
      tls-tasks score out/m/samples_tls_crisis_2026-11-21T04-11-39.260879.jsonl --json -
      tls-tasks score out/ --newest --csv scores.csv --parquet scores.parquet
      tls-tasks score out/m/samples_summ_qmsum_2026-11-21T04-11-39.260879.jsonl -o units --shard 2/8
      tls-tasks score s3://logs/answers.jsonl --task summ_qmsum -o units --engine ray --address auto
      tls-tasks score answers.jsonl --metric rouge_l --option tokenizer=unicode
      tls-tasks score out/ --metric rouge_l --map reference=doc.summary
      tls-tasks score answers.jsonl --metric date_f1 --map prediction=output.text,reference=gold,topic=event
    """
    for name in ("shard", "workers", "engine", "address") if args.units is None else ():
        if getattr(args, name) is not None:
            raise InputError(f"--{name}", None, "no -o FOLDER", "a folder for the units")
    if args.address is not None and args.engine != "ray":
        raise InputError("--address", None, "it alone", "it with --engine ray")
    if args.metric is not None:
        if args.units is not None:
            raise InputError("-o", None, "--metric", "it with samples of our tasks only")
        return _run_metric(args)
    for name in ("option", "map"):
        if given := getattr(args, name):
            wanted = "--metric NAME, whose it is; what the harness has logged is scored as its task says"
            raise InputError(f"--{name}", None, repr(given[0]), wanted)
    return _run_logs(args) if args.units is None else _run_streamed(args)


# Runs


def _run_logs(args: argparse.Namespace) -> int:
    from tls_tasks.after.scored_runs import read_runs

    return print_runs(read_runs(args.files, task=args.task, newest=args.newest, progress=progress), args)


def print_runs(runs: Iterable[Run], args: argparse.Namespace) -> int:
    """Print runs as they come, and write the files that are asked for; the exit code."""
    scored = []
    n_problems = 0
    for run in runs:
        intervals = {} if args.confidence is None else run.intervals(**_drawn(args))
        scored.append((run, intervals))
        if str(args.json) != "-":
            say(_text(run, intervals))
        note(args.command, *run.problems)
        n_problems += len(run.problems)
    if args.json is not None:
        write_json(args.json, [_as_dict(run, intervals) for run, intervals in scored])
    csv, parquet = getattr(args, "csv", None), getattr(args, "parquet", None)  # not of merge
    if csv is not None or parquet is not None:
        _write_tables([run for run, _ in scored], csv, parquet)
    return int(n_problems > 0)


def _run_streamed(args: argparse.Namespace) -> int:
    from tls_tasks.after.logs import find_log
    from tls_tasks.after.streamed import engine_on, read_units, score_streamed
    from tls_tasks.hosts.task_files import task_file

    for name in ("csv", "parquet"):
        if getattr(args, name) is not None:
            raise InputError(f"--{name}", None, "it with -o", f"one of them: {args.units} holds each document's units")
    if len(args.files) != 1:
        raise InputError("-o", None, f"{len(args.files)} files", "one samples file of the harness")
    run, name, path = find_log(args.files[0], task=args.task)
    name = task_file(name).name
    engine = engine_on(args.address, args.workers) if args.engine == "ray" else None
    shard = args.shard or (1, 1)
    with progress_of_blocks(name) as begin:
        score_streamed(path, name, args.units, shard=shard, n_workers=args.workers, engine=engine, begin=begin)
    if shard != (1, 1):
        say(f"{args.units}: shard {shard[0]}/{shard[1]} of {Path(path).name}; `tls-tasks merge` joins all {shard[1]}")
        return 0
    return print_runs([read_units([args.units], run, run.read_results([name]))], args)


def _shard(text: str) -> tuple[int, int]:
    own, slash, n = text.partition("/")
    if not (slash and own.isdecimal() and n.isdecimal() and 1 <= int(own) <= int(n)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected I/N with I from 1 to N, such as 2/8")
    return int(own), int(n)


def _whole_number(text: str) -> int:
    if not (text.isdecimal() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1")
    return int(text)


def _text(run: Run, intervals: Intervals) -> str:
    scored = _scored(run)
    made = f"version {scored.version:g}, {visible(scored.data)}" if scored else visible(run.data)
    head = f"{visible(run.name)} ({made}), {count(len(run.score.units), 'document')}, {visible(run.model)}"
    values = run.metrics
    lines = [f"{head}: {visible(run.log.path.name)}", *([visible(str(scored.conditions))] if scored else ())]
    if run.family == "timelines":
        lines += papers_layout(values, run.score.by_topic())
    if values:
        lines.append(value_table(values, intervals))
    return "\n".join([*lines, *map(visible, run.signatures.values()), ""])


def _scored(run: Run) -> ScoredTask | None:
    """The run, if it is of a task of ours that was scored again: only then does it say what it was made of."""
    from tls_tasks.after.scored_runs import ScoredTask

    return run if isinstance(run, ScoredTask) else None


def _as_dict(run: Run, intervals: Intervals) -> dict[str, Any]:
    result = {
        "task": run.name,
        **_made_of(run),
        "model": run.model,
        "samples": str(run.log.path),
        "n_documents": len(run.score.units),
        "metrics": run.metrics,
        "intervals": intervals,
        "interval_caution": caution(intervals) if intervals else "",
        "signatures": run.signatures,
        "problems": list(map(str, run.problems)),
    }
    if len(set(run.topics)) < len(run.score.units):
        result["topics"] = run.score.by_topic()
    return result


def _made_of(run: Run) -> dict[str, Any]:
    """What a task of ours was made of; of others' tasks this is not known."""
    if (scored := _scored(run)) is None:
        return {"version": None, "edition": "", "status": "", "fingerprint": "", "context_budget": ""}
    return {
        "version": scored.version,
        "edition": scored.edition,
        "status": scored.status,
        "fingerprint": scored.conditions.fingerprint,
        "context_budget": scored.conditions.budget,
    }


def _write_tables(scored: Sequence[Run], csv: Path | None, parquet: Path | None) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    columns = list(zip(*(row for task in scored for row in _rows(task)), strict=True)) or [()] * len(_COLUMNS)
    cells = pa.table(
        {
            name: pa.array(column, pa.float64()) if name in _NUMBERS else pa.array(map(_encodable, column))
            for name, column in zip(_COLUMNS, columns, strict=True)
        }
    )
    if csv is not None:
        safe = [pa.array(map(no_formula, cell.to_pylist())) if cell.type == pa.string() else cell for cell in cells]
        with replaced(csv) as file:
            pyarrow.csv.write_csv(pa.table(safe, cells.column_names), file)
    if parquet is not None:
        with replaced(parquet) as file:
            pyarrow.parquet.write_table(cells, file)


def _encodable(text: object) -> str:
    """Half a surrogate pair, which a name in a log may contain, as its escape: Arrow refuses it."""
    return str(text).encode("utf-8", "backslashreplace").decode()


def _rows(scored: Run) -> Iterator[tuple[Any, ...]]:
    """The corpus first, then each document by itself."""
    head = (scored.log.path, scored.model, scored.name, *_made_of(scored).values(), len(scored.ids))
    for key, value in scored.metrics.items():
        yield (*head, "", "", key, value)
    for place, (doc_id, topic) in enumerate(zip(scored.ids, scored.topics, strict=True)):
        for key, value in scored.of_document(place).items():
            yield (*head, doc_id, topic, key, value)


# Any metric over logs and rows


def _run_metric(args: argparse.Namespace) -> int:
    from tls_tasks.after.mapped_rows import logs_and_rows, score_logs, score_rows

    if args.metric not in METRICS:
        raise OptionError.unknown("--metric", args.metric, METRICS)
    runs, rows = logs_and_rows([*map(Path, args.files)], args.newest)
    options = _pairs("--option", map(_option, args.option))
    fields = _pairs("--map", (_pair("--map", part) for text in args.map for part in re.split(r",(?=\w+=)", text)))
    if runs:
        return print_runs(score_logs(runs, args.metric, fields, options), args)
    for name in ("csv", "parquet"):
        if getattr(args, name) is not None:
            raise InputError(f"--{name}", None, "--metric", "it with samples or other logs; of rows use --json")
    score = score_rows(args.metric, rows, fields, options)
    _show_rows(args, score, len(rows))
    return 0


def _show_rows(args: argparse.Namespace, score: Score, n_rows: int) -> None:
    from tls_tasks.core.intervals import Interval

    result = score.as_dict()
    intervals = {} if args.confidence is None else score.intervals(**_drawn(args))
    if intervals:
        result |= {"intervals": intervals, "interval_caution": caution(intervals)}
    if str(args.json) != "-":
        say(f"{args.metric}: {count(n_rows, 'row')}")
        values = {key: value for key, value in result.items() if isinstance(value, float)}
        if values:
            asked = {key: Interval(*result[f"{key}_ci"]) for key in values if f"{key}_ci" in result}
            say(value_table(values, {**asked, **{key: found for key, found in intervals.items() if key in values}}))
        else:
            note("score", "no means, but a value for each row: --json FILE writes them")
        say(result["signature"])
    if args.json is not None:
        write_json(args.json, result)


def _drawn(args: argparse.Namespace) -> dict[str, Any]:
    """How intervals are asked for."""
    drawn = {"confidence": args.confidence, "n_resamples": args.resamples, "seed": args.seed}
    return {name: value for name, value in drawn.items() if value is not None}


def _pairs(option: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(option, None, f"{name!r} twice", f"each {option.removeprefix('--')} once")
        found[name] = value
    return found


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(option, None, repr(text), "NAME=VALUE")
    return name, value


def _option(text: str) -> tuple[str, Any]:
    name, value = _pair("--option", text)
    try:
        return name, json.loads({"True": "true", "False": "false"}.get(value, value))
    except ValueError:
        return name, value
