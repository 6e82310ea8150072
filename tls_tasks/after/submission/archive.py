"""The archive, a folder: the harness's files and a manifest of hashes; and one that somebody sent, checked."""

import datetime
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.foreign import Manifest, read_file, read_manifest
from tls_tasks.after.scored_runs import ScoredTask, score_places
from tls_tasks.after.submission.checks import packed_files, refusals
from tls_tasks.core.errors import DataError
from tls_tasks.data.cards import as_yaml

MANIFEST = "manifest.json"
"""The file that lists all others, and is signed."""

EVAL_RESULTS = ".eval_results/tls_tasks.yaml"
"""The file for the model's repository on the hub, where a task read a data set there."""

AS_WRITTEN = "ask the submitter for the archive as it was written"
"""The advice about one that was changed."""

MOST_FILES = 1_000
"""Of a submission, with its folders. That of all our tasks has some hundred."""

MOST_BYTES = 2 << 30
"""Of all files of a submission together."""

MOST_ROWS = 100_000
"""Of all samples files of a submission together."""

MOST_BYTES_OF = {f"{MANIFEST}.sig": 16 << 10, "run/results_*": 16 << 20, "run/samples_*": 1 << 30, "*": 1 << 20}
"""Pattern of a file's name -> how many bytes it may have; the first that fits counts."""

_CHUNK = 1 << 20
_NAME = re.compile(r"[\w.+=@/-]{1,200}", re.ASCII)
_RUN = "run"  # the folder of the archive that holds the harness's files


def files_of(folder: Path) -> list[Path]:
    """Return all files below a submission's folder, in order.

    Raises:
        DataError: If it is no folder, there are too many or too large files, or something is no plain file with a plain
            name.
    """
    if not os.path.lexists(folder):
        raise DataError(f"{folder}: no such file or folder")
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise DataError(f"{folder}: expected a folder, which tls-tasks submit wrote")
    files, n_bytes = [], 0
    for n_entries, path in enumerate(folder.rglob("*"), start=1):
        name, status = path.relative_to(folder).as_posix(), path.lstat()
        if n_entries > MOST_FILES:
            raise DataError(f"{folder}: more than {MOST_FILES:,} files and folders")
        if not _NAME.fullmatch(name):
            raise DataError(f"{folder}: the name {name[:100]!r} is too long or has other than ASCII letters")
        if stat.S_ISDIR(status.st_mode):
            continue
        if not stat.S_ISREG(status.st_mode):
            raise DataError(f"{folder}: {name} is a link, pipe or device, expected a file")
        most = next(most for pattern, most in MOST_BYTES_OF.items() if fnmatchcase(name, pattern))
        if status.st_size > most:
            raise DataError(f"{folder}: {name} has {status.st_size:,} bytes, at most {most:,} are read")
        n_bytes += status.st_size
        files.append(path)
    if n_bytes > MOST_BYTES:
        raise DataError(f"{folder}: more than {MOST_BYTES >> 20:,} MiB")
    return sorted(files)


def count_rows(folder: Path) -> int:
    """Return the rows of all samples files of a submission.

    Raises:
        DataError: If there are more than :data:`MOST_ROWS`, too many to be scored while somebody waits.
    """
    paths = (folder / _RUN).glob("samples_*")
    if (n_rows := sum(chunk.count(b"\n") for path in paths for chunk in _chunks(path))) > MOST_ROWS:
        raise DataError(f"{folder}: more than {MOST_ROWS:,} rows")
    return n_rows


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def file_hashes(folder: Path) -> dict[str, str]:
    """Every file but the manifest and its signature -> its SHA-256."""
    hashes = {}
    for path in files_of(folder):
        if path not in (folder / MANIFEST, folder / f"{MANIFEST}.sig"):
            digest = hashlib.sha256()
            for chunk in _chunks(path):
                digest.update(chunk)
            hashes[path.relative_to(folder).as_posix()] = digest.hexdigest()
    return hashes


def eval_results(scored: Sequence[ScoredTask], release: str) -> bytes:
    """The ``.eval_results`` for the model's repository on the hub, of the tasks that read a data set there; else empty.

    Args:
        scored: The tasks.
        release: The release of this package that made the numbers.
    """
    entries = []
    for task in (task for task in scored if task.edition == "hub"):
        repository, _, revision = task.provenance.get("origin", "").partition("@")
        date = datetime.datetime.fromtimestamp(task.results["date"], datetime.timezone.utc).isoformat()
        documents = f"task version {task.version:g}, {len(task.ids)} documents, {task.data}, {task.conditions}"
        notes = f"tls-tasks {release}, {documents}; {'; '.join(task.signatures.values())}"
        for key, value in task.ranked.items():
            data = {"id": repository, "task_id": f"{task.name}.{key}", **({"revision": revision} if revision else {})}
            entries.append({"dataset": data, "value": value, "date": date, "notes": notes})
    return _encoded(as_yaml(entries)) if entries else b""


def _encoded(text: str) -> bytes:
    """Text that every reader takes: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def write(scored: Sequence[ScoredTask], folder: Path, **stated: Any) -> None:
    """Write the archive of tasks that passed :func:`~tls_tasks.after.submission.checks.refusals`.

    Args:
        scored: The tasks.
        folder: Where to; there, and empty.
        **stated: What the submitter says, ``model`` and ``chat_template`` of
            :class:`~tls_tasks.after.foreign.Manifest`.
    """
    (folder / _RUN).mkdir()
    for path in packed_files(scored):
        shutil.copyfile(path, folder / _RUN / path.name)
    if content := eval_results(scored, __version__):
        (folder / EVAL_RESULTS).parent.mkdir()
        (folder / EVAL_RESULTS).write_bytes(content)
    about = {"format": 1, "tls_tasks": __version__, "tasks": [task.name for task in scored]}
    manifest = {**about, **stated, "files": file_hashes(folder)}
    text = json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    (folder / MANIFEST).write_bytes(_encoded(text))


def verify(folder: Path) -> tuple[list[str], list[ScoredTask]]:
    """Check an archive with nothing but itself and this package: files, hashes, scores.

    Returns:
        Why it is refused, and its tasks, scored again; no tasks where a file is not as it was written, since nothing
        in such an archive is read.

    Raises:
        DataError: If it is not an archive of ours.
    """
    manifest, hashes = manifest_of(folder), file_hashes(folder)
    stated = manifest["files"]
    if wrong := [name for name in sorted({*stated, *hashes}) if stated.get(name) != hashes.get(name)]:
        how = {True: "is not in the manifest with this hash", False: "is missing"}
        return [f"file: {name} {how[name in hashes]}; {AS_WRITTEN}" for name in wrong], []
    scored = list(score_places([folder / _RUN], newest=True))
    problems = refusals(scored, manifest["model"], no_template=not manifest["chat_template"])
    if sorted(manifest["tasks"]) != sorted(task.name for task in scored):
        problems.append(f"manifest: its tasks are not those of the samples; {AS_WRITTEN}")
    if not problems:  # of what can't be submitted nothing more can be made
        content = eval_results(scored, manifest["tls_tasks"])
        if content and hashes.pop(EVAL_RESULTS, "") != hashlib.sha256(content).hexdigest():
            problems.append(f"file: {EVAL_RESULTS} is not what the samples give; {AS_WRITTEN}")
        extra = sorted(hashes.keys() - {f"{_RUN}/{path.name}" for path in packed_files(scored)})
        problems += [f"file: {name} is no part of a submission; {AS_WRITTEN}" for name in extra]
    return problems, scored


def manifest_of(folder: Path) -> Manifest:
    """The manifest of a submission.

    Raises:
        DataError: If there is none that this release reads.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise DataError(f"{folder}: no {MANIFEST}; expected a folder that tls-tasks submit wrote")
    return read_file(path, read_manifest, "not a manifest that this release reads: ")
