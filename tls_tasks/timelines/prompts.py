"""Prompts of the timeline tasks: the texts in ``prompt_texts``, and the article sentences that fit into the budget.

The instruction comes last, since a prompt that is too long loses its beginning.
"""

import datetime
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.data.files import filled_text
from tls_tasks.text.rouge155 import tokenize
from tls_tasks.text.tokenizers import as_written, count_words
from tls_tasks.timelines.topics import Article

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = {name: number for number, name in enumerate(MONTHS, start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_DAYS_BACK = {"yesterday": 1, "today": 0, "tonight": 0, "this morning": 0}
_MONTH_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? ({_MONTH_NAMES})\b\.?(?:,? (\d{{4}}))?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH_NAMES})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
_RELATIVE = re.compile(rf"\b({'|'.join(_DAYS_BACK)})\b", re.IGNORECASE)


def mentioned_dates(text: str, published: datetime.date) -> frozenset[datetime.date]:
    """Return the days that a sentence names, in digits, words or relative to its day of publication.

    A date without a year is the nearest one to the day of publication. A weekday is the last such day up to the day of
    publication itself, since news agencies write "on Tuesday" on that very Tuesday.

    Example:
        >>> tuesday = datetime.date(2011, 2, 1)
        >>> [str(day) for day in sorted(mentioned_dates("Since Friday, Jan. 25 and on Tuesday", tuesday))]
        ['2011-01-25', '2011-01-28', '2011-02-01']
        >>> mentioned_dates("yesterday", tuesday)
        frozenset({datetime.date(2011, 1, 31)})
    """
    days = [day_or_none(year, month, day) for year, month, day in _ISO.findall(text)]
    days += [_near(year, month, day, published) for day, month, year in _DAY_MONTH.findall(text)]
    days += [_near(year, month, day, published) for month, day, year in _MONTH_DAY.findall(text)]
    back = [(published.weekday() - WEEKDAYS.index(name.lower())) % 7 for name in _WEEKDAY.findall(text)]
    back += [_DAYS_BACK[name.lower()] for name in _RELATIVE.findall(text)]
    days += [datetime.date.fromordinal(max(1, published.toordinal() - n)) for n in back]
    return frozenset(day for day in days if day is not None)


def day_or_none(year: str | int, month: str | int, day: str | int) -> datetime.date | None:
    """Return the day with these numbers; None if the calendar has no such day."""
    try:
        return datetime.date(int(year), int(month), int(day))
    except ValueError:
        return None


def _near(year: str, month: str, day: str, published: datetime.date) -> datetime.date | None:
    """Return the day in the given year, or without one in the year nearest to the day of publication."""
    number = _MONTHS[month.lower()]
    years = [int(year)] if year else [published.year + offset for offset in (-1, 0, 1)]
    around = [day_or_none(near, number, day) for near in years]
    return min(filter(None, around), key=lambda candidate: abs((candidate - published).days), default=None)


def centrality(texts: Sequence[str]) -> list[float]:
    """Return how central each text is: its cosine with the centroid of all, up to a common factor.

    Words are those of ROUGE-1.5.5; a word's weight is its count times ``log(1 + n / df)``.

    Example:
        >>> scores = centrality(["Protests in Cairo.", "The army fires at protests in Cairo.", "It rains."])
        >>> scores.index(min(scores))
        2
    """
    vectors = _tf_idf([tokenize(text) for text in texts])
    centre: Counter[str] = Counter()
    for vector in vectors:
        centre.update(vector)
    return [math.fsum(weight * centre[word] for word, weight in vector.items()) for vector in vectors]


def _tf_idf(documents: Sequence[Sequence[str]]) -> list[Mapping[str, float]]:
    """Return for each document a TF-IDF vector of length 1: word -> weight."""
    frequency = Counter(word for words in documents for word in set(words))
    vectors: list[Mapping[str, float]] = []
    for words in documents:
        weights = {
            word: count * math.log(1 + len(documents) / frequency[word]) for word, count in Counter(words).items()
        }
        length = math.sqrt(math.fsum(weight**2 for weight in weights.values())) or 1.0
        vectors.append({word: weight / length for word, weight in weights.items()})
    return vectors


_DECAY = 0.15
"""The value of a day's next sentence relative to the one before, since the day is already covered."""

_GOOD_LENGTHS = range(40, 171)
"""Characters of a sentence that says something and leaves room for others; such sentences come first."""

_LEAST_WORDS = 4

_MAX_MISSES = 200
"""The number of sentences in a row that don't fit after which no shorter one is tried."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit of the article text in a prompt.

    Attributes:
        size: The maximum cost of all lines together.
        cost: A text -> its cost in characters or tokens.
    """

    size: int
    cost: Callable[[str], int] = len


class Context(NamedTuple):
    """The article sentences that a prompt shows, and how many of all they are.

    Attributes:
        text: A heading for each day and its sentences below, one a line; every line ends in a newline.
        n_days: Days that are shown.
        n_sentences: Sentences that are shown.
        all_days: Days on which something was published.
        all_sentences: Sentences of all days; repeated sentences of a day count once.
        refused: For each budget, whether it was too small for some sentence.
        dates: Days on which something was published, and days that a sentence mentions, shown or not.
    """

    text: str
    n_days: int
    n_sentences: int
    all_days: int
    all_sentences: int
    refused: tuple[bool, ...]
    dates: frozenset[datetime.date] = frozenset()


def build_context(articles: Sequence[Article], budgets: Sequence[Budget]) -> Context:
    r"""Select sentences until a budget is used up, and list them by day.

    A day's value is the number of sentences that mention it (by date, by weekday, as "yesterday" or "today"), which is
    how date rankers find the days of a timeline; a day's second sentence is worth much less than its first. A day's
    sentences come in the order of their centrality, those of a good length first.

    Args:
        articles: In any order of days.
        budgets: Limits of the text, all of which hold; without any, all sentences are shown.

    Returns:
        The text, and how much of the articles is in it. Equal arguments give equal results.

    Example:
        >>> day = datetime.date
        >>> articles = [Article("a", day(2011, 1, 25), "", ("Protests break out all over Cairo and Suez.", "Rain.")),
        ...             Article("b", day(2011, 1, 28), "", ("The protests of Tuesday go on, witnesses say.",))]
        >>> print(build_context(articles, [Budget(70)]).text)
        Tuesday, 2011-01-25
        - Protests break out all over Cairo and Suez.
        <BLANKLINE>
    """
    days = {day: list(dict.fromkeys(texts)) for day, texts in sentences_by_day(articles).items()}
    mentions = Counter(named for day, texts in days.items() for text in texts for named in mentioned_dates(text, day))
    remaining, refused = [budget.size for budget in budgets], [False] * len(budgets)
    chosen: dict[datetime.date, dict[int, str]] = defaultdict(dict)
    misses = 0
    for day, index in _prioritise(days, mentions):
        line = f"- {days[day][index]}\n"
        text = line if day in chosen else day_heading(day) + line
        after = [size - budget.cost(text) for size, budget in zip(remaining, budgets, strict=True)]
        refused = [before or size < 0 for before, size in zip(refused, after, strict=True)]
        if min(after, default=0) >= 0:
            chosen[day][index] = line
            remaining, misses = after, 0
        else:
            misses += 1
        if misses == _MAX_MISSES:
            break
    text = "".join(day_heading(day) + "".join(chosen[day][n] for n in sorted(chosen[day])) for day in sorted(chosen))
    n_chosen, n_all = (sum(map(len, by_day.values())) for by_day in (chosen, days))
    dates = frozenset((*days, *mentions))
    return Context(text, len(chosen), n_chosen, len(days), n_all, tuple(refused), dates)


def day_heading(day: datetime.date) -> str:
    """Return the line above a day's sentences, in English whatever the locale."""
    return f"{WEEKDAYS[day.weekday()].capitalize()}, {day.isoformat()}\n"


def sentences_by_day(articles: Iterable[Article]) -> dict[datetime.date, list[str]]:
    """Return day -> the sentences published on it, days ascending, sentences in the order of the articles.

    Line breaks become spaces, and what a tokeniser has set apart is joined again. Captions and the like, of fewer
    than :data:`_LEAST_WORDS` words, are dropped unless all sentences are so short.
    """
    days: dict[datetime.date, list[str]] = defaultdict(list)
    ordered = sorted(articles, key=lambda article: article.date)
    dates = [article.date for article in ordered for _ in article.sentences]
    texts = as_written([" ".join(sentence.split()) for article in ordered for sentence in article.sentences])
    are_long = [count_words(text) >= _LEAST_WORDS for text in texts]
    any_long = any(are_long)
    for day, text, is_long in zip(dates, texts, are_long, strict=True):
        if is_long or not any_long:
            days[day].append(text)
    return days


def _prioritise(
    days: Mapping[datetime.date, Sequence[str]], mentions: Mapping[datetime.date, int]
) -> list[tuple[datetime.date, int]]:
    """Return (day, index) of every sentence, in the order in which they are tried."""
    queue = []
    for day, texts in days.items():
        scores = centrality(texts)
        ranked = sorted(range(len(texts)), key=lambda n: (len(texts[n]) not in _GOOD_LENGTHS, -scores[n], n))
        queue += [(-(mentions[day] + 1) * _DECAY**turn, turn, day, index) for turn, index in enumerate(ranked)]
    return [(day, index) for *_, day, index in sorted(queue)]


OPENING = "The sentences below come from news articles about"
"""The beginning of a prompt with articles, at which the YAML files stop a model that writes another prompt."""

CLOSED_BOOK_OPENING = "From what you know, write a timeline of"

EXAMPLE = "An ash cloud from the Eyjafjallajökull volcano closes most airports in northern Europe."
"""An event in no data set, so that an answer holds it only if the model repeats the prompt."""


def filled(name: str, **fields: Any) -> str:
    """Return a text of ``prompt_texts`` with its fields filled in."""
    return filled_text(Path(__file__).parent / "prompt_texts" / f"{name}.txt", **fields)


def prompt(doc: Mapping[str, Any]) -> str:
    """Build the prompt with articles.

    It names the months of the articles only, since the day of the first may be a date of the reference.
    """
    first, last = _month(doc["start_date"]), _month(doc["end_date"])
    months = f"in {first}" if first == last else f"between {first} and {last}"
    return filled("articles", opening=OPENING, months=months, context=doc["context"], **_shared_fields(doc))


def closed_book_prompt(doc: Mapping[str, Any]) -> str:
    """Build the prompt of the closed-book form: topic, years and lengths, nothing else.

    Example:
        >>> time = {"start_date": "2011-01-24", "end_date": "2012-07-01"}
        >>> doc = {"query": "the crisis in Egypt", **time, "n_asked": 20, "n_sentences": 1}
        >>> first, *rest = closed_book_prompt(doc).splitlines()
        >>> first.split(": ")[0], first.split(". ")[-1]
        ('From what you know, write a timeline of the crisis in Egypt', 'It covers the years 2011 to 2012.')
        >>> rest[0]
        '- Choose about 20 dates.'
    """
    first, last = doc["start_date"][:4], doc["end_date"][:4]
    years = f"the year {first}" if first == last else f"the years {first} to {last}"
    return filled("closed_book", opening=CLOSED_BOOK_OPENING, years=years, **_shared_fields(doc))


def _shared_fields(doc: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of both prompt forms: the topic, the timeline's length and the form of a line."""
    n_sentences = doc["n_sentences"]
    sentences = "one sentence that makes" if n_sentences == 1 else f"at most {n_sentences} sentences that make"
    pronoun = "its" if n_sentences == 1 else "their"
    n_dates = f"{doc['n_asked']} date{'' if doc['n_asked'] == 1 else 's'}"
    length = filled("length", n_dates=n_dates, sentences=sentences, their=pronoun)
    return {"query": doc["query"], "length": length, "form": filled("form", example=EXAMPLE)}


def _month(day: str) -> str:
    """Return the month of an ISO date, in English whatever the locale.

    Example:
        >>> _month("2011-01-25")
        'January 2011'
    """
    return f"{MONTHS[int(day[5:7]) - 1].capitalize()} {day[:4]}"
