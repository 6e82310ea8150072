"""A timeline of a whole corpus by any model, in two rounds of questions: what ``lm_eval --model tls_corpus`` asks.

Map: all articles of a topic, in chunks that the model's context holds, are searched for dated events. Rank: a date
counts for as much as its events agree with one another. Write: each chosen date's entry is written from what was found
about it. Everything here is a pure function; :mod:`tls_tasks.hosts.corpus_model` asks the questions.
"""

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.core.score import grouped
from tls_tasks.timelines.entries import PHRASES
from tls_tasks.timelines.prompts import MONTHS, centrality, counted, day_heading, filled, sentences_by_day
from tls_tasks.timelines.read import TimelinePolicy, parse_timeline
from tls_tasks.timelines.topics import Article

Cost = Callable[[str], int]
"""A text -> its tokens."""

MAP_STOPS = ("\nYou will read sentences from", "\n<sentences>")
"""Where a model without chat training has answered and makes up a next question. No blank line: thinking has some."""

WRITE_STOPS = ("\nThese notes about", "\n<notes>")

_TOKENS_PER_EVENT = 40
_SENTENCES_PER_EVENT = 4
_LEAST_EVENTS = 3
_WORDS_PER_SENTENCE = 30
_MOST_NOTES = 12
_CHARACTERS_PER_TOKEN = 20
"""No honest token is longer on average; what is beyond comes of a model that ignores its limit."""

_DAY_POLICY = TimelinePolicy(partial="drop", undated="drop")
_LABEL = re.compile(PHRASES["entry_label"], re.IGNORECASE)
"""What models put before an entry: a bullet, "Entry:", the date."""


class Chunk(NamedTuple):
    """What one question of the map round shows.

    Attributes:
        text: Day headings, and below each its sentences; ends in a newline.
        n_sentences: How many sentences.
    """

    text: str
    n_sentences: int


class Event(NamedTuple):
    """A dated event that a model found."""

    day: datetime.date
    text: str


def make_chunks(articles: Iterable[Article], room: int, cost: Cost) -> list[Chunk]:
    r"""All sentences in order of day, under day headings; a day that fits into a chunk is not split.

    So it does not depend on the days before which sentences are seen together, and small changes of the room change
    little.

    Args:
        articles: In any order; those of one day stay in the order given.
        room: What a chunk may cost. A sentence that costs more by itself is cut.
        cost: Of a line.

    Example:
        >>> articles = [Article("a", datetime.date(2011, 1, 25), "", ("Protests.", "Police."))]
        >>> [chunk.text for chunk in make_chunks(articles, 40, len)]
        ['Tuesday, 2011-01-25\n- Protests.\n', 'Tuesday, 2011-01-25\n- Police.\n']
    """
    chunks: list[Chunk] = []
    lines: list[str] = []
    n_sentences, left = 0, room
    for day, texts in sentences_by_day(articles).items():
        heading = day_heading(day)
        heading_cost = cost(heading)
        priced = [_fitting(text, room - heading_cost, cost) for text in texts]
        fits = heading_cost + sum(price for _, price in priced) <= left
        is_begun = False
        for line, price in priced:
            total = price if is_begun else price + heading_cost
            if lines and (total > left or not (fits or is_begun)):
                chunks.append(Chunk("".join(lines), n_sentences))
                lines, n_sentences, left, is_begun = [], 0, room, False
                total = price + heading_cost
            fits = True  # a day that is longer than a chunk goes on in the next one
            lines += [line] if is_begun else [heading, line]
            n_sentences, left, is_begun = n_sentences + 1, left - total, True
    return [*chunks, Chunk("".join(lines), n_sentences)] if lines else chunks


def _fitting(text: str, room: int, cost: Cost) -> tuple[str, int]:
    """A text as a line that fits, cut in halves until it does."""
    while (price := cost(line := f"- {text}\n")) > room and len(text) > 1:
        text = text[: len(text) // 2]
    return line, price


def most_events(n_sentences: int, answer_tokens: int) -> int:
    """How many events a question asks for: one for some sentences, and no more than the answer has room for.

    Example:
        >>> most_events(60, 1536), most_events(600, 1536), most_events(2, 1536), most_events(600, 10)
        (15, 38, 3, 1)
    """
    return max(1, min(max(_LEAST_EVENTS, n_sentences // _SENTENCES_PER_EVENT), answer_tokens // _TOKENS_PER_EVENT))


def map_prompt(topic: str, sentences: str, n_events: int) -> str:
    """The question about one chunk.

    Args:
        topic: The topic in words.
        sentences: A chunk's text.
        n_events: The most events that an answer may name.
    """
    return filled("map", topic=topic, sentences=sentences, events=counted(n_events, "event"), words=_WORDS_PER_SENTENCE)


def read_events(answer: str, last_day: datetime.date, answer_tokens: int) -> list[Event]:
    r"""The dated events of an answer; none if it holds none. No answer raises.

    Args:
        answer: The model's text, thinking and all.
        last_day: Of the articles; what lies after it is a prediction and left out.
        answer_tokens: The room that the answer had; what is far beyond it is not read.

    Example:
        >>> day = datetime.date(2011, 2, 11)
        >>> read_events("<think>Let me see.</think>2011-01-25: Protests begin.\n2011-03: Elections.", day, 100)
        [Event(day=datetime.date(2011, 1, 25), text='Protests begin.')]
        >>> read_events("none", day, 100)
        []
    """
    read = parse_timeline(_within(answer, answer_tokens), _DAY_POLICY).value
    found = [Event(entry.date, " ".join(text.split())) for entry in read or () for text in entry.sentences]
    return [event for event in found if event.text and event.day <= last_day]


def _within(answer: str, tokens: int) -> str:
    return strip_thinking(answer).text.strip()[: tokens * _CHARACTERS_PER_TOKEN]


def by_day(events: Sequence[Event]) -> dict[datetime.date, list[str]]:
    """The events' texts of each day, in the order found."""
    days: dict[Any, list[str]] = grouped([event.text for event in events], [event.day for event in events])
    return days


def rank_days(
    found: Mapping[datetime.date, Sequence[str]], volume: Mapping[datetime.date, int], volume_weight: float = 0.0
) -> dict[datetime.date, float]:
    """The days, the most important first, with their scores.

    A score is the sum of how central each of the day's events is among them, so that a day's events count for more the
    more there are and the more they say the same; and ``volume_weight`` for each sentence published on that day. Of
    equal days the one with more sentences comes first, then the earlier.

    Example:
        >>> day, next_day = datetime.date(2011, 1, 25), datetime.date(2011, 1, 26)
        >>> ranked = rank_days({next_day: ["It rains."], day: ["Protests begin.", "Protests in Cairo."]}, {})
        >>> list(ranked) == [day, next_day]
        True
    """
    scores = {day: sum(centrality(texts)) + volume_weight * volume.get(day, 0) for day, texts in found.items()}
    # Rounded: the last bits of two equal sums depend on the order of addition, and would decide instead of the volume.
    order = sorted(scores, key=lambda day: (-round(scores[day], 9), -volume.get(day, 0), day))
    return {day: scores[day] for day in order}


def central_notes(texts: Sequence[str], room: int, cost: Cost) -> list[str]:
    """The most central of a day's texts that fit, in the order found, none twice; the first is cut if it must be.

    Example:
        >>> central_notes(["It rains.", "Protests in Cairo.", "Cairo sees protests."], 45, len)
        ['Protests in Cairo.', 'Cairo sees protests.']
    """
    distinct = list(dict.fromkeys(texts))
    scores = centrality(distinct)
    order = sorted(range(len(distinct)), key=lambda position: (-round(scores[position], 9), position))
    chosen: dict[int, str] = {}
    for position in order[:_MOST_NOTES]:
        line = f"- {distinct[position]}\n"
        line, price = (line, cost(line)) if chosen else _fitting(distinct[position], room, cost)
        if price <= room:
            room -= price
            chosen[position] = line[2:-1]
    return [chosen[position] for position in sorted(chosen)]


def write_prompt(topic: str, day: datetime.date, notes: Iterable[str], n_sentences: int) -> str:
    """The question about one date.

    Args:
        topic: The topic in words.
        day: The date.
        notes: What was found about it.
        n_sentences: The most sentences that the entry may have.
    """
    date = f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"  # in English whatever the locale
    listed = "".join(f"- {note}\n" for note in notes)
    sentences, words = counted(n_sentences, "sentence"), _WORDS_PER_SENTENCE * n_sentences
    return filled("write", topic=topic, date=date, iso=day.isoformat(), notes=listed, sentences=sentences, words=words)


def write_tokens(n_sentences: int) -> int:
    """The room of an entry's answer.

    Example:
        >>> write_tokens(1), write_tokens(3)
        (100, 220)
    """
    return 60 * n_sentences + 40


def read_entry(answer: str, answer_tokens: int) -> str:
    r"""The entry on one line, without thinking, introduction and date; empty if there is none.

    Example:
        >>> read_entry("<think>\n\n</think>\n\nHere is the entry:\n\n2011-01-25: Protests\nbegin.\n\nNotes", 100)
        'Protests begin.'
    """
    parts = re.split(r"\n\s*\n", _within(answer, answer_tokens))
    paragraphs = [text for part in parts if (text := " ".join(part.split()))]
    if len(paragraphs) > 1 and paragraphs[0].endswith(":"):
        del paragraphs[0]
    return _LABEL.sub("", paragraphs[0], count=1) if paragraphs else ""
