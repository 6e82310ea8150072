"""Numbers and dates of an answer that its source has too, as values."""

import pytest

from tls_tasks.text.numbers import share_in_source

CASES = [
    ("1200", "1,200", 1.0),
    ("1.2 million", "1,200,000 votes", 1.0),
    ("$1.2bn", "1.2 billion dollars", 1.0),
    ("5m", "five metres", 1.0),
    ("1 200", "1\u202f200", 0.0),  # a plain blank separates two numbers
    ("12,50 EUR", "12.50 EUR", 1.0),
    ("1.234,5", "1,234.5", 1.0),
    ("25 people", "twenty-five people", 1.0),
    ("3 people", "Three people", 1.0),
    ("thirty", "13", 0.0),
    ("16 or 6", "sixteen", 0.5),
    ("10", "the tenth", 0.0),
    ("205 or 5", "two hundred and five", 0.5),
    ("1,200,305", "one million two hundred thousand three hundred and five", 1.0),
    ("5,000 to 10,000", "between five thousand and ten thousand", 1.0),
    ("500 and 600", "five hundred and six hundred", 1.0),
    ("3,005", "three thousand and five", 1.0),
    ("12", "112 or 1200", 0.0),
    ("2011", "On 25 January 2011", 1.0),
    ("25 January 2011", "On 2011-01-25", 1.0),
    ("25 January 2011", "In 2011, 25 times in January", 0.0),
    ("January 25", "25 January 2011", 1.0),
    ("2012-01-25 and 7", "25 January 2011, 7 p.m.", 0.5),
    ("the 25th", "25", 1.0),
    ("7 of 7 and 8", "7", 2 / 3),
    ("B52s and one more", "nothing", None),
    ("50%", "50 percent", 1.0),
    ("1 dog", "seven dogs", 0.0),
    ("1 million", "a million or one million", 1.0),
    ("\u0661\u0662", "12", 1.0),
    ("", "12", None),
]


@pytest.mark.parametrize(("text", "source", "share"), CASES)
def test_share_in_source(text, source, share):
    assert share_in_source(text, source) == share


@pytest.mark.parametrize("text", ["1," * 50_000, "1" * 100_000, "1.1." * 25_000, "twenty-" * 20_000, "9k" * 50_000])
def test_long_texts_of_numbers_are_read(text):
    assert share_in_source(text, text) in (1.0, None)
