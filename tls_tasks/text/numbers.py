"""The numbers of a text as values: what ``1,200``, ``1200`` and ``1.2 thousand`` have in common.

For grounded trees: whether a number can be read from its quote.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from tls_tasks.core.reasoning import phrases

_FORMS = phrases(__file__)
_ONES, _TENS, _NAMES = (_FORMS[kind].split("|") for kind in ("ones", "tens", "scales"))
_WORDS = {word: number for number, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = dict(zip(_NAMES, (12, 100, 10**3, 10**6, 10**9, 10**12), strict=True))
_HUGE = frozenset(_NAMES[2:])
_UNITS = {"k": 10**3, "m": 10**6, "bn": 10**9, "tn": 10**12}  # only behind digits
APART = _FORMS["apart"]
"""Where a number may begin."""
_KINDS = ("joint", "number", "year", "grouped")
_JOINT, _NUMBER, _YEAR, _GROUPED = (re.compile(_FORMS[kind], re.IGNORECASE) for kind in _KINDS)


def numbers_in(text: str) -> Iterator[tuple[str, set[Decimal]]]:
    """Every number with its readings: "5m" may be metres or millions, "1.200" may be a fraction.

    What cannot be read whole, as ``1/2`` and ``twenty-first``, is no number.

    Example:
        >>> [(own, *map(int, values)) for own, values in numbers_in("Two hundred and five of 1.5 million")]
        [('two hundred and five', 205), ('1.5 million', 1500000)]
    """
    for match in _NUMBER.finditer(text):
        if match["words"] and match["vague"] is None:
            yield from ((own, {value}) for own, value in _numbers(match["words"]))
        elif match["digits"] and match["vague"] is None:
            heads = [f"{'minus ' if match['minus'] else ''}{value} " for value in _of_digits(match["digits"])]
            ways = [match["more"], ""] if match["more"].lower() == "m" else [match["more"]]
            yield match[0], {value for head in heads for more in ways for _, value in _numbers(head + more)}


def digits_of(text: str) -> str:
    """A text without number words, and without digits that something beside them changes.

    Example:
        >>> digits_of("12 500 of 1.5 million, 1/2 of ten")
        '12 500 of |, | of |'
    """
    return _NUMBER.sub(lambda match: match[0] if match[0].lstrip("-\u2212") == match["digits"] else "|", text)


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


def _of_digits(digits: str) -> set[Decimal]:
    """The readings of digits with marks between them; of ``10.30.15`` each part is a number.

    Example:
        >>> sorted(map(str, _of_digits("1.200"))), sorted(map(str, _of_digits("1,200.5"))), _of_digits("12,50")
        (['1.200', '1200'], ['1200.5'], {Decimal('12.50')})
    """
    found = set()
    digits, _, power = digits.lower().partition("e")
    if grouped := _GROUPED.fullmatch(digits):
        found.add(Decimal(digits.replace(grouped[1], "").replace(",", ".")))
    parts = re.split(r"[^\d]", digits)
    if len(parts) < 3:
        found.add(Decimal(".".join(parts)))
    return {value.scaleb(int(power or 0)) for value in found or map(Decimal, filter(None, parts))}
