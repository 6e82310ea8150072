"""The archive: the harness's own files, the records made from them, and a manifest of hashes."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import yaml

from tls_tasks import __version__
from tls_tasks.after.foreign import Manifest, read_manifest
from tls_tasks.after.scored_runs import ScoredTask, score_places
from tls_tasks.after.submission import Refusal
from tls_tasks.after.submission.checks import packed_files, refusals
from tls_tasks.after.submission.records import Claim, eval_results, every_eval_ever, model_index
from tls_tasks.after.submission.unpack import check_rows, files_of
from tls_tasks.core.errors import DataError
from tls_tasks.core.whole import made_folder, replaced

_FORMAT = 1
MANIFEST = "manifest.json"
"""The file that lists all others, and is signed."""

_EVAL_RESULTS = ".eval_results/tls_tasks.yaml"
_AS_WRITTEN = "ask the submitter for the archive as it was written"
_RUN = "run"  # the folder of the archive that holds the harness's files
_MOST_BYTES_OF_MANIFEST = 1 << 20  # a line a file


def write(
    scored: Sequence[ScoredTask],
    folder: Path,
    claim: Claim,
    *,
    without_chat_template: bool = False,
    hub_records: bool = False,
) -> None:
    """Write the archive of tasks that passed :func:`~tls_tasks.after.submission.checks.refusals`, all of it or nothing.

    Args:
        scored: The tasks.
        folder: Where to; must be empty or not exist.
        claim: Of the submitter.
        without_chat_template: The submitter says that the model was meant to run without one.
        hub_records: Also write ``.eval_results``, of the tasks that read a data set on the hub.

    Raises:
        DataError: If no task read a data set on the hub for ``hub_records``.
        OSError: If the folder is not empty, or can't be written.
    """
    if hub_records and not any(task.edition == "hub" for task in scored):
        raise DataError(
            f".eval_results: no task here ran on a data set of the hub, but on the {scored[0].edition} data"
        )
    with made_folder(folder) as made:
        (made / _RUN).mkdir()
        for path in packed_files(scored):
            shutil.copyfile(path, made / _RUN / path.name)
        for name, text in records_of(scored, claim, hub_records).items():
            _write_text(made / name, text)
        manifest = {
            "format": _FORMAT,
            "tls_tasks": __version__,
            **asdict(claim),
            "chat_template": not without_chat_template,
            "tasks": [task.name for task in scored],
            "files": file_hashes(made),
        }
        _write_text(made / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n")


def records_of(scored: Sequence[ScoredTask], claim: Claim, hub_records: bool) -> dict[str, str]:
    """The files of others' formats, by name."""
    records = {"model-index.yml": _yaml(model_index(scored, claim.model))}
    if hub_records:
        records[_EVAL_RESULTS] = _yaml(eval_results([task for task in scored if task.edition == "hub"]))
    for task in scored:
        records |= {f"every_eval_ever/{name}": text for name, text in every_eval_ever(task, claim).items()}
    return records


def _yaml(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")  # half a surrogate pair, which JSON can hold


def pack(folder: Path, target: Path) -> None:
    """Write an archive's folder as one zip, the same bytes each time."""
    with replaced(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def verify(folder: Path) -> tuple[list[Refusal], Manifest, list[ScoredTask]]:
    """Check an archive with nothing but itself and this package: files, hashes, scores, records.

    Returns:
        What stands against it, its manifest, and its tasks, scored again; no tasks where a file is not as it was
        written, since nothing in such an archive is read.

    Raises:
        DataError: If it is not an archive of ours.
    """
    manifest, present = _read_manifest(folder), file_hashes(folder)
    if problems := list(_other_files(manifest["files"], present)):
        return problems, manifest, []
    for path in (folder / _RUN).glob("samples_*"):
        check_rows(path)
    scored = list(score_places([folder / _RUN], newest=True))
    problems = refusals(scored, manifest["model"], without_chat_template=not manifest.get("chat_template", True))
    if sorted(map(str, manifest.get("tasks") or ())) != sorted(task.name for task in scored):
        problems.append(Refusal("manifest", "its tasks are not those of the samples", _AS_WRITTEN))
    # Of what can't be submitted no records can be made.
    return problems or list(_other_records(manifest, present, scored)), manifest, scored


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise DataError(f"{folder}: no {MANIFEST}; expected a folder or zip that tls-tasks submit wrote")
    try:
        if path.stat().st_size > _MOST_BYTES_OF_MANIFEST:
            raise DataError(f"more than {_MOST_BYTES_OF_MANIFEST >> 20} MiB")
        return read_manifest(path.read_bytes())
    except DataError as error:
        raise DataError(f"{path}: not a manifest that this release reads: {error}") from error


def file_hashes(folder: Path) -> dict[str, str]:
    """Every file but the manifest and its signature -> its SHA-256."""
    hashes = {}
    for path in files_of(folder):
        if path not in (folder / MANIFEST, folder / f"{MANIFEST}.sig"):
            digest = hashlib.sha256()
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
            hashes[path.relative_to(folder).as_posix()] = digest.hexdigest()
    return hashes


def _other_files(stated: dict[str, str], present: dict[str, str]) -> Iterator[Refusal]:
    for name in sorted({*stated, *present}):
        if name not in present:
            yield Refusal("file", f"{name} is missing", _AS_WRITTEN)
        elif name not in stated:
            yield Refusal("file", f"{name} is not in the manifest", _AS_WRITTEN)
        elif stated[name] != present[name]:
            yield Refusal("file", f"{name} does not have the hash that the manifest states", _AS_WRITTEN)


def _other_records(manifest: Manifest, present: dict[str, str], scored: Sequence[ScoredTask]) -> Iterator[Refusal]:
    """Records that are not those of the run, and files that are none of an archive's."""
    model, version = manifest["model"], manifest.get("tls_tasks")
    organization = manifest.get("organization") or model.partition("/")[0]
    claim = Claim(model, organization, manifest.get("relationship") or "other")
    records = records_of(scored, claim, _EVAL_RESULTS in manifest["files"])
    advice = _AS_WRITTEN if version == __version__ else f"verify it with tls-tasks {version}, which wrote it"
    for name, text in records.items():
        if present.get(name) != hashlib.sha256(text.encode("utf-8", "replace")).hexdigest():
            yield Refusal("record", f"{name} is not what the samples give", advice)
    run = {f"{_RUN}/{path.name}" for path in packed_files(scored)}
    for name in sorted(present.keys() - run - records.keys()):
        yield Refusal("file", f"{name} is no part of a submission", _AS_WRITTEN)
