"""``tls-tasks compare``: is one system better than another on the same documents?"""

import argparse
import dataclasses
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.after.comparisons import System, TaskComparison, compare_systems, read_systems
from tls_tasks.after.logs import RunFiles, SampleLog, labelled
from tls_tasks.after.planning import plan
from tls_tasks.after.run import Run
from tls_tasks.cli import files
from tls_tasks.cli.base import Subparsers, add_command, count, note, number, progress, say, write_json
from tls_tasks.cli.printed import metric_and_number, older_runs
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.options import LEAST_BOOTSTRAP
from tls_tasks.core.significance import Settings
from tls_tasks.core.terminal import text_table, visible
from tls_tasks.data.files import filled_text
from tls_tasks.registry import METRICS

_PLAN = "A true difference of that size is found at .05 by four of five paired tests on so many"
_PLAN_OF_ONE = f"{_PLAN}, if the other run has nothing in common with this one; plan with two runs, which need fewer"


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    add = add_command(subparsers, "compare", _run).add_argument
    add("systems", nargs="+", metavar="[NAME=]RUN", help="a log or a folder of logs, or a file of predictions")
    add("--references", type=Path, metavar="FILE", help="score predictions by these, with --as")
    how = "timelines, summaries, evidence or trees, with its options if need be: 'summaries --stem'"
    add("--as", dest="scored_as", metavar="COMMAND", help=f"how predictions are scored: {how}")
    add("--task", action="append", metavar="NAME", help="only this task (repeatable)")
    add("--metric", action="append", metavar="KEY", help="only this metric (repeatable)")
    plan = "instead, tell how many documents, topics or repeats would show a difference of D (also of one RUN)"
    add("--plan", type=float, metavar="D", help=plan)
    add("--permutations", type=int, default=10_000, metavar="N", help="random exchanges (10000)")
    add("--confidence", type=float, default=0.95, metavar="P", help="of the intervals (0.95)")
    worse = "exit with 3 if a later run is worse than the first by more than MARGIN (0), its whole interval"
    add("--fail-if-worse", action="append", default=[], metavar="METRIC[:MARGIN]", help=worse)
    add("--json", type=Path, metavar="FILE", help="write all results as JSON; - for stdout")


def _run(args: argparse.Namespace) -> int:
    """Test whether one system is better than another on the same documents.

    RUN is a log of any task of lm_eval (--log_samples), a log of Inspect, or JSONL with `id` and a column a metric. Of
    a folder the newest run of each model counts. With --references it is what COMMAND takes as --predictions. Our
    tasks are scored again. Of others' metrics the logged values count, if their mean is the
    reported number; any other (BLEU, F1, perplexity) is compared as "NAME (mean of documents)", each scored alone.

    Compares the first run with each of the others, on the metrics as they are reported. Gives p-values of a paired
    approximate randomisation test (exact for up to 14 units), confidence intervals of the differences, Holm's
    correction where there are more than two systems, and of our metrics how large a difference means something to
    people. Documents on the same topic are not independent, so they are exchanged and resampled together. `detectable`
    is about the true difference that four of five such tests would find.

    Exit codes: 0 compared; 1 compared, but a log has problems; 2 not compared, e.g. because the documents differ;
    3 compared, and a run is worse (--fail-if-worse)

    Examples:
      tls-tasks compare out/base out/better
      tls-tasks compare out/base --plan .01
      tls-tasks compare out/a out/b out/c --metric ar1_f1 --metric date_f1 --json comparison.json
      tls-tasks compare a.txt b.txt --references gold.txt --as summaries
      tls-tasks compare old=out/base new=out/new --task gsm8k --fail-if-worse exact_match,strict-match:0.01
    """
    gates = dict(map(_gate, args.fail_if_worse))
    settings = Settings(args.permutations, confidence=args.confidence)
    if args.references is None:
        read = (read_systems(path, tasks=args.task, progress=progress) for path in args.systems)
    else:
        read = (_scored(path, args.references, shlex.split(args.scored_as or "")) for path in args.systems)
    systems = [system for read_path in read for system in read_path]
    if args.plan is not None:
        return _print_plan(args, systems)
    comparisons = compare_systems(systems, args.metric or (), settings)
    problems = [problem for system in systems for task in system.tasks.values() for problem in task.problems]
    verdicts = list(_verdicts(comparisons, gates))
    logs = [run.log.path for system in systems for run in system.tasks.values()]
    note("compare", *(older_runs(args.systems, logs, args.task) if args.references is None else ()), *problems)
    method = filled_text(Path(__file__).with_name("method.txt"), settings=settings, least=LEAST_BOOTSTRAP)
    holm = len(systems) > 2  # of two systems there is nothing to correct for
    families = {name: run.family for name, run in systems[0].tasks.items()}
    if str(args.json) != "-":
        say("\n".join([*(_text(comparison, holm, families) for comparison in comparisons), method]))
    if args.json is not None:
        write_json(args.json, [_as_dict(comparison, settings) for comparison in comparisons])
    note("compare", *[message for _, message in verdicts])
    return 3 if any(is_worse for is_worse, _ in verdicts) else int(bool(problems))


def _print_plan(args: argparse.Namespace, systems: Sequence[System]) -> int:
    """Print what one or two runs can show, and what it takes to show a difference."""
    if not 0 < args.plan < math.inf or len(systems) > 2:
        raise InputError("--plan", None, f"{args.plan:g} of {count(len(systems), 'run')}", "more than 0, of one or two")
    plans = list(plan(systems, args.plan, args.metric or ()))
    if args.json is not None:
        write_json(args.json, list(map(dataclasses.asdict, plans)))
    rows = [
        ["task", "metric", "there are", "they show", f"{args.plan:g} needs", "or repeats", "variance within documents"]
    ]
    for own in plans:
        needed = "-" if own.units is None else count(own.units, own.unit)
        repeats = "-" if math.isnan(own.within) else str(own.repeats or "none")
        within = "-" if math.isnan(own.within) else f"{own.within:.0%}"
        now = [count(own.n_units, own.unit), number(own.detectable).replace("NaN", "-")]
        rows.append([own.task, own.metric, *now, needed, repeats, within])
    if str(args.json) != "-":
        say(f"{text_table(rows)}\n\n{_PLAN if len(systems) > 1 else _PLAN_OF_ONE}")
    return 0


def _gate(text: str) -> tuple[str, float]:
    """A metric and its margin; a metric may have a colon in its name."""
    metric, margin = metric_and_number(text)
    if not 0 <= (margin or 0) < math.inf:
        raise InputError("--fail-if-worse", None, repr(text), "METRIC or METRIC:MARGIN with a margin of 0 or more")
    return metric, margin or 0.0


def _verdicts(comparisons: Sequence[TaskComparison], gates: Mapping[str, float]) -> Iterator[tuple[bool, str]]:
    """Whether a run fails a gate, and a message: also for one that passes, as with few documents any run does."""
    for key, margin in gates.items():
        if not any(key in comparison.metrics for comparison in comparisons):
            raise OptionError.unknown("--fail-if-worse", key, comparisons[0].metrics)
        for comparison in (one for one in comparisons if key in one.metrics):
            metric = comparison.metrics[key]
            is_worse, least = metric.is_worse(margin), metric.result.detectable
            shows = "" if math.isnan(least) else f"; so many documents show a difference of {number(least + margin)}"
            message = f"worse than {comparison.first} by more than {margin:g}"
            unknown = "can't be told from its logs: --fail-if-worse fails, to be safe"
            messages = {None: unknown, True: f"is {message}", False: f"is not surely {message}{shows}"}
            yield is_worse is not False, f"{comparison.task}: {key} of {comparison.second} {messages[is_worse]}"


def _scored(place: str, references: Path, words: Sequence[str]) -> list[System]:
    """Predictions in a file, scored as a command of :mod:`tls_tasks.cli.files` does."""
    parser, (label, path) = argparse.ArgumentParser("tls-tasks compare --as"), labelled(place)
    files.add_parser(parser.add_subparsers(dest="command", required=True))
    if not words:
        raise InputError("--as", None, "nothing", "timelines, summaries, evidence or trees")
    scores: list[Any] = []
    args = parser.parse_args([*words, "--predictions", str(path), "--references", str(references)])
    args.run(argparse.Namespace(**vars(args), scores=scores))
    ((score, names, headline),) = scores
    ids = [f"{names[item.row]}/{getattr(item, 'reference', None) or 0}" for item in score.items]
    log = RunFiles(path.parent, "", None, host="files"), SampleLog(path, ())
    run = Run(log[0], args.command, label, log[1], ids, score=score, family=args.command, headline=headline)
    return [System(label or str(path), {args.command: run})]


def _people(comparison: TaskComparison, family: str) -> Iterator[str]:
    """Of each metric of ours that is compared, how large a difference means something to people."""
    for spec in METRICS.values():
        # A task may say whose result it is: evidence_f1.
        is_compared = any(key.endswith(spec.result_keys) for key in comparison.metrics)
        is_about_it = spec.people_task in ("", comparison.task.removesuffix("_closed_book"))
        if spec.people and spec.family == family and is_compared and is_about_it:
            yield f"{spec.name} and people: {spec.people}"


def _text(comparison: TaskComparison, holm: bool, families: Mapping[str, str]) -> str:
    people = _people(comparison, families[comparison.task])
    table = text_table(_table(comparison, holm))
    return "\n".join([_power(comparison), _head(comparison), table, *people, *comparison.warnings, ""])


def _head(comparison: TaskComparison) -> str:
    sizes = count(comparison.n_documents, "document")
    if comparison.n_units < comparison.n_documents:
        sizes += f", {count(comparison.n_units, comparison.unit)}"
    return f"{comparison.task}: first {visible(comparison.first)}, second {visible(comparison.second)}; {sizes}"


def _power(comparison: TaskComparison) -> str:
    """Return what so many documents can show, by the first metric."""
    key, metric = next(iter(comparison.metrics.items()))
    units, least = count(comparison.n_units, comparison.unit), metric.result.detectable
    if math.isnan(least):
        return f"{units} can't show a difference in {key}: they say nothing of others"
    return f"{units} show a true difference in {key} of {number(least)} or more, four times in five"


def _table(comparison: TaskComparison, holm: bool) -> list[list[str]]:
    rows = [["metric", "first", "second", "difference", "interval", "detectable", "won-tied-lost", "p", "p (Holm)"]]
    for key, metric in comparison.metrics.items():
        result, interval = metric.result, metric.result.interval
        values = (result.detectable, result.p_value, metric.adjusted)
        detectable, *p_values = (number(value).replace("NaN", "-") for value in values)
        cells = [key, number(result.first), number(result.second), f"{result.difference:+.4f}".replace("+nan", "NaN")]
        cells += [f"[{interval.low:+.4f}, {interval.high:+.4f}]" if interval else "-", detectable]
        rows.append([*cells, f"{metric.wins}-{metric.ties}-{metric.losses}", *p_values])
    return rows if holm else [row[:-1] for row in rows]


def _as_dict(comparison: TaskComparison, settings: Settings) -> dict[str, Any]:
    names = ("task", "first", "second", "n_documents", "n_units", "unit")
    numbers = ("first", "second", "difference", "interval", "detectable", "p_value", "exact")
    counts = ("wins", "ties", "losses", "undefined")
    metrics = []
    for key, metric in comparison.metrics.items():
        result = {name: getattr(metric.result, name) for name in numbers}
        outcome = {name: getattr(metric, name) for name in counts}
        metrics.append({"metric": key, **result, "p_value_holm": metric.adjusted, **outcome})
    head = {name: getattr(comparison, name) for name in names}
    return {**head, **dataclasses.asdict(settings), "warnings": comparison.warnings, "metrics": metrics}
