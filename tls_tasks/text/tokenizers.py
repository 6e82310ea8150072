"""Tokenisers, normalisers and sentence splitters by name; ROUGE-1.5.5's own words are in ``rouge155``."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tls_tasks.core.errors import InputError, check_choice, first_rows, warn_caller
from tls_tasks.text.rouge155 import LETTERS_AND_DIGITS, NonAsciiWarning, Tokenizer, is_mostly_unseen

Splitter: TypeAlias = Callable[[str], Iterable[str]]
"""Text -> its sentences."""

# Sentences end at the end of a line, after . ! ? (and a closing quote or bracket) before whitespace, and after the full
# stops of other scripts anywhere.
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s+|(?<=[.!?][\"'”’»)\]])\s+|(?<=[。！？])|(?<=[።।؟])\s*")


def _at_newlines(text: str) -> list[str]:
    r"""The lines of a text that are not empty: the sentences of rouge_score.

    Example:
        >>> _at_newlines("Talks end. No result.\n\nMore on Monday.")
        ['Talks end. No result.', 'More on Monday.']
    """
    return [line for line in text.split("\n") if line]


def _at_sentence_ends(text: str) -> list[str]:
    """Split a text at line ends and after . ! ? 。 and the like.

    Abbreviations are not known: "Dr. Ito" is split.

    Example:
        >>> _at_sentence_ends("Talks end. No result! 开罗爆发抗议。警察开火。")
        ['Talks end.', 'No result!', '开罗爆发抗议。', '警察开火。']
    """
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence]


_SPLITTERS: dict[str, Splitter] = {"newline": _at_newlines, "regex": _at_sentence_ends}
"""The splitters of ``rouge_l`` by name."""


def resolve_splitter(split: str | Splitter) -> Splitter:
    r"""The splitter of this name, or the function itself.

    Raises:
        OptionError: Neither a function nor the name of a splitter.

    Example:
        >>> resolve_splitter("newline")("a\nb")
        ['a', 'b']
    """
    if callable(split):
        return split
    check_choice("split_summaries", split, _SPLITTERS)
    return _SPLITTERS[split]


_PROSE_END = re.compile(r"[.!?][\"'”’)\]]*\s+")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sen|Rep|Gov|vs)\.$")


def sentences(text: str) -> Iterator[str]:
    """The sentences of English prose, in order; a line end always ends one, and a line without words is skipped.

    Example:
        >>> list(sentences("She asked: why? Dr. Hale knew."))
        ['She asked: why?', 'Dr. Hale knew.']
    """
    for line in text.split("\n"):
        begin = 0
        for end in _PROSE_END.finditer(line):
            if _ABBREVIATION.search(line[begin : end.start() + 1]):
                continue
            yield line[begin : end.end()].strip()
            begin = end.end()
        rest = line[begin:].strip()
        if any(character.isalnum() for character in rest):
            yield rest


# Japanese and Chinese, which are written without blanks between words: the field compares them by character.
UNSPACED = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_BY_CHARACTER = re.compile(f"[{UNSPACED}]")
_COUNTED_BY_CHARACTER = re.compile(f"[{UNSPACED}\u0e00-\u10ff\u1780-\u17ff]")  # and the scripts of South East Asia
SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai and Lao, Burmese, Khmer, as a class of a pattern has them: written without blanks between words."""

_SIGNS = re.findall(f"[{SOUTH_EAST_ASIAN}]", "".join(map(chr, range(0x0E00, 0x1800))))
_LETTERS, _MARKS = ("".join(sign for sign in _SIGNS if unicodedata.category(sign)[0] == kind) for kind in "LM")
_GRAPHEME = re.compile(f"[{_LETTERS}][{_MARKS}\u0e33\u0eb3]*")  # a letter and its marks


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
    if _BY_CHARACTER.match(character):
        return f" {character} "
    # Marks, too: vowel signs are part of their word.
    return character if unicodedata.category(character)[0] in "LNM" else " "


_SEPARATORS = ByCharacter(_separated)


def unicode_words(text: str) -> list[str]:
    """Lower-case words of any script after NFC; punctuation separates.

    Chinese and Japanese are split by character, Thai, Lao, Khmer and Burmese by letter with its marks.

    Example:
        >>> unicode_words("Café müde, 开罗 протест น้ำ")
        ['café', 'müde', '开', '罗', 'протест', 'น้ำ']
    """
    text = _GRAPHEME.sub(r" \g<0> ", unicodedata.normalize("NFC", text).lower())
    return text.translate(_SEPARATORS).split()


def is_unspaced(text: str) -> bool:
    """Return whether a text has few blanks for a script that ``unicode`` splits, or long words of letters beyond ASCII.

    Example:
        >>> [is_unspaced(text) for text in ("开罗爆发抗议活动", "开罗 爆发 抗议", "รัฐบาลอนุมัติงบประมาณ")]
        [True, False, True]
    """
    n_words = len(text.split())
    return len(_BY_CHARACTER.findall(text)) > 2 * n_words or len(_NOT_ASCII.findall(text)) > 12 * n_words


def count_words(text: str) -> int:
    """How many words a text has; where these are written without blanks, how many characters.

    Example:
        >>> count_words("Photo : AP / Reuters"), count_words("开罗爆发抗议。") >= 6
        (3, True)
    """
    n_words = sum(any(map(str.isalnum, word)) for word in text.split())
    return n_words + len(_COUNTED_BY_CHARACTER.findall(text))


_APART = re.compile(r"\s[.,](?=\s|$)")
_JOINS = yaml.safe_load(Path(__file__).with_name("joins.yaml").read_text(encoding="utf-8"))
"""How words are joined: each a ``pattern``, and what ``joined`` stands for it."""


def as_written(texts: Sequence[str]) -> list[str]:
    r"""Texts whose words and punctuation a tokeniser has set apart, joined back; any others as they are.

    Args:
        texts: From one source: all are taken for tokenised if in most of them a full stop or a comma stands apart.

    Example:
        >>> print(*as_written(["Egypt 's army , \" neutral \" , has n't moved .", "Anti - government chants ( AP )"]))
        Egypt's army, "neutral", hasn't moved. Anti-government chants (AP)
        >>> as_written(["Cairo - a city - waits, for now."])
        ['Cairo - a city - waits, for now.']
    """
    if 2 * sum(_APART.search(text) is not None for text in texts) < len(texts):
        return list(texts)
    for each in _JOINS:
        texts = [re.sub(each["pattern"], each["joined"], text) for text in texts]
    return list(texts)


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


def _is_decomposed(text: str) -> bool:
    """Return whether letters and their marks are separate characters somewhere: ``e`` and an accent for ``é``."""
    return not unicodedata.is_normalized("NFC", text)


_ONLY_ASCII = "most letters are not ASCII, and {} sees only ASCII letters and digits"
_UNSEEN: Mapping[object, tuple[Callable[[str], bool], str]] = {
    "rouge155": (is_mostly_unseen, _ONLY_ASCII.format("the rouge155 engine")),
    "rouge": (is_mostly_unseen, _ONLY_ASCII.format("the tokenizer 'rouge'")),
    "whitespace": (is_unspaced, "a text is written without blanks, so that the tokenizer 'whitespace' sees few words"),
}
_DECOMPOSED = "letters and their marks are apart in some texts, which '{}' takes for other letters"


def warn_of_unseen(tokenizer: object, rows: Sequence[Iterable[str]]) -> None:
    """Warn, with the numbers of the rows, of texts whose words a tokeniser does not see or takes for others.

    Args:
        tokenizer: Its name; a function of the caller's is trusted.
        rows: The texts of each row.
    """
    if not isinstance(tokenizer, str) or tokenizer not in _UNSEEN:
        return
    for is_unseen, why in (_UNSEEN[tokenizer], (_is_decomposed, _DECOMPOSED.format(tokenizer))):
        if unseen := [index for index, texts in enumerate(rows) if any(map(is_unseen, texts))]:
            told = f"in {len(unseen)} of {len(rows)} rows {why} (rows {first_rows(unseen)})"
            warn_caller(f"{told}: use tokenizer='unicode'", NonAsciiWarning)


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


# ---- text normalisers by name: differences that can be removed before texts are compared


_Normalizer = Callable[[str], str]
"""One text -> the same text, normalised."""


_PUNCTUATION = ByCharacter(lambda character: "" if unicodedata.category(character)[0] in "PS" else character)

NORMALIZERS: Mapping[str, _Normalizer] = {
    "lower": str.lower,
    "casefold": str.casefold,
    "strip": str.strip,
    "blanks": lambda text: " ".join(text.split()),
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "punctuation": lambda text: text.translate(_PUNCTUATION),
}
"""``lower``, ``casefold`` (also ß and ss), ``strip`` (whitespace at both ends), ``blanks`` (each run of whitespace
becomes one blank, none at the ends), ``nfc`` (one form of composed letters), ``nfkc`` (also ligatures and full-width
letters), ``punctuation`` (punctuation and symbols of any script are dropped)."""


def normalizer(names: str | Sequence[str]) -> _Normalizer:
    """The normalisers of these names as one function, applied in the order given.

    Raises:
        OptionError: No normaliser has this name.
        InputError: Neither a name nor a list of names.

    Example:
        >>> normalizer(["nfc", "punctuation", "blanks", "lower"])(" U.S.  Steel, Inc. ")
        'us steel inc'
        >>> normalizer("upper")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: normalize: got 'upper', expected one of 'lower', 'casefold', 'strip', 'blanks', 'nfc', 'nfkc', 'punctuation'
    """  # noqa: E501 - the message is one line
    wanted = names_of(names)
    for name in wanted:
        check_choice("normalize", name, NORMALIZERS)

    def normalized(text: str) -> str:
        for name in wanted:
            text = NORMALIZERS[name](text)
        return text

    return normalized


def names_of(names: Any) -> tuple[str, ...]:
    """One name or a list of names as a tuple.

    Example:
        >>> names_of("lower"), names_of(["lower", "strip"])
        (('lower',), ('lower', 'strip'))
    """
    if isinstance(names, str):
        return (names,)
    if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise InputError("normalize", None, repr(names), f"a list of {', '.join(NORMALIZERS)}")
