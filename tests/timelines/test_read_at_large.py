"""What holds for every text: cuts keep whole entries, forms round-trip, nothing raises, time is linear."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


DATA = Path(__file__).parents[2] / "../shared/data"
RULE = "-" * 32

DOCUMENT = Timeline.from_days(
    {
        datetime.date(2011, 1, 25): ['Protests, "day of rage": 10:30 a.m.', "Cairo's square [1]."],
        datetime.date(2011, 1, 28): ["The army {is} deployed."],
        datetime.date(2011, 2, 11): ["Mubarak resigns\nat last.", "C:\\new"],
    }
)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("start", ["", "Here it is: ", "```json\n"])
def test_a_list_cut_anywhere_keeps_its_whole_entries(indent: int | None, start: str) -> None:
    text = json.dumps(DOCUMENT.as_rows(), indent=indent)
    kept = set()
    for length in range(len(text)):
        parsed = parse_timeline(start + text[:length])
        entries = parsed.value.entries if parsed.value is not None else ()
        assert entries == DOCUMENT.entries[: len(entries)], text[:length]
        assert "repaired_json" not in parsed.kinds()
        assert "truncated" in parsed.kinds() or not entries
        kept.add(len(entries))
    assert kept == {0, 1, 2, 3}


DAYS = st.dates()
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=200)
TIMELINES = st.dictionaries(DAYS, st.lists(ANY_TEXT, max_size=3), max_size=4).map(Timeline.from_days)
PLAIN_LINES = st.lists(st.from_regex(r"[A-Za-z]{1,9}", fullmatch=True), min_size=1, max_size=9).map(" ".join)


@given(TIMELINES, st.booleans())
def test_json_rows_come_back_as_they_were(timeline: Timeline, ascii_only: bool) -> None:
    parsed = parse_timeline(json.dumps(timeline.as_rows(), ensure_ascii=ascii_only))
    assert parsed.value == timeline
    assert set(parsed.kinds()) <= {"empty_entry"}


@given(
    st.dictionaries(DAYS, st.lists(PLAIN_LINES, min_size=1, max_size=1), min_size=1, max_size=4).map(Timeline.from_days)
)
def test_other_forms_come_back_as_they_were(timeline: Timeline) -> None:
    rows = [(str(day), sentences[0]) for day, sentences in timeline]
    for text in (
        "\n".join(f"{day}: {text}" for day, text in rows),
        "\n".join(f"- **{day}** {text}" for day, text in rows),
        "".join(f"{day}\n{text}\n{RULE}\n" for day, text in rows),
        "| Date | Text |\n|---|---|\n" + "\n".join(f"| {day} | {text} |" for day, text in rows),
        json.dumps(dict(rows)),
        json.dumps(rows),
        str([{"date": day, "text": text} for day, text in rows]),
    ):
        assert parse_timeline(text).value == timeline, text


SMALL, LARGE = dict(hostile.texts(hostile.SMALL)), dict(hostile.texts(hostile.LARGE))


@pytest.mark.parametrize("name", SMALL)
def test_time_is_linear_in_hostile_text(name: str) -> None:
    assert hostile.is_linear(parse_timeline, SMALL[name], LARGE[name])


SECTIONS_AND_MARKUP = CASES["SECTIONS_AND_MARKUP"]


@pytest.mark.parametrize(("start", "piece"), SECTIONS_AND_MARKUP)
def test_time_is_linear_in_hostile_markup(start: str, piece: str) -> None:
    small, large = (start + piece * (size // len(piece)) for size in (40_000, 160_000))
    assert hostile.is_linear(parse_timeline, small, large)


@pytest.mark.parametrize(
    "text", ["[" * 5_000, "['" * 5_000, '{"a":' * 5_000, "'it's'," * 13_000, "[" + "'it's'," * 13_000]
)
def test_looping_models_do_not_stop_the_run(text: str) -> None:
    assert parse_timeline(text).failed
    assert not parse_timeline(f"2011-01-25: A\n\n{text}").failed


@pytest.mark.parametrize("piece", ["2018: ", "[2018] ", "January 2018: ", "2018: January: "])
def test_dates_without_an_end_are_the_text_of_the_first(piece: str) -> None:
    timeline = parse_timeline(piece * 3_000 + "A").value
    assert timeline is not None
    [(day, [text])] = timeline
    assert day == datetime.date(2018, 1, 1) and text.endswith(piece + "A")


@pytest.mark.skipif(not DATA.exists(), reason="the real timelines are not beside this checkout")
def test_real_timelines_are_read_without_loss() -> None:
    lines = [line for path in sorted(DATA.glob("*/*/timelines.jsonl")) for line in path.read_text("utf-8").splitlines()]
    assert len(lines) > 50
    partial = 0
    for line in lines:
        parsed = parse_timeline(line)
        assert parsed.value is not None
        assert set(parsed.kinds()) <= {"partial_date", "repeated_date"}
        assert parsed.value.n_sentences == sum(len(sentences) for _, sentences in json.loads(line))
        partial += parsed.kinds().get("partial_date", 0)
    assert partial == 24  # dates without a day, all in open_tls
