"""Nuggets that are assigned already, by the arithmetic of nuggetizer; citations per report, by that of FACT."""

import json
import math
import random

import pytest

import tls_tasks
from tests.cli.conftest import write
from tls_tasks.cli import main
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.reports.assignments import KEYS

pytestmark = pytest.mark.filterwarnings("ignore")

WORTH = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def scored(tables, **options):
    asked = [{"qid": str(number)} for number in range(len(tables))]
    return tls_tasks.report_eval(["A report."] * len(tables), asked, nugget_assignments=tables, **options)


def slow(nuggets, key, profile):
    """One score of one report, nugget by nugget; NaN: undefined."""
    n, hits, is_known = 0, 0.0, True
    for nugget in nuggets:
        if "vital" in key and nugget["importance"] != "vital":
            continue
        n += 1
        is_known = is_known and nugget["assignment"] != "failed"
        value = WORTH.get(nugget["assignment"], 0.0)
        hits += value == 1.0 if "strict" in key else value
    if profile == "nuggetizer":
        return hits / n if n else 0.0
    return hits / n if n and is_known else math.nan


@pytest.mark.parametrize("profile", ["nuggetizer", None])
def test_a_thousand_random_tables_of_assignments(profile):
    draw = random.Random(7)
    for place in range(1000 // 4):
        names = ("vital", "okay"), [*WORTH, "failed"][: 4 if place % 5 == 0 else 3]
        tables = [[dict(zip(("importance", "assignment"), map(draw.choice, names), strict=True))
                   for _ in range(draw.randrange(7))] for _ in range(4)]  # fmt: skip
        score = scored(tables, nugget_profile=profile)
        for key in KEYS:
            alone = [slow(own, key, profile) for own in tables]
            assert [item.values()[key] for item in score.items] == pytest.approx(alone, abs=0, nan_ok=True)
            known = [value for value in alone if not math.isnan(value)]
            mean = sum(known) / len(known) if known else math.nan
            assert score.results[key] == pytest.approx(mean, abs=1e-12, nan_ok=True)


NUGGETS = [{"text": "a", "importance": "vital", "assignment": "support"},
           {"text": "b", "importance": "okay", "assignment": "partial_support"}]  # fmt: skip
FAILED = {**NUGGETS[0], "assignment": "failed"}


def test_assignments_change_no_other_result_and_are_signed_and_explained():
    rows = [{"sentences": [{"text": "It rained.", "citations": ["d1"]}]}], [{"items": []}], {"d1": "Rain."}
    given = {}, {"nugget_assignments": [NUGGETS]}
    plain, more = (tls_tasks.report_eval(*rows, judge=lambda query: True, **own) for own in given)
    assert {key: more.results[key] for key in plain.results} == pytest.approx(plain.results, nan_ok=True)
    assert more.signature == plain.signature.replace("|agg", "|assigned:yes|agg") and more.results["all_score"] == 0.75
    assert "partial_support  [okay] b" in more.explain(0)
    assert math.isnan(scored([None]).results["all_score"]) and scored([math.nan, NUGGETS]).results["all_score"] == 0.75
    score = scored([{"nuggets": [NUGGETS[0], {**FAILED, "importance": "okay"}]}, [FAILED] * 2])
    assert score.results["nuggets_unassigned"] == 3, "of nuggets, not of reports"
    assert score.results["vital_score"] == 1 and math.isnan(score.results["all_score"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], r"nugget_assignments: got length 0, expected 1"),
        ([{"items": []}], r"nugget_assignments\[0\]: got dict"),
        ([["a"]], r"nugget_assignments\[0\]: got list"),
        ([{"nuggets": [NUGGETS[0], {"text": "b"}]}], r"\[0\], nuggets\[1\]\.importance: got None"),
        ({"0": NUGGETS, "7": NUGGETS}, r"got the keys '7', expected ids of the reports' requests \('0'\), or a list"),
        ([{"qid": 7, "nuggets": NUGGETS}], r"\[0\]: got a row of request '7', expected '0', the report's request"),
        ({"0": {"qid": "7", "nuggets": NUGGETS}}, r"\['0'\]: got a row of request '7'"),
        (None, "nugget_profile: got it without nugget_assignments, expected both"),
    ],
)
def test_what_is_no_assignment_is_named(given, said):
    with pytest.raises((InputError, OptionError), match=said):
        tls_tasks.report_eval(["A report."], [{"qid": "0"}], nugget_assignments=given, nugget_profile="nuggetizer")


def test_the_command_scores_the_files_of_nuggetizer_without_a_judge(tmp_path, capsys):
    # Run a has the row and the numbers of a test of nuggetizer (tests/test_scripts.py).
    file = write(tmp_path / "a.jsonl", {"qid": "q1", "run_id": "a", "nuggets": NUGGETS},
                 {"qid": "q1", "run_id": "b", "nuggets": NUGGETS[1:], "answer_text": ""})  # fmt: skip
    asked = ["reports", "--nugget-assignments", str(file)]
    assert main([*asked, "--json", "-b", "1", "-o", str(tmp_path / "out")]) == 0
    found = json.loads(capsys.readouterr().out)["runs"]
    assert [found["a"][key] for key in KEYS] == [1.0, 0.5, 1.0, 0.75]
    assert [found["b"][key] for key in KEYS] == [None, 0.0, None, 0.5]
    assert main([*asked, "--nugget-profile", "nuggetizer"]) == 0
    assert "assigned:nuggetizer|agg:macro|judge:none" in capsys.readouterr().out
    assert main([*asked, "--rubrics", str(file)]) == 2 and "NUGGETS or RUBRICS beside it" in capsys.readouterr().err
    (tmp_path / "list.json").write_text(f"[\n{file.read_text('utf-8').strip().replace(chr(10), ', ')}]")
    write(tmp_path / "runs" / "c.jsonl", {"qid": "q1", "run_id": "c", "nuggets": NUGGETS})
    write(tmp_path / "runs" / "d.jsonl", *[{"qid": "q1", "run_id": "d", "nuggets": NUGGETS}] * 2)
    assert main([*asked[:-1], str(tmp_path / "list.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == found
    assert main([*asked[:-1], str(tmp_path / "runs")]) == 2
    assert "d.jsonl, line 2: request 'q1' of run 'd' again, first in" in capsys.readouterr().err
    write(tmp_path / "runs" / "d.jsonl", {"qid": "q1", "run_id": "d", "nuggets": NUGGETS})
    assert main([*asked[:-1], str(tmp_path / "runs"), "--json"]) == 0
    assert [*json.loads(capsys.readouterr().out)["runs"]] == ["c", "d"]
    write(file, {"qid": "q1", "nuggets": [FAILED]})
    assert main(asked) == 1 and "nuggets not assigned (failed): 1" in capsys.readouterr().out
    assert main([*asked, "--nugget-profile", "nuggetizer"]) == 0, "it reads failed as a value"
    write(file, {"qid": "q1", "nuggets": [{"text": "a", "importance": "vital"}]})
    assert main(asked) == 2 and "line 1, nuggets[0].assignment: got None" in capsys.readouterr().err
    write(file)
    assert main(asked) == 2 and "no assigned nuggets in it" in capsys.readouterr().err


def fact(reports):
    """The three numbers of FACT (deep_research_bench): citations and supported ones per report, and their ratio."""
    words = [word for own in reports for word in own]
    n_reports, n_supported = sum(bool(own) for own in reports), words.count("supported")
    n_citations = n_supported + words.count("unsupported")
    return n_citations / n_reports, n_supported / n_reports, n_supported / n_citations


def test_a_thousand_random_reports_of_citations():
    draw, words = random.Random(7), {"supported": "YES", "unsupported": "NO", "unknown": None}
    for _ in range(1000 // 4):
        tables = [["supported"], *([draw.choice([*words]) for _ in range(draw.choice((0, 1, 5)))] for _ in range(3))]
        cited = [[{"text": f"{number} {n}", "citations": [f"u{n % 2}"]} for n in range(len(own))]
                 for number, own in enumerate(tables)]  # fmt: skip
        pairs = [pair for own in zip(cited, tables, strict=True) for pair in zip(*own, strict=True)]
        rows = [{"kind": "citation_support", "sentence": told["text"], "doc_id": told["citations"][0],
                 "verdict": words[word]} for told, word in pairs]  # fmt: skip
        judge = {"judgments": rows, "defaults": {"negative": "NO", "requires_citation": "NO"}}
        reports = [{"sentences": own or [{"text": "It rained."}]} for own in cited]
        found = tls_tasks.report_eval(reports, [{"items": []}] * 4, judge=judge, aggregate="micro").results
        keys = ("citations_per_report", "supported_citations_per_report", "citation_support")
        assert [found[key] for key in keys] == pytest.approx(fact(tables), abs=1e-12)
