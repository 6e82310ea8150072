"""Recordings: what was said is said again, in full and short lines, and nothing else is."""

import json
from pathlib import Path

import pytest

from tests.conftest import read_jsonl
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.reports.json_lines import write_rows
from tls_tasks.reports.judges import CallableJudge, Recorded, Recorder
from tls_tasks.reports.judges.recordings import digest
from tls_tasks.reports.types import SENTENCE_KINDS, Query, Verdict

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

SUPPORT = Query(
    "citation_support", {"sentence": "s", "document": "long text"}, {"request_id": "7", "run_id": "r", "doc_id": "d1"}
)
NUGGET = Query(
    "nugget_agreement", {"sentence": "s", "question": "q", "answer": "a"}, {"request_id": "7", "run_id": "r"}
)
NEGATIVE = Query("negative", {"sentence": "s"}, {"request_id": "7", "run_id": "r", "sentence": 0})
FIRST = Query("first_instance", {"sentence": "s", "previous": "before"})
NEEDS = Query("requires_citation", {"sentence": "s"})
ALL = [SUPPORT, NUGGET, NEGATIVE, FIRST, NEEDS]

SHORT = CASES["SHORT"]


def test_short_lines_are_found_by_what_a_person_would_write():
    verdicts = Recorded(SHORT).ask(ALL)
    assert [verdict.value for verdict in verdicts] == [True, False, True, False, None]
    assert verdicts[4].reason == "missing" and all(verdict.cached for verdict in verdicts)
    assert {query.kind for query in ALL} == set(SENTENCE_KINDS)


@pytest.mark.parametrize("other", [
    Query("citation_support", SUPPORT.fields, {"doc_id": "d2"}),
    Query("citation_support", SUPPORT.fields),
    Query("nugget_agreement", {**NUGGET.fields, "answer": "b"}),
    Query("negative", {"sentence": "S"}),
])  # fmt: skip
def test_another_question_is_missing(other):
    assert Recorded(SHORT).ask([other]) == [Verdict(None, "missing")]


def test_a_short_line_may_hold_for_one_request_or_run_only():
    rows = [
        {"kind": "negative", "sentence": "s", "verdict": "NO"},
        {"kind": "negative", "sentence": "s", "verdict": "YES", "request_id": 7},
        {"kind": "negative", "sentence": "s", "verdict": "NO", "request_id": "7", "run_id": "other"},
    ]
    judge = Recorded(rows)
    asked = [Query("negative", {"sentence": "s"}, about) for about in ({}, {"request_id": "7"}, {"request_id": 8})]
    asked.append(Query("negative", {"sentence": "s"}, {"request_id": "7", "run_id": "other"}))
    assert [verdict.value for verdict in judge.ask(asked)] == [False, True, False, False]
    assert len(judge) == 3


def test_the_kinds_of_report_gen_eval_and_its_words_are_known():
    rows = [
        {"kind": "citation_relevance", "sentence": "s", "doc_id": "d1", "verdict": "MAYBE"},
        {"kind": "check_negative", "sentence": "s", "verdict": "YES."},
        {"kind": "requires_citation", "sentence": "s", "verdict": "!503", "attempts": ["!503"] * 3},
    ]
    verdicts = Recorded(rows, defaults={"nugget_agreement": "NO"}).ask([SUPPORT, NEGATIVE, NEEDS, NUGGET, FIRST])
    assert [[verdict.value, verdict.reason, verdict.raw] for verdict in verdicts] == CASES["kinds"]


def test_a_judged_run_is_a_recording(tmp_path):
    answers = {"citation_support": True, "nugget_agreement": 0.25, "negative": None, "first_instance": "Well, YES."}
    recorder = Recorder(CallableJudge(lambda query: answers.get(query.kind, "?"), "mine"))
    said = [*recorder.ask(ALL[:2]), *recorder.ask(ALL[2:])]
    write_rows(tmp_path / "new" / "run.jsonl", recorder.rows())
    rows = read_jsonl(tmp_path / "new" / "run.jsonl")
    assert rows == json.loads(json.dumps(recorder.rows()))
    assert [row["verdict"] for row in rows] == ["YES", "NO", None, "YES", None]
    assert [row["reason"] for row in rows] == ["", "", "missing", "", "unreadable"]
    assert rows[0]["about"] == SUPPORT.about and rows[1]["probability"] == 0.25
    assert "document" not in rows[0]["fields"] and rows[0]["key"] == digest(SUPPORT.identity)
    replay = Recorded.read(tmp_path / "new" / "run.jsonl")
    assert replay.name == recorder.name and recorder.name == "custom(mine)" and len(replay) == 5
    assert [verdict._replace(cached=False) for verdict in replay.ask(ALL)] == said
    for row in rows:
        del row["key"]  # a document that isn't in the line is known by its id then
    assert [verdict.value for verdict in Recorded(rows).ask(ALL)] == [verdict.value for verdict in said]


def test_a_key_tells_documents_apart_that_are_not_in_the_line():
    recorder = Recorder(CallableJudge(lambda query: query.fields["document"] == "a"))
    asked = [Query("citation_support", {"sentence": "s", "document": text}, {"doc_id": "d"}) for text in "ab"]
    recorder.ask(asked)
    assert [verdict.value for verdict in Recorded(recorder.rows()).ask(asked)] == [True, False]


def test_the_first_line_with_a_verdict_counts():
    later = [{**SHORT[2], "verdict": verdict} for verdict in (None, "YES", "NO", None)]
    assert Recorded(later).ask([NEGATIVE])[0].value is True


@pytest.mark.parametrize(("line", "message"), CASES["test_lines_that_do_not_fit_are_named"])
def test_lines_that_do_not_fit_are_named(tmp_path, line, message):
    (tmp_path / "r.jsonl").write_text(f'{{"kind": "negative", "sentence": "s", "verdict": "NO"}}\n{line}\n')
    with pytest.raises((DataError, InputError), match=rf"r\.jsonl, {message}"):
        Recorded.read(tmp_path / "r.jsonl")


@pytest.mark.parametrize(("rows", "message"), [
    ("negative", "judge: got str 'negative'"),
    ({"kind": "negative"}, "judge: got dict"),
    (None, "judge: got None"),
    ([SHORT[0], None], r"judge\[1\]: got None, expected a line of a recording"),
])  # fmt: skip
def test_rows_that_do_not_fit_are_named(rows, message):
    with pytest.raises(InputError, match=message):
        Recorded(rows)


def test_rows_may_have_several_tries():
    row = {"kind": "negative", "sentence": "s", "attempts": ["!503", "YES, surely"], "verdict": "Hm"}
    judge = Recorded([row])
    assert judge.ask([NEGATIVE])[0][:3] == (True, "", "YES, surely")
    assert judge.tries(NEGATIVE) == ("!503", "YES, surely", "Hm") and judge.tries(NEEDS) == ()
    assert Recorded([], defaults={"negative": "NO"}).tries(NEGATIVE) == ("NO",)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.jsonl: no such file"):
        Recorded.read(tmp_path / "none.jsonl")
    (tmp_path / "r.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="can't be read"):
        Recorded.read(tmp_path / "r.jsonl")
    with pytest.raises(InputError, match=r"defaults: kind: got 'nugget'"):
        Recorded([], defaults={"nugget": "NO"})
    with pytest.raises(InputError, match=r"defaults: verdict: got int 1, expected YES, NO, null or"):
        Recorded([], defaults={"negative": 1})


def test_text_that_is_no_utf8_can_be_recorded(tmp_path):
    recorder = Recorder(CallableJudge(lambda query: "YES \ud800"))
    asked = [Query("negative", {"sentence": "half \ud800 a pair"}, {"run_id": "\udfff"})]
    recorder.ask(asked)
    write_rows(tmp_path / "r.jsonl", recorder.rows())
    assert Recorded.read(tmp_path / "r.jsonl").ask(asked)[0].value is True
