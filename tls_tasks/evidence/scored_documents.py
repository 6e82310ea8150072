"""One scored document: its matches, what was right in them, and the sums that a corpus score is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tls_tasks.core.scores import Counts
from tls_tasks.evidence.matching import Match
from tls_tasks.evidence.objects import scalar_text
from tls_tasks.evidence.postprocess import Change
from tls_tasks.evidence.read import ParsedEvidence
from tls_tasks.evidence.types import Attribute, EvidenceObject, EvidenceSchema
from tls_tasks.text.quotes import Source

OTHER = "(other)"
"""Stands in results for every domain that the schema does not have, and for objects without one."""


class Field(NamedTuple):
    """One attribute of the objects of a domain: itself, what of it is looked up often, and the names of its sums."""

    attribute: Attribute
    key: str
    default: str | None
    bucket: bool
    asked: str
    right: str


class Names:
    """What is looked up by a schema's names, once a corpus.

    Attributes:
        schema: The schema.
        no_sums: The sums of no document, see :func:`no_sums`.
    """

    def __init__(self, schema: EvidenceSchema) -> None:
        self.schema = schema
        self.no_sums = no_sums(schema)
        self._fields: dict[str, list[Field]] = {}

    def fields_of(self, domain: str) -> list[Field]:
        """The attributes of the objects of a domain."""
        if domain not in self._fields:
            self._fields[domain] = [
                Field(one, key, one.default, one.bucket, f"{one.name}/asked", f"{one.name}/right")
                for one, key in self.schema.fields_of(domain)
            ]
        return self._fields[domain]


class Comparison(NamedTuple):
    """One attribute of two matched objects; ``reference`` and ``predicted`` are the values that count."""

    field: Field
    reference: str
    predicted: str | None

    @property
    def right(self) -> bool:
        """Whether both are the same text."""
        return self.reference == self.predicted


@dataclass(frozen=True, slots=True)
class Document:
    """What one document contributes to a score.

    Attributes:
        row: Its position in ``predictions``.
        wanted: The reference's objects.
        predicted: The predicted objects that are scored.
        matches: Which belong together.
        source: The text that they quote, if it is known.
        grounded: For each predicted object, whether its quote stands verbatim in the source; empty without a source.
        parsed: How the prediction was read.
        changes: What post-processing did.
    """

    row: int
    wanted: tuple[EvidenceObject, ...]
    predicted: tuple[EvidenceObject, ...]
    matches: tuple[Match, ...]
    source: Source | None
    grounded: tuple[bool, ...]
    parsed: ParsedEvidence
    changes: tuple[Change, ...] = ()

    def comparisons(self, match: Match, names: Names) -> Iterator[Comparison]:
        """The attributes of a match that the reference states, or that have a default."""
        wanted, predicted = self.wanted[match.reference], self.predicted[match.prediction]
        for field in names.fields_of(str(wanted.domain)):
            value = value_of(wanted, field)
            if value is not None:
                yield Comparison(field, value, value_of(predicted, field))

    def missed(self) -> list[int]:
        """The positions of the reference's objects that have no match."""
        found = {match.reference for match in self.matches}
        return [position for position in range(len(self.wanted)) if position not in found]

    def spurious(self) -> list[int]:
        """The positions of the predicted objects that have no match."""
        used = {match.prediction for match in self.matches}
        return [position for position in range(len(self.predicted)) if position not in used]

    @property
    def counts(self) -> Counts:
        """Its precision and recall."""
        hits = len(self.matches)
        return Counts(hits, len(self.predicted), hits, len(self.wanted))


def value_of(one: EvidenceObject, field: Field) -> str | None:
    """The value of an attribute as text: its default where the key is missing or null; None where there is none."""
    value = one.fields.get(field.key)
    if type(value) is str:
        return value
    return field.default if value is None else scalar_text(value)


def sums_of(document: Document, names: Names) -> dict[str, float]:
    """The document's sums; the names are those of :func:`no_sums`."""
    sums = dict(names.no_sums)
    hits, counts = len(document.matches), document.counts
    sums["tp"], sums["fp"], sums["fn"] = hits, counts.predicted - hits, counts.reference - hits
    sums["documents"] = 1
    sums["macro/precision"], sums["macro/recall"], sums["macro/f1"] = counts.prf()
    sums["parse_failures"] = int(document.parsed.failed)
    sums["schema_invalid"] = sum(bool(one.issues) for one in document.parsed.value or ())
    _add_domains(sums, document, names.schema)
    for match in document.matches:
        _add_match(sums, document, match, names)
    if document.source is not None:
        sums["sourced"], sums["checked"], sums["grounded"] = 1, len(document.predicted), sum(document.grounded)
        sums["grounded_normalised"] = sum(
            grounded or (one.span is not None and document.source.holds_normalised(one.span))
            for one, grounded in zip(document.predicted, document.grounded, strict=True)
        )
    return sums


def no_sums(schema: EvidenceSchema) -> dict[str, float]:
    """The sums of no document: every name with 0.

    ``tp``, ``fp``, ``fn``; ``exact`` and ``overlap`` (matches of equal spans, and the sum of overlaps); ``NAME/right``
    and ``NAME/asked`` of each attribute and of ``bucket``; ``sourced``, ``checked``, ``grounded``,
    ``grounded_normalised``; ``domain/DOMAIN/tp`` and so on; ``documents`` and ``macro/...``; ``parse_failures``,
    ``schema_invalid``.
    """
    names = ["tp", "fp", "fn", "exact", "overlap", "sourced", "checked", "grounded", "grounded_normalised"]
    names += [f"{one}/{part}" for one in (*attribute_names(schema), "bucket") for part in ("right", "asked")]
    names += [f"domain/{domain}/{part}" for domain in (*schema.domains, OTHER) for part in ("tp", "fp", "fn")]
    names += ["documents", "macro/precision", "macro/recall", "macro/f1", "parse_failures", "schema_invalid"]
    return dict.fromkeys(names, 0)


def attribute_names(schema: EvidenceSchema) -> list[str]:
    """The names of a schema's attributes, in order."""
    return [attribute.name for attribute in schema.attributes]


def domain_label(domain: str | None, schema: EvidenceSchema) -> str:
    """A domain as results name it."""
    return domain if domain is not None and domain in schema.domains else OTHER


def _add_domains(sums: dict[str, float], document: Document, schema: EvidenceSchema) -> None:
    wanted = Counter([one.domain for one in document.wanted])
    predicted = Counter([one.domain for one in document.predicted])
    hits = Counter([document.wanted[match.reference].domain for match in document.matches])
    for domain in {*wanted, *predicted}:
        label, n_hits = domain_label(domain, schema), hits[domain]
        sums[f"domain/{label}/tp"] += n_hits
        sums[f"domain/{label}/fp"] += predicted[domain] - n_hits
        sums[f"domain/{label}/fn"] += wanted[domain] - n_hits


def _add_match(sums: dict[str, float], document: Document, match: Match, names: Names) -> None:
    wanted, predicted = document.wanted[match.reference], document.predicted[match.prediction]
    sums["overlap"] += match.overlap
    sums["exact"] += wanted.span == predicted.span
    asked = right = 0
    for field in names.fields_of(str(wanted.domain)):
        _, key, _, bucket, asked_name, right_name = field
        value, told = wanted.fields.get(key), predicted.fields.get(key)
        if not type(value) is type(told) is str:  # rarely, and a call takes longer than all the rest
            value, told = value_of(wanted, field), value_of(predicted, field)
        if value is not None:
            is_right = value == told
            sums[asked_name] += 1
            sums[right_name] += is_right
            asked += bucket
            right += is_right and bucket
    sums["bucket/asked"] += asked > 0
    sums["bucket/right"] += 0 < asked == right
