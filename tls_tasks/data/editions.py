"""The editions of data sets that are known by their content (``editions.json``), and what a number is worth by that.

Each edition is pinned by a SHA-256 over its canonical documents (ids, what prompts are made of, references), by how
many documents its task makes of them, and by a SHA-256 over their ids and gold answers. The last two can be computed
from a log alone. An edition without a fingerprint is null; a run on it states the fingerprint in its results file.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tls_tasks.data.catalogue import DataSet

EMBEDDED, UNKNOWN, KNOWN = "embedded", "unknown data", "known data"
"""What a number is worth: ours to try things out, data that nobody else may have, the data set."""

EDITIONS_FILE = Path(__file__).with_name("editions.json")


@dataclass(frozen=True, slots=True)
class Edition:
    """One edition of a data set.

    Attributes:
        label: ``embedded``, ``hub``, or what else tells it from the others.
        fingerprint: SHA-256 over its documents.
        documents: How many documents its task has; None if that was never counted.
        golds: SHA-256 over ids and gold answers, see :func:`golds_hash`; empty if it was never computed.
    """

    label: str
    fingerprint: str
    documents: int | None = None
    golds: str = ""


@cache
def editions_of(name: str) -> dict[str, Edition | None]:
    """The editions of a data set by label; None for those that have no fingerprint yet.

    Example:
        >>> editions_of("evidence_journals")["embedded"].documents
        50
    """
    found = json.loads(EDITIONS_FILE.read_text(encoding="utf-8")).get(name, {})
    return {label: Edition(label, **values) if values is not None else None for label, values in found.items()}


def edition_with(name: str, fingerprint: object) -> Edition | None:
    """The edition of a data set that has a fingerprint.

    Example:
        >>> edition_with("evidence_journals", "0" * 64) is None
        True
    """
    pinned = (edition for edition in editions_of(name).values() if edition is not None)
    return next((edition for edition in pinned if edition.fingerprint == fingerprint), None)


def status(wanted: DataSet, fingerprint: object, edition: str, *, trusted: bool = False) -> str:
    """What numbers on this data are worth.

    Args:
        wanted: The data set.
        fingerprint: Of the data.
        edition: What the data is said to be.
        trusted: It was read from the place that this release names, so that a missing fingerprint says nothing.

    Returns:
        :data:`EMBEDDED`, :data:`UNKNOWN` or :data:`KNOWN`.
    """
    found = edition_with(wanted.name, fingerprint)
    if found is not None:
        return EMBEDDED if found.label == EMBEDDED and not wanted.self_contained else KNOWN
    if edition == EMBEDDED and not wanted.self_contained:
        return EMBEDDED
    return KNOWN if trusted and not wanted.own else UNKNOWN


def fingerprint_of(documents: Iterable[Mapping[str, Any]]) -> str:
    """A SHA-256 over documents as plain values, in order; what a budget shows of them is left out (``documents…``)."""
    digest = hashlib.sha256()
    for document in documents:
        kept = {key: value for key, value in document.items() if not key.startswith("documents")}
        digest.update(json.dumps(kept, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()


def golds_hash(golds: Iterable[tuple[str, str]]) -> str:
    """A SHA-256 over the ids of a task's documents, each with its gold answer, in any order.

    Example:
        >>> golds_hash([("a", "1"), ("b", "2")]) == golds_hash([("b", "2"), ("a", "1")])
        True
    """
    return hashlib.sha256(json.dumps(sorted(map(list, golds))).encode()).hexdigest()
