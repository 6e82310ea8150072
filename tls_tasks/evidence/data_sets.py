"""The data sets of the extraction tasks: ``data_sets.json``, read into typed records, and their schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tls_tasks.core.errors import OptionError
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceSchema

MACCROBAT_SCHEMA = EvidenceSchema(
    name="maccrobat",
    domains=(
        "SIGN_SYMPTOM",
        "DISEASE_DISORDER",
        "DIAGNOSTIC_PROCEDURE",
        "LAB_VALUE",
        "MEDICATION",
        "THERAPEUTIC_PROCEDURE",
    ),
)
"""Entity types of MACCROBAT as domains, without attributes: what was found and what was done. Entities of its other
types (age, place, date, anatomy …) are not asked for."""

_SCHEMAS: Mapping[str, EvidenceSchema] = {
    "evidence_journals": JOURNAL_SCHEMA,
    "evidence_maccrobat": MACCROBAT_SCHEMA,
}


@dataclass(frozen=True, slots=True)
class EvidenceHub:
    """Where a data set lies on the Hugging Face hub.

    Attributes:
        repo_id: Data set repository, ``org/name``.
        revision: Commit of the repository.
        file: The path of the file of rows in the repository.
        rows: How many rows there must be.
    """

    repo_id: str
    revision: str
    file: str
    rows: int


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """What is known of one data set before any of it is read.

    Attributes:
        name: Name of the task and of the embedded edition: ``evidence_journals`` …
        title: The field's name of it.
        folders: Names that its folder has where people keep it.
        licence: Licence of the data.
        citation: Where the data is described.
        homepage: Where it comes from.
        obtain: How to get the data, a sentence without capital and full stop.
        instruction: What the prompt says of the domains of the set's own schema.
        schema: What its objects look like.
        hub: The published source; None if there is none.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    licence: str
    citation: str
    homepage: str
    obtain: str
    instruction: str
    schema: EvidenceSchema
    hub: EvidenceHub | None


@lru_cache(maxsize=1)
def evidence_sets() -> Mapping[str, EvidenceSet]:
    """Every data set of ``data_sets.json`` by name.

    Example:
        >>> list(evidence_sets())
        ['evidence_journals', 'evidence_maccrobat']
    """
    raw = json.loads((Path(__file__).parent / "data_sets.json").read_text(encoding="utf-8"))
    sets = {}
    for name, fields in raw.items():
        hub = None if fields["hub"] is None else EvidenceHub(**fields["hub"])
        own = {"name": name, "folders": tuple(fields["folders"]), "schema": _SCHEMAS[name], "hub": hub}
        sets[name] = EvidenceSet(**{**fields, **own})
    return sets


def evidence_set(name: str) -> EvidenceSet:
    """The data set called ``name``.

    Raises:
        OptionError: If there is none of that name; the message lists the names that exist.

    Example:
        >>> evidence_set("evidence_maccrobat").schema.domains[0]
        'SIGN_SYMPTOM'
    """
    if name not in evidence_sets():
        raise OptionError.unknown("data set", name, evidence_sets())
    return evidence_sets()[name]
