"""``tls-tasks path | doctor | enable | disable``: where our folders are, and whether lm_eval and evaluate find them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command
from tls_tasks.cli.doctor import hook_state, report
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.hosts import discovery as plugin

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

_PATH = """\
Print the folder of the task configurations, of the evaluate modules, or of the embedded data.

It always works, whatever the state of the start-up hook (see tls-tasks doctor):
  lm_eval run --tasks tls_crisis --model dummy --include_path "$(tls-tasks path)"
  python -c "import evaluate; print(evaluate.load('$(tls-tasks path metrics)/date_f1'))"
"""

_DOCTOR = """\
Say whether lm_eval and evaluate find the tasks, models and modules of this package by name, how, and if not, why not.

Exit code 1 if something isn't found. It starts neither of the two, so it's quick. Example:
  tls-tasks doctor && lm_eval ls tasks
"""

_ENABLE = """\
Write the start-up hook into this environment, for installers that don't put it there (pip install --target, some
repackagings) and after tls-tasks disable. The hook is a file of under 100 lines, _tls_tasks_hook.py, that a .pth file
imports at every start of Python. With it, `lm_eval --tasks NAME` and `evaluate.load("NAME")` work without an option in
releases that don't read entry points. TLS_TASKS_NO_HOOK=1 turns it off for one run. Example:
  tls-tasks enable && tls-tasks doctor
"""

_DISABLE = """\
Remove the start-up hook from this environment. tls-tasks enable or a new installation brings it back. Without it, name
the folders yourself, as tls-tasks path --help shows. Example:
  tls-tasks disable
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the four commands to the command line."""
    parser = add_command(
        subparsers, "path", run_path, summary="print the folder of tasks, modules or embedded data", description=_PATH
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=("tasks", "metrics", "data"),
        default="tasks",
        help="tasks (default): for lm_eval; metrics: modules for evaluate.load; data: the embedded edition",
    )
    add_command(
        subparsers, "doctor", run_doctor, summary="say whether lm_eval and evaluate find us", description=_DOCTOR
    )
    add_command(subparsers, "enable", run_enable, summary="write the start-up hook", description=_ENABLE)
    add_command(subparsers, "disable", run_disable, summary="remove the start-up hook", description=_DISABLE)


def run_path(args: argparse.Namespace) -> int:
    """Print the folder. Returns 0."""
    if args.what == "data":
        from tls_tasks.data.order import EMBEDDED

        print(EMBEDDED)
        return 0
    print(plugin.tasks_path() if args.what == "tasks" else plugin.resource_folder("metrics"))
    return 0


def run_doctor(args: argparse.Namespace) -> int:
    """Print the report. Returns 0 if every name is found, 1 if not."""
    state = hook_state()
    print("\n".join(report(state)))
    return 1 if state.problems else 0


def run_enable(args: argparse.Namespace) -> int:
    """Write the hook and name the files. Returns 0.

    Raises:
        TlsTasksError: If tls-tasks isn't installed, or its folder can't be written.
    """
    if plugin.distribution() is None:
        raise TlsTasksError("tls-tasks is importable but not installed; the hook would find no entry points")
    written = plugin.enable()
    print("\n".join(f"wrote {path}" for path in written) or f"already in {plugin.hook_folder()}")
    return 0


def run_disable(args: argparse.Namespace) -> int:
    """Remove the hook and name the files. Returns 0, or 1 if another folder's hook stays active."""
    removed = plugin.disable()
    print("\n".join(f"removed {path}" for path in removed) or f"no hook in {plugin.hook_folder()}")
    left = hook_state().pth_files
    for path in left:
        print(f"{path} stays: it isn't of this environment; {plugin.KILL_SWITCH}=1 turns it off")
    return 1 if left else 0
