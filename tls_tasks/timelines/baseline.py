"""The datewise baseline: rank dates, then summarise each by its most central sentences.

After the datewise approach of Ghalandari and Ifrim (Examining the State-of-the-Art in News Timeline Summarization, ACL
2020), without its learnt parts: a date's rank is how often it is mentioned and how much was published on it. It reads
the prompt and nothing else, as a model would, and the same prompt always gives the same answer.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tls_tasks.text.centrality import centrality
from tls_tasks.timelines.mentions import mentioned_dates

_MENTION_WEIGHT = 2.0
"""What a mention of a date is worth, an average day's publications being 1: who names a date means that day."""

_SENTENCE = re.compile(r"^(\d{4}-\d{2}-\d{2}): (.+)$", re.MULTILINE)
_N_DATES = re.compile(r"exactly (\d{1,6})")
_N_SENTENCES = re.compile(r"at most (\d{1,6})")
_SPAN = re.compile(r"from (\d{4}-\d{2}-\d{2}) to (\d{4}-\d{2}-\d{2})")
_QUERY = re.compile(r"(?:timeline of|news about): (.{1,200})")


class _Sentence(NamedTuple):
    """A sentence of the prompt: when it was published, its text, the dates that it mentions."""

    published: datetime.date
    text: str
    mentioned: frozenset[datetime.date]


class _Request(NamedTuple):
    """What the prompt asks for."""

    n_dates: int
    n_sentences: int
    start: datetime.date
    end: datetime.date
    query: str


def answer(prompt: str) -> str:
    r"""Answer a timeline prompt.

    Args:
        prompt: Article lines ``2011-01-25: sentence`` and the instruction of
            :func:`tls_tasks.timelines.documents.prompt`. Without article lines (closed book) the dates are spread
            evenly and the topic is all that is said of them.

    Returns:
        Lines ``YYYY-MM-DD: summary`` in order of date; empty if the prompt asks for no timeline.

    Example:
        >>> print(answer("2011-01-26: Police clashed with crowds on January 25.\n2011-01-26: It rained.\n"
        ...              "It covers the time from 2011-01-25 to 2011-02-11. Dates: exactly 1. Sentences: at most 1."))
        2011-01-25: Police clashed with crowds on January 25.
    """
    request = _read_request(prompt)
    if request is None:
        return ""
    sentences = _read_sentences(prompt, request)
    if not sentences:
        return "\n".join(f"{day.isoformat()}: {request.query}" for day in _even_days(request))
    days = _best_days(sentences, request)
    return "\n".join(
        f"{day.isoformat()}: {' '.join(_central_sentences(_about(sentences, day), request.n_sentences))}"
        for day in days
    )


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _read_request(prompt: str) -> _Request | None:
    """The instruction stands last, so the last match counts: articles may say "exactly 12" too."""
    spans, n_dates, n_sentences = (_last(form.findall(prompt)) for form in (_SPAN, _N_DATES, _N_SENTENCES))
    if not spans or not n_dates:
        return None
    start, end = (_day(text) for text in spans)
    if start is None or end is None or end < start:
        return None
    return _Request(int(n_dates), int(n_sentences or 1), start, end, _last(_QUERY.findall(prompt)) or "")


def _last(matches: Sequence[str]) -> str:
    return matches[-1] if matches else ""


def _read_sentences(prompt: str, request: _Request) -> list[_Sentence]:
    sentences = []
    for date, text in _SENTENCE.findall(prompt):
        published = _day(date)
        if published is not None:
            mentioned = mentioned_dates(text, published)
            inside = frozenset(day for day in mentioned if request.start <= day <= request.end)
            sentences.append(_Sentence(published, text.strip(), inside))
    return sentences


def _even_days(request: _Request) -> list[datetime.date]:
    span = (request.end - request.start).days
    steps = min(request.n_dates, span + 1)
    offsets = sorted({round(step * span / max(1, steps - 1)) for step in range(steps)})
    return [request.start + datetime.timedelta(days=offset) for offset in offsets]


def _best_days(sentences: Sequence[_Sentence], request: _Request) -> list[datetime.date]:
    published = Counter(sentence.published for sentence in sentences)
    mentioned = Counter(day for sentence in sentences for day in sentence.mentioned)
    average = sum(published.values()) / len(published)
    ranks = {day: published[day] / average + _MENTION_WEIGHT * mentioned[day] for day in published | mentioned}
    return sorted(sorted(ranks, key=lambda day: (-ranks[day], day))[: request.n_dates])


def _about(sentences: Iterable[_Sentence], day: datetime.date) -> list[str]:
    """Sentences that name the day; where none does, those published on it or on the next day."""
    sentences = list(sentences)
    naming = [sentence.text for sentence in sentences if day in sentence.mentioned]
    return naming or [sentence.text for sentence in sentences if 0 <= (sentence.published - day).days <= 1]


def _central_sentences(texts: Sequence[str], n: int) -> list[str]:
    """The ``n`` sentences nearest to the centre of all (TF-IDF, cosine), in their own order, none twice."""
    texts = list(dict.fromkeys(texts))
    scores = centrality(texts)
    order = sorted(range(len(texts)), key=lambda position: (-scores[position], position))
    return [texts[position] for position in sorted(order[:n])]
