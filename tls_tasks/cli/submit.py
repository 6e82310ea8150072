"""``tls-tasks submit`` and ``tls-tasks verify``: from a run to an archive that can be checked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import Subparsers, add_command, count, note, progress, say
from tls_tasks.core.errors import InputError
from tls_tasks.core.terminal import visible
from tls_tasks.core.whole import made_folder

if TYPE_CHECKING:
    from tls_tasks.after.submission.verification import Means


def add_parser(subparsers: Subparsers) -> None:
    """Add both commands."""
    submit = add_command(subparsers, "submit", _run_submit)
    submit.add_argument("results", type=Path, metavar="RESULTS_DIR", help="the folder that lm_eval wrote for one model")
    submit.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="the archive to write")
    submit.add_argument("--model", metavar="ORG/NAME", help="the published model's name, if the run used another one")
    submit.add_argument(
        "--no-chat-template", action="store_true", help="the model was meant to run without a chat template"
    )
    submit.add_argument("--organization", metavar="NAME", help="who ran the evaluation (default: the model's ORG)")
    submit.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        help="their relationship to the model's maker (other)",
    )
    submit.add_argument(
        "--eval-results",
        action="store_true",
        help="also write .eval_results for the model's repository on the hub. Only data sets with an eval.yaml that "
        "names our tasks can take them; tls-tasks publish writes one",
    )
    submit.add_argument("--sign", type=Path, metavar="KEY", help="sign it with this SSH key (needs OpenSSH)")
    submit.add_argument("--zip", type=Path, metavar="FILE", help="also write the archive as a single file")
    verify = add_command(subparsers, "verify", _run_verify)
    verify.add_argument("archive", type=Path, metavar="SUBMISSION", help="folder or zip that tls-tasks submit wrote")
    add_means(verify)


def add_means(parser: argparse.ArgumentParser) -> None:
    """Add what a maintainer can check submissions with."""
    add = parser.add_argument_group("what to check against").add_argument
    add(
        "--data",
        metavar="PLACE",
        help="your own copy of the data: a folder, org/name on the hub, or embedded, fetched, hub",
    )
    add("--judge", metavar="SPEC", help="ask this judge for some verdicts again, as in --metadata '{\"judge\": SPEC}'")
    add("--sample", type=int, default=5, metavar="K", help="for how many documents of a task it is asked (5)")
    add("--allowed-signers", type=Path, metavar="FILE", help="whose keys are whose, a line each: ORG ssh-ed25519 AAAA…")


def means_of(args: argparse.Namespace) -> Means:
    """What :func:`add_means` added.

    Raises:
        InputError: If a number makes no sense.
    """
    from tls_tasks.after.submission.verification import Means
    from tls_tasks.core.options import check_whole_number

    judge = args.judge
    if judge is not None and judge.lstrip().startswith("{"):
        try:
            judge = json.loads(judge)
        except ValueError as error:
            raise InputError("--judge", None, repr(args.judge), f"a JSON object or recorded ({error})") from error
    if judge is not None:
        from tls_tasks.reports.judges.choose import check_judge

        check_judge(judge)
    editions = ("embedded", "fetched", "hub")
    if args.data is not None and args.data not in editions and "/" not in args.data and not Path(args.data).exists():
        raise InputError("--data", None, repr(args.data), "a folder or file, org/name, embedded, fetched or hub")
    return Means(args.data, judge, check_whole_number("--sample", args.sample), args.allowed_signers)


def _run_submit(args: argparse.Namespace) -> int:
    """Pack a run for a leaderboard.

    The archive holds the harness's own files, a manifest of hashes, a model-index, and records for Every Eval Ever,
    whose validator takes them in the folder every_eval_ever: every_eval_ever validate 'data/*/*/*/*'. Everything is
    recomputed first, and what does not hold is refused with advice: limits, the embedded edition, other task versions,
    missing members of a group, a model name that is not ORG/NAME, no record of a chat template, and hashes or scores
    that the samples do not give. Files that hold what looks like a password or key, or the value of a
    variable such as OPENAI_API_KEY, are not packed either.

    Exit codes: 0 written; 1 refused; 2 failed

    Examples:
      tls-tasks submit out/ORG__NAME -o submission/
      tls-tasks submit out/checkpoint-1200 -o submission/ --model ORG/NAME --zip submission.zip
    """
    from tls_tasks.after.scored_runs import score_places
    from tls_tasks.after.submission.archive import MANIFEST, pack, write
    from tls_tasks.after.submission.checks import refusals, secrets
    from tls_tasks.after.submission.signing import check_signing, sign

    if args.sign is not None:
        check_signing(args.sign)

    scored = list(score_places([args.results], newest=True, progress=progress))
    model = args.model or scored[0].model
    found = [*refusals(scored, model, without_chat_template=args.no_chat_template), *secrets(scored)]
    if found:
        note("submit", *(f"refused: {refusal}" for refusal in found))
        return 1
    with made_folder(args.out) as folder:
        write(
            scored,
            folder,
            model,
            organization=args.organization,
            relationship=args.relationship,
            without_chat_template=args.no_chat_template,
            hub_records=args.eval_results,
        )
        if args.sign is not None:
            sign(folder / MANIFEST, args.sign)
        if args.zip is not None:
            pack(folder, args.zip)
    size = f"{count(len(scored), 'task')}, {count(sum(len(task.ids) for task in scored), 'document')}"
    say(f"{args.out}: {visible(model)}, {size}; check it: tls-tasks verify {args.out}")
    return 0


def _run_verify(args: argparse.Namespace) -> int:
    """Check a folder or zip that tls-tasks submit wrote.

    Always checked: the files and their hashes, the harness's hashes, that answers follow from responses, requests
    from documents and the documents from their fingerprint where it is known, every score, the records for others,
    and everything that submit refuses. That makes a submission self-consistent. With --data, documents and prompts
    are made again from your own copy; only then is it verified. What was not checked is listed.

    Exit codes: 0 all checks passed; 1 a check failed; 2 not a submission

    Examples:
      tls-tasks verify submission/
      tls-tasks verify submission.zip --data data/ --allowed-signers signers.txt
      tls-tasks verify submission/ --data embedded --judge recorded --sample 3
    """
    from tls_tasks.after.submission.unpack import opened
    from tls_tasks.after.submission.verification import verify_submission

    means = means_of(args)
    with opened(args.archive) as folder:
        found = verify_submission(folder, means)
    if found.refusals:
        note("verify", *(f"refused: {refusal}" for refusal in found.refusals))
        return 1
    tasks = ", ".join(map(visible, found.manifest["tasks"]))
    say(f"{args.archive}: {found.word()}: {visible(found.manifest['model'])}, {tasks}; {visible(str(found.signer))}")
    for task in found.scored:
        say(f"  {task.name}: {found.statuses[task.name]}, {task.edition} edition, {visible(str(task.conditions))}")
    for what, phrases in (("checked", found.checked), ("not checked", found.unchecked)):
        for phrase in phrases:
            say(f"  {what}: {visible(phrase)}")
    return 0
