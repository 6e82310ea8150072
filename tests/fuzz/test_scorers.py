"""Scorers: nothing but our own errors, numbers in range, the same for the same rows in any order, 1 if perfect."""

import functools
import inspect
import json
import math
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.parts import ODD_VALUES, changed, fuzzed, texts
from tests.test_contract import CASES
from tests.test_tasks import NAMES
from tls_tasks.cli.base import plain
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.registry import METRICS, find_task
from tls_tasks.timelines.types import Timeline

pytestmark = pytest.mark.filterwarnings("ignore")


@functools.cache
def asked(name):
    """A task of the name's, with the table of its first document, and that document."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = find_task(name)
        document = task.documents(edition="embedded")[0]
    return task.for_document(document), document


@fuzzed(40)
@given(st.sampled_from([name for name in NAMES if "_custom" not in name]), st.data())
def test_any_answer_is_scored_and_explained(name, data):
    task, document = asked(name)
    answer = data.draw(texts(task.family))
    if task.judge is not None:
        (answer,) = task.judge([answer], [{**document, "judge": '"recorded"'}])
    unit = task.score(document, answer)
    assert task.score(document, answer) == unit
    for key, value in task.results([unit]).items():
        if task.table[key].better is not None and not task.table[key].is_count:
            assert 0 <= value <= 1 or (math.isnan(value) and math.isnan(task.table[key].empty)), key
    explained = task.explain(document, answer)
    json.dumps(plain(task.picture(document, answer, explained)), allow_nan=False)


OPTIONS = {
    name: [one for one in inspect.signature(metric.load()).parameters if one not in metric.columns]
    for name, metric in METRICS.items()
}


def rows_of(metric, place):
    """A prediction and a reference of the contract's cases, as JSON has them."""
    pair = CASES[metric.family]["pairs"][place]
    return [side.as_rows() if isinstance(side, Timeline) else side for side in pair]


def scored(metric, predictions, references, **options):
    given_options = {**CASES[metric.family].get("options", {}), **options}
    row = CASES[metric.family].get("row", lambda reference: [reference])
    return metric.load()(predictions, [row(one) for one in references], **given_options)


def check(metric, score):
    """Whether the numbers are in their range, and all that the score says can be written as JSON."""
    result = score.as_dict(detailed=True)
    json.dumps(plain(result), allow_nan=False).encode("utf-8", "surrogatepass")
    for key in metric.result_keys:
        for value in result[key] if isinstance(result.get(key), list) else [result.get(key)]:
            assert value is None or math.isnan(value) or 0 <= value <= 1, (key, value)
    return repr(result)


@fuzzed(40)
@given(st.sampled_from(sorted(METRICS)), st.integers(0, 10), st.data())
def test_rows_that_were_changed_are_refused_or_scored(name, place, data):
    metric = METRICS[name]
    prediction, reference = rows_of(metric, place)
    if data.draw(st.booleans()):
        prediction = data.draw(changed(prediction) | texts(metric.family))
    if data.draw(st.booleans()):
        reference = data.draw(changed(reference))
    other = rows_of(metric, place + 1)
    rows = [prediction, other[0]], [reference, other[1]]
    try:
        there = scored(metric, *rows)
    except TlsTasksError as error:
        assert str(error)
        return
    assert check(metric, there) == check(metric, scored(metric, *rows))
    back = scored(metric, *(side[::-1] for side in rows))
    assert {key: repr(there.as_dict()[key]) for key in metric.result_keys} == {
        key: repr(back.as_dict()[key]) for key in metric.result_keys
    }


@example(("rouge_l", "rouge_types"), [[]])
@example(("date_f1", "beta"), 1e155)
@example(("date_f1", "beta"), 10**5000)
@fuzzed(40)
@given(st.sampled_from([(name, option) for name, names in OPTIONS.items() for option in names]), ODD_VALUES)
def test_an_option_is_refused_or_taken(chosen, value):
    name, option = chosen
    metric = METRICS[name]
    rows = ([row] for row in rows_of(metric, 0))
    try:
        check(metric, scored(metric, *rows, **{option: value}))
    except TlsTasksError as error:
        assert str(error)


# A report is no reference of itself: what it should say stands in other fields.
PERFECT = [name for name, metric in METRICS.items() if metric.invariants["identity_is_one"] and name != "report_eval"]


@fuzzed(40)
@given(st.sampled_from(PERFECT), st.data())
def test_what_is_as_its_reference_is_perfect(name, data):
    metric = METRICS[name]
    one = data.draw(changed(rows_of(metric, 0)[1]) | texts(metric.family))
    try:
        score = scored(metric, [one], [one])
    except TlsTasksError:
        return
    found = {key: score.as_dict()[key] for key in metric.result_keys}
    has_something = any(value for unit in score.units for part, value in unit.items() if part != "n")
    complies = score.as_dict().get("schema_compliance", 1) == 1  # a reference may have its numbers in text
    assert set(found.values()) == {1.0} or not has_something or not complies, found
