"""The harness's own tasks, run with a tiny model: their logged numbers are made again, and scored with our metrics."""

import json
import math
import shutil
from pathlib import Path

import pytest

from scripts import make_stock_table
from tests.after import stock_tasks
from tests.after.conftest import change_rows, only
from tests.cli.conftest import refused, run
from tests.conftest import made_once
from tls_tasks.after.scored_runs import read_runs

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

OWN_FUNCTIONS = {"cb": {"f1": "cb_multi_fi"}, "super_glue-multirc-t5-prompt": {"f1": "agg_f1", "em": "agg_em"}}


@pytest.fixture(scope="session")
def stock_run(tmp_path_factory):
    """Files of one run of the harness over all stock tasks; read only."""
    for package in ("lm_eval", "torch", "transformers"):
        pytest.importorskip(package)
    return made_once(tmp_path_factory, "stock", stock_tasks.make_run)


def samples(folder, name):
    return only(folder / "out", f"samples_{name}_2*.jsonl")


def test_every_number_is_made_again_or_stands_under_another_name(stock_run):
    runs = {run.name: run for run in read_runs([stock_run / "out"])}
    assert sorted(runs) == sorted(stock_tasks.TASKS) and len(runs) >= 20
    telling, n_alone = 0, 0
    for name, of_task in json.loads(only(stock_run / "out", "results_*.json").read_text())["results"].items():
        reported = {key: value for key, value in of_task.items() if isinstance(value, float) and "stderr" not in key}
        made = {key if "," in key else f"{key},none": value for key, value in runs[name].metrics.items()}
        filters = {key.partition(",")[2] for key in reported}
        made |= {f"{key},{f}": value for f in filters for key, value in runs[name].metrics.items() if "," not in key}
        own = OWN_FUNCTIONS.get(name, {})
        for key, value in reported.items():
            metric = key.partition(",")[0]
            if {f"{metric} (mean of documents)", f"{key} (mean of documents)"} & runs[name].metrics.keys():
                assert key not in made
                n_alone += metric not in own
            elif metric not in own:
                assert made[key] == pytest.approx(value, abs=1e-9, rel=1e-9), (name, key)
                telling += value not in (0.0, 1.0)
        said = [problem.detail for problem in runs[name].problems]
        assert len(said) == len(own)
        for line, (key, function) in zip(said, own.items(), strict=True):
            assert line.startswith(f"{name}: {key}: reported as ") and function in line and key not in made
    assert telling >= 20 <= 10 * n_alone, "0 and 1 prove little"


def test_without_a_results_file_the_numbers_are_the_same(stock_run, tmp_path):
    whole = {run.name: run.metrics for run in read_runs([stock_run / "out"])}
    for name in ("lambada_openai", "wikitext", "wmt16-de-en", "mrpc", "drop", "gsm8k"):
        shutil.copy(samples(stock_run, name), tmp_path)
    alone = {run.name: run.metrics for run in read_runs([tmp_path])}
    assert alone == {name: pytest.approx(whole[name], rel=1e-12) for name in alone} and len(alone) == 6


def test_numbers_as_text_and_rows_without_their_metrics_names_as_older_releases_wrote_them(stock_run, tmp_path):
    shutil.copytree(stock_run / "out", tmp_path / "out")

    def older(rows):
        for row in rows:
            row |= {key: str(row[key]) for key in row.pop("metrics") if isinstance(row[key], float)}

    for path in tmp_path.glob("out/*/samples_*"):
        change_rows(path, older)
    before = {run.name: run.metrics for run in read_runs([stock_run / "out"])}
    after = {run.name: run.metrics for run in read_runs([tmp_path / "out"])}
    del before["lambada_openai"], after["lambada_openai"]  # a perplexity was always a number
    assert after == before


def test_a_metric_of_ours_over_answers_of_theirs(stock_run, capsys):
    """The model says "7" where the answers are 6, 7 and 8 in turn, and "7, the baker said." to the translations."""

    def score(name, *arguments):
        file = samples(stock_run, name)
        code, out, err = run("score", capsys, file, "--metric", "rouge_l", *arguments, "--json", "-")
        assert (code, err) == (0, "")
        return json.loads(out)

    (found,) = score("triviaqa", "--map", "reference=answer.aliases")
    assert found["metrics"]["rouge_l_f1"] == pytest.approx(1 / 3) and found["n_documents"] == 12
    (first,) = score("triviaqa", "--map", "reference=doc.answer.aliases.1")
    assert first["metrics"]["rouge_l_recall"] == pytest.approx(1 / 6)
    (found,) = score("wmt16-de-en", "--confidence", "0.9")
    assert found["metrics"]["rouge_l_f1"] == pytest.approx((8 * 2 * 3 / 10 + 4 * 2 * 4 / 10) / 12)
    assert found["intervals"]["rouge_l_f1"][0] < found["metrics"]["rouge_l_f1"] < found["intervals"]["rouge_l_f1"][1]
    both = score("gsm8k", "--map", "reference=doc.answer")
    assert [one["task"] for one in both] == ["gsm8k,strict-match", "gsm8k,flexible-extract"]
    assert not any(math.isnan(one["metrics"]["rouge_l_f1"]) for one in both)


@pytest.mark.parametrize(("name", "fields", "words"), CASES["test_what_cannot_be_mapped_is_said_in_one_line"])
def test_what_cannot_be_mapped_is_said_in_one_line(stock_run, capsys, name, fields, words):
    maps = [word for text in fields for word in ("--map", text)]
    file = samples(stock_run, name)
    err = refused("score", capsys, file, "--metric", "rouge_l", *maps, said=words)
    assert "--map: " in err or f"{file}:1: " in err


def test_the_page_has_the_table_of_this_run(stock_run):
    text = make_stock_table.PAGE.read_text(encoding="utf-8")
    assert make_stock_table.updated(text, stock_tasks.table(stock_run)) == text, "run scripts/make_stock_table.py"
