"""A command in a process of its own, with a fault of the machine at a point that no clock decides.

The processes are forked by a server that has imported what they need: real processes, at the price of a fork.
"""

import contextlib
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

SMALL = 100
"""The most bytes a file may have under the fault ``file too large``."""


def server():
    """What forks processes that have imported what they need."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fault_server"])
    return context


def start(arguments, log, *, signalled=None, small_files=False):
    """Start a command.

    Args:
        arguments: Its words.
        log: A file for what it says.
        signalled: A signal that it gets when the first file is written and has not yet got its name.
        small_files: Whether no file may have more than :data:`SMALL` bytes.
    """
    process = server().Process(target=_run, args=(list(map(str, arguments)), str(log), signalled, small_files))
    process.start()
    return process


def end(process):
    """The exit code, negative for a signal that ended it."""
    process.join(300)
    if process.exitcode is None:
        process.kill()
        raise AssertionError("the command did not end in five minutes")
    return process.exitcode


def _run(arguments, log, signalled, small_files):
    descriptor = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115 - not pytest's
    if small_files:
        _limit_files(SMALL)  # Python ignores SIGXFSZ: it is an error like others
    if signalled is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which the tests' own process may ignore
        sys.addaudithook(lambda event, _: os.kill(os.getpid(), signalled) if event == "os.rename" else None)
    from tls_tasks.cli import main

    try:
        sys.exit(main(arguments))
    finally:
        _limit_files(resource.RLIM_INFINITY)  # what was said is written now


def _limit_files(n_bytes):
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if n_bytes == resource.RLIM_INFINITY else n_bytes, hard))


@contextlib.contextmanager
def own_disk(place: Path, *, is_full=False):
    """A disk of 4 MB at a folder, full or not; None where the machine doesn't let us mount one."""
    place.mkdir()
    made = sys.platform == "linux" and os.geteuid() == 0 and not _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", place)
    if not made:
        yield None
        return
    try:
        if is_full:
            with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as filler:
                while filler.write(bytes(1 << 12)):
                    pass
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)  # lazily: no failed test leaves one


def read_only(place):
    """Have nothing written to a disk of :func:`own_disk` any more."""
    assert _mount("-o", "remount,ro", place) == 0


def _mount(*arguments):
    try:
        return subprocess.run(["mount", *map(str, arguments)], capture_output=True, check=False).returncode
    except FileNotFoundError:
        return 1


def contents(folder):
    """Path -> bytes of all files below a folder, hidden ones included."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in sorted(found.items()) if name != "filler"}


SIGNALS = {
    "SIGINT": (signal.SIGINT, 130),
    "SIGTERM": (signal.SIGTERM, 143),
    "SIGKILL": (signal.SIGKILL, -signal.SIGKILL),
}
