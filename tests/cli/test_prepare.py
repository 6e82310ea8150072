"""``tls-tasks prepare``: what it writes in each family, that nothing is lost on the way, and what it refuses."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli import conftest
from tests.data_parts import prepare
from tls_tasks.core.errors import DataError
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.evidence.data import _load_evidence
from tls_tasks.evidence.types import Attribute, EvidenceSchema
from tls_tasks.registry import find_task
from tls_tasks.timelines.data import _load_topics
from tls_tasks.timelines.topics import read_data_set

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

JOURNALS, MEETINGS = CASES["ROWS"]["evidence"], CASES["ROWS"]["summaries"]
PLANTS = EvidenceSchema("plants", ("tree", "herb"), (Attribute("size", {"": "size"}, ("small", "big")),))

# family -> task, what is said of its rows in the JSON file beside, a line of the card
FAMILIES = {
    "evidence": ("evidence_custom", "2 documents, 1 object of the schema journal", "`schema.json` is their"),
    "summaries": ("summ_custom", "2 documents", "`references`, a list of summaries."),
    "trees": ("tree_custom", "1 document", "`schema` and `reference`, both JSON text"),
    "reports": ("report_custom", "1 request, 1 nugget, 2 documents", "path: documents.jsonl"),
}


def write(path, rows):
    """A file of rows, or a folder with several."""
    if isinstance(rows, dict):
        for name, own in rows.items():
            write(path / name, own)
        return path
    return conftest.write(path.with_suffix(".jsonl"), *rows)


def prepared(capsys, name, source, out, *options):
    return conftest.run("prepare", capsys, name, "--source", source, "--out", out, *options)


def front_matter(folder):
    return yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_task_reads_what_was_written(family, tmp_path, capsys):
    task, said, line = FAMILIES[family]
    source, out = write(tmp_path / "source", CASES["ROWS"][family]), tmp_path / "out"
    code, printed, _ = prepared(capsys, family, source, out, "--licence", "cc-by-4.0")
    assert code == 0 and f"{out}: {said}" in printed
    assert f'lm_eval --tasks {task} --metadata \'{{"data": "{out}", "name": "ours"}}\' …' in printed
    before, after = (find_task(task).documents(data=str(place)) for place in (source, out))
    assert before == after
    card = (out / "README.md").read_text(encoding="utf-8")
    assert line in card and f"\n{said}.\n" in card and front_matter(out)["license"] == "cc-by-4.0"


@pytest.mark.parametrize(("family", "rows", "message"), CASES["test_nothing_is_written_of_a_broken_row"])
def test_nothing_is_written_of_a_broken_row(family, rows, message, tmp_path, capsys):
    code, _, err = prepared(capsys, family, write(tmp_path / "source", rows), tmp_path / "out")
    assert code == 2 and message in err and not (tmp_path / "out").exists()


def test_what_is_refused(tmp_path, capsys):
    out, rows = tmp_path / "out", write(tmp_path / "rows", MEETINGS)
    out.mkdir()
    (out / "mine.txt").touch()
    for name, source, options, message in (
        ("summaries", rows, [], "not empty; choose another folder"),
        ("summaries", tmp_path / "none.jsonl", [], "no such file or folder"),
        ("summaries", rows, ["--schema", "s.json"], "--schema: got s.json, expected none: it belongs to evidence"),
        ("tls_crisis", rows, ["--schema", "s.json"], "it belongs to evidence, not to tls_crisis"),
        ("summaries", EMBEDDED / "summ_qmsum", [], "the embedded edition stays"),
        ("evidence", EMBEDDED / "evidence_journals", [], "the embedded edition stays"),
        ("reports", EMBEDDED / "report_generation", [], "the embedded edition stays"),
        ("reports", tmp_path, [], "no requests.jsonl; a folder has requests, documents"),
    ):
        code, _, err = prepared(capsys, name, source, out, *options)
        assert code == 2 and message in err and [path.name for path in out.iterdir()] == ["mine.txt"]


def test_evidence_in_two_files_and_a_schema_of_ones_own(tmp_path, capsys):
    pair = {
        "journals": [{key: row[key] for key in ("journal_id", "text")} for row in JOURNALS],
        "gold": [{key: row[key] for key in ("journal_id", "items")} for row in JOURNALS],
    }
    assert prepared(capsys, "evidence", write(tmp_path / "pair", pair), tmp_path / "journals")[0] == 0
    assert [one.id for one in _load_evidence("evidence_custom", data=tmp_path / "journals").documents] == ["a", "2"]
    schema = tmp_path / "plants.json"
    schema.write_text(json.dumps(PLANTS.as_dict()))
    row = {"text": "A small oak.", "items": [{"domain": "tree", "evidence_span": "small oak", "size": "small"}]}
    source, out = write(tmp_path / "rows", [row]), tmp_path / "out"
    code, printed, _ = prepared(capsys, "evidence", source, out, "--schema", schema)
    assert code == 0 and f'"schema": "{out}/schema.json"' in printed
    assert json.loads((out / "schema.json").read_text()) == PLANTS.as_dict()
    assert _load_evidence("evidence_custom", data=out, schema=PLANTS).documents[0].objects == tuple(row["items"])


def test_rows_stay_as_they_are_to_every_reader(crisis, tmp_path, capsys):
    import datasets
    import pyarrow.parquet as pq

    prepared(capsys, "evidence", write(tmp_path / "rows", JOURNALS), tmp_path / "evidence")
    row = datasets.load_dataset(str(tmp_path / "evidence"), split="test")[0]
    assert json.loads(row["items"]) == JOURNALS[0]["items"] and row["text"] == "Had tea ☕."
    prepare("tls_crisis", crisis, tmp_path / "out")
    schema = pq.read_schema(tmp_path / "out" / "data/test-00000-of-00001.parquet")
    assert str(schema.field("timelines").type).count("string") == 2
    assert schema.metadata is None
    row = datasets.load_dataset(str(tmp_path / "out"), split="test")[0]
    assert row["timelines"][0][0] == {"date": "2011-01-25", "text": ["Protests begin."]}
    assert row["articles"][1] == {"id": "a2", "date": "2011-01-28", "title": "", "sentences": ["The army is in Cairo."]}


# ---- timelines


def test_timelines(crisis, tmp_path, capsys):
    out = tmp_path / "out"
    code, printed, _ = prepared(capsys, "tls_crisis", crisis, out)
    assert code == 0 and "2 topics, 4 timelines, 4 articles" in printed
    assert f'lm_eval --tasks tls_crisis --metadata \'{{"data": "{out}"}}\'' in printed
    assert _load_topics("tls_crisis", data=out).documents == read_data_set(crisis)
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert files == ["README.md", "data/test-00000-of-00001.parquet"]
    assert front_matter(out) == CASES["FRONT_MATTER"]
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "2 topics, 4 timelines, 4 articles." in card
    assert "hf upload ORG/NAME FOLDER . --repo-type dataset" in card


def test_oddities_are_set_right_and_read_back(tmp_path, topic_writer):
    rows = [["2011-02-11 T00:00:00", ["B.\\nC."]], ["2011-01T00:00:00", ["A.", ""]], ["2011-01-01", []]]
    topic_writer(tmp_path / "open" / "Odd_2011.2.11", timelines=[rows], articles=None, keywords=None)
    out = tmp_path / "out"
    prepare("tls_open", tmp_path, out)
    before, after = (_load_topics("tls_open", data=place, need_articles=False).documents for place in (tmp_path, out))
    assert before == after
    assert "lm_eval --tasks tls_open_closed_book " in (out / "README.md").read_text(encoding="utf-8")


def test_a_licence_in_words(crisis, tmp_path):
    licence = 'Ask the "owner": first'
    prepare("tls_crisis", crisis, tmp_path / "out", licence=licence)
    head = front_matter(tmp_path / "out")
    assert (head["license"], head["license_name"]) == ("other", licence)
    assert f"Licence: {licence}." in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_nothing_is_written_when_the_source_is_broken(crisis, tmp_path):
    with pytest.raises(DataError, match="named like tls_crisis"):
        prepare("tls_open", crisis, tmp_path / "out")
    (crisis / "libya" / "timelines.jsonl").write_text("{")
    with pytest.raises(DataError, match=r"libya/timelines\.jsonl, line 1"):
        prepare("tls_crisis", crisis, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "folder", "n_topics", "has_articles"),
    [("tls_crisis", "crisis", 4, True), ("tls_open", "open_tls", 50, False)],
)
def test_real_data_survives(shared_data, tmp_path, name, folder, n_topics, has_articles):
    assert prepare(name, shared_data / folder, tmp_path / "out").startswith(f"{n_topics} topics")
    loaded = _load_topics(name, data=tmp_path / "out", need_articles=has_articles)
    assert loaded.documents == read_data_set(shared_data / folder)
