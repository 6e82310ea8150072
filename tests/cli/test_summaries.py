"""tls-tasks summaries: by line, by id and by name; what is missing, and what a mistake is told."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import scoring, write
from tests.conftest import read_jsonl
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.summaries.rouge_l import rouge_l

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

DIALOGSUM = EMBEDDED / "summ_dialogsum" / "documents.jsonl"
GOLD, TOLD = ["the cat sat", "a b c d"], ["the cat sat on the mat", "a b"]  # F: 2/3 and 2/3


run, refused = scoring("summaries", "references", "predictions")


def forms(folder, texts, field):
    """The same texts by line, by id, by order in rows, by name."""
    by_name = {f"m{number}": text for number, text in enumerate(texts)}
    for name, text in by_name.items():
        write(folder / "files" / f"{name}.txt", text)
    return {
        "lines": write(folder / "lines.txt", *texts),
        "rows": write(folder / "rows.jsonl", *({field: text} for text in texts)),
        "ids": write(folder / "ids.jsonl", *({"id": name, field: text} for name, text in by_name.items())),
        "files": folder / "files",
    }


def test_every_form_says_the_same(tmp_path, capsys):
    gold, told = forms(tmp_path / "g", GOLD, "summary"), forms(tmp_path / "p", TOLD, "prediction")
    for pair in ("lines lines", "lines rows", "rows lines", "ids ids", "ids files"):
        own, other = pair.split()
        code, out, err = run(capsys, gold[own], told[other])
        assert (code, err) == (0, "") and out.splitlines()[0].split() == ["rouge_l_f1", "0.6667"], (own, other)
        assert out.splitlines()[-1].startswith("rouge_l|read:text|types:rougeL|")
    for own in ("lines", "ids"):  # as Windows writes them
        made = told[own].read_text(encoding="utf-8")
        told[own].write_bytes(("\ufeff" + made.replace("\n", "\r\n")).encode())
        assert run(capsys, gold[own], told[own])[:2] == run(capsys, gold["files"], told["files"])[:2], own
    table = tmp_path / "table.csv"
    table.write_bytes("\ufeffid,prediction\r\nm0,the cat sat on the mat\r\nm1,a b\r\n".encode())
    assert run(capsys, gold["ids"], table)[1] == run(capsys, gold["files"], told["files"])[1]
    said = refused(capsys, gold["lines"], told["ids"], said="lines.txt: has no ids, but ")
    assert "expected ids in both, such as" in said


def test_the_numbers_are_the_metrics_own(tmp_path, capsys):
    rows = read_jsonl(DIALOGSUM)
    told = [{"id": f"{number}", "prediction": row["references"][0]} for number, row in enumerate(rows)]
    gold = [{"id": f"{number}", "references": [row["references"][0], "nothing"]} for number, row in enumerate(rows)]
    places = write(tmp_path / "g.jsonl", *gold), write(tmp_path / "p.jsonl", *reversed(told[1:]))
    code, out, err = run(capsys, *places, "--json", "--detailed", "--tokenizer", "rouge", "--stem", "--confidence", 0.9)
    assert code == 0 and f"1 of {len(rows)} summaries without a prediction ('0'): scored 0" in err
    columns = ["", *(row["references"][0] for row in rows[1:])], [row["references"] for row in gold]
    direct = rouge_l(*columns, tokenizer="rouge", use_stemmer=True)
    found = json.loads(out)
    assert found["rouge_l_f1"] == direct.results["rouge_l_f1"] and found["signature"] == direct.signature
    assert found["documents"]["0"]["rouge_l_f1"] == 0 and found["items"][1]["id"] == "1"
    assert found["intervals"]["rouge_l_f1"][0] <= found["rouge_l_f1"] <= found["intervals"]["rouge_l_f1"][1]


def test_details_have_a_line_a_summary(tmp_path, capsys):
    _, out, _ = run(capsys, write(tmp_path / "g.txt", *GOLD), write(tmp_path / "p.txt", *TOLD), "--detailed", "--lsum")
    lines = [line.split() for line in out.splitlines()]
    assert ["1", *["0.5000", "1.0000", "0.6667"] * 2] in lines and "types:rougeL,rougeLsum" in out


def test_ngrams_stand_beside_rouge_l(tmp_path, capsys):
    _, out, _ = run(capsys, write(tmp_path / "g.txt", *GOLD), write(tmp_path / "p.txt", *TOLD), "--json", "--ngrams")
    direct = rouge_l(TOLD, GOLD, rouge_types=["rougeL", "rouge1", "rouge2"]).as_dict()
    assert direct.items() <= json.loads(out).items() and direct["rouge1_f1"] > direct["rouge2_f1"]


@pytest.mark.parametrize(("row", "said"), CASES["test_a_mistake_is_told_in_one_line"])
def test_a_mistake_is_told_in_one_line(tmp_path, capsys, row, said):
    gold = forms(tmp_path / "g", GOLD, "summary")["ids"]
    refused(capsys, gold, write(tmp_path / "p.jsonl", row), said=said)


@pytest.mark.parametrize("cell", CASES["test_several_references_in_a_text"])
def test_several_references_in_a_text(tmp_path, capsys, cell):
    told = write(tmp_path / "p.txt", "the cat sat")
    _, out, err = run(capsys, write(tmp_path / "g.jsonl", {"references": cell}), told)
    assert out.startswith("rouge_l_f1         1.0000") and err == ""
    broken = write(tmp_path / "g.jsonl", {"references": '["a" "b"]'})
    refused(capsys, broken, told, said="g.jsonl, line 1: not JSON: Expecting ','")


def test_files_that_do_not_fit_are_told(tmp_path, capsys):
    gold = write(tmp_path / "g", *GOLD)
    refused(capsys, gold, write(tmp_path / "p", "one line"), said="p: 1 rows, but ")
    refused(capsys, gold, write(tmp_path / "p"), said="p: no row in it")
    refused(capsys, gold, write(tmp_path / "p", {"summary": "x"}, "y"), said="p, line 1: a JSON object, expected")
    refused(capsys, gold, tmp_path / "nowhere", said="nowhere: no such file or folder")
    folder = "is a folder with files of rows, expected one of them: documents.jsonl"
    refused(capsys, DIALOGSUM.parent, gold, said=folder)
