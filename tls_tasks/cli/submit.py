"""``tls-tasks submit``, ``verify`` and ``leaderboard``: archives of runs that can be checked, and their ranking."""

import argparse
import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import Any

from tls_tasks.after.scored_runs import score_places
from tls_tasks.after.submission.archive import LABELS, MANIFEST, corrected, opened, pack, write
from tls_tasks.after.submission.checks import new_names, refusals, secrets
from tls_tasks.after.submission.leaderboard import site, told_apart
from tls_tasks.after.submission.verification import EDITIONS, Verified, bound_names, sign, verify_submission
from tls_tasks.cli.base import Subparsers, add_command, count, note, progress, say
from tls_tasks.core.errors import DataError, InputError, TlsTasksError, check_whole_number
from tls_tasks.core.terminal import visible
from tls_tasks.core.whole import made_folder, write_whole

_WEEK = 7 * 24 * 3600


def add_parser(subparsers: Subparsers) -> None:
    """Add the three commands."""
    add = add_command(subparsers, "submit", _run_submit).add_argument
    add("results", type=Path, metavar="RESULTS_DIR", help="the folder that lm_eval wrote for one model")
    add("-o", "--out", type=Path, required=True, metavar="FOLDER", help="the archive to write")
    add("--model", metavar="ORG/NAME", help="the published model's name, if the run used another one")
    add("--no-chat-template", action="store_true", help="the model was meant to run without a chat template")
    add("--organization", metavar="NAME", help="who ran the evaluation (default: the model's ORG)")
    kinds = ("first_party", "third_party", "collaborative", "other")
    add("--relationship", choices=kinds, default="other", help="their relationship to the model's maker (other)")
    add("--eval-results", action="store_true", help="also write .eval_results, for what tls-tasks publish made")
    add("--labels", type=Path, metavar="PEOPLE", help="also pack labels that correct a judge (agree --sample)")
    add("--sign", type=Path, metavar="KEY", help="sign it with this SSH key (needs OpenSSH)")
    add("--zip", type=Path, metavar="FILE", help="also write the archive as a single file")
    verify = add_command(subparsers, "verify", _run_verify)
    verify.add_argument("archive", type=Path, metavar="SUBMISSION", help="folder or zip that tls-tasks submit wrote")
    _add_means(verify)
    board = add_command(subparsers, "leaderboard", _run_leaderboard)
    board.add_argument("submissions", nargs="+", type=Path, metavar="SUBMISSION", help="what tls-tasks submit wrote")
    board.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where to write index.html")
    text = "link each system to FOLDER/SUBMISSION.html where that file is (what tls-tasks page wrote)"
    board.add_argument("--pages", type=Path, metavar="FOLDER", help=text)
    _add_means(board)


def _add_means(parser: argparse.ArgumentParser) -> None:
    """Add what a maintainer can check submissions with."""
    add = parser.add_argument_group("what to check against").add_argument
    add("--data", metavar="PLACE", help="your copy of the data: a folder, org/name on the hub, embedded, fetched, hub")
    add("--judge", metavar="SPEC", help="ask this judge for some verdicts again, as in --metadata '{\"judge\": SPEC}'")
    add("--sample", type=int, default=5, metavar="K", help="for how many documents of a task it is asked (5)")
    add("--allowed-signers", type=Path, metavar="FILE", help="whose keys are whose, a line each: ORG ssh-ed25519 AAAA…")
    text = "of a submission; what is late is not checked (60, and 0.01 a document)"
    add("--time-limit", type=float, metavar="SECONDS", help=text)


def _means_of(args: argparse.Namespace) -> dict[str, Any]:
    """What :func:`_add_means` added.

    Raises:
        InputError: If a value makes no sense.
    """
    from tls_tasks.reports.judges.choose import check_judge

    judge, data = args.judge, args.data
    with suppress(ValueError, TypeError):  # else it is a name or a file
        judge = json.loads(args.judge)
    check_judge(judge)
    if data is not None and data not in EDITIONS and "/" not in data and not Path(data).exists():
        raise InputError("--data", None, repr(data), "a folder or file, org/name, embedded, fetched or hub")
    sample, seconds = check_whole_number("--sample", args.sample), args.time_limit
    if seconds is not None and not 0 < seconds < _WEEK:
        raise InputError("--time-limit", None, f"{seconds:g}", "seconds, more than 0 and less than those of a week")
    return {"data": data, "judge": judge, "sample": sample, "signers": args.allowed_signers, "time_limit": seconds}


def _run_submit(args: argparse.Namespace) -> int:
    """Pack a run for a leaderboard.

    The archive holds the harness's own files, a manifest of hashes, a model-index, and records for Every Eval Ever,
    whose validator takes them in the folder every_eval_ever: every_eval_ever validate 'data/*/*/*/*'. Everything is
    recomputed first, and what does not hold is refused with advice: limits, the embedded edition, other task versions,
    missing members of a group, a model name that is not ORG/NAME, no record of a chat template, and hashes or scores
    that the samples do not give. Files that hold what looks like a password or key, or the value of a
    variable such as OPENAI_API_KEY, are not packed either.

    --labels PEOPLE packs the labels that people gave to a draw from the run's samples file (`tls-tasks agree SAMPLES
    --sample 100 -o PEOPLE`): boards show the corrected results beside the headline, and rank by the uncorrected one.

    Exit codes: 0 written; 1 refused; 2 failed

    Examples:
      tls-tasks submit out/ORG__NAME -o submission/
      tls-tasks submit out/checkpoint-1200 -o submission/ --model ORG/NAME --zip submission.zip
    """
    scored = list(score_places([args.results], newest=True, progress=progress))
    model = args.model or scored[0].model
    organization, template = args.organization or model.partition("/")[0], not args.no_chat_template
    found = refusals(scored, model, without_chat_template=args.no_chat_template)
    if found := [*(found or new_names(model, organization)), *secrets(scored, args.labels)]:
        return note("submit", *(f"refused: {refusal}" for refusal in found))
    who = {"model": model, "organization": organization, "relationship": args.relationship}
    labels = {} if args.labels is None else {"corrected": corrected(scored, args.labels)}
    with made_folder(args.out) as folder:
        if labels:
            copyfile(args.labels, folder / LABELS)
        write(scored, folder, {**who, "chat_template": template, **labels}, hub_records=args.eval_results)
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
    from documents and the documents from their fingerprint where it is known, every metric, the records for others,
    and everything that submit refuses. That makes a submission self-consistent. With --data, documents and prompts
    are made again from your own copy; only then is it verified. What was not checked, such as what came after the time
    limit, is listed.

    Exit codes: 0 no check failed; 1 a check failed; 2 not a submission

    Examples:
      tls-tasks verify submission/
      tls-tasks verify submission.zip --data data/ --allowed-signers signers.txt
      tls-tasks verify submission/ --data embedded --judge recorded --sample 3
    """
    means = _means_of(args)
    with opened(args.archive) as folder:
        found = verify_submission(folder, **means)
    if found.refusals:
        return note("verify", *(f"refused: {refusal}" for refusal in found.refusals))
    tasks = ", ".join(map(visible, found.manifest["tasks"]))
    say(f"{args.archive}: {found.word()}: {visible(found.manifest['model'])}, {tasks}; {visible(found.signed)}")
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
    bound = bound_names(args.allowed_signers)
    same: dict[str, list[tuple[Path, Verified]]] = {}  # by a hash of the model's name and of all files
    for path in args.submissions:
        try:
            with opened(path) as folder:
                verified = verify_submission(folder, **means)
            reasons = list(verified.refusals)
            if not reasons:
                content = json.dumps([verified.manifest[key] for key in ("model", "files")], sort_keys=True)
                same.setdefault(hashlib.sha256(content.encode()).hexdigest(), []).append((path, verified))
        except (TlsTasksError, OSError) as error:
            # An error of the operating system names the file itself.
            reasons = str(error).removeprefix(f"{path}: ").splitlines()
        except Exception as error:  # a mistake of ours: nobody may stop the board by it
            reasons = [f"it could not be checked, please report this: {type(error).__name__}: {error}"]
        note("leaderboard", *(f"{path} left out: {reason}" for reason in reasons))
    if not same:
        raise DataError("no submission passed its checks, so there is nothing to rank")
    accepted, pages = dict[str, Verified](), dict[str, Path]()
    for digest, found in same.items():
        # Of equal ones the first that is signed by who may bear the name, else the first: nobody displaces it.
        # One whose files could not be checked in time may be no such one.
        kept, accepted[digest] = max(found, key=lambda pair: (bool(pair[1].scored), pair[1].is_rightful))
        copies = [(path, verified) for path, verified in found if verified is not accepted[digest]]
        said = f"a copy: a second submission of {accepted[digest].manifest['model']} with the same files as {kept}"
        note("leaderboard", *(f"{path} left out: {said}" for path, _ in copies))
        accepted[digest].copies += [f"{path.name!r} ({verified.signed})" for path, verified in copies]
        if args.pages is not None and (file := args.pages / f"{kept.stem}.html").exists():
            pages[digest] = file
    named = told_apart(accepted, bound)
    digests = zip(named, accepted, strict=True)
    addresses = {name: os.path.relpath(pages[digest], args.out) for name, digest in digests if digest in pages}
    write_whole(args.out / "index.html", site(named, addresses))
    n_left_out, late = len(args.submissions) - len(accepted), [one.late for one in accepted.values() if one.late]
    note("leaderboard", *(f"{name} not checked: {one.late}" for name, one in named.items() if one.late))
    n_late = f", {len(late)} not checked in time" if late else ""
    say(f"{args.out / 'index.html'}: {count(len(accepted), 'submission')}, {n_left_out} left out{n_late}")
    return int(n_left_out > 0)
