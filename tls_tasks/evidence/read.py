"""Evidence-grounded objects in model text: :func:`parse_evidence`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from tls_tasks.core.examples import LEAD, is_example, lead_of
from tls_tasks.core.json_text import JSON_PROBLEM_KINDS, FoundJson, Stage, find_json, is_whole_json
from tls_tasks.core.parsed import Parsed, Problem, problem
from tls_tasks.core.reasoning import first_reading, strip_thinking
from tls_tasks.evidence.forms import find_objects
from tls_tasks.evidence.objects import ObjectReader
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceObject, EvidenceSchema

PROBLEM_KINDS = ("bad_entry", "draft", "example", *JSON_PROBLEM_KINDS)
"""Every kind of problem that :func:`parse_evidence` reports. A ``bad_entry`` is no object; it is dropped, and so is an
``example``, and a ``draft`` that the model lists anew."""

Status = Literal["json", "fence", "scan", "repaired", "failed"]
"""How far a text is from the JSON that was asked for: it is JSON (or JSON Lines); JSON in code fences; JSON in prose or
cut off; JSON that had to be guessed; nothing that can be read."""

_STATUSES: dict[Stage, Status] = {"fence": "fence", "scan": "scan", "truncated": "scan", "repaired": "repaired"}
"""The status of the stages of :func:`~tls_tasks.core.json_text.find_json` that are not ``json``."""

# Repairs between objects that are JSON themselves; any other repair concerns what an object says.
_BETWEEN_OBJECTS = ("comment", "trailing comma", "missing comma")
_EMPTY_LIST = re.compile(r"\[\s*\]")
_MAX_COMPARED = 16  # earlier lists that a list is compared with


@dataclass(frozen=True, slots=True)
class ParsedEvidence(Parsed[tuple[EvidenceObject, ...]]):
    """The objects of a text, what was wrong on the way, and how far the text was from JSON."""

    status: Status = "failed"


def parse_evidence(text: str, schema: EvidenceSchema = JOURNAL_SCHEMA) -> ParsedEvidence:
    """Read the objects that a model wrote.

    Args:
        text: The model's text. Thinking, prose and code fences around the JSON don't matter; several lists or objects
            are read one after the other; what a token limit cut off is dropped, and what stood before it is kept.
        schema: Which keys hold domain and span, and what an object must have.

    Returns:
        The objects in the order of the text, those that break the schema too (see ``issues``). An empty tuple if the
        model says that there are none (``[]``); None, a parse failure, if no object can be read: prose, no text, a list
        of strings. Never raises on text.

    Example:
        >>> parsed = parse_evidence('Sure: [{"domain": "food", "evidence_span": "Had tea"}, {"domain": "mi')
        >>> [(found.domain, found.span) for found in parsed.value], parsed.status, parsed.counts()
        ([('food', 'Had tea')], 'scan', {'truncated': 1})
        >>> parse_evidence("[]").value, parse_evidence("There are none.").value
        ((), None)
    """
    return parse_objects(text, ObjectReader(schema))


def parse_objects(text: str, reader: ObjectReader) -> ParsedEvidence:
    """:func:`parse_evidence` by a reader that serves many texts."""
    return first_reading(text, partial(_evidence_of, reader))


def _evidence_of(reader: ObjectReader, text: str) -> ParsedEvidence:
    found = find_json(text, reader.count, reader.count_listed)
    if not found.values:
        found = _without_keys(text, reader) or found
    answer = strip_thinking(text).text
    if not found.values and not _is_damaged(found):
        other = find_objects(answer, reader)
        found = replace(other, problems=found.problems + other.problems) if other.values else found
    entries = list(_entries(found, answer, reader))
    noted = found.problems + tuple(entry for entry in entries if isinstance(entry, Problem))
    objects = tuple(reader.read(entry) for entry in entries if not isinstance(entry, Problem))
    if objects:
        return ParsedEvidence(objects, noted, _status(found))
    status = _abstention(text, answer, reader, found)
    return ParsedEvidence(None if status == "failed" else (), noted, status)


def _entries(found: FoundJson, answer: str, reader: ObjectReader) -> Iterator[Mapping[str, Any] | Problem]:
    """The entries of the values that count: no example, and no list that a later one repeats.

    A model may write a list for each domain or an object a line, and means them all. A list that has half of the
    objects of an earlier one is a new version of it.
    """
    kept: list[tuple[list[Mapping[str, Any] | Problem], set[tuple[str, str]]]] = []
    position = 0
    for number, (value, (start, end)) in enumerate(zip(found.values, found.places, strict=True), start=1):
        lead = lead_of(answer, position, start)
        position = max(position, end)
        if is_example(lead, number < len(found.values)):
            yield problem("example", lead[-LEAD:])
            continue
        entries = list(reader.raw(value))
        spans = {_span(entry, reader) for entry in entries if not isinstance(entry, Problem)}
        for earlier in kept[-_MAX_COMPARED:] if isinstance(value, list) else ():
            if is_repeated(earlier[1], spans):
                kept.remove(earlier)
                yield problem("draft", str(earlier[0]))
        kept.append((entries, spans))
    for entries, _ in kept:
        yield from entries


def is_repeated(earlier: Set[tuple[str, str]], later: Set[tuple[str, str]]) -> bool:
    """Whether a list has at least half of the objects of an earlier one."""
    return 0 < len(earlier) <= 2 * len(earlier & later)


def _span(entry: Mapping[str, Any], reader: ObjectReader) -> tuple[str, str]:
    return str(entry.get(reader.domain)), str(entry.get(reader.span))


def _without_keys(text: str, reader: ObjectReader) -> FoundJson | None:
    """A text that is JSON, but whose objects have neither domain nor span: they are objects that break the schema."""
    found = find_json(text, lambda value: sum(not isinstance(entry, Problem) for entry in reader.raw(value)))
    return found if found.stage in ("whole", "fence", "jsonl") else None


def _status(found: FoundJson) -> Status:
    guessed = any(noted.kind == "repaired_json" and noted.detail not in _BETWEEN_OBJECTS for noted in found.problems)
    return "repaired" if guessed else _STATUSES.get(found.stage, "json")


def _is_damaged(found: FoundJson) -> bool:
    return any(noted.kind in ("truncated", "broken_json") for noted in found.problems)


def _abstention(text: str, answer: str, reader: ObjectReader, found: FoundJson) -> Status:
    """The status of an answer that says that there is nothing; ``failed`` if it does not say so."""
    if is_whole_json(text, reader.says_nothing):
        return "json" if answer.lstrip().lstrip("\ufeff").startswith(("[", "{")) else "fence"
    return "scan" if not _is_damaged(found) and _EMPTY_LIST.search(answer) else "failed"
