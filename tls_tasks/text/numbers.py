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
_VALUES = {word: str(value) for word, value in (_WORDS | {"a": 1, "an": 1}).items()}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNITS = {"k": 3, "m": 6, "bn": 9, "tn": 12}
_DIGITS = {"oh": "0"} | {word: str(digit) for digit, word in enumerate(_ONES[:10])}
_JOINT, _SCALE = r"(?:[-\u2010\u2011]|\s+)", rf"(?:{'|'.join(_SCALES)})\b"
# Ordinals and fractions; of the two "second" in "twenty-second" and "five-second" only the first is an ordinal.
_PART = r"""(?:(?<=ty.|nd.|ed.)second|(?:first|third|(?:(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf
    |(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)tie
    |hundred|thousand|million|billion)th))s?|half|halves|quarters?)\b"""
_WORD = rf"""(?:(?:{"|".join(_WORDS)}|minus|oh)\b|{_SCALE}|(?<!of\s)an?(?={_JOINT}(?:{_SCALE}|{_PART}))
    |half{_JOINT}a(?={_JOINT}{_SCALE})|half(?={_JOINT}{_SCALE})|point(?={_JOINT}(?:{"|".join(_DIGITS)})\b))"""
_ORDINAL = rf"{_JOINT}(?:and{_JOINT})?(?:(?<!\s){_PART}|{_PART}(?!-))"
_VAGUE = r"[-\u2010\u2011](?:something|odd|ish|on|to|by|of)\b"
_POINT = re.compile(rf" point((?: (?:{'|'.join(_DIGITS)})\b)+)")
_NUMBER = re.compile(
    rf"""(?<![^\W\d_][-\u2010\u2011])(?:(?<!\w)|(?<=\b(?-i:[A-Z]{{3}})))(?:
    (?P<minus>minus{_JOINT})?(?:
        (?<!/)(?:\d{{1,3}}[-\s])?\d{{1,3}}/\d{{1,3}}(?![\d/])
        |\d[\d.,]{{0,40}}(?:\^[-\d]*|\s?[\xb2\xb3\xb9\xbc-\xbe\u2070-\u2089\u2150-\u215f]+)
        |(?P<plain>[-\u2212]?(?:(?<![\w.])\.)?\d{{1,30}}(?:[.,'’\u00a0\u202f]\d{{1,30}}){{0,9}})(?!\d)
        (?:(?P<unit>[km]|\s?(?:bn|tn))\b)?
        (?P<scales>(?:{_JOINT}and{_JOINT}an?(?={_JOINT}{_PART})(?:{_JOINT}half(?={_JOINT}{_SCALE}))?)?
            (?:{_JOINT}{_SCALE})*(?:(?<=[a-z]){_ORDINAL}|{_VAGUE})?))
    |(?P<words>(?!point|oh){_WORD}(?:{_JOINT}(?:and{_JOINT})?{_WORD})*(?:{_ORDINAL}|{_VAGUE})?))""",
    re.IGNORECASE | re.VERBOSE,
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
    found = (number for part in (*kept, text[end:]) for number in numbers_in(part))
    written += [{*values} for _, own, values in found if values and own != "one"]  # "one" is mostly no number
    if not written:
        return None
    there: set[Hashable] = {expression.date for _, _, expression in dates_in(source)}
    there |= {value for *_, values in numbers_in(source) for value in values}
    return sum(bool(there & values) for values in written) / len(written)


def numbers_in(text: str) -> Iterator[tuple[re.Match[str], str, set[Decimal]]]:
    """Every number with its readings: "5m" may be metres or millions, "1.200" may be a fraction.

    A match has ``plain`` digits, number words or both; from words several numbers may come. One that cannot be read
    whole, as ``1/2`` and ``twenty-first``, has no readings.

    Example:
        >>> [(number, *map(int, values)) for _, number, values in numbers_in("Two hundred and five of 1.5 million")]
        [('two hundred and five', 205), ('1.5 million', 1500000)]
    """
    for match in _NUMBER.finditer(text):
        words = re.sub(_JOINT, " ", (match["words"] or match["scales"] or "").lower())
        words = words.replace("half a ", ".5 ").replace(" and a half", " .5")
        words = _POINT.sub(lambda found: " ." + "".join(map(_DIGITS.__getitem__, found[1].split())), words)
        if match["plain"]:
            digits = match["plain"].lstrip("-\u2212")
            sign = "minus " if match["minus"] or digits != match["plain"] else ""
            readings = {_of_words(f"{sign}{value}{words}") for value in _of_digits(digits)}
            values = {value for value in readings if value is not None}
            if unit := (match["unit"] or "").strip().lower():  # metres or millions
                values = {value.scaleb(_UNITS[unit]) for value in values} | (values if unit == "m" else set())
            yield match, match[0], values
        else:
            numbers = [(own, _of_words(own)) for own in _split(words)]
            for own, value in numbers if all(value is not None for _, value in numbers) else [(match[0], None)]:
                yield match, own, set() if value is None else {value}


def digits_of(text: str) -> str:
    """A text without number words, and without digits that something beside them changes.

    Example:
        >>> digits_of("12 500 of 1.5 million, 1/2 of ten")
        '12 500 of |, | of |'
    """
    return _NUMBER.sub(lambda match: match[0] if match[0] == match["plain"] else "|", text)


def _split(words: str) -> list[str]:
    """Number words as numbers: "and" is within a number where both sides can be read as one.

    Example:
        >>> _split("one hundred and one thousand and five thousand and ten")
        ['one hundred and one thousand', 'five thousand and ten']
    """
    numbers = list[str]()
    for part in words.split(" and ") if words else ():
        if numbers and _of_words(joined := f"{numbers[-1]} and {part}") is not None:
            numbers[-1] = joined
        else:
            numbers.append(part)
    return numbers


def _of_words(words: str) -> Decimal | None:
    """The value of number words, the first of which may be digits; None if they are no number of English.

    Example:
        >>> [str(_of_words(own)) for own in ("one million twelve hundred thousand and five", "nineteen ninety-nine")]
        ['2200005', 'None']
        >>> [str(_of_words(own)) for own in ("minus twenty oh five", "2.5 million", "ten two")]
        ['-2005', '2500000.0', 'None']
    """
    told = words.split()
    sign = -1 if told[:1] == ["minus"] else 1
    told = told[sign < 0 :]
    whole = part = Decimal(0)
    room, top = 1000, 10**15  # what follows is less
    for index, word in enumerate(told):
        scale, is_first = _SCALES.get(word, 0), index == 0
        value = Decimal(_VALUES[word]) if word in _VALUES else None
        if scale == 100 and 1 <= part < 100 and top > 100:
            part, room = part * 100, 100
        elif scale and scale != 100 and 0 < part and scale < top:
            whole, part, room, top = whole + part * scale, Decimal(0), 1000 if scale > 12 else 0, scale
        elif is_first and word[0].isdigit() or word[0] == "." and (is_first or room < 1000):
            part, room = part + Decimal(word), 0
        elif (
            value is not None and (0 < value < room or is_first) and (word not in ("a", "an") or told[1:] and is_first)
        ):
            part, room = part + value, 10 if value >= 20 else 0
        elif index == 1 and 10 <= part <= 20 and told[0] in _WORDS and (word == "oh" or (value or 0) >= 10):  # a year
            part, room, top = part * 100 + (value or 0), 10 if word == "oh" or (value or 0) >= 20 else 0, 1
        elif word != "and" or room < 100 or is_first:
            return None
    return sign * (whole + part) if told and told[-1] != "oh" else None


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
