"""``tls-tasks agree``: what people's labels make of a judged score."""

import argparse
import csv
from collections import Counter
from pathlib import Path

from tls_tasks.cli.base import Subparsers, add_command, count, no_formula, say, write_json
from tls_tasks.cli.printed import columns_table
from tls_tasks.core.atomic import atomic_file
from tls_tasks.core.errors import InputError, check_whole_number
from tls_tasks.data.files import filled_text
from tls_tasks.reports.documents import FILE_FORMS
from tls_tasks.reports.labels import corrections, label_sheet, read_items, read_labels


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    agree = add_command(subparsers, "agree", _run_agree)
    agree.add_argument("a", metavar="A", type=Path, help="what a judge said of a run (.jsonl, .jsonl.gz)")
    agree.add_argument("b", metavar="B", type=Path, nargs="?", help="what a second judge said of the same run")
    agree.add_argument("--json", action="store_true", help="print JSON instead of a table; undefined values are null")
    agree.add_argument("--labels", metavar="PEOPLE", type=Path, help="correct A (and B) by people's labels of a draw")
    agree.add_argument("--sample", metavar="N", type=int, help="draw N items of each kind of A for people to label")
    agree.add_argument("--seed", metavar="SEED", type=int, default=12345, help="with --sample: seed (12345)")
    agree.add_argument("-o", "--output", metavar="FILE", type=Path, help="with --sample: the file to label, .csv")
    agree.add_argument("--documents", metavar="PLACE", action="append", help=f"with --sample: {FILE_FORMS}")


def _run_agree(args: argparse.Namespace) -> None:
    """Draw items of a judged run for people to label, and correct the judge's score by their labels.

    --sample N draws N citations, nuggets and criteria of A, and writes a table with an empty column `label`. People
    write YES or NO: does the cited document (source) support the sentence (text)? Does the report (source) give the
    nugget (text)? Does it meet the criterion? --labels PEOPLE reads the table and corrects the micro values of
    citation_support and nugget_coverage, and criteria_met (PPI++), with a 95 % interval for the value that people would
    give, beside the mean and the interval of the labels alone, which show what the judge adds to them, and the judge's
    sensitivity and specificity. At least 30 labels of a kind are needed, 5 of them YES and 5 NO.
    With A and B, the same labels correct both.
    A and B are OUT/results.jsonl of `tls-tasks reports` (verdicts.jsonl stands for it).

    Exit codes:
      0  drawn, or corrected
      2  not done: a file that can't be read, labels that are too few or belong to other items

    Examples:
      tls-tasks agree runs/a/results.jsonl --sample 100 --seed 1 -o labels.csv --documents documents.jsonl
      tls-tasks agree runs/a/results.jsonl --labels labels.csv
      tls-tasks agree runs/a/results.jsonl runs/b/results.jsonl --labels labels.csv
    """
    if args.sample is not None:
        if args.output is None or args.labels is not None:
            raise InputError("--sample", None, "it without -o, or with --labels", "A, -o, --seed and --documents")
        return _draw(args)
    if args.labels is not None:
        return _correct(args)
    raise InputError("agree", None, "neither --sample nor --labels", "one of them")


def _draw(args: argparse.Namespace) -> None:
    """Write the items that people shall label."""
    check_whole_number("--sample", args.sample)
    items = read_items(args.a, args.documents or ())
    rows = label_sheet(items, args.sample, args.seed)
    with atomic_file(args.output) as new, new.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([map(no_formula, row) for row in rows])
    drawn, of = Counter(kind for kind, *_ in rows[1:]), Counter(kind for kind, *_ in items)
    told = ", ".join(f"{drawn[kind]} of {count(of[kind], kind)}" for kind in of)
    say(f"{args.output}: {told}")


def _correct(args: argparse.Namespace) -> None:
    """Print micro values of one or two judges, corrected by people's labels."""
    places = [path for path in (args.a, args.b) if path is not None]
    judges = [read_items(path) for path in places]
    labels = read_labels(args.labels, *judges)
    found = {name: corrections(items, labels) for name, items in zip("AB", judges, strict=False)}
    if args.json:
        write_json(Path("-"), found if args.b is not None else found["A"])
        return
    heads = [f"{name}: {path}" for name, path in zip("AB", places, strict=False)]
    not_corrected = filled_text(Path(__file__).with_name("not_corrected.txt"))
    say("\n".join([*heads, f"labels: {args.labels}", "", columns_table(found), not_corrected]))
