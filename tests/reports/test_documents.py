"""Documents: files and look-up pickles, and what is wrong with them."""

import copyreg
import gzip
import json
import os
import pickle
import subprocess
from pathlib import Path

import pytest

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.documents import LookUp, canonical_collection, make_lookup, open_documents

EMBEDDED = EMBEDDED_RECORDING.with_name("documents.jsonl")
CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
DOCUMENTS = {
    "d1": {"title": "Talks", "text": "They ended."},
    "d2": {"title": "", "text": "Переговоры закончились. " * 50},
    "d 3/ü": {"title": "谈判", "text": ""},
    "d4": {"title": "half \ud800", "text": "a pair \udfff"},
}


def read(path, *cited):
    return open_documents([str(path)], cited or DOCUMENTS)


def write_json(path, documents, **names):
    rows = [{names.get("id", "id"): doc_id, **document} for doc_id, document in documents.items()]
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


# --- sources ---


def test_documents_are_read_from_json_lines_and_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = {doc_id: document for doc_id, document in DOCUMENTS.items() if doc_id != "d4"}
    assert read(write_json(tmp_path / "a.jsonl", DOCUMENTS)) == DOCUMENTS
    assert read(write_json(tmp_path / "b.jsonl.gz", DOCUMENTS, id="doc_id")) == DOCUMENTS
    rows = [{"docid": doc_id, "title": one["title"], "contents": one["text"], "n": 1} for doc_id, one in plain.items()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "c.parquet")
    assert read(tmp_path / "c.parquet") == plain
    assert read(write_json(tmp_path / "d.jsonl", {"d": {"text": "t", "title": None}}), "d") == {
        "d": {"title": "", "text": "t"}
    }


def test_what_is_cited_is_kept(tmp_path):
    file = write_json(tmp_path / "a.jsonl", {f"d{n}": {"text": f"t{n}"} for n in range(9)})
    assert list(open_documents([str(file)], ["d3", "d7", "nowhere"])) == ["d3", "d7"]
    assert make_lookup(open_documents([str(file)], ["nowhere"]))([], "d0") is None


@pytest.mark.parametrize(("name", "content", "message"), CASES["test_sources_that_do_not_fit_are_named"])
def test_sources_that_do_not_fit_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read(tmp_path / name)
    with pytest.raises(DataError):
        read(tmp_path / "none" / name)


# --- collections ---


def test_collections_are_kept_apart(tmp_path):
    documents = {"neuclir/1/ru": {"d1": "Russian"}, "neuclir/1/zh": {"d1": "Chinese", "d2": "Chinese too"}}
    rows = [
        {"collection": name, "id": own, "text": text} for name, docs in documents.items() for own, text in docs.items()
    ]
    (tmp_path / "b.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    before, after = make_lookup(documents), make_lookup(open_documents([str(tmp_path / "b.jsonl")], ["d1", "d2"]))
    for names in ([], ["neuclir/1/rus"], ["neuclir/1/zho", "neuclir/1/rus"], ["neuclir/1/fas"]):
        for doc_id in ("d1", "d2", "d3"):
            assert before(names, doc_id) == after(names, doc_id)


@pytest.mark.parametrize(("lines", "message"), CASES["test_rows_that_do_not_fit_together_are_named"])
def test_rows_that_do_not_fit_together_are_named(tmp_path, lines, message):
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    with pytest.raises(DataError, match=message):
        read(tmp_path / "b.jsonl", "a", "b")


def test_one_file_holds_documents_of_all_collections():
    find = make_lookup(open_documents([str(EMBEDDED)], ["coast-01", "coast-99"]))
    assert find(["embedded/coast"], "coast-01").startswith("Title: Seagrass mapped from the air\n\nContent: ")
    assert find(["embedded/coast"], "coast-99") is None


# --- look-up pickles ---


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_look_up_pickles_are_read(tmp_path, protocol):
    shared = "the same object"
    lookup = {**{doc_id: one for doc_id, one in DOCUMENTS.items() if doc_id != "d4" or protocol}}
    lookup |= {f"n{number}": {"title": shared, "text": f"{shared} {number}"} for number in range(2500)}
    lookup["again"] = lookup["d1"]
    path = tmp_path / "doc_mapping_neuclir_1_zh.pkl"
    path.write_bytes(pickle.dumps(lookup, protocol))
    assert read(path, *lookup) == lookup


@pytest.mark.parametrize(
    "content", [b"", b"].", b"}(K\x01u.", b"I99999999999999x\n.", pickle.dumps([1, 2]), pickle.dumps({1: "a"})]
)
def test_damaged_pickles_are_named(tmp_path, content):
    (tmp_path / "l.pkl").write_bytes(content)
    with pytest.raises(DataError, match=r"l\.pkl"):
        read(tmp_path / "l.pkl")


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
        read(path)
    assert not (tmp_path / "evil").exists()


def test_functions_that_the_extension_registry_knows_are_refused_too(tmp_path):
    copyreg.add_extension("subprocess", "call", 242)
    try:
        (tmp_path / "l.pkl").write_bytes(pickle.dumps({"d1": subprocess.call}, 2))
        assert b"subprocess" not in (tmp_path / "l.pkl").read_bytes()
        with pytest.raises(DataError, match=r"l\.pkl: .*asks for subprocess\.call"):
            read(tmp_path / "l.pkl")
    finally:
        copyreg.remove_extension("subprocess", "call", 242)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", 3, None, {"title": "t"}], ids=repr)
def test_plain_data_that_is_no_document_is_named(tmp_path, value):
    (tmp_path / "l.pkl").write_bytes(pickle.dumps({"d2": value}, 4))
    with pytest.raises(DataError, match=r"l\.pkl.*'d2'.*(text.* must be|no field text)"):
        read(tmp_path / "l.pkl")


# LONG_BINPUT and PUT (r, p) may make the unpickler reserve gigabytes for a number of their choice.


# --- the look-up of cited documents over whatever a caller has ---

FLAT = {"d1": "one", "d2": {"text": "two", "title": "T", "url": "x"}, "d3": {"text": ""}}
NESTED = {"c1": FLAT, "neuclir/1/rus": {"r1": "три"}, "empty": {}}


def test_flat_documents_are_found_in_any_collection():
    find = make_lookup(FLAT)
    assert [find(ids, "d1") for ids in ([], ["c1"], ["c1", "c2"])] == ["one"] * 3
    assert find([], "d2") == "Title: T\n\nContent: two" and find([], "d3") == "" and find([], "d4") is None
    assert find.collections is None and make_lookup(find) is find and isinstance(find, LookUp)
    assert make_lookup({})(["c"], "d") is None


def test_nested_documents_are_found_in_the_collections_that_a_report_names():
    find = make_lookup(NESTED)
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


def test_functions_are_look_ups():
    find = make_lookup(lambda collection_ids, doc_id: f"{collection_ids}{doc_id}" if doc_id == "d" else None)
    assert find(["c"], "d") == "['c']d" and find([], "e") is None


@pytest.mark.parametrize("documents", [None, "d1", 3, ["d1"], [{"id": "d1"}]])
def test_what_is_none_is_named(documents):
    with pytest.raises(InputError, match=r"documents: got .*, expected a dict of documents by id"):
        make_lookup(documents)


@pytest.mark.parametrize("document", [3, [], {"title": "t"}, {"text": None}, {"text": "t", "title": 1}, b"t"])
def test_a_document_that_is_none_is_named_where_it_is_cited(document):
    find = make_lookup({"good": "text", "bad": document})
    assert find([], "good") == "text"
    with pytest.raises(InputError, match=r"documents\['bad'\]: got .*, expected a str, or a mapping with a str 'text'"):
        find([], "bad")


def test_several_files_are_read_as_one(tmp_path):
    files = [tmp_path / f"{name}.jsonl" for name in ("zh", "ru")]
    for file in files:
        file.write_text(json.dumps({"collection": f"neuclir/1/{file.stem}", "id": "d1", "text": f"In {file.stem}."}))
    find = make_lookup(open_documents(files, ["d1"]))
    assert find(["neuclir/1/rus"], "d1") == "In ru." and find(["neuclir/1/zho"], "d1") == "In zh."
    with pytest.raises(DataError, match="document 'd1' comes twice"):
        open_documents([files[0]] * 2, ["d1"])
    files[0].write_text("")
    with pytest.raises(DataError, match="it is empty, expected documents"):
        open_documents(files, ["d1"])


def test_a_collection_that_is_none_is_named():
    with pytest.raises(InputError, match=r"documents\['c2'\]: got str 'text', expected a dict of documents by id"):
        make_lookup({"c1": {"d": "t"}, "c2": "text"})
