"""The news-tls reader: shapes, oddities and broken files, small ones and the real ones."""

import datetime
import gzip
import json
from pathlib import Path

import pytest

from tls_tasks.core.errors import DataError
from tls_tasks.timelines.topics import ARTICLE_FILES, Article, _read_topic, read_data_set, read_day, read_timeline

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

DAY = datetime.date


def test_topic_as_written(tmp_path, topic_writer):
    topic = _read_topic(topic_writer(tmp_path / "egypt"))
    assert topic.name == "egypt"
    assert topic.keywords == ("egypt",)
    assert topic.articles == (
        Article("a1", DAY(2011, 1, 25), "Cairo", ("Egypt is in shock.", "It rains a lot.")),
        Article("a2", DAY(2011, 1, 28), "", ("The army is in Cairo.",)),
    )
    assert [timeline.dates for timeline in topic.timelines] == [
        (DAY(2011, 1, 25), DAY(2011, 1, 28)),
        (DAY(2011, 2, 11),),
    ]
    assert topic.timelines[0].entries[1].sentences == ("The army is deployed.", "Curfew.")


@pytest.mark.parametrize("name", ARTICLE_FILES)
def test_every_article_file_name_is_read(tmp_path, topic_writer, name):
    topic = _read_topic(topic_writer(tmp_path / "egypt", article_file=name))
    assert [article.id for article in topic.articles] == ["a1", "a2"]


def test_preprocessed_articles_are_preferred(tmp_path, topic_writer):
    folder = topic_writer(tmp_path / "egypt")
    other = [{"id": "p", "time": "2011-01-25", "title": "", "sentences": ["Preprocessed."]}]
    topic_writer(folder, articles=other, article_file="articles.preprocessed.jsonl.gz")
    assert [article.id for article in _read_topic(folder).articles] == ["p"]


def test_sentence_objects_of_the_distribution(tmp_path, topic_writer):
    sentence = {"raw": "Protests begin .", "tokens": {"keys": [], "data": []}, "time": None, "time_level": None}
    article = {"id": 7, "time": "2011-01-25 00:00:00", "title": "T", "text": "x", "sentences": [sentence]}
    topic = _read_topic(topic_writer(tmp_path / "egypt", articles=[article]))
    assert topic.articles == (Article("7", DAY(2011, 1, 25), "T", ("Protests begin .",)),)


def test_tokenised_articles_have_a_sentence_a_line(tmp_path, topic_writer):
    article = {"id": "a", "time": "2011-01-25", "text": "Protests begin .\n\nThe army waits .\n"}
    topic = _read_topic(topic_writer(tmp_path / "egypt", articles=[article], article_file="articles.tokenized.jsonl"))
    assert topic.articles[0].sentences == ("Protests begin .", "The army waits .")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2011-01-25", DAY(2011, 1, 25)),
        ("2011-01-25T10:30:00+00:00", DAY(2011, 1, 25)),
        ("2011-01-25 10:30:00", DAY(2011, 1, 25)),
        ("2011-01T00:00:00", DAY(2011, 1, 1)),
        ("2011", DAY(2011, 1, 1)),
        ("2011-01-25 T00:00:00", DAY(2011, 1, 25)),
    ],
)
def test_dates(text, day):
    got = read_day(text)
    assert got == day
    assert type(got) is DAY


@pytest.mark.parametrize("text", ["2011-02-30", "soon", "", None, 20110125, "2011-01-25 to 2011-01-28"])
def test_what_is_no_date_names_its_place(text):
    with pytest.raises(DataError, match=r"timelines\.jsonl, line 3: .*is not a date"):
        read_timeline([[text, ["A."]]], "timelines.jsonl, line 3")


def test_rows_are_sorted_and_repeated_dates_joined():
    rows = [["2011-02-11", ["C."]], ["2011-01-25", ["A."]], ["2011-02-11", ["D."]]]
    timeline = read_timeline(rows, "here")
    assert [entry.sentences for entry in timeline] == [("A.",), ("C.", "D.")]


def test_sentences_are_cleaned_and_empty_timelines_left_out(tmp_path, topic_writer):
    rows = [["2011-01-25", ["End. \\nThe army.", "  ", " kept "]], ["2011-01-26", "one text"], ["2011-01-27", []]]
    topic = _read_topic(topic_writer(tmp_path / "egypt", timelines=[rows, []], articles=None, keywords=None))
    entries = topic.timelines[0].entries
    assert [entry.sentences for entry in entries] == [("End. The army.", "kept"), ("one text",), ()]
    assert len(topic.timelines) == 1
    assert topic.keywords == ()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        *CASES["broken_files_are_named"],
        ("timelines.jsonl", b"\xff\xfe", "timelines.jsonl, line 1: can't be read"),
        ("articles.jsonl.gz", b"no gzip", "articles.jsonl.gz, after line 0"),
        ("articles.jsonl.gz", gzip.compress(b'{"id": 1}\n' * 9999, mtime=0)[:-20], "articles.jsonl.gz, "),
        (
            "articles.jsonl.gz",
            gzip.compress(b'{"id": 1, "time": "2011-01-25"}\n', mtime=0),
            "line 1: no field sentences",
        ),
        ("articles.jsonl.gz", gzip.compress(b"[1]\n", mtime=0), "line 1: expected an object"),
        ("articles.jsonl.gz", gzip.compress(b'{"id": 1, "sentences": []}\n', mtime=0), "line 1: no field date or time"),
    ],
)
def test_broken_files_are_named(tmp_path, topic_writer, file, content, message):
    folder = topic_writer(tmp_path / "egypt")
    (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        _read_topic(folder)


def test_data_set_reads_topics_by_name_and_passes_over_other_folders(crisis):
    (crisis / ".cache").mkdir()
    (crisis / "notes").mkdir()
    (crisis / "LICENSE.txt").write_text("none")
    assert [topic.name for topic in read_data_set(crisis)] == ["egypt", "libya"]


def test_articles_without_timelines_are_an_error(crisis):
    (crisis / "egypt" / "timelines.jsonl").unlink()
    with pytest.raises(DataError, match="egypt: has articles but no timelines"):
        read_data_set(crisis)


def test_folder_without_topics_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no topic in it"):
        read_data_set(tmp_path)


def test_real_open_tls(shared_data):
    topics = read_data_set(shared_data / "open_tls")
    assert len(topics) == 50
    assert all(len(topic.timelines) == 1 and not topic.articles for topic in topics)
    assert sum(len(topic.timelines[0]) for topic in topics) == 1130
    assert sum(topic.timelines[0].n_sentences for topic in topics) == 2070


def test_real_crisis(shared_data):
    topics = read_data_set(shared_data / "crisis")
    assert [topic.name for topic in topics] == ["egypt", "libya", "syria", "yemen"]
    assert [len(topic.timelines) for topic in topics] == [3, 3, 3, 3]
    assert [len(topic.timelines[0]) for topic in topics] == [129, 118, 164, 81]
    assert [len(topic.articles) for topic in topics] == [802, 802, 612, 895]


def test_real_updates(shared_data):
    topics = read_data_set(shared_data / "updates")
    assert len(topics) == 10
    assert sum(len(timeline) for topic in topics for timeline in topic.timelines) == 1797
