"""The exact engine against ROUGE-1.5.5's own counts, and the rules that one trips over, one by one."""

import json
from pathlib import Path

import pytest

from tests.conftest import ORACLES, read_jsonl
from tls_tasks.core.score import Counts
from tls_tasks.text.rouge155 import _irregular_forms, _stopwords, is_mostly_unseen, rouge_counts, tokenize

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

ROWS = read_jsonl(ORACLES / "rouge155_counts.jsonl")


def test_the_oracle_is_there():
    assert len(ROWS) == 150
    assert sum(row["counts"]["h2"] > 0 for row in ROWS) > 20  # a file of zeros would prove nothing


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_all_six_counts_are_those_of_rouge_155(row):
    for n in (1, 2):
        hits, predicted, reference = (row["counts"][f"{letter}{n}"] for letter in "hpm")
        assert rouge_counts(row["prediction"], row["references"], n) == Counts(hits, predicted, hits, reference)


@pytest.mark.parametrize(("sentence", "expected"), [case for case in CASES["words"] if isinstance(case, list)])
def test_words(sentence, expected):
    assert tokenize(sentence) == expected


def test_bigrams_cross_sentences_and_a_single_word_has_none():
    split, joined = ["Police clash", "protesters flee"], ["Police clash protesters flee"]
    assert rouge_counts(split, [joined], 2) == Counts(3, 3, 3, 3)
    assert rouge_counts(["Cairo"], [["Cairo"]], 2) == Counts(0, 0, 0, 0)


def test_hits_are_clipped_for_each_reference_and_totals_summed():
    assert rouge_counts(["police police"], [["police"], ["police police police"]], 1) == Counts(3, 4, 3, 4)


def test_stop_words_and_stemming_can_be_switched_off():
    sentence = "The protesters went"
    assert tokenize(sentence, remove_stopwords=False) == ["the", "protest", "go"]
    assert tokenize(sentence, use_stemmer=False) == ["protesters"]
    assert tokenize(sentence, remove_stopwords=False, use_stemmer=False) == ["the", "protesters", "went"]


def test_the_word_lists_are_whole():
    assert len(_stopwords()) == 596
    assert len(_irregular_forms()) == 5930
    assert _irregular_forms()["geese"] == "goose"


@pytest.mark.parametrize(
    ("text", "unseen"),
    [("Cairo", False), ("", False), ("開羅 Cairo", False), ("開羅爆發抗議 A", True), ("Каир", True), ("— … ’", False)],
)
def test_texts_that_the_engine_does_not_see(text, unseen):
    assert is_mostly_unseen(text) is unseen
