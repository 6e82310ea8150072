"""Tokenisers other than ROUGE-1.5.5's own, for texts that it does not see."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.text import rouge155
from tls_tasks.text.rouge155 import Tokenizer

# Scripts that are written without blanks between words and are compared by character, as the field does.
_BY_CHARACTER = (
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x20000, 0x323AF),
)


class _Separators(dict[int, str]):
    """Code point -> itself, itself between blanks, or a blank; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if any(first <= code <= last for first, last in _BY_CHARACTER):
            spaced = f" {character} "
        elif unicodedata.category(character)[0] in "LNM":  # marks too: vowel signs are parts of their word
            spaced = character
        else:
            spaced = " "
        self[code] = spaced
        return spaced


_SEPARATORS = _Separators()


def unicode_words(text: str) -> list[str]:
    """Lower-case words of any script after NFC; Chinese and Japanese by character; punctuation separates.

    Example:
        >>> unicode_words("Café müde, 开罗 протест")
        ['café', 'müde', '开', '罗', 'протест']
    """
    return unicodedata.normalize("NFC", text).lower().translate(_SEPARATORS).split()


TOKENIZERS: Mapping[str, Tokenizer] = {"rouge155": rouge155.tokenize, "unicode": unicode_words}
"""The tokenisers of ``alignment_rouge`` by name. ``rouge155`` is the exact engine's."""


def resolve_tokenizer(
    tokenizer: str | Tokenizer, *, remove_stopwords: bool = True, use_stemmer: bool = True
) -> Tokenizer:
    """The tokeniser of this name with its options, or the callable itself.

    Args:
        tokenizer: A name of :data:`TOKENIZERS`, or one sentence -> words. A tokeniser other than ``rouge155`` returns
            the words that are counted: stop words and stemming are then its own business.
        remove_stopwords: Whether ``rouge155`` drops its stop words.
        use_stemmer: Whether ``rouge155`` stems.

    Raises:
        OptionError: No tokeniser has this name.
        InputError: Neither a name nor a callable.
    """
    if tokenizer == "rouge155":
        return partial(rouge155.tokenize, remove_stopwords=remove_stopwords, use_stemmer=use_stemmer)
    if isinstance(tokenizer, str):
        if tokenizer not in TOKENIZERS:
            raise OptionError.unknown("tokenizer", tokenizer, TOKENIZERS)
        return TOKENIZERS[tokenizer]
    if callable(tokenizer):
        return tokenizer
    raise InputError("tokenizer", None, repr(tokenizer), "a name of a tokeniser or a function: sentence -> words")


def whitespace_words(text: str) -> list[str]:
    """Lower-case words between blanks; punctuation stays on its word.

    Example:
        >>> whitespace_words("The committee approved it.")
        ['the', 'committee', 'approved', 'it.']
    """
    return text.lower().split()


# Lower case comes first: it turns some other letters (the Kelvin sign) into ASCII ones.
_ROUGE_SEPARATORS = bytes(code if chr(code).isascii() and chr(code).isalnum() else 32 for code in range(256))


def rouge_words(text: str) -> list[str]:
    """rouge_score's words: runs of a-z and 0-9 after lower-casing; every other character separates.

    Accented letters and other scripts separate too, so that text in them has no words.

    Example:
        >>> rouge_words("The U.S. vote, 9,000 niños")
        ['the', 'u', 's', 'vote', '9', '000', 'ni', 'os']
    """
    return text.lower().encode("ascii", "replace").translate(_ROUGE_SEPARATORS).decode("ascii").split()


def stem(word: str) -> str:
    """The word's stem by nltk's Porter stemmer in its default mode, as rouge_score takes it; up to 3 letters stay.

    Example:
        >>> stem("protests"), stem("was")
        ('protest', 'was')
    """
    return _porter()(word) if len(word) > 3 else word


@lru_cache(maxsize=1)
def _porter() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer  # here, since it takes a while and few need it

    return lru_cache(maxsize=2**17)(PorterStemmer().stem)


SUMMARY_TOKENIZERS: Mapping[str, Tokenizer] = {
    "whitespace": whitespace_words,
    "rouge": rouge_words,
    "unicode": unicode_words,
}
"""The tokenisers of ``rouge_l`` by name."""


def summary_tokenizer(tokenizer: str | Tokenizer, use_stemmer: bool = False) -> Tokenizer:
    """The tokeniser of this name, or the callable itself, with or without stemming of its words.

    Args:
        tokenizer: A name of :data:`SUMMARY_TOKENIZERS`, or one text -> words.
        use_stemmer: Whether words of more than three letters are stemmed (English).

    Raises:
        OptionError: No tokeniser has this name.
        InputError: Neither a name nor a callable.

    Example:
        >>> summary_tokenizer("rouge", use_stemmer=True)("The protests ended.")
        ['the', 'protest', 'end']
    """
    if isinstance(tokenizer, str):
        if tokenizer not in SUMMARY_TOKENIZERS:
            raise OptionError.unknown("tokenizer", tokenizer, SUMMARY_TOKENIZERS)
        tokenizer = SUMMARY_TOKENIZERS[tokenizer]
    elif not callable(tokenizer):
        raise InputError("tokenizer", None, repr(tokenizer), "a name of a tokeniser or a function: text -> words")
    return partial(_stemmed, tokenizer) if use_stemmer else tokenizer


def _stemmed(tokenizer: Tokenizer, text: str) -> list[str]:
    porter = _porter()
    return [porter(word) if len(word) > 3 else word for word in tokenizer(text)]
