"""Files as people have them and words as people type them: scored, or refused with what to type instead."""

import csv

import pytest

from tests.cli.conftest import refused, run, write

FILES = {
    "sheet.csv": "Topic;Date;Event\negypt;2011-01-25;Protests.\nlibya;2011-02-15;Clashes.\negypt;2011-01-28;Anger.\n",
    "one.csv": "Date,Event\n2011-01-25,Protests begin.\n",
    "long.csv": f"id,summary\na,{'word ' * 30_000}\n",
    "gold.txt": "a b c\nd e f\ng h\n",
    "first.txt": "a b c\nd e\ng h\n",
    "second.txt": "a b\nd e x\ng z\n",
    "array.jsonl": '[\n{"id": "a", "summary": "x"}\n]\n',
    "line.jsonl": '[{"id": "a", "summary": "x"}]\n',
    "tree.json": '{"a": 1}',
    "objects.jsonl": '{"journal_id": "J1", "items": [{"domain": "food", "evidence_span": "tea"}]}\n',
}
SENTENCE = {"text": "It rained.", "citations": ["d1"]}
SAID = {"sentence": "It rained.", "verdict": "YES"}
ROWS = {
    "reports": [{"request_id": "7", "run_id": "a", "sentences": [SENTENCE]}],
    "nuggets": [{"query_id": "7", "items": [{"question_text": "Rain?", "gold_answers": ["yes"]}]}],
    "documents": [{"id": "d1", "text": "Rain."}],
    "said": [
        {"kind": "citation_support", "doc_id": "d1", **SAID},
        {"kind": "nugget_agreement", "question": "Rain?", "answer": "yes", **SAID},
    ],
}
REPORTS = "--predictions reports.jsonl --references nuggets.jsonl --documents documents.jsonl"
GOLD = "--references gold.txt"
UTF16 = "iconv -f UTF-16 -t UTF-8 utf16_"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOGETHER_API_KEY", raising=False)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / f"utf16_{name}").write_text(text, encoding="utf-16")
    for name, rows in ROWS.items():
        write(tmp_path / f"{name}.jsonl", *rows)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("timelines --predictions sheet.csv --references sheet.csv", "=== AVERAGE (2 topics) ===\n  AR-1:     1.0000"),
        ("timelines --predictions one.csv --references one.csv", "=== AVERAGE (1 topic) ===\n  AR-1:     1.0000"),
        ("summaries --predictions long.csv --references long.csv", "rouge_l_f1         1.0000"),
        (f"compare first.txt new=second.txt {GOLD} --as summaries", "0.9333  0.6556     -0.2778"),
    ],
)
def test_what_people_have_is_scored(words, result, capsys):
    command, *arguments = words.split()
    code, out, err = run(command, capsys, *arguments)
    assert code == 0 and result in out and not err


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (f"summaries --predictions array.jsonl {GOLD}", "if the file is a JSON array, name it .json"),
        (f"summaries --predictions line.jsonl {GOLD}", "expected a row a line; name the file .json"),
        (f"summaries --predictions utf16_gold.txt {GOLD}", f"{UTF16}gold.txt > NEW"),
        (f"summaries --predictions utf16_long.csv {GOLD}", f"{UTF16}long.csv > NEW"),
        ("timelines --predictions utf16_gold.txt --references one.csv", f"{UTF16}gold.txt > NEW"),
        ("trees --predictions tree.json --references tree.json --schema s.json", "s.json: no such file"),
        (f"reports {REPORTS} -o out", "--base-url URL -m MODEL, --recorded FILE"),
        (f"compare first.txt second.txt {GOLD}", "--as: got nothing, expected timelines, summaries"),
    ],
)
def test_what_can_not_be_read_is_refused_with_what_to_type(words, advice, capsys):
    command, *arguments = words.split()
    refused(command, capsys, *arguments, said=advice)


FIVE = {
    "timelines": ("one.csv", "date_f1", "one"),
    "summaries": ("gold.txt", "rouge_l_f1", "1"),
    "evidence": ("objects.jsonl", "f1", "J1"),
    "trees": ("tree.json", "f1_value", "tree.json"),
    "reports": ("", "precision", "a/7"),
}


@pytest.mark.parametrize("command", FIVE)
def test_every_scoring_command_writes_a_table_and_has_a_gate(command, here, capsys):
    file, key, name = FIVE[command]
    arguments = f"--predictions {file} --references {file}" if file else f"{REPORTS} --recorded said.jsonl"
    code, _, err = run(command, capsys, *arguments.split(), "--csv", "table.csv", "--fail-if-below", f"{key}:0.5")
    assert code == 0, err
    with (here / "table.csv").open() as table:
        values = {(row["doc_id"], row["metric"]): row["value"] for row in csv.DictReader(table)}
    assert values["", key] == values[name, key] == "1.0"
    said = {"1.5": (3, f"{key} is 1.0000, below 1.5\n"), "": (2, "METRIC:VALUE, such as rouge_l_f1:0.3")}
    for bound, (wanted, words) in said.items():
        code, out, err = run(command, capsys, *arguments.split(), "--fail-if-below", f"{key}:{bound}")
        assert code == wanted and words in err and out
    assert "did you mean" in run(command, capsys, *arguments.split(), "--fail-if-below", f"{key}s:1")[2]
