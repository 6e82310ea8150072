"""``tls-tasks score``: score logged answers again; ``page``: show runs."""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.after.logs import RunFiles, find_runs
from tls_tasks.after.page import page
from tls_tasks.after.run import Run
from tls_tasks.after.scored_runs import ScoredTask, read_runs
from tls_tasks.after.streamed import in_processes, on_ray, score_streamed
from tls_tasks.cli.base import Subparsers, add_command, count, note, progress, say, write_json
from tls_tasks.cli.printed import Intervals, add_outputs, gate, intervals_of, older_runs, value_table, write_csv
from tls_tasks.core.atomic import atomic_write_text
from tls_tasks.core.errors import InputError, OptionError, check_whole_number
from tls_tasks.core.intervals import caution
from tls_tasks.core.terminal import visible
from tls_tasks.hosts.discovery import task_files

_LARGE = 200 << 20  # bytes of a samples file that is scored block by block, whatever is asked


def add_parser(subparsers: Subparsers) -> None:
    """Add both commands."""
    parser = add_command(subparsers, "score", _run_score)
    add = parser.add_argument
    add("files", nargs="+", metavar="[NAME=]RUN", help="samples, results, or folders of them; NAME to call it by")
    add("--newest", action="store_true", help="use only the newest run of each model and task in a folder")
    add("--task", help="treat every samples file as one of this task")
    add("--confidence", type=float, metavar="P", help="show confidence intervals, e.g. 0.95")
    add("--json", type=Path, metavar="FILE", help="write all results as JSON; - for stdout")
    add_outputs(add)
    add = parser.add_argument_group("large files").add_argument
    add("-o", "--units", type=Path, metavar="FOLDER", help="stream samples files, and keep each document's units")
    add("--workers", type=int, metavar="N", help="with -o: processes (one a core)")
    add("--ray", metavar="ADDRESS", help="with -o: score on the Ray cluster there (auto, local, HOST:PORT)")
    add = add_command(subparsers, "page", _run_page).add_argument
    add("files", nargs="+", metavar="[NAME=]RUN", help="samples, results, or folders of them; NAME to call it by")
    add("-o", "--out", type=Path, required=True, metavar="FILE", help="the page to write")
    add("--task", action="append", metavar="NAME", help="only this task (may be repeated)")


def _run_score(args: argparse.Namespace) -> int:
    """Score logged answers again.

    RUN is what lm_eval has logged (--log_samples, --predict_only). No model is needed, and an unchanged log
    gives the numbers that lm_eval printed. Broken lines, missing or repeated documents, and numbers that differ
    from the results file are reported on stderr.

    With -o, and where one has more than 200 MB, samples files are scored block by block on all cores. FOLDER keeps the
    units of each document (what the results are sums of) as Parquet, those of each of several files in a folder of its
    name; the same command goes on where it was stopped. --ray scores on many machines.

    In the table of --csv, text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a
    carriage return) begins with an apostrophe; --json holds it as it is.

    Exit codes: 0 scored; 1 scored, but a log has problems (named on stderr); 2 not scored; 3 scored, and a result is
    too low (--fail-if-below)

    Examples:
      tls-tasks score out/                                  everything below a folder
      tls-tasks score out/m/samples_tls_crisis_2026-11-21T04-11-39.260879.jsonl --json -
      tls-tasks score out/ --newest --csv scores.csv
      tls-tasks score out/ -o units --workers 8
      tls-tasks score answers.jsonl --task summ_qmsum -o units --ray auto
    """
    for name in ("workers", "ray"):
        if getattr(args, name) is not None and args.units is None:
            raise InputError(f"--{name}", None, "it without -o", "both")
    found = find_runs(args.files, task=args.task, newest=args.newest)
    if args.units is not None:
        return _score_streamed(args, found)
    if any(path.stat().st_size > _LARGE for _, name, path in _ours(found, args.task)):
        with tempfile.TemporaryDirectory() as scratch:
            args.units = Path(scratch)
            return _score_streamed(args, found)
    return _print_runs(read_runs(args.files, task=args.task, newest=args.newest, progress=progress), args)


# Runs


def _print_runs(runs: Iterable[Run], args: argparse.Namespace) -> int:
    """Print runs as they come, and write the files that are asked for; the exit code."""
    scored, dicts = [], []
    for run in runs:
        intervals = intervals_of(args, run)
        scored.append(run)
        dicts.append(_as_dict(run, intervals))
        if str(args.json) != "-":
            say(_text(run, intervals))
        note(args.command, *run.problems)
    if args.json is not None and scored:
        write_json(args.json, dicts)
    if args.csv is not None:
        write_csv(args.csv, [row for run in scored for row in _rows(run)])
    return gate(args, [run.metrics for run in scored]) or int(any(run.problems for run in scored))


def _ours(found: Iterable[RunFiles], task: str | None) -> list[tuple[RunFiles, str, Path]]:
    """Return the samples files of our tasks, each with its run and task."""
    logs = ((run, task or name, path) for run in found if run.host == "lm_eval" for name, path in run.samples.items())
    return [log for log in logs if log[1] in task_files()]


def _score_streamed(args: argparse.Namespace, found: Sequence[RunFiles]) -> int:
    """Score logs in blocks: one into the folder of units, each of several into a folder in it."""
    if args.workers is not None:
        check_whole_number("--workers", args.workers)
    ours, all_logs = _ours(found, args.task), [log for run in found for log in run.samples.items()]
    if not ours:
        raise OptionError.unknown("--task", ", ".join(name for name, _ in all_logs) or "no samples", task_files())
    engine = on_ray(args.ray, args.workers) if args.ray is not None else in_processes(args.workers)
    folders = [args.units / run.folder.name / path.stem if len(ours) > 1 else args.units for run, _, path in ours]
    runs = (
        score_streamed(path, name, folder, run, engine=engine, progress=progress)
        for folder, (run, name, path) in zip(folders, ours, strict=True)
    )
    code = _print_runs(runs, args)
    scored = {path for _, _, path in ours}
    others = [f"{path} left out: {name} is no task of ours" for name, path in all_logs if path not in scored]
    return note("score", *others) or code


def _text(run: Run, intervals: Intervals) -> str:
    made, conditions = visible(run.data), []
    if isinstance(run, ScoredTask):
        made, conditions = f"version {run.version:g}, {made}", [visible(str(run.conditions))]
    head = f"{visible(run.name)} ({made}), {count(len(run.score.units), 'document')}, {visible(run.model)}"
    lines = [f"{head}: {visible(run.log.path.name)}", *conditions]
    if run.metrics:
        lines.append(value_table(run.metrics, intervals, run.headline))
    return "\n".join([*lines, *map(visible, run.signatures.values()), ""])


def _as_dict(run: Run, intervals: Intervals) -> dict[str, Any]:
    result = {**_made_of(run), "samples": str(run.log.path), "n_documents": len(run.score.units)}
    result |= {"metrics": run.metrics, "intervals": intervals}
    result |= {"interval_caution": caution(intervals) if intervals else "", "signatures": run.signatures}
    result["problems"] = list(map(str, run.problems))
    if len(set(run.topics)) < len(run.score.units):
        result["topics"] = run.score.topic_results()
    return result


def _made_of(run: Run) -> dict[str, Any]:
    """What a task of ours was made of; of others' tasks this is not known."""
    named = {"model": run.model, "task": run.name}
    if not isinstance(run, ScoredTask):
        return {**named, "version": None, "edition": "", "status": "", "fingerprint": "", "context_budget": ""}
    conditions = {"fingerprint": run.conditions.fingerprint, "context_budget": run.conditions.budget}
    return {**named, "version": run.version, "edition": run.edition, "status": run.status, **conditions}


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    """The corpus first, with an empty ``doc_id`` and ``topic``, then each document by itself."""
    head = {"run": str(run.log.path), **_made_of(run), "n_documents": len(run.ids)}
    documents = zip(run.ids, run.topics, map(run.of_document, range(len(run.ids))), strict=True)
    for doc_id, topic, metrics in [("", "", run.metrics), *documents]:
        for key, value in metrics.items():
            yield {**head, "doc_id": doc_id, "topic": topic, "metric": key, "value": value}


# Pages


def _run_page(args: argparse.Namespace) -> int:
    """Write one HTML page that shows the scores of runs and explains each document's score.

    The page shows the runs with confidence intervals and, for each document, a view that explains its score. It is one
    file that needs no network and can be sent by mail. RUN is what lm_eval --output_path OUT --log_samples wrote; of a
    folder the newest run of each model in each folder counts.

    Where topics or documents have several references, a row "people against people" has the mean of what each
    scores against the others: above that a metric can't tell a system from a person.

    Exit codes: 0 written; 1 written, but a log has problems; 2 not written

    Examples:
      tls-tasks page out/ -o page.html
      tls-tasks page out/base out/better --task tls_crisis -o crisis.html
    """
    paths = [read_runs([path], only=args.task, newest=True, progress=progress) for path in args.files]
    scored = [run for runs in paths for run in runs]
    note(args.command, *older_runs(args.files, [run.log.path for run in scored], args.task))
    atomic_write_text(args.out, page(scored, progress=progress))
    n_tasks, n_documents = len({task.name for task in scored}), sum(len(task.ids) for task in scored)
    say(f"{args.out}: {count(len(scored), 'run')} of {count(n_tasks, 'task')}, {count(n_documents, 'document')}")
    return note(args.command, *(problem for task in scored for problem in task.problems))
