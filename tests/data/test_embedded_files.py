"""The files of the embedded edition: their form, and the sizes of its timelines that README and LICENSE say."""

import datetime
import json
import re
from pathlib import Path

import pytest

from tls_tasks.data.sources import EMBEDDED

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

FOLDERS = [EMBEDDED / name for name in CASES["folders"] if name.startswith("tls_")]
every_topic = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")


def read_lines(path):
    """Parse a file with one JSON value a line; a blank line is an error of json."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def read_articles(folder):
    return read_lines(folder / "articles.jsonl")


def read_timelines(folder):
    return read_lines(folder / "timelines.jsonl")


def to_date(time):
    """The day of an ISO time; fails on any other form."""
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T00:00:00", time), time
    return datetime.datetime.fromisoformat(time).date()


def article_sentences(folder):
    return [sentence for article in read_articles(folder) for sentence in article["sentences"]]


def reference_sentences(folder):
    return [text for timeline in read_timelines(folder) for _, sentences in timeline for text in sentences]


def words_of(sentence):
    return re.findall(r"\w+(?:[-'.,]\w+)*", sentence.lower())


def test_the_folders_hold_their_files_in_plain_form():
    found = {}
    for path in sorted(path for path in EMBEDDED.rglob("*") if path.is_file()):
        found.setdefault(path.parent.relative_to(EMBEDDED).as_posix(), []).append(path.name)
        raw = path.read_bytes()
        assert raw.endswith(b"\n") and not raw.endswith(b"\n\n") and b"\r" not in raw, path
        assert b"\\u" not in raw, f"{path}: characters stand as themselves"
    assert found == CASES["folders"]


@every_topic
def test_articles_have_the_fields_and_the_order(folder):
    articles = read_articles(folder)
    times = [article["time"] for article in articles]
    assert all(set(article) == {"id", "time", "title", "sentences"} for article in articles)
    assert all(article["title"].strip() == article["title"] != "" for article in articles)
    assert [to_date(time) for time in times] == sorted(to_date(time) for time in times)
    assert len({article["id"] for article in articles}) == len(articles)


@every_topic
def test_timelines_have_the_form(folder):
    for timeline in read_timelines(folder):
        dates = [to_date(time) for time, _ in timeline]
        assert dates == sorted(set(dates)) and 7 <= len(dates) <= 13
        assert all(1 <= len(sentences) <= 3 for _, sentences in timeline)


def test_ids_and_sentences_are_unique_over_the_edition():
    ids = [article["id"] for folder in FOLDERS for article in read_articles(folder)]
    sentences = [text for folder in FOLDERS for text in article_sentences(folder) + reference_sentences(folder)]
    assert len(ids) == len(set(ids))
    assert len(sentences) == len({" ".join(words_of(text)) for text in sentences})


@every_topic
def test_readme_row_is_counted_from_the_files(folder):
    articles, timelines = read_articles(folder), read_timelines(folder)
    cells = [
        f"`{folder.parent.name}`",
        f"`{folder.name}`",
        str(len(articles)),
        str(len(article_sentences(folder))),
        f"{to_date(articles[0]['time'])} to {to_date(articles[-1]['time'])}",
        str(len(timelines)),
        ", ".join(str(len(timeline)) for timeline in timelines),
        ", ".join(str(sum(len(sentences) for _, sentences in timeline)) for timeline in timelines),
    ]
    assert f"| {' | '.join(cells)} |" in (EMBEDDED / "README.md").read_text(encoding="utf-8").splitlines()


def test_readme_totals_and_licence():
    n_articles = sum(len(read_articles(folder)) for folder in FOLDERS)
    n_sentences = sum(len(article_sentences(folder)) for folder in FOLDERS)
    n_timelines = sum(len(read_timelines(folder)) for folder in FOLDERS)
    readme = (EMBEDDED / "README.md").read_text(encoding="utf-8")
    totals = f"{len(FOLDERS)} topics, {n_articles} articles, {n_sentences} article sentences, {n_timelines} reference"
    assert totals in " ".join(readme.split())
    assert "not a benchmark" in readme
    licence = (EMBEDDED / "LICENSE.txt").read_text(encoding="utf-8")
    assert all(words in licence for words in CASES["licence"])
