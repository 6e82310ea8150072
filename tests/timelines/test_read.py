"""Timelines in model text: every form that models write, every policy, every kind of trouble."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import read_jsonl
from tls_tasks.core.errors import OptionError
from tls_tasks.core.parsed import Parsed
from tls_tasks.timelines.read import OPTIONS, PROBLEM_KINDS, TimelinePolicy, parse_timeline
from tls_tasks.timelines.types import Timeline

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def days(parsed: Parsed[Timeline]) -> dict[str, list[str]] | None:
    """The timeline as a dict, None for a parse failure."""
    return None if parsed.value is None else {str(day): list(sentences) for day, sentences in parsed.value}


FORMS = [form for name in ("forms", "corner_forms") for form in read_jsonl(Path(__file__).with_name(f"{name}.jsonl"))]
"""Texts in all forms that models write, with what is read from them under a policy and the problems."""


@pytest.mark.parametrize("form", FORMS, ids=[form["text"][:40] for form in FORMS])
def test_forms(form: dict[str, Any]) -> None:
    parsed = parse_timeline(form["text"], TimelinePolicy(**form.get("policy", {})))
    assert (days(parsed), parsed.kinds()) == (form["expected"], form["counts"])
    assert set(parsed.kinds()) <= set(PROBLEM_KINDS)


def test_an_undated_json_object_on_its_own_is_nothing() -> None:
    assert parse_timeline('[{"text": "A"}]').failed


def test_json_that_needs_guessing_does_not_win_over_lines() -> None:
    parsed = parse_timeline("[[2011-01-25]] A\n[[2011-01-26]] B\n{note: 'it's'}")
    assert parsed.value is not None
    assert [str(day) for day in parsed.value.dates] == ["2011-01-25", "2011-01-26"]


def test_lists_in_one_text_are_one_timeline() -> None:
    text = 'First [{"date": "2011-01-25", "text": "A"}], [{"date": "2011-01-25", "text": "B"}].'
    parsed = parse_timeline(text)
    assert (days(parsed), parsed.kinds()) == ({"2011-01-25": ["A", "B"]}, {"repeated_date": 1, "note": 1})


def test_the_defaults_are_the_first_choices() -> None:
    policy = TimelinePolicy()
    assert {option: getattr(policy, option) for option in OPTIONS} == {
        name: values[0] for name, values in OPTIONS.items()
    }


@pytest.mark.parametrize("option", OPTIONS)
def test_an_unknown_option_is_the_callers_fault(option: str) -> None:
    with pytest.raises(OptionError, match=f"^{option}: got 'x', expected one of '{OPTIONS[option][0]}'"):
        TimelinePolicy(**{option: "x"})


def test_problems_stand_in_the_order_of_the_text_and_are_short() -> None:
    parsed = parse_timeline("2011-02-30: C\n2012: D\n2011-01-25: A\n2011-01-25: B\n\n" + "It rained. " * 50)
    assert [noted.kind for noted in parsed.problems] == [
        "invalid_date",
        "partial_date",
        "repeated_date",
        "undated_text",
    ]
    assert [noted.detail for noted in parsed.problems[:3]] == ["2011-02-30: C", "2012", "2011-01-25"]
    assert all(len(noted.detail) <= 80 for noted in parsed.problems)


@pytest.mark.parametrize(
    ("text", "day_month", "days"),
    [case for case in CASES["test_a_list_settles_the_order_of_day_and_month"] if isinstance(case, list)],
)
def test_a_list_settles_the_order_of_day_and_month(text, day_month, days):
    parsed = parse_timeline(text, TimelinePolicy(day_month=day_month))
    assert [str(day) for day in (parsed.value.dates if parsed.value else ())] == days


def test_an_entry_with_a_day_keeps_it_whatever_its_text_begins_with():
    assert parse_timeline("2018-03-05: March 6: A").value.as_rows() == [{"date": "2018-03-05", "text": ["March 6: A"]}]


def test_marks_of_code_are_no_text():
    read = parse_timeline("2011-01-25: It ran `make test` twice.").value.as_rows()
    assert read == [{"date": "2011-01-25", "text": ["It ran make test twice."]}]


@pytest.mark.parametrize("sign", ["-", "–", "—", "~"])
def test_a_span_of_numbers_is_no_year(sign):
    assert parse_timeline(f"2000 {sign} 3000 people came.").value is None
