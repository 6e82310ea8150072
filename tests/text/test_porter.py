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
    ("word", "expected"), [case for case in CASES["the_rules_one_by_one"] if isinstance(case, list)]
)
def test_the_rules_one_by_one(word, expected):
    assert stem(word) == expected
