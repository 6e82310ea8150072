"""The two word lists of ROUGE-1.5.5, read once. Sources and licences stand beside them in ``data/``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"


@cache
def stopwords() -> frozenset[str]:
    """The words that ROUGE-1.5.5 drops under ``-s``: 596 different ones on 598 lines.

    Example:
        >>> "the" in stopwords(), "reuters" in stopwords(), "protest" in stopwords()
        (True, True, False)
    """
    return frozenset((_DATA / "rouge155_stopwords.txt").read_text(encoding="ascii").split())


@cache
def irregular_forms() -> Mapping[str, str]:
    """Inflected form -> base form for 5930 irregular words (WordNet 2.0's exception lists).

    Example:
        >>> irregular_forms()["children"], irregular_forms()["sank"]
        ('child', 'sink')
    """
    lines = (_DATA / "wordnet20_exceptions.txt").read_text(encoding="ascii").splitlines()
    return dict(line.split(" ", 1) for line in lines)
