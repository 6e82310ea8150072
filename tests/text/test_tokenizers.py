import json
import unicodedata
from pathlib import Path

import pytest

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.summaries.rouge_l import rouge_l
from tls_tasks.text.rouge155 import NonAsciiWarning, tokenize
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


@pytest.mark.parametrize(
    "script", ["ประชาชนชุมนุมประท้วงรัฐบาล", "ຊາວບ້ານຈັດການຊຸມນຸມໃນນະຄອນ", "ប្រជាពលរដ្ឋធ្វើបាតុកម្មប្រឆាំង", "လူထုဆန္ဒပြပွဲကျင်းပခဲ့သည်"]
)
def test_scripts_without_blanks_are_split_by_letter_and_warned_of(script):
    """Thai, Lao, Khmer, Burmese: of two texts that differ in their last letter most is shared."""
    with pytest.warns(NonAsciiWarning, match="written without blanks"):
        assert rouge_l([script[:-3]], [script])["rouge_l_f1"] == 0
    assert 0.8 < rouge_l([script[:-3]], [script], tokenizer="unicode")["rouge_l_f1"] < 1


def test_letters_apart_from_their_marks_are_equal_for_unicode_and_warned_of_by_others():
    composed, decomposed = "Café à São Paulo", unicodedata.normalize("NFD", "Café à São Paulo")
    assert rouge_l([decomposed], [composed], tokenizer="unicode")["rouge_l_f1"] == 1
    with pytest.warns(NonAsciiWarning, match="marks are apart"):
        assert rouge_l([decomposed], [composed])["rouge_l_f1"] < 1
