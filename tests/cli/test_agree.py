"""tls-tasks agree: two recordings, as a table and as JSON."""

import csv
import json
import random
import re
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
    assert found["n"] == 1466 and found["raw"] == found["kappa"] == found["positive"] == 1.0


def test_questions_that_do_not_match_are_refused_unless_the_common_ones_are_asked_for(tmp_path, capsys):
    places = write(tmp_path / "a", *SHORT), write(tmp_path / "b", *LONG[:2])
    said = "agree: questions: got 1 that only A was asked and 0 that only B was asked, such as nugget"
    refused(capsys, *places, said=said)
    assert run(capsys, *places, "--common")[0] == 0


@pytest.mark.parametrize(("row", "message"), CASES["test_lines_that_are_no_verdicts_are_refused"])
def test_lines_that_are_no_verdicts_are_refused(tmp_path, both, capsys, row, message):
    refused(capsys, both[0], write(tmp_path / "c", *SHORT, row), said=message)
    refused(capsys, both[0], "nowhere.jsonl", said="nowhere.jsonl")


# ---- people's labels


@pytest.fixture
def judged(tmp_path):
    """Results of two judges on the same 40 citations and 40 nuggets of ten requests; B errs more often."""
    draws, paths = random.Random(4), []
    truths = [draws.random() < 0.6 for _ in range(80)]
    for name, share in (("a", 0.1), ("b", 0.3)):
        said = [truth != (draws.random() < share) for truth in truths]
        rows = []
        for n in range(10):
            cites = [(f"Sentence {n}-{i}.", said[4 * n + i]) for i in range(4)]
            sentences = [{"text": text, "citations": [{"doc_id": "d", "supports": yes}]} for text, yes in cites]
            asked = [(f"Q{n}-{i}?", said[40 + 4 * n + i]) for i in range(4)]
            nuggets = [{"question": q, "answers": ["yes"], "needs_all": False, "covered": yes} for q, yes in asked]
            row = {"request_id": f"r{n}", "run_id": "", "sentences": sentences, "nuggets": nuggets}
            rows.append({**row, "ratios": {key: [0, 4] for key in ("citation_support", "nugget_coverage")}})
        paths.append(write(tmp_path / f"{name}.jsonl", *rows))
    return paths


def people(table):
    """The table with labels: every third NO."""
    head, *lines = table.read_text().splitlines()
    rows = list(csv.DictReader(lines))
    said = [
        f"{row['kind']},{row['request_id']},{row['item_id']},,,{'NO' if n % 3 == 0 else 'YES'}"
        for n, row in enumerate(rows)
    ]
    return write(table.with_name("people.csv"), head, "kind,request_id,item_id,text,source,label", *said)


def test_a_draw_is_labelled_and_corrects_the_judge(judged, tmp_path, capsys):
    table = tmp_path / "labels.csv"
    documents = write(tmp_path / "documents.jsonl", {"id": "d", "title": "", "text": "=It rained."})
    code, out, err = run(capsys, judged[0], "--sample", 35, "--seed", 1, "-o", table, "--documents", documents)
    assert (code, out, err) == (0, f"{table}: 35 of 40 citations, 35 of 40 nuggets\n", "")
    lines = table.read_text().splitlines()
    assert lines[0].startswith("# n=35 seed=1 items=") and lines[1] == "kind,request_id,item_id,text,source,label"
    assert lines[2].startswith("citation,r") and lines[2].endswith(".,'=It rained.,") and len(lines) == 72
    labels = people(table)
    found = json.loads(run(capsys, judged[0], "--labels", labels, "--json")[1])
    for key in ("citation_support", "nugget_coverage"):
        low, high = found[f"{key}_micro_corrected_ci"]
        assert 0 <= low < found[f"{key}_micro_corrected"] < high <= 1
        assert found[f"{key}_labels"] == 35 and found[f"{key}_signature"] == "corrected:ppi++,n:35,seed:1"
        assert {f"{key}_{name}" for name in ("micro", "sensitivity", "specificity")} <= set(found)
    assert found["ci_caution"] == ""
    code, out, err = run(capsys, judged[0], "--labels", labels)
    assert (code, err) == (0, "")
    cells = {line.split()[0]: line.split()[1:] for line in out.splitlines()[4:]}
    for key in ("citation_support_micro_corrected", "nugget_coverage_sensitivity"):
        assert cells[key] == [f"{found[key]:.4f}"]
    assert "not corrected: precision, recall, sentence_support and f1" in out


def test_one_set_of_labels_serves_two_judges(judged, tmp_path, capsys):
    table = tmp_path / "labels.csv"
    run(capsys, judged[0], "--sample", 35, "-o", table)
    labels = people(table)
    found = json.loads(run(capsys, *judged, "--labels", labels, "--json")[1])
    assert list(found) == ["A", "B", "difference"]
    for name, path in zip("AB", judged, strict=True):
        assert found[name] == json.loads(run(capsys, path, "--labels", labels, "--json")[1])
    gap = found["B"]["nugget_coverage_micro"] - found["A"]["nugget_coverage_micro"]
    low, high = found["difference"]["nugget_coverage_micro_ci"]
    assert found["difference"]["nugget_coverage_micro"] == pytest.approx(gap) and low < gap < high
    out = run(capsys, *judged, "--labels", labels)[1]
    assert re.search(rf"^nugget_coverage_micro .* {re.escape(f'{gap:.4f}')}$", out, re.M)
    assert f"[{low:.4f}, {high:.4f}]" in out and "nugget_coverage_width" in out


WRONG = [
    ([], "B: got nothing, expected the recording of a second judge, --labels PEOPLE or --sample N"),
    (["--sample", 3], "--sample: got it without --output, expected both"),
    (["--seed", 3, "--labels", "x"], "--seed: got it without --sample, expected both"),
    (["-o", "x"], "--output: got it without --sample, expected both"),
    (["--sample", 0, "-o", "x"], "--sample: got 0"),
    (["--sample", 3, "-o", "x", "--labels", "y"], "--sample: got it with B, --labels, --common or --json"),
    (["--labels", "nowhere.csv"], "nowhere.csv"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_options_that_do_not_fit_are_refused(judged, capsys, options, said):
    refused(capsys, judged[0], *options, said=said)
