"""A model of rules for ``tls_corpus``: it sees a prompt's text only and knows dates by one regular expression."""

import datetime
import re
from collections import Counter

from tls_tasks.timelines.prompts import centrality

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTH = r"(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:\.|[a-z]{3,})?"
DATE = re.compile(rf"\b(?:{MONTH} (\d\d?)(?:,? (\d{{4}}))?|(\d\d?) {MONTH}(?: (\d{{4}}))?|({'|'.join(DAYS)})|"
                  r"(yesterday)|(today|tonight|this morning))\b", re.IGNORECASE)  # fmt: skip


def days_of(sentence, published):
    """The days that a sentence of a news agency most probably speaks of."""
    for month, day, year, day_2, month_2, year_2, weekday, yesterday, today in DATE.findall(sentence):
        if weekday:
            yield published - datetime.timedelta((published.weekday() - DAYS.index(weekday.lower())) % 7)
        elif yesterday or today:
            yield published - datetime.timedelta(bool(yesterday))
        else:
            number, year = MONTHS.index((month or month_2)[:3].lower()) + 1, int(year or year_2 or published.year)
            try:
                found = datetime.date(year, number, int(day or day_2))
            except ValueError:
                continue
            if (found - published).days > 180:  # "December 25" in January is that of the year before
                found -= datetime.timedelta(365 + (found.month > 2 and found.year % 4 == 0))
            if found <= published:
                yield found


def answer(prompt):
    """The answer to a question of either round; of no other."""
    if not re.search("</(sentences|notes)>", prompt):
        return "I don't know."
    if "<notes>" in prompt:
        n = int(re.search(r"at most (\d+) sentence", prompt)[1])
        notes = list(dict.fromkeys(re.findall(r"^- (.+)$", prompt.partition("</notes>")[0], re.MULTILINE)))
        scores = centrality(notes)
        best = sorted(range(len(notes)), key=lambda place: -scores[place])[:n]
        return " ".join(notes[place] for place in sorted(best))
    n, found, published = int(re.search(r"at most (\d+) event", prompt)[1]), [], None
    for line in prompt.partition("<sentences>")[2].partition("</sentences>")[0].splitlines():
        if heading := re.fullmatch(r"\w+day, (\d{4}-\d{2}-\d{2})", line):
            published = datetime.date.fromisoformat(heading[1])
        elif line.startswith("- "):
            found += [(day, line[2:]) for day in days_of(line, published)]
    scores, counts, turns, queue = centrality([text for _, text in found]), Counter(d for d, _ in found), Counter(), []
    for place in sorted(range(len(found)), key=lambda place: -scores[place]):
        turns[found[place][0]] += 1
        queue.append((turns[found[place][0]], -counts[found[place][0]], -scores[place], place))
    best = {found[place][1]: place for *_, place in reversed(sorted(queue))}  # a sentence once: where it comes first
    chosen = sorted(sorted(best.values(), key={entry[3]: i for i, entry in enumerate(sorted(queue))}.get)[:n])
    return "\n".join(f"{day}: {text}" for day, text in sorted(found[place] for place in chosen)) or "none"
