"""Numbers of a text as values."""

from decimal import Decimal

import pytest

from tls_tasks.text.numbers import numbers_in

READ = {
    "one hundred and twenty thousand": [120_000],
    "two hundred and fifty thousand or two hundred and five thousand": [250_000, 205_000],
    "one million two hundred and fifty thousand": [1_250_000],
    "one hundred and one and one hundred and two hundred and six": [101, 100, 206],
    "a hundred, a thousand, a hundred and one, a dozen": [100, 1000, 101, 12],
    "two dozen of 2 dozen": [24, 24],
    "nineteen ninety-nine, twenty twenty-four, nineteen oh five, twenty ten": [1999, 2024, 1905, 2010],
    "twenty-first, one hundred and first, two hundredth, twenty second, twenty-first-century": [],
    "three-quarters, two thirds, one half, two-third, one and a third, one and three-quarters": [],
    "nineteen-nineties, two millions, 2 and a quarter, half-million, two point five million": [],
    "mid-2011, 14-Mar-2024, in 2011 thousands, five cities": [2011, 14, 2024, 2011, 5],
    "a quarter of a million, several hundred and fifty, five five five, ten twenty thousand": [],
    "twenty-something, 20-something, COVID-19, Catch-22, one-on-one, catch-twenty-two, fifty-odd": [],
    "1/2, 3 1/2, 10^6, 10^-6, 1\u00bd, 1 \u00bd, 10\u2076, 3 and a quarter, minus 1/2": [],
    "four and a half, 4 and a half": ["4.5", "4.5"],
    "half a million, two and a half million, 2 and a half million": [500_000, 2_500_000, 2_500_000],
    "forty-two point five, one point two million": [],
    "minus five, minus 5, -5, -1.5 million, .5": [-5, -5, -5, -1_500_000, "0.5"],
    "$3bn, EUR3 bn, 5k, 5km": [3 * 10**9, 3 * 10**9, 5000, 5],
    "from ten to twelve, between minus ten and five and 10-12, 2011/12": [10, 12, -10, 5, 10, 12, 2011, 12],
    "a five-second, three-year, 10-year and two third-party": [5, 3, 10, 2],
    "the first three, at that point five, oh one, one point": [3, 5, 1, 1],
    "In 2011 two people, in 2011 first": [2011, 2, 2011],
    "two\u2010hundred\nand  five": [205],
    "1e6, 1.5E-3, 2e 3, 1e6x": [10**6, "0.0015", 2, 3, 1],
    "2 thirds, 5-eighths, 3 quarters of it, 5 months, 2 others": [5, 2],
    "between one and two million, 1 to 2 million, ten or twelve thousand, $5-10bn": [2 * 10**6] * 2 + [12_000, 10**10],
    "人口は1400万人, 3億円, 猫が3匹, 2.5만": [14_000_000, 3 * 10**8, 3, 25_000],
    "five thousand to ten thousand, 3 to 5 m, two and three": [5000, 10_000, 3, 5, 2, 3],
}


@pytest.mark.parametrize("text", READ)
def test_a_number_is_read_whole_or_not_at_all(text):
    numbers = [values for *_, values in numbers_in(text) if values]
    assert numbers == [{Decimal(value)} for value in READ[text]]


LONG = [
    "1," * 50_000, "1" * 100_000, "1.1." * 25_000, "twenty-" * 20_000, "9k" * 50_000, "one and " * 50_000,
    "one point" + " five" * 50_000, "a hundred " * 30_000, "one" + " " * 100_000, "1/" * 50_000, "minus " * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("text", LONG)
def test_long_texts_of_numbers_are_read(text):
    assert all(value.is_finite() for *_, values in numbers_in(text) for value in values)
