"""``tls-tasks prepare evidence``: what it writes, that nothing is lost on the way, and what it refuses."""

import json

import pytest
import yaml

from tls_tasks.cli import main
from tls_tasks.data.order import EMBEDDED
from tls_tasks.evidence.data import _load_evidence
from tls_tasks.evidence.types import Attribute, EvidenceSchema

pytestmark = pytest.mark.usefixtures("isolated")

TEA = {"domain": "food", "evidence_span": "Had tea", "polarity": "present", "time_bucket": "today"}
ROWS = [{"journal_id": "a", "text": "Had tea ☕.", "items": [TEA]}, {"journal_id": 2, "text": "Nothing.", "items": []}]
PLANTS = EvidenceSchema("plants", ("tree", "herb"), (Attribute("size", {"": "size"}, ("small", "big")),))


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments):
    return main(["prepare", "evidence", *map(str, arguments)])


@pytest.mark.parametrize("pair", [False, True])
def test_round_trip(tmp_path, capsys, pair):
    source, out = tmp_path / "source", tmp_path / "out"
    if pair:
        write(source / "journals.jsonl", [{key: row[key] for key in ("journal_id", "text")} for row in ROWS])
        write(source / "gold.jsonl", [{key: row[key] for key in ("journal_id", "items")} for row in ROWS])
    else:
        source = write(tmp_path / "rows.jsonl", ROWS)
    assert run("--source", source, "--out", out, "--licence", "cc0-1.0") == 0
    loaded, original = (_load_evidence("evidence_journals", data=place) for place in (out, source))
    assert loaded.documents == original.documents and [one.id for one in loaded.documents] == ["a", "2"]
    printed = capsys.readouterr().out
    assert f"{out}: 2 documents, 1 objects of the schema journal" in printed
    assert f'try it: lm_eval --tasks evidence_custom --metadata \'{{"data": "{out}", "name": "ours"}}\' …' in printed
    card = (out / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["license"] == "cc0-1.0" and head["configs"][0]["data_files"][0]["path"] == "data/test-*.parquet"
    assert "| food | 1 |" in card and "2 documents, 1 of them without objects." in card


def test_objects_stay_as_they_are_to_every_reader(tmp_path):
    import datasets

    run("--source", write(tmp_path / "rows.jsonl", ROWS), "--out", tmp_path / "out")
    row = datasets.load_dataset(str(tmp_path / "out"), split="test")[0]
    assert json.loads(row["items"]) == [TEA] and row["text"] == "Had tea ☕."


def test_a_schema_of_ones_own_goes_along(tmp_path, capsys):
    schema = tmp_path / "plants.json"
    schema.write_text(json.dumps(PLANTS.as_dict()))
    row = {"text": "A small oak.", "items": [{"domain": "tree", "evidence_span": "small oak", "size": "small"}]}
    source, out = write(tmp_path / "rows.jsonl", [row]), tmp_path / "out"
    assert run("--source", source, "--out", out, "--schema", schema) == 0
    assert json.loads((out / "schema.json").read_text()) == PLANTS.as_dict()
    assert f'"schema": "{out}/schema.json"' in capsys.readouterr().out
    assert _load_evidence("evidence_journals", data=out, schema=PLANTS).documents[0].objects == tuple(row["items"])


def test_what_is_wrong_is_named_and_nothing_is_written(tmp_path, capsys):
    out = tmp_path / "out"
    source = write(tmp_path / "rows.jsonl", [*ROWS, {"text": "No tea.", "items": [TEA]}])
    assert run("--source", source, "--out", out) == 2
    error = capsys.readouterr().err
    assert "rows.jsonl, line 3, object 1: evidence_span 'Had tea' is not verbatim in the text" in error
    assert run("--source", tmp_path / "none", "--out", out) == 2
    assert "no such file or folder" in capsys.readouterr().err
    assert run("--source", EMBEDDED / "evidence_journals", "--out", out) == 2
    assert "the embedded edition stays" in capsys.readouterr().err
    assert not out.exists()
    write(out / "mine.txt", [])
    assert run("--source", write(tmp_path / "rows.jsonl", ROWS), "--out", out) == 2
    assert "not an empty folder" in capsys.readouterr().err
    assert run("--source", tmp_path / "rows.jsonl", "--out", out, "--force") == 0 and (out / "mine.txt").is_file()


def test_timelines_take_no_schema(tmp_path, capsys):
    arguments = ["--source", str(tmp_path), "--out", str(tmp_path / "out"), "--schema", "s.json"]
    assert main(["prepare", "tls_crisis", *arguments]) == 2
    assert "--schema: got s.json, expected none: it belongs to evidence, not to tls_crisis" in capsys.readouterr().err
