import datetime

import pytest

from tls_tasks.timelines.types import Timeline, TimelineEntry

FIRST, SECOND = datetime.date(2011, 1, 25), datetime.date(2011, 1, 28)


def test_days_are_sorted_and_merged():
    timeline = Timeline.from_days([(SECOND, ["c"]), (FIRST, ["a"]), (SECOND, ["d"]), (FIRST, [])])
    assert timeline.entries == (TimelineEntry(FIRST, ("a",)), TimelineEntry(SECOND, ("c", "d")))
    assert timeline == Timeline.from_days({FIRST: ["a"], SECOND: ["c", "d"]})
    assert hash(timeline) == hash(Timeline.from_days({FIRST: ["a"], SECOND: ["c", "d"]}))


@pytest.mark.parametrize("dates", [(SECOND, FIRST), (FIRST, FIRST)])
def test_dates_must_rise(dates):
    with pytest.raises(ValueError, match="must strictly rise"):
        Timeline(tuple(TimelineEntry(day, ()) for day in dates))


def test_rows():
    assert Timeline.from_days({FIRST: ["a", "b"]}).as_rows() == [{"date": "2011-01-25", "text": ["a", "b"]}]
    assert not Timeline()
