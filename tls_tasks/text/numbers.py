"""The numbers of a text as values: what ``1,200``, ``1200`` and ``1.2 thousand`` have in common."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

from tls_tasks.core.reasoning import phrases

FORMS = phrases(__file__)
"""The patterns of numbers, and of times of day."""

_ONES, _TENS, _NAMES = (FORMS[kind].split("|") for kind in ("ones", "tens", "scales"))
_WORDS = {word: number for number, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = dict(zip(_NAMES, (12, 100, 10**3, 10**6, 10**9, 10**12), strict=True))
_HUGE = frozenset(_NAMES[2:])
_UNITS = {"k": 10**3, "m": 10**6, "bn": 10**9, "tn": 10**12, "千": 10**3}  # only behind digits
_UNITS |= {**dict.fromkeys("万萬만", 10**4), **dict.fromkeys("億亿억", 10**8)}
_KINDS = ("joint", "number", "year", "grouped", "simple", "whole")
_JOINT, _NUMBER, _YEAR, _GROUPED, _SIMPLE, _WHOLE = (re.compile(FORMS[kind], re.IGNORECASE) for kind in _KINDS)
_DIGIT = re.compile(r"[^\D0-9]")
_MARKS = str.maketrans("\u066b\u066c\uff0e\uff0c", ".,.,")  # Arabic's, and full-width ones

LONGEST = 100
"""Characters of a text that may be one number or date."""


def ascii_digits(text: str) -> str:
    """Replace the digits of other scripts.

    Example:
        >>> ascii_digits("٣ of ５")
        '3 of 5'
    """
    return text if text.isascii() else _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)


def read_number(text: str) -> int | float | None:
    """Read a text that is a number and nothing else; None if it is none.

    Thousands may be set off; a comma before other than three digits is a point, and brackets are a minus.

    Example:
        >>> [read_number(text) for text in ("1,234.50", "1,234", "1.234,50", "12,5", "-3e2", "1'000", "5 kg", "1,23,4")]
        [1234.5, 1234, 1234.5, 12.5, -300.0, 1000, None, None]
        >>> [read_number(text) for text in ("(1,234.50)", "12,34,567.00", "٣٫٥", "1.234", "1.234.567")]
        [-1234.5, 1234567.0, 3.5, 1.234, 1234567]
    """
    stripped = text.strip() if len(text) <= LONGEST else ""
    match = _WHOLE.fullmatch(ascii_digits(stripped.translate(_MARKS)))
    readings = _readings(match["digits"]) if match and (match["sign"] == "(") == bool(match["close"]) else []
    if match is None or not readings:
        return None
    value = readings[0].scaleb(int(match["power"][1:])) if match["power"] else readings[0]
    number = int(value) if match["power"] is None and value.as_tuple().exponent == 0 else float(value)
    return None if number == float("inf") else number if match["sign"] in ("", "+") else -number


def numbers_in(text: str) -> Iterator[tuple[int, int, set[Decimal]]]:
    """Find every number: where it begins and ends, and its readings.

    "5m" may be metres or millions, "1.200" a fraction, "12 500" two numbers, and brackets may be a minus. What cannot
    be read whole, as ``1/2`` and ``twenty-first``, is no number; of words that are several numbers each has the place
    of all.

    Example:
        >>> [(begin, *map(int, values)) for begin, _, values in numbers_in("Two hundred and five of 1.5 million")]
        [(0, 205), (24, 1500000)]
    """
    plain = ascii_digits(text.translate(_MARKS))
    for match in _NUMBER.finditer(plain):
        if match["words"] and match["vague"] is None:
            yield from ((*match.span(), {value}) for _, value in _numbers(match["words"]))
        elif match["digits"] and match["vague"] is None:
            heads = [f"{'minus ' if match['minus'] else ''}{value} " for value in _all_readings(match["digits"])]
            ways = [match["more"], ""] if match["more"].lower() == "m" else [match["more"]]
            values = {value for head in heads for more in ways for _, value in _numbers(head + more)}
            if plain[match.start() - 1 : match.start()] == "(" and plain[match.end() : match.end() + 1] == ")":
                values |= {-value for value in values}
            yield *match.span(), values


def _numbers(words: str) -> list[tuple[str, Decimal]]:
    """The numbers in a run of number words, the first of which may be digits; none if a part of it cannot be read.

    "and" is within a number where both sides of it can be read as one.

    Example:
        >>> _numbers("one hundred and one thousand and five thousand and ten")
        [('one hundred and one thousand', Decimal('101000')), ('five thousand and ten', Decimal('5010'))]
    """
    told = _JOINT.sub(" ", words.strip().lower()).replace("half a ", ".5 ").replace(" and a half", " .5")
    numbers = list[tuple[str, Decimal]]()
    for part in told.split(" and "):
        if numbers and (value := _of_words(joined := f"{numbers[-1][0]} and {part}")) is not None:
            numbers[-1] = joined, value
        elif (value := _of_words(part)) is not None:
            if numbers and not _HUGE.isdisjoint(part.split()) and _HUGE.isdisjoint(numbers[-1][0].split()):
                numbers.pop()  # one and two million
            numbers.append((part, value))
        else:
            return []
    return numbers


def _of_words(words: str) -> Decimal | None:
    """The value of number words, None if English has no such number.

    Example:
        >>> [str(_of_words(own)) for own in ("one million twelve hundred thousand and five", "nineteen oh five")]
        ['2200005', '1905']
        >>> [str(_of_words(own)) for own in ("minus twenty", "2.5 million", "ten two")]
        ['-20', '2500000.0', 'None']
    """
    positive = words.removeprefix("minus ")
    whole = part = Decimal(0)
    room, top = 1000, 10**15  # more than the next word may add, and than the next scale
    for index, word in enumerate(_YEAR.sub(r"\1 hundred ", re.sub("^an? ", "one ", positive)).split()):
        scale = _SCALES.get(word) or _UNITS.get(word, 0)
        if word in _WORDS and (0 < _WORDS[word] < room or not index):
            part, room = part + _WORDS[word], 10 if _WORDS[word] >= 20 else 0
        elif not word[0].isalpha() and (not index or room < 1000):  # digits, or the half of "four and a half"
            part, room = part + Decimal(word), 0
        elif scale == 100 and 1 <= part < 100 and top > 100:
            part, room = part * 100, 100
        elif scale != 100 and part > 0 and 0 < scale < top:
            whole, part, room, top = whole + part * scale, Decimal(0), 1000 if scale > 12 else 0, scale
        elif word != "and" or room < 100 or not index:
            return None
    return whole + part if positive == words else -whole - part


def _readings(digits: str) -> list[Decimal]:
    """The readings of digits with marks between them as one number, the likelier first.

    Example:
        >>> [list(map(str, _readings(digits))) for digits in ("1.200", "1,200.5", "12,50", "12,34,567", "10.30.15")]
        [['1.200', '1200'], ['1200.5'], ['12.50'], ['1234567'], []]
    """
    readings = list[Decimal]()
    if grouped := _GROUPED.fullmatch(digits):
        readings.append(Decimal(digits.replace(grouped["mark"] or ",", "").replace(",", ".")))
    if _SIMPLE.fullmatch(digits):
        readings.insert(0 if "." in digits else len(readings), Decimal(digits.replace(",", ".")))
    return readings


def _all_readings(digits: str) -> list[Decimal]:
    """The same of digits in a text, where they may have a power of ten; of ``10.30.15`` each part is a number."""
    digits, _, power = digits.lower().partition("e")
    readings = _readings(digits)
    if not readings or " " in digits:
        readings += map(Decimal, filter(None, re.split(r"\D", digits)))
    return [value.scaleb(int(power or 0)) for value in readings]
