"""tls-tasks agree: two recordings, as a table and as JSON."""

import json

import pytest

from tls_tasks.cli import main
from tls_tasks.reports.data import EMBEDDED_RECORDING

SHORT = [
    {"kind": "citation_support", "sentence": "It rained.", "doc_id": "d1", "verdict": "YES"},
    {"kind": "check_negative", "sentence": "It rained.", "verdict": "NO"},
    {"kind": "nugget_agreement", "sentence": "It rained.", "question": "When?", "answer": "today", "verdict": None},
]
LONG = [
    {"kind": "citation_support", "key": "k1", "fields": {"sentence": "It rained."},
     "about": {"request_id": "7", "run_id": "a", "sentence": 0, "doc_id": "d1"}, "verdict": "NO", "judge": "j"},
    {"kind": "negative", "key": "k2", "fields": {"sentence": "It rained."}, "about": {"sentence": 0}, "verdict": "NO"},
    {"kind": "nugget_agreement", "key": "k3", "about": {"sentence": 0}, "verdict": "YES",
     "fields": {"sentence": "It rained.", "question": "When?", "answer": "today"}},
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def write(name, rows):
        path = tmp_path / name
        path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
        return str(path)

    return write


def test_the_table(write, capsys):
    assert main(["agree", write("a", SHORT), write("b", LONG)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("a (3 verdicts)")
    rows = {line.split()[0]: line.split()[1:] for line in lines[3:]}
    assert rows["citation_support"] == "1 0 1 0 0 0 0.0000 0.0000 0.0000".split()
    assert rows["nugget_agreement"] == "0 0 0 0 0 1 NaN NaN NaN".split()
    assert rows["all"] == "2 0 1 0 1 1 0.5000 0.0000 0.0000".split()


def test_json(write, capsys):
    assert main(["agree", write("a", SHORT), write("b", LONG), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["negative"]["both_no"] == 1 and found["negative"]["kappa"] is None
    assert set(found) == {"citation_support", "negative", "nugget_agreement", "all"}


def test_a_recording_agrees_with_itself(capsys):
    assert main(["agree", str(EMBEDDED_RECORDING), str(EMBEDDED_RECORDING), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["all"]
    assert found["n"] == 1429 and found["raw"] == found["kappa"] == found["positive"] == 1.0


def test_questions_that_do_not_match_are_refused_unless_the_common_ones_are_asked_for(write, capsys):
    a, b = write("a", SHORT), write("b", LONG[:2])
    assert main(["agree", a, b]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(
        "tls-tasks agree: questions: got 1 that only A was asked and 0 that only B was asked, such as nugget"
    )
    assert main(["agree", a, b, "--common"]) == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 4: not JSON"),
        ("[]", "line 4: got list, expected an object"),
        ({"kind": "relevance", "sentence": "s", "verdict": "YES"}, "line 4: kind: got 'relevance', expected one of"),
        ({"kind": "negative", "sentence": "s", "verdict": 3}, "line 4: verdict: got int 3, expected YES, NO, null"),
    ],
)
def test_lines_that_are_no_verdicts_are_refused(write, capsys, row, message):
    assert main(["agree", write("a", SHORT), write("b", [*SHORT, row])]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there(write, capsys):
    assert main(["agree", write("a", SHORT), "nowhere.jsonl"]) == 2
    assert "nowhere.jsonl" in capsys.readouterr().err


def test_the_help_has_examples(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["agree", "--help"])
    assert stop.value.code == 0 and "Examples:" in capsys.readouterr().out
