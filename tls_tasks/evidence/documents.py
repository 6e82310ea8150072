"""One scored document: its matches, what is right about them, and its unit for the corpus score."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.prf import Counts, plain_sum
from tls_tasks.evidence.matching import Match
from tls_tasks.evidence.postprocess import Change
from tls_tasks.evidence.read import ParsedEvidence
from tls_tasks.evidence.types import Attribute, EvidenceObject, EvidenceSchema, scalar_text
from tls_tasks.text.quotes import Source

OTHER = "(other)"
"""In results, all domains that are not in the schema, and objects without a domain."""


@dataclass(frozen=True, slots=True)
class Document:
    """What one document contributes to a score.

    Attributes:
        row: Position in ``predictions``.
        schema: What the objects may hold.
        parsed: The prediction as it was read.
        wanted: The reference objects.
        predicted: The predicted objects that are scored.
        matches: Pairs of both.
        source: The text that they quote, if it is known.
        grounded: For each predicted object, whether its quote is verbatim in the source; empty without a source.
        changes: What post-processing changed.
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

    def comparisons(self, match: Match) -> list[tuple[Attribute, str, str | None]]:
        """The attributes of a match that the reference object has or that have a default.

        Returns:
            Each with its value in the reference and in the prediction, as text; None if the prediction has none.
        """
        wanted, predicted = self.wanted[match.reference], self.predicted[match.prediction]
        return [
            (attribute, value, _value(predicted, attribute, key))
            for attribute, key in self.schema.fields_of(str(wanted.domain))
            if (value := _value(wanted, attribute, key)) is not None
        ]

    def missed(self) -> list[int]:
        """The positions of the reference's objects that have no match."""
        found = {match.reference for match in self.matches}
        return [position for position in range(len(self.wanted)) if position not in found]

    def spurious(self) -> list[int]:
        """The positions of the predicted objects that have no match."""
        used = {match.prediction for match in self.matches}
        return [position for position in range(len(self.predicted)) if position not in used]

    def label(self, domain: str | None) -> str:
        """The name of a domain in results."""
        return domain if domain is not None and domain in self.schema.domains else OTHER

    def unit(self) -> dict[str, float]:
        """Its sums.

        1 as ``n``; ``tp``, ``fp``, ``fn``, ``objects`` (predicted); ``exact`` and ``overlap`` (matches of equal spans,
        and the sum of overlaps); ``NAME/right`` and ``NAME/asked`` of each attribute and of ``bucket``; ``sourced``,
        ``checked``, ``grounded``, ``grounded_normalised``; ``domain/DOMAIN/tp`` and so on; ``macro/precision`` and so
        on; ``parse_failures``, ``schema_invalid``.
        """
        pairs = [(self.wanted[match.reference], self.predicted[match.prediction]) for match in self.matches]
        unit: dict[str, float] = {
            "n": 1,
            **_hits("", len(pairs), len(self.predicted), len(self.wanted)),
            "objects": len(self.predicted),
            "exact": sum(wanted.span == predicted.span for wanted, predicted in pairs),
            "overlap": float(plain_sum(match.overlap for match in self.matches)),
            **{f"macro/{name}": value for name, value in self._prf().items()},
            "parse_failures": int(self.parsed.failed),
            "schema_invalid": sum(bool(entry.issues) for entry in self.parsed.value or ()),
        }
        objects = ([wanted for wanted, _ in pairs], self.predicted, self.wanted)
        found, predicted, wanted = (Counter(self.label(entry.domain) for entry in part) for part in objects)
        for domain in (*self.schema.domains, OTHER):
            unit |= _hits(f"domain/{domain}/", found[domain], predicted[domain], wanted[domain])
        return {**unit, **self._accuracies(), **self._grounding()}

    def _prf(self) -> dict[str, float]:
        hits = len(self.matches)
        return Counts(hits, len(self.predicted), hits, len(self.wanted)).prf()._asdict()

    def _accuracies(self) -> dict[str, float]:
        """How often each attribute, and all bucket attributes together, could be compared and were right."""
        asked = dict.fromkeys(self.schema.accuracy_names, 0)
        right = dict(asked)
        for match in self.matches:
            buckets = []
            for attribute, wanted, predicted in self.comparisons(match):
                is_right = wanted == predicted
                asked[attribute.name] += 1
                right[attribute.name] += is_right
                if attribute.bucket:
                    buckets.append(is_right)
            if buckets:
                asked["bucket"] += 1
                right["bucket"] += all(buckets)
        return {f"{name}/{part}": n[name] for name in asked for part, n in (("right", right), ("asked", asked))}

    def _grounding(self) -> dict[str, float]:
        """Whether there is a source, and how many quotes are in it: verbatim, and normalised."""
        if self.source is None:
            return dict.fromkeys(("sourced", "checked", "grounded", "grounded_normalised"), 0)
        normalised = sum(
            entry.span is not None and self.source.holds_normalised(entry.span) for entry in self.predicted
        )
        parts = {"checked": len(self.predicted), "grounded": sum(self.grounded), "grounded_normalised": normalised}
        return {"sourced": 1, **parts}

    def as_dict(self) -> dict[str, Any]:
        """Its own scores and objects as plain values.

        ``places`` lists [start, end] of each occurrence of the span in the source, verbatim or else up to Unicode form,
        quotation marks and blanks; None without a source.
        """
        flags = {
            "parse_failure": self.parsed.failed,
            "no_predicted_objects": not self.predicted,
            "no_reference_objects": not self.wanted,
            "no_source": self.source is None,
        }
        item = {
            "row": self.row,
            **self._prf(),
            **_hits("", len(self.matches), len(self.predicted), len(self.wanted)),
            "status": self.parsed.status,
            "flags": [flag for flag, holds in flags.items() if holds],
            "matches": [self._match_as_dict(match) for match in self.matches],
            "misses": [self._object_as_dict(self.wanted[position], position) for position in self.missed()],
            "spurious": [self._predicted_as_dict(position) for position in self.spurious()],
        }
        return {**item, "changes": [change._asdict() for change in self.changes]} if self.changes else item

    def _match_as_dict(self, match: Match) -> dict[str, Any]:
        return {
            "overlap": match.overlap,
            "reference": self._object_as_dict(self.wanted[match.reference], match.reference),
            "prediction": self._predicted_as_dict(match.prediction),
            "attributes": {
                attribute.name: {"reference": wanted, "predicted": predicted, "right": wanted == predicted}
                for attribute, wanted, predicted in self.comparisons(match)
            },
        }

    def _predicted_as_dict(self, position: int) -> dict[str, Any]:
        entry = self.predicted[position]
        grounded = None if self.source is None else self.grounded[position]
        return {**self._object_as_dict(entry, position), "grounded": grounded, "issues": list(entry.issues)}

    def _object_as_dict(self, entry: EvidenceObject, position: int) -> dict[str, Any]:
        places = None if self.source is None else [list(place) for place in self.source.places(entry.span or "")]
        return {"position": position, "domain": entry.domain, "span": entry.span, "places": places}


def _hits(prefix: str, hits: int, n_predicted: int, n_wanted: int) -> dict[str, int]:
    """How many objects were found, spurious and missed."""
    return {f"{prefix}tp": hits, f"{prefix}fp": n_predicted - hits, f"{prefix}fn": n_wanted - hits}


def _value(entry: EvidenceObject, attribute: Attribute, key: str) -> str | None:
    """The value of an attribute as text: its default where the key is missing or null; None where there is none."""
    value = entry.fields.get(key)
    if type(value) is str:  # nearly always, and there may be millions
        return value
    return attribute.default if value is None else scalar_text(value)
