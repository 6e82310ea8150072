"""Which dated article sentences a prompt shows if its budget is too small for all of them."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tls_tasks.core.errors import InputError, MissingExtraError
from tls_tasks.timelines.topics import Article


@dataclass(frozen=True, slots=True)
class Budget:
    """How much article text a prompt may show.

    Attributes:
        size: The maximum cost of all lines together.
        cost: A line, including its newline -> its cost in characters or tokens.
    """

    size: int
    cost: Callable[[str], int] = len


def token_budget(size: int, tokenizer: str) -> Budget:
    """A budget of ``size`` tokens.

    Lines are counted one by one; as a whole, the text may be a few tokens shorter, and is hardly ever longer.

    Args:
        size: Tokens.
        tokenizer: Name or folder of a Hugging Face tokenizer.

    Raises:
        MissingExtraError: transformers isn't installed.
        InputError: There is no such tokenizer.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("context_tokens", "hf") from error
    try:
        encode = AutoTokenizer.from_pretrained(tokenizer).encode
    except (OSError, ValueError) as error:
        raise InputError("tokenizer", None, repr(tokenizer), f"a Hugging Face tokenizer ({error})") from error
    return Budget(size, lambda line: len(encode(line, add_special_tokens=False)))


def build_context(articles: Sequence[Article], keywords: Iterable[str], budget: Budget) -> tuple[str, int]:
    r"""Choose sentences until the budget is used up, and list them in order of date.

    Sentences with a keyword are chosen first, then the others. Within either group the days take turns: the first
    sentence of every day, then the second of every day, and so on; of a day's articles, first sentences come before
    later ones. Days are visited in an order that spreads over the whole period, so that a budget for fewer sentences
    than days doesn't show the first weeks only. If a sentence no longer fits, a shorter one after it may.

    Args:
        articles: In any order.
        keywords: Words of the query, found in any case and within words ("protest" finds "Protesters").
        budget: How long the text may be.

    Returns:
        Lines ``2011-01-25: sentence`` in order of date, each ending in a newline, the same for the same arguments; and
        how many sentences the budget left out.

    Example:
        >>> day = datetime.date
        >>> articles = [Article("a", day(2011, 1, 25), "", ("Protests in Cairo.", "It rains.")),
        ...             Article("b", day(2011, 1, 28), "", ("The army is in Cairo.",))]
        >>> print(build_context(articles, ["Cairo"], Budget(70)))
        ('2011-01-25: Protests in Cairo.\n2011-01-28: The army is in Cairo.\n', 1)
    """
    candidates = _candidates(articles, [word.lower() for word in keywords])
    chosen, left = [], budget.size
    for candidate in sorted(candidates, key=lambda candidate: candidate.turn):
        price = budget.cost(candidate.line)
        if price <= left:
            left -= price
            chosen.append(candidate)
    chosen.sort(key=lambda candidate: (candidate.day, candidate.place))
    return "".join(candidate.line for candidate in chosen), len(candidates) - len(chosen)


class _Candidate(NamedTuple):
    """A sentence that may be shown: its day, its place (article, sentence), when its turn comes, and its line."""

    day: datetime.date
    place: tuple[int, int]
    turn: tuple[bool, int, int]
    line: str


def _candidates(articles: Sequence[Article], keywords: Sequence[str]) -> list[_Candidate]:
    queues: dict[tuple[datetime.date, bool], list[tuple[int, int, str]]] = defaultdict(list)
    for number, article in enumerate(articles):
        for position, sentence in enumerate(article.sentences):
            text = " ".join(sentence.split())  # a sentence with a line break would become two lines
            off_topic = not any(word in text.lower() for word in keywords)
            queues[article.date, off_topic].append((position, number, text))
    days = sorted({day for day, _ in queues})
    visit = dict(zip(days, _spread_order(len(days)), strict=True))
    return [
        _Candidate(day, (number, position), (off_topic, turn, visit[day]), f"{day.isoformat()}: {text}\n")
        for (day, off_topic), queue in queues.items()
        for turn, (position, number, text) in enumerate(sorted(queue))
    ]


def _spread_order(n: int) -> list[int]:
    """When each of ``n`` days is visited: any number of first visits is spread evenly over all days.

    This is the van der Corput sequence: days are visited in the order of their numbers' reversed binary digits.

    Example:
        >>> _spread_order(8)  # days 0 and 4 first, then 2 and 6, then the odd ones
        [0, 4, 2, 6, 1, 5, 3, 7]
        >>> _spread_order(3)
        [0, 2, 1]
    """
    width = max(n - 1, 1).bit_length()
    reversed_digits = [int(f"{index:0{width}b}"[::-1], 2) for index in range(n)]
    rank = {value: place for place, value in enumerate(sorted(reversed_digits))}
    return [rank[value] for value in reversed_digits]
