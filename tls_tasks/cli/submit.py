"""``tls-tasks submit``, ``verify`` and ``leaderboard``: archives of runs that can be checked, and their ranking."""

import argparse
import hashlib
import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tls_tasks.after.scored_runs import score_places
from tls_tasks.after.submission.archive import MANIFEST, pack, write
from tls_tasks.after.submission.checks import refusals, secrets
from tls_tasks.after.submission.leaderboard import site, take_replaced, told_apart
from tls_tasks.after.submission.verification import EDITIONS, Verified, read_signers, sign, verify_in_process
from tls_tasks.cli.base import Subparsers, add_command, count, note, progress, say
from tls_tasks.core.atomic import atomic_folder, atomic_write_text
from tls_tasks.core.errors import DataError, InputError, TlsTasksError
from tls_tasks.core.terminal import visible


def add_parser(subparsers: Subparsers) -> None:
    """Add the three commands."""
    add = add_command(subparsers, "submit", _run_submit).add_argument
    add("results", type=Path, metavar="RESULTS_DIR", help="the folder that lm_eval wrote for one model")
    add("-o", "--out", type=Path, required=True, metavar="PLACE", help="the folder, or FILE.zip, to write")
    add("--model", metavar="ORG/NAME", help="the published model's name, if the run used another one")
    add("--no-chat-template", action="store_true", help="the model was meant to run without a chat template")
    add("--replaces", type=Path, metavar="MANIFEST", help="the manifest.json of an older submission that it replaces")
    add("--sign", type=Path, metavar="KEY", help="sign it with this SSH key (needs OpenSSH)")
    verify = add_command(subparsers, "verify", _run_verify)
    verify.add_argument("archive", type=Path, metavar="SUBMISSION", help="folder or zip that tls-tasks submit wrote")
    board = add_command(subparsers, "leaderboard", _run_leaderboard)
    board.add_argument("submissions", nargs="+", type=Path, metavar="SUBMISSION", help="what tls-tasks submit wrote")
    board.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where to write index.html")
    for parser in (verify, board):
        add = parser.add_argument_group("what to check with").add_argument
        add("--data", metavar="PLACE", help="your copy of the data: folder, org/name, embedded, fetched or hub")
        add("--allowed-signers", type=Path, metavar="FILE", help="whose keys are whose, a line each: ORG ssh-ed25519 …")
        text = "of a submission; what takes longer is refused (60, and 0.01 a document)"
        add("--time-limit", type=float, metavar="SECONDS", help=text)


def _means_of(args: argparse.Namespace) -> dict[str, Any]:
    """What a maintainer checks submissions with.

    Raises:
        InputError: If a value makes no sense.
        DataError: If the allowed signers can't be read.
    """
    data, seconds = args.data, args.time_limit
    if data is not None and data not in EDITIONS and "/" not in data and not Path(data).exists():
        raise InputError("--data", None, repr(data), "a folder or file, org/name, embedded, fetched or hub")
    if seconds is not None and not 0 < seconds < 1e6:
        raise InputError("--time-limit", None, f"{seconds:g}", "seconds, more than 0 and less than a million")
    return {"data": data, "signers": read_signers(args.allowed_signers), "time_limit": seconds}


def _run_submit(args: argparse.Namespace) -> int:
    """Pack a run for a leaderboard.

    The archive, a folder or a zip, holds the harness's own files, a manifest of hashes and, of runs on data sets of the
    hub, .eval_results for the model's repository there. Everything is recomputed first, and what does not hold is
    refused with advice: limits, the embedded edition, other task versions, missing members of a group, a model name
    that is not ORG/NAME, no record of a chat template, and hashes or scores that the samples do not give. Files that
    hold what looks like a password or key, or the value of a variable such as OPENAI_API_KEY, are not packed either.

    Exit codes: 0 written; 1 refused; 2 failed

    Examples:
      tls-tasks submit out/ORG__NAME -o submission/
      tls-tasks submit out/checkpoint-1200 -o submission.zip --model ORG/NAME
    """
    scored = list(score_places([args.results], newest=True, progress=progress))
    model = args.model or scored[0].model
    date, replaces = time.time(), args.replaces and hashlib.sha256(args.replaces.read_bytes()).hexdigest()
    found = refusals(scored, model, date, no_template=args.no_chat_template)
    if found := [*found, *secrets(scored)]:
        return note("submit", *(f"refused: {refusal}" for refusal in found))
    is_zip = args.out.suffix == ".zip"
    with tempfile.TemporaryDirectory() if is_zip else atomic_folder(args.out) as place:
        folder = Path(place)
        write(scored, folder, model=model, date=date, chat_template=not args.no_chat_template, replaces=replaces)
        if args.sign is not None:
            sign(folder / MANIFEST, args.sign)
        if is_zip:
            pack(folder, args.out)
    size = f"{count(len(scored), 'task')}, {count(sum(len(task.ids) for task in scored), 'document')}"
    say(f"{args.out}: {visible(model)}, {size}; check it: tls-tasks verify {args.out}")
    return 0


def _run_verify(args: argparse.Namespace) -> int:
    """Check a folder or zip that tls-tasks submit wrote.

    Always checked: the files and their hashes, the harness's hashes, that answers follow from responses, requests
    from documents and the documents from their fingerprint where it is known, every metric, and everything that submit
    refuses. That makes a submission self-consistent. With --data, documents and prompts are made again from your own
    copy; only then is it verified. What was not checked is listed.

    Exit codes: 0 no check failed; 1 a check failed; 2 not a submission

    Examples:
      tls-tasks verify submission/
      tls-tasks verify submission.zip --data data/ --allowed-signers signers.txt
    """
    means = _means_of(args)
    found = verify_in_process(args.archive, **means)
    if found.refusals:
        return note("verify", *(f"refused: {refusal}" for refusal in found.refusals))
    tasks = ", ".join(map(visible, found.manifest["tasks"]))
    say(f"{args.archive}: {found.level}: {visible(found.manifest['model'])}, {tasks}; {visible(found.signed)}")
    for task in found.scored:
        data = f"{found.statuses[task.name]}, {found.edition(task)} edition"
        say(f"  {task.name}: {data}, {visible(str(task.conditions))}")
    for what, phrases in (("checked", found.checked), ("not checked", found.unchecked)):
        for phrase in phrases:
            say(f"  {what}: {visible(phrase)}")
    return 0


def _run_leaderboard(args: argparse.Namespace) -> int:
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
    means = _means_of(args)
    same: dict[str, list[tuple[Path, Verified]]] = {}  # by a hash of the model's name and of all files
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = [pool.submit(verify_in_process, path, **means) for path in args.submissions]
    for path, check in zip(args.submissions, checks, strict=True):
        try:
            verified = check.result()
            reasons = verified.refusals
            if not reasons:
                content = json.dumps([verified.manifest["model"], verified.manifest["files"]], sort_keys=True)
                same.setdefault(hashlib.sha256(content.encode()).hexdigest(), []).append((path, verified))
        except (TlsTasksError, OSError) as error:
            # An error of the operating system names the file itself.
            reasons = str(error).removeprefix(f"{path}: ").splitlines()
        except Exception as error:  # a mistake of ours: nobody may stop the board by it
            reasons = [f"it could not be checked, please report this: {type(error).__name__}: {error}"]
        note("leaderboard", *(f"{path} left out: {reason}" for reason in reasons))
    if not same:
        raise DataError("no submission passed its checks, so there is nothing to rank")
    accepted = dict[str, Verified]()
    for digest, found in same.items():
        # Of equal ones the first that is signed by who may bear the name, else the first: nobody displaces it.
        kept, accepted[digest] = max(found, key=lambda pair: pair[1].is_rightful)
        said = f"left out: a copy: a second submission of {accepted[digest].manifest['model']} with the files of {kept}"
        note("leaderboard", *(f"{path} {said}" for path, verified in found if verified is not accepted[digest]))
    note("leaderboard", *(f"left out: {text}" for text in take_replaced(list(accepted.values()))))
    accepted = {digest: verified for digest, verified in accepted.items() if verified.scored}
    atomic_write_text(args.out / "index.html", site(told_apart(accepted, means["signers"].values())))
    n_left_out = len(args.submissions) - len(accepted)
    say(f"{args.out / 'index.html'}: {count(len(accepted), 'submission')}, {n_left_out} left out")
    return int(n_left_out > 0)
