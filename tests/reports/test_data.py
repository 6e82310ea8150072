"""Data of the report task: rows, the documents that a prompt shows, the order of the sources, the prompt."""

import gzip
import json

import pytest

from tests.data_parts import write_lines
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.data.order import DATA_VARIABLE, EMBEDDED, EmbeddedEditionWarning
from tls_tasks.reports.data import load_documents, prompt

pytestmark = pytest.mark.usefixtures("isolated")

NAME = "report_generation"
REQUEST = {"request_id": "r1", "problem_statement": "Report on rain."}
DOCUMENTS = [{"id": f"d{number}", "title": f"T{number}", "text": f"Text {number}."} for number in range(3)]
NUGGETS = [{"query_id": "r1", "items": [{"question_text": "q", "gold_answers": ["a"]}]}]


def write_folder(folder, requests=(REQUEST,), documents=DOCUMENTS, nuggets=NUGGETS, ending=".jsonl"):
    for name, rows in (("requests", requests), ("documents", documents), ("nuggets", nuggets)):
        if rows is not None:
            write_lines(folder / f"{name}{ending}", rows)
    return folder


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "mine")


def shown_ids(loaded):
    return [[document["id"] for document in json.loads(doc["documents"])] for doc in loaded]


# ---- rows


def test_a_request_keeps_its_parts_and_finds_its_nuggets(folder):
    (doc,) = load_documents(NAME, data=folder)
    assert (doc["doc_id"], doc["problem_statement"], doc["limit"]) == ("r1", "Report on rain.", 0)
    assert json.loads(doc["nuggets"]) == NUGGETS[0]


@pytest.mark.parametrize("name", ["request_id", "topic_id", "query_id", "id"])
def test_every_name_of_the_id_is_read_and_numbers_are_ids(tmp_path, name):
    write_folder(tmp_path, [{name: 300, "problem statement": "x"}], nuggets=[{"query_id": "300", "items": []}])
    (doc,) = load_documents(NAME, data=tmp_path)
    assert doc["doc_id"] == "300" and doc["nuggets"]


def test_packed_files_and_requests_without_nuggets(tmp_path):
    write_folder(tmp_path, nuggets=None, ending=".jsonl.gz")
    assert gzip.decompress((tmp_path / "requests.jsonl.gz").read_bytes())
    loaded = load_documents(NAME, data=tmp_path)
    assert loaded[0]["nuggets"] == "" and shown_ids(loaded) == [["d0", "d1", "d2"]]


def test_of_two_rows_of_nuggets_the_first_counts(tmp_path):
    write_folder(tmp_path, nuggets=[*NUGGETS, {"query_id": "r1", "items": []}])
    assert json.loads(load_documents(NAME, data=tmp_path)[0]["nuggets"]) == NUGGETS[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"requests": None}, "no requests.jsonl"),
        ({"requests": []}, "no request in requests.jsonl"),
        ({"requests": ["r1"]}, "requests.jsonl, line 1: got str, expected an object"),
        ({"requests": [REQUEST, {"request_id": "r2"}]}, "line 2: no field problem_statement or problem stat"),
        ({"requests": [{"problem_statement": "x"}]}, "line 1: no field request_id or topic_id"),
        ({"requests": [{**REQUEST, "limit": 0}]}, "limit must be a whole number above 0, got int"),
        ({"requests": [{**REQUEST, "limit": "10"}]}, "limit must be a whole number, got str"),
        ({"requests": [{**REQUEST, "doc_ids": "d1"}]}, "doc_ids must be a list, got str"),
        ({"requests": [{**REQUEST, "collection_ids": ["a", "b"]}]}, "collection_ids must be text, got list"),
        ({"requests": [REQUEST, REQUEST]}, "2 requests have the id 'r1', expected one"),
        ({"requests": [{**REQUEST, "doc_ids": ["d1", "d9"]}]}, "request r1: no document 'd9' in documents.jsonl"),
        ({"requests": [{**REQUEST, "collection_id": "c"}], "documents": [{**DOCUMENTS[0], "collection": "b"}]},
         "request r1: no document of the collection 'c'"),
        ({"documents": None}, "no documents.jsonl"),
        ({"documents": [{"id": "d"}]}, "documents.jsonl, line 1: no field text; there are id"),
        ({"documents": [DOCUMENTS[0], DOCUMENTS[0]]}, "line 2: a second document with the id 'd0'"),
        ({"nuggets": [{"items": []}]}, "nuggets.jsonl, line 1: no field query_id or"),
    ],
)  # fmt: skip
def test_folders_that_are_no_data_are_errors(tmp_path, options, message):
    with pytest.raises(DataError, match=message):
        load_documents(NAME, data=write_folder(tmp_path, **options))


# ---- the documents of a prompt


def test_a_request_shows_the_documents_that_it_names_in_its_order(tmp_path):
    write_folder(tmp_path, [{**REQUEST, "doc_ids": ["d2", "d0", "d2"]}, {**REQUEST, "request_id": "r2"}])
    assert shown_ids(load_documents(NAME, data=tmp_path)) == [["d2", "d0"], ["d0", "d1", "d2"]]


def test_a_request_shows_its_own_collection(tmp_path):
    names = ("ru", "zho", "rus")
    documents = [{**one, "collection": f"neuclir/1/{name}"} for one, name in zip(DOCUMENTS, names, strict=True)]
    write_folder(tmp_path, [{**REQUEST, "collection_id": "neuclir/1/rus"}], documents)
    assert shown_ids(load_documents(NAME, data=tmp_path)) == [["d0", "d2"]]


def test_documents_beyond_the_budget_are_left_out_whole(folder):
    size = len("T0") + len("Text 0.")
    for budget, n_shown in ((size, 1), (2 * size - 1, 1), (2 * size, 2), (100, 3)):
        (doc,) = load_documents(NAME, data=folder, context_budget=budget)
        shown = json.loads(doc["documents"])
        assert len(shown) == n_shown and shown[0]["text"] == "Text 0."


def test_a_document_longer_than_the_budget_is_cut_when_it_is_the_first(folder):
    (doc,) = load_documents(NAME, data=folder, context_budget=6)
    assert json.loads(doc["documents"]) == [{"id": "d0", "title": "T0", "text": "Text"}]


def test_what_is_left_out_is_counted(folder):
    (doc,) = load_documents(NAME, data=folder, context_budget=10)
    assert doc["documents_left_out"] >= 1


# ---- sources


def test_the_embedded_edition_warns_and_says_what_it_is():
    provenance = {}
    with pytest.warns(EmbeddedEditionWarning, match="report_generation runs on the EMBEDDED EDITION"):
        docs = load_documents(NAME, provenance=provenance)
    assert len(provenance.pop("fingerprint")) == 64
    assert provenance == {"edition": "embedded", "origin": str(EMBEDDED / NAME)}
    assert {(doc["edition"], doc["judge"], doc["documents_left_out"]) for doc in docs} == {("embedded", '"none"', 0)}
    assert [len(json.loads(doc["documents"])) for doc in docs] == [22] * 6


@pytest.mark.parametrize("name", ["reports", "report_generation"])
def test_the_folder_of_the_environment_is_found(tmp_path, monkeypatch, name):
    write_folder(tmp_path / name)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    for options in ({}, {"data": tmp_path}):
        provenance = {}
        load_documents(NAME, provenance=provenance, **options)
        assert len(provenance.pop("fingerprint")) == 64
        assert provenance == {"edition": "local", "origin": str(tmp_path / name), "data": "unknown data"}


@pytest.mark.filterwarnings("ignore")
def test_an_environment_without_reports_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert load_documents(NAME)[0]["edition"] == "embedded"


def test_what_is_named_must_work(tmp_path):
    for data in (tmp_path / "nothing", "org/name"):
        with pytest.raises(DataError, match=r"is not a folder with requests.jsonl"):
            load_documents(NAME, data=data)
    with pytest.raises(DataError, match="it has no source on the hub"):
        load_documents(NAME, edition="hub")
    with pytest.raises(OptionError, match="data set: got 'reports'"):
        load_documents("reports")
    for budget in (0, True, "9"):
        with pytest.raises(InputError, match="context_budget: got"):
            load_documents(NAME, context_budget=budget)


# ---- the prompt


def test_the_prompt_numbers_the_documents_and_asks_last(folder):
    (doc,) = load_documents(NAME, data=folder)
    text = prompt({**doc, "limit": 500, "background": "I am a teacher."})
    assert text.startswith("<documents>\n[1] T0\nText 0.\n\n[2] T1\nText 1.\n\n[3] T2\nText 2.\n</documents>\n\n")
    assert text.endswith("Write only the report.\n\nReport:")
    assert (
        "Background: I am a teacher.\nReport on rain.\n" in text
        and "at most 500 characters, which is about 80 words" in text
    )
    assert "characters" not in prompt(doc)


def test_the_judge_travels_with_the_documents(folder):
    (doc,) = load_documents(NAME, data=folder, judge={"base_url": "http://h", "model": "m"})
    assert json.loads(doc["judge"]) == {"base_url": "http://h", "model": "m"}
