"""One scored document: its matches, what is right in them, and the unit that a corpus score sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tls_tasks.core.prf import Counts
from tls_tasks.evidence.matching import Match
from tls_tasks.evidence.postprocess import Change
from tls_tasks.evidence.read import ParsedEvidence
from tls_tasks.evidence.types import Attribute, EvidenceObject, EvidenceSchema, scalar_text
from tls_tasks.text.quotes import Source

OTHER = "(other)"
"""Stands in results for every domain that the schema does not have, and for objects without one."""


class Comparison(NamedTuple):
    """One attribute of two matched objects: the values that count, as text; None: the prediction has none."""

    attribute: Attribute
    reference: str
    predicted: str | None

    @property
    def is_right(self) -> bool:
        """Whether both are the same text."""
        return self.reference == self.predicted


@dataclass(frozen=True, slots=True)
class Document:
    """What one document contributes to a score.

    Attributes:
        row: Its position in ``predictions``.
        schema: What its objects may hold.
        parsed: How the prediction was read.
        wanted: The reference's objects.
        predicted: The predicted objects that are scored.
        matches: Which belong together.
        source: The text that they quote, if it is known.
        grounded: For each predicted object, whether its quote stands verbatim in the source; empty without a source.
        changes: What post-processing did.
    """

    row: int
    schema: EvidenceSchema
    parsed: ParsedEvidence
    wanted: tuple[EvidenceObject, ...]
    predicted: tuple[EvidenceObject, ...]
    matches: tuple[Match, ...]
    source: Source | None
    grounded: tuple[bool, ...]
    changes: tuple[Change, ...] = ()

    def comparisons(self, match: Match) -> Iterator[Comparison]:
        """The attributes of a match that the reference states, or that have a default."""
        wanted, predicted = self.wanted[match.reference], self.predicted[match.prediction]
        for attribute, key in self.schema.fields_of(str(wanted.domain)):
            value = _value(wanted, attribute, key)
            if value is not None:
                yield Comparison(attribute, value, _value(predicted, attribute, key))

    def missed(self) -> list[int]:
        """The positions of the reference's objects that have no match."""
        found = {match.reference for match in self.matches}
        return [position for position in range(len(self.wanted)) if position not in found]

    def spurious(self) -> list[int]:
        """The positions of the predicted objects that have no match."""
        used = {match.prediction for match in self.matches}
        return [position for position in range(len(self.predicted)) if position not in used]

    def label(self, domain: str | None) -> str:
        """A domain as results name it."""
        return domain if domain is not None and domain in self.schema.domains else OTHER

    def unit(self) -> dict[str, float]:
        """Its sums.

        1 as ``n``; ``tp``, ``fp``, ``fn``, ``objects`` (predicted); ``exact`` and ``overlap`` (matches of equal spans,
        and the sum of overlaps); ``NAME/right`` and ``NAME/asked`` of each attribute and of ``bucket``; ``sourced``,
        ``checked``, ``grounded``, ``grounded_normalised``; ``domain/DOMAIN/tp`` and so on; ``macro/precision`` and so
        on; ``parse_failures``, ``schema_invalid``.
        """
        missed, spurious, hits = self.missed(), self.spurious(), len(self.matches)
        macro = Counts(hits, len(self.predicted), hits, len(self.wanted)).prf()
        unit: dict[str, float] = {
            **{"n": 1, "tp": hits, "fp": len(spurious), "fn": len(missed), "objects": len(self.predicted)},
            **{"exact": 0, "overlap": 0.0},
            **{f"macro/{name}": value for name, value in macro._asdict().items()},
            "parse_failures": int(self.parsed.failed),
            "schema_invalid": sum(bool(entry.issues) for entry in self.parsed.value or ()),
            **{f"domain/{domain}/{part}": 0 for domain in (*self.schema.domains, OTHER) for part in ("tp", "fp", "fn")},
            **{f"{name}/{part}": 0 for name in self.schema.accuracy_names for part in ("right", "asked")},
            **self._grounding(),
        }
        for position in missed:
            unit[f"domain/{self.label(self.wanted[position].domain)}/fn"] += 1
        for position in spurious:
            unit[f"domain/{self.label(self.predicted[position].domain)}/fp"] += 1
        for match in self.matches:
            wanted = self.wanted[match.reference]
            unit[f"domain/{self.label(wanted.domain)}/tp"] += 1
            unit["overlap"] += match.overlap
            unit["exact"] += wanted.span == self.predicted[match.prediction].span
            self._add_comparisons(unit, match)
        return unit

    def _add_comparisons(self, unit: dict[str, float], match: Match) -> None:
        buckets = []
        for attribute, wanted, predicted in self.comparisons(match):
            is_right = wanted == predicted
            unit[f"{attribute.name}/asked"] += 1
            unit[f"{attribute.name}/right"] += is_right
            if attribute.bucket:
                buckets.append(is_right)
        if buckets:
            unit["bucket/asked"] += 1
            unit["bucket/right"] += all(buckets)

    def _grounding(self) -> dict[str, float]:
        if self.source is None:
            return dict.fromkeys(("sourced", "checked", "grounded", "grounded_normalised"), 0)
        normalised = sum(
            is_grounded or (entry.span is not None and self.source.holds_normalised(entry.span))
            for entry, is_grounded in zip(self.predicted, self.grounded, strict=True)
        )
        grounded = sum(self.grounded)
        return {"sourced": 1, "checked": len(self.predicted), "grounded": grounded, "grounded_normalised": normalised}

    def as_dict(self) -> dict[str, Any]:
        """Its own scores and objects as plain values.

        ``places`` are [start, end] of where a span stands in the source: verbatim, or but for Unicode form, quotation
        marks and blanks; None without a source.
        """
        missed, spurious, hits = self.missed(), self.spurious(), len(self.matches)
        flags = {
            "parse_failure": self.parsed.failed,
            "no_predicted_objects": not self.predicted,
            "no_reference_objects": not self.wanted,
            "no_source": self.source is None,
        }
        item = {
            "row": self.row,
            **Counts(hits, len(self.predicted), hits, len(self.wanted)).prf()._asdict(),
            **{"tp": hits, "fp": len(spurious), "fn": len(missed)},
            "status": self.parsed.status,
            "flags": [flag for flag, holds in flags.items() if holds],
            "matches": [self._match_as_dict(match) for match in self.matches],
            "misses": [self._object_as_dict(self.wanted[position], position) for position in missed],
            "spurious": [self._predicted_as_dict(position) for position in spurious],
        }
        return {**item, "changes": [change._asdict() for change in self.changes]} if self.changes else item

    def _match_as_dict(self, match: Match) -> dict[str, Any]:
        return {
            "overlap": match.overlap,
            "reference": self._object_as_dict(self.wanted[match.reference], match.reference),
            "prediction": self._predicted_as_dict(match.prediction),
            "attributes": {
                comparison.attribute.name: {
                    "reference": comparison.reference,
                    "predicted": comparison.predicted,
                    "right": comparison.is_right,
                }
                for comparison in self.comparisons(match)
            },
        }

    def _predicted_as_dict(self, position: int) -> dict[str, Any]:
        entry = self.predicted[position]
        grounded = None if self.source is None else self.grounded[position]
        return {**self._object_as_dict(entry, position), "grounded": grounded, "issues": list(entry.issues)}

    def _object_as_dict(self, entry: EvidenceObject, position: int) -> dict[str, Any]:
        places = None if self.source is None else [list(place) for place in self.source.places(entry.span or "")]
        return {"position": position, "domain": entry.domain, "span": entry.span, "places": places}


def _value(entry: EvidenceObject, attribute: Attribute, key: str) -> str | None:
    """The value of an attribute as text: its default where the key is missing or null; None where there is none."""
    value = entry.fields.get(key)
    if type(value) is str:  # nearly always, and there may be millions
        return value
    return attribute.default if value is None else scalar_text(value)
