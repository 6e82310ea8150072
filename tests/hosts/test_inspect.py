"""Inspect as a second host: real runs of ``inspect eval`` and ``inspect score``, with the numbers of lm-eval."""

import hashlib
import math
import subprocess
import sys
from pathlib import Path

import pytest

import tls_tasks
from tests.data.test_own_data import CUSTOM
from tests.harness_parts import in_thread, manager, run_here
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.score import Score
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.hosts.discovery import task_files

pytest.importorskip("lm_eval")
inspect_ai = pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")

from inspect_ai._util.registry import registry_create  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import read_eval_log, recompute_metrics  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))


def output(text):
    said = ModelOutput.from_content("mockllm", text)
    said.usage = ModelUsage()  # without it the model fetches a tokeniser, to count
    return said


def answer_to(task, doc):
    """By chance, but the same in both hosts: what is asked for, a part of it, a refusal, or nothing."""
    target = task.target(doc)
    place = hashlib.sha256(task.prompt(doc).encode()).digest()[0] % 6
    return (target, target[: len(target) // 2], target[len(target) // 3 :], "I can't help.", "", target)[place]


def run_inspect(name, answer=answer_to, *, epochs=None, limit=None, **options):
    """The log of a run, and what the model was asked."""
    task, asked = tls_tasks.task(name), []
    known = {option: value for option, value in options.items() if option in task.options}
    answers = {task.prompt(doc): answer(task, doc) for doc in task.documents(**known)}

    def say(messages, tools, tool_choice, config):
        asked.append((messages, config))
        return output(answers.get(messages[-1].text, ""))

    log = evaluated(f"tls_tasks/{name}", say, task_args=options, epochs=epochs, limit=limit)
    assert log.status == "success", log.error
    return in_thread(read_eval_log, log.location), asked


def evaluated(task, outputs, **options):
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = in_thread(inspect_ai.eval, task, model=model, display="none", log_dir="logs", **options)
    return log


def metrics_of(log, scorer=0):
    return {key: found.value for key, found in log.results.scores[scorer].metrics.items()}


def run_harness(names, metadata):
    """Task -> its results without standard errors of the harness's own."""
    from lm_eval.api.model import LM

    class Fixed(LM):
        def generate_until(self, requests):
            tasks = {request.task_name: tls_tasks.task(request.task_name) for request in requests}
            return [answer_to(tasks[request.task_name], request.doc) for request in requests]

        loglikelihood = loglikelihood_rolling = None

    Fixed.__abstractmethods__ = frozenset()
    return run_here(manager(**metadata), names, Fixed(), bootstrap_iters=0, limit=LIMIT)["results"]


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """A recording in which nothing stands: every verdict is the default of its kind."""
    file = tmp_path_factory.mktemp("judge") / "verdicts.jsonl"
    file.touch()
    yes = {"citation_support": "YES", "negative": "NO", "requires_citation": "YES", "first_instance": "NO"}
    return {"recorded": str(file), "defaults": {**yes, "nugget_agreement": "NO"}}


LIMIT = 10
PUBLIC = [name for name in task_files() if "_custom" not in name]


@pytest.mark.parametrize("names", [PUBLIC, *([name] for name in CUSTOM)], ids=lambda names: names[0])
def test_every_task_has_the_numbers_of_lm_eval(names, judge):
    where = {"data": str(EMBEDDED / CUSTOM[names[0]])} if names[0] in CUSTOM else {"edition": "embedded"}
    expected = run_harness(names, {**where, "judge": judge})
    n_compared = 0
    for name in names:
        task = tls_tasks.task(name)
        log, asked = run_inspect(name, limit=LIMIT, **where, **({"judge": judge} if task.judge else {}))
        found = metrics_of(log)
        for key, value in expected[name].items():
            key = key.removesuffix(",none")
            if key in task.table or key.removesuffix("_stderr") in task.with_errors:
                if value == "N/A":
                    assert key not in found
                    continue
                assert found[key] == pytest.approx(value, abs=1e-12, nan_ok=True), (name, key)
                n_compared += not math.isnan(value)
        generation = task_files()[name].config["generation_kwargs"]
        assert (asked[0][1].max_tokens, asked[0][1].stop_seqs) == (generation["max_gen_toks"], generation["until"])
    assert n_compared >= 4 * len(names)


def inspect_score(log, scorer):
    """``inspect score``, as it is typed, by a process that has only the log."""
    arguments = ["score", log.location, "--scorer", scorer, "--action", "append", "--output-file", "again.eval"]
    Path("again.eval").unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-m", "inspect_ai", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return in_thread(read_eval_log, "again.eval")


def test_a_log_is_scored_again_from_itself_alone():
    log, _ = run_inspect("tls_crisis", edition="embedded")
    documents = {doc["doc_id"]: doc for doc in tls_tasks.task("tls_crisis").documents(edition="embedded")}
    assert {sample.id: sample.metadata for sample in log.samples} == documents
    again = score_here(log, "tls_crisis")
    assert metrics_of(again, 1) == metrics_of(log) and again.results.scores[1].name == "tls_crisis1"
    again = inspect_score(log, "tls_tasks/tls_crisis")
    assert metrics_of(again, 1) == pytest.approx(metrics_of(log), abs=1e-12, nan_ok=True)
    answers = [(sample.metadata, sample.output.completion) for sample in log.samples]
    task = tls_tasks.task("tls_crisis")
    units, topics = [task.process(*pair) for pair in answers], [doc["topic"] for doc, _ in answers]
    errors = Score("tls_crisis", "", units, task.table, topics).standard_errors()
    found = {key: metrics_of(again, 1)[f"{key}_stderr"] for key in errors}
    assert found == pytest.approx(errors, abs=1e-12, nan_ok=True)
    before = metrics_of(again, 1)
    in_thread(recompute_metrics, again)
    assert metrics_of(again, 1) == before


def score_here(log, name):
    scorer = registry_create("scorer", f"tls_tasks/{name}")
    return in_thread(inspect_ai.score, log, scorer, display="none", action="append")


def test_other_peoples_samples_are_refused():
    task = inspect_ai.Task(dataset=[Sample(input="Sum up.", target="x")], scorer=inspect_ai.scorer.match())
    log = evaluated(task, [output("the cat ran")])
    with pytest.raises(InputError, match="a document of summ_qmsum; the function of a metric scores"):
        score_here(log, "summ_qmsum")
    with pytest.raises(OptionError, match="option of the scorer summ_qmsum: got 'stemmer'"):
        registry_create("scorer", "tls_tasks/summ_qmsum", stemmer=True)


def test_what_a_reader_of_the_log_sees():
    answers = iter(["I can't help.", "", "2011-01-25: Protests begin."])
    log, _ = run_inspect("tls_crisis", lambda task, doc: next(answers, "2011-01-25: x"), edition="embedded", limit=3)
    refused, empty, read = [sample.scores["tls_crisis"] for sample in log.samples]
    assert [score.reason for score in (refused, empty, read)] == ["invalid_response_format", "no_response", None]
    assert list(read.value)[:2] == ["ar1_f1", "ar1_precision"] and read.answer == "2011-01-25: Protests begin."
    assert "    date_f1, row 0, reference 0: date_f1 " in read.explanation
    assert log.results.headline.metric == "ar1_f1" and log.eval.task_version == 4
    assert log.eval.metadata["provenance"]["edition"] == "embedded"
    assert refused.metadata["unit"]["parse_failures"] == 1 and refused.metadata["topic"] == "egypt"


def test_a_scorer_that_fails_shows_nan(monkeypatch):
    task = tls_tasks.task("summ_qmsum")
    monkeypatch.setitem(vars(task), "unit", lambda doc, answer: 1 / 0)
    log, _ = run_inspect("summ_qmsum", edition="embedded", limit=2)
    score = log.samples[0].scores["summ_qmsum"]
    assert set(score.value.values()) == {None} and score.reason == "scoring_failed"
    assert math.isnan(metrics_of(log)["rouge_l_f1"]) and "rouge_l_f1_stderr" not in metrics_of(log)


def test_every_epoch_counts_and_documents_stay_together():
    said = iter(range(100))
    task = tls_tasks.task("summ_dialogsum")

    def say(messages, tools, tool_choice, config):
        return output("Tom moves his appointment." if next(said) % 2 else "A dog.")

    log = evaluated("tls_tasks/summ_dialogsum", say, task_args={"edition": "embedded"}, epochs=2)
    documents = {doc["doc_id"]: doc for doc in task.documents(edition="embedded")}
    answered = [(documents[sample.id], sample.output.completion) for sample in log.samples]
    expected = task.results([task.process(*pair) for pair in answered])
    found = metrics_of(log)
    assert len(answered) == 6
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-12, nan_ok=True)
    by_document = {}
    for doc, answer in answered:
        by_document.setdefault(doc["doc_id"], []).append(task.process(doc, answer)["rouge_l_f1"])
    means = [sum(own) / len(own) for own in by_document.values()]
    mean = sum(means) / 3
    error = math.sqrt(sum((own - mean) ** 2 for own in means) / 2 / 3)
    assert found["rouge_l_f1_stderr"] == pytest.approx(error, abs=1e-12, nan_ok=True)


def test_options_of_a_task():
    log, asked = run_inspect("tls_crisis", edition="embedded", context_budget=300, num_fewshot=1, limit=1)
    _, answer, question = asked[0][0]
    (example, *_) = tls_tasks.task("tls_crisis").fewshot("tls_crisis")
    assert answer.text == tls_tasks.task("tls_crisis").target(example) and answer.role == "assistant"
    assert len(question.text) < 3000 and log.eval.metadata["context_budget"] == 300
    for options, error, said in (
        ({"edtion": "embedded"}, OptionError, "option of tls_crisis: got 'edtion'.*did you mean 'edition'"),
        ({"num_fewshot": 99}, InputError, "num_fewshot: got 99, expected a whole number up to"),
        ({"provenance": {}}, OptionError, "option of tls_crisis: got 'provenance'"),
    ):
        with pytest.raises(error, match=said):
            registry_create("task", "tls_tasks/tls_crisis", **options)


def test_prompts_fit_the_context_that_is_told():
    _, asked = run_inspect("summ_qmsum", edition="embedded", max_length=400, limit=2)
    assert asked[0][1].max_tokens == 256  # least_answer_tokens
