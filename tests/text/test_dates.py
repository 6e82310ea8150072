"""Date expressions: what is read, what is not guessed, and where they end."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

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

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


JAN_25 = datetime.date(2011, 1, 25)

DAYS = CASES["DAYS"]

PARTIAL = CASES["PARTIAL"]

RANGES = CASES["RANGES"]

PARTIAL_RANGES = [
    ("2011-01 to 2011-03", DateExpression(datetime.date(2011, 1, 1), "month", datetime.date(2011, 3, 1))),
    ("January-March 2011", DateExpression(datetime.date(2011, 1, 1), "month", datetime.date(2011, 3, 1))),
    ("January 2011 – March 2012", DateExpression(datetime.date(2011, 1, 1), "month", datetime.date(2012, 3, 1))),
    ("2011–2013", DateExpression(datetime.date(2011, 1, 1), "year", datetime.date(2013, 1, 1))),
]

NOT_DATES = [
    *CASES["NOT_DATES"],
    "2011-01-28 to 2011-01-25",  # backwards
    "2011-01-25 to 2012",  # a day and a year
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
    assert read_date("13/1/2011") == read_date("1/13/2011") == DateExpression(datetime.date(2011, 1, 13))


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


LEADS = CASES["LEADS"]


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


COMPLETED = CASES["COMPLETED"]


@pytest.mark.parametrize(("text", "known", "day", "end"), COMPLETED)
def test_what_is_known_completes_a_date(text: str, known: list[int | None], day: str, end: str | None) -> None:
    expression = read_date(text, Known(*known))
    assert expression is not None and expression.precision == "day" and expression.other is None
    assert (expression.date.isoformat(), expression.end and expression.end.isoformat()) == (day, end)


@pytest.mark.parametrize(("text", "known"), CASES["test_what_is_known_completes_nothing_else"])
def test_what_is_known_completes_nothing_else(text: str, known: list[int | None]) -> None:
    found = read_date(text, Known(*known))
    assert found is None or (text == "2.5" and found.other is not None)


CONTEXTS = CASES["CONTEXTS"]


@pytest.mark.parametrize(("text", "expected"), CONTEXTS)
def test_a_heading_that_names_a_year_or_month(text: str, expected: list[int | None] | None) -> None:
    assert partial_context(text) == (expected and Known(*expected))


def test_days_anywhere_in_a_text() -> None:
    text = "Es begann am 25. Januar 2011 (2011-01-25), dann 25-28 January 2011; in May 2011 nothing, 2011年1月25日も."
    found = [text[begin:end] for begin, end, _ in dates_in(text)]
    assert found == ["25. Januar 2011", "2011-01-25", "25-28 January 2011", "2011年1月25日"]
    assert list(dates_in("see /2011/01/25/x, call 20110125 or 10.1.2.3")) == []


PREFIXED = CASES["PREFIXED"]


@pytest.mark.parametrize("text", PREFIXED)
def test_what_may_stand_beside_a_day(text: str) -> None:
    assert read_date(text) == DateExpression(JAN_25)


def test_a_weekday_that_begins_a_sentence_is_no_part_of_the_date() -> None:
    assert [found.end for found in leading_dates("2011-01-25 Sun shone")] == [10]
    assert list(leading_dates("The 2011 elections")) == []


@pytest.mark.parametrize("piece", CASES["HOSTILE_PIECES"])
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
