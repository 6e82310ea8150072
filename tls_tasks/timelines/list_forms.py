"""What the items of an answer's lists have in common, decided once for all its lines.

Numbers that count items are taken away before dates are looked for: ``2. February 2022`` is no second of February.
Items that name their date in words, or behind a title, are entries if most of their list has that form.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from tls_tasks.text.date_forms import MONTHS, RISKY_MONTHS, marked
from tls_tasks.text.dates import Known, dates_in, leading_dates, may_hold_date, read_date
from tls_tasks.timelines.entries import PHRASES, UNKNOWN, Prefix, clean, item_of, without_marker

_NUMBER = re.compile(r"([ \t>]*(?:#{1,6}\s)?[*_]{0,3})([0-9]{1,3})\.(?=[*_]{0,3}\s)")
_MONTH = re.compile(rf"[*_\s]*([{MONTHS}{RISKY_MONTHS}])")
_ENGLISH_MONTH = re.compile(r"[*_\s]*(?:January|February|March|May|June|July|October|December)\b")
"""In other languages that a month follows a number and a dot, it has other names."""
_LEAD = re.compile(r"(?:In|On|By|During|Around)\s(?=\S)")
_TITLED = re.compile(
    r"[^(]{2,150}\(([^()]{4,40})\)[*_\"”]{0,3}\s*(?::|[-–—]\s|$)|[^:]{2,150},\s([^,:()]{4,30})[*_]{0,3}$"
)
_SENTENCE = re.compile(r"(?<=[\w)]{2})[.!?](?=\s)|[。！？]")
_PARAGRAPH = 40
"""Characters of a line that is no heading."""
_RULE = re.compile(PHRASES["rule"])
_MOST = 0.6
"""The share of the items of a list that have its form."""
_LONGEST = 1_000
"""Characters of an item that are looked at."""


def without_numbers(lines: list[str]) -> tuple[list[str], str]:
    """The lines without the numbers that count items, and the first such line if its number might have been a day.

    The numbers of items count from 1, and the month changes, or is one that English alone has: ``1. Mai`` is a day,
    ``1. May`` is not.

    Example:
        >>> without_numbers(["1. January 2022: A", "2. February: B"])[0]
        ['• January 2022: A', '• February: B']
        >>> without_numbers(["1. Mai 2022: A", "2. Mai: B"])[0]
        ['1. Mai 2022: A', '2. Mai: B']
    """
    numbers = {index: number for index, line in enumerate(lines) if (number := _NUMBER.match(line))}
    behind = {index: marked(lines[index][number.end() : number.end() + 40]) for index, number in numbers.items()}
    months = {index: month[1] for index, text in behind.items() if (month := _MONTH.match(text))}
    counts = [int(number[2]) for number in numbers.values()]
    n_steps = sum(later in (1, earlier + 1) for earlier, later in pairwise(counts))
    if not months or counts[0] != 1 or n_steps < 0.8 * (len(counts) - 1):
        return lines, ""
    is_english = any(_ENGLISH_MONTH.match(lines[index], numbers[index].end()) for index in months)
    if not is_english and len(set(months.values())) == 1:
        return lines, ""
    bare = list(lines)
    for index, number in numbers.items():
        bare[index] = f"{number[1]}•{lines[index][number.end() :]}"
    return bare, "" if is_english else lines[min(months)]


def items_of_one_form(lines: Sequence[str], is_titled: bool) -> set[int]:
    """The places of the items that name their date as most items of their kind and depth do.

    Example:
        >>> items_of_one_form(["* In January, A.", "* In March, B.", "* C."], False)
        {0, 1}
        >>> items_of_one_form(["1. A title (1986)", "2. Another (1988)"], True)
        {0, 1}
    """
    lists: dict[tuple[str, int], list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if is_titled and _RULE.fullmatch(line.strip()):
            break  # what stands below a rule may be a bibliography
        kind = item_of(line) or ("", 0)  # a paragraph may have the form where no line begins with a date
        if kind[0] or (is_titled and len(line) > _PARAGRAPH):
            lists[kind].append(index)
    chosen: set[int] = set()
    for items in lists.values():
        formed = {index: prefix for index in items if (prefix := split_formed(lines[index], Known(2000), is_titled))}
        is_one_day = len({prefix.expression for prefix in formed.values()}) == 1  # that of a bibliography
        if len(formed) > 1 and len(formed) >= _MOST * len(items) and not (is_titled and is_one_day):
            chosen.update(formed)
    return chosen


def split_formed(line: str, known: Known, is_titled: bool) -> Prefix | None:
    """Split an item that begins with "In January," or, ``is_titled``, has its date behind its title; the text is whole.

    Example:
        >>> split_formed("- On March 14, it rained.", Known(2022), False).text
        'On March 14, it rained.'
        >>> split_formed("- Civil War (1861-1865): A", UNKNOWN, True).expression.date.year
        1861
    """
    text = without_marker(line.strip()[:_LONGEST]).replace("**", "").strip("_ ")
    if lead := _LEAD.match(text):
        for date in leading_dates(text[lead.end() :], known):
            end = lead.end() + date.end
            if date.expression and text[end : end + 1] in (",", ":"):
                is_short = not may_hold_date(text[:end])
                return Prefix(date.expression, text[:end], clean(without_marker(line.strip())), False, 0, ",", is_short)
    if is_titled and (title := _TITLED.match(text)):
        written = title[1] or title[2]
        if expression := read_date(written, UNKNOWN):
            return Prefix(expression, written, clean(without_marker(line.strip())), False, 0, ":", False)
    days = list(dates_in(_SENTENCE.split(text, maxsplit=1)[0])) if is_titled and "://" not in line else []
    if len(days) == 1:
        begin, end, expression = days[0]
        return Prefix(expression, text[begin:end], clean(without_marker(line.strip())), False, 0, ":", False)
    return None
