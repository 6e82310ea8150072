"""``tls-tasks leaderboard``: verified submissions as a static page."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

_DESCRIPTION = """\
Rank submissions (folders or zips of tls-tasks submit) task by task on a static page. Each is verified first; one that
does not hold is left out and named. Published rows of papers stand below the ranking, marked as such.

exit codes: 0 written; 1 written, and a submission was left out; 2 not done

example:
  tls-tasks leaderboard submissions/* -o site/
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "leaderboard", run, summary="verified submissions as a static page", description=_DESCRIPTION
    )
    parser.add_argument("submissions", nargs="+", type=Path, help="folders or zips that tls-tasks submit wrote")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where index.html goes")


def run(args: argparse.Namespace) -> int:
    """Verify, rank and write.

    Returns:
        0, or 1 if a submission was left out.

    Raises:
        TlsTasksError: If none holds.
    """
    from tls_tasks.after.submission.archive import unpack, verify
    from tls_tasks.after.submission.leaderboard import Submission, rankings, read_submission, site
    from tls_tasks.core.errors import DataError, TlsTasksError

    kept: dict[str, Submission] = {}
    n_left_out = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, place in enumerate(args.submissions):
            folder = place
            try:
                if place.is_file():
                    folder = Path(scratch) / str(number)
                    unpack(place, folder)
                found, manifest = verify(folder)
                reasons = [str(refusal) for refusal in found]
                if not reasons and manifest["model"] in kept:
                    reasons = [f"a second submission of {manifest['model']}; the first counts"]
            except (TlsTasksError, OSError) as error:  # one bad submission must not cost the page
                reasons, manifest = [str(error)], {}
            for reason in reasons:
                print(f"tls-tasks leaderboard: {place} left out: {reason}", file=sys.stderr)
            n_left_out += bool(reasons)
            if not reasons:
                kept[manifest["model"]] = read_submission(folder, manifest["model"])
        if not kept:
            raise DataError("no submission holds, so that there is nothing to rank")
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "index.html").write_text(site(rankings(list(kept.values()))), encoding="utf-8")
    print(f"{args.out / 'index.html'}: {len(kept)} submissions, {n_left_out} left out")
    return int(n_left_out > 0)
