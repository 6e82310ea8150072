"""All checks of a submission, its signature too, and what they are worth: ``verified against data`` or less.

With the maintainer's own data documents are made again and compared, with a judge verdicts are asked again.
"""

import json
import random
import re
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tls_tasks.after.comparisons import NOT_CONTENT
from tls_tasks.after.foreign import MISSING, Manifest
from tls_tasks.after.run import BUDGET, prompt_options, stated_metadata
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission.archive import AS_WRITTEN, LABELS, MANIFEST, manifest_of, n_rows, verify
from tls_tasks.after.submission.golds import EQUAL, facts, golds_of, knows_golds, response_of, text_around
from tls_tasks.core.errors import DataError, InputError, TlsTasksError
from tls_tasks.core.task import answer_text
from tls_tasks.data.editions import KNOWN, UNKNOWN
from tls_tasks.data.files import readable

AGAINST_DATA, CONSISTENT, NOT_CHECKED = "verified against data", "self-consistent", "not checked"
EDITIONS = ("embedded", "fetched", "hub")

SECONDS, SECONDS_EACH = 60.0, 0.01
"""The time that all checks of a submission may take, and what each document adds to it."""

_NAMESPACE = "tls-tasks"  # of the signatures
_WHOLE = 10**9  # a budget that cuts nothing

_Documents = Mapping[str, Mapping[str, Any]]
_MOST_OTHER_VERDICTS = 0.1  # of the verdicts that were asked again: no judge of today answers twice the same way


@dataclass(slots=True)
class Verified:
    """A submission, and the results of the checks so far.

    Attributes:
        refusals: Why it is refused; empty if it is not.
        manifest: Its manifest.
        scored: Its tasks, scored again; none if a file is not as it was written.
        signer: The name that the board's allowed signers bind to the key that signed it; empty if there is none.
        signed: Who signed it, in words.
        checked: What was checked against something else than the submission, each a phrase.
        unchecked: What was not, each a phrase.
        statuses: Task -> what its numbers are worth, by the maintainer's data or a fingerprint of this release.
        compared: The tasks whose documents are those of the maintainer's data, every one of them.
        facts: Task -> title of a column of the board -> what stands there for people to judge.
        copies: Other submissions with the same files, in words.
        late: What the time limit kept from being checked, in words; nothing can be said of a submission without tasks.
    """

    refusals: list[str]
    manifest: Manifest
    scored: Sequence[ScoredTask]
    signer: str = ""
    signed: str = "unsigned"
    checked: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    compared: set[str] = field(default_factory=set)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    late: str = ""

    @property
    def org(self) -> str:
        """The ORG of its model."""
        return self.manifest["model"].partition("/")[0]

    @property
    def is_rightful(self) -> bool:
        """Whether it is signed with a key that is bound to the ORG of its model."""
        return self.signer.casefold() == self.org.casefold()

    def edition(self, task: ScoredTask) -> str:
        """Which edition a task ran on, by the fingerprint, and only where the gold answers are its."""
        return task.pinned.label if task.pinned and self.statuses.get(task.name) == KNOWN else "unknown"

    def word(self, task: str | None = None) -> str:
        """What the checks of a task, or of all tasks, are worth."""
        names = {scored.name for scored in self.scored} if task is None else {task}
        return NOT_CHECKED if not names else AGAINST_DATA if names <= self.compared else CONSISTENT


def sign(manifest: Path, key: Path) -> None:
    """Sign a manifest; the signature lies beside it.

    Raises:
        DataError: If OpenSSH refuses the key.
        TlsTasksError: If OpenSSH is not installed.
    """
    code, _, errors = _openssh("sign", "-n", _NAMESPACE, "-f", key, manifest, content=None)
    if code != 0:
        raise DataError(f"{key}: {errors or 'ssh-keygen could not sign with it'}")


def _openssh(action: str, *arguments: object, content: bytes | None = b"") -> tuple[int, str, str]:
    """Exit code, output and errors in one line; without ``content`` it may ask on the terminal for a passphrase."""
    command = ["ssh-keygen", "-Y", action, *map(str, arguments)]
    try:
        done = subprocess.run(command, input=content, capture_output=True, check=False)  # noqa: S603
    except FileNotFoundError:
        need = "signatures need OpenSSH's ssh-keygen, which is not installed (package openssh-client)"
        raise TlsTasksError(need) from None
    output, errors = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, output, " ".join(errors.split())


def bound_names(signers: Path | None) -> set[str]:
    """The names that a file of allowed signers binds to keys, with patterns, a list a line; none without a file.

    Raises:
        DataError: If the file can't be read, or a line of it has no key.
    """
    with readable(signers, "allowed signers", ValueError):
        text = "" if signers is None else signers.read_text(encoding="utf-8")
    names = set[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            if not re.match(r"\s*\S+\s(.*\s)?[\w@.-]*(ssh|ecdsa)-\S+\s+AAAA", line):
                raise DataError(f"{signers}:{number}: no key in this line, expected ORG ssh-ed25519 AAAA…")
            names.add(line.split()[0].strip('"'))
    return names


def is_bound(name: str, lists: Iterable[str]) -> bool:
    """Whether a list of names and patterns binds a name, in any capitals.

    Example:
        >>> [is_bound(name, ["acme,lab-*,!lab-x"]) for name in ("Acme", "lab-a", "lab-x", "acm")]
        [True, True, False, False]
    """

    def meets(pattern: str) -> bool:  # as in OpenSSH, whose patterns know * and ? only
        return fnmatchcase(name.casefold(), pattern.casefold().replace("[", "[[]"))

    parts = [names.split(",") for names in lists]
    return any(any(map(meets, own)) and not any(meets(part[1:]) for part in own if part[:1] == "!") for own in parts)


def _check_signature(verified: Verified, manifest: Path, signers: Path | None) -> None:
    """Find out who signed a manifest; its signature lies beside it, if there is one."""
    bound = bound_names(signers)
    signature = ("-n", _NAMESPACE, "-s", manifest.with_name(f"{manifest.name}.sig"))
    if not signature[-1].is_file():
        return
    content = manifest.read_bytes()
    code, output, errors = _openssh("check-novalidate", *signature, content=content)
    if code != 0:
        verified.refusals.append(f"signature: it is not one of this manifest: {errors}; {AS_WRITTEN}")
        return
    key = re.search(r"key (SHA256:\S+)", output)
    verified.signed = f"signed by a key without a name here ({key[1] if key else 'unknown'})"
    if signers is not None:
        # A key may be bound to several names: that of the model is asked for first, as the file writes it.
        org = verified.org
        exact = [name for names in sorted(bound) for name in names.split(",") if name.casefold() == org.casefold()]
        _, found, _ = _openssh("find-principals", *signature[2:], "-f", signers)
        own = [*exact, org, org.lower()] if is_bound(org, bound) else []
        for name in dict.fromkeys([*own, *found.replace(",", " ").split()]):
            if _openssh("verify", *signature, "-f", signers, "-I", name, content=content)[0] == 0:
                verified.signer, verified.signed = name, f"signed by {name}"
                break


class _OutOfTimeError(SystemExit):
    """A time limit is over; asyncio lets exits through, and no other error."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End a block that takes too long; only the main thread can be ended so, and not on Windows."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def end(number: int, _: object) -> None:
        raise _OutOfTimeError

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # again and again: in a finalizer an error is lost
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def verify_submission(
    folder: Path,
    data: str | None = None,
    judge: Any = None,
    sample: int = 5,
    signers: Path | None = None,
    time_limit: float | None = None,
) -> Verified:
    """Check a submission by all means there are.

    Args:
        folder: The submission.
        data: A place as ``--metadata '{"data": …}'`` takes it, or ``embedded``, ``fetched``, ``hub``; None: no data.
        judge: A specification of a judge; None: no request is sent.
        sample: For how many documents of a task the judge is asked again.
        signers: The file of allowed signers, in OpenSSH's format: ``ORG ssh-ed25519 AAAA…`` a line.
        time_limit: Seconds; None: :data:`SECONDS`, and :data:`SECONDS_EACH` a document.

    Raises:
        DataError: If it is not an archive of ours, or the file of allowed signers is none.
        TlsTasksError: If there is a signature and OpenSSH is not installed.
    """
    verified = Verified([], manifest_of(folder), [])
    seconds = SECONDS + SECONDS_EACH * n_rows(folder) if time_limit is None else time_limit
    _check_signature(verified, folder / MANIFEST, signers)
    try:
        with _limited(seconds):
            refusals, _, verified.scored = verify(folder)
            verified.refusals[:0] = refusals
            if not verified.refusals:
                _check_further(verified, data, judge, sample)
    except _OutOfTimeError:
        left = ", ".join(task.name for task in verified.scored if task.name not in verified.facts)
        what = f"some of {left or 'the tasks'}" if verified.scored else "answers, scores and records"
        verified.late = f"{what}: the time limit of {seconds:g} s is over: --time-limit SECONDS"
        verified.unchecked.append(verified.late)
    return verified


def _check_further(verified: Verified, data: str | None, judge: Any, sample: int) -> None:
    """Check what is self-consistent by the means of a maintainer; the arguments are those of the function above."""
    unchecked = verified.unchecked
    unchecked.append("whether the model wrote the answers: only running it again can tell")
    if not verified.signer:
        unchecked.append(f"who submitted it: {verified.signed}")
    if data is None:
        unchecked.append("whether documents, gold answers and prompts are those of the data: --data PLACE")
    for task in verified.scored:
        # A fingerprint is easily stated: it counts only where the gold answers show that it is the documents'.
        verified.statuses[task.name] = task.status if knows_golds(task) else UNKNOWN
        if around := text_around(task):  # the same for all documents
            unchecked.append(f"{task.name}: the {len(around)} characters around each prompt (chat template)")
        verified.facts[task.name] = facts(task)
        if not (equal := verified.facts[task.name][EQUAL]).startswith("0 "):
            unchecked.append(f"{task.name}: {equal} longer answers {EQUAL}: they are right, or were copied from it")
        if data is not None:
            _compare_documents(verified, task, data)
        if judge is not None:
            ask_again(verified, task, judge, sample)
        elif task.task.judge is not None:
            unchecked.append(f"{task.name}: the verdicts of judge {task.conditions.judge!r}: --judge SPEC --sample K")
    if own := verified.manifest.get("corrected"):
        n = sum(int(value) for key, value in own.items() if key.endswith("_unjudged"))
        unchecked.append(f"{LABELS}: who labelled; and items without a verdict, left out of the corrected results: {n}")


def _compare_documents(verified: Verified, task: ScoredTask, data: str) -> None:
    """Make a task's documents from other data by the run's own options, and compare them with the logged ones.

    That the requests ask the prompts of the logged documents is checked without data: both together say that the
    requests ask the prompts of the data.
    """
    name, provenance = task.name, dict[str, str]()
    options = prompt_options(task.task, stated_metadata(name, task.results))
    # A stranger does not choose what tokenizer is loaded here, nor what file is read.
    options = {key: options[key] for key in options.keys() - {"context_tokens", "tokenizer"} if options[key] != "auto"}
    source = {"edition" if data in EDITIONS else "data": data}
    if options.pop("schema", None) and data not in EDITIONS:  # those have one, whatever is stated
        source["schema"] = json.loads(str(task.log.samples[0].doc.get("schema")))
        verified.unchecked.append(f"{name}: the schema, which is the submitter's")
    try:
        documents = task.task.documents(provenance=provenance, **source, **options)
    except (TlsTasksError, OSError, ValueError) as error:
        if isinstance(error, InputError) and error.field in options:
            verified.refusals.append(f"options: {name}: {error}; run it again with options of the task")
        else:
            verified.unchecked.append(f"{name}: documents and prompts: they can't be made of {data}: {error}")
        return
    logged = {doc_id: sample.doc for doc_id, sample in task.documents}
    expected = {str(document["doc_id"]): document for document in documents}
    golds, problems = golds_of(task), []
    if missing := sorted(expected.keys() - logged.keys()):
        problems.append(f"{len(missing)} of {len(expected)} documents not there: {missing[0]!r} …")
    if invented := sorted(logged.keys() - expected.keys()):
        problems.append(f"documents invented: {len(invented)}, first {invented[0]!r}")
    shared = [key for key in expected if key in logged]
    if other := [key for key in shared if str(task.task.target(expected[key])) != golds[key]]:
        problems.append(f"gold answers unlike those of the data: {len(other)}, first {other[0]!r}")
    stated, fingerprint = task.conditions.fingerprint, provenance["fingerprint"]
    if stated != fingerprint:
        problems.append(f"the results state the fingerprint {stated[:12] or 'none'}, {data} has {fingerprint[:12]}")
    columns = _other_columns(logged, {key: expected[key] for key in shared})
    n_other = len({key for key, _ in columns})
    if columns and not problems and (wrong := _wrong_columns(task, logged, columns, {**source, **options})):
        first = next(iter(wrong))
        problems.append(f"documents unlike the data: {len(wrong)}, first {first!r} in {wrong[first]}")
    advice = "ask the submitter which data was used, and for a run on yours"
    if problems:
        verified.refusals += [f"data: {name}: {problem}; {advice}" for problem in problems]
        return
    same = f"{name}: ids and gold answers of all {len(expected)} documents, and the fingerprint"
    if columns:
        fitted = f"what {n_other} of {len(shared)} prompts show of documents: they were fitted to the model's context"
        verified.unchecked.append(f"{name}: {fitted}")
    else:
        same += "; every column of the documents, so that the prompts are those of the data"
        verified.compared.add(name)
        verified.statuses[name] = provenance.get("data", KNOWN)
    verified.checked.append(same)


def _other_columns(logged: _Documents, expected: _Documents) -> list[tuple[str, str]]:
    """Where documents differ: id and column."""
    cells = ((key, column) for key in expected for column in sorted({*logged[key], *expected[key]} - NOT_CONTENT))
    return [(key, name) for key, name in cells if logged[key].get(name, MISSING) != expected[key].get(name, MISSING)]


def _wrong_columns(
    task: ScoredTask, logged: _Documents, columns: Sequence[tuple[str, str]], options: Mapping[str, Any]
) -> dict[str, str]:
    """Id -> a column that does not show a part of the data: the task alone says what a smaller context changes."""
    budgets = ({BUDGET: _WHOLE}, {BUDGET: 1}) if BUDGET in task.task.options else ({}, {})
    made = [task.task.documents(**{**options, **budget}) for budget in budgets]
    sides = (logged, *({str(document["doc_id"]): document for document in documents} for documents in made))
    return {key: column for key, column in columns if not _is_part(*(side[key].get(column) for side in sides))}


def _is_part(value: Any, most: Any, least: Any) -> bool:
    """Whether a prompt shows less of a document than all, and nothing else; what no budget changes has no parts."""
    if most == least or type(value) is not type(most):
        return False
    if not isinstance(value, str):
        return bool(min(most, least) <= value <= max(most, least))
    # The beginning of a text, or of documents in JSON; else whole lines.
    return most.startswith(value.rstrip('"}]')) or set(value.split("\n")) <= set(most.split("\n"))


def ask_again(verified: Verified, task: ScoredTask, judge: Any, n_documents: int) -> None:
    """Ask a judge for the verdicts on some documents, drawn by chance, and compare them with the logged ones.

    Args:
        verified: Gets the results.
        task: The task; one without a judge has nothing to ask.
        judge: A specification, see :mod:`tls_tasks.reports.judges.choose`.
        n_documents: How many documents.
    """
    name, samples = task.name, task.log.samples
    if task.task.judge is None:
        return
    # Nobody may know beforehand which verdicts will be looked at.
    drawn = random.SystemRandom().sample(list(samples), min(n_documents, len(samples)))
    documents = [{**sample.doc, "judge": json.dumps(judge)} for sample in drawn]
    judged = [json.loads(text) for text in task.task.judge([response_of(sample) or "" for sample in drawn], documents)]
    if failed := next((row["judge_error"] for row in judged if row.get("judge_error")), ""):
        verified.unchecked.append(f"{name}: verdicts: the judge can't be used: {failed}")
        return
    n_verdicts = n_other = 0
    for sample, row in zip(drawn, judged, strict=True):
        # A question that was not asked before has no logged verdict.
        logged, again = _verdicts(json.loads(answer_text(sample.answer))), _verdicts(row)
        n_verdicts += len(again)
        n_other += sum(logged.get(key) != verdict for key, verdict in again.items())
    result = f"{name}: {n_verdicts} verdicts on {len(drawn)} of {len(samples)} documents asked again; other: {n_other}"
    if n_other > _MOST_OTHER_VERDICTS * n_verdicts or not n_verdicts:
        advice = "judge the samples yourself (tls-tasks reports) and compare (tls-tasks agree)"
        verified.refusals.append(f"verdicts: {result}; {advice}")
    else:
        verified.checked.append(result)


def _verdicts(judged: Mapping[str, Any]) -> dict[str, Any]:
    return {question["key"]: question["verdict"] for question in judged["judgments"]}
