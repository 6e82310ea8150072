"""Small news-tls folders to read, and a process that can reach neither the network nor the user's own caches."""

import gzip
import json
from pathlib import Path

import pytest

from tls_tasks.cli.prepare import read_prepared
from tls_tasks.data import sources

SHARED = Path(__file__).parents[1] / "../shared/data"


@pytest.fixture
def isolated(monkeypatch, tmp_path):
    """No TLS_TASKS_DATA, no network, an empty hub cache; every test may be the first to warn."""
    import datasets
    import huggingface_hub

    monkeypatch.delenv(sources.DATA_VARIABLE, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for module in (huggingface_hub.constants, huggingface_hub.file_download):  # older releases have a copy of it there
        monkeypatch.setattr(module, "HF_HUB_CACHE", str(tmp_path / "hub-cache"), raising=False)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets-cache")
    monkeypatch.setattr(sources, "_warned", set())


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    """An empty cache of verdicts, answers and fetched files."""
    monkeypatch.setenv("TLS_TASKS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def shared_data():
    """The real data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("no shared/data beside the checkout")
    return SHARED


def write_lines(path, rows):
    """Write JSON Lines, compressed where the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


TIMELINES = [
    [["2011-01-25T00:00:00", ["Protests begin."]], ["2011-01-28T00:00:00", ["The army is deployed.", "Curfew."]]],
    [["2011-02-11T00:00:00", ["Mubarak resigns."]]],
]
ARTICLES = [
    {
        "id": "a1",
        "time": "2011-01-25T10:00:00",
        "title": "Cairo",
        "sentences": ["Egypt is in shock.", "It rains a lot."],
    },
    {"id": "a2", "time": "2011-01-28T00:00:00", "title": None, "sentences": ["The army is in Cairo."]},
]


def write_topic(folder, timelines=TIMELINES, articles=ARTICLES, keywords=("egypt",), article_file="articles.jsonl.gz"):
    """Write one topic folder; None leaves a file out."""
    write_lines(folder / "timelines.jsonl", timelines)
    if articles is not None:
        write_lines(folder / article_file, articles)
    if keywords is not None:
        (folder / "keywords.json").write_text(json.dumps(keywords))
    return folder


@pytest.fixture
def topic_writer():
    """``write_topic``."""
    return write_topic


@pytest.fixture
def crisis(tmp_path):
    """A data set folder with two topics that have articles."""
    folder = tmp_path / "data" / "crisis"
    write_topic(folder / "egypt")
    write_topic(folder / "libya", keywords=["libya"])
    return folder


def prepare(name, source, out, *, licence=None):
    """Run ``tls-tasks prepare``; returns what it says of the data."""
    prepared = read_prepared(name, source)
    prepared.write(out, licence)
    return prepared.counts
