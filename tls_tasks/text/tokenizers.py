"""Tokenisers other than ROUGE-1.5.5's own, and tokenisers by name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from tls_tasks.core.options import check_choice
from tls_tasks.text.rouge155 import LETTERS_AND_DIGITS, Tokenizer

# Scripts that are written without blanks between words; the field compares them by character.
_BY_CHARACTER = (
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x20000, 0x323AF),
)


class ByCharacter(dict[int, str]):
    """Code point -> what stands for its character, as :meth:`str.translate` takes it; filled as characters occur."""

    def __init__(self, of: Callable[[str], str]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, code: int) -> str:
        self[code] = replacement = self._of(chr(code))
        return replacement


def _separated(character: str) -> str:
    """A character that is a word of its own between blanks, a part of a word as it is, a blank for any other."""
    if any(first <= ord(character) <= last for first, last in _BY_CHARACTER):
        return f" {character} "
    # Marks, too: vowel signs are part of their word.
    return character if unicodedata.category(character)[0] in "LNM" else " "


_SEPARATORS = ByCharacter(_separated)


def unicode_words(text: str) -> list[str]:
    """Lower-case words of any script after NFC; Chinese and Japanese by character; punctuation separates.

    Example:
        >>> unicode_words("Café müde, 开罗 протест")
        ['café', 'müde', '开', '罗', 'протест']
    """
    return unicodedata.normalize("NFC", text).lower().translate(_SEPARATORS).split()


def whitespace_words(text: str) -> list[str]:
    """Lower-case words, split at whitespace; punctuation stays attached to its word.

    Example:
        >>> whitespace_words("The committee approved it.")
        ['the', 'committee', 'approved', 'it.']
    """
    return text.lower().split()


def rouge_words(text: str) -> list[str]:
    """rouge_score's words: runs of a-z and 0-9 after lower-casing; every other character separates.

    Accented letters and other scripts are separators, too, so that text in other scripts has no words.

    Example:
        >>> rouge_words("The U.S. vote, 9,000 niños")
        ['the', 'u', 's', 'vote', '9', '000', 'ni', 'os']
    """
    # Lower-casing comes first, since it turns some other letters (the Kelvin sign) into ASCII ones.
    return text.lower().encode("ascii", "replace").translate(LETTERS_AND_DIGITS).decode("ascii").split()


SUMMARY_TOKENIZERS: Mapping[str, Tokenizer] = {
    "whitespace": whitespace_words,
    "rouge": rouge_words,
    "unicode": unicode_words,
}
"""The tokenisers of ``rouge_l`` by name."""


def find_tokenizer(tokenizer: str | Tokenizer, known: Mapping[str, Tokenizer]) -> Tokenizer:
    """The tokeniser of this name, or the function itself.

    Raises:
        OptionError: Neither a function nor the name of a tokeniser.
    """
    if callable(tokenizer):
        return tokenizer
    check_choice("tokenizer", tokenizer, known)
    return known[tokenizer]


def summary_tokenizer(tokenizer: str | Tokenizer, use_stemmer: bool = False) -> Tokenizer:
    """The tokeniser of this name, or the function itself, with or without stemming of its words.

    Args:
        tokenizer: A name of :data:`SUMMARY_TOKENIZERS`, or a function: text -> words.
        use_stemmer: Whether words of more than three letters are stemmed by nltk's Porter stemmer in its default mode,
            as rouge_score does (English).

    Raises:
        OptionError: Neither a function nor the name of a tokeniser.

    Example:
        >>> summary_tokenizer("rouge", use_stemmer=True)("The protests ended.")
        ['the', 'protest', 'end']
    """
    words = find_tokenizer(tokenizer, SUMMARY_TOKENIZERS)
    return partial(_stemmed, words) if use_stemmer else words


def _stemmed(tokenizer: Tokenizer, text: str) -> list[str]:
    porter = _porter()
    return [porter(word) if len(word) > 3 else word for word in tokenizer(text)]


@lru_cache(maxsize=1)
def _porter() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer  # imported here: it takes a while, and few need it

    return lru_cache(maxsize=2**17)(PorterStemmer().stem)
