"""Data of the report task: rows, the documents that a prompt shows, the order of the sources, the prompt."""

import gzip
import json
from pathlib import Path

import pytest

from tests.data_parts import write_lines
from tls_tasks.core.errors import DataError
from tls_tasks.data.sources import EMBEDDED, EmbeddedEditionWarning
from tls_tasks.reports.data import load_documents, prompt

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

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
    write_folder(folder, nuggets=[*NUGGETS, {"query_id": "r1", "items": []}])  # of two rows of nuggets the first counts
    (doc,) = load_documents(NAME, data=folder, judge={"base_url": "http://h", "model": "m"})
    assert (doc["doc_id"], doc["problem_statement"], doc["limit"]) == ("r1", "Report on rain.", 0)
    assert json.loads(doc["nuggets"]) == NUGGETS[0]
    assert json.loads(doc["judge"]) == {"base_url": "http://h", "model": "m"}


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


@pytest.mark.parametrize(
    ("options", "message"),
    CASES["test_folders_that_are_no_data_are_errors"])  # fmt: skip
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
        assert len(shown) == n_shown and shown[0]["text"] == "Text 0." and doc["documents_left_out"] == 3 - n_shown
    (doc,) = load_documents(NAME, data=folder, context_budget=6)  # the first is cut where it is longer
    assert json.loads(doc["documents"]) == [{"id": "d0", "title": "T0", "text": "Text"}]


# ---- sources


def test_the_embedded_edition_warns_and_says_what_it_is():
    provenance = {}
    with pytest.warns(EmbeddedEditionWarning, match="report_generation runs on the EMBEDDED EDITION"):
        docs = load_documents(NAME, provenance=provenance)
    assert len(provenance.pop("fingerprint")) == 64
    assert provenance == {"edition": "embedded", "origin": str(EMBEDDED / NAME)}
    assert {(doc["edition"], doc["judge"], doc["documents_left_out"]) for doc in docs} == {("embedded", '"none"', 0)}
    assert [len(json.loads(doc["documents"])) for doc in docs] == [22] * 6


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
