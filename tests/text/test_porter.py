import pytest

from tests.conftest import ORACLES
from tls_tasks.text.rouge155 import stem


def test_every_stem_is_that_of_rouge_155():
    rows = [line.split("\t") for line in (ORACLES / "rouge155_stems.tsv").read_text().splitlines()]
    assert len(rows) == 4000
    assert [(word, stem(word)) for word, _ in rows] == [(word, expected) for word, expected in rows]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),  # step 1a
        ("ponies", "poni"),
        ("agreed", "agre"),  # step 1b, then 5
        ("plastered", "plaster"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),  # step 1c
        ("sky", "sky"),
        ("conditional", "condit"),
        ("geology", "geologi"),  # logi wants a measure above 0 before it
        ("possibly", "possibl"),
        ("replacement", "replac"),  # Lin: ement
        ("adjustment", "adjust"),  # ment
        ("independent", "independ"),  # ent
        ("adoption", "adopt"),
        ("yes", "ye"),  # y at the head is a consonant, and comes back lower-case
        ("yyyyyes", "yyyyy"),
        ("a", "a"),
        ("as", "as"),
        ("2000s", "2000"),  # digits are consonants
        ("", ""),
    ],
)
def test_the_rules_one_by_one(word, expected):
    assert stem(word) == expected
