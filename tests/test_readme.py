"""The README's walk after a run, block by block, as a user would type it in an empty folder."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.conftest import ROOT

BLOCKS = re.findall(r"<!-- walk -->\n```bash\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_walk_shows_every_step():
    said = "\n".join(BLOCKS)
    for command in (
        "lm_eval --tasks",
        *(f"tls-tasks {name}" for name in ("score", "compare", "page", "submit", "verify")),
    ):
        assert command in said


@pytest.mark.slow
def test_the_walk(tmp_path):
    """Needs tls-tasks installed, since the harness finds its tasks through the installation."""
    if "summ_lead" not in {point.name for point in entry_points(group="lm_eval.models")}:
        pytest.skip("this tls-tasks is not installed")
    scripts = Path(sys.executable).parent
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "TLS_TASKS_DATA"}}
    environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
    for block in BLOCKS:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{block}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    for name in ("scores.csv", "page.html", "submission/manifest.json", "site/index.html"):
        assert (tmp_path / name).stat().st_size > 500, name
