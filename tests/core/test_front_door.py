"""What a user writes first: natural forms of the same rows have the same score in every metric, or a clear error."""

import dataclasses
import datetime
import decimal
import enum
import functools
import json
from collections import namedtuple
from types import SimpleNamespace

import datasets
import numpy as np
import pandas
import pyarrow
import pydantic
import pytest

import tls_tasks
import tls_tasks.timelines
from tests.conftest import ROOT, ByFamily
from tls_tasks.core.errors import InputError, OptionError, ParseFailureWarning
from tls_tasks.registry import METRICS

TEA = {"domain": "food", "evidence_span": "had tea", "polarity": "present", "time_bucket": "today"}
CALM = {"domain": "mind", "evidence_span": "felt calm", "polarity": "absent", "time_bucket": "today"}
REPORT = {"request_id": "7", "sentences": [{"text": "It rained.", "citations": ["d1"]}, {"text": "Snow fell."}]}
ITEMS = [{"question_text": "q", "gold_answers": ["rained"]}, {"question_text": "r", "gold_answers": ["sun"]}]
TREE = {"name": "string", "year": "integer", "tags": ["string"]}
DAYS = [{"date": "2011-01-25", "text": "Protests begin."}, {"date": "2011-01-28", "text": ["Clashes."]}]


def judge(query):
    return query.kind != "negative" and "rained" in query.fields["sentence"]


# family -> two predictions, two references, options; no prediction is its reference, and the two differ
ROWS = ByFamily(
    "ROWS in tests/core/test_front_door.py",
    timelines=([DAYS, DAYS[:1]], [DAYS[1:], [*DAYS, {"date": "2011-02-11", "text": "Mubarak resigns."}]], {}),
    summaries=(["the cat sat", "a b"], ["the cat sat on the mat", "b"], {}),
    evidence=([[TEA], [CALM, TEA]], [[TEA, CALM], [CALM]], {}),
    trees=(
        [{"name": "bar", "year": 1, "tags": ["a"]}, {"name": "b", "year": 2, "tags": []}],
        [{"name": "baroo", "year": 1, "tags": ["a", "b"]}, {"name": "b", "year": 3, "tags": ["x"]}],
        {"schema": TREE},
    ),
    reports=([REPORT, {**REPORT, "request_id": "8"}], [{"query_id": q, "items": ITEMS} for q in ("7", "8")],
             {"judge": judge}),
)  # fmt: skip
NAMES = sorted(METRICS)


def test_a_misspelt_name_suggests_the_right_one():
    with pytest.raises(OptionError, match=r"option of alignment_rouge: got 'variants'.*; did you mean 'variant'"):
        tls_tasks.alignment_rouge([DAYS], [DAYS], variants="align")
    score = tls_tasks.rouge_l(["a"], ["a"])
    for of, name, meant in (
        (score, "resultz", "results"),
        (score, "topic_result", "topic_results"),
        (score, "rouge_l_f", "rouge_l_f1"),
        (tls_tasks, "AlignmentRouge", "alignment_rouge"),
        (tls_tasks, "summarys", "summaries"),
    ):
        with pytest.raises(AttributeError, match=f"no attribute .*{name!r}; did you mean {meant!r}"):
            getattr(of, name)


SPELT = {"when": (str, pydantic.Field(alias="date")), "what": (str, pydantic.Field(alias="text"))}


def test_models_are_read_by_the_names_of_their_schema():
    day = pydantic.create_model("Day", **SPELT)(**DAYS[0])
    assert tls_tasks.date_f1([[day]], [DAYS[:1]]).date_f1 == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_are_warned_of(name):
    *_, options = ROWS[METRICS[name].family]
    with pytest.warns(UserWarning, match="predictions has no rows, so no result has a meaning"):
        by_scorer(name, [], [], **options)


@functools.cache
def module(name):
    return pytest.importorskip("evaluate").load(str(ROOT / "metrics" / name))


def by_scorer(name, predictions, references, **options):
    return getattr(tls_tasks, name)(predictions, references, **options).as_dict()


def by_module(name, predictions, references, **options):
    return module(name).compute(predictions=predictions, references=references, **options)


WAYS = [by_scorer, by_module]


def unfold(make, value):
    """The same row with ``make(dict)`` for each dictionary in it."""
    if isinstance(value, dict):
        return make({key: unfold(make, inner) for key, inner in value.items()})
    return [unfold(make, inner) for inner in value] if isinstance(value, list) else value


def as_dataclass(row):
    return dataclasses.make_dataclass("Row", row, slots=True)(**row)


def as_model(row):
    return pydantic.create_model("Row", **{key: (object, ...) for key in row})(**row)


def as_tuple(row):
    return namedtuple("Row", row)(**row)


def arrow(rows):
    return pyarrow.array(rows)


def texts(rows):
    return [row if isinstance(row, str) else json.dumps(row) for row in rows]


def same_type(rows):
    """Rows that Arrow can have: a text is a list of texts everywhere."""
    return [[{**day, "text": [*([day["text"]] if isinstance(day["text"], str) else day["text"])]} if "text" in day
             else day for day in row] if isinstance(row, list) else row for row in rows]  # fmt: skip


COLUMNS = {
    "tuple": tuple,
    "values of a dict": lambda rows: dict(enumerate(rows)).values(),
    "pandas": lambda rows: pandas.Series(rows, index=[f"x{place}" for place in range(len(rows))]),
    "column of a frame": lambda rows: pandas.DataFrame({"column": rows}, index=[5, 4])["column"],
    "numpy of objects": lambda rows: np.array([*rows, None], dtype=object)[:-1],
    "numpy of texts": lambda rows: np.array(texts(rows)),
    "arrow": lambda rows: arrow(same_type(rows)),
    "arrow, chunked": lambda rows: pyarrow.chunked_array([arrow(same_type(rows))]),
    "datasets": lambda rows: datasets.Dataset.from_dict({"column": same_type(rows)})["column"],
    "dataclasses": lambda rows: unfold(as_dataclass, rows),
    "models": lambda rows: unfold(as_model, rows),
    "named tuples": lambda rows: unfold(as_tuple, rows),
    "objects": lambda rows: unfold(lambda row: SimpleNamespace(**row), rows),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", WAYS)
def test_every_form_of_the_same_rows_has_the_same_score(name, way):
    predictions, references, options = ROWS[METRICS[name].family]
    expected = way(name, predictions, references, **options)
    for form, make in COLUMNS.items():
        assert way(name, make(predictions), make(references), **options) == expected, form


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", WAYS)
def test_a_row_without_its_list_is_told_so(name, way):
    (row, _), (wanted, _), options = ROWS[METRICS[name].family]
    for bare in ({"2011-01-25": ["a"]}, "2011-01-25: a"):
        with pytest.raises(InputError, match=r"^references: got (dict|str) .*; did you mean references=\[.*\]\?"):
            way(name, [row], bare, **options)
        with pytest.raises(InputError, match=r"^predictions: got (dict|str) .*; did you mean predictions=\[.*\]\?"):
            way(name, bare, [wanted], **options)
    for table in (pandas.DataFrame({"text": ["a"]}), pyarrow.table({"text": ["a"]})):
        with pytest.raises(
            InputError, match=r"columns \['text'\], expected one column of it, such as predictions=table"
        ):
            way(name, table, [wanted], **options)
    for nothing in (None, 3, {"a"}, float("nan"), {}):
        with pytest.raises(InputError, match=r"^predictions: got "):
            way(name, nothing, [wanted], **options)


BARE = {
    "timelines": ({"2011-01-25": "a"}, {"2011-01-25": "a"}),
    "evidence": (TEA, TEA),
    "trees": ({"name": "bar", "tags": []}, {"name": "bar", "tags": []}),
    "reports": ({**REPORT, "items": []}, {**REPORT, "items": []}),
}


@pytest.mark.parametrize("name", [name for name in NAMES if METRICS[name].family in BARE])
@pytest.mark.parametrize("way", WAYS)
def test_one_bare_row_on_both_sides_is_no_mapping_of_names(name, way):
    prediction, reference = BARE[METRICS[name].family]
    with pytest.raises(InputError, match=r"^predictions: got dict .*; did you mean predictions=\["):
        way(name, prediction, reference, **ROWS[METRICS[name].family][2])


@pytest.mark.parametrize("way", WAYS)
def test_a_list_of_entries_or_objects_is_one_row(way):
    for name, row in (("date_f1", DAYS), ("alignment_rouge", DAYS), ("evidence_extraction", [TEA, CALM])):
        with pytest.raises(InputError, match=r"predictions\[0\]: got one \w+ .* did you mean \[\["):
            way(name, row, row)


def test_an_entry_has_a_date_and_a_text_or_a_summary():
    expected = tls_tasks.date_f1([DAYS[:1]], [DAYS]).as_dict()
    frame = pandas.DataFrame({"date": pandas.to_datetime(["2011-01-25"]), "summary": ["Protests begin."]})
    assert tls_tasks.date_f1([frame], [DAYS]).as_dict() == expected
    with pytest.raises(InputError, match=r"predictions\[0\]\[0\]: got an entry without 'date', with the keys"):
        tls_tasks.date_f1([[{"day": "2011-01-25", "event": "x"}]], [DAYS])


def test_what_arrow_filled_in_is_not_there():
    rows = pyarrow.array([{"2011-01-25": ["a"]}, {"2011-02-11": ["b"]}])
    assert tls_tasks.date_f1(rows, [{"2011-01-25": ["a"]}, {"2011-02-11": ["b"]}]).date_f1 == 1
    mixed = pyarrow.array([[{"date": "2011-01-25", "text": "police"}], [{"date": "2011-02-11", "summary": "army"}]])
    assert tls_tasks.alignment_rouge(mixed, mixed.to_pylist()).ar1_f1 == 1
    trees = [{"name": "a"}, {"name": "b", "year": 2}]
    plain = tls_tasks.tree_eval(trees, trees, TREE).as_dict()
    filled = tls_tasks.tree_eval(pyarrow.array(trees), pyarrow.array(trees), TREE).as_dict()
    assert {key: filled[key] for key in ("f1_leaf", "treeval_score", "leaves")} == {
        key: plain[key] for key in ("f1_leaf", "treeval_score", "leaves")
    }


class Frame:
    """A data frame as polars has it."""

    columns = ("date", "text")

    def to_dict(self, *, as_series=True):
        raise AssertionError("gives columns")

    def to_dicts(self):
        return [{"date": datetime.date(2011, 1, 25), "text": "Protests begin."}]


class Timeline(SimpleNamespace):
    """A timeline as tilse has it: iterable, and no mapping."""

    def __iter__(self):
        return iter(self.dates_to_summaries)

    def __len__(self):
        return len(self.dates_to_summaries)


DAY = datetime.date(2011, 1, 25)
ONE = Timeline(dates_to_summaries={DAY: ["Protests begin."]}, filename=None)
SAME_TIMELINE = [
    ONE,
    SimpleNamespace(timelines=[ONE]),
    Frame(),
    {"gold_timelines": [DAYS[:1]], "topic": "egypt"},
    {np.datetime64(DAY): ["Protests begin."]},
    {pandas.Series(pandas.to_datetime(["2011-01-25"])).to_numpy()[0]: "Protests begin."},
    [(np.datetime64(DAY, "ns"), "Protests begin.")],
    list(zip(np.array([DAY], dtype="M8[ns]"), ["Protests begin."], strict=True)),
]


@pytest.mark.parametrize("way", WAYS)
def test_timelines_of_other_tools(way):
    expected = way("date_f1", [DAYS[:1]], [DAYS[:1]])
    for row in SAME_TIMELINE:
        assert way("date_f1", ["2011-01-25: Protests begin."], [row]) == expected, row
        if not (hasattr(row, "timelines") or (isinstance(row, dict) and "topic" in row)):  # of references only
            assert way("date_f1", [row], [DAYS[:1]]) == expected, row
    for month in ({"2011-01": ["a"]}, {"2011-01": []}):
        with pytest.raises(InputError, match=r"references\[0\]: got date str '2011-01', expected a date"):
            way("date_f1", [DAYS], [month])
    with pytest.raises(InputError, match=r"references: got Timeline .*; did you mean references=\[Timeline"):
        way("date_f1", [ONE], ONE)


class Domain(enum.Enum):
    FOOD = "food"


@pytest.mark.parametrize("way", WAYS)
def test_values_that_stand_for_those_of_json(way):
    tea = {**TEA, "domain": Domain.FOOD}
    for row in (tea, unfold(as_model, tea), unfold(as_dataclass, tea)):
        assert way("evidence_extraction", [[row]], [[TEA]]) == way("evidence_extraction", [[TEA]], [[TEA]])
        assert way("evidence_extraction", [[TEA]], [[row]]) == way("evidence_extraction", [[TEA]], [[TEA]])
    schema = {"kind": "string", "price": "number", "day": "date"}
    plain, typed = [
        {"kind": kind, "price": price, "day": day}
        for kind, price, day in (("food", 1.5, None), (Domain.FOOD, decimal.Decimal("1.5"), pandas.NaT))
    ]
    for rows in (([typed], [plain]), ([plain], [typed])):
        assert way("tree_eval", *rows, schema=schema) == way("tree_eval", [plain], [plain], schema=schema)


@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_is_none_of_json_is_refused(way):
    for value in ({"a"}, b"a", object(), ...):
        with pytest.raises(
            InputError, match=r"predictions\[1\]: got a value of class \w+, expected values that JSON has"
        ):
            way("tree_eval", [{"name": "a"}, {"name": [value]}], [{"name": "a"}] * 2, schema=TREE)
    for missing in (pandas.NaT, pandas.NA, np.datetime64("NaT"), None):
        with pytest.raises(InputError, match=r"references\[0\]: got None, expected a tree"):
            way("tree_eval", [{"name": "a"}], [missing], schema=TREE)
        with pytest.warns(ParseFailureWarning):
            result = way("tree_eval", [missing], [{"name": "a"}], schema=TREE)
        assert (result["f1_value"], result["parsed"]) == (0, 0), "no answer"


@pytest.mark.parametrize("way", WAYS)
def test_what_other_tools_take_is_told_how_to_give_it(way):
    with pytest.raises(InputError, match=r"predictions: got generator .*; did you mean predictions=list\(…\)\?"):
        way("rouge_l", (text for text in ["a"]), ["a"])
    with pytest.raises(InputError, match=r"length 1, expected 2, .* one list a document, list\(zip\(\*references\)\)"):
        way("rouge_l", ["a", "b"], [["a", "b"]])  # as sacrebleu takes them


@pytest.mark.parametrize("topics", [None, ["x", "y"]])
def test_timelines_in_one_call(topics):
    predictions, references, _ = ROWS["timelines"]
    both = tls_tasks.timelines.score(predictions, references, topics=topics)
    parts = [
        getattr(tls_tasks, name)(predictions, references, topics=topics) for name in ("alignment_rouge", "date_f1")
    ]
    for part in parts:
        assert part.signature in both.signature
        assert {key: both[key] for key in part.definitions} == part.results
        assert {key: both.intervals(n_resamples=20)[key] for key in part.definitions} == part.intervals(n_resamples=20)
    assert set(both.as_dict(detailed=True)["items"][0]) >= {"alignment", "matches", "ar1_f1", "date_f1"}


def test_pandas_columns_with_other_labels_are_refused():
    answers = pandas.Series(["a b", "c"], index=["d1", "d2"])
    with pytest.raises(InputError, match="references: got a pandas column with other labels"):
        tls_tasks.rouge_l(answers, pandas.Series(["c", "a b"], index=["d2", "d1"]))
    assert tls_tasks.rouge_l(answers, pandas.Series(["a b", "c"], index=["d1", "d2"])).rouge_l_f1 == 1
