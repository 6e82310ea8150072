"""``tls-tasks timelines | summaries | evidence | trees --predictions P --references R``: score what lies in files."""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import tls_tasks
from tls_tasks.cli import base, printed
from tls_tasks.core.errors import InputError, ParseFailureWarning, without_warnings
from tls_tasks.data.rows_by_id import Row, error_context, missing_note, read_document, some
from tls_tasks.evidence.data import read_files, read_schema_file
from tls_tasks.evidence.types import JOURNAL_SCHEMA
from tls_tasks.summaries.data import read_summaries
from tls_tasks.timelines import score as score_timelines
from tls_tasks.timelines.files import read_topics
from tls_tasks.timelines.task import RESULTS
from tls_tasks.trees.data import TreeRow, holds_many, read_trees
from tls_tasks.trees.rows import read_prediction, read_reference
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.score import main_results
from tls_tasks.trees.shape import infer_node
from tls_tasks.trees.types import leaves_by_path, path_name

_PER_PAIR = ("ar1_precision", "ar1_recall", "ar1_f1", "ar2_f1", "date_precision", "date_recall", "date_f1")


def add_parser(subparsers: base.Subparsers) -> None:
    """Add the four commands."""
    add = _add_command(subparsers, "timelines", _timelines)
    add("--variant", default="align+m:1", help="how dates are aligned: align+m:1 (default), align+, …")
    add("--reference-mode", default="separate", help="separate (default), or joint as in CHRONOS")
    add("--tokenizer", default="rouge155", help="rouge155 (default), or unicode for other scripts")
    add("--tolerance", type=int, default=0, metavar="DAYS", help="dates of date F1 may differ by (0)")
    add = _add_command(subparsers, "summaries", _summaries)
    add("--read", default="text", help="score the whole text (default), or the answer in it, as the tasks do")
    add("--tokenizer", default="whitespace", help="whitespace (default), rouge or unicode")
    add("--stem", action="store_true", help="stem words, as rouge_score's use_stemmer does")
    add("--lsum", action="store_true", help="rougeLsum, too: sentence by sentence")
    add("--split", default="newline", help="where its sentences end: newline (default) or regex")
    add("--ngrams", action="store_true", help="rouge1 and rouge2, too: words and pairs of words in any order")
    add = _add_command(subparsers, "evidence", _evidence)
    add("--sources", type=Path, metavar="FILE", help="the texts, if quotes are checked")
    add("--schema", type=Path, help="JSON file with the schema; default: that of journals")
    add("--threshold", default="0.5", help="overlap of words that a match needs (default 0.5)")
    add("--matching", default="greedy", help="greedy (default) or optimal")
    add("--postprocess", help="make objects fit the schema first; keep, drop or uncertain: those that quote no text")
    add = _add_command(subparsers, "trees", _trees)
    add("--schema", type=Path, metavar="FILE", help="file with the schema (default: the references' own shape)")
    add("--sources", type=Path, metavar="FILE", help="the texts, in which the quotes of values are looked up")
    add("--metric", action="append", default=[], metavar="[WHERE=]NAME", help="of leaves, or of this path or type")
    add("--compat", choices=("treeval",), help="score as that program does")
    add("--strict", action="store_true", help="read the prediction as JSON only")


def _add_command(subparsers: base.Subparsers, name: str, run: base.Run) -> Callable[..., Any]:
    """Add a command with the options that all of them have; what adds an option is returned."""
    add = base.add_command(subparsers, name, run).add_argument
    add("--predictions", type=Path, required=True, metavar="FILE", help="what to score, a file or folder")
    add("--references", type=Path, required=True, metavar="FILE", help="what is right, a file or folder")
    add("--confidence", type=float, metavar="P", help="show confidence intervals, e.g. 0.95")
    add("--json", action="store_true", help="print JSON")
    add("--detailed", action="store_true", help="show what each document's score is made of")
    printed.add_outputs(add)
    return add


def _timelines(args: argparse.Namespace) -> int:
    """Score timelines by AR-1, AR-2 and date F1.

    REFERENCES and PREDICTIONS are each one of
      a folder as news-tls has it, TOPIC/timelines.jsonl, or the folder of one topic
      a folder with a file a topic: TOPIC.txt, TOPIC.json
      rows in JSON Lines, JSON, CSV or Parquet: {"topic": "egypt", "timeline": [{"date": "2011-01-25", "text": "…"}]};
        several timelines of a topic as "timelines"; a model's text as "prediction", "answer", "output" or "response"
      a sheet with a row an event, CSV or Parquet: Topic, Date, Event (or Text)
      one document: a timelines.jsonl, JSON, or the text that a model wrote
    A topic's prediction is scored against each of its references; or there are as many, in the same order. A topic
    without a prediction scores 0, and a prediction of a topic without a reference is an error.

    Prints the mean over topics first, in the layout of the timeline papers' scripts, then what news-tls reports,
    each topic, and the signatures.

    Exit codes: 0 scored; 2 a file can't be read, or the two don't fit; 3 a result is too low (--fail-if-below)

    Examples:
      tls-tasks timelines --predictions predictions/ --references gold/
      tls-tasks timelines --predictions answers.jsonl --references data/crisis --variant agreement
      tls-tasks timelines --predictions answer.txt --references gold/egypt --detailed
    """
    options = {name: getattr(args, name) for name in ("reference_mode", "variant", "tokenizer", "tolerance")}
    with base.warnings_as_notes(args.command):
        rows = read_topics(args.references, args.predictions)
        both = score_timelines([row.prediction for row in rows], [row.references for row in rows], **options)
    base.note("timelines", *missing_note(((row.topic, row.parsed) for row in rows), "topics", "scored 0"))
    if unread := {row.topic: row.parsed.problems for row in rows if row.parsed is not None and row.parsed.failed}:
        why = "".join(f" ({noted.kind}: {noted.detail})" for noted in next(iter(unread.values()))[:1])
        base.note("timelines", f"no timeline can be read in the prediction of {some([*unread])}: scored 0{why}")
    # with the results that the timeline tasks have; each topic has a vote in the means of F
    score = replace(both, definitions=RESULTS, topics=[rows[item.row].topic for item in both.items])
    topics, names = score.topic_results(), [row.name for row in rows]
    table = printed.papers_layout(score.results, topics)
    result = {"metrics": score.results, "topics": topics, "intervals": {}, "signature": score.signature}
    if args.detailed:
        result["items"] = [item.as_dict() for item in score.items]
    return printed.print_score(args, score, names, "topic", keys=_PER_PAIR, table=table, result=result)


def _summaries(args: argparse.Namespace) -> int:
    """Score summaries by ROUGE-L.

    REFERENCES and PREDICTIONS are each one of
      a text file with one summary a line
      rows in JSON Lines, JSON, CSV or Parquet: {"id": "m1", "summary": "…"}; several references as "references",
        a model's text as "prediction", "answer", "output" or "response"
      a folder with a file a summary, m1.txt
    They are joined by id, or line by line where there are no ids. A summary that lacks a prediction scores 0, and a
    prediction without a reference is an error.

    Exit codes: 0 scored; 2 a file can't be read, or the two don't fit; 3 a result is too low (--fail-if-below)

    Examples:
      tls-tasks summaries --predictions summaries.txt --references references.txt
      tls-tasks summaries --predictions answers.jsonl --references gold.jsonl --tokenizer rouge --stem --lsum
      tls-tasks summaries --predictions answers/ --references gold/ --detailed --confidence 0.95
    """
    rows = read_summaries(args.references, args.predictions)
    types = ["rougeL", *["rougeLsum"] * args.lsum, *["rouge1", "rouge2"] * args.ngrams]
    options = {"read": args.read, "rouge_types": types, "use_stemmer": args.stem, "split_summaries": args.split}
    columns = [row.prediction or "" for row in rows], [row.references for row in rows]
    with base.warnings_as_notes(args.command):
        score = tls_tasks.rouge_l(*columns, tokenizer=args.tokenizer, **options)
    base.note("summaries", *missing_note(((row.id, row.prediction) for row in rows), "summaries", "scored 0"))
    names, keys = [row.id for row in rows], [*score.definitions]
    return printed.print_score(args, score, names, "summary", keys=keys, headline="rouge_l_f1")


def _evidence(args: argparse.Namespace) -> int:
    """Score extracted objects: which are found, whether their attributes and their quotes are right.

    SOURCES      JSON Lines: {"journal_id": "J1", "text": "…"}; without them quotes aren't checked, nor is coverage
    REFERENCES   JSON Lines: {"journal_id": "J1", "items": [{"domain": …, "evidence_span": …, …}, …]}, one a journal
    PREDICTIONS  the same; "items" may also be the text that a model wrote. A journal without a line has no predictions:
                 all its gold objects are missed.
    Each may also be JSON, CSV or Parquet, or a folder with a file a journal: J1.txt, J1.json.

    Exit codes: 0 scored; 2 a file can't be read, or the three don't fit; 3 a result is too low (--fail-if-below)

    Example:
      tls-tasks evidence --predictions answers.jsonl --references gold.jsonl --sources journals.jsonl --detailed
    """
    schema = JOURNAL_SCHEMA if args.schema is None else read_schema_file(args.schema)
    journals, answers = read_files(args.sources, args.references, args.predictions, schema)
    predictions = ["[]" if answer is None else answer for answer in answers.values()]
    sources = args.sources and [journal.text for journal in journals]
    columns = predictions, [journal.objects for journal in journals], sources
    options = {name: getattr(args, name) for name in ("threshold", "matching", "postprocess")}
    with base.warnings_as_notes(args.command):
        score = tls_tasks.evidence_extraction(*columns, schema=schema, **options)
    base.note("evidence", *missing_note(answers.items(), "journals", "all gold objects missed"))
    names = [journal.id for journal in journals]
    misquoted = [own.id for own in journals for gold in own.objects if gold[schema.span_field] not in own.text]
    if sources and misquoted:
        base.note("evidence", f"gold objects not verbatim in their journal: {len(misquoted)}, first of {misquoted[0]}")
    return printed.print_score(args, score, names, "journal", keys=[*score.definitions], headline="f1")


def _trees(args: argparse.Namespace) -> int:
    """Score trees leaf by leaf: two side by side, or many.

    PREDICTIONS is what a model wrote (JSON, or text with JSON in it), REFERENCES JSON. Both may hold many trees:
    rows in JSON Lines, CSV, Parquet ({"id": "a", "prediction": …}, {"id": "a", "reference": …}), or a folder with a
    file a tree, joined by name. A reference without a prediction counts as one in which nothing can be read; a
    prediction without a reference is an error.

    With SOURCES, the document of two trees, or rows {"id": "a", "text": …} or a folder with a file a document of many,
    predictions may give values with quotes, and grounded_f1 counts those whose quote holds them: see docs/trees.md.

    The schema is a file with treeval's form or JSON Schema; without one, the references' own shape counts. Of two
    trees, missing and extra nodes are marked, and the items of lists stand as the score aligned them; --detailed shows
    so each of many. --json has the values that are wrong, missed, invented or ungrounded as "differences".

    Exit codes: 0 shown; 1 shown, but no tree could be read in PREDICTIONS; 2 not shown; 3 a result is too low
    (--fail-if-below)

    Examples:
      tls-tasks trees --predictions answer.txt --references gold.json --schema invoice.schema.json
      tls-tasks trees --predictions answers.jsonl --references gold.jsonl --schema s.json --detailed
      tls-tasks trees --predictions a.txt --references gold.json --metric string=token_f1
      tls-tasks trees --predictions a.jsonl --references gold.jsonl --sources texts.jsonl --schema s.json
    """
    files = [args.predictions, args.references, args.schema, *filter(None, [args.sources])]
    type_names = [metric.rpartition("=")[0].removeprefix("type:") for metric in args.metric]
    many, schema, rows = _read_trees(type_names, *files)
    base.note("trees", *missing_note(((row.id, row.prediction) for row in rows), "trees", "counted as empty"))
    answers = ["" if row.prediction is None else row.prediction for row in rows]
    mode, references = "strict" if args.strict else "lenient", [row.reference for row in rows]
    node = schema or infer_node(references)
    with without_warnings(ParseFailureWarning):  # a note below says so
        metrics = _leaf_metrics(args.metric, node)
        options: dict[str, Any] = {"compat": args.compat, "parse_mode": mode, "sources": [row.source for row in rows]}
        score = tls_tasks.tree_eval(answers, references, schema, metrics, **options)
    failed = [row for row, unit in zip(rows, score.units, strict=True) if not unit["parsed"]]
    unread = [row.id for row in failed if read_prediction(row.prediction, None, node, mode).failed]  # null is not
    base.note("trees", *(f"{name}: no tree could be read in it" for name in unread))
    names = [row.id for row in rows]
    result = printed.as_json(args, score, names)
    if args.json:
        result["differences"] = [{"id": names[row["row"]], **row} for row in score.differences()]
    keys = [*main_results(score.items[0].plan)]
    headline = next(key for key in ("grounded_f1", "f1_value", "treeval_score") if key in keys)
    args.detailed = args.detailed or not many
    code = printed.print_score(args, score, names, "tree", keys=keys * many, headline=headline, result=result)
    return code or int(bool(unread))


def _read_trees(
    type_names: list[str], predictions: Path, references: Path, schema: Path | None, *sources: Path
) -> tuple[bool, Any, list[TreeRow]]:
    """Whether there are many trees, the schema if there is one, and the trees."""
    many, node = holds_many(predictions) or holds_many(references), None
    with error_context(Row(str(schema), None)):
        if schema is not None:
            node = read_schema(json.loads(read_document(schema)), type_names=type_names)
    return many, node, (read_trees if many else _read_two)(predictions, references, *sources)


def _read_two(prediction: Path, reference: Path, source: Path | None = None) -> list[TreeRow]:
    """A tree that a model wrote, its reference, and the text."""
    with error_context(Row(str(reference), None)):
        right = read_reference(read_document(reference), None)
    text = source and read_document(source)
    return [TreeRow(str(prediction), read_document(prediction, from_model=True), right, text)]


def _leaf_metrics(arguments: list[str], node: Any) -> dict[Any, list[str]] | None:
    """``--metric`` as ``leaf_metrics``: a name alone is a metric of every leaf.

    Raises:
        InputError: No name, or no path before the equals sign.

    Example:
        >>> _leaf_metrics(["exact_match", "b=rouge_l"], read_schema({"a": "integer", "b": "string"}))
        {'a': ['exact_match'], 'b': ['exact_match', 'rouge_l']}
    """
    chosen: dict[Any, list[str]] = {}
    for argument in arguments:
        where, equals, name = argument.rpartition("=")
        if not name or (equals and not where):
            raise InputError("--metric", None, repr(argument), "NAME or WHERE=NAME")
        for path in [where] if where else map(path_name, leaves_by_path(node)):
            chosen.setdefault(path, []).append(name)
    return chosen or None
