"""``tls-tasks submit`` and ``tls-tasks verify``: from a run to an archive that can be checked."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.after.submission.checks import Refusal
    from tls_tasks.cli.base import Subparsers

_SUBMIT = """\
Pack a run for a leaderboard: the harness's own files, a manifest of hashes, .eval_results for the hub, a model-index,
and a record for Every Eval Ever. Everything is computed again first, and whatever does not hold is refused, with what
to do about it: limits, the embedded edition, other task versions, missing members of a group, a model that is not
called ORG/NAME, no record of a chat template, hashes or scores that the samples don't give.

exit codes: 0 written; 1 refused; 2 not done

examples:
  tls-tasks submit out/ORG__NAME -o submission/
  tls-tasks submit out/checkpoint-1200 -o submission/ --model ORG/NAME --zip submission.zip
"""

_VERIFY = """\
Check what tls-tasks submit wrote, a folder or a zip, on a machine that has nothing but that: every file's hash, the
harness's hashes of documents, prompts and targets, every score computed again, and all that submit refuses.

exit codes: 0 all holds; 1 something does not; 2 not an archive

examples:
  tls-tasks verify submission/
  tls-tasks verify submission.zip
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add both commands."""
    submit = add_command(subparsers, "submit", run_submit, summary="pack a run for a leaderboard", description=_SUBMIT)
    submit.add_argument("results", type=Path, metavar="RESULTS_DIR", help="the folder that lm_eval wrote for one model")
    submit.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="the archive to write")
    submit.add_argument("--model", metavar="ORG/NAME", help="the published model's name, where the run has another")
    submit.add_argument(
        "--no-chat-template", action="store_true", help="the model was meant to run without a chat template"
    )
    submit.add_argument("--organization", metavar="NAME", help="who ran the evaluation (the model's ORG)")
    submit.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        help="what they are to the model's maker (other)",
    )
    submit.add_argument("--zip", type=Path, metavar="FILE", help="also write the archive as one file")
    verify = add_command(subparsers, "verify", run_verify, summary="check a submission", description=_VERIFY)
    verify.add_argument("archive", type=Path, help="the folder or zip that tls-tasks submit wrote")


def run_submit(args: argparse.Namespace) -> int:
    """Check, and write the archive if nothing stands against it.

    Returns:
        0, or 1 if the run is refused; each reason is one line on stderr.

    Raises:
        TlsTasksError: If there is no run, or the folder to write is not empty.
    """
    from tls_tasks.after.scored_runs import score_places
    from tls_tasks.after.submission.archive import pack, write
    from tls_tasks.after.submission.checks import refusals
    from tls_tasks.cli.progress import progress

    scored = list(score_places([args.results], newest=True, progress=progress))
    model = args.model or scored[0].model
    if found := refusals(scored, model, without_chat_template=args.no_chat_template):
        return _refused("submit", found)
    write(
        scored,
        args.out,
        model,
        organization=args.organization,
        relationship=args.relationship,
        without_chat_template=args.no_chat_template,
    )
    if args.zip is not None:
        pack(args.out, args.zip)
    n_documents = sum(len(task.score.ids) for task in scored)
    print(f"{args.out}: {model}, {len(scored)} tasks, {n_documents} documents; check it: tls-tasks verify {args.out}")
    return 0


def run_verify(args: argparse.Namespace) -> int:
    """Check an archive.

    Returns:
        0 if all holds, else 1; each reason is one line on stderr.

    Raises:
        TlsTasksError: If it is no archive.
    """
    from tls_tasks.after.submission.archive import unpack, verify

    with tempfile.TemporaryDirectory() as scratch:
        folder = args.archive
        if folder.is_file():
            folder = Path(scratch)
            unpack(args.archive, folder)
        found, manifest = verify(folder)
    if found:
        return _refused("verify", found)
    print(f"{args.archive}: all holds: {manifest['model']}, {', '.join(manifest['tasks'])}")
    return 0


def _refused(command: str, found: Sequence[Refusal]) -> int:
    for refusal in found:
        print(f"tls-tasks {command}: refused: {refusal}", file=sys.stderr)
    return 1
