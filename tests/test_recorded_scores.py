"""The numbers of every metric are those of tests/recorded/scores.json, bit for bit."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest

from tests.conftest import ROOT

SHOWN = 20


def load_script():
    """scripts/ is no package: load the file."""
    spec = importlib.util.spec_from_file_location("record_scores", ROOT / "scripts" / "record_scores.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


record_scores = load_script()
RECORDED = record_scores.read_recorded()
CASES = record_scores.read_cases()
METRICS = record_scores.metrics_in(RECORDED["scores"])
REMEDY = """
If that is intended: raise the metric's VERSION, then run `python scripts/record_scores.py`. If not, compare the output
of `python scripts/record_scores.py --show ID` here and in an earlier checkout."""


@pytest.fixture(scope="module")
def computed():
    return record_scores.compute_all()


def test_every_number_is_the_recorded_one(computed):
    changes = record_scores.changes(RECORDED["scores"], computed)
    shown = "\n".join(map(str, changes[:SHOWN]))
    rest = f"\n… and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
    assert not changes, f"{len(changes)} numbers changed:\n{shown}{rest}\n{REMEDY}"


@pytest.mark.parametrize("metric", METRICS)
def test_the_history_ends_with_the_recorded_numbers(metric):
    scores, entries = RECORDED["scores"], RECORDED["history"][metric]
    versions = [entry["version"] for entry in entries]
    assert versions == sorted(set(versions)), "each version has one entry, in order"
    last = entries[-1]
    assert last["version"] == record_scores.version_of(scores, metric), REMEDY
    assert last["sha256"] == record_scores.digest_of(scores, metric), (
        f"scores.json was edited, or the version of {metric} was not raised.\n{REMEDY}"
    )


@pytest.mark.parametrize("case", [case for case in CASES if "corpus" in case.id], ids=lambda case: case.id)
def test_results_without_details_are_the_same(case):
    for metric in case.metrics:
        plain = record_scores.compute(case, metric, detailed=False)
        detailed = record_scores.compute(case, metric)
        assert plain and plain.items() <= detailed.items()


def test_every_metric_is_recorded():
    import tls_tasks

    lacking = sorted(set(tls_tasks.METRICS) - set(METRICS))
    assert not lacking, (
        f"{lacking}: add cases to tests/recorded/answers.jsonl, then run `python scripts/record_scores.py`"
    )
    assert sorted(tls_tasks.METRICS) == METRICS


def test_no_case_raises():
    assert [
        id_ for id_, by_metric in RECORDED["scores"].items() for found in by_metric.values() if "error" in found
    ] == []


def test_case_ids_are_unique():
    ids = [case.id for case in CASES]
    assert len(ids) == len(set(ids))


# --- the script itself ---


def scores_of(value, version=1):
    return {"case": {"date_f1": {"date_f1": value, "signature": f"date_f1|days:0|v:{version}"}}}


def test_changes_tell_every_difference():
    before = {"a": {"m": {"x": 0.3, "y": 1, "z": None}}, "b": {"m": {"x": 0.0}}}
    after = {"a": {"m": {"x": 0.1 + 0.2, "y": 1.0, "w": "NaN"}}}
    assert [str(change) for change in record_scores.changes(before, after)] == [
        "a m x: recorded 0.3, now 0.30000000000000004",
        "a m y: recorded 1, now 1.0",
        "a m z: recorded null, now nothing",
        'a m w: recorded nothing, now "NaN"',
        "b m x: recorded 0.0, now nothing",
    ]


def test_flatten_gives_numbers_with_their_paths():
    value = {
        "f1": 0.5,
        "items": [{"row": 0, "flags": ["a"], "ci": (0.1, float("nan"))}],
        "ok": True,
        "signature": "m|v:1",
    }
    assert dict(record_scores.flatten(value)) == {
        "f1": 0.5, "items.0.row": 0, "items.0.ci.0": 0.1, "items.0.ci.1": "NaN", "ok": True, "signature": "m|v:1",
    }  # fmt: skip


def test_other_numbers_need_another_version_or_a_reason():
    first = record_scores.updated_history({}, scores_of(0.5))
    assert record_scores.updated_history(first, scores_of(0.5)) == first
    with pytest.raises(record_scores.SameVersionError, match="its version is still 1"):
        record_scores.updated_history(first, scores_of(0.6))
    rewritten = record_scores.updated_history(first, scores_of(0.6), "a case was added")["date_f1"]
    assert len(rewritten) == 1 and rewritten[0]["rewritten"] == ["a case was added"]
    second = record_scores.updated_history(first, scores_of(0.6, version=2))
    assert [entry["version"] for entry in second["date_f1"]] == [1, 2]
    with pytest.raises(record_scores.SameVersionError, match="older"):
        record_scores.updated_history(second, scores_of(0.5))


def test_the_written_file_is_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(record_scores, "SCORES", tmp_path / "scores.json")
    history = record_scores.updated_history({}, scores_of(0.1))
    record_scores.write_recorded(history, scores_of(0.1))
    assert record_scores.read_recorded() == {"history": history, "scores": scores_of(0.1)}
    assert json.loads((tmp_path / "scores.json").read_text())["history"] == history
