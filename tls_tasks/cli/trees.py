"""``tls-tasks trees PREDICTION REFERENCE --schema FILE``: two trees side by side, or the scores of many."""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import Subparsers, add_command, no_formula, note, number, say, styled, write_json
from tls_tasks.cli.printed import add_options, as_json, document_table, intervals_of, value_table
from tls_tasks.core.errors import InputError, ParseFailureWarning
from tls_tasks.core.score import Score
from tls_tasks.data.keyed import missing_note
from tls_tasks.trees import extractbench
from tls_tasks.trees.data_rows import TreeRow, holds_many, read_trees
from tls_tasks.trees.rows import read_prediction, read_reference
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.score import Sample, judged
from tls_tasks.trees.settings import named_path
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import leaves_of, nodes_of

_STYLES = {"=": "32", "~": "33", "x": "31", "!": "31;1", "-": "31", "+": "35", ".": "2", " ": "1"}
"""Sign of a node -> its colour (SGR)."""

_COLUMNS = ("id", "row", "path", "expected", "got", "kind", "score")
"""Of ``--csv``."""

_NO_TEXT = re.compile(r"(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null)?")
"""What stands for something else than a text where texts have no quotation marks."""


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "trees", _run)
    add = parser.add_argument
    add("prediction", metavar="PREDICTION", help="file with a model's answer, or with many")
    add("reference", metavar="REFERENCE", help="file with the reference, as JSON, or with many")
    add("--schema", required=True, metavar="FILE", help="file with the schema")
    metric = "a metric of all leaves, or of those with this path or type; may be given again"
    add("--metric", action="append", default=[], metavar="[WHERE=]NAME", help=metric)
    add("--compat", choices=("treeval", "extractbench"), help="score as that program does")
    add("--strict", action="store_true", help="read the prediction as JSON only")
    add("--no-color", "--no-colour", dest="color", action="store_false", help="no colour")
    add_options(parser)
    add("--csv", action="store_true", help="print what differs, a line a value, as CSV")


def _run(args: argparse.Namespace) -> int:
    """Score trees leaf by leaf: two side by side, or many.

    PREDICTION is what a model wrote (JSON, or text with JSON in it), REFERENCE is JSON; '-' reads one of them from
    standard input. Both may also hold many trees: rows in JSON Lines, CSV or Parquet ({"id": "a", "prediction": …} and
    {"id": "a", "reference": …}), or a folder with a file a tree, joined by name. A reference without a prediction
    counts as one in which nothing can be read; a prediction without a reference is an error.

    The schema is a file with treeval's form or JSON Schema. Of two trees, missing and extra nodes are marked, and the
    items of lists stand as the score aligned them; --detailed shows so each of many. Colour is used on a terminal,
    unless NO_COLOR is set. --csv prints the values that are wrong, missed or invented, a line each, in place of the
    scores; --json has them as "differences".

    Exit codes: 0 shown; 1 shown, but no tree could be read in PREDICTION; 2 not shown

    Examples:
      tls-tasks trees answer.txt gold.json --schema invoice.schema.json
      tls-tasks trees answers.jsonl gold.jsonl --schema s.json --detailed
      tls-tasks trees answer.txt gold.json --schema s.json --metric string=token_f1 --metric seller.name=exact_match
    """
    if args.prediction == args.reference == "-":
        raise InputError("REFERENCE", None, "'-' twice", "a file for one of the two trees")
    schema = read_schema(_text(args.schema, "schema"))
    many = holds_many(Path(args.prediction)) or holds_many(Path(args.reference))
    if many:
        rows = read_trees(Path(args.prediction), Path(args.reference))
    else:
        text = _text(args.prediction, "prediction", of_a_model=True)
        rows = [TreeRow(args.prediction, text, read_reference(_text(args.reference, "reference")))]
    note("trees", *missing_note(((row.id, row.prediction) for row in rows), "trees", "it counts as empty"))
    answers = ["" if row.prediction is None else row.prediction for row in rows]
    mode = "strict" if args.strict else "lenient"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParseFailureWarning)  # a note below says so
        metrics, references = _leaf_metrics(args.metric, schema), [row.reference for row in rows]
        score = tree_eval(answers, references, schema, metrics, compat=args.compat, parse_mode=mode)
    answered = [row for row in rows if row.prediction is not None]
    unread = [row.id for row in answered if read_prediction(row.prediction, None, schema, mode).failed]
    note("trees", *(f"{name}: no tree could be read in it" for name in unread))
    _print(args, score, [row.id for row in rows], many)
    return int(bool(unread))


def _print(args: argparse.Namespace, score: Score, names: Sequence[str], many: bool) -> None:
    has_leaves = args.compat != "extractbench"
    if args.json:
        result = as_json(args, score, names)
        write_json(Path("-"), {**result, "differences": _differences(score, names)} if has_leaves else result)
    elif args.csv:
        _write_csv(_differences(score, names))
    elif not many and has_leaves:
        say("\n".join([*_comparison(score, score.items[0], args.color), *_totals(score.as_dict())]))
    else:
        keys = [*(judged(score.items[0].plan) if has_leaves else extractbench.KEYS)]
        headline = next(key for key in ("f1_value", "treeval_score", keys[-1]) if key in keys)
        say(value_table(score.results, intervals_of(args, score), headline))
        if args.detailed:
            say(f"\n{document_table(names, score, keys, 'tree')}")
            for sample in score.items if has_leaves else ():
                say("\n".join(["", f"{names[sample.row]}:", *_comparison(score, sample, args.color)]))
        say(f"\n{score.signature}")


def _differences(score: Score, names: Sequence[str]) -> list[dict[str, Any]]:
    """What differs, with the name of each row."""
    return [{"id": names[row["row"]], **row} for row in score.differences()]


def _write_csv(differences: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV: values as JSON, but texts as they are, unless they would be taken for another value."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in differences:
        cells = {**row, "expected": _cell(row["expected"]), "got": _cell(row["got"])}
        writer.writerow([no_formula(str(cells[column])) for column in _COLUMNS])


def _cell(value: Any) -> str:
    """A value in a cell; nothing for one that is missing.

    Example:
        >>> [_cell(value) for value in (81, "81", "Ulm", "", None, True, [1, "a"])]
        ['81', '"81"', 'Ulm', '""', '', 'true', '[1, "a"]']
    """
    if isinstance(value, str) and not _NO_TEXT.fullmatch(value):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _leaf_metrics(arguments: list[str], node: Any) -> dict[Any, list[str]] | None:
    """``--metric`` as ``leaf_metrics``: a name alone is a metric of every leaf.

    Raises:
        InputError: No name, or no path before the equals sign.

    Example:
        >>> _leaf_metrics(["exact_match", "b=rouge_l"], read_schema({"a": "integer", "b": "string"}))
        {('a',): ['exact_match'], ('b',): ['exact_match', 'rouge_l']}
    """
    nodes = nodes_of(node)
    chosen: dict[Any, list[str]] = {}
    for argument in arguments:
        where, equals, name = argument.rpartition("=")
        if not name or (equals and not where):
            raise InputError("--metric", None, repr(argument), "NAME or WHERE=NAME")
        for path in [named_path(where, nodes) or where] if where else leaves_of(node):
            chosen.setdefault(path, []).append(name)
    return chosen or None


def _comparison(score: Score, sample: Sample, color: bool) -> Iterator[str]:
    """What :meth:`~tls_tasks.core.score.Score.explain` says of one prediction; its table is coloured by SGR codes."""
    head, *lines = (line.removeprefix("  ") for line in score.explanation(sample))
    end = lines.index("")
    yield head
    yield from (styled(line, _STYLES[line[0]]) if color else line for line in lines[:end])
    yield from lines[end:]


def _totals(result: Mapping[str, Any]) -> Iterator[str]:
    averages = result["averages"]["per_metric"].items()
    yield ""
    labels = {"value": "values", "value_exact": "values, exact", "node": "node", "leaf": "leaf"}
    for key, label in labels.items():
        if f"f1_{key}" in result:
            shares = (
                number(result[f"{part}_{key}"], 3 if key == label else 4) for part in ("precision", "recall", "f1")
            )
            yield "{}: precision {}  recall {}  F1 {}".format(label, *shares)
    shown = "  ".join(f"{name} {value:.3f}" for name, value in averages if value is not None)
    yield f"treeval score {result['treeval_score']:.3f}  {shown}".rstrip()
    yield result["signature"]


def _text(name: str, what: str, *, of_a_model: bool = False) -> str:
    """What is in a file; bytes that are no UTF-8 are the model's fault in a prediction, else the caller's."""
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return data.decode("utf-8", "replace" if of_a_model else "strict")
    except UnicodeDecodeError as error:
        got = f"{name}, which is no UTF-8 at byte {error.start}"
        raise InputError(what, None, got, "a text file in UTF-8") from None
