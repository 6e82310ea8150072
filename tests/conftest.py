"""What all tests share: timelines to try, the oracles, no network, a Hub cache of the run's own."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings
from hypothesis import strategies as st

from tls_tasks.timelines.types import Timeline

pytest_plugins = ["tests.browser", "tests.data_parts", "tests.harness_parts", "tests.mirror"]

ROOT = Path(__file__).parent.parent
ORACLES = Path(__file__).parent / "oracles"
SHARED = ROOT.parent / "shared"

# The same examples on every machine and every run: a red test must be a change's doing.
settings.register_profile("project", derandomize=True, deadline=None, max_examples=80)
settings.load_profile("project")

os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Caches of the run's own: a module or data set that an earlier version left behind must not answer for this one.
_CACHE = tempfile.TemporaryDirectory(prefix="tls-tasks-hf-")
os.environ["HF_HOME"] = _CACHE.name
os.environ["TLS_TASKS_CACHE"] = f"{_CACHE.name}/tls-tasks"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# One thread for each process, set before numpy or torch is imported: the workers of pytest-xdist use all cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")


class ByFamily(dict):
    """Family -> what a test tries of it. Of a family without an entry it says where one is missing."""

    def __init__(self, place, **entries):
        super().__init__(entries)
        self.place = place

    def __missing__(self, family):
        raise LookupError(f"{self.place} lacks the family {family!r}: add an entry like those of the other families")


def timeline_of(rows):
    """``[[iso date, [sentence, …]], …]``, as the oracles write timelines."""
    return Timeline.from_days([(datetime.date.fromisoformat(day), sentences) for day, sentences in rows])


def read_jsonl(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


WORDS = (
    "police protest protests protesters clash army city cities men women child children day days president resigns "
    "the of and in . , -- U.S. 9,000 Cairo cairo egypt x^y café 25"
).split(" ")

SENTENCES = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
DAYS = st.dates(datetime.date(2011, 1, 20), datetime.date(2011, 2, 20))
TIMELINES = st.dictionaries(DAYS, st.lists(SENTENCES, max_size=2), max_size=5).map(Timeline.from_days)


@pytest.fixture
def shared():
    """The folder of real data and oracles beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("no folder shared/ beside the checkout")
    return SHARED


def made_once(tmp_path_factory, name, make):
    """A folder that ``make(folder)`` fills, to be read only: by the first worker that wants it, for all of them."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # each worker has a folder of its own in it
    folder, done = base / name, base / f"{name}.done"
    with FileLock(base / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory):
    """Two systems on real harness runs of all families (``RUNS``): ``base`` and ``noisy``; made once, read only."""
    pytest.importorskip("lm_eval")
    return made_once(tmp_path_factory, "runs", make_runs)


# A family's baseline in tls_tasks/hosts/models.py, tasks that it runs, and the run's --metadata.
RUNS = (
    ("DatewiseLM", ["tls_crisis", "tls_timeline17"], None),
    ("LeadLM", ["summ_dialogsum", "summ_qmsum"], None),
    ("KeywordLM", ["evidence_journals", "evidence_maccrobat"], None),
    ("RulesLM", ["tree_extraction", "tree_paraloq"], None),
    ("ReportLeadLM", ["report_generation"], {"judge": "recorded"}),
)


def make_runs(folder):
    from tests.made_runs import make_run, with_noise
    from tls_tasks.hosts import models

    for name, tasks, metadata in RUNS:
        model = getattr(models, name)
        make_run(folder / "base", model(), tasks, metadata=metadata)
        make_run(folder / "noisy", with_noise(model()), tasks, metadata=metadata)
