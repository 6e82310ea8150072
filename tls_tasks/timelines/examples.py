"""Examples for few-shot prompts: short topics of our own, which no data set has."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tls_tasks.timelines.documents import Room, documents
from tls_tasks.timelines.topics import Article, Topic
from tls_tasks.timelines.types import Timeline

_FILE = Path(__file__).with_name("examples.json")


def examples(name: str) -> list[dict[str, str | int]]:
    """The examples, with the columns of a task's documents; the same for every data set and for both forms.

    Example:
        >>> examples("tls_crisis")[0]["query"]
        'the flight of Apollo 11'
    """
    topics = [_topic(row) for row in json.loads(_FILE.read_text(encoding="utf-8"))]
    room = Room()
    return documents(topics, "examples", {}, room, {topic.name: room.show(topic, {}) for topic in topics})


def _topic(row: Mapping[str, Any]) -> Topic:
    day = datetime.date.fromisoformat
    articles = (Article(date, day(date), "", tuple(sentences)) for date, sentences in row["articles"].items())
    timeline = Timeline.of({day(date): [summary] for date, summary in row["timeline"].items()})
    return Topic(row["topic"], (), tuple(articles), (timeline,))
