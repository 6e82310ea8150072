"""Summarisation data: readers, grouping, the query, the order of the sources."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.data.hub_parts import hub_file, numbered
from tests.data_parts import write_lines
from tests.test_data import write_parquet
from tls_tasks.core.errors import DataError
from tls_tasks.data.sources import EMBEDDED, EmbeddedEditionWarning
from tls_tasks.summaries.data import (
    DATA_SETS,
    Document,
    _load_summaries,
    _read_rows,
    _split_query,
    load_documents,
    prompt,
)

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

NAMES = list(DATA_SETS)
every_set = pytest.mark.parametrize("name", NAMES)
ROW = {"id": "a", "text": "A long text.", "references": ["Short."]}


# ---- rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ROW, {"text": "T", "output": None}], "row 2: no field references or"),
        ([{"text": "T", "references": ["R", 3]}], "must be a valid string, got int"),
    ],
)
def test_rows_that_are_no_documents_are_errors(rows, message):
    with pytest.raises(DataError, match=message):
        _read_rows(DATA_SETS["summ_govreport"], numbered(rows))


def test_references_of_a_dialogue_are_grouped():
    rows = [
        {"id": f"test_{number}_{index}", "dialogue": f"D{number}", "summary": f"S{number}{index}", "topic": "x"}
        for number in (0, 10)
        for index in (1, 2, 3)
    ]
    rows.insert(3, {"id": "test_5_1", "dialogue": "alone", "summary": "S"})
    grouped = _read_rows(DATA_SETS["summ_dialogsum"], numbered(rows))
    assert [document.id for document in grouped] == ["test_0", "test_5_1", "test_10"]
    assert grouped[2] == Document("test_10", "D10", "", ("S101", "S102", "S103"))


def test_ids_that_number_dialogues_do_not_join_them():
    rows = [{"id": f"dev_{number}", "dialogue": f"D{number}", "summary": "S"} for number in (0, 1)]
    assert [document.id for document in _read_rows(DATA_SETS["summ_dialogsum"], numbered(rows))] == ["dev_0", "dev_1"]


def test_only_dialogsum_is_grouped():
    rows = [{"id": f"a_{number}", "report": "same", "summary": "S"} for number in (0, 1)]
    assert len(_read_rows(DATA_SETS["summ_govreport"], numbered(rows))) == 2


@pytest.mark.parametrize(("text", "expected"), CASES["query_is_what_stands_before_the_first_blank_line"])
def test_query_is_what_stands_before_the_first_blank_line(text, expected):
    assert _split_query(text) == tuple(expected)


def test_the_query_is_split_off_in_qmsum_only_and_a_field_of_its_own_wins():
    row = {"id": "a", "pid": "a_0", "input": "Q?\n\nText\n\nmore", "output": "R"}
    assert _read_rows(DATA_SETS["summ_qmsum"], numbered([row]))[0].query == "Q?"
    assert _read_rows(DATA_SETS["summ_qmsum"], numbered([row]))[0].text == "Text\n\nmore"
    assert _read_rows(DATA_SETS["summ_summscreenfd"], numbered([row]))[0].text == row["input"]
    own = _read_rows(DATA_SETS["summ_qmsum"], numbered([{**row, "query": "Own?"}]))[0]
    assert (own.query, own.text) == ("Own?", row["input"])


# ---- files


ROWS = [ROW, {"id": "b", "text": "Ä", "references": ["é", "è"]}]


def test_iso_dates_stay_text(tmp_path):
    write_lines(file := tmp_path / "x.jsonl", [{"id": "2011-01-25", "text": "2011-01-25", "summary": "2011-01-25"}])
    (document,) = _load_summaries("summ_govreport", data=file).documents
    assert document == Document("2011-01-25", "2011-01-25", "", ("2011-01-25",))


def test_csv_as_dialogsum_is_published(tmp_path):
    text = 'id,dialogue,summary,topic\ntest_0_1,"#Person1#: Hi.\n#Person2#: ""Hi"", you.",S1,t\n'
    text += 'test_0_2,"#Person1#: Hi.\n#Person2#: ""Hi"", you.",S2,t\n'
    (tmp_path / "test.csv").write_text(text, encoding="utf-8")
    (document,) = _load_summaries("summ_dialogsum", data=tmp_path).documents
    assert document == Document("test_0", '#Person1#: Hi.\n#Person2#: "Hi", you.', "", ("S1", "S2"))


def test_files_of_other_splits_are_never_read(tmp_path):
    write_lines(tmp_path / "qmsum" / "train.jsonl", [{"id": "t", "input": "Q\n\nT", "output": "R"}])
    write_lines(tmp_path / "qmsum" / "test.jsonl", [{"id": "e", "input": "Q\n\nT", "output": None}])
    with pytest.raises(DataError, match=r"no file of the split validation .*there is test\.jsonl, train\.jsonl"):
        _load_summaries("summ_qmsum", data=tmp_path)
    write_lines(tmp_path / "qmsum" / "validation.jsonl", [{"id": "v", "input": "Q\n\nT", "output": "R"}])
    assert [document.id for document in _load_summaries("summ_qmsum", data=tmp_path).documents] == ["v"]


def test_a_folder_of_data_sets_that_lacks_this_one_gives_no_other(tmp_path):
    write_lines(tmp_path / "dialogsum" / "test.jsonl", ROWS)
    with pytest.raises(DataError, match=r"no file of the split test .*there is no file of rows"):
        _load_summaries("summ_govreport", data=tmp_path)


# ---- the hub, as it lies in the cache


@pytest.fixture
def cached(tmp_path):
    """Has functions write files where huggingface_hub would have put them."""

    def put(name, *writers):
        for number, write in enumerate(writers):
            write(hub_file(tmp_path, DATA_SETS[name], number))

    return put


def zipped(member, rows):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, "".join(json.dumps(row) + "\n" for row in rows))

    return write


SCROLLS = [{"id": "a", "pid": "a_0", "input": "Q?\n\nText", "output": "R"}]


def test_hub_of_scrolls(cached):
    cached("summ_qmsum", zipped("qmsum/validation.jsonl", SCROLLS))
    loaded = _load_summaries("summ_qmsum")
    assert loaded.documents == (Document("a_0", "Text", "Q?", ("R",)),)
    assert (loaded.edition, loaded.origin) == ("hub", f"tau/scrolls@{DATA_SETS['summ_qmsum'].hub.revision}")
    cached("summ_summscreenfd", zipped("summ_screen_fd/validation.jsonl", SCROLLS))
    assert _load_summaries("summ_summscreenfd").documents[0].text == "Q?\n\nText"


def test_hub_of_dialogsum(cached):
    cached("summ_dialogsum", lambda path: path.write_text("id,dialogue,summary\ntest_0_1,D,S1\ntest_0_2,D,S2\n"))
    assert _load_summaries("summ_dialogsum").documents == (Document("test_0", "D", "", ("S1", "S2")),)


def test_hub_of_multi_news(cached):
    texts = "One.NEWLINE_CHAR Two. ||||| Three. \nFour.\n", "– First.\n– Second. \n"
    cached("summ_multi_news", *[lambda path, text=text: path.write_text(text) for text in texts])
    assert _load_summaries("summ_multi_news").documents == (
        Document("0", "One.\n Two. ||||| Three.", "", ("– First.",)),
        Document("1", "Four.", "", ("– Second.",)),
    )


def test_hub_of_govreport_and_meetingbank_have_their_number_of_rows(cached, monkeypatch):
    rows = [{"report": f"T{number}", "summary": "R"} for number in range(973)]
    cached("summ_govreport", lambda path: write_parquet(path, rows))
    loaded = _load_summaries("summ_govreport")
    assert (len(loaded.documents), loaded.documents[972].id) == (973, "972")
    rows = [{"source": "T", "reference": "R"} for _ in range(862)]
    cached("summ_meetingbank", lambda path: write_parquet(path, rows))
    assert len(_load_summaries("summ_meetingbank", edition="hub").documents) == 862


def test_hub_with_another_number_of_rows_is_refused(cached, caplog):
    cached("summ_meetingbank", lambda path: write_parquet(path, [{"transcript": "T", "summary": "R"}]))
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_summaries("summ_meetingbank").edition == "embedded"
    assert "Aznor/MeetingBank-original: rows: 1, but data_sets.json expects 862" in caplog.text


@pytest.mark.parametrize("write", [zipped("other.jsonl", SCROLLS), lambda path: path.write_bytes(b"no")])
def test_damaged_archives_are_passed_over(cached, caplog, write):
    cached("summ_qmsum", write)
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_summaries("summ_qmsum").edition == "embedded"
    assert "can't be read as zip with qmsum/validation.jsonl" in caplog.text


def test_pairs_that_differ_in_length_are_passed_over(cached, caplog):
    cached("summ_multi_news", lambda path: path.write_text("a\nb\n"), lambda path: path.write_text("a\n"))
    with pytest.warns(EmbeddedEditionWarning):
        _load_summaries("summ_multi_news")
    assert "differ in length: one ends before line 2" in caplog.text


# ---- the whole way, as the harness calls it


@every_set
def test_prompt_puts_the_instruction_last(name):
    for doc in load_documents(name, edition="embedded"):
        text = prompt(doc)
        assert text.startswith(f"<document>\n{doc['text']}\n</document>\n\n")
        words = {"summ_multi_news": 260, "summ_dialogsum": 25, "summ_meetingbank": 85, "summ_govreport": 550}
        length = f"The summary should have about {words.get(name, {'summ_qmsum': 70}.get(name, 100))} words."
        instruction = DATA_SETS[name].settings["instruction"]
        assert text.endswith(f"{instruction}\n{length} Write only the summary.\n\nSummary:")
        assert "|||||" not in text
        assert (f"Query: {doc['query']}\n" in text) is (name == "summ_qmsum")


# ---- the files of the embedded edition


@every_set
def test_embedded_files_are_as_their_readme_says(name):
    documents = _load_summaries(name, edition="embedded").documents
    references = [reference for document in documents for reference in document.references]
    per_document = 3 if name == "summ_dialogsum" else 1
    assert len(documents) == 3 and {len(document.references) for document in documents} == {per_document}
    for document in documents:
        assert 120 <= len(document.text.split()) <= 400
        assert bool(document.query) is (name == "summ_qmsum")
        assert all(len(reference.split()) < 0.5 * len(document.text.split()) for reference in document.references)
    words = [sum(len(text.split()) for text in texts) for texts in ([d.text for d in documents], references)]
    row = f"| `{name}` | 3 | {words[0]} | {per_document} | {words[1]} |"
    assert row in (EMBEDDED / "README.md").read_text(encoding="utf-8").splitlines()
