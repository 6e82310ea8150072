"""Date expressions: what is read, what is not guessed, and where they end."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile import LARGE, SMALL, is_linear
from tls_tasks.text.dates import (
    MAX_LENGTH,
    DateExpression,
    Known,
    dates_in,
    leading_dates,
    may_hold_date,
    partial_context,
    read_date,
)

JAN_25 = datetime.date(2011, 1, 25)

DAYS = [
    "2011-01-25",
    "2011-1-25",
    "2011/01/25",
    "2011.01.25",
    "20110125",
    "2011-01-25T10:00:00Z",
    "2011-01-25T00:00:00",
    "2011-01-25T00:00:00.123456-0500",
    "2011-01-25T00:00:00+02:00",
    "2011-01-25 10:00",
    "2011-01-25 T00:00:00",
    "2011-01-25, 10:30 p.m.",
    "2011-01-25 at 10:30 UTC",
    "2011-01-25 (Tuesday)",
    "2011-01-25, Tue",
    "2011\u201101\u201125",
    "2011年1月25日",
    "25 January 2011",
    "25\u00a0January\u202f2011",
    "25th January, 2011",
    "25th of Jan. 2011",
    "25-Jan-2011",
    "25 JANUARY 2011",
    "January 25, 2011",
    "January 25 2011",
    "Jan 25th 2011",
    "Jan. 25, 2011, 10:30 a.m.",
    "2011 January 25",
    "Tuesday, 25 January 2011",
    "Tue 25 Jan 2011 10:30 a.m.",
    "Tuesday, January 25, 2011",
    "on 25 January 2011",
    "25/01/2011",
    "01/25/2011",
    "25.1.2011",
    "25-01-2011",
    " 2011-01-25: ",
    "**2011-01-25**",
    "[2011-01-25]",
    '"2011-01-25"',
]

PARTIAL = [
    ("2011-01", "month"),
    ("2011/01", "month"),
    ("01/2011", "month"),
    ("2011-01T00:00:00", "month"),
    ("January 2011", "month"),
    ("Jan. 2011", "month"),
    ("January, 2011", "month"),
    ("January of 2011", "month"),
    ("early January 2011", "month"),
    ("2011年1月", "month"),
    ("2011", "year"),
    ("mid-2011", "year"),
    ("2011年", "year"),
]

RANGES = [
    ("2011-01-25 to 2011-01-28", "2011-01-28"),
    ("2011-01-25 – 2011-01-28", "2011-01-28"),
    ("2011-01-25 — 2011-01-28", "2011-01-28"),
    ("2011-01-25-2011-01-28", "2011-01-28"),
    ("2011-01-25/2011-01-28", "2011-01-28"),
    ("2011-01-25/28", "2011-01-28"),
    ("2011-01-25T10:00:00 - 2011-01-28T12:00:00", "2011-01-28"),
    ("from 2011-01-25 to 2011-01-28", "2011-01-28"),
    ("between 2011-01-25 and 2011-01-28", "2011-01-28"),
    ("25-28 January 2011", "2011-01-28"),
    ("25–28 January 2011", "2011-01-28"),
    ("25th to 28th of January 2011", "2011-01-28"),
    ("January 25-28, 2011", "2011-01-28"),
    ("Jan. 25 – 28, 2011", "2011-01-28"),
    ("25 January - 2 February 2011", "2011-02-02"),
    ("January 25 through February 2, 2011", "2011-02-02"),
    ("from 25 January to 2 February 2011", "2011-02-02"),
    ("25 December 2010 - 2 January 2011", "2011-01-02"),
    ("January 25, 2011 - February 2, 2011", "2011-02-02"),
    ("25/01/2011 - 28/01/2011", "2011-01-28"),
]

PARTIAL_RANGES = [
    ("2011-01 to 2011-03", DateExpression(datetime.date(2011, 1, 1), "month", datetime.date(2011, 3, 1))),
    ("January-March 2011", DateExpression(datetime.date(2011, 1, 1), "month", datetime.date(2011, 3, 1))),
    ("January 2011 – March 2012", DateExpression(datetime.date(2011, 1, 1), "month", datetime.date(2012, 3, 1))),
    ("2011–2013", DateExpression(datetime.date(2011, 1, 1), "year", datetime.date(2013, 1, 1))),
]

NOT_DATES = [
    "",
    " ",
    "soon",
    "2011-02-30",
    "2011-13-45",
    "2011-13",
    "0000-01-01",
    "30 February 2011",
    "January 32, 2011",
    "2011-01-28 to 2011-01-25",  # backwards
    "28-25 January 2011",
    "2011-01-25 to 2012",  # a day and a year
    "25 January",
    "25/01/11",
    "12011-01-25",
    "2011-01-255",
    "2011-01-25 in Cairo",
    "in 2011",
    "Mayor 2011",
    "2011-01/25",
    "10:30",
    "1" * 10_000,
    "2011-01-25" + " " * 500 + "x",
    "auguſt 2011",  # a long s is no s
]


@pytest.mark.parametrize("text", DAYS)
def test_a_day_in_any_spelling(text: str) -> None:
    assert read_date(text) == DateExpression(JAN_25)


@pytest.mark.parametrize(("text", "precision"), PARTIAL)
def test_a_partial_date_is_its_first_day(text: str, precision: str) -> None:
    assert read_date(text) == DateExpression(datetime.date(2011, 1, 1), precision)


@pytest.mark.parametrize(("text", "end"), RANGES)
def test_a_range_has_both_ends(text: str, end: str) -> None:
    expression = read_date(text)
    assert expression is not None
    assert expression.is_range
    assert (expression.precision, expression.end) == ("day", datetime.date.fromisoformat(end))
    assert expression.date == (datetime.date(2010, 12, 25) if "2010" in text else JAN_25)


@pytest.mark.parametrize(("text", "expected"), PARTIAL_RANGES)
def test_a_partial_range(text: str, expected: DateExpression) -> None:
    assert read_date(text) == expected


@pytest.mark.parametrize("text", NOT_DATES)
def test_nothing_is_guessed(text: str) -> None:
    assert read_date(text) is None


def test_equal_day_and_month_can_be_read_in_one_way_only() -> None:
    assert read_date("05/05/2011") == DateExpression(datetime.date(2011, 5, 5))


@pytest.mark.parametrize("name", ["May", "Sept", "Sept.", "Sep", "September", "June", "Jun", "March"])
def test_month_names(name: str) -> None:
    expression = read_date(f"{name} 11, 2001")
    assert expression is not None
    assert expression.date.strftime("%b") == name[:3]


@given(st.dates())
def test_every_date_of_python_is_read_in_its_iso_form(day: datetime.date) -> None:
    assert read_date(day.isoformat()) == DateExpression(day)
    assert read_date(f"{day.isoformat()}T23:59:59") == DateExpression(day)


@given(st.dates(), st.dates())
def test_every_range_that_runs_forward(first: datetime.date, second: datetime.date) -> None:
    begin, end = sorted((first, second))
    assert read_date(f"{begin} to {end}") == DateExpression(begin, "day", end)
    assert read_date(f"{end} to {begin}") == (None if begin < end else DateExpression(begin, "day", end))


LEADS = [
    ("2011-01-25: text", "2011-01-25", True),
    ("2011-01-25 10:30 text", "2011-01-25 10:30", True),
    ("2011-02-30: text", "2011-02-30", True),
    ("01/02/2011 text", "01/02/2011", True),
    ("25 January 2011 text", "25 January 2011", False),
    ("on 2011-01-25 text", "on 2011-01-25", False),
    ("2011-01-25 to 2011-01-28: text", "2011-01-25 to 2011-01-28", False),
    ("January 25, 2011, he left", "January 25, 2011", False),
    ("2011-01-25 - 28 people", "2011-01-25", True),
    ("January 25, 2011 - 2012 budget", "January 25, 2011", False),
]


@pytest.mark.parametrize(("text", "written", "is_bare"), LEADS)
def test_the_first_reading_ends_where_the_date_ends(text: str, written: str, is_bare: bool) -> None:
    first = next(leading_dates(text))
    assert (text[: first.end], first.is_bare) == (written, is_bare)
    assert first.expression == read_date(written)


def test_shorter_readings_follow() -> None:
    readings = [(found.expression, found.end) for found in leading_dates("2011 - 2012 budget")]
    year = datetime.date(2011, 1, 1)
    assert readings == [
        (DateExpression(year, "year", datetime.date(2012, 1, 1)), len("2011 - 2012")),
        (DateExpression(year, "year"), len("2011")),
    ]


@pytest.mark.parametrize("text", ["", "text 2011-01-25", "In January 2011", "10:30", "---", "from", "Tuesday, "])
def test_no_date_leads(text: str) -> None:
    assert list(leading_dates(text)) == []


@given(st.text(alphabet="0123456789-/.: janfebTto,ſé\u202f–", max_size=40))
def test_readings_stay_within_the_text_and_hold_four_digits(text: str) -> None:
    for found in leading_dates(text):
        assert 4 <= found.end <= min(len(text), MAX_LENGTH)
        assert may_hold_date(text[: found.end])
    read_date(text)


@pytest.mark.parametrize("text", ["01/02/2011", "1.2.2011", "01-02-2011", "1. 2. 2011"])
def test_day_and_month_that_cannot_be_told_apart_have_two_readings(text: str) -> None:
    expression = read_date(text)
    assert expression is not None and expression.other is not None
    assert (expression.date, expression.other.date) == (datetime.date(2011, 2, 1), datetime.date(2011, 1, 2))


COMPLETED = [
    ("January 25", Known(2011), "2011-01-25", None),
    ("25 Jan.", Known(2011), "2011-01-25", None),
    ("25th of January", Known(2011), "2011-01-25", None),
    ("The 25th of January", Known(2011), "2011-01-25", None),
    ("Jan 25-28", Known(2011), "2011-01-25", "2011-01-28"),
    ("25-28 January", Known(2011), "2011-01-25", "2011-01-28"),
    ("December 30 - January 2", Known(2010), "2010-12-30", "2011-01-02"),
    ("01-25", Known(2011), "2011-01-25", None),
    ("25.1.", Known(2011), "2011-01-25", None),
    ("25/01", Known(2011), "2011-01-25", None),
    ("25", Known(2011, 1), "2011-01-25", None),
    ("25th", Known(2011, 1), "2011-01-25", None),
    ("25.", Known(2011, 1), "2011-01-25", None),
    ("Tuesday 25", Known(2011, 1), "2011-01-25", None),
    ("The 25th", Known(2011, 1), "2011-01-25", None),
    ("25–28", Known(2011, 1), "2011-01-25", "2011-01-28"),
    ("February 2", Known(2011, 1), "2011-02-02", None),
    ("1月25日", Known(2011), "2011-01-25", None),
    ("25 января", Known(2011), "2011-01-25", None),
    ("25 January 2010", Known(2011, 3), "2010-01-25", None),
]


@pytest.mark.parametrize(("text", "known", "day", "end"), COMPLETED)
def test_what_is_known_completes_a_date(text: str, known: Known, day: str, end: str | None) -> None:
    expression = read_date(text, known)
    assert expression is not None and expression.precision == "day" and expression.other is None
    assert (expression.date.isoformat(), expression.end and expression.end.isoformat()) == (day, end)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("25", Known(2011)),
        ("January 25", Known()),
        ("25", Known(None, 1)),
        ("31", Known(2011, 2)),
        ("25 people", Known(2011, 1)),
        ("10:30", Known(2011, 1)),
        ("2.5", Known(2011, 1)),
    ],
)
def test_what_is_known_completes_nothing_else(text: str, known: Known) -> None:
    found = read_date(text, known)
    assert found is None or (text == "2.5" and found.other is not None)


CONTEXTS = [
    ("2011", Known(2011)),
    ("**2011:**", Known(2011)),
    ("The year 2011", Known(2011)),
    ("Year: 2011", Known(2011)),
    ("January 2011", Known(2011, 1)),
    ("2011-01", Known(2011, 1)),
    ("enero de 2011", Known(2011, 1)),
    ("2011年1月", Known(2011, 1)),
    ("tháng 1 năm 2011", Known(2011, 1)),
    ("January", Known(None, 1)),
    ("Février", Known(None, 2)),
    ("1月", Known(None, 1)),
    ("January–March 2011", Known(2011)),
    ("2011–2012", None),
    ("January 25", None),
    ("25 January 2011", None),
    ("In the year 2011 people marched", None),
    ("Background", None),
    ("May be", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), CONTEXTS)
def test_a_heading_that_names_a_year_or_month(text: str, expected: Known | None) -> None:
    assert partial_context(text) == expected


def test_days_anywhere_in_a_text() -> None:
    text = "Es begann am 25. Januar 2011 (2011-01-25), dann 25-28 January 2011; in May 2011 nothing, 2011年1月25日も."
    found = [text[begin:end] for begin, end, _ in dates_in(text)]
    assert found == ["25. Januar 2011", "2011-01-25", "25-28 January 2011", "2011年1月25日"]
    assert list(dates_in("see /2011/01/25/x, call 20110125 or 10.1.2.3")) == []


PREFIXED = [
    "Around 25 January 2011",
    "By January 25, 2011",
    "After 2011-01-25",
    "Since 25 January 2011",
    "Circa 25 January 2011",
    "On or around 25 January 2011",
    "25. Jänner 2011",
    "c. 25 January 2011",
    "Before 25 January 2011",
    "Until 25 January 2011",
    "The 25th of January, 2011",
    "On Tuesday, the 25th of January 2011",
    "25 January 2011 [Tue]",
    "25 January 2011 (Tuesday)",
    "25 January 2011 Tuesday",
    "[Tue] 25 January 2011",
    "(Tuesday) January 25, 2011",
]


@pytest.mark.parametrize("text", PREFIXED)
def test_what_may_stand_beside_a_day(text: str) -> None:
    assert read_date(text) == DateExpression(JAN_25)


def test_a_weekday_that_begins_a_sentence_is_no_part_of_the_date() -> None:
    assert [found.end for found in leading_dates("2011-01-25 Sun shone")] == [10]
    assert list(leading_dates("The 2011 elections")) == []


HOSTILE_PIECES = [
    "25 ", "25-", "25 - ", "January ", "January 25 ", "25 of ", "25. ", "2011 ", "2011-01-", "1/", "tháng ", "de ",
    "25 to ", "年", "2011年1月", "a.", "the ", "(Tue) ", "25 January 2011, ", "from ", "٢",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE_PIECES)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    small, large = (f"2011 {piece * (size // len(piece))}" for size in (SMALL, LARGE))
    assert is_linear(lambda text: list(dates_in(text)), small, large)
    assert len(list(leading_dates(large, Known(2011, 1)))) < 20
    read_date(large, Known(2011, 1))
    partial_context(large)


@pytest.mark.parametrize("blank", [" ", "\t", "-", "."])
def test_a_long_gap_takes_linear_time(blank: str) -> None:
    small, large = (f"25{blank * size}January{blank * size}2011" for size in (SMALL, LARGE))
    assert is_linear(lambda text: list(dates_in(text)), small, large)
