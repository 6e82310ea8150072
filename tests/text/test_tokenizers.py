import json
from pathlib import Path

import pytest

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.text.rouge155 import tokenize
from tls_tasks.text.tokenizers import as_written, find_tokenizer, unicode_words

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
    ("tokenised", "written"),
    [
        ("Egypt 's Anti - government camp , in Tahrir .", "Egypt's Anti-government camp, in Tahrir."),
        ("It was n't al - Assad , he said .", "It wasn't al-Assad, he said."),
        ('The " neutral " army , he says , " waits . "', 'The "neutral" army, he says, "waits."'),
        ("He says ' no winds of war ' ( AP ) .", "He says 'no winds of war' (AP)."),
        ("The workers ’ pay , $ 5 : 50 % less !", "The workers’ pay, $5: 50% less!"),
        ("CAIRO - Protests go on , 2 - 1 .", "CAIRO - Protests go on, 2-1."),
    ],
)
def test_tokenised_text_is_joined_back_and_other_text_stays(tokenised, written):
    assert as_written([tokenised]) == [written] == as_written([written])
    assert as_written([tokenised, "Cairo , Suez .", "All - in"]) == [written, "Cairo, Suez.", "All-in"]
    assert as_written([tokenised, "In Cairo.", "In Suez.", "All - in"])[1:] == ["In Cairo.", "In Suez.", "All - in"]
