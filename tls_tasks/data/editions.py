"""Editions of data sets, which are recognised by their content (``editions.json``), and the status of data by that.

Each edition is pinned by a SHA-256 over its documents (ids, inputs and references), by the number of documents of its
task, and by a SHA-256 over their ids and gold answers. The last two can be computed
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
"""The status of data: the small edition of this package, data that nobody else may have, the data set itself."""

EDITIONS_FILE = Path(__file__).with_name("editions.json")


@dataclass(frozen=True, slots=True)
class Edition:
    """One edition of a data set.

    Attributes:
        label: ``embedded``, ``hub``, or another name that is unique in the data set.
        fingerprint: SHA-256 over the documents.
        documents: Number of documents of the task; None if it was never counted.
        golds: SHA-256 over ids and gold answers, see :func:`golds_hash`; empty if it was never computed.
    """

    label: str
    fingerprint: str
    documents: int | None = None
    golds: str = ""


@cache
def read_editions(name: str) -> dict[str, Edition | None]:
    """Return label -> edition of a data set; None for an edition without a fingerprint.

    Example:
        >>> read_editions("evidence_journals")["embedded"].documents
        50
    """
    entries = json.loads(EDITIONS_FILE.read_text(encoding="utf-8")).get(name, {})
    return {label: Edition(label, **values) if values is not None else None for label, values in entries.items()}


def find_edition(name: str, fingerprint: object) -> Edition | None:
    """Return the edition of a data set with this fingerprint, or None.

    Example:
        >>> find_edition("evidence_journals", "0" * 64) is None
        True
    """
    pinned = (edition for edition in read_editions(name).values() if edition is not None)
    return next((edition for edition in pinned if edition.fingerprint == fingerprint), None)


def status(data_set: DataSet, fingerprint: object, edition: str, *, trusted: bool = False) -> str:
    """Return the status of data: whether scores on it can be compared with published ones.

    Args:
        data_set: The data set.
        fingerprint: Fingerprint of the data.
        edition: The edition that the data claims to be.
        trusted: Whether it was read from a pinned source, and counts as the data set even without a fingerprint.

    Returns:
        :data:`EMBEDDED`, :data:`UNKNOWN` or :data:`KNOWN`.
    """
    pinned = find_edition(data_set.name, fingerprint)
    if pinned is not None:
        return EMBEDDED if pinned.label == EMBEDDED and not data_set.self_contained else KNOWN
    if edition == EMBEDDED and not data_set.self_contained:
        return EMBEDDED
    return KNOWN if trusted and not data_set.custom else UNKNOWN


def hash_documents(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return a SHA-256 over documents as plain values, in order, without ``documents…``, which depend on a budget."""
    digest = hashlib.sha256()
    for document in documents:
        hashed = {key: value for key, value in document.items() if not key.startswith("documents")}
        digest.update(json.dumps(hashed, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()


def golds_hash(golds: Iterable[tuple[str, str]]) -> str:
    """Return a SHA-256 over (id, gold answer) of a task's documents, in any order.

    Example:
        >>> golds_hash([("a", "1"), ("b", "2")]) == golds_hash([("b", "2"), ("a", "1")])
        True
    """
    return hashlib.sha256(json.dumps(sorted(map(list, golds))).encode()).hexdigest()
