"""The numbers and dates of a text as values: what ``1,200``, ``1200`` and ``1.2 thousand`` have in common.

For the share of an answer's numbers that stand in its source: no judge, and so no word about what they count.
"""

import re
from collections.abc import Hashable, Iterator
from decimal import Decimal

from tls_tasks.text.dates import dates_in

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {word: number for number, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "k": 3, "m": 6, "bn": 9, "tn": 12}
# Behind "and" stands the rest of a number, and not another: "five thousand and ten thousand" are two.
_SCALE = "(?:thousand|million|billion|trillion)"
_LAST = rf"(?![- ](?:hundred|{_SCALE}))"
_ONE = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(_ONES)})\b"
_SMALL = rf"{_ONE}(?:[- ]hundred\b(?:[- ]{_ONE}|[- ]and[- ]{_ONE}{_LAST})?)?"
_NUMBER = re.compile(
    r"(?<!\w)(?:(?P<digits>\d{1,30}(?:[.,'’\u00a0\u202f]\d{1,30}){0,9})(?P<unit>k|m|bn|tn)?"
    rf"(?:[- ](?P<scale>hundred|{_SCALE}))?(?!\d)"
    rf"|(?P<words>{_SMALL}(?:[- ]{_SCALE}\b(?:[- ]{_SMALL}|[- ]and[- ]{_SMALL}{_LAST})?)*))",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}([,.'’\u00a0\u202f])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d+)?")


def share_in_source(text: str, source: str) -> float | None:
    """The share of a text's numbers and dates that its source has too, each counted as often as it is written.

    A date that is written with its year is one value, and must be in the source as a date; of one without a year the
    day counts as a number. The word "one" and digits behind a letter ("B52") are not counted. Number words are those of
    English, to trillions.

    Returns:
        None if the text has no number.

    Example:
        >>> share_in_source("Some 1,200 people, 3 of them in 2011", "On 25 January 2011, twelve hundred people")
        0.6666666666666666
        >>> share_in_source("On 2011-01-25", "On 25 January 2011"), share_in_source("No one came", "")
        (1.0, None)
    """
    dates = list(dates_in(text))
    kept, end = [], 0
    for begin, after, _ in dates:
        kept.append(text[end:begin])
        end = after
    written: list[set[Hashable]] = [{expression.date} for _, _, expression in dates]
    found = (pair for part in (*kept, text[end:]) for pair in numbers_in(part))
    written += [{*values} for match, values in found if match[0].lower() != "one"]  # "one" is mostly no number
    if not written:
        return None
    there: set[Hashable] = {expression.date for _, _, expression in dates_in(source)}
    there |= {value for _, values in numbers_in(source) for value in values}
    return sum(bool(there & values) for values in written) / len(written)


def numbers_in(text: str) -> Iterator[tuple[re.Match[str], set[Decimal]]]:
    """Every number with its readings: "5m" may be metres or millions, "1.200" may be a fraction.

    A match has ``words``, or ``digits`` and maybe a ``scale``, which is a word.

    Example:
        >>> [(match[0], *map(int, values)) for match, values in numbers_in("Two hundred and five of 1.5 million")]
        [('Two hundred and five', 205), ('1.5 million', 1500000)]
    """
    for match in _NUMBER.finditer(text):
        values = {_of_words(match["words"])} if match["words"] else _of_digits(match["digits"])
        unit = {value.scaleb(_SCALES[match["unit"].lower()]) for value in values} if match["unit"] else set()
        scale = _SCALES[match["scale"].lower()] if match["scale"] else 0
        yield match, {value.scaleb(scale) for value in values | unit}


def _of_words(words: str) -> Decimal:
    """The value of number words.

    Example:
        >>> _of_words("one million twelve hundred thousand and thirty-five")
        Decimal('2200035')
    """
    whole = part = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _WORDS:
            part += _WORDS[word]
        elif word == "hundred":
            part *= 100
        elif word != "and":
            whole, part = whole + part * 10 ** _SCALES[word], 0
    return Decimal(whole + part)


def _of_digits(digits: str) -> set[Decimal]:
    """The readings of digits with marks between them; of ``10.30.15`` each part is a number.

    Example:
        >>> sorted(map(str, _of_digits("1.200"))), sorted(map(str, _of_digits("1,200.5"))), _of_digits("12,50")
        (['1.200', '1200'], ['1200.5'], {Decimal('12.50')})
    """
    found = set()
    if grouped := _GROUPED.fullmatch(digits):
        found.add(Decimal(digits.replace(grouped[1], "").replace(",", ".")))
    parts = re.split(r"[^\d]", digits)
    if len(parts) < 3:
        found.add(Decimal(".".join(parts)))
    return found or {*map(Decimal, parts)}
