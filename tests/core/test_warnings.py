"""What no metric takes in silence: answers in which nothing can be read, references with a date twice."""

import json

import pytest

import tls_tasks
from tls_tasks.core.errors import DataError, ParseFailureWarning, RepeatedDateWarning
from tls_tasks.timelines.files import read_topics
from tls_tasks.timelines.rows import read_prediction
from tls_tasks.timelines.topics import read_row

SORRY = "I am sorry, but I cannot help."
GOLD = [{"date": "2011-01-25", "text": "Protests."}]
TWICE = [*GOLD, {"date": "2011-01-26", "text": "More."}, {"date": "25 January 2011", "text": "Police."}]
NUGGETS = {"query_id": "1", "items": []}

METRICS = {
    "date_f1": ((GOLD, GOLD), "timelines"),
    "alignment_rouge": ((GOLD, GOLD), "timelines"),
    "evidence_extraction": (([{"domain": "food", "evidence_span": "tea"}],) * 2, "evidence"),
    "tree_eval": (({"a": "x"},) * 2, "trees"),
}


@pytest.mark.parametrize("name", METRICS)
def test_answers_that_cannot_be_read_are_warned_of(name):
    (read, gold), what = METRICS[name]
    more = [{"a": "string"}] if name == "tree_eval" else []
    with pytest.warns(ParseFailureWarning) as caught:
        score = getattr(tls_tasks, name)([json.dumps(read), SORRY, ""], [gold] * 3, *more)
    assert [str(one.message) for one in caught] == [
        f"2 of 3 predictions could not be read as {what} and count as empty: rows [1, 2]"
    ]
    assert score.parse_failures == 2


def test_reports_that_cannot_be_read_are_warned_of():
    with pytest.warns(ParseFailureWarning, match=r"1 of 2 predictions could not be read as reports .* rows \[1\]"):
        tls_tasks.report_eval(
            ['{"sentences": [{"text": "It rained."}]}', SORRY], [NUGGETS] * 2, judge=lambda query: False
        )


@pytest.mark.parametrize("form", [TWICE, json.dumps(TWICE), [GOLD, TWICE]])
def test_a_date_that_a_reference_has_twice_is_warned_of_and_merged(form):
    with pytest.warns(
        RepeatedDateWarning, match=r"more than once .*: references\[1\](\[1\])?: (25 January 2011|2011-01-25)"
    ):
        score = tls_tasks.date_f1([GOLD, GOLD], [GOLD, form])
    assert score.problems == {}, "it is no fault of the model"


def test_a_date_that_a_prediction_has_twice_is_a_problem():
    assert read_prediction(TWICE, 0).kinds() == {"repeated_date": 1}


def test_a_date_twice_in_files_and_data_rows_is_warned_of(tmp_path):
    (tmp_path / "gold.json").write_text(json.dumps([{"topic": "egypt", "timeline": TWICE}]), encoding="utf-8")
    (tmp_path / "told.json").write_text(json.dumps([{"topic": "egypt", "timeline": GOLD}]), encoding="utf-8")
    with pytest.warns(RepeatedDateWarning, match=r"gold\.json.*2011-01-25"):
        read_topics(tmp_path / "gold.json", tmp_path / "told.json")
    row = {"topic": "egypt", "timelines": [[{**day, "date": "2011-01-25"} for day in TWICE]]}
    with pytest.warns(RepeatedDateWarning, match="line 1: 2011-01-25"):
        read_row("tls_custom", row, "line 1")
    with pytest.raises(DataError):
        read_row("tls_custom", {"topic": "egypt", "timelines": [[]]}, "line 1")
