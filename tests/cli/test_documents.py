"""tls-tasks bundle-docs, build-store, and what --documents takes."""

import json
import pickle

import pytest

from tls_tasks.cli import main
from tls_tasks.cli.documents import open_documents
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.documents import look_up
from tls_tasks.reports.judges.store import DocumentStore

FOLDER = EMBEDDED_RECORDING.parent
REPORTS, DOCUMENTS = str(FOLDER / "reports.jsonl"), str(FOLDER / "documents.jsonl")


def ids(path):
    return [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_bundle_holds_the_cited_documents_only(tmp_path, capsys):
    out = tmp_path / "cited.jsonl"
    assert main(["bundle-docs", REPORTS, "--documents", DOCUMENTS, "-o", str(out)]) == 1  # two ids are in no collection
    said = capsys.readouterr()
    assert "46 documents of 12 reports" in said.out
    assert "in no collection: city-77" in said.err and "coast-99" in said.err
    assert len(ids(out)) == len(set(ids(out))) == 46
    assert main(["bundle-docs", REPORTS, "--documents", str(out), "-o", str(tmp_path / "again.jsonl")]) == 1
    assert (tmp_path / "again.jsonl").read_bytes() == out.read_bytes()


def test_a_store_and_a_bundle_from_it(tmp_path, capsys):
    store = tmp_path / "coast.sqlite"
    assert main(["build-store", DOCUMENTS, "-o", str(store)]) == 0
    assert capsys.readouterr().out == f"{store}: 66 documents\n"
    assert DocumentStore(store)["city-01"]["title"] == "Trial of light for night shifts begins"
    assert main(["bundle-docs", REPORTS, "--documents", str(store), "-o", str(tmp_path / "b.jsonl")]) == 1
    assert len(ids(tmp_path / "b.jsonl")) == 46


def test_a_look_up_pickle_becomes_a_store(tmp_path, capsys):
    path = tmp_path / "doc_mapping_neuclir_1_zh.pkl"
    path.write_bytes(pickle.dumps({"d1": {"title": "Talks", "text": "They ended."}}))
    out = tmp_path / "zh.sqlite"
    assert main(["build-store", str(path), "-o", str(out)]) == 0
    assert DocumentStore(out)["d1"] == {"title": "Talks", "text": "They ended."}
    path.write_bytes(pickle.dumps({"d1": pytest.approx}))
    assert main(["build-store", str(path), "-o", str(tmp_path / "x.sqlite")]) == 2
    assert not (tmp_path / "x.sqlite").exists()
    assert "asks for _pytest." in capsys.readouterr().err


@pytest.mark.parametrize("source", ["nowhere.jsonl", "nowhere.txt", "nowhere.parquet"])
def test_sources_that_can_not_be_read(tmp_path, capsys, source):
    assert main(["build-store", source, "-o", str(tmp_path / "x.sqlite")]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and list(tmp_path.iterdir()) == []


# ---- --documents


def test_one_place_is_a_bundle_or_a_store(tmp_path):
    main(["build-store", DOCUMENTS, "-o", str(tmp_path / "s.sqlite")])
    for place in (DOCUMENTS, str(tmp_path / "s.sqlite")):
        find = look_up(open_documents([place]))
        assert find(["embedded/coast"], "coast-01").startswith("Title: Seagrass mapped from the air\n\nContent: ")
        assert find(["embedded/coast"], "coast-99") is None


def test_several_collections_have_names(tmp_path):
    for name in ("zh", "ru"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "d1", "text": f"In {name}."}) + "\n")
    places = [f"neuclir/1/{name}={tmp_path / name}.jsonl" for name in ("zh", "ru")]
    find = look_up(open_documents(places))
    assert find(["neuclir/1/rus"], "d1") == "In ru." and find(["neuclir/1/zho"], "d1") == "In zh."
    assert look_up(open_documents([f"embedded/city={DOCUMENTS}"]))(["embedded/city"], "coast-01") is None
    for wrong in ([*places, places[0]], [places[0], str(tmp_path / "ru.jsonl")]):
        with pytest.raises(InputError, match=r"--documents: got .*expected COLLECTION=PATH, each collection once"):
            open_documents(wrong)


def test_a_look_up_pickle_is_read_as_it_is(tmp_path):
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps({"d1": {"title": "Talks", "text": "They ended."}}))
    assert open_documents([str(path)]) == {"d1": {"title": "Talks", "text": "They ended."}}
    path.write_bytes(pickle.dumps({"d1": pytest.approx}))
    with pytest.raises(DataError, match=r"asks for _pytest\."):
        open_documents([str(path)])
