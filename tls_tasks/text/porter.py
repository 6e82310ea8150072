"""Porter's stemmer in the form that ROUGE-1.5.5 uses.

Source: M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, with the two departures that Porter lists
on his own page (step 2 has ``bli`` -> ``ble`` and ``logi`` -> ``log``) and Chin-Yew Lin's of 2004: in step 4 the
endings ``ement``, ``ment`` and ``ent`` are not alternatives but are tried one after the other, and ``ion`` only if the
word did not end in ``ent``. Digits count as consonants, since ROUGE's tokens contain them.

Checked against ROUGE-1.5.5 itself: see ``tests/text/test_porter.py``.
"""

from __future__ import annotations

import re
from functools import lru_cache

# A word is [C](VC)^m[V] (Porter, section 2): these three ask for m > 0, m > 1 and m = 1. `y` is a vowel after a
# consonant; at the beginning of a word it is written Y, so that it is a consonant there.
_CONSONANTS = "[^aeiou][^aeiouy]*"
_VOWELS = "[aeiouy][aeiou]*"
_measure_above_0 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}").match
_measure_above_1 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}{_VOWELS}{_CONSONANTS}").match
_measure_is_1 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}(?:{_VOWELS})?$").match
_has_vowel = re.compile(f"(?:{_CONSONANTS})?[aeiouy]").match
_is_short = re.compile(f"{_CONSONANTS}[aeiouy][^aeiouwxy]$").match  # Porter's *o with m = 1: hop, fil
_ends_in_double_consonant = re.compile(r"([^aeiouylsz])\1$").search

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def _longest_first(endings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(endings, key=len, reverse=True))


_ENDINGS_2, _ENDINGS_3, _ENDINGS_4 = map(_longest_first, (tuple(_STEP_2), tuple(_STEP_3), _STEP_4))


def _ending(word: str, endings: tuple[str, ...]) -> str | None:
    """The longest of ``endings`` (given longest first) that ``word`` has; the others are then not tried."""
    return next((ending for ending in endings if word.endswith(ending)), None)


def _plural(word: str) -> str:
    """Step 1a: caresses -> caress, ponies -> poni, cats -> cat."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and len(word) > 1 and word[-2] != "s":
        return word[:-1]
    return word


def _past_and_gerund(word: str) -> str:
    """Step 1b: agreed -> agree, plastered -> plaster, hopping -> hop, filing -> file."""
    if word.endswith("eed"):
        return word[:-1] if _measure_above_0(word[:-3]) else word
    ending = _ending(word, ("ing", "ed"))
    if ending is None or not _has_vowel(word[: -len(ending)]):
        return word
    word = word[: -len(ending)]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_in_double_consonant(word):
        return word[:-1]
    return word + "e" if _is_short(word) else word


def _final_y(word: str) -> str:
    """Step 1c: happy -> happi, sky -> sky."""
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _double_suffixes(word: str) -> str:
    """Steps 2 and 3: relational -> relate, formalize -> formal."""
    for endings, replacements in ((_ENDINGS_2, _STEP_2), (_ENDINGS_3, _STEP_3)):
        ending = _ending(word, endings)
        if ending is not None and _measure_above_0(word[: -len(ending)]):
            word = word[: -len(ending)] + replacements[ending]
    return word


def _residual_suffixes(word: str) -> str:
    """Step 4 with Lin's change: replacement -> replac, adjustment -> adjust, adoption -> adopt."""
    ending = _ending(word, _ENDINGS_4)
    if ending is not None and _measure_above_1(word[: -len(ending)]):
        word = word[: -len(ending)]
    if word.endswith("ment") and _measure_above_1(word[:-4]):
        word = word[:-4]
    if word.endswith("ent"):
        return word[:-3] if _measure_above_1(word[:-3]) else word
    if word.endswith(("sion", "tion")) and _measure_above_1(word[:-3]):
        return word[:-3]
    return word


def _tidy(word: str) -> str:
    """Step 5: probate -> probat, controll -> control."""
    if word.endswith("e"):
        stem = word[:-1]
        if _measure_above_1(stem) or (_measure_is_1(stem) and not _is_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure_above_1(word) else word


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
    for step in (_plural, _past_and_gerund, _final_y, _double_suffixes, _residual_suffixes, _tidy):
        word = step(word)
    return "y" + word[1:] if starts_with_y else word
