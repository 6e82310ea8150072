"""Numbers made again of what was logged: by which way, and what is said where there is none."""

import json
from pathlib import Path

import pytest

from tls_tasks.after.aggregates import Logged, table_of

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.parametrize(("key", "logged", "expected"), CASES["test_made_again"])
def test_made_again(key, logged, expected):
    """As the mean of its values, where that is what was reported or nothing was."""
    table, (units,), said = table_of([{key: Logged(**logged)}], len(logged["values"]))
    assert not said and table[key].value(units) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("key", "logged", "expected"), CASES["test_what_is_no_mean_is_the_mean_of_documents"])
def test_what_is_no_mean_is_the_mean_of_documents(key, logged, expected):
    """Each document is scored alone, by the harness's own aggregation; of labels it is whether they are equal."""
    table, (units,), said = table_of([{key: Logged(**logged, better=False)}], len(logged["values"]))
    [(name, result)] = table.items()
    assert (name, said, result.better) == (f"{key} (mean of documents)", {}, False)
    assert result.value(units) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("logged", "name", "words"), CASES["test_what_can_not_be_made_again_is_said"])
def test_what_can_not_be_made_again_is_said(logged, name, words):
    table, _, said = table_of([{"x": Logged(**logged)}], len(logged["values"]))
    assert list(table) == [name] * (name is not None) and words in said["x"]
