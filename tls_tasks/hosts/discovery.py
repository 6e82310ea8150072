"""How lm_eval and evaluate find us: the folders that they read, and the start-up hook.

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
from collections.abc import Mapping
from pathlib import Path

import tls_tasks
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.core.whole import replaced

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
        OSError: If the folder can't be written.
    """
    folder = folder or hook_folder()
    # The module first: a .pth file without it would make every start of Python print an error.
    contents = {folder / f"{HOOK}.py": hook_source().read_bytes(), folder / PTH: f"import {HOOK}\n".encode()}
    changed = {path: text for path, text in contents.items() if not path.is_file() or path.read_bytes() != text}
    for path, text in changed.items():
        with replaced(path) as file:
            file.write_bytes(text)
    return tuple(changed)


def disable(folder: Path | None = None) -> tuple[Path, ...]:
    """Remove the start-up hook from the environment; :func:`enable` or a new installation brings it back.

    Args:
        folder: Where to remove it; by default where ``enable`` would write it.

    Returns:
        The files that were removed. The module stays where it belongs to the installation: without the ``.pth`` it's
        inert.

    Raises:
        OSError: If a file can't be removed.
    """
    folder = folder or hook_folder()
    module = folder / f"{HOOK}.py"
    installed = distribution()
    files = (installed.files if installed else None) or ()
    is_installed = module.resolve() in {Path(str(file.locate())).resolve() for file in files}
    paths = [folder / PTH] if is_installed else [folder / PTH, module]
    removed = tuple(path for path in paths if path.is_file())
    for path in removed:
        path.unlink()
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
