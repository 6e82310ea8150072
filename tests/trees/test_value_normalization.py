"""Values as people have them: what counts as the same value in the scores of values."""

import json
import random
import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.cli.files import _leaf_metrics
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.text.numbers import read_number
from tls_tasks.trees.data import read_row
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.score import VALUE_KEYS
from tls_tasks.trees.settings import named_path
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import EACH_KEY, AnyOf, nodes_by_path, path_name

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

NUMBER, TEXT, INTEGER = {"type": "number"}, {"type": "string"}, {"type": "integer"}
MOMENT, DAY = {"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}


def schema_of(**properties):
    return {"type": "object", "properties": properties}


def list_of(items):
    return {"type": "array", "items": items}


def values_of(prediction, reference, schema, **options):
    result = tree_eval([prediction], [reference], schema, **options).as_dict()
    return [result[key] for key in VALUE_KEYS]


def similarity(prediction, reference, kind, **options):
    """The similarity of two values, and whether they are equal."""
    found = values_of({"a": prediction}, {"a": reference}, schema_of(a=kind), **options)
    return round(found[0], 4), found[3]


# --- null and keys that are left out ---

NESTED = schema_of(a=TEXT, b=TEXT, c=schema_of(q=TEXT), d=list_of(TEXT), e=list_of(schema_of(x=TEXT, y=INTEGER)))
FULL = {"a": "x", "b": "y", "c": {"q": "z"}, "d": ["u", "v"], "e": [{"x": "k", "y": 1}, {"x": "l", "y": 2}]}


def without(tree, is_null, generator):
    """A tree that lacks some of its values: they are null, or left out."""
    if isinstance(tree, list):
        return [without(item, is_null, generator) if isinstance(item, dict) else item for item in tree]
    if not isinstance(tree, dict):
        return tree
    lost = {key for key in tree if generator.random() < 0.4}
    kept = {key: without(value, is_null, generator) for key, value in tree.items() if key not in lost}
    return {**dict.fromkeys(lost), **kept} if is_null else kept


@given(st.integers(0, 10**6))
def test_null_and_a_key_that_is_left_out_are_equal(seed):
    trees = {
        (side, is_null): without(FULL, is_null, random.Random(f"{seed} {side}"))
        for side in ("reference", "prediction")
        for is_null in (True, False)
    }
    results = [
        tree_eval([trees["prediction", one]], [trees["reference", other]], NESTED)
        for one in (True, False)
        for other in (True, False)
    ]
    told = [repr([score.results[key] for key in VALUE_KEYS]) for score in results]
    assert len(set(told)) == 1
    assert all(score.as_dict()["values"] == results[0].as_dict()["values"] for score in results)
    assert all(score.differences() == results[0].differences() for score in results)


def test_nodes_keep_the_guide():
    scores = [
        tree_eval([tree], [{"a": "x", "b": None}], schema_of(a=TEXT, b=TEXT))
        for tree in ({"a": "x", "b": None}, {"a": "x"})
    ]
    assert [score.results["f1_value"] for score in scores] == [1, 1]
    assert [score.results["recall_node"] for score in scores] == [1, 0.5]


# --- numbers ---


@pytest.mark.parametrize(
    ("text", "number"),
    CASES["numbers_in_text"],
)  # fmt: skip
def test_numbers_in_text(text, number):
    assert similarity(text, number, NUMBER) == (1, 1)
    assert similarity(number, text, NUMBER) == (1, 1)


@pytest.mark.parametrize(
    "text",
    ["", " ", ".", "-", "abc", "5 kg", "$5", "5%", "1,23,456.7.8", "1,2,3", "1..5", "0x10", "1_000", "NaN", "inf",
     "1e999", "9" * 101, "1 2", "(-5)", "(5", "5)", "5-", "--5", "1,234,5", "True", "1/2"],
)  # fmt: skip
def test_what_is_no_number(text):
    assert read_number(text) is None
    assert similarity(text, 5, NUMBER) == (0, 0)


def test_leaves_keep_their_types():
    score = tree_eval([{"a": "1,234.50"}], [{"a": 1234.5}], schema_of(a=NUMBER)).as_dict()
    assert (score["f1_value"], score["leaves"], score["type_errors"]) == (1, {"a": {"exact_match": 0.0}}, 1)
    assert score["values"]["a"]["correct"] == 1 and score["fields"]["a"]["wrong"] == 1
    assert tree_eval([{"a": "1,234.50"}], [{"a": 1234.5}], schema_of(a=NUMBER)).differences() == []


@pytest.mark.parametrize(
    ("prediction", "reference", "kind", "expected"),
    [case for case in CASES["text_and_numbers"] if isinstance(case, list)],
)
def test_a_number_in_text_is_that_number_where_the_schema_or_the_reference_has_one(
    prediction, reference, kind, expected
):
    assert similarity(prediction, reference, kind) == (expected, expected)


def test_numbers_in_text_have_the_metric_of_their_leaf():
    found = tree_eval([{"a": "1,100"}], [{"a": 1000}], schema_of(a=NUMBER), {"number": "number_closeness"}).results
    assert found["f1_value"] == pytest.approx(1 - 100 / 1100) and found["f1_value_exact"] == 0


def test_numbers_in_text_find_their_place_in_lists():
    assert values_of({"a": ["2", "1,000", 3]}, {"a": [1000, 2, 3]}, schema_of(a=list_of(INTEGER))) == [1] * 6
    items = list_of(schema_of(n=INTEGER, t=TEXT))
    told = {"a": [{"n": "2", "t": "x"}, {"n": "1", "t": "x"}]}
    assert values_of(told, {"a": [{"n": 1, "t": "x"}, {"n": 2, "t": "x"}]}, schema_of(a=items)) == [1] * 6


def test_decimals():
    assert similarity(Decimal("12.50"), 12.5, NUMBER) == similarity(12.5, Decimal("12.50"), NUMBER) == (1, 1)
    assert similarity(Decimal("0.1"), 0.1, NUMBER) == similarity("0.10", Decimal("0.1"), NUMBER) == (1, 1)
    assert similarity(Decimal("3.0"), 3, INTEGER) == similarity(Decimal(3), Decimal("3.00"), INTEGER) == (1, 1)
    assert similarity(Decimal(10**30 + 1), 10**30 + 1, INTEGER) == (1, 1)
    assert similarity(7, AnyOf([Decimal(5), Decimal(7)]), NUMBER) == (1, 1)
    assert similarity(Decimal("NaN"), 3, NUMBER) == similarity(Decimal("Infinity"), 3, NUMBER) == (0, 0)
    assert similarity(Decimal("1E+999999"), 3, NUMBER) == similarity(Decimal("sNaN"), 3, NUMBER) == (0, 0)


def test_a_reference_that_is_no_number_is_refused_still():
    with pytest.raises(InputError, match="wanted number, got str"):
        tree_eval([{"a": 1}], [{"a": "one"}], schema_of(a=NUMBER))


# --- date-times ---


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *CASES["one_moment"],
        (datetime(2024, 1, 1, 12, tzinfo=timezone.utc), "2024-01-01T14:00+02:00"),
        (datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 12)),
    ],
)
def test_one_moment(one, other):
    assert similarity(one, other, MOMENT) == similarity(other, one, MOMENT) == (1, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    CASES["two_moments"],
)  # fmt: skip
def test_two_moments(one, other):
    assert similarity(one, other, MOMENT) == similarity(other, one, MOMENT) == (0, 0)


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
    st.integers(-14 * 60, 14 * 60),
)
def test_a_moment_is_one_in_any_time_zone(moment, one, other):
    told = [
        moment.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(minutes=minutes))).isoformat()
        for minutes in (one, other)
    ]
    assert similarity(*told, MOMENT) == (1, 1)


def test_leaves_of_date_times_keep_the_guide():
    score = tree_eval([{"a": "2024-01-01T12:00Z"}], [{"a": "2024-01-01T13:00+01:00"}], schema_of(a=MOMENT))
    assert score.as_dict()["leaves"] == {"a": {"exact_match": 0.0}} and score.differences() == []


@pytest.mark.parametrize(("kind", "rest"), [(DAY, ""), (MOMENT, "T10:00Z")])
def test_the_order_of_day_and_month_is_an_option(kind, rest):
    told = f"01/02/2024{rest.replace('T', ' ')}"
    for reference, expected in (("2024-02-01", (0, 1, 0)), ("2024-01-02", (0, 0, 1))):
        orders = ("as_written", "day_first", "month_first")
        found = [similarity(told, f"{reference}{rest}", kind, day_month=order)[1] for order in orders]
        assert tuple(found) == expected
        found = [similarity(f"{reference}{rest}", told, kind, day_month=order)[1] for order in orders[1:]]
        assert tuple(found) == expected[1:]
    assert similarity("31/01/2024" + rest, "2024-01-31" + rest, kind, day_month="month_first") == (1, 1)  # one reading


@pytest.mark.parametrize(("reference", "prediction", "expected"), CASES["dates"])
def test_dates_as_people_write_them(reference, prediction, expected):
    """In the scores of values; the guide's compare dates in the notations that have one reading."""
    assert similarity(prediction, reference, DAY)[1] == expected


@pytest.mark.parametrize(("kind", "text", "options"), CASES["no_references"])
@pytest.mark.parametrize(
    "tree", [lambda text: {"a": {"b": [text]}}, lambda text: {"a": {"b": [{"$any_of": ["2024", text]}]}}]
)
def test_a_date_that_cannot_be_read_is_no_reference(kind, text, options, tree):
    schema = {"a": {"b": [kind]}}
    told = f"^references\\[1\\]: got a.b\\[0\\]: {re.escape(repr(text))}, expected a date with one reading, .*day_month"
    with pytest.raises(InputError, match=told):
        tree_eval([{}, {}], [{}, tree(text)], schema, **options)
    row = {"text": "x", "schema": schema, "reference": tree(text)}
    with pytest.raises(DataError, match=r"line 3: reference: got a.b\[0\]: .*day_month"):
        read_row("line 3", row, 2, {})


def test_documents_with_dates_and_numbers_that_can_be_read_are_taken():
    row = {"text": "x", "schema": {"a": "date", "n": "number"}, "reference": {"a": "3.5.2024", "n": "1,234.50"}}
    assert read_row("line 3", row, 2, {}).id == "2"


@pytest.mark.parametrize("empty", [{}, {"a": None}])
def test_a_moment_that_neither_side_has_is_no_value(empty):
    assert values_of({**empty, "b": "x"}, {**empty, "b": "x"}, schema_of(a=MOMENT, b=TEXT)) == [1] * 6


def test_dates_of_python_meet_dates_in_text():
    assert similarity("01/02/2024", date(2024, 2, 1), DAY, day_month="day_first") == (1, 1)
    assert similarity("02/02/2024", date(2024, 2, 1), DAY, day_month="day_first") == (0.5, 0)


def test_treevals_profile_reads_no_dates():
    with pytest.raises(InputError, match=r"^day_month: got 'day_first' with compat='treeval', expected none"):
        tree_eval([{}], [{}], {"a": "date"}, compat="treeval", day_month="day_first")


# --- lists by position ---


def test_prefix_items_are_scored_in_order():
    pair = schema_of(a={"type": "array", "prefixItems": [TEXT, TEXT, INTEGER]})
    assert values_of({"a": ["x", "y", 5]}, {"a": ["x", "y", 5]}, pair) == [1] * 6
    assert values_of({"a": ["y", "x", 5]}, {"a": ["x", "y", 5]}, pair) == pytest.approx([1 / 3] * 6)
    assert values_of({"a": ["x", "y"]}, {"a": ["x", "y", "5"]}, pair) == pytest.approx([0.8, 1, 2 / 3] * 2)


@pytest.mark.parametrize("piece", ["1,234", "1 ", "9", "01/02/2024 ", "12:00 ", " " * 50 + "1"])
def test_hostile_values_cost_little(piece):
    def both(text):
        similarity(text, 5, NUMBER), similarity(text, "2024-01-01T12:00Z", MOMENT)

    assert hostile.seconds(both, piece * (200_000 // len(piece))) < 60


# --- names of fields ---

PLACES = {
    "a": TEXT, "lines": list_of(schema_of(price=NUMBER, tags=list_of(TEXT), **{"unit price": NUMBER, "it's": TEXT})),
    "prices": {"type": "object", "additionalProperties": NUMBER}, "x/y": NUMBER, "0": NUMBER,
}  # fmt: skip
NODES = list(nodes_by_path(read_schema(schema_of(**PLACES))))


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (("a",), ["a"]),
        (("lines",), ["lines"]),
        (("lines", "price"), ["lines.price"]),
        (("lines", "unit price"), ["lines['unit price']"]),
        (("lines", "it's"), ['lines["it\'s"]']),
        (("prices", EACH_KEY), ["prices.*"]),
        (("x/y",), ["x/y", "['x/y']"]),
        (("0",), ["0", "['0']"]),
        (None, ["", "$", "b", "lines.cost", "lines[].price", "$.lines[*].price", "/lines/price", 7, None, ()]),
    ],
)
def test_a_field_is_named_as_results_name_it(path, names):
    assert [named_path(name, NODES) for name in names] == [path] * len(names)
    assert path is None or path_name(path) in names or len(path) == 1


def test_every_setting_takes_that_name():
    trees = {"lines": [{"tags": ["x", "y"]}]}, {"lines": [{"tags": ["y", "x"]}]}
    schema, name = schema_of(**PLACES), "lines.tags"
    score = tree_eval([trees[0]], [trees[1]], schema, {name: "exact_match"}, list_order={name: "ordered"})
    assert score.results["f1_value"] == 0
    assert name in score.as_dict()["values"]
    assert _leaf_metrics([f"{name}=exact_match", "rouge_l"], read_schema(schema))[name] == ["exact_match", "rouge_l"]
