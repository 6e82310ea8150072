"""``tls-tasks score --verdicts FILE``: cited reports by recorded verdicts; no judge is asked."""

from __future__ import annotations

import argparse
import sys
import warnings

from tls_tasks.core.errors import InputError


def run_reports(args: argparse.Namespace) -> int:
    """Score reports by recorded verdicts and print the scores.

    Returns:
        0, or 1 if a sentence has no score or a line could not be read; stderr says which.

    Raises:
        InputError: If there are more than reports and nuggets, or an option is for other files.
        DataError: If a file can't be read.
    """
    from tls_tasks.cli.base import write_json
    from tls_tasks.cli.documents import open_documents
    from tls_tasks.cli.judge import scores_text
    from tls_tasks.reports.judges import Recorded
    from tls_tasks.reports.report_eval import UnscoredWarning
    from tls_tasks.reports.runs import read_run, score_run
    from tls_tasks.reports.score import runs_of

    if len(args.files) > 2:
        raise InputError("files", None, f"{len(args.files)} files", "REPORTS NUGGETS, or one samples log")
    found = read_run(args.files[0], args.files[1] if len(args.files) > 1 else None)
    documents = None if args.documents is None else open_documents(args.documents)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnscoredWarning)  # said below
        score = score_run(found, Recorded.read(args.verdicts), documents=documents)
    for bad in found.bad:
        print(f"tls-tasks score: {bad}", file=sys.stderr)
    n_unscored = score.as_dict()["n_unscored"]
    if n_unscored:
        print(f"tls-tasks score: {n_unscored} sentences have no score, since verdicts are missing", file=sys.stderr)
    if str(args.json) != "-":
        print(scores_text(score))
    if args.json is not None:
        write_json(args.json, {**score.as_dict(), **runs_of(score)})
    return int(bool(n_unscored or found.bad))
