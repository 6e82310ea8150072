"""The scripts that check files and releases."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


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


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.py", b"a = 1\n", None),
        ("a.md", b"two blanks break a line  \nof Markdown\n", None),
        ("a.yaml", b"task: !function utils.process\n", None),
        ("a.py", b"", None),
        ("a.py", b"a = 1", "no line break at the end"),
        ("a.py", b"a = 1\n\n", "empty lines at the end"),
        ("a.py", b"a = 1 \n", "blanks at the end of a line"),
        ("a.py", b"a = 1\r\n", "line breaks of Windows"),
        ("a.py", b"<<<<<<< ours\n", "the marks of a merge"),
        ("a.yaml", b"a: [\n", "not YAML"),
    ],
)
def test_text_files(tmp_path, name, content, problem):
    path = tmp_path / name
    path.write_bytes(content)
    code, lines = run("check_text_files.py", path)
    assert (code, lines == []) == ((0, True) if problem is None else (1, False))
    assert problem is None or lines[0].startswith(f"{path}: {problem}")
