"""The budget of code lines: see tests/size.yaml."""

import pytest

from scripts import size


def test_the_code_stays_within_its_budget():
    print(size.report())  # noqa: T201 - pytest shows it where the test fails
    lines, limit = sum(size.files().values()), size.budget()["sum"]
    assert lines <= limit, (
        f"{lines:,} lines of code, {lines - limit:,} over the budget. Remove as many (`python scripts/size.py` lists "
        "the rooms), or raise `sum` in tests/size.yaml and say in the commit what the lines buy, measured."
    )


def test_the_tests_stay_within_their_budget():
    lines, limit = sum(size.files(("tests",)).values()), size.budget()["tests"]
    assert lines <= limit, f"{lines:,} lines of tests, {lines - limit:,} over `tests` in tests/size.yaml"


@pytest.mark.parametrize("name", size.hidden())
def test_no_code_hides_in_other_files_or_longer_lines(name):
    found, limit = size.hidden()[name], size.budget()[name]
    assert found <= limit, f"{name}: {found:,}, {found - limit:,} over its limit in tests/size.yaml"


def test_few_files_are_too_small_to_tell_a_story():
    small = [
        str(path)
        for path, lines in size.files().items()
        if lines < 30 and path.parts[0] == "tls_tasks" and path.stem not in ("__init__", "__main__")
    ]
    limit = size.budget()["small_files"]
    assert len(small) <= limit, f"{len(small)} files under 30 lines, at most {limit}: merge one of {small}"


def test_no_modules_import_each_other():
    """Imports for type checkers and inside functions count: a reader must know both modules."""
    assert not (modules := size.circle()), f"import circle: {' -> '.join(modules)}"


def test_a_circle_is_found(tmp_path, monkeypatch):
    folder = tmp_path / "tls_tasks"
    folder.mkdir()
    (folder / "a.py").write_text("from tls_tasks import b\n")
    (folder / "b.py").write_text("def late():\n    from tls_tasks.a import x\n    return x\n")
    monkeypatch.setattr(size, "ROOT", tmp_path)
    assert set(size.circle()) == {"tls_tasks.a", "tls_tasks.b"}
