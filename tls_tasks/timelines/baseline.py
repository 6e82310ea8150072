"""The datewise baseline: rank dates, then summarise each by its most central sentences.

After the datewise approach of Ghalandari and Ifrim (Examining the State-of-the-Art in News Timeline Summarization, ACL
2020), without its learnt parts: a date's rank is how often it is mentioned and how much was published on it. It reads
the prompt and nothing else, as a model would, and the same prompt always gives the same answer.
"""

import calendar
import datetime
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tls_tasks.timelines.prompts import CLOSED_BOOK_OPENING, MONTHS, OPENING, centrality, day_or_none, mentioned_dates

_PROMPT = re.compile(rf"^(?:{OPENING}|{CLOSED_BOOK_OPENING})", re.MULTILINE)
_HEADING = re.compile(r"[A-Z][a-z]+day, (\d{4})-(\d{2})-(\d{2})")
_N_DATES = re.compile(r"^- Choose about (\d{1,6}) date", re.MULTILINE)
_N_SENTENCES = re.compile(r"^- Summarise .* in at most (\d{1,6}) sentences", re.MULTILINE)
_SPAN = re.compile(
    r"(?:appeared (?:in|between)|covers the years?) (?:([A-Z][a-z]+) )?(\d{4})"
    r"(?: (?:and|to) (?:([A-Z][a-z]+) )?(\d{4}))?\.$",
    re.MULTILINE,
)
_QUERY = re.compile(r"write a timeline of (.{1,200}?): the dates")


class _Sentence(NamedTuple):
    """A sentence of the prompt: its day of publication, its text and the dates that it mentions."""

    published: datetime.date
    text: str
    mentioned: frozenset[datetime.date]


class _Request(NamedTuple):
    """The timeline that a prompt asks for; ``start`` and ``end`` are the first and last possible day."""

    n_dates: int
    n_sentences: int
    start: datetime.date
    end: datetime.date
    query: str


def answer(prompt: str, *, mention_weight: float = 2) -> str:
    r"""Answer a timeline prompt.

    Args:
        prompt: A prompt of :mod:`tls_tasks.timelines.prompts`; the last one is answered if few-shot examples precede
            it. Without sentences (closed book) the dates are spread evenly, each with the topic as its summary.
        mention_weight: The weight of one mention of a date; the publications of an average day weigh 1.

    Returns:
        Lines ``YYYY-MM-DD: summary`` in order of date; empty if the prompt asks for no timeline.

    Example:
        >>> print(answer("Wednesday, 2011-01-26\n- Police clashed with crowds on January 25.\n- It rained.\n"
        ...              "</sentences>\nThe articles appeared in January 2011.\n- Choose about 1 date.\n"))
        2011-01-25: Police clashed with crowds on January 25.
    """
    prompt = prompt[max((match.start() for match in _PROMPT.finditer(prompt)), default=0) :]
    articles, _, instruction = prompt.rpartition("</sentences>\n")
    request = _read_request(instruction)
    if request is None:
        return ""
    sentences = _read_sentences(articles, request)
    if not sentences:
        return "\n".join(f"{day.isoformat()}: {request.query}" for day in _even_days(request))
    days = _best_days(sentences, request, mention_weight)
    entries = ((day, _central_sentences(_sentences_about(sentences, day), request.n_sentences)) for day in days)
    return "\n".join(f"{day.isoformat()}: {' '.join(texts)}" for day, texts in entries)


def _read_request(instruction: str) -> _Request | None:
    """Read what the end of a prompt asks for; None if it asks for no timeline."""
    n_dates, span = _N_DATES.search(instruction), _read_span(instruction)
    if n_dates is None or span is None or span[1] < span[0]:
        return None
    n_sentences, query = _N_SENTENCES.search(instruction), _QUERY.search(instruction)
    return _Request(int(n_dates[1]), int(n_sentences[1]) if n_sentences else 1, *span, query[1] if query else "")


def _read_span(instruction: str) -> tuple[datetime.date, datetime.date] | None:
    """Return the first and last day of the months or years that the instruction names; None if it names none."""
    match = _SPAN.search(instruction)
    if match is None:
        return None
    month, year, last_month, last_year = match.groups()
    try:
        first = MONTHS.index((month or "January").lower()) + 1
        last = MONTHS.index((last_month or "December").lower()) + 1
        end = int(last_year or year)
        return datetime.date(int(year), first, 1), datetime.date(end, last, calendar.monthrange(end, last)[1])
    except ValueError:  # no month has that name, or the year is 0
        return None


def _read_sentences(articles: str, request: _Request) -> list[_Sentence]:
    """Read the sentences under headings of days; they mention only days that the request allows."""
    sentences: list[_Sentence] = []
    published = None
    for line in articles.splitlines():
        if heading := _HEADING.fullmatch(line):
            published = day_or_none(*heading.groups())
        elif published is not None and line.startswith("- "):
            text = line[2:].strip()
            named = frozenset(day for day in mentioned_dates(text, published) if request.start <= day <= request.end)
            sentences.append(_Sentence(published, text, named))
    return sentences


def _even_days(request: _Request) -> list[datetime.date]:
    """Return the requested number of days, spread evenly from the first to the last; fewer if the span is short."""
    span = (request.end - request.start).days
    steps = min(request.n_dates, span + 1)
    offsets = sorted({round(step * span / max(1, steps - 1)) for step in range(steps)})
    return [request.start + datetime.timedelta(days=offset) for offset in offsets]


def _best_days(sentences: Sequence[_Sentence], request: _Request, mention_weight: float) -> list[datetime.date]:
    """Return the requested number of days with the highest ranks, ascending; the earliest of ties."""
    published = Counter(sentence.published for sentence in sentences)
    mentioned = Counter(day for sentence in sentences for day in sentence.mentioned)
    average = sum(published.values()) / len(published)
    ranks = {day: published[day] / average + mention_weight * mentioned[day] for day in published | mentioned}
    return sorted(sorted(ranks, key=lambda day: (-ranks[day], day))[: request.n_dates])


def _sentences_about(sentences: Sequence[_Sentence], day: datetime.date) -> list[str]:
    """Return the sentences that mention the day; if none does, those published on it or on the next day."""
    mentioning = [sentence.text for sentence in sentences if day in sentence.mentioned]
    return mentioning or [sentence.text for sentence in sentences if 0 <= (sentence.published - day).days <= 1]


def _central_sentences(texts: Sequence[str], n: int) -> list[str]:
    """Return the ``n`` sentences nearest to the centroid (TF-IDF, cosine) in the order of ``texts``, none twice."""
    texts = list(dict.fromkeys(texts))
    scores = centrality(texts)
    ranked = sorted(range(len(texts)), key=lambda index: (-scores[index], index))
    return [texts[index] for index in sorted(ranked[:n])]
