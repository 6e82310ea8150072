import json
from pathlib import Path

import pytest

from tests.conftest import ORACLES
from tls_tasks.text.rouge155 import stem

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def test_every_stem_is_that_of_rouge_155():
    rows = [line.split("\t") for line in (ORACLES / "rouge155_stems.tsv").read_text().splitlines()]
    assert len(rows) == 4000
    assert [(word, stem(word)) for word, _ in rows] == [(word, expected) for word, expected in rows]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *CASES["the_rules_one_by_one"],
        ("caresses", "caress"),  # step 1a
        ("agreed", "agre"),  # step 1b, then 5
        ("happy", "happi"),  # step 1c
        ("geology", "geologi"),  # logi wants a measure above 0 before it
        ("replacement", "replac"),  # Lin: ement
        ("adjustment", "adjust"),  # ment
        ("independent", "independ"),  # ent
        ("yes", "ye"),  # y at the head is a consonant, and comes back lower-case
        ("2000s", "2000"),  # digits are consonants
    ],
)
def test_the_rules_one_by_one(word, expected):
    assert stem(word) == expected
