"""Summaries that people rated: fetched from a mirror, read by the commands, and measured by ``make people``."""

import csv
import json
import shutil

import pytest

from scripts import make_people_tables
from tests.conftest import ROOT
from tests.data.test_fetched import entry
from tls_tasks.cli import main
from tls_tasks.data.fetched import public_copy
from tls_tasks.registry import METRICS
from tls_tasks.summaries.public_files import RATED

pytestmark = pytest.mark.usefixtures("isolated")

SENTENCES = (
    "Dogs bark at night.",
    "Cats sleep all day.",
    "Birds sing in spring.",
    "Fish swim in the lake.",
    "Mice hide.",
)
SOURCE = " ".join(SENTENCES)


@pytest.fixture
def rated(mirror, monkeypatch):
    """Five systems, each with a sentence more than the one before, on three articles; and QAGS of both kinds."""
    experts = [[{"relevance": n + e, "fluency": 5 - n} for e in range(3)] for n in range(5)]
    files = {"summeval": {}, "qags": {}}
    for n in range(5):
        rows = [
            {"id": f"d{d}", "model_id": f"M{n}", "text": SOURCE, "decoded": " ".join(SENTENCES[: n + 1]),
             "references": [SOURCE, f"{SENTENCES[d]} And more."], "expert_annotations": experts[n]}
            for d in range(3)
        ]  # fmt: skip
        files["summeval"][f"M{n}_annotations.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
    for kind in ("cnndm", "xsum"):
        texts = [SENTENCES[0], f"{SENTENCES[1]} Pigs can fly over houses.", "Pigs can fly over houses."]
        rows = [
            {"doc_id": d, "source": SOURCE, "reference": SOURCE, "system_output": text,
             "scores": {"consistency": 1 - d / 2}}
            for d, text in enumerate(texts)
        ]  # fmt: skip
        files["qags"][f"fact/qags_{kind}.json"] = json.dumps(rows)
    for name, own in files.items():
        source = entry({path: text.encode() for path, text in own.items()}, f"lab/{name}", "ratings", "MIT")
        mirror.files |= {f"lab/{name}/{source['commit']}/{path}": text.encode() for path, text in own.items()}
        given = {**RATED[name].settings, "sources": [source]}
        monkeypatch.setitem(RATED, name, public_copy(name, given, RATED[name].maker))
    return RATED


def test_what_is_pinned():
    assert {name: len(copy.sources[0].files) for name, copy in RATED.items()} == {"summeval": 12, "qags": 2}
    for copy in RATED.values():
        (source,) = copy.sources
        assert len(source.commit) == 40 and "MIT" in source.licence and source.holds == "ratings"
        assert all(len(file.sha256) == 64 and file.bytes > 100_000 for file in source.files)


def test_the_command_then_meta_then_compare(rated, mirror, capsys, monkeypatch):
    assert main(["fetch", "summeval"]) == 0
    out = capsys.readouterr().out
    folder = rated["summeval"].folder
    assert "5 files" in out and "ratings from lab/summeval@" in out and "licence: MIT" in out
    assert f"try it: cd {folder} && tls-tasks meta M8=M8" in out
    with (folder / "people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5 * 3 * 3 * 2
    assert rows[0] == {"system": "M0", "id": "d0", "aspect": "relevance", "rating": "0", "rater": "expert 1"}
    monkeypatch.chdir(folder)
    systems = [f"M{n}=M{n}" for n in range(5)]
    assert main(["meta", *systems, "--people", "people.csv", "--metric", "rouge_l_f1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["aspects"]
    taus = {aspect: own["metrics"]["rouge_l_f1"]["by_system"]["tau_b"] for aspect, own in found.items()}
    assert taus == {"relevance": 1, "fluency": -1}
    assert main(["compare", "M0", "M1", "--metric", "rouge_l_f1"]) == 0
    table, _, after = capsys.readouterr().out.partition("\nrouge_l and people: ")
    assert table.splitlines()[-1].startswith("rouge_l_f1") and after.startswith(METRICS["rouge_l"].people)
    (folder / "M0" / "notes.txt").write_text("mine")
    assert main(["fetch", "summeval"]) == 0 and len(mirror.asked) == 5, "it is there, whatever lies beside it"


def test_one_answer_a_document(rated, capsys, monkeypatch):
    """People and the score order each system's answers alike; no document has two answers to order."""
    assert main(["fetch", "qags"]) == 0
    monkeypatch.chdir(rated["qags"].folder)
    capsys.readouterr()
    told = ["cnndm=cnndm", "xsum=xsum", "--people", "people.csv", "--metric", "rouge_l_precision", "--json"]
    assert main(["meta", *told]) == 0
    own = json.loads(capsys.readouterr().out)["aspects"]["consistency"]["metrics"]["rouge_l_precision"]
    assert own["by_document"]["tau_b"] is None and own["within_system"]["tau_b"] == 1
    assert json.loads(next(iter((rated["qags"].folder / "xsum").iterdir())).read_text().splitlines()[0])["doc"]["text"]


def test_all_leaves_them_out(rated, mirror, capsys, monkeypatch):
    monkeypatch.setattr("tls_tasks.cli.listing.PUBLIC", {})
    assert main(["fetch", "all"]) == 0
    assert mirror.asked == []
    capsys.readouterr()
    assert main(["list", "--obtain"]) == 0
    assert "\nqags: tls-tasks fetch qags; or get ratings from lab/qags@" in capsys.readouterr().out


@pytest.mark.slow
def test_what_make_people_writes(rated, mirror, capsys, monkeypatch, tmp_path):
    """All of it from a mirror, into copies; Timeline17, which the mirror lacks, stays as it was, by name."""
    for name in ("metrics", "docs", "tls_tasks/data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("ROOT", "PAGE", "PEOPLE"):
        place = getattr(make_people_tables, name)
        monkeypatch.setattr(make_people_tables, name, tmp_path / place.relative_to(ROOT))
    for copy in rated.values():  # the systems that there are
        systems = "M0=M0 M1=M1 M2=M2 M3=M3 M4=M4" if copy.name == "summeval" else "cnndm=cnndm xsum=xsum"
        copy.settings["try"] = f"cd {{folder}} && tls-tasks meta {systems} --people people.csv"
    monkeypatch.setattr("sys.argv", ["make_people_tables.py", "--measure"])
    assert make_people_tables.main() == 0
    assert "timeline17: left as it was: " in capsys.readouterr().out
    known = json.loads((tmp_path / "tls_tasks/data/people.json").read_text(encoding="utf-8"))
    assert "rho with people's consistency 1.00 [" in known["report_eval"]["measured"]
    page = (tmp_path / "docs/people.md").read_text(encoding="utf-8")
    for line in (
        "people's relevance (5 systems, 3 documents)  rouge_l_f1",
        "within system                            ",
    ):
        assert f"\n{line}" in page
    assert "(5 systems, 3 documents, relevance)" in (tmp_path / "metrics/rouge_l/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", METRICS.values(), ids=list(METRICS))
def test_each_card_says_what_is_known(spec):
    card = (ROOT / "metrics" / spec.name / "README.md").read_text(encoding="utf-8")
    assert spec.people and f"- How large a difference means something: {spec.people}." in card
    assert "- Measured by us" in card or "- No public human judgements exist" in card


@pytest.mark.slow
def test_compare_says_it_of_each_metric(made_runs, capsys):
    main(["compare", str(made_runs / "base"), str(made_runs / "noisy"), "--permutations", "10"])
    out = capsys.readouterr().out
    assert [name for name in METRICS if f"\n{name} and people: {METRICS[name].people}\n" not in out] == []
