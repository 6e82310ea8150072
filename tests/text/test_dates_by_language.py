"""Dates as each language writes them out: ``dates_by_language.json`` is made by ``scripts/make_date_names.py``."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest

from tls_tasks.text.date_forms import marked
from tls_tasks.text.dates import DateExpression, dates_in, leading_dates, read_date
from tls_tasks.timelines.alignment_rouge import alignment_rouge
from tls_tasks.timelines.date_f1 import date_f1
from tls_tasks.timelines.read import parse_timeline

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


BY_LANGUAGE = json.loads((Path(__file__).parent / "dates_by_language.json").read_text(encoding="utf-8"))
"""Language -> rows of an ISO date and of how it is written: long, in full with its weekday, in medium length."""

NOT_READ = {"21 d’ag. 2011"}  # two letters of an alphabet are no name of a month


def test_there_are_many_languages() -> None:
    wanted = "en de fr es it pt nl sv da nb fi pl cs ru uk tr ar fa he hi bn id vi zh ja ko el ro hu".split()
    assert set(wanted) <= set(BY_LANGUAGE)
    assert len(BY_LANGUAGE) == 55


@pytest.mark.parametrize("language", BY_LANGUAGE)
def test_every_date_of_a_language_is_read(language: str) -> None:
    for day, *written in BY_LANGUAGE[language]:
        for text in written:
            if text not in NOT_READ:
                expression = read_date(text)
                dates = {one.date for one in (expression, expression and expression.other) if one}
                assert datetime.date.fromisoformat(day) in dates, text
                assert [found.date for _, _, found in dates_in(f"x {text}.")] == [expression.date], text


@pytest.mark.parametrize("language", BY_LANGUAGE)
def test_a_perfect_timeline_scores_one_in_every_language(language: str) -> None:
    rows = [
        (day, written, f"{'x' * n} {re.sub('[0-9]', '', weekday)}.")
        for n, (day, written, weekday, _) in enumerate(BY_LANGUAGE[language], start=1)
    ]
    reference = {day: [text] for day, _, text in rows}
    answers = [
        json.dumps({written: text for _, written, text in rows}, ensure_ascii=False),
        "| Datum | Text |\n|---|---|\n" + "\n".join(f"| {written} | {text} |" for _, written, text in rows),
        "\n".join(f"- {written}: {text}" for _, written, text in rows),
        "\n\n".join(f"## {written}\n{text}" for _, written, text in rows),
    ]
    for answer in answers:
        parsed = parse_timeline(answer)
        assert parsed.value is not None and not parsed.problems
        assert [str(day) for day in parsed.value.dates] == list(reference)
    rouge = alignment_rouge(answers, [reference] * len(answers), tokenizer="unicode").as_dict()
    assert (rouge["ar1_f1"], rouge["ar2_f1"]) == (1.0, 1.0)
    assert date_f1(answers, [reference] * len(answers)).as_dict()["date_f1"] == 1.0


@pytest.mark.parametrize("text", CASES["a_day_in_another_language"])
def test_a_day_in_another_language(text: str) -> None:
    assert read_date(text) == DateExpression(datetime.date(2011, 1, 25))


@pytest.mark.parametrize(("text", "begin", "end"), CASES["a_range_in_another_language"])
def test_a_range_in_another_language(text: str, begin: str, end: str) -> None:
    first, last = map(datetime.date.fromisoformat, (begin, end))
    assert read_date(text) == DateExpression(first, "day", last)


@pytest.mark.parametrize(
    "text", ["Out 2011: sold", "Set 2011", "Mac 2011", "Dec of cards 2011", "25 Uhr 2011", "Sun 2011", "dis 2011"]
)
def test_short_names_of_other_languages_need_a_day(text: str) -> None:
    assert list(leading_dates(text)) == []


def test_february_1_in_french() -> None:
    assert read_date("1er février 2011") == DateExpression(datetime.date(2011, 2, 1))


@pytest.mark.parametrize(
    "text", ["25 January 2011", "٢٥ يناير ٢٠١١", "\ue101 2011 \ue120", "e\u0301 fe\u0301vrier", "İ 5"]
)
def test_marks_keep_positions(text: str) -> None:
    assert len(marked(text)) == len(marked(text, throughout=True)) == len(text)


def test_marks_in_a_text_are_no_names() -> None:
    assert list(leading_dates("\ue101 25, 2011: A")) == []
