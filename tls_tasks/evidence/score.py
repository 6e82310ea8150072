"""One scored document with its unit and explanation, and the table of results of a corpus."""

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

OUTSIDE_SCHEMA = "(other)"
"""The name in results of domains that are not in the schema, and of objects without a domain."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document with its matched objects.

    Attributes:
        row: Index in ``predictions``.
        schema: The schema of the objects.
        parsed: The prediction as it was read.
        gold: The reference objects.
        predicted: The predicted objects that are scored.
        matches: The matches of both, in the order of the reference.
        source: The text that the objects quote, if it is known.
        grounded: For each predicted object, whether its quote is verbatim in the source; empty without a source.
    """

    row: int
    schema: EvidenceSchema
    parsed: ParsedEvidence
    gold: tuple[EvidenceObject, ...]
    predicted: tuple[EvidenceObject, ...]
    matches: tuple[Match, ...]
    source: Source | None
    grounded: tuple[bool, ...]

    def comparisons(self, match: Match) -> list[tuple[Attribute, str, str | None]]:
        """Compare the attributes of a match that the reference object has or that have a default.

        Returns:
            (attribute, reference value, predicted value), values as text; None for a missing predicted value.
        """
        gold, predicted = self.gold[match.reference], self.predicted[match.prediction]
        return [
            (attribute, value, _value(predicted, attribute, key))
            for attribute, key in self.schema.keys_for(str(gold.domain))
            if (value := _value(gold, attribute, key)) is not None
        ]

    def unmatched(self) -> list[list[int]]:
        """Return the indices of the reference objects without a match, and of the predicted objects without one."""
        matched = ({match[side] for match in self.matches} for side in (0, 1))
        sides = zip((self.gold, self.predicted), matched, strict=True)
        return [[index for index in range(len(objects)) if index not in indices] for objects, indices in sides]

    def label(self, domain: str | None) -> str:
        """Return the name of a domain in results."""
        return domain if domain is not None and domain in self.schema.domains else OUTSIDE_SCHEMA

    def unit(self) -> dict[str, float]:
        """Return the document's unit, whose values are summed over a corpus.

        Its keys are ``n`` (always 1); ``tp``, ``fp``, ``fn``, ``objects`` (predicted); ``NAME/right`` and
        ``NAME/asked`` of each attribute and of ``bucket``; ``sourced``, ``checked``, ``grounded``,
        ``grounded_normalised``; ``domain/DOMAIN/tp`` and so on; ``macro/precision`` and so on; ``parse_failures``,
        ``schema_invalid``.
        """
        pairs = [(self.gold[match.reference], self.predicted[match.prediction]) for match in self.matches]
        unit: dict[str, float] = {
            "n": 1,
            **_hits("", len(pairs), len(self.predicted), len(self.gold)),
            "objects": len(self.predicted),
            **{f"macro/{name}": value for name, value in self._prf().items()},
            "parse_failures": int(self.parsed.failed),
            "schema_invalid": sum(bool(entry.issues) for entry in self.parsed.value or ()),
        }
        objects = ([gold for gold, _ in pairs], self.predicted, self.gold)
        hits, predicted, gold = (Counter(self.label(entry.domain) for entry in part) for part in objects)
        for domain in (*self.schema.domains, OUTSIDE_SCHEMA):
            unit |= _hits(f"domain/{domain}/", hits[domain], predicted[domain], gold[domain])
        return {**unit, **self._accuracies(), **self._grounding()}

    def _prf(self) -> dict[str, float]:
        hits = len(self.matches)
        return Counts(hits, len(self.predicted), hits, len(self.gold)).prf()._asdict()

    def _accuracies(self) -> dict[str, float]:
        """Count for each attribute, and for all buckets together, the comparisons (``asked``) and the equal values."""
        n: Counter[str] = Counter()
        for match in self.matches:
            compared = self.comparisons(match)
            equal = {attribute.name: gold == predicted for attribute, gold, predicted in compared}
            if buckets := [equal[attribute.name] for attribute, *_ in compared if attribute.bucket]:
                equal["bucket"] = all(buckets)
            for name, is_equal in equal.items():
                n[f"{name}/right"] += is_equal
                n[f"{name}/asked"] += 1
        return {key: n[key] for name in self.schema.accuracy_names for key in (f"{name}/right", f"{name}/asked")}

    def _grounding(self) -> dict[str, float]:
        """Count whether there is a source, its checked objects, and those with a verbatim or a normalised quote."""
        if self.source is None:
            return dict.fromkeys(("sourced", "checked", "grounded", "grounded_normalised"), 0)
        holds = self.source.holds_normalised
        normalised = sum(entry.span is not None and holds(entry.span) for entry in self.predicted)
        parts = {"checked": len(self.predicted), "grounded": sum(self.grounded), "grounded_normalised": normalised}
        return {"sourced": 1, **parts}

    def as_dict(self) -> dict[str, Any]:
        """Return the document's scores and objects as plain values.

        ``places`` lists [start, end] of each occurrence of the span in the source, verbatim or else up to Unicode form,
        quotation marks and blanks; None without a source.
        """
        flags = {
            "parse_failure": self.parsed.failed,
            "no_predicted_objects": not self.predicted,
            "no_reference_objects": not self.gold,
            "no_source": self.source is None,
        }
        missed, spurious = self.unmatched()
        return {
            "row": self.row,
            **self._prf(),
            **_hits("", len(self.matches), len(self.predicted), len(self.gold)),
            "status": self.parsed.status,
            "flags": [flag for flag, holds in flags.items() if holds],
            "matches": [
                {
                    "overlap": match.overlap,
                    "reference": self._object_as_dict(self.gold[match.reference], match.reference),
                    "prediction": self._predicted_as_dict(match.prediction),
                    "attributes": {
                        attribute.name: {"reference": gold, "predicted": predicted, "right": gold == predicted}
                        for attribute, gold, predicted in self.comparisons(match)
                    },
                }
                for match in self.matches
            ],
            "misses": [self._object_as_dict(self.gold[index], index) for index in missed],
            "spurious": [self._predicted_as_dict(index) for index in spurious],
        }

    def _predicted_as_dict(self, index: int) -> dict[str, Any]:
        entry = self.predicted[index]
        grounded = None if self.source is None else self.grounded[index]
        return {**self._object_as_dict(entry, index), "grounded": grounded, "issues": list(entry.issues)}

    def _object_as_dict(self, entry: EvidenceObject, index: int) -> dict[str, Any]:
        spans = None if self.source is None else [list(span) for span in self.source.places(entry.span or "")]
        return {"position": index, "domain": entry.domain, "span": entry.span, "places": spans}


def _hits(prefix: str, hits: int, n_predicted: int, n_gold: int) -> dict[str, int]:
    """Return the numbers of matched, spurious and missed objects."""
    return {f"{prefix}tp": hits, f"{prefix}fp": n_predicted - hits, f"{prefix}fn": n_gold - hits}


def _value(entry: EvidenceObject, attribute: Attribute, key: str) -> str | None:
    """Return an attribute's value as text, or its default for a missing key or null; None without either."""
    value = entry.fields.get(key)
    if type(value) is str:  # a fast path, since nearly all of perhaps millions of values are text
        return value
    return attribute.default if value is None else scalar_text(value)


def _share(hits: float, misses: float) -> float:
    return hits / (hits + misses) if hits + misses else 0.0


def _f1(tp: float, fp: float, fn: float) -> float:
    return Counts(tp, tp + fp, tp, tp + fn).prf().f1


def _coverage(sourced: float, checked: float, grounded: float) -> float:
    """Return the share of checked objects that are grounded; NaN if no document has a source."""
    if not sourced:
        return math.nan
    return grounded / checked if checked else 0.0


@lru_cache
def _match_results(prefix: str = "") -> dict[str, Result]:
    """Return the results for matched, spurious and missed objects, with their precision, recall and F1."""
    tp, fp, fn = (f"{prefix}{part}" for part in ("tp", "fp", "fn"))
    return {
        **{part: total(f"{prefix}{part}", better=part == "tp") for part in ("tp", "fp", "fn")},
        # Each takes only the parts that it needs, since its interval is computed from them.
        "precision": Result((tp, fp), _share),
        "recall": Result((tp, fn), _share),
        "f1": Result((tp, fp, fn), _f1),
    }


def results(schema: EvidenceSchema) -> dict[str, Result]:
    """Return the table of ``evidence_extraction``; the parts are those of :meth:`.Document.unit`."""
    return {
        **_match_results(),
        **{f"{name}_accuracy": ratio(f"{name}/right", f"{name}/asked") for name in schema.accuracy_names},
        **{
            f"evidence_coverage{kind}": Result(("sourced", "checked", f"grounded{kind}"), _coverage, empty=math.nan)
            for kind in ("", "_normalised")
        },
        "parse_failures": total("parse_failures", better=False),
        "schema_invalid": total("schema_invalid", better=False),
    }


def domains(schema: EvidenceSchema, score: Score) -> dict[str, Any]:
    """Return precision, recall, F1 and counts of each domain; those not in the schema are combined as ``(other)``."""
    by_domain: dict[str, dict[str, float]] = {}
    for domain in (*schema.domains, OUTSIDE_SCHEMA):
        numbers = values(_match_results(f"domain/{domain}/"), score.units)
        counts = {part: int(numbers[part]) for part in ("tp", "fp", "fn")}
        if domain != OUTSIDE_SCHEMA or any(counts.values()):
            by_domain[domain] = {**numbers, **counts}
    return {"domains": by_domain}


def _quoted(entry: EvidenceObject) -> str:
    return f"{shown(str(entry.domain))}: {shown(str(entry.span))}"


def explanation(document: Document) -> Iterator[str]:
    """Yield lines for a document: its matches with overlap and attributes, then missed and spurious objects."""
    for match in document.matches:
        gold, predicted = document.gold[match.reference], document.predicted[match.prediction]
        yield f"  match     {shown(str(gold.domain))}: overlap {match.overlap:.3g}"
        yield f"    reference  {shown(str(gold.span))}"
        yield f"    predicted  {shown(str(predicted.span))}"
        for attribute, value, answer in document.comparisons(match):
            sign = "=" if value == answer else "x"
            yield f"    {sign} {attribute.name}: {shown(str(value))} / {shown(str(answer))}"
    missed, spurious = document.unmatched()
    for index in missed:
        yield f"  missed    {_quoted(document.gold[index])}"
    for index in spurious:
        ungrounded = document.source is not None and not document.grounded[index]
        issues = [*document.predicted[index].issues, *["not in the text"] * ungrounded]
        yield "; ".join([f"  spurious  {_quoted(document.predicted[index])}", *issues])
    if document.parsed.failed:
        yield "  parse failure"


def details(schema: EvidenceSchema, score: Score) -> dict[str, Any]:
    """Return the accuracy over all single bucket attributes, and the number of schema violations of each kind."""
    buckets = [attribute.name for attribute in schema.attributes if attribute.bucket]
    right, compared = (
        sum(int(unit[f"{name}/{part}"]) for unit in score.units for name in buckets) for part in ("right", "asked")
    )
    objects = (entry for document in score.items for entry in document.parsed.value or ())
    issues = Counter(issue for entry in objects for issue in entry.issues)
    return {"bucket_field_accuracy": right / compared if compared else 0.0, "issues": dict(issues.most_common())}
