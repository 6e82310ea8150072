"""tls-tasks agree: two recordings, as a table and as JSON."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli import conftest
from tests.cli.conftest import write
from tls_tasks.reports.data import EMBEDDED_RECORDING

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

SHORT, LONG = CASES["SHORT"], CASES["LONG"]


run, refused = partial(conftest.run, "agree"), partial(conftest.refused, "agree")


@pytest.fixture
def both(tmp_path):
    return write(tmp_path / "a", *SHORT), write(tmp_path / "b", *LONG)


def test_the_table_and_json(both, capsys):
    _, out, _ = run(capsys, *both)
    lines = out.splitlines()
    assert lines[0].endswith("a (3 verdicts)")
    rows = {line.split()[0]: line.split()[1:] for line in lines[3:]}
    assert rows["citation_support"] == "1 0 1 0 0 0 0.0000 0.0000 0.0000".split()
    assert rows["nugget_agreement"] == "0 0 0 0 0 1 NaN NaN NaN".split()
    assert rows["all"] == "2 0 1 0 1 1 0.5000 0.0000 0.0000".split()
    found = json.loads(run(capsys, *both, "--json")[1])
    assert found["negative"]["both_no"] == 1 and found["negative"]["kappa"] is None
    assert set(found) == {"citation_support", "negative", "nugget_agreement", "all"}


def test_a_recording_agrees_with_itself(capsys):
    found = json.loads(run(capsys, EMBEDDED_RECORDING, EMBEDDED_RECORDING, "--json")[1])["all"]
    assert found["n"] == 1429 and found["raw"] == found["kappa"] == found["positive"] == 1.0


def test_questions_that_do_not_match_are_refused_unless_the_common_ones_are_asked_for(tmp_path, capsys):
    places = write(tmp_path / "a", *SHORT), write(tmp_path / "b", *LONG[:2])
    said = "agree: questions: got 1 that only A was asked and 0 that only B was asked, such as nugget"
    refused(capsys, *places, said=said)
    assert run(capsys, *places, "--common")[0] == 0


@pytest.mark.parametrize(("row", "message"), CASES["test_lines_that_are_no_verdicts_are_refused"])
def test_lines_that_are_no_verdicts_are_refused(tmp_path, both, capsys, row, message):
    refused(capsys, both[0], write(tmp_path / "c", *SHORT, row), said=message)
    refused(capsys, both[0], "nowhere.jsonl", said="nowhere.jsonl")
