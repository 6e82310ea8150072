"""``tls-tasks timelines GOLD PREDICTIONS``: score timelines in files."""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tls_tasks.cli.base import Subparsers, add_command, count, note, number, say, styled, write_json
from tls_tasks.cli.scored_files import (
    add_files,
    document_table,
    explained,
    intervals_of,
    value_table,
    warnings_as_notes,
)

_MEAN_F = (("AR-1", "ar1_mean_f"), ("AR-2", "ar2_mean_f"), ("Date-F1", "date_mean_f"))
_F_OF_MEANS = (("AR-1", "ar1_f1"), ("AR-2", "ar2_f1"), ("Date-F1", "date_f1"))
_PER_PAIR = ("ar1_precision", "ar1_recall", "ar1_f1", "ar2_f1", "date_precision", "date_recall", "date_f1")


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "timelines", _run)
    add_files(parser, gold="the reference timelines", predictions="the timelines to score")
    parser.add_argument("--variant", default="align+m:1", help="how dates are aligned: align+m:1 (default), align+, …")
    parser.add_argument("--reference-mode", default="separate", help="separate (default), or joint as in CHRONOS")
    parser.add_argument("--tokenizer", default="rouge155", help="rouge155 (default), or unicode for other scripts")
    parser.add_argument("--tolerance", type=int, default=0, metavar="DAYS", help="dates of date F1 may differ by (0)")


def _run(args: argparse.Namespace) -> int:
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
    from tls_tasks.data.keyed import missing_note
    from tls_tasks.timelines import score as score_timelines
    from tls_tasks.timelines.files import read_topics
    from tls_tasks.timelines.task import RESULTS

    with warnings_as_notes("timelines"):
        rows = read_topics(args.gold, args.predictions)
    columns = [row.prediction for row in rows], [row.references for row in rows]
    options = {name: getattr(args, name) for name in ("reference_mode", "variant", "tokenizer", "tolerance")}
    with warnings_as_notes("timelines"):
        both = score_timelines(*columns, **options)
    note("timelines", *missing_note(((row.topic, row.told) for row in rows), "topics", "it scores 0"))
    if unread := [row.topic for row in rows if row.told is not None and row.told.failed]:
        note(
            "timelines",
            f"no timeline can be read in {count(len(unread), 'prediction')}, of {unread[0]!r} first; it scores 0",
        )
    # with the results that the timeline tasks have; each topic has a vote in the means of F
    score = replace(both, definitions=RESULTS, topics=[rows[item.row].topic for item in both.items])
    topics, intervals = score.by_topic(), intervals_of(args, score)
    if args.json:
        told = {"metrics": score.results, "topics": topics, "intervals": intervals, "signature": score.signature}
        if args.detailed:
            told["items"] = [item.as_dict() for item in score.items]
        write_json(Path("-"), told)
        return 0
    say("\n".join(papers_layout(score.results, topics)))
    if intervals:
        say(value_table(score.results, intervals) + "\n")
    if args.detailed:
        say(document_table([row.name for row in rows], score, _PER_PAIR, "topic"))
        say(explained(score, [row.name for row in rows]) + "\n")
    say(score.signature)
    return 0


def papers_layout(values: Mapping[str, float], topics: Mapping[Hashable, Mapping[str, float]]) -> Iterator[str]:
    """The layout that the scripts of timeline papers print, but for the mean over topics, which comes first here."""
    yield from ("=== Evaluation Results ===", "", styled(f"=== AVERAGE ({count(len(topics), 'topic')}) ==="))
    yield from (*(styled(line) for line in _block(values, _MEAN_F)), "")
    yield "=== F1 OF THE MEAN PRECISION AND RECALL (as reported by news-tls and LLM-TLS) ==="
    yield from (*_block(values, _F_OF_MEANS), "")
    for topic, results in topics.items():
        yield from (f"Topic: {topic}", *_block(results, _MEAN_F), "")


def _block(values: Mapping[str, float], rows: Sequence[tuple[str, str]]) -> list[str]:
    return [f"  {name + ':':<9} {number(values[key])}" for name, key in rows if key in values]
