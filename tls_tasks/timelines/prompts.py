"""What a model is asked. The instruction comes last, since a prompt that is too long loses its beginning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tls_tasks.timelines.mentions import MONTHS

OPENING = "The sentences below come from news articles about"
"""How a prompt with articles begins. By this line the YAML files stop a model that goes on with a prompt of its own."""

CLOSED_BOOK_OPENING = "From what you know, write a timeline of"


def prompt(doc: Mapping[str, Any]) -> str:
    """The prompt with articles.

    Their time is told in months: the day of the first article may be a date of the reference.
    """
    first, last = _month(doc["start_date"]), _month(doc["end_date"])
    return (
        f"{OPENING} {doc['query']}. They are grouped by the day on which they were published.\n\n"
        f"<sentences>\n{doc['context']}</sentences>\n\n"
        f"Use these sentences to write a timeline of {doc['query']}: the dates on which the most important events "
        "happened, and what happened on each of them. The articles appeared "
        f"{f'in {first}' if first == last else f'between {first} and {last}'}.\n"
        f"{_length(doc)}"
        "- Give the date on which an event happened, not the date on which it was reported. Work out words such as "
        '"yesterday" or "on Friday" from the day above the sentence.\n'
        f"{_FORM}"
    )


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
    return (
        f"{CLOSED_BOOK_OPENING} {doc['query']}: the dates on which the most important events happened, and what "
        f"happened on each of them. It covers {years}.\n{_length(doc)}{_FORM}"
    )


def _length(doc: Mapping[str, Any]) -> str:
    dates, sentences = doc["n_asked"], doc["n_sentences"]
    each = "one sentence that makes" if sentences == 1 else f"at most {sentences} sentences that make"
    return (
        f"- Choose about {dates} date{'s' if dates > 1 else ''}.\n"
        f"- Summarise what happened on a date in {each} sense on {'its' if sentences == 1 else 'their'} own.\n"
    )


EXAMPLE = "An ash cloud from the Eyjafjallajökull volcano closes most airports in northern Europe."
"""Of an event that no data set has, so that a model's answer holds it only if it repeats the prompt."""

_FORM = (
    "\nWrite one line for each date, the earliest first, and nothing else. The form of a line is YYYY-MM-DD: summary. "
    "For example:\n"
    f"2010-04-14: {EXAMPLE}\n\n"
    "Timeline:"
)


def _month(day: str) -> str:
    """The month of a day, in English whatever the locale.

    Example:
        >>> _month("2011-01-25")
        'January 2011'
    """
    return f"{MONTHS[int(day[5:7]) - 1].capitalize()} {day[:4]}"
