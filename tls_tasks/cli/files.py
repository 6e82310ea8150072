"""``tls-tasks timelines | summaries | evidence GOLD PREDICTIONS``: score what lies in files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tls_tasks.cli import printed
from tls_tasks.cli.base import Run, Subparsers, add_command, count, note, styled
from tls_tasks.core.score import Result, Score, Unit
from tls_tasks.core.terminal import text_table
from tls_tasks.data.keyed import missing_note
from tls_tasks.evidence.data_rows import read_three, schema_at
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.types import JOURNAL_SCHEMA
from tls_tasks.summaries.data import read_summaries
from tls_tasks.summaries.rouge_l import rouge_l
from tls_tasks.timelines import score as score_timelines
from tls_tasks.timelines.files import read_topics
from tls_tasks.timelines.task import RESULTS

_PER_PAIR = ("ar1_precision", "ar1_recall", "ar1_f1", "ar2_f1", "date_precision", "date_recall", "date_f1")


def add_parser(subparsers: Subparsers) -> None:
    """Add the three commands."""
    gold, predictions = "the reference timelines", "the timelines to score"
    add = _add_command(subparsers, "timelines", _timelines, gold=gold, predictions=predictions)
    add("--variant", default="align+m:1", help="how dates are aligned: align+m:1 (default), align+, …")
    add("--reference-mode", default="separate", help="separate (default), or joint as in CHRONOS")
    add("--tokenizer", default="rouge155", help="rouge155 (default), or unicode for other scripts")
    add("--tolerance", type=int, default=0, metavar="DAYS", help="dates of date F1 may differ by (0)")
    gold, predictions = "the reference summaries", "the summaries to score"
    add = _add_command(subparsers, "summaries", _summaries, gold=gold, predictions=predictions)
    add("--tokenizer", default="whitespace", help="whitespace (default), rouge or unicode")
    add("--stem", action="store_true", help="stem words, as rouge_score's use_stemmer does")
    add("--lsum", action="store_true", help="rougeLsum, too: sentence by sentence")
    add("--split", default="newline", help="where its sentences end: newline (default) or regex")
    texts, gold, predictions = "the texts", "their gold objects", "the objects to score"
    add = _add_command(subparsers, "evidence", _evidence, journals=texts, gold=gold, predictions=predictions)
    add("--schema", type=Path, help="JSON file with the schema; default: that of journals")
    add("--threshold", default="0.5", help="overlap of words that a match needs (default 0.5)")
    add("--matching", default="greedy", help="greedy (default) or optimal")


def _add_command(subparsers: Subparsers, name: str, run: Run, **files: str) -> Callable[..., Any]:
    """Add a command with these files as positional arguments; what adds an option is returned."""
    parser = add_command(subparsers, name, run)
    for file, text in files.items():
        parser.add_argument(file, type=Path, metavar=file.upper(), help=text)
    printed.add_options(parser)
    return parser.add_argument


def _timelines(args: argparse.Namespace) -> int:
    """Score timelines by AR-1, AR-2 and date F1.

    GOLD and PREDICTIONS are each one of
      a folder as news-tls has it, TOPIC/timelines.jsonl, or the folder of one topic
      a folder with a file a topic: TOPIC.txt, TOPIC.json, TOPIC.jsonl
      rows in JSON Lines, JSON, CSV or Parquet: {"topic": "egypt", "timeline": [{"date": "2011-01-25", "text": "…"}]};
        several timelines of a topic as "timelines"; a model's text as "prediction"
      one document: a timelines.jsonl, JSON, or the text that a model wrote
    A topic's prediction is scored against each of its references; or there are as many, in the same order. A topic
    without a prediction scores 0, and a prediction of a topic that GOLD lacks is an error.

    Prints the mean over topics first, in the layout of the timeline papers' scripts, then what news-tls reports,
    each topic, and the signatures.

    Exit codes: 0 scored; 2 a file can't be read, or the two don't fit

    Examples:
      tls-tasks timelines gold/ predictions/
      tls-tasks timelines data/crisis predictions.jsonl --variant agreement --reference-mode joint
      tls-tasks timelines gold/egypt answer.txt --detailed
    """
    options = {name: getattr(args, name) for name in ("reference_mode", "variant", "tokenizer", "tolerance")}
    with printed.warnings_as_notes(args):
        rows = read_topics(args.gold, args.predictions)
        both = score_timelines([row.prediction for row in rows], [row.references for row in rows], **options)
    note("timelines", *missing_note(((row.topic, row.told) for row in rows), "topics", "it scores 0"))
    if unread := [row.topic for row in rows if row.told is not None and row.told.failed]:
        predictions = f"{count(len(unread), 'prediction')}, of {unread[0]!r} first"
        note("timelines", f"no timeline can be read in {predictions}; it scores 0")
    # with the results that the timeline tasks have; each topic has a vote in the means of F
    score = replace(both, definitions=RESULTS, topics=[rows[item.row].topic for item in both.items])
    topics, intervals = score.by_topic(), printed.intervals_of(args, score)
    result = {"metrics": score.results, "topics": topics, "intervals": intervals, "signature": score.signature}
    if args.detailed:
        result["items"] = [item.as_dict() for item in score.items]
    table = [*printed.papers_layout(score.results, topics)]
    if intervals:
        table += [printed.value_table(score.results, intervals), ""]
        result = printed.with_intervals(result, intervals)
    printed.print_score(args, score, [row.name for row in rows], "topic", keys=_PER_PAIR, table=table, result=result)
    return 0


def _summaries(args: argparse.Namespace) -> int:
    """Score summaries by ROUGE-L.

    GOLD and PREDICTIONS are each one of
      a text file with one summary a line
      rows in JSON Lines, JSON, CSV or Parquet: {"id": "m1", "summary": "…"}; several references as "references",
        a model's text as "prediction"
      a folder with a file a summary, m1.txt
    They are joined by id, or line by line where there are no ids. A summary that lacks a prediction scores 0, and a
    prediction of what GOLD lacks is an error.

    Exit codes: 0 scored; 2 a file can't be read, or the two don't fit

    Examples:
      tls-tasks summaries references.txt summaries.txt
      tls-tasks summaries gold.jsonl predictions.jsonl --tokenizer rouge --stem --lsum
      tls-tasks summaries gold/ predictions/ --detailed --confidence 0.95
    """
    rows = read_summaries(args.gold, args.predictions)
    types = ["rougeL", *["rougeLsum"] * args.lsum]
    options = {"rouge_types": types, "use_stemmer": args.stem, "split_summaries": args.split}
    columns = [row.prediction or "" for row in rows], [row.references for row in rows]
    with printed.warnings_as_notes(args):
        score = rouge_l(*columns, tokenizer=args.tokenizer, **options)
    note("summaries", *missing_note(((row.id, row.prediction) for row in rows), "summaries", "it scores 0"))
    names, keys = [row.id for row in rows], [*score.definitions]
    printed.print_score(args, score, names, "summary", keys=keys, headline="rouge_l_f1")
    return 0


def _evidence(args: argparse.Namespace) -> int:
    """Score extracted objects: which are found, whether their attributes and their quotes are right.

    JOURNALS     JSON Lines: {"journal_id": "J1", "text": "…"}
    GOLD         JSON Lines: {"journal_id": "J1", "items": [{"domain": …, "evidence_span": …, …}, …]}, one a journal
    PREDICTIONS  the same; "items" may also be the text that a model wrote. A journal without a line has no predictions:
                 all its gold objects are missed.
    Each may also be JSON, CSV or Parquet, or a folder with a file a journal: J1.txt, J1.json.

    Prints the total over all objects, then one line per journal.

    Exit codes: 0 scored; 2 a file can't be read, or the three don't fit

    Example:
      tls-tasks evidence journals.jsonl gold.jsonl predictions.jsonl --detailed
    """
    schema = JOURNAL_SCHEMA if args.schema is None else schema_at(args.schema)
    journals, answers = read_three(args.journals, args.gold, args.predictions, schema)
    predictions = ["[]" if answer is None else answer for answer in answers.values()]
    columns = predictions, [journal.objects for journal in journals], [journal.text for journal in journals]
    options: dict[str, Any] = {"schema": schema, "threshold": args.threshold, "matching": args.matching}
    with printed.warnings_as_notes(args):
        score = evidence_extraction(*columns, **options)
    note("evidence", *missing_note(answers.items(), "journals", "all their gold objects are missed"))
    names, intervals = [journal.id for journal in journals], printed.intervals_of(args, score)
    if misquoted := [own.id for own in journals for gold in own.objects if gold[schema.span_field] not in own.text]:
        note("evidence", f"{len(misquoted)} gold objects don't quote their journal verbatim, first of {misquoted[0]}")
    table = [*_evidence_table(score, names)]
    if intervals:
        table += ["", printed.value_table({key: score.results[key] for key in intervals}, intervals, "f1")]
    result = printed.as_json(args, score, names, "journals", "journal_id")
    printed.print_score(args, score, names, "journal", table=table, result=result)
    return 0


def _evidence_table(score: Score, names: Sequence[str]) -> Iterator[str]:
    """The total, then a line per journal; ``-`` where there was nothing to be right or wrong about."""
    attributes = [key.removesuffix("_accuracy") for key in score.definitions if key.endswith("_accuracy")]
    asked = {**{f"{name}_accuracy": f"{name}/asked" for name in attributes}, "evidence_coverage": "checked"}
    keys = ["tp", "fp", "fn", "precision", "recall", "f1", *asked]
    lines = [["journal", *keys[:6], *attributes, "coverage"]]
    rows = [("total", score.units), *((name, [unit]) for name, unit in zip(names, score.units, strict=True))]
    for name, units in rows:
        lines.append([name, *(_cell(score.definitions[key], units, asked.get(key)) for key in keys)])
    head, total, *journals = text_table(lines).split("\n")
    yield from (head, styled(total), *journals)
    totals = score.results
    yield f"parse failures {totals['parse_failures']:.0f}, objects that break the schema {totals['schema_invalid']:.0f}"


def _cell(result: Result, units: Sequence[Unit], asked: str | None) -> str:
    if asked is not None and not any(unit[asked] for unit in units):
        return "-"
    return f"{result.value(units):.0f}" if result.is_count else f"{result.value(units):.4f}"
