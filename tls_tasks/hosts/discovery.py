"""How lm_eval and evaluate find us: the folders that they read, and the start-up hook.

Our entry points name the folders. Releases of lm_eval that don't read entry points yet, and evaluate, which never does,
are served by ``_tls_tasks_hook``: a ``.pth`` file in site-packages imports it at every start of Python. Nothing here
imports either of them.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import tls_tasks
from tls_tasks.core.errors import OptionError, TlsTasksError

Resource = Literal["metrics", "task_configs"]
"""The folders that travel with the package without being part of it."""

HOOK = "_tls_tasks_hook"
PTH = "tls_tasks_hook.pth"
KILL_SWITCH = "TLS_TASKS_NO_HOOK"


def resource_folder(name: Resource) -> Path:
    """Find one of the folders that travel with the package: inside it in a wheel, beside it in a checkout.

    Raises:
        OptionError: If ``name`` isn't one of the two.
        TlsTasksError: If the folder isn't there: the installation is damaged.

    Example:
        >>> resource_folder("metrics").name
        'metrics'
    """
    if name not in get_args(Resource):
        raise OptionError.unknown("name", name, get_args(Resource))
    for place in tls_tasks.__path__:
        if (folder := Path(place) / name).is_dir():
            return folder.resolve()
    raise TlsTasksError(f"the folder {name} isn't in {' or '.join(tls_tasks.__path__)}; reinstall tls-tasks")


def tasks_path() -> Path:
    """Return the folder of task configurations, for ``lm_eval --include_path`` and ``TaskManager(include_path=...)``.

    Example:
        >>> tasks_path().name
        'task_configs'
    """
    return resource_folder("task_configs")


def module_names() -> tuple[str, ...]:
    """Return the names that ``evaluate.load`` takes, sorted: each is a folder of ``metrics`` with a file of its name.

    Example:
        >>> isinstance(module_names(), tuple)
        True
    """
    files = resource_folder("metrics").glob("*/*.py")
    return tuple(sorted(file.stem for file in files if file.stem == file.parent.name))


def module_path(name: str) -> Path:
    """Return the folder of one evaluate module: ``evaluate.load`` takes it where the hook is off.

    Raises:
        OptionError: If there is no such module.

    Example:
        >>> module_path("date_f2")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: module: got 'date_f2', expected one of ...
    """
    if name not in module_names():
        raise OptionError.unknown("module", name, module_names())
    return resource_folder("metrics") / name


def activate() -> bool:
    """Switch the hook on in this process, for environments whose ``.pth`` files Python doesn't read.

    Hosts that are imported already are patched at once; a second call changes nothing.

    Returns:
        Whether the hook is active now: False if ``TLS_TASKS_NO_HOOK`` is set.

    Example:
        >>> activate()  # doctest: +SKIP
        True
    """
    if is_switched_off():
        return False
    if HOOK not in sys.modules:
        spec = importlib.util.spec_from_file_location(HOOK, hook_source())
        assert spec is not None and spec.loader is not None  # a .py file always has a loader
        sys.modules[HOOK] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[HOOK])
    sys.modules[HOOK].install()
    return is_active()


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


def enable(folder: Path | None = None) -> tuple[Path, ...]:
    """Write the start-up hook into the environment, where the installer didn't put it or ``disable`` took it away.

    Args:
        folder: A folder whose ``.pth`` files Python reads; by default that of this installation.

    Returns:
        The files that were written: none if all was in place.

    Raises:
        TlsTasksError: If the folder can't be written.
    """
    folder = folder or hook_folder()
    # The module first: a .pth file without it would make every start of Python print an error.
    contents = {folder / f"{HOOK}.py": hook_source().read_bytes(), folder / PTH: f"import {HOOK}\n".encode()}
    return tuple(path for path, content in contents.items() if _write(path, content))


def disable(folder: Path | None = None) -> tuple[Path, ...]:
    """Remove the start-up hook from the environment; :func:`enable` or a new installation brings it back.

    Args:
        folder: Where to remove it; by default where ``enable`` would write it.

    Returns:
        The files that were removed. The module stays if the installer put it there: without the ``.pth`` it's inert.

    Raises:
        TlsTasksError: If a file can't be removed.
    """
    folder = folder or hook_folder()
    module = folder / f"{HOOK}.py"
    paths = [folder / PTH] if module.resolve() in _installed_files() else [folder / PTH, module]
    removed = tuple(path for path in paths if path.is_file())
    for path in removed:
        _remove(path)
    return removed


def hook_source() -> Path:
    """Return the hook that belongs to this package: beside it in a wheel, in ``hook/`` in a checkout.

    Raises:
        TlsTasksError: If it isn't there.

    Example:
        >>> hook_source().name
        '_tls_tasks_hook.py'
    """
    above = Path(__file__).resolve().parents[2]
    for path in (above / "hook" / f"{HOOK}.py", above / f"{HOOK}.py"):
        if path.is_file():
            return path
    raise TlsTasksError(f"{HOOK}.py isn't in {above}; reinstall tls-tasks")


def hook_folder() -> Path:
    """Return where this installation's ``.pth`` belongs: with its metadata if Python reads such files there.

    Example:
        >>> hook_folder() in site_folders()
        True
    """
    installed = distribution()
    home = Path(str(installed.locate_file(""))).resolve() if installed else None
    return home if home is not None and home in site_folders() else site_folders()[0]


def site_folders() -> tuple[Path, ...]:
    """Return the folders whose ``.pth`` files this Python reads at start-up, that of pure packages first.

    Example:
        >>> len(site_folders()) > 0
        True
    """
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return tuple(dict.fromkeys(Path(folder).resolve() for folder in folders))


def distribution() -> importlib.metadata.Distribution | None:
    """Return the installed tls-tasks, or None where it is only importable (a checkout on ``PYTHONPATH``).

    Example:
        >>> installed = distribution()
        >>> installed is None or installed.version == tls_tasks.__version__
        True
    """
    try:
        return importlib.metadata.distribution("tls-tasks")
    except importlib.metadata.PackageNotFoundError:
        return None


def _installed_files() -> set[Path]:
    installed = distribution()
    files = installed.files if installed else None
    return {Path(str(file.locate())).resolve() for file in files or ()}


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise TlsTasksError(f"can't remove {path}: {error.strerror}") from error


def _write(path: Path, content: bytes) -> bool:
    """Write ``content`` unless it is there already; tell whether it was written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    try:
        path.write_bytes(content)
    except OSError as error:
        raise TlsTasksError(f"can't write {path}: {error.strerror}") from error
    return True
