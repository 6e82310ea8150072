"""Which lists of an answer are its answer: no example, and of drafts the last whole one.

A model may write a list for each domain or an object a line, and means them all. Or it thinks aloud: it lists, corrects
itself and lists again. Two things tell these apart: what stands before a list, and whether it lists the same again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tls_tasks.core.examples import LEAD, is_example
from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Problem

_MAX_COMPARED = 16  # earlier lists that a list is compared with
_MAX_PAIRS = 400  # pairs of objects whose words are compared

_THINGS = (
    r"(?:annotations?|answer|array|attempt|candidates?|draft|entities|evidence|extractions?|findings|guess|idea|items|json"
    r"|list|mentions|objects|output|pass|response|result|set|spans|take|thoughts?|try|version)"
)
_ANSWER = r"(?:amended|corrected|final|improved|merged|refined|revised|updated)"
_FINAL = re.compile(
    rf"\b(?:{_ANSWER}|combined|complete|consolidated|full)\s+(?:[\w-]+\s+){{0,2}}{_THINGS}\b|(?:^|\W){_ANSWER}\W*$"
    r"|(?:^|[\n.!?])\W*(?:(?:so|thus|therefore|my|the)\W+)*(?:answer|output|result)(?:\s+is)?\W*$",
    re.IGNORECASE,
)
_DRAFT = re.compile(
    rf"\bdraft\b|\b(?:candidates?|attempt|version)\b[^.!?\n]{{0,40}}$"
    rf"|\b(?:early|first|initial|preliminary|quick|rough|tentative)\s+{_THINGS}\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:actually|correct(?:ed|ing|ion)|instead|i forgot|mistake|on second thoughts?|oops|redo|reconsider\w*"
    r"|scratch that|should (?:be|have)|sorry|wait)\b",
    re.IGNORECASE,
)


@dataclass
class Listing:
    """One list of an answer, or its objects without a list, and what stands before it.

    Attributes:
        lead: The text between it and the one before.
        entries: Its objects, and what is no object.
        is_list: Whether it is a list (or a wrapper of lists); objects that stand alone are one listing together.
        is_whole: Whether it is not cut off.
    """

    lead: str
    entries: list[Mapping[str, Any] | Problem]
    is_list: bool = True
    is_whole: bool = True
    keys: tuple[str, str] = field(default=("domain", "evidence_span"), repr=False)

    @cached_property
    def objects(self) -> list[tuple[str, str]]:
        """Domain and span of each object, without what does not matter in a comparison."""
        domain, span = self.keys
        return [
            (_plain(entry.get(domain)), _plain(entry.get(span))) for entry in self.entries if isinstance(entry, Mapping)
        ]

    def says(self, words: re.Pattern[str]) -> bool:
        """Whether the words are in the end of its lead."""
        return bool(words.search(self.lead[-LEAD:].rstrip()))

    @cached_property
    def is_final(self) -> bool:
        """Whether it is announced as the answer."""
        return self.says(_FINAL)

    @cached_property
    def is_draft(self) -> bool:
        """Whether it is announced as a draft."""
        return not self.is_final and self.says(_DRAFT)

    @cached_property
    def is_change(self) -> bool:
        """Whether it follows a change of mind."""
        return self.is_final or self.says(_CHANGE)


def answer_of(listings: Sequence[Listing]) -> Iterator[Mapping[str, Any] | Problem]:
    """The entries of the listings that count, and a problem for each that does not: ``example`` or ``draft``.

    Example:
        >>> def listing(lead, *spans):
        ...     return Listing(lead, [{"domain": "food", "evidence_span": span} for span in spans])
        >>> drafts = [listing("Breakfast:", "toast", "tea"), listing("No toast:", "tea"), listing("Lunch:", "soup")]
        >>> [entry["evidence_span"] for entry in answer_of(drafts) if isinstance(entry, dict)]
        ['tea', 'soup']
        >>> list(answer_of([listing("Objects look like this, for example:", "a pear")]))[0].kind
        'example'
    """
    meant = [one for at, one in enumerate(listings) if not is_example(one.lead, at + 1 < len(listings))]
    kept: list[Listing] = []
    for later in _together(meant):
        _take(later, kept)
    counted = {id(entry) for one in kept for entry in one.entries}
    examples = {id(one) for one in listings} - {id(one) for one in meant}
    for one in listings:
        if id(one) in examples:
            yield problem("example", one.lead[-LEAD:])
            continue
        yield from (entry for entry in one.entries if id(entry) in counted)
        if any(id(entry) not in counted for entry in one.entries):
            yield problem("draft", one.lead[-LEAD:])


def _together(listings: Sequence[Listing]) -> Iterator[Listing]:
    """The listings, with objects that follow each other without a list as one, unless the model changes its mind."""
    run: Listing | None = None
    for one in listings:
        if run is not None and not one.is_list and not (one.is_change or run.is_draft):
            run.entries += one.entries
            continue
        if run is not None:
            yield run
        run = None
        if one.is_list:
            yield one
        else:
            run = Listing(one.lead, list(one.entries), False, one.is_whole, one.keys)
    if run is not None:
        yield run


def _take(later: Listing, kept: list[Listing]) -> None:
    """Add a listing to those that count, in place of those that it lists again."""
    for earlier in kept[-_MAX_COMPARED:]:
        if not later.is_list and later.is_change and not later.is_final and earlier.is_whole:
            _correct(earlier, later)
        elif _replaces(later, earlier):
            if not later.is_whole and earlier.is_whole:
                return
            kept.remove(earlier)
        elif later.objects and not later.is_change and set(later.objects) <= set(earlier.objects):
            return  # says nothing that is new
    kept.append(later)


def _replaces(later: Listing, earlier: Listing) -> bool:
    """Whether a listing says anew what an earlier one said."""
    n_earlier, n_later = len(earlier.objects), len(later.objects)
    if later.is_change and 0 < min(n_earlier, n_later) <= 2 * len(_resembling(later, earlier)):
        return True
    said = set(later.objects)
    n_same = sum(one in said for one in earlier.objects)
    if later.is_list and 0 < n_earlier <= 2 * n_same:
        return True
    return (earlier.is_draft and n_same < max(n_later, 1)) or (later.is_final and not earlier.is_final)


def _correct(earlier: Listing, later: Listing) -> None:
    """Drop the objects that single ones say anew."""
    found = _resembling(later, earlier)
    objects = iter(range(len(earlier.objects)))
    earlier.entries = [entry for entry in earlier.entries if isinstance(entry, Problem) or next(objects) not in found]
    del earlier.objects


def _resembling(later: Listing, earlier: Listing) -> set[int]:
    """The positions of the earlier objects whose span is, or holds, or is within one of the later ones'."""
    spans = {span for _, span in later.objects}
    if len(spans) * len(earlier.objects) > _MAX_PAIRS:
        return {at for at, (_, span) in enumerate(earlier.objects) if span in spans}
    return {
        at
        for at, (_, own) in enumerate(earlier.objects)
        if any(f" {own} " in f" {span} " or f" {span} " in f" {own} " for span in spans)
    }


def _plain(value: Any) -> str:
    return " ".join(str(value).casefold().split()).strip("\"'.,;:!?")
