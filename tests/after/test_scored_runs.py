"""Logs of real harness runs, scored again: untouched, truncated, reordered, doubled and changed."""

import math
import shutil

import pytest

from tests.after.conftest import change_rows, only, put
from tests.conftest import RUNS
from tests.made_runs import make_run
from tls_tasks.after.logs import find_runs, read_samples
from tls_tasks.after.scored_runs import score_places
from tls_tasks.core.errors import DataError, OptionError
from tls_tasks.core.score import Sums, values

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASKS = sorted(name for _, names, _ in RUNS for name in names)


@pytest.fixture
def run(made_runs, tmp_path):
    """A copy of the base system's files, to spoil."""
    shutil.copytree(made_runs / "base", tmp_path / "run")
    return tmp_path / "run"


def samples_file(folder, task):
    return only(folder, f"samples_{task}_*.jsonl")


def scored_in(folder, task="summ_dialogsum"):
    (scored,) = (one for one in score_places([folder]) if one.name == task)
    return scored


@pytest.mark.parametrize("system", ["base", "noisy"])
def test_an_untouched_log_gives_the_harness_numbers(made_runs, system):
    found = {scored.name: scored for scored in score_places([made_runs / system])}
    assert sorted(found) == TASKS
    for scored in found.values():
        assert not scored.problems
        assert list(scored.reported) == list(scored.metrics)
        assert scored.metrics == pytest.approx(scored.reported, abs=1e-12)
        assert any(0 < value < 1 for value in scored.reported.values()), (
            f"{scored.name}: 0 and 1 prove little: its baseline should be right in part (RUNS in tests/conftest.py)"
        )
        assert scored.edition == "embedded"
        assert len(scored.log.samples) == scored.results["n-samples"][scored.name]["effective"]
        assert all("|v:" in signature for signature in scored.signatures.values())


def test_sums_of_documents_are_the_corpus(made_runs):
    """What intervals and tests rest on: the numbers are a function of the units' totals, in any order."""
    for scored in score_places([made_runs / "base"]):
        backwards = values(scored.score.definitions, scored.score.units[::-1], scored.topics[::-1])
        assert backwards == scored.metrics
        sums = Sums.from_score(scored.score)
        assert sums.values(sums.rows.sum(axis=0)) == pytest.approx(scored.metrics, abs=1e-12, nan_ok=True)


def test_the_order_of_the_lines_does_not_matter(run):
    path = samples_file(run, "tls_crisis")
    before = next(iter(score_places([path])))
    change_rows(path, lambda rows: rows[::-1])
    after = next(iter(score_places([path])))
    assert after.metrics == before.metrics and after.ids == before.ids and not after.problems


def test_a_truncated_log_names_the_line_and_the_missing_documents(run):
    path = samples_file(run, "tls_crisis")
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: len(text) - 200], encoding="utf-8")
    scored = scored_in(run, "tls_crisis")
    broken, missing, *others = scored.problems
    assert (broken.kind, broken.place) == ("wrong_row", f"{path}:8") and "the file ends in it" in broken.detail
    assert missing.kind == "missing_documents" and "1 of 8 documents missing: 7" in str(missing)
    assert {problem.kind for problem in others} == {"other_number"}


def test_a_missing_document_in_the_middle_shows_without_a_results_file(run):
    path = samples_file(run, "tls_crisis")
    change_rows(path, lambda rows: rows[:3] + rows[4:])
    assert "1 of 8 documents missing: 3" in str(read_samples(path).problems[0])


def test_doubled_lines_are_named_and_count_once(run):
    path, other = samples_file(run, "summ_dialogsum"), {"filtered_resps": ["Another answer."]}
    change_rows(path, lambda rows: [*rows, rows[0], {**rows[1], **other}])
    scored = scored_in(run)
    same, other = scored.problems
    assert same.kind == other.kind == "repeated_document"
    assert "comes again, with the same answer; line 1 counts" in str(same)
    assert "comes again, with another answer; line 2 counts" in str(other)
    assert not scored.disagreements


def test_a_changed_answer_shows_as_another_number(run):
    path = samples_file(run, "summ_dialogsum")
    change_rows(path, lambda rows: rows[0].update(filtered_resps=[rows[0]["target"]]))
    scored = scored_in(run)
    assert "rouge_l_f1" in scored.disagreements
    assert any("summ_dialogsum: rouge_l_f1 is 0." in str(problem) for problem in scored.problems)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put(1, value=[]), "expected an object, got list"),
        (put(1, "doc_id", value="0"), "`doc_id` is '0', expected a valid integer"),
        (put(1, "doc_id", value=True), "`doc_id` is True, expected a valid integer"),
        (put(1, "doc", value=None), "`doc` is None, expected a valid dictionary"),
        (put(1, value={"doc_id": 1, "doc": {}}), "`filtered_resps` is missing"),
    ],
)
def test_rows_that_are_no_samples_are_named(run, change, words):
    path = samples_file(run, "summ_dialogsum")
    change_rows(path, change)
    log = read_samples(path)
    assert len(log.samples) == 2 and words in str(log.problems[0]) and f"{path}:2" in str(log.problems[0])


def test_a_document_that_was_spoiled_is_nan_and_so_is_the_corpus(run):
    path = samples_file(run, "summ_dialogsum")
    change_rows(path, put(0, "doc", "references", value="not JSON"))
    scored = scored_in(path)
    assert math.isnan(scored.metrics["rouge_l_f1"]) and "rouge_l" in scored.signatures
    [problem] = scored.problems
    assert problem.kind == "unscored_document" and str(problem).startswith(f"{path}:1: document ")


def test_answers_without_scores_are_scored(tmp_path):
    """--predict_only: the harness computes nothing, the log has all that is needed."""
    from tls_tasks.hosts.models import LeadLM

    make_run(tmp_path / "scored", LeadLM(), ["summ_qmsum"])
    make_run(tmp_path / "answers", LeadLM(), ["summ_qmsum"], predict_only=True)
    scored, answers = (next(iter(score_places([tmp_path / name]))) for name in ("scored", "answers"))
    assert answers.reported == {} and not answers.problems
    assert answers.metrics == scored.metrics != {}


def test_of_several_runs_in_a_folder_the_newest_of_each_task(tmp_path):
    from tls_tasks.hosts.models import LeadLM

    make_run(tmp_path, LeadLM(n=1), ["summ_qmsum", "summ_dialogsum"])
    make_run(tmp_path, LeadLM(n=2), ["summ_qmsum"])
    for folder in list(tmp_path.iterdir())[1:]:  # the harness makes up a folder each time for such models
        for path in folder.iterdir():
            path.rename(next(iter(tmp_path.iterdir())) / path.name)
    every, newest = (list(score_places([tmp_path], newest=newest)) for newest in (False, True))
    assert len(every) == 3
    assert sorted(one.name for one in newest) == ["summ_dialogsum", "summ_qmsum"]
    assert {one.name: one.run.date for one in newest}["summ_qmsum"] == max(one.run.date for one in every)


def test_what_is_not_there_or_not_ours(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        find_runs([tmp_path / "nowhere"])
    with pytest.raises(DataError, match="no log there; expected results_<date>"):
        find_runs([tmp_path])
    (tmp_path / "samples_other_2026-01-01T00-00-00.jsonl").write_text("")
    with pytest.raises(DataError, match=r"expected those of a task of ours .*, got other;"):
        list(score_places([tmp_path]))
    with pytest.raises(OptionError, match="task: got 'nix'"):
        list(score_places([tmp_path], task="nix"))
    assert [one.name for one in score_places([tmp_path], task="summ_qmsum")] == ["summ_qmsum"]
    (tmp_path / "results_2026-01-01T00-00-00.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        list(score_places([tmp_path], task="summ_qmsum"))
