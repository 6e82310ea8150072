"""Our tasks and groups as their YAML files say: versions, members, the order of results. Read without the harness."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.errors import OptionError
from tls_tasks.core.task import Task
from tls_tasks.data.catalogue import DataSet
from tls_tasks.hosts.discovery import tasks_path


@dataclass(frozen=True, slots=True)
class TaskFile:
    """One task or group as its YAML file describes it.

    Attributes:
        name: What ``lm_eval --tasks`` takes.
        family: Its folder in ``task_configs``: ``timelines``, ``summaries`` …
        config: All that the file says, with what it includes; ``!function`` values as text.
    """

    name: str
    family: str
    config: Mapping[str, Any]

    @property
    def version(self) -> float:
        """``metadata.version``."""
        return float(self.config["metadata"]["version"])

    @property
    def metrics(self) -> list[str]:
        """What a task reports, in order, without standard errors."""
        keys = (entry["metric"] for entry in self.config["metric_list"])
        return [key for key in keys if not key.endswith("_stderr")]

    @property
    def members(self) -> list[str]:
        """A group's tasks and groups."""
        return list(map(str, self.config["task"]))


@lru_cache(maxsize=1)
def task_files() -> Mapping[str, TaskFile]:
    """All tasks by name, in the order of families and files.

    Example:
        >>> task_files()["summ_qmsum"].metrics[:2]
        ['rouge_l_f1', 'rouge_l_precision']
    """
    return {file.name: file for file in _files() if "group" not in file.config}


@lru_cache(maxsize=1)
def group_files() -> Mapping[str, TaskFile]:
    """All groups by name.

    Example:
        >>> "tls_crisis" in group_files()["tls"].members
        True
    """
    return {file.name: file for file in _files() if "group" in file.config}


def task_file(name: str) -> TaskFile:
    """One task.

    Raises:
        OptionError: If there is no such task of ours.
    """
    if name not in task_files():
        raise OptionError.unknown("task", name, task_files())
    return task_files()[name]


def data_set_of(task: Task) -> DataSet:
    """The data set that a task runs on.

    Example:
        >>> import tls_tasks
        >>> data_set_of(tls_tasks.task("tls_crisis_closed_book")).title
        'Crisis'
    """
    sets: Mapping[str, DataSet] = importlib.import_module(f"tls_tasks.{task.family}.data").ALL_SETS
    return sets[task.name.removesuffix("_closed_book")]


def _files() -> list[TaskFile]:
    configs = [(path.parent.name, _read(path)) for path in sorted(tasks_path().glob("*/*.yaml"))]
    return [TaskFile(str(config.get("group") or config["task"]), family, config) for family, config in configs]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # by libyaml: ten times faster
    """YAML in which ``!function a.b`` is the text ``a.b``: nothing is imported."""


_Loader.add_constructor("!function", lambda loader, node: node.value)


def _read(path: Path) -> dict[str, Any]:
    config: dict[str, Any] = _Loader(path.read_text(encoding="utf-8")).get_single_data()
    included = config.pop("include", None)
    return {**_read(path.parent / included), **config} if included else config
