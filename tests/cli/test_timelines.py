"""tls-tasks timelines: the field's layouts, what is joined with what, and what a mistake is told."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import scoring, write
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.timelines.alignment_rouge import alignment_rouge
from tls_tasks.timelines.date_f1 import date_f1
from tls_tasks.timelines.topics import read_data_set

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

CRISIS = EMBEDDED / "tls_crisis"
GOLD = {"egypt": {"2011-01-25": "Protests begin in Cairo.", "2011-02-11": "Mubarak resigns."}}
ANSWER = "2011-01-25: Protests begin in Cairo.\n2011-02-12: The army rules."


run, refused = scoring("timelines", "references", "predictions")


def metrics(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)["metrics"]


@pytest.fixture
def half(tmp_path):
    """Gold with two dates in every form that it may come in; name -> place."""
    entries = [{"date": day, "text": text} for day, text in GOLD["egypt"].items()]
    news_tls = [[f"{day}T00:00:00", [text]] for day, text in GOLD["egypt"].items()]
    lines = [f"{day}: {text}" for day, text in GOLD["egypt"].items()]
    return {
        "news-tls": write(tmp_path / "a" / "egypt" / "timelines.jsonl", news_tls).parents[1],
        "one topic": tmp_path / "a" / "egypt",
        "timelines.jsonl": tmp_path / "a" / "egypt" / "timelines.jsonl",
        "folder of text": write(tmp_path / "b" / "egypt.txt", *lines).parent,
        "folder of JSON": write(tmp_path / "c" / "egypt.json", entries).parent,
        "rows": write(tmp_path / "rows.jsonl", {"topic": "egypt", "timeline": entries}),
        "rows of several": write(tmp_path / "several.jsonl", {"id": "egypt", "timelines": [GOLD["egypt"]]}),
        "document": write(tmp_path / "any name.json", entries),
        "days": write(tmp_path / "days.json", GOLD["egypt"]),
        "entries": write(tmp_path / "entries.jsonl", *entries),
        "text": write(tmp_path / "egypt.txt", *lines),
    }


def test_every_form_says_the_same_on_both_sides(half, tmp_path, capsys):
    answer = write(tmp_path / "p" / "egypt.txt", ANSWER)
    for name, place in half.items():
        by_order = name in ("document", "days", "entries", "text")
        told = metrics(capsys, place, answer if by_order else answer.parent)
        assert told["date_f1"] == 0.5, name
        assert metrics(capsys, half["rows"], place)["ar1_f1"] == 1.0, name


def test_the_numbers_are_the_metrics_own(capsys, tmp_path):
    topics = read_data_set(CRISIS)
    for topic in topics:  # its second reference as the answer
        write(tmp_path / f"{topic.name}.json", topic.timelines[1].as_rows())
    told = metrics(capsys, CRISIS, tmp_path)
    rows = [topic.timelines[1] for topic in topics], [topic.timelines for topic in topics]
    words, dates = alignment_rouge(*rows), date_f1(*rows)
    assert {**words.results, **dates.results}.items() <= told.items()
    by_topic = date_f1(*rows, aggregate="mean_f", topics=[topic.name for topic in topics])
    assert told["date_mean_f"] == pytest.approx(by_topic.results["date_f1"], abs=1e-12)


def test_a_prediction_for_each_reference(capsys):
    code, out, err = run(capsys, CRISIS, CRISIS, "--detailed")
    assert (code, err) == (0, "") and "egypt/0" in out and "egypt/1" in out
    assert metrics(capsys, CRISIS, CRISIS)["date_mean_f"] == 1.0


def test_the_mean_comes_first_in_the_papers_layout(capsys):
    _, out, _ = run(capsys, CRISIS, CRISIS)
    lines = out.splitlines()
    assert lines[:3] == ["=== Evaluation Results ===", "", "=== AVERAGE (4 topics) ==="]
    assert lines[3:6] == ["  AR-1:     1.0000", "  AR-2:     1.0000", "  Date-F1:  1.0000"]
    topics = [line.removeprefix("Topic: ") for line in lines if line.startswith("Topic: ")]
    assert topics == ["egypt", "libya", "syria", "yemen"]
    assert lines[-1].startswith("alignment_rouge|variant:align+m:1|") and " + date_f1|days:0|" in lines[-1]


def test_options_reach_the_metrics(capsys):
    options = "--variant concat --tolerance 2 --tokenizer unicode --confidence 0.9".split()
    _, out, _ = run(capsys, CRISIS, CRISIS, *options)
    assert "alignment_rouge|variant:concat|" in out and "|tok:unicode|" in out and "date_f1|days:2|" in out
    assert "date_f1         1.0000  [1.0000, 1.0000]" in out
    refused(capsys, CRISIS, CRISIS, "--reference-mode", "both", said="expected one of 'separate', 'joint'")


def test_what_is_missing_or_unreadable_scores_nothing_and_is_said(half, tmp_path, capsys):
    gold = write(tmp_path / "gold.jsonl", *({"topic": name, "timeline": GOLD["egypt"]} for name in "abcd"))
    refusal, nothing = {"topic": "b", "prediction": "01/02/2011: Protests."}, {"topic": "c", "timeline": []}
    told = write(tmp_path / "told.jsonl", {"topic": "a", "timeline": GOLD["egypt"]}, refusal, nothing)
    empty = write(tmp_path / "empty.jsonl", {"topic": "egypt", "timeline": []})
    assert run(capsys, half["text"], empty)[0] == 0
    code, out, err = run(capsys, gold, told, "--json")
    assert code == 0 and json.loads(out)["metrics"]["date_mean_f"] == 0.25
    assert "1 of 4 topics without a prediction ('d'): scored 0" in err
    assert "no timeline can be read in the prediction of 'b': scored 0 (invalid_date: 01/02/2011: Protests.)" in err


@pytest.mark.parametrize(("gold", "predictions", "said"), CASES["test_a_mistake_is_told_in_one_line"])
def test_a_mistake_is_told_in_one_line(half, tmp_path, capsys, gold, predictions, said):
    place = tmp_path / predictions if predictions == "nowhere" else write(tmp_path / "p.jsonl", predictions)
    refused(capsys, half[gold], place, said=said)


@pytest.mark.parametrize("wrapped", [dict, lambda named: {"gold_timelines": named}])
def test_names_beside_one_document_are_its_annotators(tmp_path, capsys, wrapped):
    named = {"cnn": GOLD["egypt"], "bbc": {"2011-01-28": "The army waits."}}
    answer = write(tmp_path / "answer.txt", "2011-01-25: Protests begin in Cairo.\n2011-02-11: Mubarak resigns.")
    assert metrics(capsys, write(tmp_path / "gold.json", wrapped(named)), answer)["date_mean_f"] == 0.5


def test_folders_that_are_no_timelines_are_told(half, tmp_path, capsys):
    said = refused(capsys, CRISIS, half["text"], said="egypt.txt: has no ids, but ")
    assert "'egypt', 'libya', 'syria' … (4)" in said
    (tmp_path / "of none" / "egypt").mkdir(parents=True)
    refused(capsys, CRISIS, tmp_path / "of none", said="no file in it, expected one a document, named by its")
    write(tmp_path / "sets" / "crisis" / "egypt" / "timelines.jsonl", [["2011-01-25", ["A."]]])
    refused(capsys, tmp_path / "sets", CRISIS, said="holds data sets, expected one of them: crisis")


def test_the_real_folders(shared, capsys):
    """The first reference of each topic in CHRONOS' Open-TLS, and Crisis' three annotators against each other."""
    assert metrics(capsys, shared / "data" / "open_tls", shared / "data" / "open_tls")["date_mean_f"] == 1.0
    code, out, err = run(capsys, shared / "data" / "crisis", shared / "data" / "crisis", "--reference-mode", "joint")
    assert (code, err) == (0, "") and "=== AVERAGE (4 topics) ===" in out
