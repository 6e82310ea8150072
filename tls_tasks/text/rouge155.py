"""ROUGE-1.5.5 with tilse's options, in Python: which words are counted, and the counts.

tilse calls ``ROUGE-1.5.5.pl -n 2 -x -f A -m -s``. What that does to a text was measured, not ported; the counts are
equal (``tests/text/test_rouge155.py``). The rules:

1. A sentence is its whitespace-separated parts joined by one space; ``^`` becomes the word *circ* (tilse's wrapper
   writes ``&circ;``); everything from the first ``<`` is lost.
2. Words are runs of ASCII letters and digits, lower-cased. Everything else separates words: *café* is *caf*, *9,000*
   is *9 000*.
3. Stop words are removed before stemming. The *didn* of *didn't* stays, since it is *didn't* that is in the list.
4. Words of up to three characters are not stemmed; longer ones are looked up among the irregular forms, then stemmed.
5. The sentences of a text are joined: n-grams cross them.
6. Hits are clipped for each reference separately and summed over the references, as are both totals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tls_tasks.core.prf import Counts
from tls_tasks.text.porter import stem

_DATA = Path(__file__).parent / "data"  # the word lists, with their sources and licences

Tokenizer = Callable[[str], Sequence[str]]
"""One sentence -> the words that are counted."""

# Bytes of ASCII text -> letters in lower case, digits, and a blank for anything else. A table and a split find words
# three times as fast as a regular expression.
LETTERS_AND_DIGITS = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256)
)


class NonAsciiWarning(UserWarning):
    """ROUGE-1.5.5 ignores most letters of a text."""


@cache
def _stopwords() -> frozenset[str]:
    """The words that ROUGE-1.5.5 drops under ``-s``: 596 different ones on 598 lines.

    Example:
        >>> "the" in _stopwords(), "reuters" in _stopwords(), "protest" in _stopwords()
        (True, True, False)
    """
    return frozenset((_DATA / "rouge155_stopwords.txt").read_text(encoding="ascii").split())


@cache
def _irregular_forms() -> Mapping[str, str]:
    """Inflected form -> base form for 5930 irregular words (WordNet 2.0's exception lists).

    Example:
        >>> _irregular_forms()["children"], _irregular_forms()["sank"]
        ('child', 'sink')
    """
    lines = (_DATA / "wordnet20_exceptions.txt").read_text(encoding="ascii").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def normal_form(word: str, remove_stopwords: bool = True, use_stemmer: bool = True) -> str | None:
    """What a lower-case word is counted as; None for a stop word.

    Example:
        >>> normal_form("children"), normal_form("protesters"), normal_form("the"), normal_form("day")
        ('child', 'protest', None, 'day')
    """
    if remove_stopwords and word in _stopwords():
        return None
    if not use_stemmer or len(word) <= 3:
        return word
    return _irregular_forms().get(word) or stem(word)


class _Forms(dict[bytes, str | None]):
    """A cache, word -> what it is counted as: texts repeat their words, and a known word costs one look-up."""

    def __init__(self, remove_stopwords: bool, use_stemmer: bool) -> None:
        super().__init__()
        self._options = remove_stopwords, use_stemmer

    def __missing__(self, word: bytes) -> str | None:
        form = normal_form(word.decode("ascii"), *self._options)
        if len(self) < _MAX_FORMS:  # a stream of made-up words must not fill up the memory
            self[word] = form
        return form


_MAX_FORMS = 1 << 18


_forms = cache(_Forms)  # one for each way to count


def tokenize(sentence: str, remove_stopwords: bool = True, use_stemmer: bool = True) -> list[str]:
    """The words of one sentence as ROUGE-1.5.5 counts them.

    Example:
        >>> tokenize("The protesters' children weren't paid $9,000 < all this is lost")
        ['protest', 'child', 'weren', 'pay', '9', '000']
    """
    # Through ASCII, with "?" for anything else: str.lower would turn the Kelvin sign, which ROUGE ignores, into a k.
    seen = sentence.partition("<")[0].replace("^", " circ ").encode("ascii", "replace")
    words = seen.translate(LETTERS_AND_DIGITS).split()
    return list(filter(None, map(_forms(remove_stopwords, use_stemmer).__getitem__, words)))


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each n-gram occurs."""
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def rouge_counts(
    prediction: Sequence[str], references: Sequence[Sequence[str]], n: int, tokenizer: Tokenizer = tokenize
) -> Counts:
    """ROUGE-N's counts of one text against all its references.

    Args:
        prediction: The sentences of the predicted text.
        references: The sentences of each reference.
        n: Length of the n-grams, 1 or 2 in this package.
        tokenizer: One sentence -> the words that are counted.

    Returns:
        Clipped hits summed over the references (in both directions), the prediction's n-grams times the number of
        references, the references' n-grams.

    Example:
        >>> rouge_counts(["Police clash with protesters."], [["Clashes between police and protesters continue."]], 1)
        Counts(precision_hits=3, predicted=3, recall_hits=3, reference=4)
    """
    predicted = _ngrams([word for sentence in prediction for word in tokenizer(sentence)], n)
    hits = total = 0
    for reference in references:
        wanted = _ngrams([word for sentence in reference for word in tokenizer(sentence)], n)
        hits += sum((predicted & wanted).values())
        total += sum(wanted.values())
    return Counts(hits, sum(predicted.values()) * len(references), hits, total)


def is_mostly_unseen(text: str) -> bool:
    """Whether most letters of a text are not ASCII, so that ROUGE-1.5.5 ignores them.

    Example:
        >>> is_mostly_unseen("Kairo: Demonstration für Demokratie"), is_mostly_unseen("开罗爆发抗议 (BBC)")
        (False, True)
    """
    if text.isascii():
        return False
    seen = len(text.encode("ascii", "ignore").translate(None, _NOT_A_LETTER))
    unseen: list[str] = _not_ascii(text)
    return sum(letter.isalpha() for letter in unseen) > seen


_not_ascii = re.compile(r"[^\x00-\x7f]").findall
_NOT_A_LETTER = bytes(code for code in range(128) if not chr(code).isalpha())
