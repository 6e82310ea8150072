"""Judges made of functions and of other judges."""

import logging

import numpy
import pytest

from tls_tasks.core.errors import InputError
from tls_tasks.reports.judges import CallableJudge
from tls_tasks.reports.types import Query, Verdict

QUERIES = [Query("negative", {"sentence": text}) for text in "abcab"]


def test_a_function_is_asked_in_order():
    judge = CallableJudge(lambda query: query.fields["sentence"] == "a", "mine")
    assert [verdict.value for verdict in judge.ask(QUERIES)] == [True, False, False, True, False]
    assert judge.name == "custom(mine)"


@pytest.mark.parametrize(("answer", "verdict"), [
    (True, Verdict(True)),
    (Verdict(False, raw="no"), Verdict(False, raw="no")),
    (None, Verdict(None, "missing")),
    (0.5, Verdict(True, probability=0.5)),
    (0.49, Verdict(False, probability=0.49)),
    (float("nan"), Verdict(None, "unreadable", "NaN")),
    ("I think YES.", Verdict(True, raw="I think YES.")),
    ("no.", Verdict(False, raw="no.")),
    ("perhaps", Verdict(None, "unreadable", "perhaps")),
    ("YESTERDAY", Verdict(None, "unreadable", "YESTERDAY")),
    (0, Verdict(False, probability=0.0)),
    (numpy.bool_(True), Verdict(True)),
    (numpy.float32(0.25), Verdict(False, probability=0.25)),
])  # fmt: skip
def test_what_a_function_may_answer(answer, verdict):
    assert CallableJudge(lambda query: answer).ask(QUERIES[:1]) == [verdict]


@pytest.mark.parametrize("answer", [2, -0.1, [True], {}])
def test_what_it_may_not_answer_is_the_callers_fault(answer):
    with pytest.raises(InputError, match=r"answer of custom\(.*: got"):
        CallableJudge(lambda query: answer).ask(QUERIES)
    with pytest.raises(InputError, match="function: got"):
        CallableJudge(answer)


def test_a_function_that_fails_gives_no_verdict_and_says_why(caplog):
    def function(query):
        if query.fields["sentence"] == "b":
            raise ConnectionError("line cut")
        return True

    with caplog.at_level(logging.WARNING):
        verdicts = CallableJudge(function).ask(QUERIES[:3])
    assert verdicts == [Verdict(True), Verdict(None, "failed", "ConnectionError('line cut')"), Verdict(True)]
    assert "line cut" in caplog.text
