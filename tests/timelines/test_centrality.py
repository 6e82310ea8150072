"""How central texts are, by hand."""

import math

import pytest

from tls_tasks.timelines.prompts import centrality


def test_the_sum_of_cosines_by_hand():
    # df: cairo 2, army 1, rain 1; n = 2. Vectors (log 2, log 3) / length; they share "cairo" only.
    length = math.hypot(math.log(2), math.log(3))
    shared = (math.log(2) / length) ** 2
    assert centrality(["cairo army", "cairo rain"]) == pytest.approx([1 + shared, 1 + shared])


@pytest.mark.parametrize("texts", [[], [""], ["", "?!"]])
def test_texts_without_words_are_not_central(texts):
    assert centrality(texts) == [0.0] * len(texts)


def test_what_repeats_the_others_is_most_central():
    scores = centrality(["army in cairo", "army in cairo waits", "it rains"])
    assert scores[2] < min(scores[:2])
