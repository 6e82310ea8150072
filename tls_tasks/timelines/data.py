"""Data of the timeline tasks: where it comes from, and the documents that a task asks about.

A task looks for its data in the order of :mod:`tls_tasks.data.order`; the hub source has reference timelines only. What
is found never changes a task's form: if articles are needed, a source without them is skipped.
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
from tls_tasks.data.order import DEFAULT_CONTEXT_BUDGET, Loaded, Reading, load
from tls_tasks.timelines.prompts import Budget, Context, build_context, prompt
from tls_tasks.timelines.public_files import PUBLIC, read_events
from tls_tasks.timelines.topics import Topic, read_data_set, read_rows

_TOKENS_A_DATE = 50
_TRAILING_DATE = re.compile(r"[_ ]\d{4}\.\d{1,2}\.\d{1,2}$")
_EXAMPLES = Path(__file__).with_name("examples.json")
_NO_CONTEXT = Context("", 0, 0, 0, 0, ())


@dataclass(frozen=True, slots=True)
class Room:
    """What a prompt and its answer may take.

    Attributes:
        budget: How much article text is wanted; None: as much as fits.
        model: The model's context, where it is known: prompt and answer stay in it.
        answer: Tokens for the answer.
    """

    budget: Budget | None = None
    model: ModelContext | None = None
    answer: int = LONGEST_ANSWER

    @property
    def most_dates(self) -> int:
        """How many dates an answer has room for."""
        return self.answer // _TOKENS_A_DATE

    def show(self, topic: Topic, phrases: Mapping[str, str]) -> Context:
        """Choose what the prompts of a topic show of its articles; the model's own context is the last budget."""
        budgets = [self.budget] if self.budget else []
        if self.model:
            frame = prompt({**_common(topic, phrases), "n_asked": 999, "n_sentences": 99, "context": ""})
            size = self.model.prompt(self.answer) - self.model.count(frame)
            budgets.append(Budget(size, self.model.count))
        return build_context(topic.articles, budgets)


def documents(
    topics: Iterable[Topic],
    edition: str,
    phrases: Mapping[str, str],
    room: Room,
    contexts: Mapping[str, Context] | None = None,
) -> list[dict[str, str | int]]:
    """Make the documents of a task.

    Args:
        topics: The topics.
        edition: Where they come from; every document says so.
        phrases: Topic -> what it is about, in words that "a timeline of" can stand before.
        room: What prompt and answer may take.
        contexts: Topic -> what :meth:`Room.show` gave; None for the closed-book form, which shows no articles.

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
        of_topic = sorted({day for timeline in topic.timelines for day in timeline.dates})
        known = {"article_dates": sorted(context.dates), "reference_dates": of_topic} if contexts is not None else {}
        most = room.most_dates if contexts is None else min(room.most_dates, context.n_days)
        rows += [
            {
                "doc_id": f"{topic.name}/{index}",
                "timeline_index": index,
                **_common(topic, phrases),
                "n_dates": len(timeline),
                "n_asked": max(1, min(len(timeline), most)),
                "n_sentences": max(1, round(timeline.n_sentences / len(timeline))),  # as in news-tls, half to even
                "context": context.text,
                "context_truncated": context.all_sentences - context.n_sentences,
                "context_sentences": context.n_sentences,
                "context_sentences_total": context.all_sentences,
                "context_days": context.n_days,
                "context_days_total": context.all_days,
                **{name: json.dumps([*map(str, days)]) for name, days in known.items()},
                "reference": json.dumps(timeline.as_rows(), ensure_ascii=False),
                "edition": edition,
            }
            for index, timeline in enumerate(topic.timelines)
        ]
    return rows


def examples(name: str) -> list[dict[str, str | int]]:
    """Examples for few-shot prompts: topics of our own, the same for every data set.

    Example:
        >>> examples("tls_crisis")[0]["query"]
        'the flight of Apollo 11'
    """
    topics = read_rows("examples", file_rows(_EXAMPLES), _EXAMPLES.name)
    room = Room()
    shown = None if name.endswith("_closed_book") else {topic.name: room.show(topic, {}) for topic in topics}
    return documents(topics, "examples", {}, room, shown)


# ---- what a document says of its topic


def _common(topic: Topic, phrases: Mapping[str, str]) -> dict[str, str]:
    """What all documents of a topic say."""
    words = topic.keywords or (_TRAILING_DATE.sub("", topic.name).replace("_", " "),)  # Open-TLS has no keywords
    start, end = _time(topic)
    time = {"start_date": start.isoformat(), "end_date": end.isoformat()}
    return {"topic": topic.name, "query": phrases.get(topic.name) or ", ".join(words), **time}


def _time(topic: Topic) -> tuple[datetime.date, datetime.date]:
    """The articles' first and last day. Without articles whole years: the reference's own ends are answers.

    Example:
        >>> from datetime import date
        >>> from tls_tasks.timelines.types import Timeline
        >>> [*map(str, _time(Topic("egypt", (), (), (Timeline.from_days({date(2011, 1, 25): ["Protests."]}),))))]
        ['2011-01-01', '2011-12-31']
    """
    days = [article.date for article in topic.articles]
    years = [day.year for timeline in topic.timelines for day in timeline.dates]
    return (min(days), max(days)) if days else (datetime.date(min(years), 1, 1), datetime.date(max(years), 12, 31))


ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""The data sets with the name under which a user's own runs, and without it."""

AUTO = "auto"
_ANSWERS_SHARE = {False: 1 / 4, True: 1 / 2}
"""Of the model's context, where that is small; by whether the form is closed-book, whose prompts are short."""

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
        closed_book: Make the form that gives only topic, years and number of dates, and needs no articles.
        name: What the results are to call data of your own, where the task is the family's ``_custom`` one.
        data: Where the data is; no other source is tried then. A news-tls folder of this data set, a folder with such a
            folder in it (called ``name``, or as news-tls calls it), Parquet made by ``tls-tasks prepare`` (file or
            folder), or a hub data set ``org/name`` or ``org/name@revision`` that holds such Parquet.
        edition: ``local``, ``fetched``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first
            that has it.
        context_budget: Characters of article text in a prompt, or ``auto``: what the model's context holds, where it is
            known.
        generation: The task's ``generation_kwargs``: ``max_gen_toks`` is set to what the model's context has room for.
        model_args: What tells the model's context (``pretrained``, ``max_length`` …), see
            :func:`~tls_tasks.data.model_context.model_context`: prompt and answer always stay in it.
        provenance: Filled with ``edition`` and ``origin`` of the data. A task with ``provenance: {}`` in its metadata
            gets them into its results file that way, because the harness writes the same metadata there.

    Returns:
        One row per (topic, reference timeline) pair, as :func:`tls_tasks.timelines.data.documents` makes them.

    Raises:
        DataError: If the data that was asked for can't be used, or no source has any; says how to get it.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     rows = load_documents("tls_crisis", closed_book=True, edition="embedded")
        >>> rows[0]["topic"], rows[0]["n_dates"]
        ('egypt', 10)
    """
    model, stated = model_context(model_args or {}), (model_args or {}).get("max_gen_toks")
    budget = None
    if not closed_book and context_budget != AUTO:
        budget = Budget(check_whole_number("context_budget", context_budget))
    if budget is None and model is None and not closed_book:
        budget = Budget(DEFAULT_CONTEXT_BUDGET)
        _log.warning("%s: the model's context is not known, so that prompts show %d characters", data_set, budget.size)
    answer = stated or (model.answer(_ANSWERS_SHARE[closed_book]) if model else LONGEST_ANSWER)
    room = Room(budget, model, answer)
    if generation is not None:
        generation["max_gen_toks"] = room.answer
    loaded = _load_topics(data_set, data, need_articles=not closed_book, edition=edition).noted(provenance, name)
    phrases: Mapping[str, str] = ALL_SETS[data_set].settings.get("topics", {})
    contexts = None if closed_book else {topic.name: room.show(topic, phrases) for topic in loaded.documents}
    if contexts and model:
        if any(context.refused[-1] for context in contexts.values()):
            model.check_stated(data_set)
        _refuse_if_empty(data_set, model, room.answer, contexts.values())
    _say(data_set, room, (contexts or {}).values())
    return documents(loaded.documents, loaded.edition, phrases, room, contexts)


def _refuse_if_empty(name: str, model: ModelContext, answer: int, contexts: Collection[Context]) -> None:
    """Stop where the model's context has room for no sentence of more than half of the topics."""
    if 2 * sum(context.refused[-1] and not context.n_sentences for context in contexts) > len(contexts):
        expected = f"more: with {answer} for the answer, no sentence of the articles is shown on most topics"
        raise InputError("the model's context", None, f"{model.size} tokens for {name}", expected)


def _say(name: str, room: Room, contexts: Collection[Context]) -> None:
    """Which share of the articles is shown; and a warning if the model's context is too small for what was wanted."""
    if contexts:
        parts = "n_sentences", "all_sentences", "n_days", "all_days"
        shown, there, days, all_days = (sum(getattr(context, part) for context in contexts) for part in parts)
        _log.log(
            logging.WARNING if shown < there else logging.INFO,  # the harness hides our INFO
            "%s: the prompts show %d of %d sentences (%.1f %%), on %d of %d days (%.1f %%)",
            *(name, shown, there, 100 * shown / max(1, there), days, all_days, 100 * days / max(1, all_days)),
        )
    said = []
    if room.answer < LONGEST_ANSWER:
        said.append(f"answers have {room.answer} tokens instead of {LONGEST_ANSWER}, room for {room.most_dates} dates")
    if room.model and room.budget and any(context.refused[-1] for context in contexts):
        said.append("prompts show less of the articles than was asked for")
    if room.model and said:
        _log.warning("%s: the model's context is %d tokens: %s", name, room.model.size, ", and ".join(said))


def _load_topics(
    name: str, data: str | Path | None = None, need_articles: bool = True, edition: str | None = None
) -> Loaded[Topic]:
    """The topics of a data set from the first source that has it; with articles, if they are needed."""
    return load(reading(find_data_set(ALL_SETS, name), need_articles), data, edition)


def reading(wanted: DataSet, need_articles: bool) -> Reading[Topic]:
    """How a data set is read, wherever it lies."""
    public = PUBLIC.get(wanted.name)
    if need_articles and public is not None and not public.has_articles:
        public = None
    return Reading(
        wanted,
        DATA_SETS.values(),
        at=partial(_read_at, wanted),  # with the articles, whose time a closed-book prompt tells too
        published=partial(_published, need_articles),
        from_rows=lambda rows: read_rows(wanted.name, rows, "the data set"),
        lacking=_lacking_articles if need_articles else lambda topics: "",
        public=public,
    )


def _read_at(wanted: DataSet, place: Path) -> tuple[Topic, ...]:
    files = [place] if place.is_file() else sorted([*place.glob("*.parquet"), *place.glob("data/*.parquet")])
    if not files:
        return read_data_set(place)
    return read_rows(wanted.name, chain.from_iterable(map(file_rows, files)), ", ".join(map(str, files)))


def _published(need_articles: bool, source: HubFiles) -> Loaded[Topic] | str:
    if need_articles:
        return f"{source.repo_id} on the hub has no articles"
    topics = read_events(hub.fetch(source.repo_id, source.revision, source.files[0]), source)
    return Loaded(topics, "hub", source.origin)


def _lacking_articles(topics: Sequence[Topic]) -> str:
    names = ", ".join(topic.name for topic in topics if not topic.articles)
    return f"no articles of {names}; the closed-book form needs none" if names else ""
