"""``tls-tasks trees PREDICTION REFERENCE --schema FILE``: two trees side by side, each leaf with its scores."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import add_command, note
from tls_tasks.core.errors import InputError
from tls_tasks.core.text_table import text_table

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers
    from tls_tasks.core.score import Score
    from tls_tasks.trees.read import ParsedTree
    from tls_tasks.trees.view import Row

_MARKS: Mapping[str, tuple[str, str, str]] = {
    "same": ("=", "32", "the best score"),
    "near": ("~", "33", "between"),
    "wrong": ("x", "31", "the worst score"),
    "type": ("!", "31;1", "a value of another type"),
    "missing": ("-", "31", "only in the reference"),
    "extra": ("+", "35", "only in the prediction"),
    "absent": (".", "2", "null in both"),
    "branch": (" ", "1", ""),
}
"""State of a node -> its sign, its colour (SGR), what it means."""

_LONGEST = 40  # characters of a cell


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "trees", _run)
    parser.add_argument("prediction", metavar="PREDICTION", help="file with a model's answer")
    parser.add_argument("reference", metavar="REFERENCE", help="file with the reference, as JSON")
    parser.add_argument("--schema", required=True, metavar="FILE", help="file with the schema")
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="[WHERE=]NAME",
        help="a metric of all leaves, or of those with this path or type; may be given again",
    )
    parser.add_argument("--compat", choices=("treeval",), help="score as treeval does")
    parser.add_argument("--strict", action="store_true", help="read the prediction as JSON only")
    parser.add_argument("--no-color", "--no-colour", dest="color", action="store_false", help="no colour")


def _run(args: argparse.Namespace) -> int:
    """Show a predicted tree beside its reference, each leaf with its scores.

    Missing and extra nodes are marked, and the items of lists stand as the score aligned them.

    PREDICTION is what a model wrote (JSON, or text with JSON in it), REFERENCE is JSON; '-' reads one of them from
    standard input. The schema is a file with treeval's form or JSON Schema. Colour is used on a terminal, unless
    NO_COLOR is set.

    Exit codes: 0 shown; 1 shown, but no tree could be read in PREDICTION; 2 not shown

    Examples:
      tls-tasks trees answer.txt gold.json --schema invoice.schema.json
      tls-tasks trees answer.txt gold.json --schema s.json --metric string=token_f1 --metric seller.name=exact_match
    """
    import warnings

    from tls_tasks.trees.rows import read_prediction, read_reference
    from tls_tasks.trees.schema import read_schema
    from tls_tasks.trees.tree_eval import tree_eval

    if args.prediction == args.reference == "-":
        raise InputError("REFERENCE", None, "'-' twice", "a file for one of the two trees")
    node = read_schema(_text(args.schema, "schema"))
    text = _text(args.prediction, "prediction", of_a_model=True)
    reference = read_reference(_text(args.reference, "reference"))
    mode = "strict" if args.strict else "lenient"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing could be read is said below
        score = tree_eval(
            [text],
            [reference],
            node,
            _leaf_metrics(args.metric, node),
            compat=args.compat,
            parse_mode=mode,
        )
    parsed = read_prediction(text, 0, node, mode)
    if parsed.failed:
        note("trees", f"{args.prediction}: no tree could be read in it")
    print(_comparison(score, parsed, reference, args.color and _wants_color(os.environ)))  # noqa: T201 - has colours
    return int(parsed.failed)


def _leaf_metrics(arguments: list[str], node: Any) -> dict[Any, list[str]] | None:
    """``--metric`` as ``leaf_metrics``: a name alone is a metric of every leaf.

    Raises:
        InputError: No name, or no place before the equals sign.

    Example:
        >>> from tls_tasks.trees.schema import read_schema
        >>> _leaf_metrics(["exact_match", "b=rouge_l"], read_schema({"a": "integer", "b": "string"}))
        {('a',): ['exact_match'], ('b',): ['exact_match', 'rouge_l']}
    """
    from tls_tasks.trees.types import leaves_of, path_name

    paths = {path_name(path): path for path in leaves_of(node)}
    chosen: dict[Any, list[str]] = {}
    for argument in arguments:
        where, equals, name = argument.rpartition("=")
        if not name or (equals and not where):
            raise InputError("--metric", None, repr(argument), "NAME or WHERE=NAME")
        for place in [paths.get(where, where)] if where else paths.values():
            chosen.setdefault(place, []).append(name)
    return chosen or None


def _comparison(score: Score, parsed: ParsedTree, reference: Any, color: bool) -> str:
    """The whole report on one prediction: the table, its legend, what was wrong with the text, and the scores."""
    from tls_tasks.core.terminal import visible
    from tls_tasks.trees.compliance import complies
    from tls_tasks.trees.view import compare

    (sample,) = score.items
    tree = {} if parsed.failed and isinstance(reference, dict) else parsed.value
    rows = compare(reference, tree, sample.plan, sample.alignments)
    lines = [_render(rows, color), "", _legend(rows)]
    lines += [f"reading: {visible(one.kind)}: {visible(one.detail)}" for one in parsed.problems]
    issues = [] if parsed.failed else complies(parsed.value, sample.plan.root)
    lines += [f"schema: {visible(str(issue))}" for issue in issues]
    return "\n".join([*lines, *_totals(score.as_dict())])


def _render(rows: Sequence[Row], color: bool) -> str:
    """A table: sign and key, reference, prediction, scores; coloured by SGR sequences.

    Example:
        >>> from tls_tasks.trees.view import Row
        >>> print(_render([Row("branch", 0, "seller"), Row("missing", 1, "city", '"Ulm"', None)], False))
          key     reference  prediction
          seller
        -   city  "Ulm"
    """
    cells = [("  key", "reference", "prediction", "")]
    for row in rows:
        label = f"{_MARKS[row.state][0]} {'  ' * row.depth}{row.label}"
        cells.append((_cut(label), _cut(row.reference or ""), _cut(row.prediction or ""), _scores(row.scores)))
    head, *lines = text_table(cells).split("\n")
    if color:
        lines = [f"\x1b[{_MARKS[row.state][1]}m{line}\x1b[0m" for row, line in zip(rows, lines, strict=True)]
    return "\n".join([head, *lines])


def _cut(text: str) -> str:
    from tls_tasks.core.terminal import visible

    text = visible(text[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _scores(scores: Mapping[str, float]) -> str:
    if len(scores) == 1:
        return f"{next(iter(scores.values())):.2f}"
    return " ".join(f"{name} {score:.2f}" for name, score in scores.items())


def _legend(rows: Sequence[Row]) -> str:
    """What the signs mean that occur in the rows, on one line."""
    states = {row.state for row in rows}
    return "   ".join(
        f"{sign} {meaning}" for state, (sign, _, meaning) in _MARKS.items() if meaning and state in states
    )


def _totals(result: Mapping[str, Any]) -> list[str]:
    averages = "  ".join(
        f"{name} {value:.3f}" for name, value in result["averages"]["per_metric"].items() if value is not None
    )
    return [
        "",
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


def _wants_color(environ: Mapping[str, str]) -> bool:
    """Whether standard output is a terminal that takes colour, and the user didn't object (https://no-color.org).

    Example:
        >>> _wants_color({"NO_COLOR": "1"})
        False
    """
    return sys.stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
