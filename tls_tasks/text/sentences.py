"""Where the sentences of a summary end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from tls_tasks.core.errors import InputError, OptionError

Splitter: TypeAlias = Callable[[str], Iterable[str]]
"""Text -> its sentences."""

# A line ends a sentence; so do . ! ? (and a closing quote or bracket) before a blank, and their wide forms anywhere.
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s+|(?<=[.!?][\"'”’»)\]])\s+|(?<=[。！？])|(?<=[።।؟])\s*")


def at_newlines(text: str) -> list[str]:
    r"""The lines of a text that are not empty, as rouge_score takes them.

    Example:
        >>> at_newlines("Talks end. No result.\n\nMore on Monday.")
        ['Talks end. No result.', 'More on Monday.']
    """
    return [line for line in text.split("\n") if line]


def at_sentence_ends(text: str, pattern: re.Pattern[str] = _SENTENCE_END) -> list[str]:
    """The sentences of a text by a regular expression, by default at line ends and after . ! ? 。 and the like.

    It doesn't know abbreviations: "Dr. Ito" is cut.

    Example:
        >>> at_sentence_ends("Talks end. No result! 开罗爆发抗议。警察开火。")
        ['Talks end.', 'No result!', '开罗爆发抗议。', '警察开火。']
    """
    return [sentence for sentence in pattern.split(text) if sentence]


SPLITTERS: dict[str, Splitter] = {"newline": at_newlines, "regex": at_sentence_ends}
"""The ways to split a summary, by name."""


def resolve_splitter(split: str | re.Pattern[str] | Splitter) -> Splitter:
    """The splitter of this name, one that splits at a compiled pattern, or the callable itself.

    Raises:
        OptionError: No splitter has this name.
        InputError: Neither a name nor a pattern nor a callable.

    Example:
        >>> resolve_splitter(re.compile(";"))("a;b")
        ['a', 'b']
    """
    if isinstance(split, str):
        if split not in SPLITTERS:
            raise OptionError.unknown("split_summaries", split, SPLITTERS)
        return SPLITTERS[split]
    if isinstance(split, re.Pattern):
        return lambda text: [part for part in split.split(text) if part]
    if callable(split):
        return split
    expected = "'newline', 'regex', a compiled pattern or a function: text -> sentences"
    raise InputError("split_summaries", None, repr(split), expected)


_PROSE_END = re.compile(r"[.!?][\"'”’)\]]*\s+")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sen|Rep|Gov|vs)\.$")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, in order; a sentence never goes over the end of a line, a line without words is none.

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
