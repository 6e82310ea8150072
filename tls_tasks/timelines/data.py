"""Data of the timeline tasks: where it comes from, and the documents that a task asks about.

A task looks for its data in the order of :mod:`tls_tasks.data.order`; the hub source has reference timelines only. What
is found never changes a task's form: if articles are needed, a source without them is skipped.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data import hub
from tls_tasks.data.catalogue import DataSet, find_data_set, public_sets, read_catalogue
from tls_tasks.data.files import file_rows
from tls_tasks.data.model_context import LONGEST_ANSWER, model_context, token_counter
from tls_tasks.data.order import Loaded, Published, Reading, load, read_place
from tls_tasks.timelines.context import Budget, Context
from tls_tasks.timelines.documents import Room, documents, remember
from tls_tasks.timelines.news_tls import read_data_set
from tls_tasks.timelines.public_files import public_copies, read_events
from tls_tasks.timelines.topics import Topic, read_rows

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of article text in a prompt, some 6,000 tokens of English: a context of 8k has room for the answer."""

ALL_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))
"""The data sets, and the name under which a user's own runs."""

DATA_SETS = public_sets(ALL_SETS)

PUBLIC = public_copies(DATA_SETS)
"""What ``tls-tasks fetch`` gets, by name."""

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
    context_tokens: int | str | None = None,
    tokenizer: str | None = None,
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
            known. Not used with ``context_tokens``.
        context_tokens: Tokens of article text in a prompt, or ``auto``.
        tokenizer: Hugging Face tokenizer that counts ``context_tokens``; without it the model's own is taken.
        generation: The task's ``generation_kwargs``: ``max_gen_toks`` is set to what the model's context has room for.
        model_args: What tells the model's context (``pretrained``, ``max_length`` …), see
            :func:`~tls_tasks.data.model_context.model_context`: prompt and answer always stay in it.
        provenance: Filled with ``edition`` and ``origin`` of the data. A task with ``provenance: {}`` in its metadata
            gets them into its results file that way, because the harness writes the same metadata there.

    Returns:
        One row per (topic, reference timeline) pair, as :func:`tls_tasks.timelines.documents.documents` makes them.

    Raises:
        DataError: If the data that was asked for can't be used, or no source has any; says how to get it.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.
        MissingExtraError: If ``context_tokens`` is a number and transformers isn't installed.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     rows = load_documents("tls_crisis", closed_book=True, edition="embedded")
        >>> rows[0]["topic"], rows[0]["n_dates"]
        ('egypt', 10)
    """
    about_model = dict(model_args or {})
    model = model_context({**about_model, "tokenizer": tokenizer or about_model.get("tokenizer")})
    counted_by = tokenizer or about_model.get("pretrained")
    budget = None if closed_book else _budget(context_budget, context_tokens, counted_by)
    if budget is None and model is None and not closed_book:
        _log.warning(
            "%s: the model's context is not known, so that prompts show %d characters", data_set, DEFAULT_CONTEXT_BUDGET
        )
        budget = Budget(DEFAULT_CONTEXT_BUDGET)
    room = Room(budget, model, model.answer(_ANSWERS_SHARE[closed_book]) if model else LONGEST_ANSWER)
    if generation is not None:
        generation["max_gen_toks"] = room.answer
    loaded = _load_topics(data_set, data, need_articles=not closed_book, edition=edition)
    loaded.note(provenance, name)
    phrases: Mapping[str, str] = ALL_SETS[data_set].settings.get("topics", {})
    contexts = None if closed_book else {topic.name: room.show(topic, phrases) for topic in loaded.documents}
    _say(data_set, room, (contexts or {}).values())
    rows = documents(loaded.documents, loaded.edition, phrases, room, contexts)
    if not closed_book:
        remember(rows, lambda: _load_topics(data_set, data, edition=loaded.edition).documents)
    return rows


def _budget(characters: int | str, tokens: int | str | None, tokenizer: object) -> Budget | None:
    """What the user wants to see; None for ``auto``."""
    if tokens == AUTO or (tokens is None and characters == AUTO):
        return None
    for option, value in (("context_budget", characters), ("context_tokens", tokens)):
        if isinstance(value, str):
            raise OptionError.unknown(option, value, ("a whole number", AUTO))
    if tokens is None:
        return Budget(check_whole_number("context_budget", characters))
    if not isinstance(tokenizer, str):
        raise InputError("tokenizer", None, repr(tokenizer), "the name of a Hugging Face tokenizer, for context_tokens")
    return Budget(check_whole_number("context_tokens", tokens), token_counter(tokenizer))


def _say(name: str, room: Room, contexts: Collection[Context]) -> None:
    """Which share of the articles is shown; and a warning if the model's context is too small for what was wanted."""
    if contexts:
        shown, there, days, all_days = (
            sum(getattr(context, key) for context in contexts)
            for key in ("n_sentences", "all_sentences", "n_days", "all_days")
        )
        _log.log(
            logging.WARNING if shown < there else logging.INFO,  # the harness hides our INFO
            "%s: the prompts show %d of %d sentences (%.1f %%), on %d of %d days (%.1f %%)",
            *(name, shown, there, 100 * shown / max(1, there), days, all_days, 100 * days / max(1, all_days)),
        )
    if room.model is None:
        return
    cut = []
    if room.answer < LONGEST_ANSWER:
        cut.append(f"answers have {room.answer} tokens instead of {LONGEST_ANSWER}, room for {room.most_dates} dates")
    if room.budget and any(context.refused[-1] for context in contexts):
        cut.append("prompts show less of the articles than was asked for")
    if cut:
        _log.warning("%s: the model's context is %d tokens: %s", name, room.model.size, ", and ".join(cut))


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
        at=partial(_read_at, wanted),  # with the articles, whose time a closed-book prompt tells too
        published=partial(_published, wanted, need_articles),
        from_rows=lambda rows: read_rows(wanted.name, rows, "the data set"),
        lacking=_lacking_articles if need_articles else lambda topics: "",
        public=public,
    )


def _read_at(wanted: DataSet, place: Path) -> tuple[Topic, ...]:
    files = [place] if place.is_file() else sorted([*place.glob("*.parquet"), *place.glob("data/*.parquet")])
    if not files:
        return read_data_set(place)
    return read_rows(wanted.name, chain.from_iterable(map(file_rows, files)), ", ".join(map(str, files)))


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
