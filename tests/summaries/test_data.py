"""Summarisation data: readers, grouping, the query, the order of the sources."""

import dataclasses
import json
import logging
import re
import warnings
import zipfile
from pathlib import Path

import pytest

from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.data import hub
from tls_tasks.data.order import EMBEDDED, EmbeddedEditionWarning
from tls_tasks.summaries import data as summaries
from tls_tasks.summaries.data import (
    DATA_SETS,
    Document,
    _load_summaries,
    _read_rows,
    _split_query,
    load_documents,
    prompt,
)

pytestmark = pytest.mark.usefixtures("isolated")

NAMES = list(DATA_SETS)
every_set = pytest.mark.parametrize("name", NAMES)
ROW = {"id": "a", "text": "A long text.", "references": ["Short."]}


def numbered(rows):
    return [(f"row {number}", row) for number, row in enumerate(rows, start=1)]


def write_jsonl(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


# ---- rows


@pytest.mark.parametrize("text", ["text", "document", "dialogue", "transcript", "report", "input"])
@pytest.mark.parametrize("reference", ["references", "reference", "summary", "output"])
def test_every_name_of_the_fields_is_read(text, reference):
    (document,) = _read_rows(DATA_SETS["summ_govreport"], numbered([{"uid": 7, text: "T", reference: "R"}]))
    assert document == Document("7", "T", "", ("R",))


def test_rows_without_an_id_are_numbered():
    rows = [{"report": "T", "summary": "R"}] * 2
    assert [document.id for document in _read_rows(DATA_SETS["summ_govreport"], numbered(rows))] == ["0", "1"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no row in the data"),
        ([{"summary": "R"}], "row 1: no field text or document .*there are summary"),
        ([ROW, {"text": "T", "output": None}], "row 2: no field references or"),
        ([{"text": 3, "summary": "R"}], "must be text, got int"),
        ([{"text": "T", "references": ["R", 3]}], "must be text, got int"),
        ([["T", "R"]], "row 1: expected an object, got list"),
        ([ROW, ROW], "two documents have the id 'a'"),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q?\n\nA\n\nB", ("Q?", "A\n\nB")),
        ("Q?\r\n\r\nA", ("Q?", "A")),
        ("Q?\n \t\nA", ("Q?", "A")),
        ("no blank\nline", ("", "no blank\nline")),
        ("", ("", "")),
    ],
)
def test_query_is_what_stands_before_the_first_blank_line(text, expected):
    assert _split_query(text) == expected


def test_the_query_is_split_off_in_qmsum_only_and_a_field_of_its_own_wins():
    row = {"id": "a", "pid": "a_0", "input": "Q?\n\nText\n\nmore", "output": "R"}
    assert _read_rows(DATA_SETS["summ_qmsum"], numbered([row]))[0].query == "Q?"
    assert _read_rows(DATA_SETS["summ_qmsum"], numbered([row]))[0].text == "Text\n\nmore"
    assert _read_rows(DATA_SETS["summ_summscreenfd"], numbered([row]))[0].text == row["input"]
    own = _read_rows(DATA_SETS["summ_qmsum"], numbered([{**row, "query": "Own?"}]))[0]
    assert (own.query, own.text) == ("Own?", row["input"])


# ---- files


EXPECTED = (Document("a", "A long text.", "", ("Short.",)), Document("b", "Ä", "", ("é", "è")))
ROWS = [ROW, {"id": "b", "text": "Ä", "references": ["é", "è"]}]


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
@pytest.mark.parametrize("place", ["", "govreport", "govreport/test"])
def test_user_data_as_file_folder_or_parent(tmp_path, ending, place):
    file = tmp_path / "govreport" / f"test.{ending}"
    file.parent.mkdir()
    if ending == "parquet":
        write_parquet(file, ROWS)
    elif ending == "json":
        file.write_text(json.dumps(ROWS, indent=1), encoding="utf-8")
    else:
        write_jsonl(file, ROWS)
    data = file if place.endswith("test") else tmp_path / place
    loaded = _load_summaries("summ_govreport", data=data)
    assert (loaded.documents, loaded.edition) == (EXPECTED, "local")


def test_iso_dates_stay_text(tmp_path):
    file = write_jsonl(tmp_path / "x.jsonl", [{"id": "2011-01-25", "text": "2011-01-25", "summary": "2011-01-25"}])
    (document,) = _load_summaries("summ_govreport", data=file).documents
    assert document == Document("2011-01-25", "2011-01-25", "", ("2011-01-25",))


def test_json_lines_called_json_and_gzip(tmp_path):
    import gzip

    write_jsonl(tmp_path / "a" / "test.json", ROWS)
    assert _load_summaries("summ_meetingbank", data=tmp_path / "a").documents == EXPECTED
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert _load_summaries("summ_meetingbank", data=tmp_path / "x.jsonl.gz").documents == EXPECTED


def test_csv_as_dialogsum_is_published(tmp_path):
    text = 'id,dialogue,summary,topic\ntest_0_1,"#Person1#: Hi.\n#Person2#: ""Hi"", you.",S1,t\n'
    text += 'test_0_2,"#Person1#: Hi.\n#Person2#: ""Hi"", you.",S2,t\n'
    (tmp_path / "test.csv").write_text(text, encoding="utf-8")
    (document,) = _load_summaries("summ_dialogsum", data=tmp_path).documents
    assert document == Document("test_0", '#Person1#: Hi.\n#Person2#: "Hi", you.', "", ("S1", "S2"))


def test_files_of_other_splits_are_never_read(tmp_path):
    write_jsonl(tmp_path / "qmsum" / "train.jsonl", [{"id": "t", "input": "Q\n\nT", "output": "R"}])
    write_jsonl(tmp_path / "qmsum" / "test.jsonl", [{"id": "e", "input": "Q\n\nT", "output": None}])
    with pytest.raises(DataError, match=r"no file of the split validation .*there is test\.jsonl, train\.jsonl"):
        _load_summaries("summ_qmsum", data=tmp_path)
    write_jsonl(tmp_path / "qmsum" / "validation.jsonl", [{"id": "v", "input": "Q\n\nT", "output": "R"}])
    assert [document.id for document in _load_summaries("summ_qmsum", data=tmp_path).documents] == ["v"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", b'{"id": "a"\n', "line 1: not JSON"),
        ("x.jsonl", b"\xff\n", "can't be read"),
        ("x.json", b"[1", "not JSON"),
        ("x.parquet", b"no", "not readable as Parquet"),
        ("x.csv", b"\xff", "can't be read as CSV"),
        ("x.txt", b"text", "expected a file that ends in .jsonl"),
    ],
)
def test_broken_files_are_errors_that_name_the_file(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        _load_summaries("summ_govreport", data=tmp_path / name)
    assert name in str(error.value)


@pytest.mark.parametrize("data", ["/no/such/folder/at all", "nowhere", "no-such-org/no-such-set", "org/set@v1"])
def test_data_that_is_nowhere_is_an_error(data):
    with pytest.raises(DataError, match="data: "):
        _load_summaries("summ_govreport", data=data)


def test_a_data_set_on_the_hub_that_the_user_names(tmp_path):
    write_parquet(tmp_path / "set" / "data" / "test-00000-of-00001.parquet", ROWS)
    rows = list(hub.split_rows(str(tmp_path / "set"), None))  # as datasets reads it
    assert _read_rows(DATA_SETS["summ_govreport"], numbered(rows)) == EXPECTED


def test_data_of_another_data_set_is_refused(tmp_path):
    write_jsonl(tmp_path / "qmsum" / "x.jsonl", ROWS)
    with pytest.raises(DataError, match="named like summ_qmsum, not summ_govreport"):
        _load_summaries("summ_govreport", data=tmp_path / "qmsum")


def test_a_folder_of_data_sets_that_lacks_this_one_gives_no_other(tmp_path):
    write_jsonl(tmp_path / "dialogsum" / "test.jsonl", ROWS)
    with pytest.raises(DataError, match=r"no file of the split test .*there is no file of rows"):
        _load_summaries("summ_govreport", data=tmp_path)


@pytest.mark.parametrize("folder", ["data", "document"])
def test_a_copy_of_a_hub_repository(tmp_path, folder):
    write_parquet(tmp_path / "copy" / folder / "test-00000-of-00001.parquet", ROWS)
    write_parquet(tmp_path / "copy" / folder / "train-00000-of-00001.parquet", [{"other": 1}])
    assert _load_summaries("summ_govreport", data=tmp_path / "copy").documents == EXPECTED


# ---- the order


def test_environment_is_used_and_beaten_by_data(tmp_path, monkeypatch):
    write_jsonl(tmp_path / "root" / "govreport" / "test.jsonl", ROWS)
    write_jsonl(tmp_path / "other.jsonl", ROWS[:1])
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path / "root"))
    assert _load_summaries("summ_govreport").documents == EXPECTED
    assert _load_summaries("summ_govreport", data=tmp_path / "other.jsonl").documents == EXPECTED[:1]


def test_environment_with_a_broken_file_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "govreport").mkdir()
    (tmp_path / "govreport" / "test.jsonl").write_text("{")
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"govreport/test\.jsonl, line 1"):
        _load_summaries("summ_govreport")


def test_environment_without_this_data_set_goes_on_and_says_so(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path))
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_summaries("summ_qmsum").edition == "embedded"
    assert "has no folder summ_qmsum or qmsum" in caplog.text


@every_set
def test_offline_without_a_cache_the_embedded_edition_runs_and_is_loud_once(name, caplog):
    with pytest.warns(EmbeddedEditionWarning, match=f"{name} runs on the EMBEDDED EDITION") as caught:
        loaded = _load_summaries(name)
    assert loaded.edition == "embedded"
    assert DATA_SETS[name].obtain in str(caught[0].message) and "TLS_TASKS_DATA=" in str(caught[0].message)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and "\n" not in record.message
    assert "is not in the cache, and the hub is switched off (HF_HUB_OFFLINE)" in record.message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _load_summaries(name)


@every_set
def test_errors_without_any_data_name_what_to_do(name):
    with pytest.raises(DataError) as error:
        _load_summaries(name, edition="hub")
    message = str(error.value)
    assert "is not in the cache, and the hub is switched off (HF_HUB_OFFLINE)" in message
    assert DATA_SETS[name].obtain in message
    assert "TLS_TASKS_DATA=<folder with" in message and '--metadata \'{"data": "<folder>"}\'' in message


def test_download_that_fails_goes_on_in_one_line(monkeypatch, caplog):
    monkeypatch.delenv("HF_HUB_OFFLINE")  # huggingface_hub itself still refuses, as it does without a network
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_summaries("summ_qmsum").edition == "embedded"
    assert "qmsum.zip can't be downloaded: " in caplog.text


def test_unknown_names_are_errors_that_list_the_known():
    with pytest.raises(OptionError, match="expected one of 'summ_multi_news'"):
        _load_summaries("multi_news")
    with pytest.raises(OptionError, match="expected one of 'local'"):
        _load_summaries("summ_qmsum", edition="real")


def test_embedded_edition_cannot_be_passed_off_as_local(monkeypatch):
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_summaries("summ_qmsum", data=EMBEDDED / "summ_qmsum").edition == "embedded"
    monkeypatch.setenv("TLS_TASKS_DATA", str(EMBEDDED))
    assert _load_summaries("summ_qmsum").edition == "embedded"


# ---- the hub, as it lies in the cache


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Puts files where huggingface_hub would have put them."""

    def put(name, contents):
        source = DATA_SETS[name].hub
        repo = tmp_path / "hub-cache" / f"datasets--{source.repo_id.replace('/', '--')}"
        for file, write in zip(source.files, contents, strict=True):
            path = repo / "snapshots" / source.revision / file
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path)

    return put


def zipped(member, rows):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, "".join(json.dumps(row) + "\n" for row in rows))

    return write


SCROLLS = [{"id": "a", "pid": "a_0", "input": "Q?\n\nText", "output": "R"}]


def test_hub_of_scrolls(cached):
    cached("summ_qmsum", [zipped("qmsum/validation.jsonl", SCROLLS)])
    loaded = _load_summaries("summ_qmsum")
    assert loaded.documents == (Document("a_0", "Text", "Q?", ("R",)),)
    assert (loaded.edition, loaded.origin) == ("hub", f"tau/scrolls@{DATA_SETS['summ_qmsum'].hub.revision}")
    cached("summ_summscreenfd", [zipped("summ_screen_fd/validation.jsonl", SCROLLS)])
    assert _load_summaries("summ_summscreenfd").documents[0].text == "Q?\n\nText"


def test_hub_of_dialogsum(cached):
    cached("summ_dialogsum", [lambda path: path.write_text("id,dialogue,summary\ntest_0_1,D,S1\ntest_0_2,D,S2\n")])
    assert _load_summaries("summ_dialogsum").documents == (Document("test_0", "D", "", ("S1", "S2")),)


def test_hub_of_multi_news(cached):
    texts = "One.NEWLINE_CHAR Two. ||||| Three. \nFour.\n", "– First.\n– Second. \n"
    cached("summ_multi_news", [lambda path, text=text: path.write_text(text) for text in texts])
    assert _load_summaries("summ_multi_news").documents == (
        Document("0", "One.\n Two. ||||| Three.", "", ("– First.",)),
        Document("1", "Four.", "", ("– Second.",)),
    )


def test_hub_of_govreport_and_meetingbank_have_their_number_of_rows(cached, monkeypatch):
    rows = [{"report": f"T{number}", "summary": "R"} for number in range(973)]
    cached("summ_govreport", [lambda path: write_parquet(path, rows)])
    loaded = _load_summaries("summ_govreport")
    assert (len(loaded.documents), loaded.documents[972].id) == (973, "972")
    rows = [{"source": "T", "reference": "R"} for _ in range(862)]
    cached("summ_meetingbank", [lambda path: write_parquet(path, rows)])
    assert len(_load_summaries("summ_meetingbank", edition="hub").documents) == 862


def test_hub_with_another_number_of_rows_is_refused(cached, caplog):
    cached("summ_meetingbank", [lambda path: write_parquet(path, [{"transcript": "T", "summary": "R"}])])
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_summaries("summ_meetingbank").edition == "embedded"
    assert "Aznor/MeetingBank-original: has 1 rows, but data_sets.json expects 862" in caplog.text


@pytest.mark.parametrize("write", [zipped("other.jsonl", SCROLLS), lambda path: path.write_bytes(b"no")])
def test_damaged_archives_are_passed_over(cached, caplog, write):
    cached("summ_qmsum", [write])
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_summaries("summ_qmsum").edition == "embedded"
    assert "can't read qmsum/validation.jsonl" in caplog.text


def test_pairs_that_differ_in_length_are_passed_over(cached, caplog):
    cached("summ_multi_news", [lambda path: path.write_text("a\nb\n"), lambda path: path.write_text("a\n")])
    with pytest.warns(EmbeddedEditionWarning):
        _load_summaries("summ_multi_news")
    assert "differ in length: one ends before line 2" in caplog.text


@every_set
def test_the_catalogue_is_pinned_and_complete(name):
    wanted = DATA_SETS[name]
    assert re.fullmatch(r"[0-9a-f]{40}", wanted.hub.revision)
    assert all(
        value
        for value in (wanted.title, wanted.licence, wanted.citation, wanted.obtain, wanted.settings["instruction"])
    )
    assert wanted.homepage.startswith("https://huggingface.co/datasets/")
    assert not wanted.obtain.endswith(".") and dataclasses.is_dataclass(wanted)


# ---- the whole way, as the harness calls it


def test_task_cuts_to_the_budget_and_tells_where_the_data_is_from(tmp_path):
    file = write_jsonl(tmp_path / "x.jsonl", ROWS)
    provenance = {}
    task = load_documents("summ_govreport", data=str(file), context_budget=6, provenance=provenance)
    assert task[0] == {
        "doc_id": "a",
        "data_set": "summ_govreport",
        "text": "A long",
        "text_truncated": 6,
        "words": 550,
        "query": "",
        "references": '["Short."]',
        "edition": "local",
    }
    assert task[1]["text_truncated"] == 0 and json.loads(task[1]["references"]) == ["é", "è"]
    assert len(provenance.pop("fingerprint")) == 64
    assert provenance == {"edition": "local", "origin": str(file), "data": "unknown data"}


@pytest.mark.parametrize("budget", [0, -1, 2.5, True, "6"])
def test_impossible_budgets_are_errors(budget):
    with pytest.raises(InputError, match="context_budget"):
        load_documents("summ_qmsum", edition="embedded", context_budget=budget)


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
    raw = (EMBEDDED / name / "documents.jsonl").read_bytes()
    assert raw.endswith(b"\n") and b"\r" not in raw and b"\\u" not in raw
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


def test_the_embedded_folders_are_the_sets():
    assert sorted(folder.name for folder in EMBEDDED.glob("summ_*")) == sorted(NAMES)
    assert "persons, places and events in them are invented" in (EMBEDDED / "LICENSE.txt").read_text(encoding="utf-8")
    assert Path(summaries.__file__).with_name("data_sets.json").is_file()
