"""What a model is asked, from the texts in ``prompt_texts``.

The instruction comes last, since a prompt that is too long loses its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tls_tasks.timelines.mentions import MONTHS

OPENING = "The sentences below come from news articles about"
"""How a prompt with articles begins. By this line the YAML files stop a model that goes on with a prompt of its own."""

CLOSED_BOOK_OPENING = "From what you know, write a timeline of"

EXAMPLE = "An ash cloud from the Eyjafjallajökull volcano closes most airports in northern Europe."
"""Of an event that no data set has, so that a model's answer holds it only if it repeats the prompt."""


@cache
def _text(name: str) -> str:
    path = Path(__file__).parent / "prompt_texts" / f"{name}.txt"
    return path.read_text(encoding="utf-8").removesuffix("\n")


def filled(name: str, **fields: Any) -> str:
    """A text of ``prompt_texts`` with its fields filled in."""
    return _text(name).format(**fields)


def prompt(doc: Mapping[str, Any]) -> str:
    """The prompt with articles.

    Their time is told in months: the day of the first article may be a date of the reference.
    """
    first, last = _month(doc["start_date"]), _month(doc["end_date"])
    months = f"in {first}" if first == last else f"between {first} and {last}"
    return filled("articles", opening=OPENING, months=months, context=doc["context"], **_common(doc))


def closed_book_prompt(doc: Mapping[str, Any]) -> str:
    """The prompt of the closed-book form: topic, years and lengths, nothing else.

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
    return filled("closed_book", opening=CLOSED_BOOK_OPENING, years=years, **_common(doc))


def _common(doc: Mapping[str, Any]) -> dict[str, str]:
    """What both forms say: the topic, how long the timeline is and what a line looks like."""
    n_sentences = doc["n_sentences"]
    sentences = "one sentence that makes" if n_sentences == 1 else f"at most {n_sentences} sentences that make"
    their = "its" if n_sentences == 1 else "their"
    length = filled("length", n_dates=counted(doc["n_asked"], "date"), sentences=sentences, their=their)
    return {"query": doc["query"], "length": length, "form": filled("form", example=EXAMPLE)}


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    Example:
        >>> counted(1, "date"), counted(2, "date")
        ('1 date', '2 dates')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _month(day: str) -> str:
    """The month of a day, in English whatever the locale.

    Example:
        >>> _month("2011-01-25")
        'January 2011'
    """
    return f"{MONTHS[int(day[5:7]) - 1].capitalize()} {day[:4]}"
