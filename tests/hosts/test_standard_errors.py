"""Standard errors as the harness shows them: ours or exact, never its bootstrap, in the table of every family's run."""

import math

import pytest

from tests.conftest import RUNS
from tests.harness_parts import manager, run_here

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

HEADLINES = {
    "DatewiseLM": ("tls", ["ar1_f1", "ar2_f1", "date_f1"]),
    "LeadLM": ("summ", ["rouge_l_f1"]),
    "KeywordLM": ("evid", ["evidence_f1", "evidence_mean_f1"]),
    "RulesLM": ("tree", ["treeval_score", "f1_node"]),
    "ReportLeadLM": ("report_generation", ["recall", "f1", "f1_micro"]),
}


def shown(table):
    """(task or group, metric) -> the cells of its row after the metric's name, of the harness's table."""
    rows, name = {}, ""
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 9:
            name = cells[0].removeprefix("-").strip() or name
            rows[name, cells[4]] = cells[5:]
    return rows


@pytest.mark.parametrize(("model", "tasks", "metadata"), RUNS, ids=[model for model, _, _ in RUNS])
def test_the_table_of_every_family_shows_an_error_beside_its_headline(model, tasks, metadata):
    from lm_eval.utils import make_table

    from tls_tasks.hosts import models

    asked, headlines = HEADLINES[model]
    run = run_here(manager(**(metadata or {})), [asked], getattr(models, model)())
    rows = shown(make_table(run))
    for name in tasks:
        for key in headlines:
            arrow, value, sign, error = rows[name, key]
            assert (arrow, sign) == ("↑", "±"), f"{name}: {key}"
            assert 0 <= float(value) <= 1 and 0 < float(error) < 0.5, f"{name}: {key} is {value} ± {error}"
    for key in headlines if asked in run.get("groups", ()) else ():
        _, value, sign, error = shown(make_table(run, "groups"))[asked, key]
        errors = [run["results"][name][f"{key}_stderr,none"] for name in run["group_subtasks"][asked]]
        pooled = math.sqrt(sum(one**2 for one in errors)) / len(errors)
        assert sign == "±" and 0 < float(error) < 0.5, f"{asked}: {key} is {value} ± {error}"
        assert float(error) == pytest.approx(pooled, abs=1e-4)


def test_nothing_is_bootstrapped(task_manager):
    """The harness draws 100,000 samples of each metric that it averages by ``nanmean``: some five seconds a metric."""
    from lm_eval.api.metrics import mean_stderr, stderr_for_metric

    from tests.test_tasks import NAMES

    for name in [name for name in NAMES if "_custom" not in name]:  # those report what the others do
        has_load = hasattr(task_manager, "load")
        found = task_manager.load([name])["tasks"] if has_load else task_manager.load_task_or_group(name)
        for key, aggregate in found[name].aggregation().items():
            assert stderr_for_metric(aggregate, 100_000) in (None, mean_stderr), f"{name}: {key}"


def test_an_error_that_can_not_be_computed_is_the_harness_s_own_word(task_manager):
    """Of one document: no number, and no NaN, which the results file could not hold."""
    from tls_tasks.hosts.models import KeywordLM

    run = run_here(task_manager, ["evidence_journals"], KeywordLM(), limit=1)
    assert run["results"]["evidence_journals"]["evidence_f1_stderr,none"] == "N/A"
