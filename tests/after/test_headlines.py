"""A lazy, a silent and a careful system on the board: the headline of each family puts the careful one first."""

import json
import re
from dataclasses import replace

import pytest

from tests.after.conftest import only
from tls_tasks.after.scored_runs import score_places
from tls_tasks.after.submission.leaderboard import site
from tls_tasks.after.submission.verification import Verified
from tls_tasks.registry import find_task

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

HEADLINES = {
    "tls_crisis": "ar1_f1",
    "summ_qmsum": "rouge_l_f1",
    "evidence_journals": "evidence_f1",
    "tree_extraction": "f1_value",
    "report_generation": "f1",
}


def beginning(row, n):
    """A judged report's first sentences."""
    judged = json.loads(row["filtered_resps"][0])
    return json.dumps({**judged, "report": {**judged["report"], "sentences": judged["report"]["sentences"][:n]}})


def silent(task, row):
    if task != "report_generation":
        return ""
    return json.dumps({**json.loads(row["filtered_resps"][0]), "report": None, "judgments": []})  # as a judge leaves it


def lazy(task, row):
    """One thing that is surely right, and nothing else."""
    target = find_task(task).target(row["doc"])
    if task == "report_generation":
        return beginning(row, 1)
    if task == "tree_extraction":
        return json.dumps(dict(list(json.loads(target).items())[:1]))
    if task == "evidence_journals":
        return json.dumps(json.loads(target)[:1])
    return target.splitlines()[0] if task == "tls_crisis" else " ".join(target.split()[:1])


def careful(task, row):
    """The baseline's answer; of timelines, where its words are rarely the reference's, half of the reference."""
    lines = find_task(task).target(row["doc"]).splitlines()
    return "\n".join(lines[::2]) if task == "tls_crisis" else row["filtered_resps"][0]


@pytest.mark.parametrize("task", HEADLINES)
def test_the_careful_system_leads(made_runs, tmp_path, task):
    path = only(made_runs / "base", f"samples_{task}_*")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    systems = {}
    for name, answer in (("a/silent", silent), ("b/lazy", lazy), ("c/careful", careful)):
        log = tmp_path / name / path.name
        log.parent.mkdir(parents=True)
        changed = ({**row, "filtered_resps": [answer(task, row)]} for row in rows)
        log.write_text("".join(json.dumps(row) + "\n" for row in changed), encoding="utf-8")
        [scored] = score_places([log])
        assert scored.headline == next(iter(scored.ranked)) == HEADLINES[task]
        systems[name] = Verified([], {"model": name}, [replace(scored, results={"date": 0})])
    board = site(systems)
    ranking = re.findall(r'<th scope="row">([abc]/\w+)</th>', board[: board.index("<details>")])
    assert ranking == ["c/careful", "b/lazy", "a/silent"] and f"Ranked by {HEADLINES[task]}" in board
