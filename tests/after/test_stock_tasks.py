"""The harness's own tasks, run with a tiny model: their logged numbers are made again."""

import json
import shutil

import pytest

from scripts import make_stock_table
from tests.after import stock_tasks
from tests.after.conftest import change_rows, only
from tests.conftest import made_once
from tls_tasks.after.scored_runs import read_runs

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


def test_numbers_as_text_as_the_harness_writes_those_of_numpy(stock_run, tmp_path):
    shutil.copytree(stock_run / "out", tmp_path / "out")

    def as_text(rows):
        for row in rows:
            row |= {key: str(row[key]) for key in row["metrics"] if isinstance(row[key], float)}

    for path in tmp_path.glob("out/*/samples_*"):
        change_rows(path, as_text)
    before = {run.name: run.metrics for run in read_runs([stock_run / "out"])}
    after = {run.name: run.metrics for run in read_runs([tmp_path / "out"])}
    del before["lambada_openai"], after["lambada_openai"]  # a perplexity was always a number
    assert after == before


def test_the_page_has_the_table_of_this_run(stock_run):
    text = make_stock_table.PAGE.read_text(encoding="utf-8")
    assert make_stock_table.updated(text, stock_tasks.table(stock_run)) == text, "run scripts/make_stock_table.py"
