"""The files of the embedded edition, and of its timelines sizes and what README and LICENSE promise."""

import datetime
import json
import re
from pathlib import Path

import pytest

from tls_tasks.data.order import EMBEDDED

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

# Per task: least articles, least publication days, most sentences an article, (least, most) dates of each reference.
SIZES = {
    "tls_crisis": (14, 12, 7, ((8, 10), (10, 13))),
    "tls_timeline17": (10, 10, 6, ((7, 10), (7, 10))),
    "tls_entities": (10, 10, 6, ((7, 10),)),
    "tls_open": (10, 10, 6, ((7, 10),)),
}
FOLDERS = [EMBEDDED / name for name in CASES["folders"] if name.startswith("tls_")]
every_topic = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")

MONTHS = [datetime.date(2000, month, 1).strftime("%B") for month in range(1, 13)]
MONTH = "|".join(MONTHS)
MENTION = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}}) (?P<m1>{MONTH})|(?P<m2>{MONTH}) (?P<d2>\d{{1,2}})\b)(?:,? (?P<year>\d{{4}}))?"
)


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


def word_jaccard(left, right):
    return len(left & right) / len(left | right)


def mentioned_dates(article):
    """The days that an article names; without a year, the year that brings the day nearest to the publication."""
    published = to_date(article["time"])
    for match in MENTION.finditer(" ".join(article["sentences"])):
        day, month = int(match["d1"] or match["d2"]), MONTHS.index(match["m1"] or match["m2"]) + 1
        years = [int(match["year"])] if match["year"] else range(published.year - 1, published.year + 2)
        yield min((datetime.date(year, month, day) for year in years), key=lambda date: abs(date - published))


def test_the_folders_hold_their_files_in_plain_form():
    found = {}
    for path in sorted(path for path in EMBEDDED.rglob("*") if path.is_file()):
        found.setdefault(path.parent.relative_to(EMBEDDED).as_posix(), []).append(path.name)
        raw = path.read_bytes()
        assert raw.endswith(b"\n") and not raw.endswith(b"\n\n") and b"\r" not in raw, path
        assert b"\\u" not in raw, f"{path}: characters stand as themselves"
    assert found == CASES["folders"]


@every_topic
def test_keywords_are_lower_case_and_occur(folder):
    keywords = json.loads((folder / "keywords.json").read_text(encoding="utf-8"))
    assert 1 <= len(keywords) <= 3
    assert all(isinstance(word, str) and word == word.strip().lower() != "" for word in keywords)
    texts = [" ".join([article["title"], *article["sentences"]]).lower() for article in read_articles(folder)]
    assert all(any(word in text for word in keywords) for text in texts)


@every_topic
def test_articles_have_the_fields_and_the_order(folder):
    articles = read_articles(folder)
    times = [article["time"] for article in articles]
    assert all(set(article) == {"id", "time", "title", "sentences"} for article in articles)
    assert all(article["title"].strip() == article["title"] != "" for article in articles)
    assert [to_date(time) for time in times] == sorted(to_date(time) for time in times)
    assert len({article["id"] for article in articles}) == len(articles)


@every_topic
def test_articles_keep_the_promised_sizes(folder):
    least_articles, least_days, most_sentences, _ = SIZES[folder.parent.name]
    articles = read_articles(folder)
    assert len(articles) >= least_articles
    assert len({article["time"] for article in articles}) >= least_days
    for article in articles:
        assert 4 <= len(article["sentences"]) <= most_sentences, article["id"]
        for sentence in article["sentences"]:
            assert 12 <= len(words_of(sentence)) <= 28, sentence


@every_topic
def test_article_sentences_do_not_repeat_each_other(folder):
    bags = [set(words_of(sentence)) for sentence in article_sentences(folder)]
    for index, bag in enumerate(bags):
        assert all(word_jaccard(bag, other) <= 0.5 for other in bags[index + 1 :]), bag


@every_topic
def test_some_articles_name_dates_before_and_after_their_own(folder):
    offsets = {
        (date > to_date(article["time"])) - (date < to_date(article["time"]))
        for article in read_articles(folder)
        for date in mentioned_dates(article)
    }
    assert {-1, 1} <= offsets
    with_a_date = [article for article in read_articles(folder) if any(mentioned_dates(article))]
    assert len(with_a_date) >= 0.8 * len(read_articles(folder))


@every_topic
def test_timelines_have_the_form_and_the_sizes(folder):
    bounds = SIZES[folder.parent.name][3]
    timelines = read_timelines(folder)
    assert len(timelines) == len(bounds)
    for timeline, (least, most) in zip(timelines, bounds, strict=True):
        dates = [to_date(time) for time, _ in timeline]
        assert dates == sorted(set(dates))
        assert least <= len(dates) <= most
        assert all(1 <= len(sentences) <= 3 for _, sentences in timeline)


@every_topic
def test_two_references_are_two_views(folder):
    if len(timelines := read_timelines(folder)) == 1:
        return
    first, second = ({time for time, _ in timeline} for timeline in timelines)
    assert first & second and first - second and second - first
    if folder.parent.name == "tls_crisis":
        assert all(len(sentences) == 1 for _, sentences in timelines[0])
        assert any(len(sentences) > 1 for _, sentences in timelines[1])


@every_topic
def test_every_reference_date_can_be_found_in_the_articles(folder):
    articles = read_articles(folder)
    findable = {to_date(article["time"]) for article in articles}
    for article in articles:
        findable.update(mentioned_dates(article))
    span = to_date(articles[-1]["time"]) - to_date(articles[0]["time"])
    for timeline in read_timelines(folder):
        for date in (to_date(time) for time, _ in timeline):
            assert date in findable, date
            assert to_date(articles[0]["time"]) - span <= date <= to_date(articles[-1]["time"])


@every_topic
def test_references_are_worded_differently_from_the_articles(folder):
    articles = [set(words_of(sentence)) for sentence in article_sentences(folder)]
    for sentence in reference_sentences(folder):
        closest = max(word_jaccard(set(words_of(sentence)), bag) for bag in articles)
        assert closest <= 0.45, (closest, sentence)


def test_ids_and_sentences_are_unique_over_the_edition():
    ids = [article["id"] for folder in FOLDERS for article in read_articles(folder)]
    sentences = [text for folder in FOLDERS for text in article_sentences(folder) + reference_sentences(folder)]
    assert len(ids) == len(set(ids))
    assert len(sentences) == len({" ".join(words_of(text)) for text in sentences})


def test_sentences_are_clean_text():
    for folder in FOLDERS:
        for text in article_sentences(folder) + reference_sentences(folder):
            assert text == " ".join(text.split()), text
            assert text.isprintable() and text.endswith("."), text


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
