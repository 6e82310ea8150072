"""The facts behind ``tls-tasks doctor``: which names lm_eval and evaluate find here, which way, or why not.

Facts are gathered in one place, :func:`hook_state`; what follows from them is computed from the facts alone.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tls_tasks
from tls_tasks.hosts import discovery as plugin

HOSTS: Mapping[str, tuple[str, str]] = {
    "lm_eval.tasks": ("lm_eval", "lm_eval --tasks NAME"),
    "lm_eval.models": ("lm_eval", "lm_eval --model NAME"),
    "evaluate.modules": ("evaluate", "evaluate.load(NAME)"),
}
"""Entry point group -> the package that it is for, and what the user types."""

UPSTREAM_READERS: Mapping[str, tuple[str, str]] = {
    "lm_eval.tasks": ("tasks/manager.py", "discover_plugin_task_paths"),
    "lm_eval.models": ("api/registry.py", "load_plugins"),
}
"""Entry point group -> the file of lm_eval, and the function in it, that reads the group in releases that do."""

Route = Literal["upstream", "hook", "none"]
"""Which way a name reaches a host: it reads the entry points itself, the hook does it, or not at all."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One of our entry points.

    Attributes:
        group: The entry point group.
        name: What the user types.
        value: The package or ``module:attribute`` behind it.
        is_importable: Whether Python finds that package or module.
    """

    group: str
    name: str
    value: str
    is_importable: bool


@dataclass(frozen=True, slots=True)
class HookState:
    """What decides whether lm_eval and evaluate find us in this environment.

    Attributes:
        pth_files: The hook's ``.pth`` files that this Python reads at start-up.
        module: The hook module that they import; None if there is none.
        is_current: Whether that module is the one that belongs to this version of the package.
        is_active: Whether the hook works in this process.
        is_switched_off: Whether ``TLS_TASKS_NO_HOOK`` is set.
        versions: Distribution -> version, None where it isn't installed.
        upstream: Entry point group -> whether the installed host reads it by itself.
        entry_points: Ours, as installed.
    """

    pth_files: tuple[Path, ...]
    module: Path | None
    is_current: bool
    is_active: bool
    is_switched_off: bool
    versions: Mapping[str, str | None]
    upstream: Mapping[str, bool]
    entry_points: tuple[EntryPoint, ...]

    def route(self, group: str) -> Route:
        """Say which way the names of ``group`` reach their host."""
        if self.versions.get(HOSTS[group][0]) is None or not self.names(group):
            return "none"
        if self.upstream[group]:
            return "upstream"
        return "hook" if self.is_active else "none"

    def names(self, group: str) -> tuple[str, ...]:
        """Return our names in ``group`` that have something behind them, sorted."""
        return tuple(sorted(entry.name for entry in self.entry_points if entry.group == group and entry.is_importable))

    @property
    def problems(self) -> tuple[str, ...]:
        """What keeps a name from being found, each with its remedy; empty if all is well."""
        return (*self._install_problems(), *self._hook_problems())

    def _install_problems(self) -> Iterator[str]:
        for host in sorted({host for host, _ in HOSTS.values()}):
            if self.versions.get(host) is None:
                yield f"{host} isn't installed: pip install {host.replace('_', '-')}"
        if not self.entry_points:
            yield "tls-tasks is importable but not installed: pip install tls-tasks (in a checkout: pip install -e .)"
        for entry in self.entry_points:
            if not entry.is_importable:
                yield f"the entry point {entry.name} of {entry.group} names {entry.value}, which isn't there: reinstall"

    def _hook_problems(self) -> Iterator[str]:
        if self.pth_files and self.module is None:
            yield f"{self.pth_files[0]} imports {plugin.HOOK}, which isn't there: tls-tasks enable, or delete the file"
        elif self.module is not None and not self.is_current:
            yield f"{self.module} belongs to another version: tls-tasks enable"
        if self.is_active or all(self.upstream.values()):
            return
        if self.is_switched_off:
            yield f"the start-up hook is switched off by the environment variable {plugin.KILL_SWITCH}"
        elif not self.pth_files:
            yield "there is no start-up hook in this environment: tls-tasks enable"
        elif self.module is not None:
            yield "the start-up hook isn't active in this process: was Python started with -S?"


def hook_state(environ: Mapping[str, str] | None = None) -> HookState:
    """Gather the facts about this process and its environment. Imports no host.

    Args:
        environ: The environment variables; None: those of the process.

    Example:
        >>> hook_state({"TLS_TASKS_NO_HOOK": "1"}).is_switched_off
        True
    """
    spec = importlib.util.find_spec(plugin.HOOK)
    module = Path(spec.origin) if spec and spec.origin else None
    return HookState(
        pth_files=tuple(path for folder in plugin.site_folders() if (path := folder / plugin.PTH).is_file()),
        module=module,
        is_current=module is not None and module.read_bytes() == plugin.hook_source().read_bytes(),
        is_active=plugin.is_active(),
        is_switched_off=plugin.is_switched_off() if environ is None else plugin.is_switched_off(environ),
        versions={name: _version(name) for name in ("lm_eval", "evaluate", "datasets")},
        upstream=upstream_groups(_package_folder("lm_eval")),
        entry_points=tuple(_entry_points()),
    )


def upstream_groups(lm_eval_folder: Path | None) -> dict[str, bool]:
    """Tell by lm_eval's source which entry point groups it reads itself; to import it would take seconds.

    Args:
        lm_eval_folder: Where the package is; None: not installed.

    Returns:
        Each group of :data:`HOSTS` -> whether its host reads it. evaluate reads none.

    Example:
        >>> upstream_groups(None)
        {'lm_eval.tasks': False, 'lm_eval.models': False, 'evaluate.modules': False}
    """
    reads = dict.fromkeys(HOSTS, False)
    for group, (file, function) in UPSTREAM_READERS.items():
        path = lm_eval_folder / file if lm_eval_folder else None
        reads[group] = path is not None and path.is_file() and function in path.read_text(encoding="utf-8")
    return reads


def report(state: HookState) -> list[str]:
    """Write the facts, what follows from them, and the problems, as the lines of ``tls-tasks doctor``."""
    hosts = ", ".join(f"{name} {version or 'not installed'}" for name, version in state.versions.items())
    lines = [
        f"tls-tasks {tls_tasks.__version__}, {hosts}, Python {platform.python_version()}",
        f"task configurations  {plugin.tasks_path()}",
        f"evaluate modules     {plugin.resource_folder('metrics')}",
        f"start-up hook        {_describe_hook(state)}",
    ]
    how = {"upstream": "found: {host} reads entry points", "hook": "found by the hook", "none": "NOT found by name"}
    for group, (host, typed) in HOSTS.items():
        names = ", ".join(state.names(group)) or "no entry point"
        lines.append(f"{typed:<20} {how[state.route(group)].format(host=host)} ({names})")
    return lines + [f"problem: {problem}" for problem in state.problems]


def _describe_hook(state: HookState) -> str:
    files = ", ".join(str(path) for path in state.pth_files) or "no .pth file"
    return f"{'active' if state.is_active else 'not active'} ({files})"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


def _entry_points() -> Iterator[EntryPoint]:
    installed = plugin.distribution()
    for entry in installed.entry_points if installed else ():
        if entry.group in HOSTS:
            yield EntryPoint(entry.group, entry.name, entry.value, _is_importable(entry.value.partition(":")[0]))


def _is_importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:  # a package above it isn't there
        return False
