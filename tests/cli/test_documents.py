"""tls-tasks bundle-docs, build-store, and what --documents takes."""

import pickle

import pytest

from tests.cli.conftest import refused, run, write
from tests.conftest import read_jsonl
from tls_tasks.cli.documents import open_documents
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.documents import look_up
from tls_tasks.reports.store import DocumentStore

FOLDER = EMBEDDED_RECORDING.parent
REPORTS, DOCUMENTS = str(FOLDER / "reports.jsonl"), str(FOLDER / "documents.jsonl")


def bundle(capsys, documents, out):
    """A bundle of what the embedded reports cite; two of the ids are in no collection."""
    code, said, err = run("bundle-docs", capsys, REPORTS, "--documents", documents, "-o", out)
    assert code == 1 and "46 documents of 12 reports" in said
    assert "in no collection: city-77" in err and "coast-99" in err
    return out


@pytest.fixture
def store(tmp_path, capsys):
    path = tmp_path / "coast.sqlite"
    assert run("build-store", capsys, DOCUMENTS, "-o", path) == (0, f"{path}: 66 documents\n", "")
    return path


def test_a_bundle_holds_the_cited_documents_only(tmp_path, capsys):
    out = bundle(capsys, DOCUMENTS, tmp_path / "cited.jsonl")
    assert len(read_jsonl(out)) == len({row["id"] for row in read_jsonl(out)}) == 46
    assert bundle(capsys, out, tmp_path / "again.jsonl").read_bytes() == out.read_bytes()


def test_a_store_and_a_bundle_from_it(store, tmp_path, capsys):
    assert DocumentStore(store)["city-01"]["title"] == "Trial of light for night shifts begins"
    assert len(read_jsonl(bundle(capsys, store, tmp_path / "b.jsonl"))) == 46


TALKS = {"d1": {"title": "Talks", "text": "They ended."}}


def test_a_look_up_pickle_is_read_as_it_is_and_becomes_a_store(tmp_path, capsys):
    path, out = tmp_path / "doc_mapping_neuclir_1_zh.pkl", tmp_path / "zh.sqlite"
    path.write_bytes(pickle.dumps(TALKS))
    assert open_documents([str(path)]) == TALKS
    assert run("build-store", capsys, path, "-o", out)[0] == 0 and DocumentStore(out)["d1"] == TALKS["d1"]
    path.write_bytes(pickle.dumps({"d1": pytest.approx}))
    refused("build-store", capsys, path, "-o", tmp_path / "x.sqlite", said="asks for _pytest.")
    assert not (tmp_path / "x.sqlite").exists()
    with pytest.raises(DataError, match=r"asks for _pytest\."):
        open_documents([str(path)])


@pytest.mark.parametrize("source", ["nowhere.jsonl", "nowhere.txt", "nowhere.parquet"])
def test_sources_that_can_not_be_read(tmp_path, capsys, source):
    refused("build-store", capsys, source, "-o", tmp_path / "x.sqlite", said=source)
    assert list(tmp_path.iterdir()) == []


# ---- --documents


def test_one_place_is_a_bundle_or_a_store(store):
    for place in (DOCUMENTS, str(store)):
        find = look_up(open_documents([place]))
        assert find(["embedded/coast"], "coast-01").startswith("Title: Seagrass mapped from the air\n\nContent: ")
        assert find(["embedded/coast"], "coast-99") is None


def test_several_collections_have_names(tmp_path):
    for name in ("zh", "ru"):
        write(tmp_path / f"{name}.jsonl", {"id": "d1", "text": f"In {name}."})
    places = [f"neuclir/1/{name}={tmp_path / name}.jsonl" for name in ("zh", "ru")]
    find = look_up(open_documents(places))
    assert find(["neuclir/1/rus"], "d1") == "In ru." and find(["neuclir/1/zho"], "d1") == "In zh."
    assert look_up(open_documents([f"embedded/city={DOCUMENTS}"]))(["embedded/city"], "coast-01") is None
    for wrong in ([*places, places[0]], [places[0], str(tmp_path / "ru.jsonl")]):
        with pytest.raises(InputError, match=r"--documents: got .*expected COLLECTION=PATH, each collection once"):
            open_documents(wrong)
