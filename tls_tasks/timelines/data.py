"""Data sets of the timeline tasks: loading topics, and building the documents that a task asks about.

A task tries the sources of :mod:`tls_tasks.data.sources` in order; the hub source has reference timelines only. The
source never changes a task's form: if articles are needed, a source without them is skipped.
"""

import datetime
import json
import logging
import re
from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError, check_whole_number
from tls_tasks.data import hub
from tls_tasks.data.catalogue import DataSet, HubFiles, find_data_set, read_catalogue
from tls_tasks.data.files import file_rows
from tls_tasks.data.model_context import LONGEST_ANSWER, ModelContext, model_context
from tls_tasks.data.sources import DEFAULT_CONTEXT_BUDGET, LoadedData, SetReader, load
from tls_tasks.timelines.prompts import Budget, Context, build_context, prompt
from tls_tasks.timelines.public_files import PUBLIC, read_events
from tls_tasks.timelines.topics import Topic, read_data_set, read_rows

_TOKENS_A_DATE = 50
_TRAILING_DATE = re.compile(r"[_ ]\d{4}\.\d{1,2}\.\d{1,2}$")
_EXAMPLES = Path(__file__).with_name("examples.json")
_NO_CONTEXT = Context("", 0, 0, 0, 0, ())


@dataclass(frozen=True, slots=True)
class Room:
    """Limits of a prompt and its answer.

    Attributes:
        budget: The requested amount of article text; None for as much as fits.
        model: The model's context, if it is known: prompt and answer stay in it.
        answer: Tokens for the answer.
    """

    budget: Budget | None = None
    model: ModelContext | None = None
    answer: int = LONGEST_ANSWER

    @property
    def max_dates(self) -> int:
        """The number of dates that an answer has room for."""
        return self.answer // _TOKENS_A_DATE

    def select_context(self, topic: Topic, phrases: Mapping[str, str]) -> Context:
        """Select the article sentences for the prompts of a topic; the last budget is the model's context, if known."""
        budgets = [self.budget] if self.budget else []
        if self.model:
            instruction = prompt({**_topic_fields(topic, phrases), "n_asked": 999, "n_sentences": 99, "context": ""})
            size = self.model.prompt(self.answer) - self.model.count(instruction)
            budgets.append(Budget(size, self.model.count))
        return build_context(topic.articles, budgets)


def documents(
    topics: Iterable[Topic],
    edition: str,
    phrases: Mapping[str, str],
    room: Room,
    contexts: Mapping[str, Context] | None = None,
) -> list[dict[str, str | int]]:
    """Build the documents of a task.

    Args:
        topics: The topics.
        edition: The name of their source, which every document repeats.
        phrases: Topic name -> a phrase that can follow "a timeline of", such as ``the crisis in Egypt``.
        room: Limits of prompt and answer.
        contexts: Topic name -> result of :meth:`Room.select_context`; None for the closed-book form without articles.

    Returns:
        One row per (topic, timeline) pair, in order. ``query`` says what the topic is about. ``reference`` is JSON,
        ``[{"date": "2011-01-25", "text": …}, …]``. ``start_date`` and ``end_date`` are the first and last day of the
        articles; without articles, of the years in which the reference lies. ``n_dates`` (L) is the reference's number
        of dates, ``n_asked`` how many the prompt asks for: no more than it shows days or the answer has room for.
        ``n_sentences`` (k) is the reference's mean number of sentences per date, rounded and at least 1.
        ``context_sentences`` of ``context_sentences_total`` sentences are shown, on ``context_days`` of
        ``context_days_total`` days; ``context_truncated`` is how many sentences are not.
        With articles, ``article_dates`` (JSON) lists the days on which an article was published or which a sentence
        mentions, and ``reference_dates`` those of all the topic's timelines.
    """
    rows: list[dict[str, str | int]] = []
    for topic in topics:
        context = _NO_CONTEXT if contexts is None else contexts[topic.name]
        golds = sorted({day for timeline in topic.timelines for day in timeline.dates})
        dates = {"article_dates": sorted(context.dates), "reference_dates": golds} if contexts is not None else {}
        max_dates = room.max_dates if contexts is None else min(room.max_dates, context.n_days)
        rows += [
            {
                "doc_id": f"{topic.name}/{index}",
                "timeline_index": index,
                **_topic_fields(topic, phrases),
                "n_dates": len(timeline),
                "n_asked": max(1, min(len(timeline), max_dates)),
                "n_sentences": max(1, round(timeline.n_sentences / len(timeline))),  # as in news-tls, half to even
                "context": context.text,
                "context_truncated": context.all_sentences - context.n_sentences,
                "context_sentences": context.n_sentences,
                "context_sentences_total": context.all_sentences,
                "context_days": context.n_days,
                "context_days_total": context.all_days,
                **{name: json.dumps([*map(str, days)]) for name, days in dates.items()},
                "reference": json.dumps(timeline.as_rows(), ensure_ascii=False),
                "edition": edition,
            }
            for index, timeline in enumerate(topic.timelines)
        ]
    return rows


def examples(name: str) -> list[dict[str, str | int]]:
    """Return documents for few-shot prompts: topics in no data set, the same for every task.

    Example:
        >>> examples("tls_crisis")[0]["query"]
        'the flight of Apollo 11'
    """
    topics = read_rows("examples", file_rows(_EXAMPLES), _EXAMPLES.name)
    room = Room()
    closed_book = name.endswith("_closed_book")
    contexts = None if closed_book else {topic.name: room.select_context(topic, {}) for topic in topics}
    return documents(topics, "examples", {}, room, contexts)


# ---- the fields of a document that describe its topic


def _topic_fields(topic: Topic, phrases: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that all documents of a topic share: its name, query and first and last day."""
    keywords = topic.keywords or (_TRAILING_DATE.sub("", topic.name).replace("_", " "),)  # Open-TLS has no keywords
    start, end = _time_span(topic)
    time = {"start_date": start.isoformat(), "end_date": end.isoformat()}
    return {"topic": topic.name, "query": phrases.get(topic.name) or ", ".join(keywords), **time}


def _time_span(topic: Topic) -> tuple[datetime.date, datetime.date]:
    """Return the first and last day of the articles, or without articles of the references' years.

    Whole years do not give the first and last date of a reference away.

    Example:
        >>> from datetime import date
        >>> from tls_tasks.timelines.types import Timeline
        >>> [*map(str, _time_span(Topic("egypt", (), (), (Timeline.from_days({date(2011, 1, 25): ["Protests."]}),))))]
        ['2011-01-01', '2011-12-31']
    """
    days = [article.date for article in topic.articles]
    years = [day.year for timeline in topic.timelines for day in timeline.dates]
    return (min(days), max(days)) if days else (datetime.date(min(years), 1, 1), datetime.date(max(years), 12, 31))


ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""Name -> data set: all of them, and all but the ``_custom`` one, which holds a user's data."""

AUTO = "auto"
_ANSWER_SHARES = {False: 1 / 4, True: 1 / 2}
"""Is closed-book? -> the answer's largest share of a model's context. Closed-book prompts are short."""

_log = logging.getLogger(__name__)


def load_documents(
    data_set: str,
    /,
    *,
    name: str | None = None,
    closed_book: bool = False,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int | str = DEFAULT_CONTEXT_BUDGET,
    generation: MutableMapping[str, Any] | None = None,
    model_args: Mapping[str, Any] | None = None,
    provenance: MutableMapping[str, str] | None = None,
) -> list[dict[str, str | int]]:
    """Load the documents of one task.

    Args:
        data_set: ``tls_crisis``, ``tls_timeline17``, ``tls_entities`` or ``tls_open``.
        closed_book: Build the form that gives only topic, years and number of dates, and needs no articles.
        name: The name of your data in the results of a ``_custom`` task.
        data: The only place to read the data from. A news-tls folder of this data set, a folder with such a
            folder in it (called ``name``, or as news-tls calls it), Parquet made by ``tls-tasks prepare`` (file or
            folder), or a hub data set ``org/name`` or ``org/name@revision`` that holds such Parquet.
        edition: ``local``, ``fetched``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first
            that has it.
        context_budget: Characters of article text in a prompt, or ``auto``: as much as the model's context holds, if it
            is known.
        generation: The task's ``generation_kwargs``; ``max_gen_toks`` is set to the tokens that an answer may have.
        model_args: Arguments that determine the model's context (``pretrained``, ``max_length`` …), see
            :func:`~tls_tasks.data.model_context.model_context`: prompt and answer always stay in it.
        provenance: Filled with ``edition`` and ``origin`` of the data. A task with ``provenance: {}`` in its metadata
            gets them into its results file that way, because the harness writes the same metadata there.

    Returns:
        One row per (topic, reference timeline) pair, as :func:`tls_tasks.timelines.data.documents` makes them.

    Raises:
        DataError: If the requested data can't be used, or no source has any; the message says how to get it.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     rows = load_documents("tls_crisis", closed_book=True, edition="embedded")
        >>> rows[0]["topic"], rows[0]["n_dates"]
        ('egypt', 10)
    """
    model, max_gen_toks = model_context(model_args or {}), (model_args or {}).get("max_gen_toks")
    budget = None
    if not closed_book and context_budget != AUTO:
        budget = Budget(check_whole_number("context_budget", context_budget))
    if budget is None and model is None and not closed_book:
        budget = Budget(DEFAULT_CONTEXT_BUDGET)
        _log.warning("%s: the model's context is not known, so that prompts show %d characters", data_set, budget.size)
    answer = max_gen_toks or (model.answer(_ANSWER_SHARES[closed_book]) if model else LONGEST_ANSWER)
    room = Room(budget, model, answer)
    if generation is not None:
        generation["max_gen_toks"] = room.answer
    loaded = _load_topics(data_set, data, need_articles=not closed_book, edition=edition).record(provenance, name)
    phrases: Mapping[str, str] = ALL_SETS[data_set].settings.get("topics", {})
    contexts = None if closed_book else {topic.name: room.select_context(topic, phrases) for topic in loaded.documents}
    if contexts and model:
        if any(context.refused[-1] for context in contexts.values()):
            model.check_stated(data_set)
        if 2 * sum(context.refused[-1] and not context.n_sentences for context in contexts.values()) > len(contexts):
            expected = f"more: with {answer} for the answer, no sentence of the articles is shown on most topics"
            raise InputError("the model's context", None, f"{model.size} tokens for {data_set}", expected)
    _log_shares(data_set, room, (contexts or {}).values())
    return documents(loaded.documents, loaded.edition, phrases, room, contexts)


def _log_shares(name: str, room: Room, contexts: Collection[Context]) -> None:
    """Log the share of the articles that prompts show; warn if the model's context shortens prompts or answers."""
    if contexts:
        parts = "n_sentences", "all_sentences", "n_days", "all_days"
        shown, total, days, all_days = (sum(getattr(context, part) for context in contexts) for part in parts)
        _log.log(
            logging.WARNING if shown < total else logging.INFO,  # the harness hides INFO of plugins
            "%s: the prompts show %d of %d sentences (%.1f %%), on %d of %d days (%.1f %%)",
            *(name, shown, total, 100 * shown / max(1, total), days, all_days, 100 * days / max(1, all_days)),
        )
    limits = []
    if room.answer < LONGEST_ANSWER:
        limits.append(f"answers have {room.answer} tokens instead of {LONGEST_ANSWER}, room for {room.max_dates} dates")
    if room.model and room.budget and any(context.refused[-1] for context in contexts):
        limits.append("prompts show less of the articles than was asked for")
    if room.model and limits:
        _log.warning("%s: the model's context is %d tokens: %s", name, room.model.size, ", and ".join(limits))


def _load_topics(
    name: str, data: str | Path | None = None, need_articles: bool = True, edition: str | None = None
) -> LoadedData[Topic]:
    """Load the topics of a data set from the first source that has it, with articles if they are needed."""
    return load(make_reader(find_data_set(ALL_SETS, name), need_articles), data, edition)


def make_reader(data_set: DataSet, need_articles: bool) -> SetReader[Topic]:
    """Return the readers of a data set, one for each kind of source."""
    public = PUBLIC.get(data_set.name)
    if need_articles and public is not None and not public.has_articles:
        public = None
    return SetReader(
        data_set,
        DATA_SETS.values(),
        read_path=partial(_read_path, data_set),  # with the articles, since a closed-book prompt tells their years
        published=partial(_published, need_articles),
        from_rows=lambda rows: read_rows(data_set.name, rows, "the data set"),
        lacking=_lacking_articles if need_articles else lambda topics: "",
        public=public,
    )


def _read_path(data_set: DataSet, path: Path) -> tuple[Topic, ...]:
    """Read topics from a file of rows, a folder of Parquet, or a folder in the news-tls layout."""
    files = [path] if path.is_file() else sorted([*path.glob("*.parquet"), *path.glob("data/*.parquet")])
    if not files:
        return read_data_set(path)
    return read_rows(data_set.name, chain.from_iterable(map(file_rows, files)), ", ".join(map(str, files)))


def _published(need_articles: bool, source: HubFiles) -> LoadedData[Topic] | str:
    if need_articles:
        return f"{source.repo_id} on the hub has no articles"
    topics = read_events(hub.fetch(source.repo_id, source.revision, source.files[0]), source)
    return LoadedData(topics, "hub", source.origin)


def _lacking_articles(topics: Sequence[Topic]) -> str:
    """Return a message about the topics without articles; empty if all have some."""
    names = ", ".join(topic.name for topic in topics if not topic.articles)
    return f"no articles of {names}; the closed-book form needs none" if names else ""
