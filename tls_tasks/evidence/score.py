"""One scored document, its unit, and the corpus score: the table of results, with details that help a prompt."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tls_tasks.core.score import Counts, Result, Score, ratio, total, values
from tls_tasks.core.terminal import shown
from tls_tasks.evidence.matching import Match
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
    """

    row: int
    schema: EvidenceSchema
    parsed: ParsedEvidence
    wanted: tuple[EvidenceObject, ...]
    predicted: tuple[EvidenceObject, ...]
    matches: tuple[Match, ...]
    source: Source | None
    grounded: tuple[bool, ...]

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

    def unmatched(self) -> list[list[int]]:
        """The positions of the reference's and of the predicted objects that have no match."""
        matched = ({match[side] for match in self.matches} for side in (0, 1))
        sides = zip((self.wanted, self.predicted), matched, strict=True)
        return [[place for place in range(len(objects)) if place not in places] for objects, places in sides]

    def label(self, domain: str | None) -> str:
        """The name of a domain in results."""
        return domain if domain is not None and domain in self.schema.domains else OTHER

    def unit(self) -> dict[str, float]:
        """Its sums.

        1 as ``n``; ``tp``, ``fp``, ``fn``, ``objects`` (predicted); ``NAME/right`` and ``NAME/asked`` of each attribute
        and of ``bucket``; ``sourced``, ``checked``, ``grounded``, ``grounded_normalised``; ``domain/DOMAIN/tp`` and so
        on; ``macro/precision`` and so on; ``parse_failures``, ``schema_invalid``.
        """
        pairs = [(self.wanted[match.reference], self.predicted[match.prediction]) for match in self.matches]
        unit: dict[str, float] = {
            "n": 1,
            **_hits("", len(pairs), len(self.predicted), len(self.wanted)),
            "objects": len(self.predicted),
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
        n: Counter[str] = Counter()
        for match in self.matches:
            compared = self.comparisons(match)
            rights = {attribute.name: wanted == predicted for attribute, wanted, predicted in compared}
            if buckets := [rights[attribute.name] for attribute, *_ in compared if attribute.bucket]:
                rights["bucket"] = all(buckets)
            for name, is_right in rights.items():
                n[f"{name}/right"] += is_right
                n[f"{name}/asked"] += 1
        return {key: n[key] for name in self.schema.accuracy_names for key in (f"{name}/right", f"{name}/asked")}

    def _grounding(self) -> dict[str, float]:
        """Whether there is a source, and how many quotes are in it: verbatim, and normalised."""
        if self.source is None:
            return dict.fromkeys(("sourced", "checked", "grounded", "grounded_normalised"), 0)
        holds = self.source.holds_normalised
        normalised = sum(entry.span is not None and holds(entry.span) for entry in self.predicted)
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
        missed, spurious = self.unmatched()
        return {
            "row": self.row,
            **self._prf(),
            **_hits("", len(self.matches), len(self.predicted), len(self.wanted)),
            "status": self.parsed.status,
            "flags": [flag for flag, holds in flags.items() if holds],
            "matches": [
                {
                    "overlap": match.overlap,
                    "reference": self._object_as_dict(self.wanted[match.reference], match.reference),
                    "prediction": self._predicted_as_dict(match.prediction),
                    "attributes": {
                        attribute.name: {"reference": wanted, "predicted": predicted, "right": wanted == predicted}
                        for attribute, wanted, predicted in self.comparisons(match)
                    },
                }
                for match in self.matches
            ],
            "misses": [self._object_as_dict(self.wanted[position], position) for position in missed],
            "spurious": [self._predicted_as_dict(position) for position in spurious],
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


def _share(hits: float, others: float) -> float:
    return hits / (hits + others) if hits + others else 0.0


def _f1(tp: float, fp: float, fn: float) -> float:
    return Counts(tp, tp + fp, tp, tp + fn).prf().f1


def _coverage(sourced: float, checked: float, grounded: float) -> float:
    """NaN if no document has a source."""
    if not sourced:
        return math.nan
    return grounded / checked if checked else 0.0


@lru_cache
def _matched(prefix: str = "") -> dict[str, Result]:
    """How many objects of all documents were found, spurious and missed; their precision, recall and F1."""
    tp, fp, fn = (f"{prefix}{part}" for part in ("tp", "fp", "fn"))
    return {
        **{part: total(f"{prefix}{part}", better=part == "tp") for part in ("tp", "fp", "fn")},
        # No part more than each needs: its interval is made of them.
        "precision": Result((tp, fp), _share),
        "recall": Result((tp, fn), _share),
        "f1": Result((tp, fp, fn), _f1),
    }


def accuracy_result(name: str) -> Result:
    """The accuracy of an attribute, or of ``bucket``, over matched objects."""
    return ratio(f"{name}/right", f"{name}/asked")


def results(schema: EvidenceSchema) -> dict[str, Result]:
    """The table of ``evidence_extraction``; the parts are those of :meth:`.Document.unit`."""
    return {
        **_matched(),
        **{f"{name}_accuracy": accuracy_result(name) for name in schema.accuracy_names},
        **{
            f"evidence_coverage{kind}": Result(("sourced", "checked", f"grounded{kind}"), _coverage, empty=math.nan)
            for kind in ("", "_normalised")
        },
        "parse_failures": total("parse_failures", better=False),
        "schema_invalid": total("schema_invalid", better=False),
    }


def domains(schema: EvidenceSchema, score: Score) -> dict[str, Any]:
    """Domain -> precision, recall, F1 and counts; domains that are not in the schema are combined as ``(other)``."""
    found: dict[str, dict[str, float]] = {}
    for domain in (*schema.domains, OTHER):
        numbers = values(_matched(f"domain/{domain}/"), score.units)
        counts = {part: int(numbers[part]) for part in ("tp", "fp", "fn")}
        if domain != OTHER or any(counts.values()):
            found[domain] = {**numbers, **counts}
    return {"domains": found}


def _quoted(entry: EvidenceObject) -> str:
    return f"{shown(str(entry.domain))}: {shown(str(entry.span))}"


def explanation(document: Document) -> Iterator[str]:
    """The matches of a document with their overlap and attributes, then what was missed, then what is spurious."""
    for match in document.matches:
        wanted, predicted = document.wanted[match.reference], document.predicted[match.prediction]
        yield f"  match     {shown(str(wanted.domain))}: overlap {match.overlap:.3g}"
        yield f"    reference  {shown(str(wanted.span))}"
        yield f"    predicted  {shown(str(predicted.span))}"
        for attribute, value, answer in document.comparisons(match):
            sign = "=" if value == answer else "x"
            yield f"    {sign} {attribute.name}: {shown(str(value))} / {shown(str(answer))}"
    missed, spurious = document.unmatched()
    for place in missed:
        yield f"  missed    {_quoted(document.wanted[place])}"
    for place in spurious:
        unfounded = document.source is not None and not document.grounded[place]
        wrong = [*document.predicted[place].issues, *["not in the text"] * unfounded]
        yield "; ".join([f"  spurious  {_quoted(document.predicted[place])}", *wrong])
    if document.parsed.failed:
        yield "  parse failure"


def details(schema: EvidenceSchema, score: Score) -> dict[str, Any]:
    """The accuracy of all buckets field by field, and how often predicted objects violate the schema, by kind."""
    buckets = [attribute.name for attribute in schema.attributes if attribute.bucket]
    right, asked = (
        sum(int(unit[f"{name}/{part}"]) for unit in score.units for name in buckets) for part in ("right", "asked")
    )
    objects = (entry for document in score.items for entry in document.parsed.value or ())
    issues = Counter(issue for entry in objects for issue in entry.issues)
    return {"bucket_field_accuracy": right / asked if asked else 0.0, "issues": dict(issues.most_common())}
