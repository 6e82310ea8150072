"""The look-up of cited documents over whatever a caller has."""

import pytest

from tls_tasks.core.errors import InputError
from tls_tasks.reports.documents import LookUp, canonical_collection, look_up

FLAT = {"d1": "one", "d2": {"text": "two", "title": "T", "url": "x"}, "d3": {"text": ""}}
NESTED = {"c1": FLAT, "neuclir/1/rus": {"r1": "три"}, "empty": {}}


def test_flat_documents_are_found_in_any_collection():
    find = look_up(FLAT)
    assert [find(ids, "d1") for ids in ([], ["c1"], ["c1", "c2"])] == ["one"] * 3
    assert find([], "d2") == "Title: T\n\nContent: two" and find([], "d3") == "" and find([], "d4") is None
    assert find.collections is None and look_up(find) is find and isinstance(find, LookUp)


def test_nested_documents_are_found_in_the_collections_that_a_report_names():
    find = look_up(NESTED)
    assert find(["c1"], "d1") == "one" and find(["empty", "c1"], "d1") == "one"
    assert find(["empty"], "d1") is None and find(["c3"], "d1") is None
    assert find([], "d1") == "one" and find((), "r1") == "три"
    assert find(["neuclir/1/ru"], "r1") == find(["neuclir/1/rus"], "r1") == "три"
    assert find.collections == ("c1", "neuclir/1/ru", "empty")
    assert (
        find.within(["neuclir/1/rus", "c9", "c1", "c1"]) == ("neuclir/1/ru", "c1")
        and find.within([]) == find.collections
    )


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


def test_no_documents_at_all_are_documents():
    assert look_up({})(["c"], "d") is None


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


def test_collections_that_are_none_or_come_twice_are_named():
    with pytest.raises(InputError, match=r"documents\['c2'\]: got str 'text', expected a mapping"):
        look_up({"c1": {"d": "t"}, "c2": "text"})
    with pytest.raises(InputError, match=r"documents\['neuclir/1/zho'\]: got a collection that was given before"):
        look_up({"neuclir/1/zh": {"d": "t"}, "neuclir/1/zho": {"d": "t"}})
