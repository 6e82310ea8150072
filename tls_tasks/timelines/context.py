"""Which article sentences a prompt shows if its budget is too small for all of them: those of salient days."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tls_tasks.text.centrality import centrality
from tls_tasks.timelines.mentions import WEEKDAYS, mentioned_dates
from tls_tasks.timelines.topics import Article

_DECAY = 0.15
"""What a day's next sentence is worth beside the one before: the day is known by then."""

_HANDY = range(40, 171)
"""Characters of a sentence that says something and leaves room for others; these are a day's first."""

_MISSES = 200
"""After so many sentences in a row that didn't fit, no shorter one is looked for."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much article text a prompt may show.

    Attributes:
        size: The maximum cost of all lines together.
        cost: A text -> its cost in characters or tokens.
    """

    size: int
    cost: Callable[[str], int] = len


class Context(NamedTuple):
    """What a prompt shows of a topic's articles.

    Attributes:
        text: Under a heading for each day, its sentences; every line ends in a newline.
        n_days: Days that are shown.
        n_sentences: Sentences that are shown.
        all_days: Days on which something was published.
        all_sentences: Sentences of all days; what a day repeats counts once.
        refused: For each budget, whether it was too small for some sentence.
    """

    text: str
    n_days: int
    n_sentences: int
    all_days: int
    all_sentences: int
    refused: tuple[bool, ...]


def build_context(articles: Sequence[Article], budgets: Sequence[Budget]) -> Context:
    r"""Choose sentences until a budget is used up, and list them by day.

    A day is worth the number of sentences that mention it (by date, by weekday, as "yesterday" or "today"), which is
    how date rankers find the days of a timeline; a day's second sentence is worth much less than its first. A day's
    sentences come in the order of their centrality, those of a handy length first.

    Args:
        articles: In any order of days.
        budgets: How long the text may be; all of them hold.

    Returns:
        The text, the same for the same arguments, and how much of the articles is in it.

    Example:
        >>> day = datetime.date
        >>> articles = [Article("a", day(2011, 1, 25), "", ("Protests break out all over Cairo and Suez.", "Rain.")),
        ...             Article("b", day(2011, 1, 28), "", ("The protests of Tuesday go on, witnesses say.",))]
        >>> print(build_context(articles, [Budget(70)]).text)
        Tuesday, 2011-01-25
        - Protests break out all over Cairo and Suez.
        <BLANKLINE>
    """
    days = _sentences_by_day(articles)
    left, refused = [budget.size for budget in budgets], [False] * len(budgets)
    chosen: dict[datetime.date, list[int]] = defaultdict(list)
    misses = 0
    for day, index in _by_priority(days):
        line = f"- {days[day][index]}\n"
        text = line if day in chosen else day_heading(day) + line
        after = [room - budget.cost(text) for room, budget in zip(left, budgets, strict=True)]
        refused = [old or room < 0 for old, room in zip(refused, after, strict=True)]
        if min(after, default=0) >= 0:
            chosen[day].append(index)
            left, misses = after, 0
        else:
            misses += 1
        if misses == _MISSES:
            break
    lines = (
        day_heading(day) + "".join(f"- {days[day][index]}\n" for index in sorted(chosen[day])) for day in sorted(chosen)
    )
    return Context(
        "".join(lines),
        len(chosen),
        sum(map(len, chosen.values())),
        len(days),
        sum(map(len, days.values())),
        tuple(refused),
    )


def day_heading(day: datetime.date) -> str:
    """The line above a day's sentences, in English whatever the locale."""
    return f"{WEEKDAYS[day.weekday()].capitalize()}, {day.isoformat()}\n"


def _sentences_by_day(articles: Iterable[Article]) -> dict[datetime.date, list[str]]:
    """The days in their order; of each, its sentences in the articles' order, none twice."""
    found: dict[datetime.date, dict[str, None]] = defaultdict(dict)
    for article in articles:
        for sentence in article.sentences:
            # a sentence with a line break would become two lines
            found[article.date].setdefault(" ".join(sentence.split()))
    return {day: list(found[day]) for day in sorted(found)}


def _by_priority(days: Mapping[datetime.date, Sequence[str]]) -> list[tuple[datetime.date, int]]:
    """Day and index of every sentence, those to be shown first at the beginning."""
    mentions = Counter(
        mentioned for day, texts in days.items() for text in texts for mentioned in mentioned_dates(text, day)
    )
    queue = []
    for day, texts in days.items():
        scores = centrality(texts)
        order = sorted(range(len(texts)), key=lambda index: (len(texts[index]) not in _HANDY, -scores[index], index))
        queue += [(-(mentions[day] + 1) * _DECAY**turn, turn, day, index) for turn, index in enumerate(order)]
    return [(day, index) for *_, day, index in sorted(queue)]
