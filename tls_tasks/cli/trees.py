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
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import add_command, no_formula, note, number, say, styled, write_json
from tls_tasks.cli.scored_files import add_options, as_json, document_table, intervals_of, value_table
from tls_tasks.core.errors import InputError

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers
    from tls_tasks.cli.scored_files import Intervals
    from tls_tasks.core.score import Score
    from tls_tasks.trees.score import Sample

_STYLES = {"=": "32", "~": "33", "x": "31", "!": "31;1", "-": "31", "+": "35", ".": "2", " ": "1"}
"""Sign of a node -> its colour (SGR)."""


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "trees", _run)
    parser.add_argument("prediction", metavar="PREDICTION", help="file with a model's answer, or with many")
    parser.add_argument("reference", metavar="REFERENCE", help="file with the reference, as JSON, or with many")
    parser.add_argument("--schema", required=True, metavar="FILE", help="file with the schema")
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="[WHERE=]NAME",
        help="a metric of all leaves, or of those with this path or type; may be given again",
    )
    parser.add_argument("--compat", choices=("treeval", "extractbench"), help="score as that program does")
    parser.add_argument("--strict", action="store_true", help="read the prediction as JSON only")
    parser.add_argument("--no-color", "--no-colour", dest="color", action="store_false", help="no colour")
    add_options(parser)
    parser.add_argument("--csv", action="store_true", help="print what differs, a line a value, as CSV")


def _differences(score: Score, names: Sequence[str]) -> list[dict[str, Any]]:
    """What differs, with the name of each row."""
    return [{"id": names[found["row"]], **found} for found in score.differences()]


def _write_csv(found: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV: values as JSON, but texts as they are, unless they would be taken for another value."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in found:
        told = {**row, "expected": _cell(row["expected"]), "got": _cell(row["got"])}
        writer.writerow([no_formula(str(told[column])) for column in _COLUMNS])


_COLUMNS = ("id", "row", "path", "expected", "got", "kind", "score")

_NO_TEXT = re.compile(r"(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null)?")
"""What stands for something else than a text where texts have no quotation marks."""


def _cell(value: Any) -> str:
    """A value in a cell; nothing for one that is missing.

    Example:
        >>> [_cell(value) for value in (81, "81", "Ulm", "", None, True, [1, "a"])]
        ['81', '"81"', 'Ulm', '""', '', 'true', '[1, "a"]']
    """
    if isinstance(value, str) and not _NO_TEXT.fullmatch(value):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


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
    from tls_tasks.core.errors import ParseFailureWarning
    from tls_tasks.data.keyed import missing_note
    from tls_tasks.trees.data_rows import TreeRow, holds_many, read_trees
    from tls_tasks.trees.rows import read_prediction, read_reference
    from tls_tasks.trees.schema import read_schema
    from tls_tasks.trees.tree_eval import tree_eval

    if args.prediction == args.reference == "-":
        raise InputError("REFERENCE", None, "'-' twice", "a file for one of the two trees")
    node = read_schema(_text(args.schema, "schema"))
    many = holds_many(Path(args.prediction)) or holds_many(Path(args.reference))
    if many:
        rows = read_trees(Path(args.prediction), Path(args.reference))
    else:
        text = _text(args.prediction, "prediction", of_a_model=True)
        rows = [TreeRow(args.prediction, text, read_reference(_text(args.reference, "reference")))]
    note("trees", *missing_note(((row.id, row.prediction) for row in rows), "trees", "it counts as empty"))
    told = ["" if row.prediction is None else row.prediction for row in rows]
    mode = "strict" if args.strict else "lenient"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParseFailureWarning)  # said below
        metrics = _leaf_metrics(args.metric, node)
        score = tree_eval(told, [row.reference for row in rows], node, metrics, compat=args.compat, parse_mode=mode)
    parses = [read_prediction(answer, None, node, mode) for answer in told]
    unread = [row.id for row, parsed in zip(rows, parses, strict=True) if parsed.failed and row.prediction is not None]
    note("trees", *(f"{name}: no tree could be read in it" for name in unread))
    intervals = intervals_of(args, score)
    if args.json:
        told_of = as_json(score, [row.id for row in rows], intervals, args.detailed)
        if args.compat != "extractbench":
            told_of["differences"] = _differences(score, [row.id for row in rows])
        write_json(Path("-"), told_of)
    elif args.csv:
        _write_csv(_differences(score, [row.id for row in rows]))
    elif many or args.compat == "extractbench":
        say("\n".join(_many(score, [row.id for row in rows], intervals, args)))
    else:
        say("\n".join([*_comparison(score, score.items[0], args.color), *_totals(score.as_dict())]))
    return int(bool(unread))


def _many(score: Score, names: Sequence[str], intervals: Intervals, args: argparse.Namespace) -> Iterator[str]:
    from tls_tasks.trees import extractbench
    from tls_tasks.trees.score import judged

    has_leaves = args.compat != "extractbench"
    keys = list(extractbench.KEYS)
    if has_leaves:
        keys = list(judged(score.items[0].plan)) if score.items else list(score.definitions)
    headline = next(key for key in ("f1_value", "treeval_score", keys[-1]) if key in keys)
    yield value_table(score.results, intervals, headline)
    if args.detailed:
        yield from ("", document_table(names, score, keys, "tree"))
        for sample in score.items if has_leaves else ():
            yield from ("", f"{names[sample.row]}:", *_comparison(score, sample, args.color))
    yield from ("", score.signature)


def _leaf_metrics(arguments: list[str], node: Any) -> dict[Any, list[str]] | None:
    """``--metric`` as ``leaf_metrics``: a name alone is a metric of every leaf.

    Raises:
        InputError: No name, or no place before the equals sign.

    Example:
        >>> from tls_tasks.trees.schema import read_schema
        >>> _leaf_metrics(["exact_match", "b=rouge_l"], read_schema({"a": "integer", "b": "string"}))
        {('a',): ['exact_match'], ('b',): ['exact_match', 'rouge_l']}
    """
    from tls_tasks.trees.settings import named_path
    from tls_tasks.trees.types import leaves_of, nodes_of

    nodes = nodes_of(node)
    chosen: dict[Any, list[str]] = {}
    for argument in arguments:
        where, equals, name = argument.rpartition("=")
        if not name or (equals and not where):
            raise InputError("--metric", None, repr(argument), "NAME or WHERE=NAME")
        for place in [named_path(where, nodes) or where] if where else leaves_of(node):
            chosen.setdefault(place, []).append(name)
    return chosen or None


def _comparison(score: Score, sample: Sample, color: bool) -> Iterator[str]:
    """What :meth:`~tls_tasks.core.score.Score.explain` says of one prediction; its table is coloured by SGR codes."""
    lines = [line.removeprefix("  ") for line in score.explanation(sample)]
    end = lines.index("")
    yield lines[0]
    yield from (styled(line, _STYLES[line[0]]) if color else line for line in lines[1:end])
    yield from lines[end:]


def _totals(result: Mapping[str, Any]) -> list[str]:
    averages = "  ".join(
        f"{name} {value:.3f}" for name, value in result["averages"]["per_metric"].items() if value is not None
    )
    return [
        "",
        *(
            f"{what}: precision {number(result[f'precision_{key}'])}  recall {number(result[f'recall_{key}'])}"
            f"  F1 {number(result[f'f1_{key}'])}"
            for what, key in (("values", "value"), ("values, exact", "value_exact"))
            if f"f1_{key}" in result
        ),
        f"treeval score {result['treeval_score']:.3f}  {averages}".rstrip(),
        *(
            f"{part}: precision {result[f'precision_{part}']:.3f}  recall {result[f'recall_{part}']:.3f}"
            f"  F1 {result[f'f1_{part}']:.3f}"
            for part in ("node", "leaf")
        ),
        result["signature"],
    ]


def _text(name: str, what: str, *, of_a_model: bool = False) -> str:
    """What is in a file; bytes that are no UTF-8 are the model's fault in a prediction, else the caller's."""
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return data.decode("utf-8", "replace" if of_a_model else "strict")
    except UnicodeDecodeError as error:
        raise InputError(
            what, None, f"{name}, which is no UTF-8 at byte {error.start}", "a text file in UTF-8"
        ) from None
