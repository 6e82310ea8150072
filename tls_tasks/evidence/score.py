"""The typed score of evidence-grounded extraction: sums of documents, and every result as a function of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tls_tasks.core.intervals import bootstrap_results, total_of
from tls_tasks.core.scores import PRF, Counts
from tls_tasks.evidence.details import confusions, item_of
from tls_tasks.evidence.matching import Matcher
from tls_tasks.evidence.scored_documents import OTHER, Document, Names, no_sums
from tls_tasks.evidence.types import EvidenceSchema

COUNTED = ("tp", "fp", "fn", "parse_failures", "schema_invalid")
"""The results that are counts."""


@dataclass(frozen=True)
class EvidenceScore:
    """A corpus score with everything that it was made from.

    Attributes:
        metric: Registry name.
        signature: How the numbers were made.
        matcher: How objects were matched; holds the schema.
        documents: One a row, in order.
        units: Each document's sums, see :func:`~tls_tasks.evidence.scored_documents.no_sums`.
        macro: Whether the means over documents are reported too.
        confidence: Options of :func:`~tls_tasks.core.intervals.bootstrap_results` if ``as_dict`` gives ``<key>_ci``.
    """

    metric: str
    signature: str
    matcher: Matcher
    documents: tuple[Document, ...]
    units: tuple[Mapping[str, float], ...]
    macro: bool = False
    confidence: Mapping[str, Any] | None = field(default=None)

    @property
    def schema(self) -> EvidenceSchema:
        """What was scored."""
        return self.matcher.schema

    @cached_property
    def totals(self) -> dict[str, float]:
        """The sums over all documents."""
        return total_of(self.units) if self.units else no_sums(self.schema)

    @property
    def parse_failures(self) -> int:
        """How many predictions could not be read at all."""
        return int(self.totals["parse_failures"])

    @property
    def problems(self) -> dict[int, dict[str, int]]:
        """Row -> kind of trouble in the model's text -> how often."""
        counts = {document.row: document.parsed.counts() for document in self.documents}
        return {row: kinds for row, kinds in counts.items() if kinds}

    def results(self, totals: Mapping[str, float]) -> dict[str, float]:
        """The reported numbers of any such totals; a coverage is NaN where no document has a source."""
        precision, recall, f1 = _prf(totals["tp"], totals["fp"], totals["fn"])
        result = {
            **{name: totals[name] for name in COUNTED[:3]},
            "precision": precision,
            "recall": recall,
            "f1": f1,
            **{f"{name}_accuracy": _ratio(totals, f"{name}/right", f"{name}/asked") for name in self._accuracies()},
        }
        for key, name in (("evidence_coverage", "grounded"), ("evidence_coverage_normalised", "grounded_normalised")):
            result[key] = _ratio(totals, name, "checked") if totals["sourced"] else math.nan
        if self.macro:
            for part in PRF._fields:
                result[f"macro_{part}"] = _ratio(totals, f"macro/{part}", "documents")
        return result | {name: totals[name] for name in COUNTED[3:]}

    def domains(self) -> dict[str, dict[str, float]]:
        """Domain -> its precision, recall, F1 and counts; what the schema doesn't have is one domain, ``(other)``."""
        result: dict[str, dict[str, float]] = {}
        for domain in (*self.schema.domains, OTHER):
            tp, fp, fn = (int(self.totals[f"domain/{domain}/{part}"]) for part in ("tp", "fp", "fn"))
            if domain != OTHER or tp or fp or fn:
                result[domain] = {**_prf(tp, fp, fn)._asdict(), "tp": tp, "fp": fp, "fn": fn}
        return result

    def schemes(self) -> dict[str, dict[str, float]]:
        """The same matches counted otherwise.

        ``exact``: a match counts if both spans are the same text; ``partial``: it counts 1 if they are and 1/2 if not,
        as in MUC; ``soft``: it counts its overlap.
        """
        totals = self.totals
        hits = {
            "exact": totals["exact"],
            "partial": totals["exact"] + (totals["tp"] - totals["exact"]) / 2,
            "soft": totals["overlap"],
        }
        predicted, wanted = totals["tp"] + totals["fp"], totals["tp"] + totals["fn"]
        return {name: Counts(hit, predicted, hit, wanted).prf()._asdict() for name, hit in hits.items()}

    def as_dict(self, detailed: bool = False) -> dict[str, Any]:
        """The result as plain values; ``detailed`` adds schemes, confusion tables, items and what went wrong."""
        numbers = self.results(self.totals)
        result: dict[str, Any] = {key: int(value) if key in COUNTED else value for key, value in numbers.items()}
        result |= {key: None for key, value in numbers.items() if math.isnan(value)}
        result["domains"] = self.domains()
        if self.confidence is not None:
            intervals = bootstrap_results(self, **self.confidence)
            result |= {f"{key}_ci": list(ends) for key, ends in intervals.items() if key not in COUNTED}
        result["signature"] = self.signature
        return {**result, **self._details()} if detailed else result

    def _details(self) -> dict[str, Any]:
        buckets = [attribute.name for attribute in self.schema.attributes if attribute.bucket]
        right, asked = (sum(self.totals[f"{name}/{part}"] for name in buckets) for part in ("right", "asked"))
        names = Names(self.schema)
        issues = Counter(
            issue for document in self.documents for one in document.parsed.value or () for issue in one.issues
        )
        changes = Counter(change.kind for document in self.documents for change in document.changes)
        return {
            "schemes": self.schemes(),
            "bucket_field_accuracy": right / asked if asked else 0.0,
            "confusions": confusions(self.documents, self.matcher),
            "issues": dict(issues.most_common()),
            "changes": dict(changes.most_common()),
            "items": [item_of(document, names) for document in self.documents],
            "problems": self.problems,
        }

    def _accuracies(self) -> Iterator[str]:
        """The names of what is compared on matches; ``bucket`` before the attributes that it is made of."""
        attributes = self.schema.attributes
        yield from (attribute.name for attribute in attributes if not attribute.bucket)
        if any(attribute.bucket for attribute in attributes):
            yield "bucket"
        yield from (attribute.name for attribute in attributes if attribute.bucket)


def _prf(tp: float, fp: float, fn: float) -> PRF:
    return Counts(tp, tp + fp, tp, tp + fn).prf()


def _ratio(totals: Mapping[str, float], hits: str, of: str) -> float:
    return totals[hits] / totals[of] if totals[of] else 0.0
