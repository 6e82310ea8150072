"""Readers of the timeline data sets that others have published: from their files to topics.

There are three forms: folders of the news-tls layout (Open-TLS), the archive of background-summaries (references of
Crisis), and two of a repository of sentences by day: ``time-sent.csv``, and Timeline17's references as text.
"""

import ast
import csv
import datetime
import io
import itertools
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.catalogue import DataSet, HubFiles, read_catalogue
from tls_tasks.data.fetched import ROWS, PublicCopy, file_sha256, public_copies
from tls_tasks.timelines import topics
from tls_tasks.timelines.topics import Article, Topic
from tls_tasks.timelines.types import Timeline

_RULE = re.compile(r"^-{32}$", re.MULTILINE)  # stands between the days of a reference of Timeline17
_LONGEST_FIELD = 1 << 24  # a day of Egypt has more text than the csv module takes by default


PUBLIC = public_copies("timelines")
"""Name -> data set that ``tls-tasks fetch`` downloads."""


def write(copy: PublicCopy, files: Mapping[str, Path], folder: Path) -> None:
    """Write the topics of fetched files as Parquet into a folder; ``files`` maps paths in the repository to files."""
    data_set = read_catalogue(__file__)[0][copy.name]
    topics.write_parquet(copy.name, _topics(data_set, copy, files), folder / ROWS)


def _topics(data_set: DataSet, copy: PublicCopy, files: Mapping[str, Path]) -> list[Topic]:
    """Read the topics of fetched files, in the order of their names."""
    timelines: dict[str, tuple[Timeline, ...]] = {}
    articles: dict[str, tuple[Article, ...]] = {}
    keywords = {topic: tuple(words) for topic, words in copy.settings.get("keywords", {}).items()}
    for repository_path, file in files.items():
        path = PurePosixPath(repository_path)
        if path.name == "events.tar.gz" and data_set.hub is not None:
            for topic in read_events(file, data_set.hub):
                timelines[topic.name], keywords[topic.name] = topic.timelines, topic.keywords
        elif path.name == topics.TIMELINES_FILE:
            timelines[path.parent.name] = topics.read_timelines(file)
        elif path.name == "time-sent.csv":
            articles[path.parent.name] = tuple(_articles(path.parent.name, file))
        else:
            timelines[path.stem.removeprefix("outputTimelines")] = tuple(_references(file))
    return [Topic(name, keywords.get(name, ()), articles.get(name, ()), timelines[name]) for name in sorted(timelines)]


# ---- the archive of background-summaries


def read_events(archive: Path, source: HubFiles) -> tuple[Topic, ...]:
    """Read ``events.tar.gz`` of background-summaries: timelines that annotators rewrote, topics by name, no articles.

    Each topic folder has one tab-separated file per annotator, with the columns ``Date`` (``[2011-01-25]``), ``Update``
    (the day's summary, read here as one sentence) and ``Background`` (not used). Pratapa, Small and Dreyer (2023),
    EMNLP. Nothing is unpacked to disk: only the files that ``source`` names are read.

    Args:
        archive: The downloaded file.
        source: Holds the archive's hash, and in its settings the topics and their files.

    Raises:
        DataError: The archive isn't the pinned one, or a file in it is missing or broken.
    """
    if (digest := file_sha256(archive)) != source.sha256:
        raise DataError(f"{archive}: its sha256 is {digest}, but data_sets.json pins {source.sha256}")
    try:
        with tarfile.open(archive, mode="r:gz") as tar:
            events = []
            for name, topic in sorted(source.settings["topics"].items()):
                members = (f"{topic['folder']}/{file}" for file in source.settings["timelines"])
                timelines = tuple(_annotated_timeline(tar, member) for member in members)
                events.append(Topic(name, tuple(topic["keywords"]), (), timelines))
            return tuple(events)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        # gzip raises the last three for a file that is cut off or damaged.
        raise DataError(f"{archive}: {error}") from error


def _annotated_timeline(tar: tarfile.TarFile, member: str) -> Timeline:
    try:
        # extractfile returns None for a folder or a device, and raises KeyError for a link out of the archive.
        file = tar.extractfile(member)
        text = file.read().decode("utf-8") if file else ""
    except (KeyError, UnicodeDecodeError) as error:
        raise DataError(f"{member}: {error}") from error
    # newline="" leaves line ends inside quotes to the csv module, as its documentation asks.
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    if not {"Date", "Update"} <= set(table.fieldnames or ()):
        raise DataError(f"{member}: expected the columns Date and Update, got {table.fieldnames}")
    days = [[(row["Date"] or "").strip().removeprefix("[").removesuffix("]"), row["Update"] or ""] for row in table]
    return topics.read_timeline(days, member)


# ---- sentences by day


def _articles(topic: str, file: Path) -> Iterator[Article]:
    """Yield one article a day with all sentences of the day: the files don't tell the articles of a day apart."""
    csv.field_size_limit(max(_LONGEST_FIELD, csv.field_size_limit()))
    with file.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines)):
            sentences = _literal(row["Sentences"], str(file))
            article = {"id": f"{topic}-{number}", "date": row["time"], "sentences": sentences}
            yield topics.read_article(article, str(file))


def _references(file: Path) -> Iterator[Timeline]:
    """Yield the references of a topic: a day that is not later than the one before begins the next reference."""
    rows: list[list[Any]] = []
    previous = datetime.date.min
    for block in filter(str.strip, _RULE.split(file.read_text(encoding="utf-8"))):
        day, _, text = block.strip().partition("\n")
        # Some lists are quoted, as fields of CSV are.
        field = "".join(itertools.chain.from_iterable(csv.reader(io.StringIO(text.strip(), newline=""))))
        row = [day, _literal(field if text.lstrip().startswith('"') else text, str(file))]
        (date,) = topics.read_timeline([row], str(file)).dates
        if date <= previous:
            yield topics.read_timeline(rows, str(file))
            rows = []
        rows.append(row)
        previous = date
    yield topics.read_timeline(rows, str(file))


def _literal(text: str, where: str) -> Any:
    """Parse a list of sentences that is written as a Python literal."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise DataError(f"{where}: expected a list of sentences, got {text[:60]!r}") from error
