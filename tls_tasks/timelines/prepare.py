"""``tls-tasks prepare``: from a news-tls folder to Parquet with a data set card, for ``--metadata`` or the hub."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tls_tasks.data.cards import front_matter, use, write_folder
from tls_tasks.data.catalogue import DataSet, find_data_set
from tls_tasks.timelines.data import ALL_SETS, read_local
from tls_tasks.timelines.topics import Topic, write_parquet


def prepare(
    name: str, source: Path, out: Path, *, licence: str | None = None, force: bool = False
) -> tuple[Topic, ...]:
    """Write a data set as Parquet with a card.

    Args:
        name: The data set.
        source: A news-tls folder of it, a folder with such a folder in it, or what ``tls_custom`` reads.
        out: The folder to write: ``data/test-00000-of-00001.parquet`` and ``README.md``.
        licence: Licence for the card; None says what is known of the original's.
        force: Write into ``out`` although there is something in it; other files in it are left alone.

    Returns:
        The topics that were written.

    Raises:
        DataError: If the source can't be read or is the embedded edition, or ``out`` is neither new nor an empty folder
            and ``force`` isn't set.
        OptionError: If there is no such data set.
    """
    wanted = find_data_set(ALL_SETS, name)
    found = read_local(wanted, source)
    topics = found.documents
    write_folder(found, out, force, partial(write_parquet, name, topics), _card(wanted, topics, licence))
    return topics


def task_for(name: str, topics: tuple[Topic, ...]) -> str:
    """The task that runs on these topics: without articles it is the closed-book form.

    Example:
        >>> task_for("tls_open", (Topic("Apple", (), (), ()),))
        'tls_open_closed_book'
    """
    return name if all(topic.articles for topic in topics) else f"{name}_closed_book"


def _card(wanted: DataSet, topics: tuple[Topic, ...], licence: str | None) -> Iterator[str]:
    """The data set card, in the hub's form: YAML front matter, then Markdown.

    Args:
        wanted: The data set.
        topics: What is in it.
        licence: A licence identifier of the hub (``cc-by-4.0``), any other text, or None for what is known.
    """
    yield from front_matter(wanted.title, ["summarization"], "timeline-summarization", licence)
    yield from ("", f"# {wanted.title}, prepared for tls-tasks", "")
    yield f"Source: {wanted.homepage}. Paper: {wanted.citation} Licence: {licence or wanted.licence}."
    yield "Made by `tls-tasks prepare`. One row a topic, every date a string. Columns: `data_set`, `topic`,"
    yield "`keywords`, `articles` (`id`, `date`, `title`, `sentences`), `timelines` (the references, each a list of"
    yield "`date` and `text`)."
    yield from ("", *_topic_table(topics))
    task = task_for(wanted.name, topics)
    yield from (*use(f'lm_eval --tasks {task} --metadata \'{{"data": "FOLDER or ORG/NAME"}}\' …'), "")
    yield "The second line puts this folder on the hub. Make it public only if the licence above allows it."


def _topic_table(topics: tuple[Topic, ...]) -> Iterator[str]:
    yield "| topic | timelines | dates | articles |"
    yield "|---|---|---|---|"
    for topic in topics:
        n_dates = sum(map(len, topic.timelines))
        name = topic.name.replace("|", "\\|")
        yield f"| {name} | {len(topic.timelines)} | {n_dates} | {len(topic.articles)} |"
