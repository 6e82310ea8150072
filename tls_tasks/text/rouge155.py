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

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path

from tls_tasks.core.score import Counts

# A word is [C](VC)^m[V] (Porter, section 2): these three ask for m > 0, m > 1 and m = 1. `y` is a vowel after a
# consonant; at the beginning of a word it is written Y, so that it is a consonant there.
_CONSONANTS = "[^aeiou][^aeiouy]*"
_VOWELS = "[aeiouy][aeiou]*"
_MEASURE_ABOVE_1 = f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}{_VOWELS}{_CONSONANTS}"
_measure_above_0 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}").match
_measure_above_1 = re.compile(_MEASURE_ABOVE_1).match
_measure_is_1 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}(?:{_VOWELS})?$").match
_has_vowel = re.compile(f"(?:{_CONSONANTS})?[aeiouy]").match
_is_short = re.compile(f"{_CONSONANTS}[aeiouy][^aeiouwxy]$").match  # Porter's *o with m = 1: hop, fil
_may_lose_ion, _may_lose_l = (re.compile(f"(?=.*[{last}]$){_MEASURE_ABOVE_1}").match for last in ("st", "l"))
_ends_in_double_consonant = re.compile(r"([^aeiouylsz])\1$").search
_plural = re.compile("(?<=ss)es$|(?<=i)es$|(?<=[^s])s$")

# Ending -> what stands for it, the longest first.
_STEP_2, _STEP_3, _STEP_4 = json.loads(Path(__file__).with_name("porter.json").read_text(encoding="ascii"))


def _replaced(word: str, endings: Mapping[str, str], may_end: Callable[[str], object]) -> str:
    """Replace the first ending that the word has, if what is before it allows that; others are not tried."""
    ending = next((ending for ending in endings if word.endswith(ending)), "")
    before = word.removesuffix(ending)
    return before + endings[ending] if ending and may_end(before) else word


def _past_and_gerund(word: str) -> str:
    """Step 1b: agreed -> agree, plastered -> plaster, hopping -> hop, filing -> file."""
    if word.endswith("eed"):
        return _replaced(word, {"eed": "ee"}, _measure_above_0)
    before = _replaced(word, {"ing": "", "ed": ""}, _has_vowel)
    if before != word and (before.endswith(("at", "bl", "iz")) or _is_short(before)):
        return before + "e"
    return before[:-1] if before != word and _ends_in_double_consonant(before) else before


def _may_lose_e(before: str) -> bool:
    return bool(_measure_above_1(before) or (_measure_is_1(before) and not _is_short(before)))


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of a lower-case word of ASCII letters and digits; words of one or two characters are their own stem.

    Example:
        >>> [stem(word) for word in ("protesters", "relational", "replacement", "yields", "days")]
        ['protest', 'relat', 'replac', 'yield', 'dai']
    """
    if len(word) < 3:
        return word
    starts_with_y = word[0] == "y"
    if starts_with_y:
        word = "Y" + word[1:]
    word = _past_and_gerund(_plural.sub("", word))  # caresses -> caress, ponies -> poni, cats -> cat
    word = _replaced(word, {"y": "i"}, _has_vowel)  # happy -> happi, sky -> sky
    word = _replaced(word, _STEP_2, _measure_above_0)  # relational -> relate
    word = _replaced(word, _STEP_3, _measure_above_0)  # formalize -> formal
    # Step 4 with Lin's change: replacement -> replac, adjustment -> adjust, adoption -> adopt.
    word = _replaced(word, _STEP_4, _measure_above_1)
    word = _replaced(word, {"ment": ""}, _measure_above_1)
    is_ent = word.endswith("ent")
    word = _replaced(word, {"ent": ""} if is_ent else {"ion": ""}, _measure_above_1 if is_ent else _may_lose_ion)
    word = _replaced(word, {"e": ""}, _may_lose_e)  # probate -> probat
    word = _replaced(word, {"l": ""}, _may_lose_l)  # controll -> control
    return "y" + word[1:] if starts_with_y else word


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


@cache
def _counted(remove_stopwords: bool, use_stemmer: bool) -> Callable[[str], str | None]:
    """What a word is counted as; texts repeat their words, and a known one costs a look-up."""
    counted = partial(normal_form, remove_stopwords=remove_stopwords, use_stemmer=use_stemmer)
    return lru_cache(maxsize=1 << 18)(counted)


def tokenize(sentence: str, remove_stopwords: bool = True, use_stemmer: bool = True) -> list[str]:
    """The words of one sentence as ROUGE-1.5.5 counts them.

    Example:
        >>> tokenize("The protesters' children weren't paid $9,000 < all this is lost")
        ['protest', 'child', 'weren', 'pay', '9', '000']
    """
    # Through ASCII, with "?" for anything else: str.lower would turn the Kelvin sign, which ROUGE ignores, into a k.
    seen = sentence.partition("<")[0].replace("^", " circ ").encode("ascii", "replace")
    words = seen.translate(LETTERS_AND_DIGITS).decode("ascii").split()
    return list(filter(None, map(_counted(remove_stopwords, use_stemmer), words)))


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
    seen = [character.isascii() for character in text if character.isalpha()]
    return seen.count(False) > seen.count(True)
