"""Documents: files, bundles, stores and look-up pickles, and what is wrong with them."""

import copyreg
import gzip
import json
import os
import pickle
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pandas
import pytest

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.reports.documents import LookUp, canonical_collection, look_up, read_bundle, read_documents, write_bundle
from tls_tasks.reports.store import DocumentStore, build_store
from tls_tasks.reports.types import Report, ReportSentence

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
DOCUMENTS = {
    "d1": {"title": "Talks", "text": "They ended."},
    "d2": {"title": "", "text": "Переговоры закончились. " * 50},
    "d 3/ü": {"title": "谈判", "text": ""},
    "d4": {"title": "half \ud800", "text": "a pair \udfff"},
}


def report(*cited, collections=()):
    return Report("1", "run", tuple(collections), tuple(ReportSentence("s", tuple(ids)) for ids in cited))


def write_json(path, documents, **names):
    rows = [{names.get("id", "id"): doc_id, **document} for doc_id, document in documents.items()]
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


# --- stores ---


def test_a_store_is_a_mapping(tmp_path):
    path = tmp_path / "new folder ?#%" / "store.sqlite"
    assert build_store(path, DOCUMENTS.items()) == 4
    store = DocumentStore(path)
    assert dict(store) == DOCUMENTS and list(store) == list(DOCUMENTS) and len(store) == 4
    for absent in ("d5", "", 1, None, "\ud800", "D1", "d1 "):
        assert absent not in store and store.get(absent) is None
    with pytest.raises(KeyError, match="d5"):
        store["d5"]
    assert [file.name for file in path.parent.iterdir()] == ["store.sqlite"]
    assert look_up({"neuclir/1/zh": store})(["neuclir/1/zho"], "d1") == "Title: Talks\n\nContent: They ended."
    assert look_up(store)([], "d1") and look_up(store)([], "d5") is None


def test_threads_and_forks_share_a_store(tmp_path):
    build_store(tmp_path / "s", DOCUMENTS.items())
    store = DocumentStore(tmp_path / "s")
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: dict(store), range(4))) == [DOCUMENTS] * 4
    child = os.fork()
    if not child:
        os._exit(0 if store["d1"] == DOCUMENTS["d1"] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_store_that_cannot_be_built_leaves_the_old_one(tmp_path):
    path = tmp_path / "s"
    build_store(path, [("old", {"text": "t"})])
    with pytest.raises(DataError, match="document 'twice' comes twice"):
        build_store(path, [("twice", {"text": "a"}), ("b", {"text": "b"}), ("twice", {"text": "c"})])

    def broken():
        yield "a", {"text": "t"}
        raise DataError("row 2 is none")

    with pytest.raises(DataError, match="row 2 is none"):
        build_store(path, broken())
    assert list(DocumentStore(path)) == ["old"] and [file.name for file in tmp_path.iterdir()] == ["s"]
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file/s: not a directory"):
        build_store(tmp_path / "file" / "s", [])


def test_what_is_no_store_is_named(tmp_path):
    def refused(name, message, doc_id=""):
        with pytest.raises(DataError, match=message):
            DocumentStore(tmp_path / name).get(doc_id)

    refused("none", "no such file; tls-tasks build-store makes one")
    (tmp_path / "text").write_text("no database " * 100)
    refused("text", "text: store of documents: file is not a database")
    build_store(tmp_path / "s", [("d1", {"text": "t"})])
    for name, statement in (("other", "CREATE TABLE verdicts (request)"), ("s", "UPDATE documents SET packed = x'00'")):
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            connection.execute(statement)
            connection.commit()
    refused("other", "other: store of documents: no such table")
    refused("s", r"s: store of documents: document 'd1': damaged: .*; build it again: tls-tasks build-store", "d1")
    whole = (tmp_path / "s").read_bytes()
    (tmp_path / "s").write_bytes(whole[:-10] + whole[-10:].replace(b"d1", b"d3"))  # where the index keeps the id
    refused("s", r"document 'd1': damaged: row 1 missing from index by_id; build it again", "d1")


# --- sources ---


def test_documents_are_read_from_json_lines_and_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = {doc_id: document for doc_id, document in DOCUMENTS.items() if doc_id != "d4"}
    assert dict(read_documents(write_json(tmp_path / "a.jsonl", DOCUMENTS))) == DOCUMENTS
    assert dict(read_documents(str(write_json(tmp_path / "b.jsonl.gz", DOCUMENTS, id="doc_id")))) == DOCUMENTS
    rows = [{"docid": doc_id, "title": one["title"], "contents": one["text"], "n": 1} for doc_id, one in plain.items()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "c.parquet")
    assert dict(read_documents(tmp_path / "c.parquet")) == plain
    assert list(read_documents(write_json(tmp_path / "d.jsonl", {"d": {"text": "t", "title": None}}))) == [
        ("d", {"title": "", "text": "t"})
    ]


@pytest.mark.parametrize(("name", "content", "message"), CASES["test_sources_that_do_not_fit_are_named"])
def test_sources_that_do_not_fit_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        list(read_documents(tmp_path / name))
    with pytest.raises(DataError):
        list(read_documents(tmp_path / "none" / name))


# --- bundles ---


def test_a_bundle_has_each_cited_document_once(tmp_path):
    reports = [report(["d2", "d1"], [], ["d2"]), report(["d4", "nowhere"], ["d1"])]
    for documents in (DOCUMENTS, lambda _, doc_id: DOCUMENTS.get(doc_id)):
        assert write_bundle(tmp_path / "new" / "b.jsonl", reports, documents) == (3, ("nowhere",))
        bundle = read_bundle(tmp_path / "new" / "b.jsonl")
        assert bundle == {doc_id: DOCUMENTS[doc_id] for doc_id in ("d2", "d1", "d4")}
        assert list(bundle) == ["d2", "d1", "d4"]
    assert write_bundle(tmp_path / "b", [report(["t"])], {"t": "just text"}) == (1, ())
    assert read_bundle(tmp_path / "b") == {"t": {"title": "", "text": "just text"}}
    assert write_bundle(tmp_path / "b", [], DOCUMENTS) == (0, ()) and read_bundle(tmp_path / "b") == {}


def test_a_bundle_keeps_collections_apart(tmp_path):
    documents = {"neuclir/1/rus": {"d1": "Russian"}, "neuclir/1/zh": {"d1": "Chinese", "d2": "Chinese too"}}
    reports = [
        report(["d1"], collections=["neuclir/1/ru"]),
        report(["d1", "d2"], collections=["neuclir/1/zho", "neuclir/1/rus"]),
        report(["d1"], collections=["neuclir/1/fas"]),
        report(["d2"]),
    ]
    assert write_bundle(tmp_path / "b", reports, documents) == (3, ("d1",))
    bundle = read_bundle(tmp_path / "b")
    assert {name: {doc_id: one["text"] for doc_id, one in docs.items()} for name, docs in bundle.items()} == {
        "neuclir/1/ru": {"d1": "Russian"},
        "neuclir/1/zh": {"d1": "Chinese", "d2": "Chinese too"},
    }
    before, after = look_up(documents), look_up(bundle)
    for one in reports:
        for doc_id in ("d1", "d2", "d3"):
            assert before(one.collection_ids, doc_id) == after(one.collection_ids, doc_id)


@pytest.mark.parametrize(("lines", "message"), CASES["test_bundles_that_do_not_fit_are_named"])
def test_bundles_that_do_not_fit_are_named(tmp_path, lines, message):
    (tmp_path / "b").write_text("\n".join(lines))
    with pytest.raises(DataError, match=message):
        read_bundle(tmp_path / "b")


# --- look-up pickles ---


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_look_up_pickles_are_read(tmp_path, protocol):
    shared = "the same object"
    lookup = {**{doc_id: one for doc_id, one in DOCUMENTS.items() if doc_id != "d4" or protocol}}
    lookup |= {f"n{number}": {"title": shared, "text": f"{shared} {number}"} for number in range(2500)}
    lookup["again"] = lookup["d1"]
    path = tmp_path / "doc_mapping_neuclir_1_zh.pkl"
    path.write_bytes(pickle.dumps(lookup, protocol))
    assert build_store(tmp_path / "s", read_documents(path)) == len(lookup)
    assert dict(DocumentStore(tmp_path / "s")) == lookup


@pytest.mark.parametrize(
    "content", [b"", b"].", b"}(K\x01u.", b"I99999999999999x\n.", pickle.dumps([1, 2]), pickle.dumps({1: "a"})]
)
def test_damaged_pickles_are_named(tmp_path, content):
    (tmp_path / "l.pkl").write_bytes(content)
    with pytest.raises(DataError, match=r"l\.pkl"):
        list(read_documents(tmp_path / "l.pkl"))


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


class Slots:
    def __init__(self):
        self.text = "t"


class Persistent(pickle.Pickler):
    def persistent_id(self, value):
        return "id" if value is os else None


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "value", [Evil(), Slots(), os.mkdir, len, os, pickle.PickleBuffer], ids=lambda value: str(type(value))
)
def test_a_pickle_that_asks_for_code_is_refused_and_nothing_runs(tmp_path, monkeypatch, protocol, value):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "l.pkl"
    with path.open("wb") as file:
        Persistent(file, protocol).dump({"d1": {"title": "t", "text": "t"}, "d2": value})
    with pytest.raises(DataError, match=r"l\.pkl: .*(asks for .*nothing in it was run|persistent)"):
        list(read_documents(path))
    assert not (tmp_path / "evil").exists()


def test_functions_that_the_extension_registry_knows_are_refused_too(tmp_path):
    copyreg.add_extension("subprocess", "call", 242)
    try:
        (tmp_path / "l.pkl").write_bytes(pickle.dumps({"d1": subprocess.call}, 2))
        assert b"subprocess" not in (tmp_path / "l.pkl").read_bytes()
        with pytest.raises(DataError, match=r"l\.pkl: .*asks for subprocess\.call"):
            list(read_documents(tmp_path / "l.pkl"))
    finally:
        copyreg.remove_extension("subprocess", "call", 242)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", 3, None, {"title": "t"}], ids=repr)
def test_plain_data_that_is_no_document_is_named(tmp_path, value):
    (tmp_path / "l.pkl").write_bytes(pickle.dumps({"d2": value}, 4))
    with pytest.raises(DataError, match=r"l\.pkl.*'d2'.*(text.* must be|no field text)"):
        list(read_documents(tmp_path / "l.pkl"))


# LONG_BINPUT and PUT (r, p) may make the unpickler reserve gigabytes for a number of their choice.


# --- the look-up of cited documents over whatever a caller has ---

FLAT = {"d1": "one", "d2": {"text": "two", "title": "T", "url": "x"}, "d3": {"text": ""}}
NESTED = {"c1": FLAT, "neuclir/1/rus": {"r1": "три"}, "empty": {}}


def test_flat_documents_are_found_in_any_collection():
    find = look_up(FLAT)
    assert [find(ids, "d1") for ids in ([], ["c1"], ["c1", "c2"])] == ["one"] * 3
    assert find([], "d2") == "Title: T\n\nContent: two" and find([], "d3") == "" and find([], "d4") is None
    assert find.collections is None and look_up(find) is find and isinstance(find, LookUp)
    assert look_up({})(["c"], "d") is None


def test_nested_documents_are_found_in_the_collections_that_a_report_names():
    find = look_up(NESTED)
    assert find(["c1"], "d1") == "one" and find(["empty", "c1"], "d1") == "one"
    assert find(["empty"], "d1") is None and find(["c3"], "d1") is None
    assert find([], "d1") == "one" and find((), "r1") == "три"
    assert find(["neuclir/1/ru"], "r1") == find(["neuclir/1/rus"], "r1") == "три"
    assert find.collections == ("c1", "neuclir/1/ru", "empty")


def test_only_listed_spellings_are_the_same_collection():
    assert [canonical_collection(f"neuclir/1/{name}") for name in ("zho", "fas", "rus", "zh", "deu")] == [
        f"neuclir/1/{name}" for name in ("zh", "fa", "ru", "zh", "deu")
    ]
    assert canonical_collection("rus") == "rus" and canonical_collection("neuclir/1/rusty") == "neuclir/1/rusty"


def test_functions_and_objects_with_keys_and_get_are_look_ups():
    find = look_up(lambda collection_ids, doc_id: f"{collection_ids}{doc_id}" if doc_id == "d" else None)
    assert find(["c"], "d") == "['c']d" and find([], "e") is None

    class Rows:
        def keys(self):
            return iter(["d"])

        def get(self, doc_id):
            return {"text": "t"} if doc_id == "d" else None

    assert look_up(Rows())([], "d") == "t"


@pytest.mark.parametrize("documents", [None, "d1", 3, ["d1"], [{"id": "d1"}]])
def test_what_is_none_is_named(documents):
    with pytest.raises(InputError, match=r"documents: got .*, expected a mapping of document ids"):
        look_up(documents)


@pytest.mark.parametrize("document", [3, [], {"title": "t"}, {"text": None}, {"text": "t", "title": 1}, b"t"])
def test_a_document_that_is_none_is_named_where_it_is_cited(document):
    find = look_up({"good": "text", "bad": document})
    assert find([], "good") == "text"
    with pytest.raises(InputError, match=r"documents\['bad'\]: got .*, expected a str, or a mapping with a str 'text'"):
        find([], "bad")


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        ({"d1": None}, r"documents\['d1'\]: got None, expected a str.*; leave out"),
        ({"d1": "text", 2: None}, r"documents\[2\]: got None"),
        ({"id": ["d1"], "text": ["t"]}, r"documents: got columns \(\['id', 'text'\]\), .* such as dict\(zip\("),
        ({"c": {"d1": "text", "d2": None}}, r"documents\['d2'\]: got None"),
        (pandas.DataFrame({"id": ["d1"], "text": ["t"]}), r"got DataFrame.* such as dict\(zip\(table\['id'\]"),
    ],
)
def test_what_holds_no_documents_is_named_before_anything_is_cited(documents, words):
    with pytest.raises(InputError, match=f"(?s){words}"):
        look_up(documents)


def test_a_series_of_texts_is_a_mapping():
    assert look_up(pandas.Series({"d1": "text"}))([], "d1") == "text"


def test_collections_that_are_none_or_come_twice_are_named():
    with pytest.raises(InputError, match=r"documents\['c2'\]: got str 'text', expected a mapping"):
        look_up({"c1": {"d": "t"}, "c2": "text"})
    with pytest.raises(InputError, match=r"documents\['neuclir/1/zho'\]: got a collection that was given before"):
        look_up({"neuclir/1/zh": {"d": "t"}, "neuclir/1/zho": {"d": "t"}})
