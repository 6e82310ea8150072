import pytest

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.text.tokenizers import resolve_tokenizer, unicode_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("የግብፅ ተቃውሞ።", ["የግብፅ", "ተቃውሞ"]),
        ("احتجاجات في القاهرة", ["احتجاجات", "في", "القاهرة"]),
        ("కైరోలో నిరసనలు", ["కైరోలో", "నిరసనలు"]),
        ("开罗爆发抗议。", ["开", "罗", "爆", "发", "抗", "议"]),
        ("カイロで抗議", ["カ", "イ", "ロ", "で", "抗", "議"]),
        ("Ìfẹ̀hónúhàn ní Cairo", ["ìfẹ̀hónúhàn", "ní", "cairo"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
        ("", []),
    ],
)
def test_unicode_words(text, words):
    assert unicode_words(text) == words


def test_a_tokenizer_is_a_name_or_a_function():
    assert resolve_tokenizer("unicode") is unicode_words
    assert resolve_tokenizer(str.split) == str.split
    assert resolve_tokenizer("rouge155", remove_stopwords=False)("The day") == ["the", "day"]
    with pytest.raises(OptionError, match=r"tokenizer: got 'rouge', expected one of 'rouge155', 'unicode'"):
        resolve_tokenizer("rouge")
    with pytest.raises(InputError, match="tokenizer: got 3, expected a name"):
        resolve_tokenizer(3)
