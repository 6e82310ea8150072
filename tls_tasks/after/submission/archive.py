"""The archive: the harness's own files, what was made of them, and a manifest of hashes."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tls_tasks import __version__
from tls_tasks.after.scored_runs import ScoredTask, score_places
from tls_tasks.after.submission.checks import Refusal, refusals
from tls_tasks.after.submission.records import eval_results, every_eval_ever, judged, model_index
from tls_tasks.core.errors import DataError

FORMAT = 1
MANIFEST = "manifest.json"
RUN = "run"
"""The folder of the archive that holds the harness's files."""

_MOST_BYTES = 4 << 30  # of an unpacked archive: more is no submission of ours


def write(
    scored: Sequence[ScoredTask],
    folder: Path,
    model: str,
    *,
    organization: str | None = None,
    relationship: str = "other",
    without_chat_template: bool = False,
) -> None:
    """Write an archive of tasks that :func:`~tls_tasks.after.submission.checks.refusals` has nothing against.

    Args:
        scored: The tasks.
        folder: Where to; must not exist or be empty.
        model: ``ORG/NAME``.
        organization: Who ran the evaluation; None: the model's ``ORG``.
        relationship: What they are to the model's maker.
        without_chat_template: Whether the submitter says that the model was meant to run without one.

    Raises:
        DataError: If the folder has something in it.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: not empty; choose another folder or remove it")
    (folder / RUN).mkdir(parents=True)
    for path in {path for task in scored for path in (task.log.path, task.run.results) if path is not None}:
        shutil.copyfile(path, folder / RUN / path.name)
    _write_yaml(folder / ".eval_results" / "tls_tasks.yaml", eval_results(scored))
    _write_yaml(folder / "model-index.yml", model_index(scored, model))
    for task in scored:
        record = every_eval_ever(
            task, model, organization=organization or model.partition("/")[0], relationship=relationship
        )
        _write_text(folder / "every_eval_ever" / f"{task.task.name}.json", _json(record))
    manifest = {
        "format": FORMAT,
        "tls_tasks": __version__,
        "model": model,
        "chat_template": not without_chat_template,
        "tasks": {task.task.name: task_entry(task) for task in scored},
        "files": file_hashes(folder),
    }
    _write_text(folder / MANIFEST, _json(manifest))


def task_entry(scored: ScoredTask) -> dict[str, Any]:
    """What the manifest says of a task; computed again by whoever verifies it."""
    return {
        "version": scored.task.version,
        "edition": scored.edition,
        "n_documents": len(scored.score.ids),
        "metrics": judged(scored),
        "signatures": scored.signatures(),
    }


def file_hashes(folder: Path) -> dict[str, str]:
    """Every file but the manifest -> its SHA-256."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST)
    return {path.relative_to(folder).as_posix(): _digest(path) for path in paths}


def verify(folder: Path) -> tuple[list[Refusal], dict[str, Any]]:
    """Check an archive with nothing but itself and this package: files, hashes, scores.

    Returns:
        What stands against it, and its manifest.

    Raises:
        DataError: If it is no archive of ours.
    """
    manifest = read_manifest(folder)
    found = list(_files(folder, manifest))
    scored = list(score_places([folder / RUN], newest=True))
    without = not manifest.get("chat_template", True)
    # The name in the results may be a local folder's; the one to be published was checked when it was given.
    found += refusals(scored, str(manifest.get("model", "")), without_chat_template=without)
    found += _entries(scored, manifest)
    return found, manifest


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest.

    Raises:
        DataError: If there is none, or it is of another format.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{folder}: no {MANIFEST}; expected a folder or zip that tls-tasks submit wrote") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        given = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        raise DataError(f"{path}: format {given}; this release reads {FORMAT}")
    return manifest


def _files(folder: Path, manifest: Mapping[str, Any]) -> list[Refusal]:
    stated, present = manifest.get("files"), file_hashes(folder)
    if not isinstance(stated, dict):
        return [Refusal("manifest", "it lists no files", "ask the submitter for the archive as it was written")]
    found = []
    for name in sorted({*stated, *present}):
        if stated.get(name) != present.get(name):
            what = (
                "is missing" if name not in present else "is not in the manifest" if name not in stated else "differs"
            )
            found.append(Refusal("file", f"{name} {what}", "ask the submitter for the archive as it was written"))
    return found


def _entries(scored: Sequence[ScoredTask], manifest: Mapping[str, Any]) -> list[Refusal]:
    stated = manifest.get("tasks")
    computed = json.loads(_json({task.task.name: task_entry(task) for task in scored}))
    if stated == computed:
        return []
    names = sorted({*computed, *(stated if isinstance(stated, dict) else {})})
    wrong = [name for name in names if not isinstance(stated, dict) or stated.get(name) != computed.get(name)]
    advice = "submit it again with this release" if manifest.get("tls_tasks") != __version__ else "submit it again"
    return [Refusal("manifest", f"what it says of {name} is not what its files give", advice) for name in wrong]


def pack(folder: Path, target: Path) -> None:
    """Write an archive's folder as one zip, the same bytes each time."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, path.read_bytes())


def unpack(path: Path, folder: Path) -> None:
    """Unpack a zip that somebody sent.

    Raises:
        DataError: If it is no zip, a name in it leads out of the folder, or it is too large to be a submission.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _MOST_BYTES:
                raise DataError(f"{path}: more than {_MOST_BYTES >> 30} GiB unpacked")
            for entry in packed.infolist():
                place = (folder / entry.filename).resolve()
                if folder.resolve() not in place.parents:
                    raise DataError(f"{path}: the name {entry.filename!r} leads out of the archive")
            packed.extractall(folder)
    except zipfile.BadZipFile as error:
        raise DataError(f"{path}: not a zip: {error}") from error


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _write_yaml(path: Path, value: Any) -> None:
    _write_text(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True))


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8", errors="surrogateescape")
