"""All checks of a submission, its signature too, and what they are worth: ``verified against data`` or less."""

import base64
import hashlib
import json
import multiprocessing
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tls_tasks.after.comparisons import NOT_CONTENT
from tls_tasks.after.foreign import MISSING, Manifest
from tls_tasks.after.run import BUDGET, prompt_options, stated_metadata
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission.archive import AS_WRITTEN, MANIFEST, manifest_of, unpacked, verify
from tls_tasks.after.submission.golds import AROUND, EQUAL, facts, knows_golds
from tls_tasks.core.errors import DataError, InputError, TlsTasksError
from tls_tasks.data.editions import KNOWN, UNKNOWN
from tls_tasks.data.files import readable
from tls_tasks.registry import FAMILIES

AGAINST_DATA, CONSISTENT = "verified against data", "self-consistent"
EDITIONS = ("embedded", "fetched", "hub")

SECONDS, SECONDS_EACH = 60.0, 0.01
"""The time that the checks of a submission may take, and what each document adds to it."""

_NAMESPACE = "tls-tasks"  # of the signatures
_WHOLE = 10**9  # a budget that cuts nothing

# A line of a file of allowed signers: one name, one key; what follows is a comment.
_SIGNER = re.compile(r"([\w.-]+)\s+(?:ssh|ecdsa|sk)-\S+\s+(AAAA[\w+/]+=*)(?:\s.*)?", re.ASCII)

_Documents = Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class Verified:
    """A submission, and the results of the checks so far.

    Attributes:
        refusals: Why it is refused; empty if it is not.
        manifest: Its manifest.
        scored: Its tasks, scored again; none if a file is not as it was written.
        signer: The name that the board's allowed signers bind to the key that signed it; empty if there is none.
        key: The fingerprint of that key; empty if it is not signed.
        digest: The hash of its manifest, if it is signed.
        checked: What was checked against something else than the submission, each a phrase.
        unchecked: What was not, each a phrase.
        statuses: Task -> what its numbers are worth, by the maintainer's data or a fingerprint of this release.
        compared: The tasks whose documents are those of the maintainer's data, every one of them.
        facts: Task -> title of a column of the board -> what stands there for people to judge.
    """

    refusals: list[str]
    manifest: Manifest
    scored: Sequence[ScoredTask]
    signer: str = ""
    key: str = ""
    digest: str = ""
    checked: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    compared: set[str] = field(default_factory=set)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def signed(self) -> str:
        """Who signed it, in words."""
        return f"signed by {self.signer or f'a key without a name here ({self.key})'}" if self.key else "unsigned"

    @property
    def is_rightful(self) -> bool:
        """Whether it is signed with a key that is bound to the ORG of its model."""
        return self.signer == self.manifest["model"].partition("/")[0].casefold()

    def edition(self, task: ScoredTask) -> str:
        """Which edition a task ran on, by the fingerprint, and only where the gold answers are its."""
        return task.pinned.label if task.pinned and self.statuses.get(task.name) == KNOWN else "unknown"

    @property
    def level(self) -> str:
        """What its checks are worth: :data:`AGAINST_DATA` if the documents of all tasks were compared."""
        return AGAINST_DATA if self.compared >= {task.name for task in self.scored} else CONSISTENT


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
    command, seconds = ["ssh-keygen", "-Y", action, *map(str, arguments)], None if content is None else SECONDS
    try:
        done = subprocess.run(command, input=content, capture_output=True, check=False, timeout=seconds)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise DataError(f"ssh-keygen has not read the signature in {SECONDS:g} s") from None
    except FileNotFoundError:
        need = "signatures need OpenSSH's ssh-keygen, which is not installed (package openssh-client)"
        raise TlsTasksError(need) from None
    output, errors = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, output, " ".join(errors.split())


def read_signers(path: Path | None) -> dict[str, str]:
    """The hash of each key in a file of allowed signers, as OpenSSH writes it -> its name; none without a file.

    Raises:
        DataError: If the file can't be read, or a line of it is not one name and its one key.
    """
    signers: dict[str, str] = {}
    with readable(path, "allowed signers", ValueError):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path else (), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            if (match := _SIGNER.fullmatch(line.strip())) is None:
                raise DataError(f"{path}:{number}: expected one name and its key in this line: ORG ssh-ed25519 AAAA…")
            name, digest = match[1].casefold(), hashlib.sha256(base64.b64decode(match[2])).digest()
            key = f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"
            if key in signers or name in signers.values():
                raise DataError(f"{path}:{number}: a second line of {name}, or of its key; expected one name a key")
            signers[key] = name
    return signers


def _check_signature(verified: Verified, manifest: Path, signers: Mapping[str, str]) -> None:
    """Find out who signed a manifest; its signature lies beside it, if there is one."""
    signature = manifest.with_name(f"{manifest.name}.sig")
    if not signature.is_file():
        return
    content = manifest.read_bytes()
    code, output, errors = _openssh("check-novalidate", "-n", _NAMESPACE, "-s", signature, content=content)
    key = re.search(r"key (SHA256:\S+)", output)
    if code != 0 or key is None:
        verified.refusals.append(f"signature: it is not one of this manifest: {errors}; {AS_WRITTEN}")
        return
    verified.key, verified.signer, verified.digest = (
        key[1],
        signers.get(key[1], ""),
        hashlib.sha256(content).hexdigest(),
    )


def verify_in_process(place: Path, data: str | None, signers: Mapping[str, str], time_limit: float | None) -> Verified:
    """Check a folder or zip in a process of its own, which alone reads it and is ended when the time is over.

    Args:
        place: The submission.
        data: See :func:`verify_submission`.
        signers: See :func:`verify_submission`.
        time_limit: Seconds; None: :data:`SECONDS`, and :data:`SECONDS_EACH` a document.

    Raises:
        DataError: If it is not an archive of ours.
        TlsTasksError: If there is a signature and OpenSSH is not installed.
    """
    # Not fork, which copies what other threads are in the midst of.
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(method)
    context.set_forkserver_preload(["__main__", __name__, *FAMILIES.values()])  # imported once for all submissions
    ignore = signal.signal, (signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all, and this process ends the other
    with tempfile.TemporaryDirectory() as scratch, context.Pool(1, *ignore) as pool:
        pool.apply(len, ("",))  # how long a process takes to start is not the submission's fault
        seconds = time_limit or SECONDS
        try:
            folder, n_documents = pool.apply_async(unpacked, (place, Path(scratch))).get(seconds)
            seconds = time_limit or SECONDS + SECONDS_EACH * n_documents
            return cast("Verified", pool.apply_async(verify_submission, (folder, data, signers)).get(seconds))
        except multiprocessing.TimeoutError:
            problem = f"time: the checks took more than {seconds:g} s; give them more: --time-limit SECONDS"
            return Verified([problem], cast("Manifest", {}), [])
        except DataError as error:  # no user knows the scratch folder
            raise DataError(str(error).replace(scratch, str(place))) from error


def verify_submission(folder: Path, data: str | None = None, signers: Mapping[str, str] | None = None) -> Verified:
    """Check a submission by all means there are.

    Args:
        folder: The submission.
        data: A place as ``--metadata '{"data": …}'`` takes it, or ``embedded``, ``fetched``, ``hub``; None: no data.
        signers: Whose keys are whose, see :func:`read_signers`.

    Raises:
        DataError: If it is not an archive of ours.
        TlsTasksError: If there is a signature and OpenSSH is not installed.
    """
    verified = Verified(
        [], manifest_of(folder), [], digest=hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    )
    _check_signature(verified, folder / MANIFEST, signers or {})
    refusals, verified.scored = verify(folder)
    verified.refusals[:0] = refusals
    if not verified.refusals:
        _check_further(verified, data)
    return verified


def _check_further(verified: Verified, data: str | None) -> None:
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
        found = verified.facts[task.name] = facts(task)
        if not found[EQUAL].startswith("0 "):
            unchecked.append(f"{task.name}: {found[EQUAL]} longer answers {EQUAL}: they are right, or were copied")
        if (n_around := found[AROUND]) not in ("0", "unchecked"):
            unchecked.append(f"{task.name}: the {n_around} characters around each prompt")
        if task.task.judge is not None:
            unchecked.append(f"{task.name}: the verdicts of judge {task.conditions.judge!r}")
        if data is not None:
            _compare_documents(verified, task, data)


def _compare_documents(verified: Verified, task: ScoredTask, data: str) -> None:
    """Make a task's documents from other data by the run's own options, and compare them with the logged ones.

    That the requests ask the prompts of the logged documents is checked without data: both together say that the
    requests ask the prompts of the data.
    """
    name, provenance = task.name, dict[str, str]()
    options = prompt_options(task.task, stated_metadata(name, task.results))
    # A stranger does not choose what tokenizer is loaded here, nor what file is read.
    options = {key: options[key] for key in options.keys() - {"tokenizer"} if options[key] != "auto"}
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
    problems = []
    if missing := sorted(expected.keys() - logged.keys()):
        problems.append(f"{len(missing)} of {len(expected)} documents not there: {missing[0]!r} …")
    if invented := sorted(logged.keys() - expected.keys()):
        problems.append(f"documents invented: {len(invented)}, first {invented[0]!r}")
    shared = [key for key in expected if key in logged]
    stated, fingerprint = task.conditions.fingerprint, provenance["fingerprint"]
    if stated != fingerprint:
        problems.append(f"the results state the fingerprint {stated[:12] or 'none'}, {data} has {fingerprint[:12]}")
    columns = _other_columns(logged, {key: expected[key] for key in shared})
    if columns and (wrong := _wrong_columns(task, logged, columns, {**source, **options})):
        first = next(iter(wrong))
        problems.append(f"documents unlike the data: {len(wrong)}, first {first!r} in {wrong[first]}")
    advice = "ask the submitter which data was used, and for a run on yours"
    if problems:
        verified.refusals += [f"data: {name}: {problem}; {advice}" for problem in problems]
        return
    same = f"{name}: ids and gold answers of all {len(expected)} documents, and the fingerprint"
    if columns:
        n_other = len({key for key, _ in columns})
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
