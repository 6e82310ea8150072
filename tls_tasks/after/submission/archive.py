"""The archive: the harness's files and a manifest of hashes; and one that somebody sent, unpacked safely."""

import datetime
import hashlib
import io
import json
import os
import re
import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.foreign import Manifest, read_file, read_manifest
from tls_tasks.after.scored_runs import ScoredTask, score_places
from tls_tasks.after.submission.checks import packed_files, refusals
from tls_tasks.core.errors import DataError
from tls_tasks.core.whole import replaced
from tls_tasks.data.cards import to_yaml

MANIFEST = "manifest.json"
"""The file that lists all others, and is signed."""

EVAL_RESULTS = ".eval_results/tls_tasks.yaml"
"""The file for the model's repository on the hub, where a task read a data set there."""

AS_WRITTEN = "ask the submitter for the archive as it was written"
"""The advice about one that was changed."""

MOST_FILES = 1_000
"""Of a submission, with its folders. That of all our tasks has some hundred."""

MOST_BYTES = 2 << 30
"""Of all files of a submission together, unpacked."""

MOST_ROWS = 100_000
"""Of all samples files of a submission together."""

MOST_BYTES_OF = {f"{MANIFEST}.sig": 16 << 10, "run/results_*": 16 << 20, "run/samples_*": 1 << 30, "*": 1 << 20}
"""Pattern of a file's name -> how many bytes it may have; the first that fits counts."""

_MOST_PARTS = 3  # of a name
_MOST_BYTES_OF_LIST = 1 << 20  # of the list of files at a zip's end, which is read as a whole
_CHUNK = 1 << 20
_NAME = re.compile(r"(?!.*\.\.)[\w.+=@-]{1,200}", re.ASCII)
_RUN = "run"  # the folder of the archive that holds the harness's files
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def unpacked(location: Path, scratch: Path) -> tuple[Path, int]:
    """Return the folder of a submission, itself or the empty ``scratch`` for a zip, and its number of documents.

    Raises:
        DataError: If it is not there, is neither, or holds what no submission has; names the file.
    """
    if not os.path.lexists(location):
        raise DataError(f"{location}: no such file or folder")
    mode = location.lstat().st_mode
    if stat.S_ISDIR(mode):
        files_of(location)
        return location, count_rows(location)
    if not stat.S_ISREG(mode):
        raise DataError(f"{location}: a link, pipe or device, expected a folder or zip")
    _unpack(location, scratch)
    return scratch, count_rows(scratch)


def files_of(folder: Path) -> list[Path]:
    """Return all files below a submission's folder, in order.

    Raises:
        DataError: If there are too many or too large ones, or something is no plain file with a plain name.
    """
    statuses = ((path.relative_to(folder).as_posix(), path.lstat()) for path in folder.rglob("*"))
    _check_entries(folder, ((name, status.st_mode, status.st_size) for name, status in statuses))
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _check_entries(location: Path, entries: Iterable[tuple[str, int, int]]) -> None:
    """Refuse names that lead out, hide something or mean other things elsewhere, and what is too much or too large."""
    n_bytes = 0
    for n_files, (name, mode, size) in enumerate(entries, start=1):
        if n_files > MOST_FILES:
            raise DataError(f"{location}: more than {MOST_FILES:,} files and folders")
        parts = name.split("/")
        if len(parts) > _MOST_PARTS:
            raise DataError(f"{location}: {name[:20]}… lies more than {_MOST_PARTS} folders deep")
        if not all(map(_NAME.fullmatch, parts)):
            problem = f"the name {name[:100]!r} leads out of the submission or has other than ASCII letters"
            raise DataError(f"{location}: {problem}")
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):  # a zip may leave the kind open
            raise DataError(f"{location}: {name} is a link, pipe or device, expected a file")
        most = next(most for pattern, most in MOST_BYTES_OF.items() if fnmatchcase(name, pattern))
        if size > most:
            raise DataError(f"{location}: {name} has {size:,} bytes, at most {most:,} are read")
        n_bytes += size
    if n_bytes > MOST_BYTES:
        raise DataError(f"{location}: more than {MOST_BYTES >> 20:,} MiB unpacked")


class _Careful(io.FileIO):
    """A file of which no more is read at once than a zip's list of files may take."""

    def read(self, size: int | None = -1, /) -> bytes:
        rest = os.fstat(self.fileno()).st_size - self.tell()
        n_bytes = rest if size is None or size < 0 else min(size, rest)
        if n_bytes > _MOST_BYTES_OF_LIST:
            raise DataError(f"{self.name}: its list of files is longer than {_MOST_BYTES_OF_LIST >> 20} MiB")
        return super().read(n_bytes) or b""


def _unpack(path: Path, folder: Path) -> None:
    try:
        with _Careful(path) as file, zipfile.ZipFile(file) as packed:
            _extract(path, packed, folder)
    except DataError:
        raise
    except OSError as error:  # such as a second file of a name, or one by the name of another's folder
        raise DataError(f"{path}: can't be unpacked: {error.strerror or error}") from error
    except Exception as error:  # a damaged zip makes the standard library raise anything from zlib.error to ValueError
        raise DataError(f"{path}: not a zip that tls-tasks submit wrote ({error})") from error


def _extract(path: Path, packed: zipfile.ZipFile, folder: Path) -> None:
    entries = [(entry.orig_filename.removesuffix("/"), entry) for entry in packed.infolist()]
    # No more is unpacked of a file than its size in this list.
    _check_entries(path, ((name, entry.external_attr >> 16, entry.file_size) for name, entry in entries))
    for name, entry in entries:
        if entry.compress_type not in _METHODS:
            raise DataError(f"{path}: {name} is packed by method {entry.compress_type}, expected deflate or none")
        target = folder / name
        (target if entry.is_dir() else target.parent).mkdir(parents=True, exist_ok=True)
        if not entry.is_dir():
            with packed.open(entry) as source, target.open("xb") as copy:
                shutil.copyfileobj(source, copy)


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
    return _encoded(to_yaml(entries)) if entries else b""


def _encoded(text: str) -> bytes:
    """Text that every reader takes: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def write(scored: Sequence[ScoredTask], folder: Path, **stated: Any) -> None:
    """Write the archive of tasks that passed :func:`~tls_tasks.after.submission.checks.refusals`.

    Args:
        scored: The tasks.
        folder: Where to; there, and empty.
        **stated: What the submitter says, ``model``, ``date``, ``chat_template`` and ``replaces`` of
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


def pack(folder: Path, target: Path) -> None:
    """Write an archive's folder as one zip, the same bytes each time."""
    with replaced(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files_of(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


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
    problems = refusals(scored, manifest["model"], manifest["date"], no_template=not manifest["chat_template"])
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
        raise DataError(f"{folder}: no {MANIFEST}; expected a folder or zip that tls-tasks submit wrote")
    return read_file(path, read_manifest, "not a manifest that this release reads: ")
