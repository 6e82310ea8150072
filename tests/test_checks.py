"""The scripts that check files and releases."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def run(script, *arguments):
    command = [sys.executable, str(ROOT / "scripts" / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def release(tmp_path):
    """A checkout that may be released as 1.2.0, with the script in it."""
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "check_release.py"
    script.write_bytes((ROOT / "scripts" / "check_release.py").read_bytes())
    (tmp_path / "tls_tasks").mkdir()
    (tmp_path / "tls_tasks" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 1.2.0\n\n- New.\n")
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\n")
    return tmp_path


def test_a_release_needs_its_version_everywhere_and_nothing_unreleased(release):
    script = release / "scripts" / "check_release.py"
    assert run(script, "v1.2.0") == (0, [])
    assert run(script, "v1.2.1") == (1, ["the tag is v1.2.1, and the version is 1.2.0"])
    (release / "CHANGELOG.md").write_text("## Unreleased\n\n- Scores: all.\n\n## 1.1.0\n")
    (release / "CITATION.cff").write_text("version: 1.1.0\n")
    assert run(script, "v1.2.0") == (
        1,
        [
            "CHANGELOG.md has no section 1.2.0",
            "CHANGELOG.md has entries that are unreleased still",
            "CITATION.cff does not name version 1.2.0",
        ],
    )


@pytest.mark.parametrize(("name", "content", "problem"), CASES["test_text_files"])
def test_text_files(tmp_path, name, content, problem):
    path = tmp_path / name
    path.write_bytes(content.encode())
    code, lines = run("check_text_files.py", path)
    assert (code, lines == []) == ((0, True) if problem is None else (1, False))
    assert problem is None or lines[0].startswith(f"{path}: {problem}")
