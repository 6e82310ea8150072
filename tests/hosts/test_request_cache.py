"""``--cache_requests`` with other data or another budget: real runs, whose prompts are those of their documents."""

import json
import os
import shutil

import pytest

import tls_tasks
from tests.conftest import ROOT
from tests.harness_parts import manager, run_chat, run_here
from tests.made_runs import make_run
from tls_tasks.after.scored_runs import score_places
from tls_tasks.after.submission.checks import refusals
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError
from tls_tasks.data.order import EMBEDDED
from tls_tasks.hosts import lm_eval as hosts_lm_eval

pytest.importorskip("lm_eval")

pytestmark = pytest.mark.filterwarnings("ignore")

TASK = "summ_qmsum"
TOLD = "requests that lm_eval --cache_requests kept may be of other documents"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The harness's cache; it reads ``LM_HARNESS_CACHE_PATH`` once a process."""
    from lm_eval.caching import cache

    monkeypatch.setattr(cache, "PATH", str(tmp_path / "requests"))
    return tmp_path / "requests"


def run(tasks=(TASK,), chat=False, place=ROOT / "task_configs", **metadata):
    from tls_tasks.hosts.models import LeadLM

    options = {"apply_chat_template": chat, "cache_requests": True}
    return run_here(manager(place, **metadata), list(tasks), LeadLM(), **options)


def asked(outcome, task=TASK):
    return [sample["arguments"][0][0] for sample in outcome["samples"][task]]


def prompts(task=TASK, **options):
    own = tls_tasks.task(task)
    return [own.prompt(doc) for doc in own.documents(edition="embedded", **options)]


def kept(folder):
    """The files of requests."""
    return sorted(folder.glob("requests-*"))


def test_what_is_fresh_is_used_again_without_a_word(folder, caplog):
    for _ in range(2):  # from the second run on it is known of which documents they are
        run(context_budget=300)
    (file,) = kept(folder)
    before = file.stat().st_mtime_ns
    caplog.clear()
    assert asked(run(context_budget=300)) == prompts(context_budget=300)
    assert file.stat().st_mtime_ns == before and TOLD not in caplog.text


@pytest.mark.parametrize("chat", [False, True])
def test_another_budget_makes_the_requests_anew_and_names_the_file(folder, caplog, chat):
    run(chat=chat, context_budget=300)
    (file,) = kept(folder)
    second = run(chat=chat, context_budget=100)
    assert asked(second) == prompts(context_budget=100)  # the baseline's chat template is none
    assert f"{TASK}: {TOLD}" in caplog.text and f"removed, and made anew: {file}" in caplog.text
    caplog.clear()
    assert asked(run(chat=chat, context_budget=100)) == prompts(context_budget=100)
    assert TOLD not in caplog.text


def test_requests_of_a_chat_endpoint_are_read(folder, caplog, server):
    """They are kept as JSON, in a class of the harness's."""
    server.answers[""] = "I can't."
    run_chat(manager(context_budget=300), [TASK], server, cache_requests=True)
    for budget, stale in ((300, True), (300, False), (100, True)):
        server.requests.clear()
        caplog.clear()
        run_chat(manager(context_budget=budget), [TASK], server, cache_requests=True)
        shown = {request["messages"][-1]["content"] for request in server.requests}
        assert shown == set(prompts(context_budget=budget))
        assert (TOLD in caplog.text) == stale


def test_fewer_documents_or_another_order_are_seen(tmp_path, folder, caplog):
    rows = [{"id": str(n), "text": f"Text {n}.", "summary": f"Summary {n}."} for n in range(4)]
    for documents in (rows, rows[::-1], rows[:2]):
        data = tmp_path / "data.jsonl"
        data.write_text("\n".join(map(json.dumps, documents)))
        outcome = run(data=str(data))
        shown = [sample["doc"]["text"] in sample["arguments"][0][0] for sample in outcome["samples"][TASK]]
        assert shown == [True for _ in documents]
    assert caplog.text.count(TOLD) == 2


def test_a_run_without_the_option_between_two_with_it(folder):
    """What it is known by stays that of the last documents, whether or not requests were kept."""
    run(context_budget=300)
    for budgets in ((100,), (300, 300), (100,)):
        manager(context_budget=200).load([TASK])
        for budget in budgets:
            assert asked(run(context_budget=budget)) == prompts(context_budget=budget)


def test_prompts_of_another_release_are_seen(folder, caplog, monkeypatch):
    """The documents are the same, and the words around them are not."""
    from tls_tasks.summaries.data import DATA_SETS

    with monkeypatch.context() as before:
        before.setitem(DATA_SETS[TASK].settings, "instruction", "In short?")
        run()
    assert asked(run()) == prompts()
    assert TOLD in caplog.text


def test_a_task_of_the_user_s_own_is_found_by_its_own_name(tmp_path, folder, caplog):
    """Its prompt may be its own, too, and is no sign of anything."""
    mine = tmp_path / "mine"
    mine.mkdir()
    text = f"task: my_meetings\ninclude: {ROOT}/task_configs/summaries/{TASK}.yaml\ndoc_to_text: 'Of {{{{text}}}}?'\n"
    (mine / "mine.yaml").write_text(text)
    for budget, stale in ((300, False), (300, True), (300, False), (100, True)):
        caplog.clear()
        outcome = run(["my_meetings"], place=mine, context_budget=budget)
        assert all(len(request) == budget + 4 for request in asked(outcome, "my_meetings"))
        assert (f"my_meetings: {TOLD}" in caplog.text) == stale


def test_open_and_closed_book_are_told_apart(folder, caplog):
    names = ["tls_crisis", "tls_crisis_closed_book"]
    for _ in range(3):
        outcome = run(names)
        assert [asked(outcome, name) for name in names] == [prompts(name) for name in names]
    assert caplog.text.count(TOLD) == len(kept(folder)) == 2


def test_a_share_of_the_documents_is_a_rank_s(folder, caplog):
    """Two processes keep a file each."""
    for _ in range(2):
        task = manager(context_budget=300).load([TASK])["tasks"][TASK]
        for rank in (0, 1):
            task.build_all_requests(cache_requests=True, rank=rank, world_size=2)
    assert len(kept(folder)) == 2
    caplog.clear()
    manager(context_budget=300).load([TASK])
    assert TOLD not in caplog.text and len(kept(folder)) == 2
    manager(context_budget=100).load([TASK])
    assert caplog.text.count(TOLD) == 1 and not kept(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove everything")
def test_a_file_that_can_not_be_removed_stops_the_run(folder):
    run(context_budget=300)
    folder.chmod(0o555)
    try:
        with pytest.raises(DataError, match=r"stale requests .* set LM_HARNESS_CACHE_PATH to a folder of your own"):
            run(context_budget=100)
    finally:
        folder.chmod(0o755)


# --- a log of such a run, made where nothing looked into the cache ---


def test_score_and_submit_name_the_cache(tmp_path, folder, monkeypatch, capsys):
    from tls_tasks.hosts.models import LeadLM

    data = tmp_path / "data"
    shutil.copytree(EMBEDDED / TASK, data / TASK)
    monkeypatch.setattr(hosts_lm_eval, "drop_stale_requests", lambda *_: None)
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
