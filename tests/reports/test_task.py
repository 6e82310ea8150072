"""The report task: its config, the filter that asks the judge, scoring of what it wrote, and who judges."""

import json
import math
import re
import warnings
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.hostile import HOSTILE
from tests.reports.answers import answers, docs
from tls_tasks.core import errors
from tls_tasks.core.errors import DataError
from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.judges import CallableJudge, Recorded, Recorder
from tls_tasks.reports.judges import choose as judges
from tls_tasks.reports.judges.choose import check_judge, make_judge
from tls_tasks.reports.report_eval import UnscoredWarning, report_eval
from tls_tasks.reports.score import KEYS
from tls_tasks.reports.task import TASKS, shown_documents

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("own_cache")]

TASK = TASKS["report_generation"]
COUNTS = ("n_unscored", "n_sentences", "unknown_citations", "parse_failures")
process_report, judge_answers = partial(process_results, TASK), TASK.judge
FOLDER = ROOT / "task_configs" / "reports"


# ---- the config


def test_the_readme_tells_of_every_judge_and_key():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    place = "task_configs/reports/README.md has no row for the"
    for source in judges._KINDS:
        assert f'"{source}"' in readme, f"{place} judge {source}, under Who judges"
    for key in (*KEYS, *COUNTS):
        assert f"`{key}`" in readme, f"{place} key {key}, under Metrics"


@pytest.mark.parametrize("name", TASKS)
def test_a_task_without_a_judge_says_at_load_what_to_type(name, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    data = {"data": str(EMBEDDED_RECORDING.parent)} if name.endswith("custom") else {"edition": "embedded"}
    with pytest.warns(UnscoredWarning, match=f"{name}: no judge is named") as told:
        TASKS[name].documents(**data)
    (text,) = (str(one.message) for one in told if one.category is UnscoredWarning)
    (metadata,) = re.findall(r"--metadata '(.*)'", text)
    assert check_judge(json.loads(metadata)["judge"]).startswith("openai/MODEL")
    assert "tls-tasks reports --predictions SAMPLES.jsonl -o OUT -p openai -m MODEL" in text
    with warnings.catch_warnings(record=True) as told:
        TASKS[name].documents(judge="recorded", **data)
    assert not [one for one in told if one.category is UnscoredWarning]


def test_the_task_loads_and_asks(task_manager):
    pytest.importorskip("lm_eval")
    name = "report_generation"
    task = task_manager.load([name])["tasks"][name]
    found = list(task.test_docs())
    assert len(found) == 6
    for doc in found:
        text = task.doc_to_text(doc)
        assert text.endswith("\n\nReport:") and len(text) < 15_000
        assert f"at most {doc['limit']} characters" in text
        assert any(stop in f"A report [1].\n\n{text}" for stop in task.config.generation_kwargs["until"])
    provenance = task.config.metadata["provenance"]
    assert (provenance["edition"], provenance["judge"]) == ("embedded", "none")
    assert provenance.keys() == {"edition", "judge", "origin", "fingerprint", "context"}


# ---- the filter and what comes after it


def judged(run, **options):
    asked = docs(**options)
    return asked, judge_answers(answers(run), asked)


@pytest.mark.parametrize(("run", "recall"), [("careful", 7 / 8), ("hasty", 2 / 8)])
def test_the_recorded_verdicts_judge_the_sample_reports(run, recall):
    asked, filtered = judged(run, judge="recorded")
    assert all(json.loads(text)["judge"] == "embedded" for text in filtered)
    values = process_report(asked[0], [filtered[0]])
    assert values["recall"] == recall and values["n_unscored"] == 0 and values["n_sentences"] == 8
    assert values["recall_micro"] == recall and values["recall_micro"].units[0]["recall_of"] == 8
    assert values["unknown_citations"] == (run == "hasty")
    rows = [row for text in filtered for row in json.loads(text)["judgments"]]  # a logged run is a recording
    assert all(row["verdict"] in ("YES", "NO") and row["fields"]["sentence"] for row in rows)
    assert len(Recorded(rows)) <= len(rows) and Recorded(rows).name == "embedded"


def test_without_a_judge_nothing_is_scored_and_all_is_kept():
    asked, filtered = judged("careful")
    for doc, text in zip(asked, filtered, strict=True):
        value = json.loads(text)
        assert value["judge"] == "none" and value["judgments"] == [] and value["report"]["sentences"]
        values = process_report(doc, [text])
        assert all(math.isnan(values[key]) for key in KEYS)
        assert values["n_unscored"] == values["n_sentences"] == len(value["report"]["sentences"])
        assert math.isnan(values["recall_micro"]) and values["recall_micro"].units[0]["recall_of"] == 0


def test_an_empty_answer_with_a_judge_scores_zero():
    asked = docs(judge="recorded")
    (text,) = judge_answers(["I have to think <think>"], asked[:1])
    (empty,) = judge_answers([""], asked[:1])
    assert process_report(asked[0], [empty])["recall"] == process_report(asked[0], [empty])["nugget_coverage"] == 0.0
    assert process_report(asked[0], [text])["n_unscored"] == 1  # a sentence that nobody has judged
    values = process_report(docs()[0], judge_answers([""], docs()[:1]))  # without a judge it is no score either
    assert all(math.isnan(values[key]) for key in KEYS)
    assert values["parse_failures"] == 1 and values["n_sentences"] == 0


def test_missing_verdicts_are_unscored():
    asked = docs(judge="recorded")
    (text,) = judge_answers(["The bay was drained in 1492 [1]. It rained on 410 hectares [2]."], asked[:1])
    assert {row["reason"] for row in json.loads(text)["judgments"]} == {"missing"}
    values = process_report(asked[0], [text])
    assert values["n_unscored"] == 2 and math.isnan(values["recall"])


class Broken:
    """A judge that fails after so many calls."""

    name = "broken"

    def __init__(self, judge, n_calls, error):
        self.judge, self.n_calls, self.error = judge, n_calls, error

    def ask(self, queries):
        self.n_calls -= 1
        if self.n_calls < 0:
            raise self.error
        return self.judge.ask(queries)


@pytest.mark.parametrize("error", [RuntimeError("CUDA out of memory"), DataError("disk full"), MemoryError()])
@pytest.mark.parametrize("n_calls", [0, 1])
def test_a_judge_that_fails_never_costs_the_answers(monkeypatch, caplog, error, n_calls):
    from tls_tasks.reports import task as reports

    yes = CallableJudge(lambda query: True)
    monkeypatch.setattr(reports, "make_judge", lambda spec: Broken(yes, n_calls, error))
    asked, filtered = judged("careful")
    for doc, text in zip(asked, filtered, strict=True):
        value = json.loads(text)
        assert value["report"]["sentences"] and type(error).__name__ in value["judge_error"]
        values = process_report(doc, [text])
        assert values["n_unscored"] >= 1 and math.isnan(values["recall"])
        assert math.isnan(values["citation_support"])
    assert "the judge can't be used" in caplog.text


def test_a_judge_that_can_not_be_made_never_costs_the_answers(caplog):
    asked = docs(judge={"recorded": "nowhere.jsonl"})
    filtered = judge_answers(answers("careful"), asked)
    assert all(json.loads(text)["judge"] == "failed" for text in filtered)
    assert all(math.isnan(process_report(asked[0], [filtered[0]])[key]) for key in KEYS)
    assert "nowhere.jsonl: no such file" in caplog.text


def test_each_question_is_put_once_for_all_reports(monkeypatch):
    from tls_tasks.reports import task as reports

    recorder = Recorder(CallableJudge(lambda query: True))
    monkeypatch.setattr(reports, "make_judge", lambda spec: recorder)
    asked = docs()
    same = [answers("careful")[0]] * 2
    first, second = judge_answers(same, [asked[0], asked[0]])
    keys = [row["key"] for row in recorder.rows()]
    assert len(keys) == len(set(keys)) and json.loads(first)["judgments"] == json.loads(second)["judgments"]


@pytest.mark.parametrize("results", [[], [None], [[]], [3], ["no JSON at all [1]."], ['{"report": 1}'], ["[1]"]])
def test_what_a_users_filter_may_have_made_of_it(results):
    check(process_report(docs()[0], results))


def check(values):
    assert set(values) == {*TASK.table, *(f"{key}_stderr" for key in TASK.jackknife_keys)}
    for key in KEYS:
        assert math.isnan(values[key]) or 0 <= values[key] <= 1
    assert all(values[key] == int(values[key]) >= 0 for key in COUNTS)
    json.dumps(values)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_answers_are_filtered_and_scored(text):
    asked = docs(judge="recorded")[:1]
    (filtered,) = judge_answers([text], asked)
    check(process_report(asked[0], [filtered]))


def test_a_request_without_nuggets_has_no_recall():
    asked = [{**docs(judge="recorded")[0], "nuggets": ""}]
    (text,) = judge_answers(answers("careful")[:1], asked)
    values = process_report(asked[0], [text])
    assert math.isnan(values["recall"]) and values["citation_support"] == 1.0


# ---- micro averages, the answer that a model should write


def ratios(hits, of):
    keys = ("sentence_support", "nugget_coverage")
    return {f"{key}_{part}": value for key in keys for part, value in (("hits", hits), ("of", of))}


def test_micro_averages_leave_out_what_is_not_known():
    result = TASK.table["sentence_support_micro"]
    assert result.value([ratios(1, 4), ratios(0, 0), ratios(1, 1)]) == 0.4
    assert math.isnan(result.value([ratios(0, 0)])) and math.isnan(result.value([]))
    f1 = TASK.table["f1_micro"]
    assert f1.value([ratios(1, 2), ratios(1, 2)]) == 0.5
    assert math.isnan(f1.value([{**ratios(1, 2), "nugget_coverage_of": 0}]))


def test_the_target_scores_perfectly():
    asked = docs()
    filtered = judge_answers(
        [TASK.target(doc) for doc in asked], [{**doc, "judge": '"none"', "limit": 0} for doc in asked]
    )
    for doc, text in zip(asked, filtered, strict=True):
        report = json.loads(text)["report"]
        score = report_eval([report], [json.loads(doc["nuggets"])], shown_documents(doc), agrees)
        assert score.results["recall"] == score.results["precision"] == score.results["f1"] == 1.0


def agrees(query):
    """Every citation holds, and a sentence gives the answers that stand in it."""
    return query.kind == "citation_support" or query.fields.get("answer", "x") in query.fields["sentence"]


# ---- who judges


def test_names_of_judges():
    assert check_judge(None) == check_judge("none") == "none" and make_judge("none") is None
    harness = {"harness": "hf", "model_args": "pretrained=x"}
    assert check_judge(harness).startswith("hf(pretrained=x),loglikelihood,prompts:")


HOST = {"base_url": "http://h", "model": "m"}


@pytest.mark.parametrize(("spec", "error", "message"), CASES["test_judges_that_can_not_work_are_refused_before_a_run"])
def test_judges_that_can_not_work_are_refused_before_a_run(spec, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.jsonl").write_text("")
    with pytest.raises(getattr(errors, error), match=message) as caught:
        check_judge(spec)
    assert "sk-1" not in str(caught.value) and "\n" not in str(caught.value)


def test_the_cache_is_one_file_of_the_users(monkeypatch, tmp_path):
    check_judge(HOST)  # a check opens it
    assert (tmp_path / "cache" / "verdicts.sqlite").exists()
    make_judge({**HOST, "cache": str(tmp_path / "a" / "b.sqlite")})
    assert (tmp_path / "a").is_dir()
