"""tls-tasks agree: items are drawn, labelled and correct a judge."""

import csv
import json
import random
import re
from functools import partial

import pytest

from tests.cli import conftest
from tests.cli.conftest import write

run, refused = partial(conftest.run, "agree"), partial(conftest.refused, "agree")


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
    rows = list(csv.DictReader(table.read_text().splitlines()))
    said = [
        f"{row['kind']},{row['request_id']},{row['item_id']},,,{'NO' if n % 3 == 0 else 'YES'}"
        for n, row in enumerate(rows)
    ]
    return write(table.with_name("people.csv"), "kind,request_id,item_id,text,source,label", *said)


def test_a_draw_is_labelled_and_corrects_the_judge(judged, tmp_path, capsys):
    table = tmp_path / "labels.csv"
    documents = write(tmp_path / "documents.jsonl", {"id": "d", "title": "", "text": "=It rained."})
    code, out, err = run(capsys, judged[0], "--sample", 35, "--seed", 1, "-o", table, "--documents", documents)
    assert (code, out, err) == (0, f"{table}: 35 of 40 citations, 35 of 40 nuggets\n", "")
    lines = table.read_text().splitlines()
    assert lines[0] == "kind,request_id,item_id,text,source,label"
    assert lines[1].startswith("citation,r") and lines[1].endswith(".,'=It rained.,") and len(lines) == 71
    labels = people(table)
    found = json.loads(run(capsys, judged[0], "--labels", labels, "--json")[1])
    for key in ("citation_support", "nugget_coverage"):
        low, high = found[f"{key}_micro_corrected_ci"]
        assert 0 <= low < found[f"{key}_micro_corrected"] < high <= 1
        assert found[f"{key}_labels"] == 35 and found[f"{key}_signature"] == "corrected:ppi++,n:35"
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
    assert list(found) == ["A", "B"]
    for name, path in zip("AB", judged, strict=True):
        assert found[name] == json.loads(run(capsys, path, "--labels", labels, "--json")[1])
    assert re.search(r"^nugget_coverage_width +0\.\d+ +0\.\d+$", run(capsys, *judged, "--labels", labels)[1], re.M)


WRONG = [
    ([], "agree: got neither --sample nor --labels, expected one of them"),
    (["--sample", 3], "--sample: got it without -o, or with --labels"),
    (["--sample", 0, "-o", "x"], "--sample: got 0"),
    (["--sample", 3, "-o", "x", "--labels", "y"], "--sample: got it without -o, or with --labels"),
    (["--labels", "nowhere.csv"], "nowhere.csv"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_options_that_do_not_fit_are_refused(judged, capsys, options, said):
    refused(capsys, judged[0], *options, said=said)
