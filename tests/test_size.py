"""The budget of code lines: see tests/size.yaml."""

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


def test_few_files_are_too_small_to_tell_a_story():
    small = [
        str(path)
        for path, lines in size.files().items()
        if lines < 30 and path.parts[0] == "tls_tasks" and path.stem not in ("__init__", "__main__")
    ]
    limit = size.budget()["small_files"]
    assert len(small) <= limit, f"{len(small)} files under 30 lines, at most {limit}: merge one of {small}"
