"""Where runs are: the files of one run each, of any host, in files and folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tls_tasks.after.logs import RunFiles
from tls_tasks.core.errors import DataError

_FILE = re.compile(
    r"(?:results|samples_(?P<task>.+))_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.json(?(task)l)"
)
_INSPECT_NAME = re.compile(r"(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)[^_]*_(?P<task>.+)_[^_]+")
_INSPECT = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status"')
_EVERY_EVAL_EVER = (b'"evaluation_id"', b'"sample_id"')
_BEGIN = 1 << 16  # bytes by which a log is known
_EXPECTED = (
    "results_<date>.json or samples_<task>_<date>.jsonl, as lm_eval --log_samples writes, a log of Inspect, rows of "
    "Every Eval Ever, or JSONL with `id`"
)


def find_runs(places: Iterable[str | Path], *, task: str | None = None, newest: bool = False) -> list[RunFiles]:
    """The runs in files and folders, the oldest first.

    Args:
        places: Logs, or folders that are searched to any depth. A results file of the harness brings the samples of
            its run that lie beside it. A JSONL file of plain rows must be named itself.
        task: A samples file of the harness that is named otherwise is of this task.
        newest: Of several runs in a folder take the newest samples of each task only.

    Raises:
        DataError: If a place doesn't exist, or holds no log.
    """
    files_of: dict[tuple[Path, str], dict[str, Path]] = {}  # (folder, date) -> task, empty for the results -> file
    others: dict[Path, RunFiles] = {}
    for place in map(Path, places):
        has_log = False
        for path in _files_at(place):
            if match := _FILE.fullmatch(path.name):
                files_of.setdefault((path.parent, match["date"]), {})[match["task"] or ""] = path
            elif task is not None and path == place:
                others[path] = RunFiles(path.parent, "", None, {task: path})
            elif run := _other_host(path, path == place):
                others[path] = run
            else:
                continue
            has_log = True
        if not has_log:
            raise DataError(f"{place}: no log there; expected {_EXPECTED}")
    runs = [RunFiles(*key, files.pop("", None), files) for key, files in files_of.items()]
    ordered = sorted([*others.values(), *runs], key=lambda run: (run.date, str(run.folder)))
    return list(_newest(ordered))[::-1] if newest else ordered


def _files_at(place: Path) -> list[Path]:
    if not place.exists():
        raise DataError(f"{place}: no such file or folder")
    if place.is_dir():  # in a folder a pipe by the name of a log would be waited for for ever
        return sorted(path for path in place.rglob("*") if path.is_file())
    if place.name.startswith("results_"):
        return sorted({place, *place.parent.glob(f"*{place.stem.removeprefix('results')}.json*")})
    return [place]


def _newest(runs: Iterable[RunFiles]) -> Iterator[RunFiles]:
    """The newest samples of each task in each folder; an older run keeps the tasks that no newer one has."""
    taken: set[tuple[Path, str]] = set()
    for run in sorted(runs, key=lambda run: run.date, reverse=True):
        samples = {name: path for name, path in run.samples.items() if (run.folder, name) not in taken}
        taken |= {(run.folder, name) for name in samples}
        if samples:
            yield replace(run, samples=samples)


def find_log(place: str, *, task: str | None = None) -> tuple[RunFiles, str, str]:
    """One samples file of the harness: the files of its run, the task in its name, and where it is.

    Args:
        place: The file, or a URL of it, in JSONL or Parquet; or the results file beside it.
        task: The file is of this task, whatever its name.

    Raises:
        DataError: If it doesn't exist, there are several, or it is of no task.
    """
    if "://" in place or (Path(place).is_file() and place.endswith(".parquet")):
        match = _FILE.fullmatch(re.sub(r"\.parquet$", ".jsonl", place.rpartition("/")[2]))
        run, name, path = RunFiles(Path(place).parent, "", None), match["task"] if match else None, place
    else:
        logs = [(run, *log) for run in find_runs([place], task=task) for log in run.samples.items()]
        if len(logs) != 1 or logs[0][0].host != "lm_eval":
            raise DataError(f"{place}: {len(logs)} logs there, expected one samples file of the harness")
        run, name, path = logs[0][0], logs[0][1], str(logs[0][2])
    if (name := task or name) is None:
        raise DataError(f"{place}: expected the name samples_<task>_<date>, or --task, which says of which task it is")
    return run, name, path


def _other_host(path: Path, is_named: bool) -> RunFiles | None:
    """The run in a file that is not the harness's, told by its name or how it begins; None if it is no log.

    Args:
        path: The file.
        is_named: Whether the user named it: any file with a row in JSON is then taken for a log.
    """
    host = "inspect_ai" if path.suffix == ".eval" else ""
    if path.suffix in {".json", ".jsonl"}:
        with path.open("rb") as file:
            start = file.read(_BEGIN)
        if path.suffix == ".json":
            host = "inspect_ai" if _INSPECT.match(start) else ""
        elif all(name in start.lstrip().partition(b"\n")[0] for name in _EVERY_EVAL_EVER):
            host = "every_eval_ever"
        elif is_named and start.lstrip().startswith(b"{"):
            host = "rows"
    if not host:
        return None
    match = _INSPECT_NAME.fullmatch(path.stem) if host == "inspect_ai" else None
    date, name = (match["date"], match["task"]) if match else ("", path.stem)
    return RunFiles(path.parent, date, None, {name: path}, host)
