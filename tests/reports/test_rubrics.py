"""Rubrics: the arithmetic of HealthBench, verdicts on their way through judges, and the task."""

import csv
import io
import json
import math
import random
import warnings

import numpy as np
import pytest

import tls_tasks
from tests.cli.conftest import write
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.reports.baseline import answer
from tls_tasks.reports.judges import ChatJudge, Recorded, Recorder
from tls_tasks.reports.labels import corrections, judged_items, label_sheet, read_labels
from tls_tasks.reports.task import TASKS

pytestmark = pytest.mark.filterwarnings("ignore")

POINTS = (-10, -7, -2.5, -1, 0, 1, 2, 3.5, 5, 10)


def scored(docs, said, **options):
    """Reports of one sentence, judged by what is said of each criterion."""
    asked = [{"query_id": str(number), "query_text": "Report."} for number in range(len(docs))]
    judge = [{"kind": "criterion", "criterion": text, "verdict": verdict} for text, verdict in said.items()]
    return tls_tasks.report_eval(["A report."] * len(docs), asked, judge=judge, **{"rubrics": docs, **options})


def slow(rows, said):
    """A document's score, criterion by criterion; None: it is left out."""
    reached = possible = 0.0
    for row in rows:
        points = row.get("points", row.get("weight"))
        reached += points * (said[row.get("criterion", row.get("title"))] == "YES")
        if points > 0:
            possible += points
    return reached / possible if possible else None


def slow_mean(scores):
    known = [score for score in scores if score is not None]
    return min(1, max(0, sum(known) / len(known))) if known else math.nan


def test_themes_give_the_published_breakdown():
    """An example's tag has the score of all its criteria, an axis that of its own; who has no rubric is counted."""
    good, bad = ({"title": name, "weight": 1, "axis": axis} for name, axis in (("good", "Explicit"), ("bad", "Style")))
    docs = [
        {"rubrics": [good, bad], "example_tags": ["theme:x"]},
        {"rubrics": [good], "example_tags": ["theme:y"]},
        None,
    ]
    results = scored([*docs, None], {"good": "YES", "bad": "NO"}).results
    tags = {"": 0.75, "_theme:x": 0.5, "_theme:y": 1, "_Explicit": 1, "_Style": 0}
    assert {tag: results[f"rubric_score{tag}"] for tag in tags} == tags and results["reports_without_rubric"] == 2


@pytest.mark.parametrize(("text", "points"), [("criterion", "points"), ("title", "weight")])
def test_a_thousand_random_tables(text, points):
    draw = random.Random(7)
    for _ in range(1000 // 4):
        docs = [
            [{text: f"{doc} {n}", points: draw.choice(POINTS), "tags": draw.sample("ab", draw.randrange(3))}
             for n in range(draw.randint(1, 6))] for doc in range(4)
        ]  # fmt: skip
        said = {row[text]: draw.choice(["YES", "NO"]) for rows in docs for row in rows}
        score = scored(docs, said)
        alone = [slow(rows, said) for rows in docs]
        assert [item.values()["rubric_score"] for item in score.items] == pytest.approx(
            [math.nan if value is None else value for value in alone], abs=1e-12, nan_ok=True
        )
        for tag in "ab":
            values = [slow([row for row in rows if tag in row["tags"]], said) for rows in docs]
            expected = pytest.approx(slow_mean(values), abs=1e-12, nan_ok=True)
            assert score.results.get(f"rubric_score_{tag}", math.nan) == expected
        assert score.results["rubric_score"] == pytest.approx(slow_mean(alone), abs=1e-12, nan_ok=True)
        assert score.results["criteria_met"] == list(said.values()).count("YES") / len(said)


RUBRIC = [{"criterion": "Names the year.", "points": 4}, {"title": "Is wrong.", "weight": -2, "tags": ["fault"]}]


def test_what_is_missing_is_left_out_and_counted_and_no_report_meets_nothing():
    score = scored([RUBRIC, RUBRIC[:1]], {"Names the year.": "YES"})
    assert (score.results["rubric_score"], score.results["criteria_unscored"]) == (1.0, 1)
    assert score.results["criteria_met"] == 1.0 and math.isnan(score.results["rubric_score_fault"])
    assert scored([RUBRIC], {"Names the year.": "PARTLY", "Is wrong.": "NO"}).results["criteria_unscored"] == 1
    assert "\n  unscored  [" in scored([RUBRIC], {"Names the year.": "PARTLY", "Is wrong.": "NO"}).explain(0)
    from_parquet = [np.array(RUBRIC[:1]), math.nan]
    own_ids = [{"prompt_id": "b7", "query_id": 0, "rubrics": RUBRIC[:1]}, None]
    assert scored(own_ids, {"Names the year.": "YES"}).results["rubric_score"] == 1.0
    assert scored([RUBRIC] * 2, {"Names the year.": "YES"}, rubrics=from_parquet).results["rubric_score"] == 1.0
    empty = tls_tasks.report_eval([""], [{"query_id": "7"}], judge=lambda query: True, rubrics=[RUBRIC])
    assert empty.results["rubric_score"] == empty.results["criteria_met"] == 0 and empty.parse_failures == 1


def test_rubrics_change_no_other_result_and_are_signed():
    rows = [{"sentences": [{"text": "It rained.", "citations": ["d1"]}]}], [{"items": []}], {"d1": "Rain."}
    plain, more = (tls_tasks.report_eval(*rows, judge=lambda query: True, **own) for own in ({}, {"rubrics": [RUBRIC]}))
    assert {key: more.as_dict()[key] for key in ("citation_support", "counts")} == {
        key: plain.as_dict()[key] for key in ("citation_support", "counts")
    }
    assert plain.signature == more.signature.replace("|rubric:healthbench", "") and more.results["rubric_score"] == 0.5
    assert "|rubric" not in plain.signature and "rubric_score" not in plain.as_dict()


WRONG = {
    "one too few": ([], "rubrics: got length 0, expected 1, as many as predictions"),
    "no list": (["Names the year."], r"rubrics\[0\]: got"),
    "one criterion": ([RUBRIC[0]], r"rubrics\[0\]: got dict .*, expected the criteria of one report: a list of"),
    "no points": ([[{"criterion": "c"}]], r"rubrics\[0\]\[0\]\.points: got None"),
    "no text": ([[{"points": 3}]], r"rubrics\[0\]\[0\]\.criterion: got dict .*'points': 3"),
    "points in words": ([[{"title": "c", "weight": "3"}]], r"points: got .*'3'"),
    "not finite": ([[{"title": "c", "weight": math.inf}]], "points: got"),
    "tags of a text": ([[{"title": "c", "weight": 1, "tags": "a"}]], r"tags: got"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_rubric_is_named_before_anybody_is_asked(case):
    rubrics, said = WRONG[case]
    with pytest.raises(InputError, match=said):
        tls_tasks.report_eval(["A."], [{"query_id": "7"}], judge=lambda query: 1 / 0, rubrics=rubrics)


def test_a_request_without_nuggets_needs_a_rubric():
    with pytest.raises(InputError, match=r"references\[0\]: got no items"):
        tls_tasks.report_eval(["A."], [{"query_id": "7"}], judge=lambda query: True)


# ---- judges


@pytest.mark.parametrize("in_json", [False, True])
def test_a_server_is_asked_about_the_whole_report_once_and_its_verdicts_are_kept(serve, tmp_path, in_json):
    def says(sentence, n_before, messages):
        text = messages[0]["content"]
        word = "YES" if "Says when." in text else "NO"
        return json.dumps({"verdict": word}) if in_json else f"So my answer is: {word}."

    server = serve(says)
    rubric = [{"title": text, "weight": 2} for text in ("Says who.", "Says when.", "Says why.")]
    run = ["# Rain\n\nAnn said in May that it rained [1]."], [{"query_id": "7", "query_text": "Report on <rain>."}]

    def score(judge):
        return tls_tasks.report_eval(*run, judge=judge, documents={}, rubrics=[rubric])

    judges = [ChatJudge(server.url, "m", cache=tmp_path / "c") for _ in range(2)]
    recorder = Recorder(judges[0])
    found = score(recorder)
    assert found.results["rubric_score"] == found.results["criteria_met"] == 1 / 3
    assert len(server.requests) == 3 and score(judges[1]).results == found.results and len(server.requests) == 3
    assert judges[1].stats["cached"] == 3
    asked = server.requests[0]["messages"][0]["content"]
    assert "# Rain\n\nAnn said in May that it rained [1]." in asked and "Report on ‹rain›." in asked
    assert asked.endswith("Answer with one word, YES or NO.")
    assert [row["verdict"] for row in recorder.rows()] == ["NO", "YES", "NO"]
    assert score(Recorded(recorder.rows())).results == found.results


def test_labels_correct_the_share_of_criteria_that_are_met(tmp_path):
    docs = [[{"criterion": f"{doc} {n}", "points": 1} for n in range(5)] for doc in range(12)]
    words = {row["criterion"]: "YES" if n % 3 else "NO" for n, row in enumerate(row for rows in docs for row in rows)}
    items = {key: item for own in scored(docs, words).items for key, item in judged_items(own.as_dict())}
    assert {kind for kind, *_ in items} == {"criterion"} and all(item.source == "A report." for item in items.values())
    columns, *rows = label_sheet(items, 40, 1)
    file = io.StringIO()
    csv.writer(file).writerows([columns, *([*row[:5], "YES" if row[3][0] in "02468" else "NO"] for row in rows)])
    found = corrections(items, read_labels(write(tmp_path / "labels.csv", file.getvalue()), items))
    assert found["criteria_met"] == 2 / 3 and found["criteria_met_labels"] == 40
    low, high = found["criteria_met_corrected_ci"][:2]
    assert low < found["criteria_met_corrected"] < high and not any("rubric" in name for name in found)


# ---- files and the task


def test_the_command_scores_files(tmp_path, capsys):
    reports = write(tmp_path / "r.jsonl", *({"request_id": str(n), "run_id": "a", "sentences": [
        {"text": "It rained in 1994.", "citations": ["d1"]}]} for n in range(3)))  # fmt: skip
    rubrics = write(tmp_path / "q.jsonl", {"prompt_id": "0", "prompt": [{"role": "user", "content": "When?"}],
                    "rubrics": RUBRIC}, {"query_id": "1", "query_text": "When?", "rubrics": RUBRIC})  # fmt: skip
    recorded = write(
        tmp_path / "v.jsonl",
        {"kind": "criterion", "criterion": "Names the year.", "verdict": "NO", "request_id": "0"},
        {"kind": "criterion", "criterion": "Names the year.", "verdict": "YES", "request_id": "1"},
        {"kind": "criterion", "criterion": "Is wrong.", "verdict": "NO"},
    )
    asked = ["reports", "--predictions", str(reports), "--rubrics", str(rubrics), "--recorded", str(recorded)]
    assert main([*asked, "--json", "-b", "1", "-o", str(tmp_path / "out")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rubric_score"] == 0.5 and found["runs"]["a"]["criteria_met"] == 0.25
    assert main(asked) == 0 and "rubric_score_fault" in capsys.readouterr().out
    write(rubrics, {"prompt_id": "9", "rubrics": RUBRIC})
    assert main(asked) == 2 and "q.jsonl: rubrics of '9', but " in capsys.readouterr().err


def test_the_task_is_scored_by_recorded_verdicts_and_shows_its_criteria():
    task = TASKS["report_rubric"]
    docs = task.documents(edition="embedded", judge="recorded")
    answers = task.judge([answer(task.prompt(doc)) for doc in docs], docs)
    own = task.for_document(docs[0])
    results = own.results([own.process(doc, text) for doc, text in zip(docs, answers, strict=True)])
    # By hand: 15 of 27, 3 - 8 of 24, 8 of 22, 3 - 8 of 22, 13 of 23, 3 - 8 of 22.
    assert results["rubric_score"] == pytest.approx((15 / 27 - 5 / 24 + 8 / 22 - 5 / 22 + 13 / 23 - 5 / 22) / 6)
    assert results["criteria_met"] == 15 / 37 and results["criteria_unscored"] == 0
    assert own.results([own.process(docs[1], answers[1])])["rubric_score"] == -5 / 24  # a document is never clipped
    assert own.results([own.process(docs[1], answers[1])] * 2)["rubric_score"] == 0  # their mean is
    picture = task.picture(docs[1], answers[1], task.explain(docs[1], answers[1]))
    assert [row["points"] for row in picture["criteria"] if row["value"] == 1] == [3, -8]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nobody = task.documents(edition="embedded")
    unjudged = own.process(nobody[0], task.judge(["It rained."], nobody[:1])[0])
    assert unjudged["criteria_unscored"] == 7 and math.isnan(own.results([unjudged])["rubric_score"])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"request_id": "r9", "rubrics": []}', "line 1: no request of that query_id"),
        ('{"request_id": "r1", "rubrics": [{"title": "t"}]}', r"line 1\[0\]\.points: got None"),
        ("", "no rubric in rubrics.jsonl"),
    ],
)
def test_data_of_ones_own_is_checked_when_it_is_loaded(tmp_path, row, said):
    write(tmp_path / "requests.jsonl", {"request_id": "r1", "problem_statement": "Report."})
    write(tmp_path / "documents.jsonl", {"id": "d1", "text": "It rained."})
    write(tmp_path / "rubrics.jsonl", {"request_id": "r1", "rubrics": [RUBRIC[0]]})
    assert len(TASKS["report_rubric"].documents(data=str(tmp_path))) == 1
    (tmp_path / "rubrics.jsonl").write_text(row, encoding="utf-8")
    with pytest.raises((DataError, InputError), match=said):
        TASKS["report_rubric"].documents(data=str(tmp_path))
