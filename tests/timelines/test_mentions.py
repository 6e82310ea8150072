"""Which days a news sentence names."""

import datetime
import json
from pathlib import Path

import pytest

from tls_tasks.timelines.prompts import mentioned_dates

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

TUESDAY = datetime.date(2011, 2, 1)


@pytest.mark.parametrize(("text", "days"), [case for case in CASES["test_days"] if isinstance(case, list)])
def test_days(text, days):
    assert sorted(map(str, mentioned_dates(text, TUESDAY))) == days


def test_no_day_lies_before_the_calendar():
    assert mentioned_dates("yesterday", datetime.date.min) == {datetime.date.min}
