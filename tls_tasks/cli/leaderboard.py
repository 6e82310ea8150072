"""``tls-tasks leaderboard``: checked submissions ranked on a static page."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import Subparsers, add_command, count, note, say
from tls_tasks.cli.submit import add_means, means_of
from tls_tasks.core.whole import write_whole

if TYPE_CHECKING:
    from tls_tasks.after.submission.verification import Means, Verified


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "leaderboard", _run)
    parser.add_argument("submissions", nargs="+", type=Path, metavar="SUBMISSION", help="what tls-tasks submit wrote")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where to write index.html")
    add_means(parser)


def _run(args: argparse.Namespace) -> int:
    """Rank submissions on a static page: one table for each task and set of conditions.

    Each submission (a folder or zip that tls-tasks submit wrote) is checked first; one that fails is left out and
    named. Only runs of one version on the same data, with the same budget, other options of the prompt, shots and
    judge are ranked together; data that is not known has tables of its own. Results published in papers stand
    beside those on their data, marked as such, else in a table of their own.

    Exit codes: 0 written; 1 written, but a submission was left out; 2 not written

    Examples:
      tls-tasks leaderboard submissions/* -o site/
      tls-tasks leaderboard submissions/* -o site/ --data data/ --allowed-signers signers.txt
    """
    from tls_tasks.after.submission.leaderboard import rankings, site, told_apart
    from tls_tasks.after.submission.signing import bound_names
    from tls_tasks.core.errors import DataError, TlsTasksError

    means = means_of(args)
    bound = bound_names(means.signers)
    kept: dict[str, Verified] = {}  # by a hash of the manifest
    n_left_out = 0
    for place in args.submissions:
        try:
            submission, digest = _checked(place, means)
            if digest in kept:
                raise DataError(f"a second submission of {submission.manifest['model']} with the same files")
            kept[digest] = submission
        except (TlsTasksError, OSError) as error:
            # An error of the operating system names the file itself.
            reasons = str(error).removeprefix(f"{place}: ").splitlines()
        except Exception as error:  # a mistake of ours: nobody may stop the board by it
            reasons = [f"it could not be checked, please report this: {type(error).__name__}: {error}"]
        else:
            continue
        note("leaderboard", *(f"{place} left out: {reason}" for reason in reasons))
        n_left_out += 1
    if not kept:
        raise DataError("no submission passed its checks, so there is nothing to rank")
    entries = told_apart([(submission, digest) for digest, submission in kept.items()], bound)
    write_whole(args.out / "index.html", site(rankings(entries)))
    say(f"{args.out / 'index.html'}: {count(len(kept), 'submission')}, {n_left_out} left out")
    return int(n_left_out > 0)


def _checked(place: Path, means: Means) -> tuple[Verified, str]:
    """A submission that nothing stands against, and a hash of its manifest."""
    from tls_tasks.after.submission.archive import MANIFEST
    from tls_tasks.after.submission.unpack import opened
    from tls_tasks.after.submission.verification import verify_submission
    from tls_tasks.core.errors import DataError

    with opened(place) as folder:
        found = verify_submission(folder, means)
        if found.refusals:
            raise DataError("\n".join(map(str, found.refusals)))
        return found, hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
