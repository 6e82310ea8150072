"""The archive: the harness's own files, the records made from them, and a manifest of hashes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tls_tasks import __version__
from tls_tasks.after.scored_runs import ScoredTask, score_places
from tls_tasks.after.submission.checks import refusals
from tls_tasks.after.submission.records import eval_results, every_eval_ever, model_index
from tls_tasks.after.submission.refusal import Refusal
from tls_tasks.core.errors import DataError

_FORMAT = 1
MANIFEST = "manifest.json"
"""The file that lists all others, and is signed."""

_SIGNATURE = f"{MANIFEST}.sig"
_AS_WRITTEN = "ask the submitter for the archive as it was written"
_RUN = "run"  # the folder of the archive that holds the harness's files
_MOST_BYTES = 4 << 30  # unpacked; anything larger is not a submission


def write(
    scored: Sequence[ScoredTask],
    folder: Path,
    model: str,
    *,
    organization: str | None = None,
    relationship: str = "other",
    without_chat_template: bool = False,
) -> None:
    """Write the archive of tasks that passed :func:`~tls_tasks.after.submission.checks.refusals`.

    Args:
        scored: The tasks.
        folder: Where to; must be empty or not exist.
        model: ``ORG/NAME``.
        organization: Who ran the evaluation; None: the model's ``ORG``.
        relationship: What they are to the model's maker.
        without_chat_template: The submitter says that the model was meant to run without one.

    Raises:
        DataError: If the folder is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: not empty; choose another folder or remove it")
    (folder / _RUN).mkdir(parents=True)
    for path in {path for task in scored for path in (task.log.path, task.run.results) if path is not None}:
        shutil.copyfile(path, folder / _RUN / path.name)
    organization = organization or model.partition("/")[0]
    for name, text in _records(scored, model, organization, relationship).items():
        _write_text(folder / name, text)
    manifest = {
        "format": _FORMAT,
        "tls_tasks": __version__,
        "model": model,
        "organization": organization,
        "relationship": relationship,
        "chat_template": not without_chat_template,
        "tasks": [task.name for task in scored],
        "files": _file_hashes(folder),
    }
    _write_text(folder / MANIFEST, _json(manifest))


def _records(scored: Sequence[ScoredTask], model: str, organization: str, relationship: str) -> dict[str, str]:
    """The files of others' formats, by name."""
    records = {".eval_results/tls_tasks.yaml": _yaml(eval_results(scored))}
    records["model-index.yml"] = _yaml(model_index(scored, model))
    for task in scored:
        record = every_eval_ever(task, model, organization=organization, relationship=relationship)
        records[f"every_eval_ever/{task.name}.json"] = _json(record)
    return records


def verify(folder: Path) -> tuple[list[Refusal], dict[str, Any], list[ScoredTask]]:
    """Check an archive with nothing but itself and this package: files, hashes, scores, records.

    Returns:
        What stands against it, its manifest, and its tasks, scored again; no tasks where a file is not as it was
        written, since nothing in such an archive is read.

    Raises:
        DataError: If it is not an archive of ours.
    """
    manifest = _read_manifest(folder)
    present = _file_hashes(folder)
    if differences := list(_differences(manifest["files"], present)):
        return differences, manifest, []
    scored = list(score_places([folder / _RUN], newest=True))
    without = not manifest.get("chat_template", True)
    found = refusals(scored, str(manifest.get("model", "")), without_chat_template=without)
    if sorted(map(str, manifest.get("tasks") or ())) != sorted(task.name for task in scored):
        found.append(Refusal("manifest", "its tasks are not those of the samples", _AS_WRITTEN))
    # Of what can't be submitted no records can be made.
    return found or list(_other_records(folder, manifest, present, scored)), manifest, scored


def _other_records(
    folder: Path, manifest: Mapping[str, Any], present: Mapping[str, str], scored: Sequence[ScoredTask]
) -> Iterator[Refusal]:
    """Records that are not those of the run, and files that are none of an archive's."""
    own = {f"{_RUN}/{path.name}" for task in scored for path in (task.log.path, task.run.results) if path is not None}
    model, version = str(manifest["model"]), manifest.get("tls_tasks")
    organization = str(manifest.get("organization") or model.partition("/")[0])
    records = _records(scored, model, organization, str(manifest.get("relationship") or "other"))
    advice = _AS_WRITTEN if version == __version__ else f"verify it with tls-tasks {version}, which wrote it"
    for name, text in records.items():
        if present.get(name) != hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest():
            yield Refusal("record", f"{name} is not what the samples give", advice)
    for name in sorted(present.keys() - own - records.keys()):
        yield Refusal("file", f"{name} is no part of a submission", _AS_WRITTEN)


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise DataError(f"{folder}: no {MANIFEST}; expected a folder or zip that tls-tasks submit wrote")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise DataError(f"{path}: not a manifest: it has no object `files`")
    if manifest.get("format") != _FORMAT:
        raise DataError(f"{path}: format {manifest.get('format')}; this release reads {_FORMAT}")
    return manifest


def _file_hashes(folder: Path) -> dict[str, str]:
    """Every file but the manifest and its signature -> its SHA-256."""
    unlisted = {folder / MANIFEST, folder / _SIGNATURE}
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path not in unlisted)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _differences(stated: Mapping[str, str], present: Mapping[str, str]) -> Iterator[Refusal]:
    for name in sorted({*stated, *present}):
        if name not in present:
            yield Refusal("file", f"{name} is missing", _AS_WRITTEN)
        elif name not in stated:
            yield Refusal("file", f"{name} is not in the manifest", _AS_WRITTEN)
        elif stated[name] != present[name]:
            yield Refusal("file", f"{name} differs", _AS_WRITTEN)


def pack(folder: Path, target: Path) -> None:
    """Write an archive's folder as one zip, the same bytes each time."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


@contextlib.contextmanager
def opened(place: Path) -> Iterator[Path]:
    """The folder of an archive, which may be a zip that somebody sent.

    Raises:
        DataError: If it is not there or not a zip, a name in it leads out of the folder, or it is too large to be a
            submission.
    """
    if not place.exists():
        raise DataError(f"{place}: no such file or folder")
    if not place.is_file():
        yield place
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        _unpack(place, folder)
        yield folder


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _MOST_BYTES:
                raise DataError(f"{path}: more than {_MOST_BYTES >> 30} GiB unpacked")
            for entry in packed.infolist():
                if folder not in (folder / entry.filename).resolve().parents:
                    raise DataError(f"{path}: the name {entry.filename!r} leads out of the archive")
            packed.extractall(folder)
    except zipfile.BadZipFile as error:
        raise DataError(f"{path}: not a zip that tls-tasks submit wrote") from error


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
