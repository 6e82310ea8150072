"""``tls-tasks meta``: how far a metric agrees with people's ratings, and people's references with each other."""

import argparse
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.after.comparisons import documents_of, read_system
from tls_tasks.after.meta import LEVELS, STATISTICS, meta, references_among_themselves
from tls_tasks.after.run import Run
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.cli.base import Subparsers, add_command, note, number, progress, say, write_json
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.terminal import text_table

_MOST_TOPICS = 10  # that a table has room for


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    add = add_command(subparsers, "meta", _run).add_argument
    add("systems", nargs="*", metavar="LABEL=RUN", help="a system as FILE calls it, and its log or the folder of a run")
    add("--people", type=Path, metavar="FILE", help="ratings, CSV or JSONL: system, id, rating; aspect, rater")
    add("--metric", action="append", metavar="NAME", help="compare this metric (the task's headline; repeatable)")
    add("--task", metavar="NAME", help="the task that people rated, where runs have several")
    add("--lower-is-better", action="append", default=[], metavar="NAME", help="of this metric, where logs don't say")
    add("--references", metavar="TASK", help="instead: score this task's references against each other")
    add("--json", action="store_true", help="print JSON instead of tables; undefined values are null")


def _run(args: argparse.Namespace) -> int:
    """Tell how far a metric agrees with people who rated the same answers.

    FILE has a row a rating with the columns system (a LABEL), id (the document's name), rating, and aspect and rater
    where there are several; the ratings of one answer are averaged. What one side lacks is left out and counted.

    By system: do the systems' means stand in people's order? By document: do the answers to a document? Both give
    Kendall's tau-b, Pearson's r, and the share of pairs in people's order (pairs that people tie are left out, those
    that the metric ties count half). Intervals resample systems and documents together; fewer than five systems have
    none by system, fewer than three no value. Of several metrics the p-values say whether one agrees better.

    --references TASK needs no run: where a topic or document has several references, each is scored as an answer
    against the others. Above that a metric can't tell a system from a person (docs/people.md).

    Exit codes: 0 told; 1 told, but a log has problems or documents differ (see stderr); 2 failed

    Examples:
      tls-tasks meta lead=out/lead gpt=out/gpt small=out/small --people ratings.csv
      tls-tasks meta a=out/a b=out/b c=out/c --people ratings.jsonl --metric rouge_l_f1 --metric rouge_l_recall --json
      tls-tasks meta --references tls_timeline17
    """
    if [bool(args.systems), bool(args.people)] != [not args.references] * 2:
        raise InputError("meta", None, "other arguments", "LABEL=RUN… --people FILE, or --references TASK alone")
    runs = {} if args.references else _read(args.systems, args.task)
    found = references_among_themselves(args.references) if args.references else _compare(runs, args)
    if args.json:
        write_json(Path("-"), found)
    else:
        say("\n".join(_references(found) if args.references else _agreement(found)))
    return note(args.command, *_doubts(runs))


def _read(named: Sequence[str], task: str | None) -> dict[str, Run]:
    """Label -> its run of the one task."""
    systems: dict[str, Mapping[str, Run]] = {}
    for text in named:
        label, _, place = text.partition("=")
        if not (label and place) or label in systems:
            raise InputError("meta", None, repr(text), "LABEL=RUN, each label once")
        systems[label] = read_system(Path(place), tasks={task: task} if task else None, progress=progress).tasks
    tasks = set.intersection(*map(set, systems.values()))
    if len(tasks) != 1 and max(map(len, systems.values())) > 1:
        names = f"the one that people rated, of {', '.join(sorted(tasks)) or 'none that all runs have'}"
        raise InputError("--task", None, "nothing", names)
    # Plain rows are a task called as their file is.
    return {label: next(run for name, run in own.items() if name in (tasks or own)) for label, own in systems.items()}


def _doubts(runs: Mapping[str, Run]) -> Iterator[object]:
    """The logs' problems, and documents that differ although they are called the same: people may have read others."""
    known: dict[str, str] = {}
    for label, run in runs.items():
        yield from run.problems
        own = zip(run.ids, documents_of(run), strict=True) if isinstance(run, ScoredTask) else ()
        if n := sum(known.setdefault(doc_id, content) != content for doc_id, content in own):
            yield f"{label}: {n} of {len(run.ids)} documents differ from the runs before (other data or another budget)"


def _compare(runs: Mapping[str, Run], args: argparse.Namespace) -> dict[str, Any]:
    first = next(iter(runs.values()))
    keys = args.metric or [first.headline or next(iter(first.ranked), "")]
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for label, run in runs.items():
        if unknown := [key for key in keys if key not in run.score.definitions]:
            raise OptionError.unknown(f"--metric of {label}", unknown[0], run.score.definitions)
        values = map(run.of_document, range(len(run.ids)))
        scores[label] = {name: {key: own[key] for key in keys} for name, own in zip(run.ids, values, strict=True)}
    lower = {key for key in keys if first.score.definitions[key].better is False}
    return meta(scores, args.people, lower=lower | {*args.lower_is_better})


def _agreement(found: Mapping[str, Any]) -> Iterator[str]:
    """A table an aspect: a column a metric; then the tests."""
    for aspect, one in found["aspects"].items():
        own = list(one["metrics"].values())
        rows = [[f"people's {aspect}", *one["metrics"]]]
        for level, name in itertools.product(LEVELS, STATISTICS):
            rows.append([f"{level} {name}", *(_value(values[level], name) for values in own)])
        for places in zip(*(values["near"] for values in own), strict=True):
            size = "systems {from:g} to {to:g} apart".format(**places[0]).replace("to inf", "or more")
            rows.append([size, *("{in_peoples_order:g} of {pairs} pairs".format(**place) for place in places)])
        rows += [[name, *(str(values["counts"][name]) for values in own)] for name in own[0]["counts"]]
        yield f"{text_table(rows)}\n"
        rows = [["tau_b of", "less that of", *(f"{level}{more}" for level in LEVELS for more in ("", " p"))]]
        for test in one["tests"]:
            gaps = ((f"{test[level]['tau_b']['difference']:+.4f}", test[level]["tau_b"]["p_value"]) for level in LEVELS)
            rows.append([test["first"], test["second"], *(cell for gap, p in gaps for cell in (gap, number(p)))])
        if one["tests"]:
            yield f"{text_table(rows)}\n"
    intervals = f"{found['confidence']:.0%} intervals: {found['n_resamples']} resamples of systems and documents"
    yield f"{intervals}; p: as many permutations of cells; seed {found['seed']}"
    yield "pairs that share a system are not independent, so there is no test of how many stand in people's order"


def _value(values: Mapping[str, Any], name: str) -> str:
    ends, undefined = values[f"{name}_ci"], values[f"{name}_undefined"]
    interval = f" [{ends[0]:+.3f}, {ends[1]:+.3f}]" if ends else ""
    return f"{number(values[name])}{interval}{f', {undefined} resamples undefined' * bool(ends and undefined)}"


def _references(found: Mapping[str, Any]) -> Iterator[str]:
    """A row a result, a column a topic where these are few."""
    yield f"{found['task']}: references among themselves; documents with one reference, left out: {found['left_out']}"
    topics = found["topics"] if len(found["topics"]) <= _MOST_TOPICS else {}
    columns = {"mean of topics": found["mean_of_topics"], "all": found["all"], **topics}
    rows = ([key, *(f"{own[key]:.4g}" for own in columns.values())] for key in found["all"])
    yield text_table([["", *columns], *rows])
