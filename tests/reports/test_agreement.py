"""Agreement of two judges: the four cells, kappa, positive agreement, and questions that don't match."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.core.errors import InputError
from tls_tasks.reports.agreement import ALL, _agreement_of, agreement
from tls_tasks.reports.judges.recordings import read_judgment


def judgment(sentence, value, kind="negative", key="", **parts):
    return read_judgment({"kind": kind, "sentence": sentence, "key": key, **parts, "verdict": value}, "a line")


def said(*values, kind="negative"):
    return [judgment(f"s{number}", value, kind) for number, value in enumerate(values)]


def cells(found):
    return found.both_yes, found.only_a, found.only_b, found.both_no, found.unscored


def test_the_four_cells():
    found = agreement(said(True, True, False, False, None, True), said(True, False, True, False, True, None))
    assert found["negative"] == found[ALL] and cells(found[ALL]) == (1, 1, 1, 1, 2)
    assert found[ALL].n == 4


def test_the_two_recorded_runs_of_the_study():
    """288 shared judgments of one report under two prompts: 280 equal, 7 of 15 pairs that either matched."""
    pairs = [(True, True)] * 7 + [(True, False), (False, True)] * 4 + [(False, False)] * 273
    found = _agreement_of(pairs)
    assert (found.n, found.raw) == (288, 280 / 288)
    assert round(found.kappa, 2) == 0.62
    assert found.positive == 14 / 22


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_as_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    found = agreement(said(*left), said(*right))[ALL]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where a value is undefined
        kappa = metrics.cohen_kappa_score(left, right)
        dice = metrics.f1_score(left, right, zero_division=math.nan)
    assert found.kappa == pytest.approx(kappa, abs=1e-12, nan_ok=True)
    assert found.positive == pytest.approx(dice, abs=1e-12, nan_ok=True)
    assert found.raw == metrics.accuracy_score(left, right)
    assert agreement(said(*right), said(*left))[ALL].kappa == pytest.approx(kappa, abs=1e-12, nan_ok=True)


def test_what_is_undefined_is_nan():
    never = agreement(said(False, False), said(False, False))[ALL]
    assert never.raw == 1.0 and math.isnan(never.kappa) and math.isnan(never.positive)
    nothing = agreement(said(None), said(True))[ALL]
    assert nothing.n == 0 and all(math.isnan(value) for value in (nothing.raw, nothing.kappa, nothing.positive))
    assert nothing.unscored == 1


def test_kinds_have_rows_of_their_own():
    left = said(True, kind="citation_support") + said(True, False)
    right = said(False, kind="citation_support") + said(True, False)
    found = agreement(left, right)
    assert list(found) == ["citation_support", "negative", ALL]
    assert found["citation_support"].raw == 0.0 and found["negative"].raw == 1.0 and found[ALL].raw == 2 / 3


def test_the_same_question_in_another_order_and_twice():
    for left, right in (
        (said(True, False), said(True, False)[::-1] + said(True)),
        (said(None, False) + said(True), said(True, False)),
    ):
        assert cells(agreement(left, right)[ALL]) == (1, 0, 0, 1, 0)


def test_questions_that_only_one_was_asked_are_refused():
    with pytest.raises(InputError) as error:
        agreement(said(True, True, False), said(True))
    assert str(error.value) == (
        "questions: got 2 that only A was asked and 0 that only B was asked, such as negative: ['s1'], expected the "
        "same; compare those in common with common=True (--common)"
    )
    assert agreement(said(True, True, False), said(True), common=True)[ALL].n == 1


@pytest.mark.parametrize("common", [True, False])
def test_recordings_of_other_reports_are_refused(common):
    with pytest.raises(InputError, match="questions: got"):
        agreement(said(True), [judgment("other", True)], common=common)
    with pytest.raises(InputError, match="questions: got"):
        agreement([], said(True), common=common)


def test_no_common_question_is_said():
    words = "questions: got none that both judges were asked, expected recordings of the same reports"
    with pytest.raises(InputError, match=words):
        agreement(said(True), [judgment("other", True)], common=True)


def test_a_judge_that_contradicts_itself_is_refused():
    with pytest.raises(InputError, match="a line: got NO to a negative question to which a line says YES"):
        agreement(said(True), said(True) + said(False))


def test_keys_tell_questions_apart_only_where_both_have_them():
    """A recording by hand has no keys; the previous sentences of first_instance are told apart by the key alone."""
    by_model = [judgment("s", True, key="k1"), judgment("s", False, key="k2")]
    assert agreement(by_model, by_model)[ALL].n == 2
    with pytest.raises(InputError, match="a line: got NO to a negative question"):
        agreement(by_model, [judgment("s", True)])
    assert agreement([judgment("s", True, key="k1")], [judgment("s", True)])[ALL].both_yes == 1


def test_what_only_one_side_knows_does_not_tell_apart():
    left = [judgment("s", True, "citation_support", doc_id="d", request_id="7", run_id="a")]
    assert agreement(left, [judgment("s", True, "citation_support", doc_id="d")])[ALL].both_yes == 1
    with pytest.raises(InputError, match="without sentence or key"):
        agreement(left, [judgment(None, True, "citation_support", doc_id="d")])
