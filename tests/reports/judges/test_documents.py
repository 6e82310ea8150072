"""Documents: files, bundles, stores and look-up pickles, and what is wrong with them."""

import contextlib
import copyreg
import gzip
import json
import os
import pickle
import sqlite3
import subprocess
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.core.errors import DataError
from tls_tasks.reports.documents import _read_lookup, look_up, read_bundle, read_documents, write_bundle
from tls_tasks.reports.judges.store import DocumentStore, build_store
from tls_tasks.reports.types import Report, ReportSentence

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


def test_a_large_store_is_packed_and_iterates_in_order(tmp_path):
    documents = ((f"doc-{number:05}", {"text": f"Text {number}. " * 100}) for number in range(2500))
    assert build_store(tmp_path / "s", documents) == 2500
    store = DocumentStore(tmp_path / "s")
    assert (tmp_path / "s").stat().st_size < 2500 * 300
    assert list(store)[::1250] == ["doc-00000", "doc-01250"] and len(list(store)) == 2500
    assert store["doc-02499"] == {"title": "", "text": "Text 2499. " * 100}


def test_threads_and_forks_share_a_store(tmp_path):
    build_store(tmp_path / "s", DOCUMENTS.items())
    store = DocumentStore(tmp_path / "s")
    found = []
    threads = [threading.Thread(target=lambda: found.append(dict(store))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [DOCUMENTS] * 4
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
    with pytest.raises(DataError, match="no such file; tls-tasks build-store makes one"):
        DocumentStore(tmp_path / "none")
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(DataError, match="text: store of documents: file is not a database"):
        DocumentStore(tmp_path / "text")
    connection = sqlite3.connect(tmp_path / "other")
    connection.execute("CREATE TABLE verdicts (request)")
    connection.close()
    with pytest.raises(DataError, match="other: store of documents: no such table"):
        DocumentStore(tmp_path / "other")
    build_store(tmp_path / "s", [("d1", {"text": "t"})])
    connection = sqlite3.connect(tmp_path / "s")
    connection.execute("UPDATE documents SET packed = x'00'")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match=r"s: store of documents: .*decompress"):
        DocumentStore(tmp_path / "s")["d1"]


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


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.jsonl",
            b'{"id": "a", "text": "t"}\n{"id": 1, "text": "t"}\n',
            r"a\.jsonl, line 2: id: got int 1, expected a str",
        ),
        ("a.jsonl", b'{"id": "a", "title": "t"}\n', r"a\.jsonl, line 1: text: got None"),
        ("a.jsonl", b'{"id": "a", "text": "t", "title": 3}\n', r"a\.jsonl, line 1: title: got int 3"),
        ("a.jsonl", b'{"text": "t"}\n', r"a\.jsonl, line 1: id: got None"),
        ("a.jsonl.gz", b"no gzip", r"after line 0: can't be read"),
        ("a.parquet", b"no parquet", r"not readable as Parquet"),
        ("a.pkl", b"no pickle", r"a\.pkl: not readable as a pickled dict"),
        ("a.txt", b"id,text\n", r"a\.txt: expected a file that ends in \.jsonl, \.jsonl\.gz"),
    ],
)
def test_sources_that_do_not_fit_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
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


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"id": "a", "text": "t"}'] * 2, "line 2: document 'a' comes twice"),
        (['{"id": "a", "text": "t"}', '{"id": "b", "text": "t", "collection": "c"}'], "some lines name a collection"),
        (['{"id": "a"}'], "line 1: text: got None"),
    ],
)
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
    assert _read_lookup(path) == lookup
    assert build_store(tmp_path / "s", read_documents(path)) == len(lookup)
    assert dict(DocumentStore(tmp_path / "s")) == lookup


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_data_is_read_as_pickle_reads_it(tmp_path_factory, lookup, protocol):
    path = tmp_path_factory.mktemp("pickle") / "l.pkl"
    path.write_bytes(pickle.dumps(lookup, protocol))
    assert _read_lookup(path) == lookup


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
        _read_lookup(path)
    assert not (tmp_path / "evil").exists()


def test_functions_that_the_extension_registry_knows_are_refused_too(tmp_path):
    copyreg.add_extension("subprocess", "call", 242)
    try:
        (tmp_path / "l.pkl").write_bytes(pickle.dumps({"d1": subprocess.call}, 2))
        assert b"subprocess" not in (tmp_path / "l.pkl").read_bytes()
        with pytest.raises(DataError, match=r"l\.pkl: .*asks for subprocess\.call"):
            _read_lookup(tmp_path / "l.pkl")
    finally:
        copyreg.remove_extension("subprocess", "call", 242)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", 3, None, {"title": "t"}], ids=repr)
def test_plain_data_that_is_no_document_is_named(tmp_path, value):
    (tmp_path / "l.pkl").write_bytes(pickle.dumps({"d2": value}, 4))
    with pytest.raises(DataError, match=r"l\.pkl.*'d2'.*text: got"):
        list(read_documents(tmp_path / "l.pkl"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b".",
        b"}",
        b"].",
        b"}(.",
        b"}0.",
        b"h\x05.",
        b"}u.",
        b"}(K\x01u.",
        b"}K\x01s.",
        b"}(K\x01K\x02u.",
        b"}a.",
        b"(e.",
        b"\x80\x04}\x94(\x8d\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x80\x04}(X\xff\xff\xff\xffab",
        b"I99999999999999x\n.",
        b"K\x01K\x02\x86\x86.",
        pickle.dumps([1, 2]),
        pickle.dumps({1: "a"}),
        pickle.dumps({"a": {"text": "t"}})[:-4],
    ],
)
def test_damaged_pickles_are_named(tmp_path, content):
    (tmp_path / "l.pkl").write_bytes(content)
    with pytest.raises(DataError, match=r"l\.pkl"):
        _read_lookup(tmp_path / "l.pkl")


# LONG_BINPUT and PUT (r, p) may make the unpickler reserve gigabytes for a number of their choice.
@given(st.lists(st.integers(0, 255).filter(lambda byte: byte not in b"rp"), max_size=40))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("pickle") / "l.pkl"
    path.write_bytes(b"\x80\x04" + bytes(content))
    with contextlib.suppress(DataError):
        _read_lookup(path)
