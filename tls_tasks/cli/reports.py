"""``tls-tasks reports``, and ``report-eval`` as report_gen_eval has it: judge and score cited reports."""

import argparse
import inspect
import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from tls_tasks.cli import base
from tls_tasks.cli import main as tls_tasks_main
from tls_tasks.cli.base import count, note, number, plain, say, write_json
from tls_tasks.cli.printed import add_outputs, gate, score_rows, write_csv
from tls_tasks.core.errors import InputError
from tls_tasks.core.terminal import text_table, visible
from tls_tasks.data.rows_by_id import some
from tls_tasks.reports.documents import FILE_FORMS, open_documents, read_lookup_files
from tls_tasks.reports.json_lines import write_rows
from tls_tasks.reports.judges import Recorder, choose
from tls_tasks.reports.report_eval import UnscoredWarning
from tls_tasks.reports.report_gen_eval import PROGRAM
from tls_tasks.reports.runs import ReportRun, read_run, score_run
from tls_tasks.reports.score import KEYS, score_runs
from tls_tasks.reports.types import Judge

DEFAULT_PROVIDER = "together"
DEFAULT_MODEL = "meta-llama/Llama-3.3-70B-Instruct-Turbo"
"""Who judges where nothing is said, as in report_gen_eval."""

_log = logging.getLogger(__name__)


def add_parser(subparsers: base.Subparsers) -> None:
    """Add this command to the command line."""
    parser = base.add_command(subparsers, "reports", _run)
    add = parser.add_argument_group("files").add_argument
    add("--predictions", metavar="REPORTS", type=Path, required=True, help="the reports, a file or folder")
    add("--references", metavar="NUGGETS", type=Path, help="the nuggets, a file or folder")
    add("-o", "--output", metavar="OUT", type=Path, help="folder to write; without one a recording is scored")
    _add_options(parser)


def main(argv: Sequence[str] | None = None) -> int:
    """The command ``report-eval REPORTS NUGGETS OUT``, with the options of ``tls-tasks reports``."""
    layout = argparse.RawDescriptionHelpFormatter
    text = inspect.cleandoc(_run.__doc__ or "").partition("Examples:")[0]
    usage = "report-eval REPORTS NUGGETS OUT [options]"
    example = f"{text}Example:\n  report-eval r.jsonl n.jsonl out --documents d.jsonl -p openai -m gpt-4o --verbose"
    parser = argparse.ArgumentParser("report-eval", usage, example, formatter_class=layout)
    parser.set_defaults(run=_run, command="report-eval")
    for name, metavar in (("predictions", "REPORTS"), ("references", "NUGGETS"), ("output", "OUT")):
        parser.add_argument(name, metavar=metavar, type=Path)
    _add_options(parser)
    return tls_tasks_main(sys.argv[1:] if argv is None else list(argv), parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("scoring").add_argument
    add("--documents", metavar="PLACE", action="append", help=f"{FILE_FORMS}; may be repeated")
    add("--rubrics", metavar="RUBRICS", type=Path, help="criteria of each request, JSON Lines; NUGGETS may be left out")
    add("-b", "--batch-size", metavar="N", type=int, help="questions asked at a time (16)")
    add("--limit", metavar="CHARS", type=int, help="characters of a report that count")
    add("--aggregate", choices=("macro", "micro"), default="macro", help="how reports are averaged")
    add("--compat", choices=(PROGRAM,), help="that program's arithmetic, given the same verdicts")
    add("--json", action="store_true", help="print the scores as JSON")
    add_outputs(add)
    add("-v", "--verbose", action="store_true", help="log progress, with a line per report")
    add = parser.add_argument_group("the judge").add_argument
    add("-p", "--provider", choices=[*choose.HOSTS], help=f"whose model judges ({DEFAULT_PROVIDER})")
    add("-m", "--model", metavar="MODEL", help=f"its name there ({DEFAULT_MODEL})")
    add("--base-url", metavar="URL", help="an OpenAI-compatible server, such as http://localhost:8000/v1")
    add("--recorded", metavar="FILE", help="a recording instead of a model")
    add("--judge", metavar="SPEC", help="a judge, or more of its options, as JSON like the task's --metadata has it")


def _run(args: argparse.Namespace) -> int:
    """Score cited reports by a judge, a model that answers yes/no questions, or by what it once said.

    REPORTS   JSON Lines, a report per line, in the form of NeuCLIR (request_id, run_id, sentences, citations)
              or of the tracks RAGTIME and RAG (metadata, responses or answer, references); or a samples log of the task
              report_generation, which has nuggets and documents of its own
    NUGGETS   JSON or JSON Lines, a request per line: items with question_text and gold_answers, a nugget_bank (map or
              list) and claim_bank, or the nuggets of nuggetizer (text, importance). REPORTS and NUGGETS may also be
              folders of such files: a run a file, the nuggets of a request a file
    RUBRICS   JSON Lines, a request per line: request_id and rubrics, a list of criterion, points and tags (HealthBench)
              or title and weight (ResearchRubrics); without NUGGETS nothing but the criteria is asked
    PLACE     the documents, a row each: id, text, and perhaps title and collection. It is read through once, and what
              is cited is kept, so that it may be a collection of millions. A look-up file of report_gen_eval (.pkl) is
              read whole; plain data is all that is loaded from it
    OUT       a folder for
                verdicts.jsonl   every question and its verdict: a recording, for --recorded and `tls-tasks agree`
                results.jsonl    for each report its scores, and how each sentence was judged
                scores.json      the scores of each run and of all, with the signature
                verdicts.sqlite  the verdicts of an endpoint: another run, also after one that was killed, asks only
                                 for what is missing

    The judge is one of: -p PROVIDER -m MODEL; --base-url URL -m MODEL (any OpenAI-compatible server); --recorded FILE
    (asks nobody); --judge SPEC, such as '{"harness": "hf", "model_args": "pretrained=ORG/MODEL"}' (a model of lm_eval,
    by the likelihood of YES and NO). SPEC may add options to the others, such as '{"timeout": 120}'
    or '{"api_key_env": "MY_KEY"}'. Keys come from OPENAI_API_KEY, ANTHROPIC_API_KEY, TOGETHER_API_KEY or the variable
    that api_key_env names, in the environment or in a file .env.
    With --recorded FILE and no OUT the scores are printed, and nothing is written.

    --compat report_gen_eval is that program's arithmetic: given the same verdicts, the same numbers. Its questions
    differ from ours, and so do a judge's answers.
    Without --documents the look-up files in ./neuclir-docs-lookup are used, as by the program.

    Exit codes:
      0  judged and scored
      1  scored, but a sentence or a criterion has no verdict, or something in REPORTS or NUGGETS could not be read:
         file, line and keys are named, with the known forms
      2  not scored: wrong arguments or files, or a judge that can't be used (wrong key, unknown model)
      3  scored, and a result is too low (--fail-if-below)

    Examples:
      tls-tasks reports --predictions r.jsonl --references n.jsonl --documents d.jsonl -o out -p openai -m gpt-4o
      tls-tasks reports --predictions r.jsonl --references n.jsonl --documents d.jsonl -o out --base-url URL -m NAME
      tls-tasks reports --predictions samples_report_generation_2025-01-01.jsonl -o out -p openai -m gpt-4o
      tls-tasks reports --predictions r.jsonl --references n.jsonl --documents d.jsonl --recorded out/verdicts.jsonl
    """
    if args.verbose:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(base.VisibleFormatter("%(message)s"))
        logging.basicConfig(level=logging.INFO, handlers=[handler])
        for name in ("httpx", "openai"):  # a line per request otherwise
            logging.getLogger(name).setLevel(logging.WARNING)
    if (out := args.output) is None and not args.recorded:
        raise InputError("output", None, "nothing", "one folder: -o OUT (none with --recorded)")
    reports = read_run(args.predictions, args.references or args.rubrics, args.rubrics)
    note(args.command, *_lacking(reports))
    documents = _documents(args, reports)
    recorder = Recorder(judge := cast(Judge, choose.make_judge(_judge_spec(args, out))))  # it never says none
    options = {"aggregate": args.aggregate, "compat": args.compat, "length_limit": args.limit, "documents": documents}
    try:
        with base.warnings_as_notes(args.command):
            warnings.simplefilter("ignore", UnscoredWarning)  # the exit code and the last line say so
            score = score_run(reports, recorder, **options)
    finally:
        if out is not None and (rows := recorder.rows()):  # also what was answered before a judge failed
            write_rows(out / "verdicts.jsonl", rows)
    for item in score.items:
        _log.info("%s", " ".join([item.run_id, item.request_id, *map(number, item.values().values())]))
    stats = {"judge_stats": dict(judge.stats)} if hasattr(judge, "stats") else {}
    scores = {**score.as_dict(), **score_runs(score), "judge": recorder.name, **stats}
    if out is not None:
        write_rows(out / "results.jsonl", (plain(item.as_dict()) for item in score.items))
        write_rows(out / "scores.json", [plain(scores)])
    if args.csv is not None:
        write_csv(args.csv, [*score_rows(score, [f"{item.run_id}/{item.request_id}" for item in score.items])])
    if args.json:
        write_json(Path("-"), scores)
    else:
        say("\n".join([_scores_text(scores), *([] if out is None else [str(out)])]))
        for name, value in scores.get("judge_stats", {}).items():
            say(f"{name.replace('_', ' '):<19}{value:,}")
    if n_unscored := scores["counts"]["unscored_sentences"]:
        remedy = "The recording lacks them" if args.recorded else "Run the command again: only what is missing is asked"
        share = n_unscored / scores["counts"]["sentences"]
        return note(args.command, f"{share:.1%} of the sentences have no score, since verdicts are missing. {remedy}")
    return gate(args, [score.results]) or int(bool(reports.bad or scores.get("criteria_unscored")))


def _judge_spec(args: argparse.Namespace, out: Path | None) -> dict[str, Any] | str:
    """What the options say of the judge, as :mod:`tls_tasks.reports.judges.choose` takes it and checks it."""
    try:
        spec = json.loads(args.judge or "{}")
    except ValueError:
        spec = None
    if not isinstance(spec, dict):
        raise InputError("--judge", None, "text that is none", """a JSON object, such as '{"timeout": 120}'""")
    named = {name: getattr(args, name) for name in ("recorded", "base_url", "provider", "model")}
    spec |= {name: value for name, value in named.items() if value is not None}
    if spec == {"recorded": "embedded"}:
        return "recorded"
    if not {"recorded", "harness"} & spec.keys():
        spec |= {} if args.batch_size is None else {"max_in_flight": args.batch_size}
        spec.setdefault("cache", False if out is None else str(out / "verdicts.sqlite"))
        if not {"base_url", "provider", "model"} & spec.keys():
            try:
                choose.read_key(f"{DEFAULT_PROVIDER.upper()}_API_KEY")
            except InputError as error:
                error.expected += "; or another judge: -p PROVIDER -m MODEL, --base-url URL -m MODEL, --recorded FILE"
                raise
        if "base_url" not in spec and spec.setdefault("provider", DEFAULT_PROVIDER) == DEFAULT_PROVIDER:
            spec.setdefault("model", DEFAULT_MODEL)
    return spec


def _documents(args: argparse.Namespace, run: ReportRun) -> Any:
    """The cited documents; None where nobody is shown any."""
    judged = [report for report, own in zip(run.reports, run.requests, strict=True) if own.by_sentence]
    cited = {doc_id for report in judged for sentence in report.sentences for doc_id in sentence.citations}
    if args.documents is not None:
        return open_documents(args.documents, cited)
    return read_lookup_files(run.reports) if cited and run.documents is None else None


def _lacking(run: ReportRun) -> Iterator[str]:
    """What REPORTS and NUGGETS lack, a sentence each."""
    yield from (f"{bad}{' (line left out)' if bad.lost else ''}" for bad in run.bad)
    judged = [request for request in run.requests if request.by_sentence]
    for request_id in dict.fromkeys(request.request_id for request in judged if not request.nuggets):
        yield f"request {request_id}: no nuggets; its reports have neither recall nor coverage"
    for run_id, names in run.unanswered.items():
        lacking = f"no report for {count(len(names), 'request')} of NUGGETS ({some(names)}), which are not scored"
        yield f"run {run_id}: {lacking}"


def _scores_text(scores: dict[str, Any]) -> str:
    """The scores of each run and of all, what was counted, and the signature."""
    runs, counts = scores["runs"], scores["counts"]
    rows = {"all": scores, **runs} if len(runs) != 1 else runs
    keys = list(next(iter(runs.values()), KEYS))
    cells = [[run_id, *(number(values[key]) for key in keys)] for run_id, values in rows.items()]
    summary = "reports: {reports}, sentences: {sentences} ({unscored_sentences} without a score), "
    summary = f"{summary}unknown citations: {{unknown_citations}}".format(**counts)
    if "criteria_unscored" in scores:
        summary += f", criteria without a verdict: {scores['criteria_unscored']}"
    return "\n".join([text_table([["run", *keys], *cells]), "", summary, visible(scores["signature"])])
