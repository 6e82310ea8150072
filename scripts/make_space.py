"""Assemble the Space of a metric in a folder: ``make_space.py METRIC FOLDER``. The folder is what is pushed.

A Space installs requirements.txt before it copies the other files, so that a wheel beside it could not be found: the
package itself lies in the folder, unpacked, and requirements.txt names what it needs from the index.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).parents[1]


def make_space(metric: str, folder: Path) -> None:
    """Write the Space of ``metric`` into ``folder``, which must be new or empty."""
    source = ROOT / "metrics" / metric
    if not (source / "app.py").is_file():
        known = sorted(path.parent.name for path in source.parent.glob("*/app.py"))
        sys.exit(f"no metric {metric!r}; there are {', '.join(known)}")
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty; give a new folder, or empty this one")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("README.md", "app.py", f"{metric}.py"):
        (folder / name).write_bytes((source / name).read_bytes())
    with tempfile.TemporaryDirectory() as built:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", built, str(ROOT)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with zipfile.ZipFile(next(Path(built).glob("*.whl"))) as wheel:
            names = wheel.namelist()
            wheel.extractall(folder, [name for name in names if name.startswith("tls_tasks/")])
            (about,) = (wheel.read(name) for name in names if name.endswith(".dist-info/METADATA"))
    lines = [line.partition(";") for line in message_from_bytes(about).get_all("Requires-Dist") or []]
    needed = [line.strip() for line, _, marker in lines if not marker or "spaces" in marker]
    (folder / "requirements.txt").write_text("".join(f"{line}\n" for line in needed), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    make_space(sys.argv[1], Path(sys.argv[2]))
