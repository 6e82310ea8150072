"""Write ``tls_tasks/text/data/date_names.json`` from the names of months and weekdays in Babel's copy of CLDR.

    pip install Babel
    python scripts/make_date_names.py

With it comes the licence of the data, and ``tests/text/dates_by_language.json``: the same days as each language writes
them out, against which the reader is tested without Babel.

One table serves all languages at once. A word that names different months in two of them is a name only where one of
the two writes it in full and the other abbreviates; else it is left out, and said.
"""

from __future__ import annotations

import datetime
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import babel
from babel import localedata
from babel.dates import format_date

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "tls_tasks" / "text" / "data"
TEST_DATA = ROOT / "tests" / "text" / "dates_by_language.json"

# Croatian and Belarusian are left out: their listopad is October, that of Polish and Czech November, and so on.
LANGUAGES = (
    "en de fr es it pt nl sv da nb fi is pl cs sk sl ru uk bg sr sr_Latn el ro hu tr az et ca gl af sw fil id ms vi "
    "th ar fa he ur hi bn mr ne gu pa ta te kn ml ka hy zh ja ko"
).split()
DAYS = ("2011-01-25", "2011-02-01", "2011-03-03", "2011-04-14", "2011-05-08", "2011-06-30", "2011-07-16",
        "2011-08-21", "2011-09-09", "2011-10-20", "2011-11-28", "2011-12-31")  # fmt: skip
LENGTHS = {"wide": 2, "abbreviated": 1}


def fresh_locale(language: str) -> babel.Locale:
    """A locale that shares nothing with those before: Babel gives a later one the stand-alone months of an earlier."""
    localedata._cache.clear()
    return babel.Locale.parse(language)


def words(name: str) -> list[str]:
    """The words of a name as the reader looks them up; none of one with a number, which the reader's forms know."""
    plain = unicodedata.normalize("NFC", name.lower())
    if re.search(r"\d|[月일월]", plain):
        return []
    return [word.strip(".॰׳") for word in re.split(r"[\s’'־-]+", plain)]


def spellings(word: str, before: str) -> set[str]:
    """A word, also with a preposition written on it, and as upper case loses the Turkish dotless i."""
    found = {word, word.upper().lower().replace("\u0307", "")}
    return found | {before + one for one in found if before}


def is_a_word(word: str) -> bool:
    """Whether a name is long enough not to be something else: two letters of an alphabet are."""
    return len(word) > 2 or (len(word) == 2 and not re.match(r"[a-zà-ʯͰ-ӿ]", word))


def months() -> tuple[dict[str, int], dict[str, int]]:
    """Names -> month, and those that may be another word of English -> month: ``out``, ``set`` and Malay's ``mac``."""
    found: dict[str, dict[tuple[int, int], list[str]]] = defaultdict(lambda: defaultdict(list))
    for language in LANGUAGES:
        locale = fresh_locale(language)
        patterns = " ".join(str(pattern) for pattern in locale.date_formats.values())
        attached = re.search(r"([^\W\d_A-Za-z])MMM", patterns)
        before = attached[1] if attached else ""
        for context in ("format", "stand-alone"):
            for length, rank in LENGTHS.items():
                for number, name in locale.months[context][length].items():
                    for word in words(name)[-1:]:
                        for spelling in filter(is_a_word, spellings(word, before)):
                            found[spelling][2 if language == "en" else rank, number].append(language)
    found["sept"][2, 9].append("en")
    found["jänner"][1, 1].append("de_AT")
    full: dict[str, int] = {}
    short: dict[str, int] = {}
    for word, meanings in sorted(found.items()):
        best = max(rank for rank, _ in meanings)
        numbers = {number for rank, number in meanings if rank == best}
        if len({number for _, number in meanings}) > 1:
            print(f"{word}: {dict(meanings)} ->", numbers if len(numbers) == 1 else "left out")
        if len(numbers) == 1:
            (full if (best == 2 or not word.isascii()) and word != "mac" else short)[word] = numbers.pop()
    return full, short


def weekdays(taken: set[str]) -> tuple[list[str], list[str]]:
    """The words of weekdays' names in full, with English abbreviations, and other abbreviations."""
    found: dict[str, int] = {"tues": 2, "thur": 2, "thurs": 2, "wednes": 2}
    for language in LANGUAGES:
        locale = fresh_locale(language)
        days = locale.days
        attached = re.search(r"EEEE([^\W\d_A-Za-z]\S*)", " ".join(map(str, locale.date_formats.values())))
        after = attached[1] if attached else ""
        for context in ("format", "stand-alone"):
            for length, rank in LENGTHS.items():
                for name in days[context][length].values():
                    parts = words(name)
                    for word in [*parts, *(part + after for part in parts if after)]:
                        if word and (len(parts) > 1 or is_a_word(word)) and word not in taken:
                            found[word] = max(found.get(word, 0), 2 if language == "en" else rank)
    return tuple(sorted(word for word in found if found[word] == rank) for rank in (2, 1))  # type: ignore[return-value]


def long_dates() -> Iterator[tuple[str, list[list[str]]]]:
    """Each language with days, and how it writes them: long, in full with the weekday, and in medium length."""
    for language in LANGUAGES:
        rows = []
        for day in DAYS:
            date = datetime.date.fromisoformat(day)
            rows.append([day, *(format_date(date, form, locale=language) for form in ("long", "full", "medium"))])
        yield language, rows


def main() -> None:
    """Write the names, their licence and the test data."""
    full, short = months()
    wide, narrow = weekdays(full.keys() | short.keys())
    names = {"months": full, "month_abbreviations": short, "weekdays": wide, "weekday_abbreviations": narrow}
    text = json.dumps(names, ensure_ascii=False, indent=0)
    (TARGET / "date_names.json").write_text(text + "\n", encoding="utf-8")
    licence = (Path(babel.__file__).parent / "locale-data" / "LICENSE.unicode").read_text(encoding="utf-8")
    head = (
        "date_names.json holds names of months and weekdays from the Unicode Common Locale Data Repository, as\n"
        f"Babel {babel.__version__} carries it, merged into one file by scripts/make_date_names.py. Its licence:\n\n"
    )
    (TARGET / "date_names.LICENSE.txt").write_text(head + licence.strip() + "\n", encoding="utf-8")
    rows = [f"{json.dumps(name)}: {json.dumps(days, ensure_ascii=False)}" for name, days in long_dates()]
    TEST_DATA.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(len(LANGUAGES), "languages,", *(f"{len(one)} {name}" for name, one in names.items()))


if __name__ == "__main__":
    main()
