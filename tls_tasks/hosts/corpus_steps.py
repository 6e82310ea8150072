"""One topic's way through ``tls_corpus``: the questions of both rounds, what was answered, what was made of it."""

from __future__ import annotations

import datetime
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lm_eval.api.instance import Instance

from tls_tasks.core.errors import InputError
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.hosts.corpus_requests import Asked, key_of, text_of
from tls_tasks.timelines import corpus

_MARGIN = 32
"""Tokens that whole prompts may have beyond the sum of their lines, and those that models put before and after."""

_SMALLEST_ROOM = 64

_log = logging.getLogger("lm_eval.models.tls_corpus")  # shown where and as the harness shows its own models


@dataclass(frozen=True)
class Settings:
    """How a corpus is read.

    Attributes:
        chunk_tokens: Prompt and answer of a question together.
        map_tokens: The answer to a question about a chunk.
        thinking_tokens: Room for thinking, before each answer.
        volume_weight: What a sentence published on a day adds to the day's rank.
        cost: The tokens of a text.
    """

    chunk_tokens: int
    map_tokens: int
    thinking_tokens: int
    volume_weight: float
    cost: Callable[[str], int]


class Steps:
    """The questions and answers about one topic; ``record`` holds their figures."""

    def __init__(self, settings: Settings, asked: Asked) -> None:
        self.settings, self.asked, self.name = settings, asked, str(asked.doc["query"])
        self.volume: Counter[datetime.date] = Counter()
        for article in asked.topic.articles:
            self.volume[article.date] += len(article.sentences)
        self.answers: dict[str, dict[str, str]] = {"map": {}, "write": {}}
        self.found: dict[datetime.date, list[str]] = {}
        self.ranked: dict[datetime.date, float] = {}
        self.questions: dict[tuple[datetime.date, int], Instance] = {}
        self.record: dict[str, Any] = {
            "topic": asked.topic.name,
            "edition": asked.doc["edition"],
            "articles": len(asked.topic.articles),
            "sentences": sum(self.volume.values()),
        }

    def hear(self, name: str, instance: Instance, answer: str) -> None:
        """Keep an answer of the base model, and count its tokens."""
        key, cost = key_of(instance), self.settings.cost
        if key in self.answers[name]:  # another reference asked the same
            return
        self.answers[name][key] = answer
        counts = {"calls": 1, "tokens_in": cost(text_of(instance.args[0])), "tokens_out": cost(answer),
                  "unfinished_thinking": int(strip_thinking(answer).unfinished)}  # fmt: skip
        for what, n in counts.items():
            self.record[f"{name}_{what}"] = self.record.get(f"{name}_{what}", 0) + n

    def map_round(self) -> list[Instance]:
        """The questions about all chunks."""
        settings, tokens = self.settings, self.settings.map_tokens + self.settings.thinking_tokens
        frame = self.asked.ask(corpus.map_prompt(self.name, "", 999), tokens, ()).args[0]
        room = self._room(frame, tokens)
        chunks = corpus.make_chunks(self.asked.topic.articles, room, settings.cost)
        self.record["chunks"] = len(chunks)
        return [
            self.asked.ask(
                corpus.map_prompt(self.name, text, corpus.most_events(n, settings.map_tokens)), tokens, corpus.MAP_STOPS
            )
            for text, n in chunks
        ]

    def _room(self, frame: Any, tokens: int) -> int:
        """What a question of this frame has left for articles or notes."""
        settings, taken = self.settings, self.settings.cost(text_of(frame)) + tokens + _MARGIN
        if settings.chunk_tokens - taken < _SMALLEST_ROOM:
            expected = f"{taken + _SMALLEST_ROOM} or more: {taken} go to the question itself and the answer"
            raise InputError("chunk_tokens", None, str(settings.chunk_tokens), expected)
        return settings.chunk_tokens - taken

    def rank(self) -> None:
        """Read the answers, and rank the days that they name."""
        last = max(self.volume, default=datetime.date.max)
        read = [corpus.read_events(answer, last, self.settings.map_tokens) for answer in self.answers["map"].values()]
        events = [event for found in read for event in found]
        self.found = corpus.by_day(events)
        self.ranked = corpus.rank_days(self.found, self.volume, self.settings.volume_weight)
        self.record |= {"answers_without_events": sum(not found for found in read), "events": len(events),
                        "days_found": len(self.ranked)}  # fmt: skip
        self.record["days"] = [
            {"day": day.isoformat(), "score": round(score, 6), "events": self.found[day]}
            for day, score in self.ranked.items()
        ]
        if not events:
            _log.warning("tls_corpus: %s: no dated event in %d answers: its timelines are empty", self.name, len(read))

    def chosen(self, asked: Asked) -> list[datetime.date]:
        """The dates of one reference's timeline, in order of time."""
        return sorted(list(self.ranked)[: int(asked.doc["n_dates"])])

    def write(self, day: datetime.date, n_sentences: int) -> Instance:
        """The question about one date."""
        if (made := self.questions.get((day, n_sentences))) is None:
            tokens = corpus.write_tokens(n_sentences) + self.settings.thinking_tokens
            frame = self.asked.ask(corpus.write_prompt(self.name, day, (), n_sentences), tokens, ()).args[0]
            notes = corpus.central_notes(self.found[day], self._room(frame, tokens), self.settings.cost)
            prompt = corpus.write_prompt(self.name, day, notes, n_sentences)
            made = self.questions[day, n_sentences] = self.asked.ask(prompt, tokens, corpus.WRITE_STOPS)
        return made

    def timeline(self, asked: Asked) -> str:
        """The timeline of one reference. Where the model wrote nothing, the first of its own notes stands."""
        n, lines = int(asked.doc["n_sentences"]), []
        for day in self.chosen(asked):
            entry = corpus.read_entry(self.answers["write"][key_of(self.write(day, n))], corpus.write_tokens(n))
            lines.append(f"{day.isoformat()}: {entry or self.found[day][0]}")
        return "\n".join(lines)
