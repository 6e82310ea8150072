"""The order of the sources, and what each does when it can't be used."""

import csv
import dataclasses
import hashlib
import io
import json
import logging
import tarfile

import pytest

from tests.data.hub_parts import hub_file
from tests.data_parts import prepare
from tls_tasks.core.errors import DataError
from tls_tasks.data import hub, sources
from tls_tasks.data.sources import EmbeddedEditionWarning
from tls_tasks.timelines.data import ALL_SETS, DATA_SETS, _load_topics
from tls_tasks.timelines.public_files import read_events
from tls_tasks.timelines.topics import read_data_set

pytestmark = pytest.mark.usefixtures("isolated")


def names(loaded):
    return [topic.name for topic in loaded.documents]


# ---- 1. what the user names


@pytest.mark.parametrize("place", [".", ".."])
def test_data_is_the_folder_or_its_parent(crisis, place):
    loaded = _load_topics("tls_crisis", data=crisis / place)
    assert names(loaded) == ["egypt", "libya"]
    assert loaded.edition == "local"
    assert all(topic.articles for topic in loaded.documents)


@pytest.mark.parametrize("place", [".", "data", "data/test-00000-of-00001.parquet"])
def test_data_is_prepared_parquet(crisis, tmp_path, place):
    prepare("tls_crisis", crisis, tmp_path / "out")
    loaded = _load_topics("tls_crisis", data=tmp_path / "out" / place)
    assert loaded.documents == read_data_set(crisis)
    assert loaded.edition == "local"


def test_closed_book_takes_articles_where_there_are_some_from_any_form(crisis, tmp_path):
    prepare("tls_crisis", crisis, tmp_path / "out")
    expected = read_data_set(crisis)
    assert _load_topics("tls_crisis", data=crisis, need_articles=False).documents == expected
    assert _load_topics("tls_crisis", data=tmp_path / "out", need_articles=False).documents == expected


def test_hub_parquet_is_read_as_datasets_reads_it(crisis, tmp_path, monkeypatch):
    prepare("tls_crisis", crisis, tmp_path / "out")
    split_rows = hub.split_rows
    monkeypatch.setattr(hub, "split_rows", lambda repo_id, revision: split_rows(str(tmp_path / "out"), None))
    loaded = _load_topics("tls_crisis", data="org/set@v1")
    assert loaded.documents == read_data_set(crisis)
    assert (loaded.edition, loaded.origin) == ("hub", "org/set@v1")


def test_data_without_articles_is_an_error_for_the_form_with_articles(crisis):
    (crisis / "libya" / "articles.jsonl.gz").unlink()
    with pytest.raises(DataError, match="no articles of libya; the closed-book form"):
        _load_topics("tls_crisis", data=crisis)


def test_prepared_data_of_another_data_set_is_refused(crisis, tmp_path):
    prepare("tls_crisis", crisis, tmp_path / "out")
    with pytest.raises(DataError, match="holds tls_crisis, not tls_timeline17"):
        _load_topics("tls_timeline17", data=tmp_path / "out")


def test_parquet_of_somebody_else_is_an_error(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"topic": ["egypt"]}), tmp_path / "x.parquet")
    for need_articles in (True, False):
        with pytest.raises(DataError, match=r"x.parquet, row 1: no field timelines; there are topic"):
            _load_topics("tls_crisis", data=tmp_path, need_articles=need_articles)


# ---- 2. TLS_TASKS_DATA


def test_environment_without_articles_goes_on_only_where_they_are_needed(crisis, monkeypatch, caplog):
    for topic in ("egypt", "libya"):
        (crisis / topic / "articles.jsonl.gz").unlink()
    monkeypatch.setenv("TLS_TASKS_DATA", str(crisis.parent))
    assert _load_topics("tls_crisis", need_articles=False).edition == "local"
    assert "trying the next source" not in caplog.text
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_topics("tls_crisis").edition == "embedded"
    assert "has no articles of egypt, libya" in caplog.text


# ---- 3. the hub source


def tsv(rows):
    """The text of an annotator's file: dates in brackets, quotes where csv wants them."""
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t")
    table.writerow(["Date", "Update", "Background"])
    table.writerows([f"[{iso[:10]}]", " ".join(sentences) + " ", "not used"] for iso, sentences in rows)
    return text.getvalue()


def make_archive(path, timelines, hub):
    """An events.tar.gz of ``{topic: [rows, …]}``, with a file that isn't ours; returns the source with its hash."""
    with tarfile.open(path, "w:gz") as tar:
        for topic, place in hub.settings["topics"].items():
            for file, rows in zip(hub.settings["timelines"], timelines[topic], strict=True):
                content = tsv(rows).encode()
                member = tarfile.TarInfo(f"{place['folder']}/{file}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        tar.addfile(tarfile.TarInfo("../outside.tsv"))
    return dataclasses.replace(hub, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    """Puts an archive where huggingface_hub would have put it, and pins its hash."""

    def fill(timelines, *, right_hash=True):
        wanted = DATA_SETS["tls_crisis"]
        hub = make_archive(hub_file(tmp_path, wanted), timelines, wanted.hub)
        if right_hash:
            monkeypatch.setitem(ALL_SETS, "tls_crisis", dataclasses.replace(wanted, hub=hub))

    return fill


SMALL = {
    topic: [[["2011-01-25T00:00:00", ['A "quoted" word.\\nSecond\tline.']], ["2011-01-28T00:00:00", [f"{topic} {n}"]]]
            for n in range(3)]
    for topic in ("egypt", "libya", "syria", "yemen")
}  # fmt: skip


def test_hub_source_serves_closed_book(hub_cache):
    hub_cache(SMALL)
    loaded = _load_topics("tls_crisis", need_articles=False)
    assert names(loaded) == ["egypt", "libya", "syria", "yemen"]
    assert (loaded.edition, loaded.origin.split("@")[0]) == ("hub", "adithya7/background-summaries")
    assert [len(topic.timelines) for topic in loaded.documents] == [3, 3, 3, 3]
    egypt = loaded.documents[0]
    assert egypt.keywords == ("egypt",)
    assert egypt.timelines[1].as_rows() == [
        {"date": "2011-01-25", "text": ['A "quoted" word. Second\tline.']},
        {"date": "2011-01-28", "text": ["egypt 1"]},
    ]


def test_hub_source_equals_a_local_copy_of_the_real_timelines(shared_data, hub_cache):
    local = read_data_set(shared_data / "crisis")
    raw = {
        topic.name: [json.loads(line) for line in (shared_data / "crisis" / topic.name / "timelines.jsonl").open()]
        for topic in local
    }
    hub_cache(raw)
    loaded = _load_topics("tls_crisis", need_articles=False).documents
    assert loaded == tuple(dataclasses.replace(topic, articles=()) for topic in local)


def test_archive_with_another_hash_is_refused_in_one_line(hub_cache, caplog):
    hub_cache(SMALL, right_hash=False)
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_topics("tls_crisis", need_articles=False).edition == "embedded"
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"data_sets.json pins {DATA_SETS['tls_crisis'].hub.sha256}" in record.message
    assert "\n" not in record.message


def test_damaged_archives_are_errors(tmp_path):
    hub = DATA_SETS["tls_crisis"].hub

    def read(content):
        (tmp_path / "x.tar.gz").write_bytes(content)
        pinned = dataclasses.replace(hub, sha256=hashlib.sha256(content).hexdigest())
        return read_events(tmp_path / "x.tar.gz", pinned)

    with pytest.raises(DataError, match=r"x.tar.gz"):
        read(b"not an archive")
    make_archive(tmp_path / "whole.tar.gz", SMALL, hub)
    whole = (tmp_path / "whole.tar.gz").read_bytes()
    assert len(read(whole)) == 4
    with pytest.raises(DataError):
        read(whole[: len(whole) // 2])
    two = {topic: hub.settings["topics"][topic] for topic in ("egypt", "libya")}
    make_archive(tmp_path / "less.tar.gz", SMALL, dataclasses.replace(hub, settings={**hub.settings, "topics": two}))
    with pytest.raises(DataError, match="syrian_crisis/annotator1"):
        read((tmp_path / "less.tar.gz").read_bytes())


# ---- the edition that is asked for


def test_edition_that_is_not_there_is_an_error(crisis, monkeypatch):
    with pytest.raises(DataError, match="TLS_TASKS_DATA is not set"):
        _load_topics("tls_crisis", edition="local")
    with pytest.raises(DataError, match="has no articles"):
        _load_topics("tls_crisis", edition="hub")
    with pytest.raises(DataError, match="tls_open: no data: it has no source on the hub"):
        _load_topics("tls_open", edition="hub", need_articles=False)
    with pytest.raises(DataError, match="is the local edition, but hub was asked for"):
        _load_topics("tls_crisis", data=crisis, edition="hub")
    monkeypatch.setenv("TLS_TASKS_DATA", str(crisis.parent))
    assert _load_topics("tls_crisis", edition="local").edition == "local"


def test_missing_embedded_edition_is_an_error_that_lists_what_was_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "EMBEDDED", tmp_path)
    with pytest.raises(DataError, match=r"TLS_TASKS_DATA is not set; .*no articles; it has no embedded edition"):
        _load_topics("tls_crisis")


# ---- the whole way, as the harness calls it
