"""Files as the tracks and their tools write them today: the same nuggets and the same reports in every form.

The samples are ours. Those of NuggetBank v3 and v4 and of the reports were validated by the pydantic models of
auto-judge-base, those of nuggetizer were written by its own output functions.
"""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tls_tasks.cli import main
from tls_tasks.reports.nuggets import NUGGET_FORMS, parse_request, read_requests
from tls_tasks.reports.read import ROW_FORMS, read_reports
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.types import NuggetAnswer, ReportSentence

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

FORMS = CASES["FORMS"]
ROSE, CLOSED = "Rivers rose by two metres.", "The bridge was closed."


def lines(*rows):
    return [json.dumps(row) for row in rows]


def shape(request):
    return [
        [one.question, [answer.text for answer in one.answers], one.aggregator, one.importance]
        for one in request.nuggets
    ]


@pytest.mark.parametrize(("form", "expected"), CASES["test_nuggets"])
@pytest.mark.parametrize("indent", [None, 2])
def test_nuggets(form, expected, indent):
    (request,), bad = read_requests(json.dumps(FORMS[form], indent=indent).splitlines(), "n.jsonl")
    assert not bad
    assert request.request_id == "7" and shape(request) == CASES["NUGGETS"][expected]
    assert request.text in ("The flood", "")


def test_documents_and_ids_of_nuggets_are_kept():
    nuggets = parse_request(FORMS["v3"]).value.nuggets
    assert [one.question_id for one in nuggets] == ["2fda2f38", "Who closed it?", "5601ac1a", "69d38bf3"]
    assert nuggets[3].answers == (NuggetAnswer("true", ("d1",)),)
    assert parse_request(FORMS["RAGTIME 2026"]).value.nuggets[0].answers[0] == NuggetAnswer("on Monday", ("d1",))


def test_nuggets_that_many_answers_were_labelled_with_are_read_once():
    requests, bad = read_requests(lines(FORMS["assigned"], {**FORMS["assigned"], "run_id": "b"}), "n.jsonl")
    assert len(requests) == 1 and not bad
    _, bad = read_requests(lines(FORMS["nuggetizer"], {**FORMS["nuggetizer"], "nuggets": []}), "n.jsonl")
    assert str(bad[0]) == "n.jsonl, line 2: a second row for '7'; the one of line 1 counts"


SENTENCES = (ReportSentence("Heavy rain fell on Monday.", ("d1",)), ReportSentence(CLOSED, ("d2", "d1")))


@pytest.mark.parametrize("row", CASES["test_reports"], ids=["RAGTIME", "RAG 2024", "RAG 2025", "envelope"])
def test_reports(row):
    (report,), bad = read_reports(lines(row), "r.jsonl")
    assert not bad
    assert (report.request_id, report.run_id, report.sentences) == ("7", "a", SENTENCES)


def test_statements_are_asked_and_counted_one_by_one():
    report = {"request_id": "7", "sentences": [{"text": text, "citations": ["d1"]} for text in (ROSE, "So.")]}
    asked = []

    def judge(query):
        asked.append(query)
        return query.kind != "nugget_agreement" or query.fields["sentence"] in query.fields["question"]

    score = report_eval([report], [FORMS["nuggetizer"]], {"d1": "Text."}, judge)
    assert {query.fields["answer"] for query in asked if query.kind == "nugget_agreement"} == {"true"}
    found = score.as_dict()
    assert (found["nugget_coverage"], found["recall"], found["nugget_coverage_weighted"]) == (0.5, 0.5, 2 / 3)


# --- what is not understood ---


@pytest.mark.parametrize(("item", "said"), CASES["test_a_nugget_that_is_not_understood"])
def test_a_nugget_that_is_not_understood(item, said):
    _, bad = read_requests(lines({"query_id": "7", "items": [item]}), "n.jsonl")
    assert [str(row) for row in bad] == [f"n.jsonl, line 1: {said}"]


def test_a_bank_without_an_end():
    bottomless = {"question": "Why?", "answers": ["so"]}
    bottomless["sub_nuggets"] = [bottomless]
    parsed = parse_request({"query_id": "7", "items": [bottomless]})
    assert len(parsed.value.nuggets) == 21 and parsed.counts() == {"bad_item": 1}


@pytest.mark.parametrize(
    ("read", "forms", "missing"),
    [
        (read_requests, NUGGET_FORMS, "no items, nugget_bank, nuggets or claim_bank"),
        (read_reports, ROW_FORMS, "no sentences"),
    ],
)
def test_a_file_in_no_known_form_says_what_is_there_and_what_is_known(read, forms, missing):
    values, bad = read(lines(*[{"qid": "7", "facts": []}] * 2), "f.jsonl")
    first, second = map(str, bad)
    assert values == () and [row.lost for row in bad] == [True, True]
    assert first.startswith(f"f.jsonl, line 1: {missing}, in an object with the keys qid, facts; known forms: ")
    assert all(who in first and fields in first for who, fields in forms.items())
    assert second == f"f.jsonl, line 2: {missing}, in an object with the keys qid, facts"


JUDGED = [{"kind": kind, "sentence": "It rained.", "doc_id": "d1", "question": "q", "answer": "a", "verdict": "YES"}
          for kind in ("citation_support", "nugget_agreement")]  # fmt: skip


@pytest.mark.parametrize(("reports", "nuggets", "code", "said"), CASES["test_what_is_odd_is_never_a_silent_zero"])
def test_what_is_odd_is_never_a_silent_zero(tmp_path, capsys, reports, nuggets, code, said):
    files = {"reports": reports, "nuggets": nuggets, "verdicts": JUDGED, "documents": [{"id": "d1", "text": "Rain."}]}
    for name, rows in files.items():
        (tmp_path / name).with_suffix(".jsonl").write_text("\n".join(lines(*rows)))
    reports, nuggets, verdicts, documents = (str(tmp_path / f"{name}.jsonl") for name in files)
    words = ["reports", "--predictions", reports, "--references", nuggets]
    assert main([*words, "--documents", documents, "--recorded", verdicts]) == code
    err = capsys.readouterr().err
    assert said in err and bool(err) == bool(code)


def test_the_forms_are_in_the_docs():
    text = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    for forms in (NUGGET_FORMS, ROW_FORMS):
        for who, fields in forms.items():
            assert any(line.startswith(f"| {who} |") and f"`{fields}`" in line for line in text.splitlines()), who
