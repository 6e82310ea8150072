"""date_f1 against tilse's numbers, by hand, and with a tolerance against a matching of greatest size."""

import json
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tests.conftest import DAYS, ORACLES, SHARED, read_jsonl, timeline_of
from tls_tasks.core.errors import InputError
from tls_tasks.timelines.date_f1 import _match_dates, date_f1

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

SHARED_ORACLE = SHARED / "oracles" / "timelines.jsonl"
ROWS = read_jsonl(SHARED_ORACLE if SHARED_ORACLE.exists() else ORACLES / "timelines.jsonl")


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_every_number_is_tilses(row):
    result = date_f1(
        [timeline_of(row["pred"])], [[timeline_of(rows) for rows in row["refs"]]], reference_mode="joint"
    ).as_dict()
    expected = row["expected"]["dates"]
    if "error" in expected:  # tilse divides by zero
        expected = {"precision": 0.0, "recall": 0.0, "f_score": 0.0}
    got = (result["date_precision"], result["date_recall"], result["date_f1"])
    assert got == pytest.approx((expected["precision"], expected["recall"], expected["f_score"]), abs=1e-12)


def days(*numbers):
    return {f"2011-01-{number:02}": "text" for number in numbers}


@pytest.mark.parametrize(
    ("predicted", "reference", "tolerance", "matched"),
    [case for case in CASES["test_tolerance"] if isinstance(case, list)],
)
def test_tolerance(predicted, reference, tolerance, matched):
    result = date_f1([days(*predicted)], [days(*reference)], tolerance=tolerance).as_dict()
    assert result["date_precision"] == matched / len(predicted)
    assert result["date_recall"] == matched / len(reference)
    assert f"days:{tolerance}" in result["signature"]


@given(st.sets(DAYS, max_size=8), st.sets(DAYS, max_size=8), st.integers(0, 4))
def test_as_many_dates_match_as_can(predicted, wanted, tolerance):
    left, right = sorted(predicted), sorted(wanted)
    matches = _match_dates(left, right, tolerance)
    assert len({a for a, _ in matches}) == len({b for _, b in matches}) == len(matches)
    assert all(abs((a - b).days) <= tolerance for a, b in matches)
    fits = numpy.array([[abs((a - b).days) <= tolerance for b in right] for a in left], dtype=float)
    best = int(fits[linear_sum_assignment(-fits)].sum()) if fits.size else 0
    assert len(matches) == best


def test_the_detailed_result_names_every_date():
    item = date_f1([days(25, 26)], [days(25, 28)]).as_dict(detailed=True)["items"][0]
    assert item["matches"] == [{"predicted": "2011-01-25", "reference": "2011-01-25"}]
    assert item["missed"] == ["2011-01-28"]
    assert item["spurious"] == ["2011-01-26"]


def test_joint_references_are_a_union():
    references = [[days(25), days(26, 27)]]
    assert date_f1([days(25, 26)], references, reference_mode="joint").as_dict()["date_recall"] == pytest.approx(2 / 3)
    assert date_f1([days(25, 26)], references).as_dict()["date_recall"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("prediction", "reference", "flags"),
    [({}, days(25), ("empty_prediction",)), (days(25), {}, ("empty_reference",)), ({}, {}, None)],
)
def test_an_empty_side_is_0_and_flagged(prediction, reference, flags):
    item = date_f1([prediction], [reference]).items[0]
    assert item.counts["date"].prf() == (0.0, 0.0, 0.0)
    assert item.flags == (flags or ("empty_prediction", "empty_reference"))


@pytest.mark.parametrize("tolerance", [-1, 1.5, True, "2", None])
def test_an_impossible_tolerance(tolerance):
    with pytest.raises(InputError, match=r"tolerance: got .*, expected a whole number of days"):
        date_f1([days(25)], [days(25)], tolerance=tolerance)
