"""Numbers made again of what was logged: by which way, and what is said where there is none."""

import json
from pathlib import Path

import pytest

from tls_tasks.after.aggregates import Logged, table_of

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.parametrize(("key", "logged", "expected"), CASES["test_made_again"])
def test_made_again(key, logged, expected):
    """Where no number is reported, what the metric's name says, and a mean where that says nothing of such values."""
    table, (units,), said = table_of([{key: Logged(**logged)}], len(logged["values"]))
    assert not said and table[key].value(units) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("logged", "name", "words"), CASES["test_what_can_not_be_made_again_is_said"])
def test_what_can_not_be_made_again_is_said(logged, name, words):
    table, _, said = table_of([{"x": Logged(**logged)}], len(logged["values"]))
    assert list(table) == [name] * (name is not None) and words in said["x"]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_scores_of_sentences_are_made_again_of_their_statistics(name):
    sacrebleu = pytest.importorskip("sacrebleu")
    wanted, given = ["the cat sat on the mat", "a dog ran"], ["the cat sat on a mat", "the dog ran off"]
    expected = getattr(sacrebleu, f"corpus_{name}")(given, [wanted]).score
    logged = Logged([list(pair) for pair in zip(wanted, given, strict=True)], name, reported=expected)
    table, (units,), said = table_of([{name: logged}], 2)
    assert not said and len(units) == 2 and table[name].value(units) == pytest.approx(expected)
