"""The embedded edition of the report task: form, sizes, licence, and verdicts for every question that is asked."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from tests.reports.answers import FOLDER, docs, documents, requests, rows, sample_reports
from tls_tasks.reports import baseline as report_lead
from tls_tasks.reports.data import EMBEDDED_RECORDING, prompt
from tls_tasks.reports.documents import make_lookup
from tls_tasks.reports.judges import Recorded, Recorder
from tls_tasks.reports.plan import ReportPlan, walk_together
from tls_tasks.reports.read import parse_report
from tls_tasks.reports.report_eval import report_eval

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

FILES = ("documents", "nuggets", "reports", "requests", "verdicts")

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("isolated")]


def lead_reports():
    for doc in docs():
        ids = [document["id"] for document in json.loads(doc["documents"])]
        parsed = parse_report(
            report_lead.answer(prompt(doc)), ids, request_id=doc["doc_id"], run_id="lead",
            collection_ids=[doc["collection_id"]], limit=doc["limit"],
        )  # fmt: skip
        assert not parsed.problems
        yield parsed.value


def test_the_folder_holds_these_files_in_plain_form():
    assert sorted(path.name for path in FOLDER.iterdir()) == [f"{name}.jsonl" for name in FILES]
    for path in FOLDER.iterdir():
        raw = path.read_bytes()
        assert raw.endswith(b"\n") and not raw.endswith(b"\n\n") and b"\r" not in raw
        assert "\\u" not in raw.decode("utf-8")  # characters stand as themselves


def test_documents_are_short_clean_and_unlike_each_other():
    found = rows("documents")
    assert len(found) >= 64 and len(documents()) == 3
    assert len({row["id"] for row in found}) == len({row["text"] for row in found}) == len(found)
    for row in found:
        assert set(row) == {"collection", "id", "title", "text"}
        assert row["id"].startswith(row["collection"].removeprefix("embedded/"))
        assert 60 <= len(row["text"].split()) <= 120, row["id"]
        for text in (row["title"], row["text"]):
            assert text == " ".join(text.split()) and text.isprintable()
    bags = [set(re.findall(r"\w+", row["text"].lower())) for row in found]
    for index, bag in enumerate(bags):
        assert all(len(bag & other) / len(bag | other) < 0.35 for other in bags[index + 1 :])


def test_requests_and_nuggets():
    asked, nuggets = rows("requests"), requests()
    assert [row["request_id"] for row in asked] == list(nuggets) and len(asked) == 6
    for row in asked:
        assert set(row) == {"request_id", "collection_id", "title", "background", "problem_statement", "limit"}
        members = nuggets[row["request_id"]].nuggets
        assert 6 <= len(members) <= 10
        assert {nugget.importance for nugget in members} == {"vital", "okay"}
        assert len({nugget.question_id for nugget in members}) == len(members)
    every = [nugget for request in nuggets.values() for nugget in request.nuggets]
    assert sum(not nugget.answers for nugget in every) == 2
    assert any(nugget.aggregator == "AND" and len(nugget.answers) > 1 for nugget in every)
    assert any(nugget.aggregator == "OR" and len(nugget.answers) > 1 for nugget in every)


def test_every_answer_is_attested_by_a_document_of_its_collection():
    shown = documents()
    for request in requests().values():
        for nugget in request.nuggets:
            for answer in nugget.answers:
                assert answer.references and set(answer.references) <= set(shown[request.collection_id]), answer


def test_the_sample_reports_have_faults_of_every_kind():
    outcomes = {"careful": set(), "hasty": set()}
    for report in sample_reports():
        plan = ReportPlan(report, requests()[report.request_id], make_lookup(documents()))
        (judged,) = walk_together([plan.walks()], Recorded.read(EMBEDDED_RECORDING))
        outcomes[report.run_id] |= {outcome.path for outcome in judged}
        outcomes[report.run_id] |= {("unknown",) for outcome in judged if outcome.unknown}
    assert outcomes["careful"] == {("cited", "citations_hold", "nuggets_matched"),
                                   ("uncited", "negative", "nugget_confirms")}  # fmt: skip
    assert outcomes["hasty"] >= {
        ("cited", "citation_fails"),
        ("cited", "citations_hold", "no_nugget"),
        ("uncited", "negative", "no_nugget"),
        ("uncited", "negative", "nugget_confirms"),
        ("uncited", "not_negative", "needs_no_citation"),
        ("uncited", "not_negative", "needs_citation", "first_instance"),
        ("uncited", "not_negative", "needs_citation", "repeats_cited"),
        ("unknown",),
    }


def test_the_verdicts_answer_every_question_and_no_other():
    recorder = Recorder(Recorded.read(EMBEDDED_RECORDING))
    for report in [*sample_reports(), *lead_reports()]:
        plan = ReportPlan(report, requests()[report.request_id], make_lookup(documents()))
        walk_together([plan.walks()], recorder)
    assert all(row["verdict"] in ("YES", "NO") for row in recorder.rows())
    parts = ("kind", "sentence", "doc_id", "question", "answer")
    asked = {
        tuple({**row["about"], **row["fields"], "kind": row["kind"]}.get(part) if part != "doc_id"
              else row["about"].get(part) for part in parts)
        for row in recorder.rows()
    }  # fmt: skip
    of_sentences = [row for row in rows("verdicts") if row["kind"] != "criterion"]
    assert asked == {tuple(row.get(part) for part in parts) for row in of_sentences}


# Worked out by hand from the reports, the nuggets and the verdicts: one fraction a request.
BY_HAND = CASES["BY_HAND"]


@pytest.mark.parametrize("run", BY_HAND)
def test_the_scores_of_the_sample_runs(run):
    reports = sample_reports(run)
    asked = [requests()[report.request_id] for report in reports]
    score = report_eval(reports, asked, documents(), Recorded.read(EMBEDDED_RECORDING))
    for key, fractions in BY_HAND[run].items():
        expected = [Fraction(text) for text in fractions.split()]
        assert [item.values()[key] for item in score.items] == [float(value) for value in expected], key
        assert score.as_dict()[key] == pytest.approx(float(sum(expected) / 6), abs=1e-15)
    assert score.results["n_unscored"] == score.parse_failures == 0


def test_the_readme_counts_the_rows():
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    for name in FILES:
        line = next(line for line in readme.splitlines() if line.startswith(f"| `{name}.jsonl` | "))
        assert line.endswith(f" | {len(rows(name))} |"), line
    questions = [nugget for request in requests().values() for nugget in request.nuggets]
    assert f"{len(questions)} questions with {sum(len(one.answers) for one in questions)} answers" in readme
    assert "report_generation" in (FOLDER.parent / "LICENSE.txt").read_text(encoding="utf-8")
