"""``tls-tasks reports``, also called ``report-eval``: judge and score cited reports."""

import argparse
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from tls_tasks.cli import base
from tls_tasks.cli import main as tls_tasks_main
from tls_tasks.cli.base import count, note, number, plain, say, write_json
from tls_tasks.cli.documents import PLACE_HELP, open_documents
from tls_tasks.core.errors import InputError
from tls_tasks.core.terminal import text_table, visible
from tls_tasks.data.keyed import some
from tls_tasks.reports.assignments import NUGGETIZER
from tls_tasks.reports.documents import find_lookup
from tls_tasks.reports.json_lines import write_rows
from tls_tasks.reports.judges import Recorded, Recorder, choose, known_answers, price
from tls_tasks.reports.judges.model import DEFAULTS
from tls_tasks.reports.report_eval import NoJudge, UnscoredWarning
from tls_tasks.reports.rubrics import PROFILES
from tls_tasks.reports.runs import ReportRun, read_assigned, read_run, score_run
from tls_tasks.reports.score import KEYS, runs_of
from tls_tasks.reports.types import PARTLY, Judge

_PROGRAM = "report_gen_eval"
DEFAULT_PROVIDER = "together"
DEFAULT_MODEL = "meta-llama/Llama-3.3-70B-Instruct-Turbo"
"""Who judges where nothing is said, as in report_gen_eval."""

_OF_JUDGES = (
    "recorded harness model_args base_url provider model examples prompts api_key_env max_in_flight timeout max_tries "
    "nuggets_per_call json_verdicts"
).split()
"""Options that a judge's specification has under the same names."""

_WORDS = {True: "YES", False: "NO", PARTLY: "PARTLY", None: "nothing"}
_PRICE_NOTE = Path(__file__).with_name("price_note.txt").read_text(encoding="utf-8").strip()
_NOTE = "95 % intervals are Wilson's. A question without a verdict counts as wrong."


_log = logging.getLogger(__name__)


def add_parser(subparsers: base.Subparsers) -> None:
    """Add this command to the command line."""
    parser = base.add_command(subparsers, "reports", _run)
    add = parser.add_argument_group("files").add_argument
    add("--predictions", metavar="REPORTS", type=Path, help="the reports, a file or folder")
    add("--references", metavar="NUGGETS", type=Path, help="the nuggets, a file or folder")
    parser.add_argument("places", nargs="*", type=Path, help=argparse.SUPPRESS)
    add("-o", "--output", metavar="OUT", type=Path, help="folder to write; without one a recording is scored")
    add("--json", action="store_true", help="print the scores as JSON")
    add("--documents", metavar="PLACE", action="append", help=PLACE_HELP)
    add("--rubrics", metavar="RUBRICS", type=Path, help="criteria of each request, JSON Lines; NUGGETS may be left out")
    add("--nugget-assignments", metavar="ASSIGNED", type=Path, help="reports whose nuggets are assigned already")
    add = parser.add_argument_group("scoring").add_argument
    add("-b", "--batch-size", metavar="N", type=int, default=0, help="reports judged together (all)")
    add("--limit", metavar="CHARS", type=int, help="characters of a report that count")
    add("--aggregate", choices=("macro", "micro"), default="macro", help="how reports are averaged")
    add("--compat", choices=(_PROGRAM,), help="that program's arithmetic, given the same verdicts")
    add("--rubric-profile", choices=PROFILES, default=PROFILES[0], help="how the points of criteria are added up")
    add("--nugget-profile", choices=(NUGGETIZER,), help="that program's zeros where scores of ASSIGNED are undefined")
    add("--allow-unscored", metavar="SHARE", type=float, default=0.0, help="of the sentences, from 0 (default) to 1")
    add("--dry-run", action="store_true", help="say what judging would take, and ask nobody")
    add("--price", metavar="IN,OUT", help="of a million tokens sent and received, for --dry-run")
    add("--self-test", action="store_true", help="ask the judge questions with known answers, and nothing else")
    add("--least", metavar="SHARE", type=float, default=0.0, help="of them that must be right, from 0 (default) to 1")
    add("-v", "--verbose", action="store_true", help="log progress, with a line per report")
    add = parser.add_argument_group("the judge").add_argument
    add(
        "-p", "--provider", choices=("openai", "anthropic", "together"), help=f"whose model judges ({DEFAULT_PROVIDER})"
    )
    add("-m", "--model", "--model-name", metavar="MODEL", help=f"its name there ({DEFAULT_MODEL})")
    add("--base-url", metavar="URL", help="an OpenAI-compatible server, such as http://localhost:8000/v1")
    add("--api-key-env", metavar="VARIABLE", help="the variable that holds the server's key")
    add("--recorded", metavar="FILE", help="a recording, or results of report_gen_eval, instead of a model")
    add("--prompts", metavar="FOLDER", help="prompts instead of ours, such as the program's folder prompts")
    add("--harness", metavar="NAME", help="a model of lm_eval, such as hf")
    add("--model-args", "--model_args", metavar="ARGS", help="its arguments, such as pretrained=ORG/MODEL")
    add("--nli", metavar="MODEL", help="a model of textual entailment, for support by citations only")
    add("--max-in-flight", metavar="N", type=int, help="requests under way at a time (16)")
    add("--timeout", metavar="SECONDS", type=float, help="until one try is given up (60)")
    add("--max-tries", metavar="N", type=int, help="of one question (7)")
    add("--nuggets-per-call", metavar="N", type=int, help="answers of nuggets that are asked about together (1)")
    add("--examples", action="store_true", default=None, help="two examples before each question, for small models")
    add("--json-verdicts", action="store_true", default=None, help="ask for verdicts in JSON (response_format)")
    add("--cache", metavar="FILE", type=Path, help="where verdicts are kept (OUT/verdicts.sqlite)")


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
    ASSIGNED  JSON Lines as nuggetizer writes them, a report per line: qid, run_id and nuggets (text, importance,
              assignment); also a JSON list or a folder of such files. Nobody is asked, and neither REPORTS nor a judge
              is needed
    OUT       a folder for
                verdicts.jsonl   every question and its verdict: a recording, for --recorded and `tls-tasks agree`
                results.jsonl    for each report its scores, and how each sentence was judged
                scores.json      the scores of each run and of all, with the signature
                verdicts.sqlite  the verdicts of an endpoint: another run, also after one that was killed, asks only
                                 for what is missing

    --dry-run says how many questions, requests and tokens that takes, and with --price IN,OUT how much money; what a
    cache answers is not counted. Where a question depends on earlier verdicts, it gives the least and the most.

    --self-test asks the judge 72 questions with known answers instead, and prints how many it gets right, by kind of
    question and by trap (injected instructions, negations, pronouns, near misses), and those that it got wrong.

    The judge is one of: -p PROVIDER -m MODEL; --base-url URL -m MODEL (any OpenAI-compatible server); --harness
    NAME --model-args ARGS (a model of lm_eval, by the likelihood of YES and NO); --recorded FILE (asks nobody).
    Keys come from OPENAI_API_KEY, ANTHROPIC_API_KEY, TOGETHER_API_KEY or the variable that --api-key-env names, in
    the environment or in a file .env; OPENAI_BASE_URL there is another address of openai. With --recorded FILE and no
    OUT the scores are printed, and nothing is written.

    --compat report_gen_eval is that program's arithmetic: given the same verdicts, the same numbers. Its questions
    differ from ours, and so do a judge's answers. To have them too, --prompts FOLDER asks its questions (its folder
    report_gen_eval/prompts; their hash is in the signature), or --recorded RESULTS takes the verdicts from results that
    it wrote. Without --documents the look-up files in ./neuclir-docs-lookup are used, as by the program.

    Exit codes:
      0  judged and scored
      1  --self-test: less accurate than --least, or no better than guessing (the interval of its accuracy holds 0.5)
      1  scored, but a criterion has no verdict, more sentences lack a score than --allow-unscored permits, a nugget of
         ASSIGNED is failed (0 with --nugget-profile nuggetizer), or something in REPORTS or NUGGETS could not be read:
         file, line and keys are named, with the known forms
      2  not scored: wrong arguments or files, or a judge that can't be used (wrong key, unknown model)

    Examples:
      tls-tasks reports --predictions r.jsonl --references n.jsonl --documents d.jsonl -o out -p openai -m gpt-4o
      tls-tasks reports --predictions r.jsonl --references n.jsonl --documents d.jsonl -o out --base-url URL -m NAME
      tls-tasks reports --predictions samples_report_generation_2025-01-01.jsonl -o out -p openai -m gpt-4o
      tls-tasks reports --predictions r.jsonl --references n.jsonl --documents d.jsonl --recorded out/verdicts.jsonl
      tls-tasks reports --predictions r.jsonl --references n.jsonl --recorded results.jsonl --compat report_gen_eval
      tls-tasks reports --predictions r.jsonl --references n.jsonl --documents d.jsonl --dry-run -p openai -m gpt-4o
      tls-tasks reports --self-test -p openai -m gpt-4o
    """
    names = (name for name in ("predictions", "references", "output") if getattr(args, name) is None)
    for name, place in zip(names, args.places, strict=False):
        setattr(args, name, place)
    if args.verbose:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(base.VisibleFormatter("%(message)s"))
        logging.basicConfig(level=logging.INFO, handlers=[handler])
        logging.getLogger("httpx").setLevel(logging.WARNING)  # a line per request otherwise
    if args.self_test:
        return _self_test(args)
    is_assigned = args.nugget_assignments is not None
    if args.predictions is None and not is_assigned:
        expected = "a file or folder of reports (none only with --self-test or --nugget-assignments)"
        raise InputError("--predictions", None, "nothing", expected)
    if (out := args.output) is None and not (args.recorded or args.dry_run or is_assigned):
        raise InputError("output", None, "nothing", "one folder: -o OUT (none with --recorded, --nugget-assignments)")
    reports, documents = _read(args)
    note(args.command, *_lacking(reports))
    options = {"aggregate": args.aggregate, "compat": args.compat, "length_limit": args.limit}
    options |= {"rubric_profile": args.rubric_profile, "nugget_profile": args.nugget_profile}
    judge = NoJudge() if is_assigned else _judge(args, out) if args.recorded is not None else None
    options["documents"] = _documents(args, documents, reports, judge)
    if args.dry_run:
        return _dry_run(args, out, reports, options)
    recorder = Recorder(judge := judge or _judge(args, out))
    try:
        with base.warnings_as_notes(args.command):
            warnings.simplefilter("ignore", UnscoredWarning)  # the exit code and the last line say so
            score = score_run(reports, recorder, batch_size=args.batch_size, **options)
    finally:
        if out is not None and (rows := recorder.rows()):  # also what was answered before a judge failed
            write_rows(out / "verdicts.jsonl", rows)
    for item in score.items:
        _log.info("%s", " ".join([item.run_id, item.request_id, *map(number, item.values().values())]))
    stats = {"judge_stats": asdict(judge.stats)} if hasattr(judge, "stats") else {}
    scores = {**score.as_dict(), **runs_of(score), "judge": recorder.name, **stats}
    if out is not None:
        write_rows(out / "results.jsonl", (plain(item.as_dict()) for item in score.items))
        write_rows(out / "scores.json", [plain(scores)])
    if args.json:
        write_json(Path("-"), scores)
    else:
        say("\n".join([_scores_text(scores), *([] if out is None else [str(out)])]))
        for name, value in scores.get("judge_stats", {}).items():
            say(f"{name.replace('_', ' '):<19}{value:,.{int(isinstance(value, float))}f}")
    n_failed = 0 if args.nugget_profile == NUGGETIZER else scores.get("nuggets_unassigned", 0)
    return _exit_code(args, scores["counts"], bool(reports.bad or scores.get("criteria_unscored") or n_failed))


def _read(args: argparse.Namespace) -> tuple[ReportRun, Any]:
    """The reports, with what they are scored by, and the documents if these lie in one place."""
    if args.nugget_assignments is None:
        places = {name: getattr(args, name) for name in ("predictions", "references", "rubrics")}
        documents = Path(args.documents[0]) if len(args.documents or ()) == 1 else None
        return _read_files(**places, documents=documents)
    if args.predictions or args.references or args.rubrics:
        expected = "no REPORTS, NUGGETS or RUBRICS beside it; tls_tasks.report_eval takes them together"
        raise InputError("--nugget-assignments", None, str(args.nugget_assignments), expected)
    return read_assigned(args.nugget_assignments), None


def _read_files(
    predictions: Path, references: Path | None, rubrics: Path | None, documents: Path | None
) -> tuple[ReportRun, Any]:
    run = read_run(predictions, references or rubrics, rubrics)
    return run, documents and open_documents([str(documents)])


def _judge(args: argparse.Namespace, out: Path | None, *, is_paid: bool = True) -> Judge:
    spec = _judge_spec(args, out)
    return cast(Judge, choose.make_judge(spec if is_paid else choose.unpaid(spec)))  # the command line never says none


def _judge_spec(args: argparse.Namespace, out: Path | None) -> dict[str, Any] | str:
    """What the options say of the judge, as :mod:`tls_tasks.reports.judges.choose` takes it and checks it."""
    spec = {name: value for name in _OF_JUDGES if (value := getattr(args, name)) is not None}
    if spec == {"recorded": "embedded"}:
        return "recorded"
    if args.nli is not None:
        spec["citation_support"] = {"nli": args.nli}
    if not {"recorded", "harness"} & spec.keys():
        cache = args.cache or (None if out is None else out / "verdicts.sqlite")
        spec["cache"] = False if cache is None else str(cache)
        if "base_url" not in spec and spec.setdefault("provider", DEFAULT_PROVIDER) == DEFAULT_PROVIDER:
            spec.setdefault("model", DEFAULT_MODEL)
    return spec


def _documents(args: argparse.Namespace, opened: Any, run: ReportRun, judge: Judge | None) -> Any:
    """The cited documents; None where nobody is shown any."""
    of_program = isinstance(judge, Recorded) and judge.is_of_program
    if of_program and args.compat is None:
        raise InputError("--recorded", None, args.recorded, f"--compat {_PROGRAM} beside it: its verdicts fit no other")
    if args.documents is not None:
        return open_documents(args.documents) if opened is None else opened
    if of_program:
        return lambda *_: ""  # its verdicts name no document
    judged = [report for report, own in zip(run.reports, run.requests, strict=True) if own.by_sentence]
    cites = any(sentence.citations for report in judged for sentence in report.sentences)
    return find_lookup(run.reports) if cites and run.documents is None else None


def _lacking(run: ReportRun) -> Iterator[str]:
    """What REPORTS and NUGGETS lack, a sentence each."""
    yield from (f"{bad}{' (line left out)' if bad.lost else ''}" for bad in run.bad)
    judged = [request for request in run.requests if request.by_sentence]
    for request_id in dict.fromkeys(request.request_id for request in judged if not request.nuggets):
        yield f"request {request_id}: no nuggets; its reports have neither recall nor coverage"
    for run_id, names in run.unanswered.items():
        lacking = f"no report for {count(len(names), 'request')} of NUGGETS ({some(names)}), which are not scored"
        yield f"run {run_id}: {lacking}"


def main(argv: Sequence[str] | None = None) -> int:
    """The command ``report-eval``: ``tls-tasks reports`` under the name that report_gen_eval has."""
    return tls_tasks_main(["reports", *(sys.argv[1:] if argv is None else argv)])


def _scores_text(scores: dict[str, Any]) -> str:
    """The scores of each run and of all, what was counted, and the signature."""
    runs, counts = scores["runs"], scores["counts"]
    rows = {"all": scores, **runs} if len(runs) != 1 else runs
    keys = list(next(iter(runs.values()), KEYS))
    cells = [[run_id, *(number(values[key]) for key in keys)] for run_id, values in rows.items()]
    summary = "reports: {reports}, sentences: {sentences} ({unscored_sentences} without a score), "
    summary = f"{summary}unknown citations: {{unknown_citations}}".format(**counts)
    named = {"criteria_unscored": "criteria without a verdict", "nuggets_unassigned": "nuggets not assigned (failed)"}
    summary += "".join(f", {name}: {scores[key]}" for key, name in named.items() if key in scores)
    head, first, *others = text_table([["run", *keys], *cells]).split("\n")
    return "\n".join([head, base.styled(first), *others, "", summary, visible(scores["signature"])])


def _exit_code(args: argparse.Namespace, counts: dict[str, int], is_lossy: bool) -> int:
    share = counts["unscored_sentences"] / counts["sentences"] if counts["sentences"] else 0.0
    if share <= args.allow_unscored:
        return int(is_lossy)
    remedy = "The recording lacks them" if args.recorded else "Run the command again: only what is missing is asked"
    missing = f"{share:.1%} of the sentences have no score, since verdicts are missing"
    return note(args.command, f"{missing}; {args.allow_unscored:.1%} is allowed. {remedy}")


def _self_test(args: argparse.Namespace) -> int:
    """Ask, print accuracy and failures, and say by the exit code whether the judge is good enough."""
    judge = _judge(args, args.output)
    cases = known_answers.self_test(judge)
    groups = known_answers.shares(cases)
    failures: list[dict[str, Any]] = []
    for case in cases:
        if not case.is_right:
            verdicts = {"expected": _WORDS[case.expected], "got": _WORDS[case.verdict.value]}
            passage = {"passage": str(text)} if (text := case.query.about.get("passage")) else {}
            asked = {**passage, "fields": dict(case.query.fields), "raw": case.verdict.raw or case.verdict.reason}
            failures.append({"kind": case.query.kind, "trap": case.trap, **verdicts, **asked})
    if args.json:
        tables = {name: {value: share._asdict() for value, share in group.items()} for name, group in groups.items()}
        write_json(Path("-"), {"judge": judge.name, **tables, "failed": failures})
    else:
        table = [["questions", "right", "of", "unread", "accuracy", "from", "to"]]
        for name, group in groups.items():
            for value, share in group.items():
                title = f"trap: {value}" if name == "trap" else value
                table.append([title, *map(str, share[:3]), *map(number, share[3:])])
        lines = [text_table(table), "", _NOTE, visible(judge.name)]
        for row in failures:
            lines += ["", visible("{kind} ({trap}): {expected} expected, got {got}: {raw}".format(**row))]
            texts = {"passage": row.get("passage"), **row["fields"]}
            lines += [visible(f"  {name}: {text}") for name, text in texts.items() if text]
        say("\n".join(lines))
    total = groups["all"]["all"]
    said = {case.verdict.value for case in cases} - {None}
    flaws = [f"answers {_WORDS[value]} to everything" for value in said if len(said) == 1]
    if total.low <= 0.5:
        accuracy = f"accuracy {total.accuracy:.2f}, interval {total.low:.2f} to {total.high:.2f}"
        flaws.append(f"no better than guessing ({accuracy}): its verdicts can't be used")
    if flaws:
        return note(args.command, f"the judge: {'; '.join(flaws)}")
    return int(total.accuracy < args.least)


def _dry_run(args: argparse.Namespace, out: Path | None, reports: ReportRun, options: dict[str, Any]) -> int:
    """Print what judging would take, by kind of question."""
    judge = _judge(args, out, is_paid=False)
    prices = None if args.price is None else price.read_prices("--price", args.price)
    rows = price.price(lambda supposed: score_run(reports, supposed, **options), judge)
    money = {kind: {"money": row.money(*prices)} if prices else {} for kind, row in rows.items()}
    if args.json:
        write_json(Path("-"), {kind: {**row._asdict(), **money[kind]} for kind, row in rows.items()})
        return int(bool(reports.bad))
    table = [["question", "questions", "calls", "prompt tokens", "completion tokens", *(["money"] if prices else [])]]
    for kind, row in rows.items():
        amounts = [_range(amount, ",.2f") for amount in money[kind].values()]
        table.append([kind, *(_range(amount, ",") for amount in row), *amounts])
    say("\n".join([text_table(table), "", _PRICE_NOTE.format(DEFAULTS["max_tokens"])]))
    return int(bool(reports.bad))


def _range(amount: tuple[float, float], form: str) -> str:
    low, high = (format(end, form) for end in amount)
    return low if low == high else f"{low} to {high}"
