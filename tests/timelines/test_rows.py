"""Every form that a row may have, and what is said of a row that has none of them."""

import datetime
import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tls_tasks.core.errors import InputError, ParseFailureWarning
from tls_tasks.core.rows import pack_columns, unpack_column
from tls_tasks.registry import find_task
from tls_tasks.timelines.alignment_rouge import alignment_rouge
from tls_tasks.timelines.date_f1 import date_f1
from tls_tasks.timelines.read import TimelinePolicy
from tls_tasks.timelines.rows import check_row, read_prediction, read_references, to_plain
from tls_tasks.timelines.types import Timeline

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

DAY = datetime.date(2011, 1, 25)
ONE = Timeline.from_days({DAY: ["Protests begin."]})

FORMS = [
    ONE,
    "2011-01-25: Protests begin.",
    '[{"date": "2011-01-25", "text": "Protests begin."}]',
    '{"2011-01-25": ["Protests begin."]}',
    [{"date": "2011-01-25", "text": "Protests begin."}],
    [{"date": "2011-01-25", "text": ["Protests begin."]}],
    [{"date": DAY, "summary": "Protests begin."}],
    ({"date": datetime.datetime(2011, 1, 25, 9, 30), "text": ("Protests begin.",)},),
    [{"date": datetime.datetime(2011, 1, 25, 23, 59, tzinfo=datetime.timezone.utc), "text": "Protests begin."}],
    [{"date": "25 January 2011", "text": "Protests begin."}],
    {"2011-01-25": "Protests begin."},
    {DAY: ["Protests begin."]},
    [["2011-01-25T00:00:00", ["Protests begin."]]],
    [("2011-01-25", "Protests begin.")],
    [(DAY, ("Protests begin.",))],
]


@pytest.mark.parametrize("form", FORMS, ids=range(len(FORMS)))
def test_every_form_is_the_same_timeline(form):
    assert read_prediction(form, 0).value == ONE
    assert read_references(form, 0) == (ONE,)
    assert read_references([form, form], 0) == (ONE, ONE)
    packed = pack_columns({"predictions": [form], "references": [[form, form]]}, check_row, to_plain)
    assert all(isinstance(row, str) for column in packed.values() for row in column)
    assert read_prediction(unpack_column(packed["predictions"])[0], 0).value == ONE
    assert read_references(unpack_column(packed["references"])[0], 0) == (ONE, ONE)


def test_several_references_in_one_json_string():
    text = json.dumps([[["2011-01-25", ["Protests begin."]]], [{"date": "2011-01-25", "text": "Protests begin."}]])
    assert read_references(text, 0) == (ONE, ONE)


def test_an_empty_list_is_one_empty_timeline():
    assert read_references([], 0) == (Timeline(),)
    assert read_references([[], ONE], 0) == (Timeline(), ONE)
    assert read_prediction([], 0).value == Timeline()


def test_repeated_dates_are_merged():
    rows = [{"date": "2011-01-25", "text": "a"}, {"date": DAY, "text": "b"}]
    assert read_prediction(rows, 0).value == Timeline.from_days({DAY: ["a", "b"]})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        *CASES["a_row_that_does_not_fit_is_named"],
        (float("nan"), r"predictions\[4\]: got NaN"),
        (b"2011-01-25: a", r"predictions\[4\]: got bytes"),
        ([{"date": "2011-01-25", "text": float("nan")}], r"predictions\[4\]\[0\]: got NaN as the text"),
    ],
)
def test_a_row_that_does_not_fit_is_named(row, message):
    with pytest.raises(InputError, match=message):
        read_prediction(row, 4)


@pytest.mark.parametrize(
    ("row", "message"),
    [*CASES["a_reference_that_would_lose_something_is_refused"], ([ONE, None], r"references\[2\]\[1\]: got None")],
)
def test_a_reference_that_would_lose_something_is_refused(row, message):
    with pytest.raises(InputError, match=message):
        read_references(row, 2)


def test_not_a_time_is_not_a_day():
    class NotATime(datetime.datetime):  # what pandas' NaT looks like: a datetime that is not equal to itself
        __hash__ = datetime.datetime.__hash__

        def __eq__(self, other):
            return False

    with pytest.raises(InputError, match=r"predictions\[0\]\[0\]: got date"):
        read_prediction([{"date": NotATime(2011, 1, 25), "text": "a"}], 0)


@pytest.mark.parametrize(
    ("field", "row", "message"), CASES["a_row_that_cannot_be_scored_is_refused_before_it_is_packed"]
)
def test_a_row_that_cannot_be_scored_is_refused_before_it_is_packed(field, row, message):
    with pytest.raises(InputError, match=message):
        check_row(row, field, 2)


def test_a_models_text_is_never_refused():
    check_row("No timeline in here.", "predictions", 0)


A, B = ({day: ["Protests."]} for day in ("2011-01-25", "2011-02-11"))
ENTRIES = [{"date": "2011-01-25", "text": "Protests."}]


def module(predictions, references):
    evaluate = pytest.importorskip("evaluate")
    return evaluate.load(str(ROOT / "metrics" / "date_f1")).compute(predictions=predictions, references=references)


@pytest.mark.parametrize("score", [module, lambda *columns: date_f1(*columns).as_dict()], ids=["module", "function"])
@pytest.mark.parametrize(
    ("predictions", "references", "expected"),
    [
        ([A], [{"cnn": A, "bbc": B}], 0.5),  # one timeline, two annotators
        ([A], [{"topic": "a", "gold_timelines": {"cnn": A, "bbc": B}}], 0.5),
        ([ENTRIES], [{"cnn": ENTRIES, "bbc": B}], 0.5),
        (["2011-01-25: Protests."], [{"cnn": [["2011-01-25", "Protests."]], "bbc": [["2011-02-11", "No."]]}], 0.5),
        ([A, None], [{"cnn": A, "bbc": A}, A], 2 / 3),
    ],
)
def test_names_in_a_row_are_those_of_annotators(score, predictions, references, expected):
    assert score(predictions, references)["date_f1"] == pytest.approx(expected)


def test_an_impossible_date_among_names_is_blamed_and_no_name():
    with pytest.raises(InputError, match=r"references\[0\]: got date str '2011-02-30'"):
        date_f1([A], [{"cnn": A, "2011-02-30": A}])


def test_no_answer_is_counted_and_dates_alone_are_no_timeline():
    with pytest.warns(ParseFailureWarning, match=r"1 of 2 predictions .* rows \[1\]"):
        score = alignment_rouge([A, None], [A, A])
    assert (score.parse_failures, score.problems) == (1, {1: {"no_answer": 1}})
    task = find_task("tls_crisis")
    assert task.process(task.documents(edition="embedded")[0], None)["parse_failures"] == 1
    for score in (alignment_rouge, date_f1):
        with pytest.raises(InputError, match=r"predictions\[0\]\[0\]: got str '2011-01-25', expected an entry"):
            score([["2011-01-25"]], [A])


@pytest.mark.parametrize(("repeated", "texts"), [("merge", ("A", "B")), ("first", ("A",)), ("last", ("A", "B"))])
def test_repeated_dates_of_a_prediction_count_in_lists_as_in_text(repeated, texts):
    rows = [{"date": "2011-01-25", "text": "A"}, {"date": "2011-01-25", "text": ["A", "B"]}]
    for row in (rows, json.dumps(rows)):
        parsed = read_prediction(row, 0, TimelinePolicy(repeated=repeated))
        assert [entry.sentences for entry in parsed.value] == [texts]
        assert parsed.kinds() == {"repeated_date": 1}
