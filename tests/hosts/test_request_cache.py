"""``--cache_requests`` with another budget: the harness asks its old questions, and score and submit say so."""

import shutil

import pytest

from tests.made_runs import make_run
from tls_tasks.after.scored_runs import score_places
from tls_tasks.after.submission.checks import refusals
from tls_tasks.cli import main
from tls_tasks.data.sources import EMBEDDED

pytest.importorskip("lm_eval")

pytestmark = pytest.mark.filterwarnings("ignore")

TASK = "summ_qmsum"


def test_score_and_submit_name_the_cache(tmp_path, monkeypatch, capsys):
    from lm_eval.caching import cache

    from tls_tasks.hosts.models import LeadLM

    monkeypatch.setattr(cache, "PATH", str(tmp_path / "requests"))  # LM_HARNESS_CACHE_PATH is read once a process
    data = tmp_path / "data"
    shutil.copytree(EMBEDDED / TASK, data / TASK)
    for name, budget in (("first", 300), ("second", 100)):
        metadata = {"data": str(data), "context_budget": budget}
        make_run(tmp_path / name, LeadLM(), [TASK], metadata=metadata, cache_requests=True)
    assert main(["score", str(tmp_path / "first")]) == 0
    assert "not the prompts" not in capsys.readouterr().err
    assert main(["score", str(tmp_path / "second")]) == 1
    told = capsys.readouterr().err
    assert f"{TASK}: not the prompts of their documents: 3 of 3 requests" in told and "--cache_requests" in told
    first, second = (
        [one for one in refusals(list(score_places([tmp_path / name])), "acme/lead", 0) if one.startswith("prompts: ")]
        for name in ("first", "second")
    )
    assert not first
    (refused,) = second
    assert "LM_HARNESS_CACHE_PATH" in refused and refused.endswith("run it again with --cache_requests refresh")
