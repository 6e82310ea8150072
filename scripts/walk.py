"""Runs the code of pages as a user would type it, page by page in an empty folder, at the cost of few starts.

``lm_eval`` and ``tls-tasks`` are small programs here that hand their arguments, folder, environment and streams to a
process which has the harness imported; it forks a child for each command, and the child calls what the installed
command calls. What the harness reads of its own 10,000 task files is read once. All else is as in a terminal.

``python scripts/walk.py docs/your_data.md …`` writes the outputs of these pages' commands into the pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from scripts import stand_ins
from scripts.pages import ROOT, Block, with_output

COMMANDS = ("lm_eval", "tls-tasks")

_STUB = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({address!r})
    socket.send_fds(asked, [b"{{"], [0, 1, 2])
    said = {{"argv": [{name!r}, *sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ)}}
    asked.sendall(json.dumps(said)[1:].encode())
    asked.shutdown(socket.SHUT_WR)
    code = asked.recv(1)
sys.exit(code[0] if code else 70)
"""

_SERVER = """
import functools, json, os, pathlib, select, signal, socket, sys, traceback
from importlib.metadata import entry_points
address, user = sys.argv[1], int(sys.argv[2])
mains = {p.name: p.load() for p in entry_points(group="console_scripts") if p.name in ("lm_eval", "tls-tasks")}
import lm_eval.evaluator, lm_eval.models, lm_eval.tasks, datasets, evaluate, torch, transformers
from huggingface_hub import constants
from torch.utils import collect_env
from tls_tasks.registry import find_task
find_task("summ_qmsum")
collect_env.get_pretty_env_info = functools.cache(collect_env.get_pretty_env_info)  # asks pip for all that is installed
collect_env.get_pretty_env_info()
try:
    from lm_eval.tasks import _index as index
except ImportError:  # another release may read its files in another place
    pass
else:
    read, walk, own = index.load_yaml, index.TaskIndex._iter_yaml_files, pathlib.Path(lm_eval.tasks.__file__).parent
    files = list(walk(own))
    usual = {"resolve_func": False, "recursive": True}
    cached = functools.cache(functools.partial(read, **usual))
    index.load_yaml = lambda path, **o: cached(path) if o == usual and own in path.parents else read(path, **o)
    index.TaskIndex._iter_yaml_files = staticmethod(lambda root: files if root == own else walk(root))
    lm_eval.tasks.TaskManager()
listening = socket.socket(socket.AF_UNIX)
listening.bind(address)
listening.listen()
if os.fork():
    os._exit(0)  # ready; the rest goes on behind
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if not select.select([listening], [], [], 1)[0]:
        try:
            os.kill(user, 0)
        except OSError:
            sys.exit()
        continue
    asked, _ = listening.accept()
    if os.fork():
        asked.close()
        continue
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listening.close()
        said, streams, _, _ = socket.recv_fds(asked, 1, 3)
        while more := asked.recv(65536):
            said += more
        request = json.loads(said)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdout = open(1, "w", closefd=False)
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        constants.HF_HUB_CACHE = os.environ.get("HF_HUB_CACHE", constants.HF_HUB_CACHE)
        sys.argv = request["argv"]
        try:
            code = mains[sys.argv[0]]()
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
            code = 1
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        asked.sendall(bytes([int(code or 0) & 255]))
        os._exit(0)
"""


def serve(folder: Path, user: int) -> None:
    """Make the quick commands in a folder; they work until the process ``user`` has ended."""
    address = str(folder / "socket")
    for name in COMMANDS:
        stub = folder / name
        stub.write_text(_STUB.format(python=sys.executable, address=address, name=name), encoding="utf-8")
        stub.chmod(0o755)
    own = {**environment(folder), "HF_HOME": str(folder / "hf")}
    subprocess.run(
        [sys.executable, "-c", _SERVER, address, str(user)], cwd=folder, env=own, stdout=subprocess.DEVNULL, check=True
    )


def environment(folder: Path) -> dict[str, str]:
    """This process's environment, in which the commands are the quick ones of a folder."""
    kept = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "TLS_TASKS_DATA"}}
    return {**kept, "PATH": os.pathsep.join([str(folder), str(Path(sys.executable).parent), kept["PATH"]])}


class Walk:
    """A page's code, run in order in one folder; its Python blocks share their names.

    Attributes:
        folder: Where it runs.
        environment: Of the commands; None for pages without commands to run.
        words: What takes the place of words in the commands, see :mod:`scripts.stand_ins`.
    """

    def __init__(
        self, folder: Path, environment: dict[str, str] | None = None, words: Mapping[str, str] | None = None
    ) -> None:
        self.folder, self.environment, self.words = folder, environment, words or {}
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, block: Block) -> str | None:
        """What the block printed; None for one that isn't run. A block that names a file is written to it."""
        if name := block.marker.removeprefix("file ") if block.marker.startswith("file ") else "":
            place = self.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, encoding="utf-8")
        elif block.language == "bash":
            text = block.text
            for word, instead in self.words.items():
                text = text.replace(word, instead)
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text],
                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                check=False,
            )  # fmt: skip
            if done.returncode:
                raise AssertionError(f"{block}: {text}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}")
            return done.stdout
        elif block.language == "python":
            printed, before = io.StringIO(), Path.cwd()
            code = compile("\n" * block.line + block.text, str(ROOT / block.page), "exec", dont_inherit=True)
            os.chdir(self.folder)
            try:
                with contextlib.redirect_stdout(printed):
                    exec(code, self._names)
            finally:
                os.chdir(before)
            return printed.getvalue()
        return None


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed, blanks aside; … stands for any text, and alone on a line for any lines."""
    lines = [" ".join(line.split()) for line in shown.strip("\n").splitlines()]
    pattern = "".join("(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines)
    return bool(
        re.fullmatch(pattern, "".join(" ".join(line.split()) + "\n" for line in printed.strip("\n").splitlines()))
    )


def main() -> None:
    """Write the outputs anew; those that agree stay as they are."""
    with tempfile.TemporaryDirectory(prefix="walk-") as made, stand_ins.server() as url:
        commands, things = Path(made, "commands"), Path(made, "stand_ins")
        commands.mkdir()
        things.mkdir()
        serve(commands, os.getpid())
        stand_ins.make(things)
        own, words = stand_ins.environment(environment(commands), things), stand_ins.words(things, url)
        for page in sys.argv[1:]:
            path = ROOT / page
            source, later = path.read_text(encoding="utf-8"), 0
            with tempfile.TemporaryDirectory() as folder:
                shutil.copytree(things / "files", folder, dirs_exist_ok=True)
                walk = Walk(Path(folder), own, words)
                for block, output in list(with_output(page)):
                    printed = walk.run(block)
                    if output and printed is not None and not agrees(output.text, printed):
                        text = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
                        source = source[: output.start + later] + text + source[output.end + later :]
                        later += len(text) - (output.end - output.start)
            path.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
