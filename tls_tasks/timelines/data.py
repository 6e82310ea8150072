"""Data of the timeline tasks: where it comes from, and the documents that a task asks about.

A task looks for its data in the order of :mod:`tls_tasks.data.order`; the hub source has reference timelines only. What
is found never changes a task's form: if articles are needed, a source without them is skipped.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data import hub
from tls_tasks.data.catalogue import DataSet, find_data_set, public_sets, read_catalogue
from tls_tasks.data.files import file_rows
from tls_tasks.data.order import Loaded, Published, Reading, load, read_place
from tls_tasks.timelines.background_summaries import read_events
from tls_tasks.timelines.context import Budget, token_budget
from tls_tasks.timelines.documents import documents
from tls_tasks.timelines.news_tls import read_data_set
from tls_tasks.timelines.own_rows import distinct_topics, read_row
from tls_tasks.timelines.parquet import read_parquet, row_topic
from tls_tasks.timelines.public_files import public_copies
from tls_tasks.timelines.topics import Topic

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of article text in a prompt, some 6,000 tokens of English: a context of 8k has room for the answer."""

ALL_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))
"""The data sets, and the name under which a user's own runs."""

DATA_SETS = public_sets(ALL_SETS)

PUBLIC = public_copies(DATA_SETS)
"""What ``tls-tasks fetch`` gets, by name."""


def load_documents(
    name: str,
    /,
    *,
    closed_book: bool = False,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    context_tokens: int | None = None,
    tokenizer: str | None = None,
    provenance: MutableMapping[str, str] | None = None,
    **ignored: Any,
) -> list[dict[str, str | int]]:
    """Load the documents of one task.

    The harness calls it with everything in the task's ``metadata``, in ``--metadata`` and in ``--model_args``. The
    options below are read; everything else (``version``, ``base_url``, ``config_source`` …) is for others and ignored.

    Args:
        name: Data set: ``tls_crisis``, ``tls_timeline17``, ``tls_entities`` or ``tls_open``.
        closed_book: Make the form that gives only topic, time span and number of dates, and needs no articles.
        data: Where the data is; no other source is tried then. A news-tls folder of this data set, a folder with such a
            folder in it (called ``name``, or as news-tls calls it), Parquet made by ``tls-tasks prepare`` (file or
            folder), or a hub data set ``org/name`` or ``org/name@revision`` that holds such Parquet.
        edition: ``local``, ``fetched``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first
            that has it.
        context_budget: Characters of article text in a prompt. Not used with ``context_tokens``.
        context_tokens: Tokens of article text in a prompt.
        tokenizer: Hugging Face tokenizer that counts ``context_tokens``; without it the model's own (``pretrained`` of
            the model arguments) is taken.
        provenance: Filled with ``edition`` and ``origin`` of the data. A task with ``provenance: {}`` in its metadata
            gets them into its results file that way, because the harness writes the same metadata there.
        **ignored: What is meant for others; only ``pretrained`` is looked at, as said above.

    Returns:
        One row per (topic, reference timeline) pair, as :func:`tls_tasks.timelines.documents.documents` makes them.

    Raises:
        DataError: If the data that was asked for can't be used, or no source has any; says how to get it.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.
        MissingExtraError: If ``context_tokens`` is set and transformers isn't installed.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     rows = load_documents("tls_crisis", closed_book=True, edition="embedded", version=1.0)
        >>> rows[0]["topic"], rows[0]["n_dates"]
        ('egypt', 10)
    """
    budget = None if closed_book else _budget(context_budget, context_tokens, tokenizer or ignored.get("pretrained"))
    loaded = _load_topics(name, data, need_articles=not closed_book, edition=edition)
    loaded.note(provenance, ignored.get("name"))
    return documents(loaded.documents, loaded.edition, budget)


def _budget(characters: int, tokens: int | None, tokenizer: object) -> Budget:
    if tokens is None:
        return Budget(check_whole_number("context_budget", characters))
    if not isinstance(tokenizer, str):
        raise InputError("tokenizer", None, repr(tokenizer), "the name of a Hugging Face tokenizer, for context_tokens")
    return token_budget(check_whole_number("context_tokens", tokens), tokenizer)


def _load_topics(
    name: str, data: str | Path | None = None, need_articles: bool = True, edition: str | None = None
) -> Loaded[Topic]:
    """The topics of a data set from the first source that has it; with articles, if they are needed."""
    return load(_reading(find_data_set(ALL_SETS, name), need_articles), data, edition)


def read_local(wanted: DataSet, place: Path) -> Loaded[Topic]:
    """Read a data set, with the articles that it has, from a folder or a Parquet file.

    Args:
        wanted: The data set.
        place: As the argument ``data`` of :func:`load_documents`.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    return read_place(_reading(wanted, need_articles=True), place)


def _reading(wanted: DataSet, need_articles: bool) -> Reading[Topic]:
    public = PUBLIC.get(wanted.name)
    if need_articles and public is not None and not public.has_articles:
        public = None
    return Reading(
        wanted,
        DATA_SETS.values(),
        at=partial(_read_at, wanted, articles=need_articles),
        published=partial(_published, wanted, need_articles),
        from_rows=lambda rows: tuple(row_topic(wanted.name, row, where) for where, row in rows),
        lacking=_lacking_articles if need_articles else lambda topics: "",
        public=public,
    )


def _read_at(wanted: DataSet, place: Path, articles: bool) -> tuple[Topic, ...]:
    if place.is_file() and place.suffix != ".parquet":
        return distinct_topics(place, [read_row(wanted.name, row, where, articles) for where, row in file_rows(place)])
    files = [place] if place.is_file() else sorted([*place.glob("*.parquet"), *place.glob("data/*.parquet")])
    return read_parquet(wanted.name, files, articles=articles) if files else read_data_set(place, articles=articles)


def _published(wanted: DataSet, need_articles: bool) -> Published[Topic] | str:
    source = wanted.hub
    if source is None:
        return "it has no source on the hub"
    if need_articles:
        return f"{source.repo_id} on the hub has no articles"
    (file,) = source.files
    return read_events(hub.fetch(source.repo_id, source.revision, file), source), source.origin


def _lacking_articles(topics: Sequence[Topic]) -> str:
    names = ", ".join(topic.name for topic in topics if not topic.articles)
    return f"no articles of {names}; the closed-book form needs none" if names else ""
