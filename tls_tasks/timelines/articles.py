"""The articles behind a document: what a model that reads whole corpora asks for, since a prompt shows a few only.

Documents don't carry articles. Whoever loads documents says here how their topics are loaded, and a document finds its
topic by what it says of itself: topic, edition and reference. So a document that the harness kept from an earlier run
(``--cache_requests``) finds its articles too, and one of other data doesn't.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.timelines.topics import Topic

_SAYS = ("topic", "edition", "reference")
_topics: dict[tuple[Any, ...], Callable[[], Sequence[Topic]]] = {}


def remember(rows: Iterable[Mapping[str, Any]], load: Callable[[], Sequence[Topic]]) -> None:
    """Say how the topics of documents are loaded; a later call for the same documents replaces an earlier one.

    Args:
        rows: Documents.
        load: Loads their topics again, with articles; called when they are asked for, and once only.
    """
    once = functools.cache(load)
    _topics.update({_key(row): once for row in rows})


def topic_of(doc: Mapping[str, Any]) -> Topic:
    """The topic of a document, with all articles; the same object for all documents of the topic.

    Raises:
        InputError: If no such document was loaded in this process.
    """
    load = _topics.get(_key(doc))
    if load is None:
        raise InputError(
            "doc",
            None,
            f"a document of topic {doc.get('topic')!r} that was not loaded in this process",
            "one of the task's own data; with --cache_requests, the cache holds prompts of other data: "
            "--cache_requests refresh",
        )
    return next(topic for topic in load() if topic.name == doc["topic"])


def _key(doc: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(doc.get(name) for name in _SAYS)
