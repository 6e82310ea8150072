"""Text normalisers by name: differences that can be removed before texts are compared."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_choice
from tls_tasks.text.tokenizers import ByCharacter

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
