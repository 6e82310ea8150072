"""Longest common subsequences against the textbook's table."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.summaries import slow_rouge_l as slow
from tls_tasks.text import lcs

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

FEW = st.sampled_from("abc")
MANY = st.sampled_from([f"w{number}" for number in range(12)])
TEXTS = st.lists(FEW, max_size=40) | st.lists(MANY, max_size=40)


@settings(max_examples=400)
@given(TEXTS, TEXTS)
def test_length_is_the_tables(left, right):
    expected = slow.length_by_two_rows(left, right)
    assert lcs.lcs_length(left, right) == lcs.lcs_length(right, left) == expected


@settings(max_examples=400)
@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_positions_are_the_tables_walk(reference, candidates):
    assert lcs.union_lcs(reference, candidates) == slow.union(reference, candidates)


@pytest.mark.parametrize(
    ("reference", "candidate", "positions"), [case for case in CASES["which_of_equal_ones"] if isinstance(case, list)]
)
def test_which_of_equal_ones(reference, candidate, positions):
    assert slow.union(reference.split(), [candidate.split()]) == positions
    assert lcs.union_lcs(reference.split(), [candidate.split()]) == positions


def test_lins_example():
    """Lin 2004, section 3.2: two sentences meet w1 w2 and w1 w3 w5, together four of five."""
    reference = "w1 w2 w3 w4 w5".split()
    assert len(lcs.union_lcs(reference, ["w1 w2 w6 w7 w8".split(), "w1 w3 w8 w9 w5".split()])) == 4


def long_texts(kind, n_words):
    generator = random.Random(5)
    if kind == "permutation":  # every word once
        left = [f"w{number}" for number in range(n_words)]
        return left, generator.sample(left, n_words)
    if kind == "two words":
        return generator.choices("ab", k=n_words), generator.choices("ab", k=n_words)
    words, weights = [f"w{number}" for number in range(5000)], [1 / (rank + 1) for rank in range(5000)]
    return generator.choices(words, weights, k=n_words), generator.choices(words, weights, k=n_words)


@pytest.mark.parametrize("kind", ["text", "permutation", "two words"])
def test_long_texts_are_exact(kind):
    left, right = long_texts(kind, 2500)
    assert lcs.lcs_length(left, right) == slow.length_by_two_rows(left[:], right)


def test_long_texts_that_are_nearly_equal():
    words = [f"w{number}" for number in range(100_000)]
    assert lcs.lcs_length(words, words) == 100_000
    assert lcs.lcs_length(words, [*words[:500], "x", *words[500:]]) == 100_000
    assert lcs.lcs_length(["a", "a"], ["a", "a", "a"]) == 2
