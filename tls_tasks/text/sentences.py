"""Ways to split a text into sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from tls_tasks.core.options import check_choice

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


def _at_sentence_ends(text: str, pattern: re.Pattern[str] = _SENTENCE_END) -> list[str]:
    """Split a text by a regular expression, by default at line ends and after . ! ? 。 and the like.

    Abbreviations are not known: "Dr. Ito" is split.

    Example:
        >>> _at_sentence_ends("Talks end. No result! 开罗爆发抗议。警察开火。")
        ['Talks end.', 'No result!', '开罗爆发抗议。', '警察开火。']
    """
    return [sentence for sentence in pattern.split(text) if sentence]


_SPLITTERS: dict[str, Splitter] = {"newline": _at_newlines, "regex": _at_sentence_ends}
"""The splitters of ``rouge_l`` by name."""


def resolve_splitter(split: str | re.Pattern[str] | Splitter) -> Splitter:
    """The splitter of this name, one that splits at a compiled pattern, or the function itself.

    Raises:
        OptionError: Neither a pattern nor a function nor the name of a splitter.

    Example:
        >>> resolve_splitter(re.compile(";"))("a;b")
        ['a', 'b']
    """
    if isinstance(split, re.Pattern):
        return partial(_at_sentence_ends, pattern=split)
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
