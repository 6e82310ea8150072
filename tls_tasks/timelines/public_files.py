"""The timeline data sets that can be fetched, and how their files become topics.

Three forms: folders of the news-tls layout (Open-TLS), the archive of background-summaries (references of Crisis), and
two of a repository that keeps sentences by day: ``time-sent.csv``, and the references of Timeline17 as text.
"""

from __future__ import annotations

import ast
import csv
import datetime
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from tls_tasks.core.errors import DataError
from tls_tasks.data.catalogue import DataSet
from tls_tasks.data.fetched import PublicCopy, read_public_copies
from tls_tasks.timelines.background_summaries import read_events
from tls_tasks.timelines.news_tls import read_timelines
from tls_tasks.timelines.parquet import write_parquet
from tls_tasks.timelines.topics import Article, Topic, read_day, read_sentences, read_timeline
from tls_tasks.timelines.types import Timeline

_LINE = re.compile(r"^-{32}$", re.MULTILINE)  # between the days of a reference of Timeline17
_LONGEST_FIELD = 1 << 24  # a day of Egypt has more text than the csv module takes by default


def public_copies(known: Mapping[str, DataSet]) -> dict[str, PublicCopy]:
    """The data sets of ``public_files.json`` by name.

    Args:
        known: All data sets of the family.
    """

    def write(copy: PublicCopy, files: Mapping[str, Path], out: Path) -> None:
        write_parquet(copy.name, _topics(known[copy.name], copy, files), out)

    return read_public_copies(Path(__file__).with_name("public_files.json"), write)


def _topics(wanted: DataSet, copy: PublicCopy, files: Mapping[str, Path]) -> list[Topic]:
    """The topics of fetched files, by path in the repository, in the order of their names."""
    timelines: dict[str, tuple[Timeline, ...]] = {}
    articles: dict[str, tuple[Article, ...]] = {}
    keywords: dict[str, tuple[str, ...]] = {
        topic: tuple(words) for topic, words in copy.settings.get("keywords", {}).items()
    }
    for path, file in files.items():
        place = PurePosixPath(path)
        if place.name == "events.tar.gz" and wanted.hub is not None:
            for topic in read_events(file, wanted.hub):
                timelines[topic.name], keywords[topic.name] = topic.timelines, topic.keywords
        elif place.name == "timelines.jsonl":
            timelines[place.parent.name] = read_timelines(file)
        elif place.name == "time-sent.csv":
            articles[place.parent.name] = tuple(_articles(place.parent.name, file))
        else:
            timelines[place.stem.removeprefix("outputTimelines")] = tuple(_references(file))
    return [Topic(name, keywords.get(name, ()), articles.get(name, ()), timelines[name]) for name in sorted(timelines)]


def _articles(topic: str, file: Path) -> Iterator[Article]:
    """An article a day, with all sentences of the day: the files don't say which article a sentence is from."""
    if csv.field_size_limit() < _LONGEST_FIELD:
        csv.field_size_limit(_LONGEST_FIELD)
    with file.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines)):
            day = read_day(row["time"], str(file))
            yield Article(f"{topic}-{number}", day, "", read_sentences(_sentences(row["Sentences"], str(file))))


def _references(file: Path) -> Iterator[Timeline]:
    """The references of a topic: a day that is not later than the one before begins the next."""
    rows: list[tuple[str, list[str]]] = []
    before = datetime.date.min
    for block in filter(str.strip, _LINE.split(file.read_text(encoding="utf-8"))):
        day, _, text = block.strip().partition("\n")
        date = read_day(day, str(file))
        if date <= before:
            yield read_timeline(rows, str(file))
            rows = []
        # Some lists stand in quotes, as fields of CSV do.
        field = "".join(itertools.chain.from_iterable(csv.reader(io.StringIO(text.strip(), newline=""))))
        rows.append((day, _sentences(field if text.lstrip().startswith('"') else text, str(file))))
        before = date
    yield read_timeline(rows, str(file))


def _sentences(text: str, where: str) -> list[str]:
    """A list of sentences as Python writes it."""
    try:
        found = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise DataError(f"{where}: expected a list of sentences, got {text[:60]!r}") from error
    if not isinstance(found, Iterable) or not all(isinstance(sentence, str) for sentence in found):
        raise DataError(f"{where}: expected a list of sentences, got {text[:60]!r}")
    return list(found)
