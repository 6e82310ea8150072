"""Run the tests that take no time with the lowest and with the newest versions that pyproject.toml allows.

Each set has an environment of its own in ``build/versions``, and both are run to the end. What was installed and how it
went is printed as a table, and written to ``build/versions/table.md``. The exit code is 1 if one of them failed.

    python scripts/versions.py --jobs 2
    python scripts/versions.py --only lowest -- tests/text -x

Where LM_EVAL_SOURCE names a checkout of lm-eval, of a branch that is on no index, it is a set with all else newest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "versions"

SOURCE = os.environ.get("LM_EVAL_SOURCE", "")
SETS = {"lowest": "lowest-direct", "newest": "highest"} | ({"source": "highest"} if SOURCE else {})
"""Name -> what uv calls it."""

_SHOW = r"""
import importlib.metadata, re, sys
for needed in importlib.metadata.requires("tls-tasks"):
    name = re.match(r"[\w.-]+", needed)[0]
    if "extra ==" not in needed and ("python_version <" not in needed or sys.version_info < (3, 11)):
        print(name, importlib.metadata.version(name))
"""


def main() -> int:
    """Make the environments, run the tests in each, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jobs", default="2", help="processes of pytest (2)")
    parser.add_argument("--only", choices=SETS, help="only one of them")
    parser.add_argument("pytest", nargs="*", help="what pytest is given; by default all tests that take no time")
    args = parser.parse_args()
    columns: dict[str, dict[str, str]] = {}
    for name in [args.only] if args.only else SETS:
        python = _install(FOLDER / name, SETS[name])
        if python is None:
            columns[name] = {"tests": "could not be installed"}
            continue
        command = [python, "-m", "pytest", "-q", "-n", args.jobs, "-m", "not slow", *args.pytest]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "HF_HUB_OFFLINE": "1"}, check=False)
        columns[name] = {**_versions(python), "tests": "pass" if done.returncode == 0 else "fail"}
    table = _table(columns)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "table.md").write_text(table, encoding="utf-8")
    print(f"\n{table}")
    return int(any(column["tests"] != "pass" for column in columns.values()))


def _install(place: Path, resolution: str) -> str | None:
    """The Python of a new environment; None if no versions fit."""
    venv.create(place, clear=True, with_pip=True)
    python = str(place / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
    install = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    source = [["--no-deps", SOURCE]] if place.name == "source" else []
    for more in (["--resolution", resolution, "--editable", "."], ["--editable", ".[api,test]"], *source):
        if subprocess.run([*install, *more], cwd=ROOT, check=False).returncode != 0:
            return None
    return python


def _versions(python: str) -> dict[str, str]:
    """What pyproject.toml names -> the version that is there."""
    shown = subprocess.run([python, "-c", _SHOW], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in shown.splitlines())


def _table(columns: dict[str, dict[str, str]]) -> str:
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    lines = [["", *columns], ["---"] * (len(columns) + 1)]
    lines += [[row, *(column.get(row, "") for column in columns.values())] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
