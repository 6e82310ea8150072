"""``tls-tasks evidence``: the table, the JSON, the details, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import scoring, write
from tests.conftest import read_jsonl
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.types import EvidenceSchema

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
JOURNALS, GOLD = EMBEDDED / "evidence_journals" / "journals.jsonl", EMBEDDED / "evidence_journals" / "gold.jsonl"
NOTHING = {"journal_id": "J2", "items": []}
TEXT = "Had tea twice. Felt calm, no fever."
TEA = {"domain": "food", "evidence_span": "Had tea", "polarity": "present", "time_bucket": "today"}
FEVER = {"domain": "symptom", "evidence_span": "no fever", "polarity": "absent", "time_bucket": "today"}
TOLD = [{**TEA, "polarity": "uncertain"}, {**FEVER, "domain": "mind"}, {**FEVER, "evidence_span": "a fever"}]
run, refused = scoring("evidence", "sources", "references", "predictions")


@pytest.fixture
def files(tmp_path):
    """Three small files; a function that writes other predictions."""
    journals = [{"journal_id": "J1", "text": TEXT}, {"journal_id": "J2", "text": "Nothing."}]
    gold = [{"journal_id": "J1", "items": [TEA, FEVER]}, {"journal_id": "J2", "items": []}]

    def arguments(predictions=({"journal_id": "J1", "items": TOLD}, {"journal_id": "J2", "items": "[]"})):
        named = {"journals": journals, "gold": gold, "predictions": predictions}
        return [str(write(tmp_path / f"{name}.jsonl", *rows)) for name, rows in named.items()]

    return arguments


def results(out):
    """The results that are printed first, by name."""
    return dict(line.split() for line in out.split("\n\n")[0].splitlines() if line.count(" ") and "|" not in line)


def test_the_results_and_with_details_a_line_a_journal(files, capsys):
    code, out, err = run(capsys, *files())
    found = results(out)
    assert (code, err) == (0, "") and out.splitlines()[-1].startswith("evidence_extraction|schema:journal|")
    assert [found[key] for key in ("tp", "fp", "fn")] == ["1.0000", "2.0000", "1.0000"]
    assert [found[key] for key in ("precision", "recall", "f1")] == ["0.3333", "0.5000", "0.4000"]
    assert [found[key] for key in ("polarity_accuracy", "evidence_coverage")] == ["0.0000", "0.6667"]
    assert [found[key] for key in ("parse_failures", "schema_invalid")] == ["0.0000", "3.0000"], "a level is missing"
    lines = run(capsys, *files(), "--detailed")[1].splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("journal "))
    rows = [dict(zip(lines[head].split(), line.split(), strict=True)) for line in lines[head + 1 : head + 3]]
    assert [(row["journal"], row["tp"], row["f1"]) for row in rows] == [
        ("J1", "1.0000", "0.4000"),
        ("J2", "0.0000", "0.0000"),
    ]


def test_details_tell_of_every_object(files, capsys):
    _, out, _ = run(capsys, *files(), "--detailed")
    assert "\nJ1\nevidence_extraction, row 0: " in out
    assert "  match     food: overlap 1\n    reference  Had tea\n    predicted  Had tea\n" in out
    assert "    x polarity: present / uncertain\n" in out
    assert "  missed    symptom: no fever\n" in out
    assert "  spurious  mind: no fever; missing_level\n" in out
    assert "  spurious  symptom: a fever; missing_level; not in the text\n" in out


@pytest.mark.parametrize("detailed", [False, True])
def test_json_is_the_scores_own_with_the_journals(files, capsys, detailed):
    result = json.loads(run(capsys, *files(), "--json", *["--detailed"] * detailed)[1])
    direct = evidence_extraction([json.dumps(TOLD), "[]"], [[TEA, FEVER], []], [TEXT, "Nothing."])
    journals = result.pop("documents")
    assert journals["J1"]["tp"] == 1 and journals["J2"]["f1"] == 0
    for item in result.get("items", ()):
        assert item.pop("id") == ["J1", "J2"][item["row"]]
    assert result == json.loads(json.dumps(direct.as_dict(detailed=detailed)))


def test_missing_predictions_are_misses_and_said(files, capsys):
    _, out, err = run(capsys, *files([NOTHING]))
    assert [results(out)[key] for key in ("tp", "fp", "fn")] == ["0.0000", "0.0000", "2.0000"]
    assert "1 of 2 journals without a prediction ('J1'): all gold objects missed" in err
    for field in ("items", "prediction"):
        assert run(capsys, *files([NOTHING, {"journal_id": "J1", field: None}]))[1:] == (out, err)


def test_gold_that_misquotes_is_scored_and_said(files, capsys, tmp_path):
    arguments = files()
    gold = {"journal_id": "J1", "items": [TEA, {**FEVER, "evidence_span": "a fever", "polarity": "perhaps"}]}
    arguments[1] = write(tmp_path / "other.jsonl", gold, NOTHING)
    _, out, err = run(capsys, *arguments)
    assert [results(out)[key] for key in ("tp", "fp", "fn")] == ["2.0000", "1.0000", "0.0000"]
    assert "gold objects not verbatim in their journal: 1, first of J1" in err
    assert "break the schema; issues: 1, the first references[0][1]: unknown_polarity" in err


def test_bad_answers_are_the_models_fault(files, capsys):
    told = [{"journal_id": "J1", "items": "I can't help with that."}, {"journal_id": "J2", "items": [3, "tea", None]}]
    assert results(run(capsys, *files(told))[1])["parse_failures"] == "2.0000"
    odd = [{**TEA, "domain": "\ud83d\u202e", "evidence_span": "\ud83d"}, {**TEA, "evidence_span": None}]
    for option in ("--detailed", "--json"):
        code, out, _ = run(capsys, *files([{"journal_id": "J1", "items": odd}]), option, "--detailed")
        assert code == 0 and not out.isprintable()  # line ends at least, and no UnicodeEncodeError


def test_options_reach_the_score(files, capsys, tmp_path):
    told = [{"journal_id": "J1", "items": [{**TEA, "evidence_span": "tea twice"}]}]  # overlap 1/3
    _, out, _ = run(capsys, *files(told), "--threshold", "1/3", "--matching", "optimal")
    assert [results(out)[key] for key in ("tp", "fp", "fn")] == ["1.0000", "0.0000", "1.0000"]
    assert "matching:optimal" in out and "threshold:0.333" in out
    code, out, _ = run(capsys, *files(), "--postprocess", "drop")
    assert code == 0 and "|post:drop|" in out and results(out)["fp"] == "1.0000"
    refused(capsys, *files(), "--postprocess", "drops", said="postprocess: got 'drops', expected one of")
    schema = EvidenceSchema("plain", ("food", "symptom"))
    (tmp_path / "s.json").write_text(json.dumps(schema.as_dict()))
    _, out, _ = run(capsys, *files(told), "--schema", tmp_path / "s.json")
    assert "schema:plain#" in out and "polarity_accuracy" not in results(out)


@pytest.mark.parametrize(("predictions", "options", "message"), CASES["test_what_does_not_fit_is_refused_in_one_line"])
def test_what_does_not_fit_is_refused_in_one_line(files, capsys, predictions, options, message):
    refused(capsys, *files(predictions), *options, said=message)


def test_gold_against_itself_on_the_embedded_journals(capsys):
    result = json.loads(run(capsys, JOURNALS, GOLD, GOLD, "--json")[1])
    n_objects = sum(len(row["items"]) for row in read_jsonl(GOLD))
    assert (result["tp"], result["fp"], result["fn"]) == (n_objects, 0, 0)
    keys = ("f1", "polarity_accuracy", "bucket_accuracy", "evidence_coverage", "evidence_coverage_normalised")
    assert [result[key] for key in keys] == [1.0] * 5
    assert result["schema_invalid"] == result["parse_failures"] == 0
