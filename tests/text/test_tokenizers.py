import json
from pathlib import Path

import pytest

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.text.rouge155 import tokenize
from tls_tasks.text.tokenizers import find_tokenizer, unicode_words
from tls_tasks.timelines.alignment_rouge import alignment_rouge

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.parametrize(("text", "words"), CASES["unicode_words"])
def test_unicode_words(text, words):
    assert unicode_words(text) == words


def test_a_tokenizer_is_a_name_or_a_function():
    known = {"rouge155": tokenize, "unicode": unicode_words}
    assert find_tokenizer("unicode", known) is unicode_words
    assert find_tokenizer(str.split, known) == str.split
    with pytest.raises(OptionError, match=r"tokenizer: got 'rouge', expected one of 'rouge155', 'unicode'"):
        find_tokenizer("rouge", known)
    with pytest.raises(InputError, match="tokenizer: got 3, expected one of"):
        find_tokenizer(3, known)


@pytest.mark.parametrize(
    ("options", "counted"), [({"remove_stopwords": False}, 3), ({"use_stemmer": False}, 2), ({}, 2)]
)
def test_options_of_the_exact_tokenizer(options, counted):
    score = alignment_rouge([{"2011-01-25": "The protests began"}], [{"2011-01-25": "protest"}], **options)
    counts = score.items[0].counts["ar1"]
    assert (counts.predicted, counts.precision_hits) == (counted, options != {"use_stemmer": False})
