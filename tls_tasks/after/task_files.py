"""Our tasks as their YAML files say: families, members of groups, metrics, versions. Read without the harness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.errors import OptionError
from tls_tasks.core.task import Task
from tls_tasks.hosts.discovery import tasks_path
from tls_tasks.registry import find_task


@dataclass(frozen=True, slots=True)
class TaskMetric:
    """One entry of a task's ``metric_list``.

    Attributes:
        key: The metric's name in the harness's results.
        higher_is_better: Direction; None: a number that is neither good nor bad.
    """

    key: str
    higher_is_better: bool | None


@dataclass(frozen=True, slots=True)
class TaskFile:
    """One task as its YAML file describes it.

    Attributes:
        name: What ``lm_eval --tasks`` takes.
        family: Its folder in ``task_configs``: ``timelines``, ``summaries`` …
        version: ``metadata.version``.
        metrics: What it reports, without standard errors.
        config: All that the file says, with what it includes; ``!function`` values as text.
    """

    name: str
    family: str
    version: float
    metrics: tuple[TaskMetric, ...]
    config: Mapping[str, Any]

    @property
    def task(self) -> Task:
        """The task itself, with the results that the file names."""
        task: Task = find_task(self.name)
        return task


@dataclass(frozen=True, slots=True)
class GroupFile:
    """One group: its members are tasks or groups."""

    name: str
    family: str
    version: float
    members: tuple[str, ...]


@lru_cache(maxsize=1)
def task_files() -> Mapping[str, TaskFile]:
    """All tasks by name, in the order of families and files.

    Example:
        >>> task_files()["tls_crisis"].family
        'timelines'
    """
    return {task.name: task for path, config in _files() if (task := _task(path, config)) is not None}


@lru_cache(maxsize=1)
def group_files() -> Mapping[str, GroupFile]:
    """All groups by name.

    Example:
        >>> "tls_crisis" in group_files()["tls"].members
        True
    """
    return {
        str(config["group"]): GroupFile(
            str(config["group"]), path.parent.name, _version(config), tuple(map(str, config["task"]))
        )
        for path, config in _files()
        if "group" in config
    }


def task_file(name: str) -> TaskFile:
    """One task.

    Raises:
        OptionError: If there is no such task of ours.

    Example:
        >>> [metric.key for metric in task_file("summ_qmsum").metrics][:2]
        ['rouge_l_f1', 'rouge_l_precision']
    """
    if name not in task_files():
        raise OptionError.unknown("task", name, task_files())
    return task_files()[name]


def _files() -> list[tuple[Path, dict[str, Any]]]:
    return [(path, _read(path)) for path in sorted(tasks_path().glob("*/*.yaml"))]


def _task(path: Path, config: dict[str, Any]) -> TaskFile | None:
    if "group" in config:
        return None
    metrics = tuple(
        TaskMetric(entry["metric"], entry.get("higher_is_better"))
        for entry in config["metric_list"]
        if not entry["metric"].endswith("_stderr")
    )
    return TaskFile(str(config["task"]), path.parent.name, _version(config), metrics, config)


def _version(config: Mapping[str, Any]) -> float:
    return float(config["metadata"]["version"])


class _Loader(yaml.SafeLoader):
    """YAML in which ``!function a.b`` is the text ``a.b``: nothing is imported."""


def _text(loader: _Loader, node: yaml.Node) -> str:
    return str(node.value)


_Loader.add_constructor("!function", _text)


def _read(path: Path) -> dict[str, Any]:
    config: dict[str, Any] = _Loader(path.read_text(encoding="utf-8")).get_single_data()
    included = config.pop("include", None)
    return {**_read(path.parent / included), **config} if included else config
