"""How lm_eval and evaluate find us: the folders that they read, our YAML files in them, and the start-up hook.

Our entry points name the folders. Releases of lm_eval that don't read entry points yet, and evaluate, which never does,
are served by ``_tls_tasks_hook``: a ``.pth`` file in site-packages imports it at every start of Python. Nothing here
imports either of them.
"""

from __future__ import annotations

import importlib.metadata
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

import tls_tasks
from tls_tasks.core.errors import OptionError, TlsTasksError
from tls_tasks.data.catalogue import DataSet, read_catalogue

if TYPE_CHECKING:  # it imports numpy, and `tls-tasks list` needs no task
    from tls_tasks.core.task import Task

HOOK = "_tls_tasks_hook"
PTH = "tls_tasks_hook.pth"
KILL_SWITCH = "TLS_TASKS_NO_HOOK"


def resource_folder(name: str) -> Path:
    """Find ``metrics`` or ``task_configs``: inside the package in a wheel, beside it in a checkout.

    Raises:
        TlsTasksError: If the folder isn't there: the installation is damaged.

    Example:
        >>> resource_folder("metrics").name
        'metrics'
    """
    return _resource(name, name)


def _resource(name: str, *paths: str) -> Path:
    for path in (Path(place, path) for place in tls_tasks.__path__ for path in paths):
        if path.exists():
            return path.resolve()
    raise TlsTasksError(f"{name} isn't in {' or '.join(tls_tasks.__path__)}; reinstall tls-tasks")


def tasks_path() -> Path:
    """Return the folder of task configurations, for ``lm_eval --include_path`` and ``TaskManager(include_path=...)``.

    Example:
        >>> tasks_path().name
        'task_configs'
    """
    return resource_folder("task_configs")


def is_active() -> bool:
    """Tell whether the hook works in this process.

    Example:
        >>> isinstance(is_active(), bool)
        True
    """
    return any(type(finder).__module__ == HOOK for finder in sys.meta_path)


def is_switched_off(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the environment variable turns the hook off: it's set, and to something else than 0.

    Example:
        >>> is_switched_off({"TLS_TASKS_NO_HOOK": "1"}), is_switched_off({})
        (True, False)
    """
    return environ.get(KILL_SWITCH, "0") not in ("", "0")


def hook_source() -> Path:
    """Return the hook that belongs to this package: beside it in a wheel, in ``hook/`` in a checkout.

    Raises:
        TlsTasksError: If it isn't there.

    Example:
        >>> hook_source().name
        '_tls_tasks_hook.py'
    """
    return _resource(f"{HOOK}.py", f"hook/{HOOK}.py", f"../{HOOK}.py")


def site_folders() -> tuple[Path, ...]:
    """Return the folders whose ``.pth`` files this Python reads at start-up, that of pure packages first.

    Example:
        >>> len(site_folders()) > 0
        True
    """
    of_user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages(), *of_user]
    return tuple(dict.fromkeys(Path(folder).resolve() for folder in folders))


def distribution(name: str = "tls-tasks") -> importlib.metadata.Distribution | None:
    """Return an installed package, or None where it is only importable (a checkout on ``PYTHONPATH``).

    Example:
        >>> installed = distribution()
        >>> installed is None or installed.version == tls_tasks.__version__
        True
    """
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None


# ---- our tasks and groups as their YAML files say: versions, members, the order of results. Read without the harness


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
        keys = [entry["metric"] for entry in self.config["metric_list"]]
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


def data_set_of(task: Task | TaskFile) -> DataSet:
    """The data set that a task runs on.

    Example:
        >>> import tls_tasks
        >>> data_set_of(tls_tasks.task("tls_crisis_closed_book")).title
        'Crisis'
    """
    return data_sets(task.family)[task.name.removesuffix("_closed_book")]


def data_sets(family: str) -> Mapping[str, DataSet]:
    """All data sets of a family by name, those that stand for a user's own data among them."""
    return read_catalogue(str(Path(tls_tasks.__file__).with_name(family) / "data.py"))[0]


def _files() -> Iterator[TaskFile]:
    for path in sorted(tasks_path().glob("*/*.yaml")):
        config = _read(path)
        yield TaskFile(str(config.get("group") or config["task"]), path.parent.name, config)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # by libyaml: ten times faster
    """YAML in which ``!function a.b`` is the text ``a.b``: nothing is imported."""


_Loader.add_constructor("!function", lambda loader, node: node.value)


@cache  # what several files include is read once
def _read(path: Path) -> dict[str, Any]:
    config: dict[str, Any] = _Loader(path.read_text(encoding="utf-8")).get_single_data()
    included = config.pop("include", None)
    return {**_read(path.parent / included), **config} if included else config
