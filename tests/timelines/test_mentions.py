"""Which days a news sentence names."""

import datetime

import pytest

from tls_tasks.timelines.mentions import mentioned_dates

TUESDAY = datetime.date(2011, 2, 1)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on Tuesday", ["2011-02-01"]),  # agencies write so on that very day
        ("on Wednesday", ["2011-01-26"]),
        ("on Monday", ["2011-01-31"]),
        ("yesterday and today", ["2011-01-31", "2011-02-01"]),
        ("Yesterday's talks", ["2011-01-31"]),
        ("this morning", ["2011-02-01"]),
        ("Jan. 25", ["2011-01-25"]),
        ("25th January, 2010", ["2010-01-25"]),
        ("on Jan. 25, 2010 and 3rd of March", ["2010-01-25"]),
        ("February 30 and 31 April", []),
        ("in May and the march of 25", []),
        ("31 December", ["2010-12-31"]),
        ("on 2011-03-04", ["2011-03-04"]),
        ("30 February, 2011-13-01, in 2011, in March", []),
    ],
)
def test_days(text, days):
    assert sorted(map(str, mentioned_dates(text, TUESDAY))) == days


def test_no_day_lies_before_the_calendar():
    assert mentioned_dates("yesterday", datetime.date.min) == {datetime.date.min}
