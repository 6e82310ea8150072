"""docs/your_data.md: every file written and every command run, as a user would, and its output compared."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tls_tasks.registry import FAMILIES

PAGE = (ROOT / "docs" / "your_data.md").read_text(encoding="utf-8")
FILES = re.findall(r"<!-- file (\S+) -->\n```json\n(.*?)```", PAGE, re.DOTALL)
RUNS = re.findall(r"<!-- run -->\n```bash\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)


def test_every_family_is_on_the_page():
    assert len(RUNS) == len(FAMILIES) and all(text.count("\n") == 2 for _, text in FILES)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), RUNS)
def test_the_page(tmp_path, command, output):
    if "summ_lead" not in {point.name for point in entry_points(group="lm_eval.models")}:
        pytest.skip("this tls-tasks is not installed")
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "TLS_TASKS_DATA"}}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert [line.split() for line in done.stdout.splitlines()] == [line.split() for line in output.splitlines()]
