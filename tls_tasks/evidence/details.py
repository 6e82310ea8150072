"""What a person reads to improve a prompt: matches, misses and spurious objects, and what was taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tls_tasks.evidence.matching import Match, Matcher
from tls_tasks.evidence.scored_documents import OTHER, Comparison, Document, Names, domain_label
from tls_tasks.evidence.types import EvidenceObject

NONE = "(none)"
"""Stands in a confusion table for no object on the other side, and for an attribute without a value."""

Table = dict[str, dict[str, int]]


def item_of(document: Document, names: Names) -> dict[str, Any]:
    """A document's own scores and objects as plain values.

    ``places`` are [start, end] of where a span stands in the source: verbatim, or but for Unicode form, quotation marks
    and blanks; None without a source.
    """
    precision, recall, f1 = document.counts.prf()
    missed, spurious = document.missed(), document.spurious()
    item: dict[str, Any] = {
        "row": document.row,
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "tp": len(document.matches),
        "fp": len(spurious),
        "fn": len(missed),
        "status": document.parsed.status,
        "flags": _flags(document),
        "matches": [_match(document, match, names) for match in document.matches],
        "misses": [_object(document, document.wanted[position], position) for position in missed],
        "spurious": [_predicted(document, position) for position in spurious],
    }
    if document.changes:
        item["changes"] = [change._asdict() for change in document.changes]
    return item


def confusions(documents: Sequence[Document], matcher: Matcher) -> dict[str, Table]:
    """Tables of the reference's value -> the predicted value -> how often.

    ``domain``: of the matches, and of what is left on both sides after matching it once more with the domain ignored;
    ``(none)`` stands for no counterpart. Each attribute: of the matches.
    """
    schema, names = matcher.schema, Names(matcher.schema)
    tables: dict[str, Table] = {"domain": {}, **{attribute.name: {} for attribute in schema.attributes}}
    for document in documents:
        for wanted, predicted in _domain_pairs(document, matcher):
            _count(tables["domain"], wanted, predicted)
        for match in document.matches:
            for comparison in document.comparisons(match, names):
                _count(tables[comparison.field.attribute.name], comparison.reference, _written(comparison))
    return tables


def _domain_pairs(document: Document, matcher: Matcher) -> list[tuple[str, str]]:
    wanted = {position: domain_label(one.domain, matcher.schema) for position, one in enumerate(document.wanted)}
    predicted = {position: domain_label(one.domain, matcher.schema) for position, one in enumerate(document.predicted)}
    missed, spurious = set(document.missed()), set(document.spurious())
    across = matcher.match(
        [one if position in missed else None for position, one in enumerate(document.wanted)],
        [one if position in spurious else None for position, one in enumerate(document.predicted)],
        across_domains=True,
    )
    matches = (*document.matches, *across)
    pairs = [(wanted.pop(match.reference), predicted.pop(match.prediction)) for match in matches]
    return [*pairs, *((label, NONE) for label in wanted.values()), *((NONE, label) for label in predicted.values())]


def _count(table: Table, wanted: str, predicted: str) -> None:
    row = table.setdefault(wanted, {})
    row[predicted] = row.get(predicted, 0) + 1


def _written(comparison: Comparison) -> str:
    """The predicted value; one that the schema does not have is ``(other)``, since a model may say anything."""
    value = comparison.predicted
    if value is None:
        return NONE
    return value if value in comparison.field.attribute.values or comparison.right else OTHER


def _flags(document: Document) -> list[str]:
    flags = {
        "parse_failure": document.parsed.failed,
        "no_predicted_objects": not document.predicted,
        "no_reference_objects": not document.wanted,
        "no_source": document.source is None,
    }
    return [flag for flag, holds in flags.items() if holds]


def _match(document: Document, match: Match, names: Names) -> dict[str, Any]:
    return {
        "overlap": match.overlap,
        "reference": _object(document, document.wanted[match.reference], match.reference),
        "prediction": _predicted(document, match.prediction),
        "attributes": {
            comparison.field.attribute.name: {
                "reference": comparison.reference,
                "predicted": comparison.predicted,
                "right": comparison.right,
            }
            for comparison in document.comparisons(match, names)
        },
    }


def _object(document: Document, one: EvidenceObject, position: int) -> dict[str, Any]:
    places = None if document.source is None else [list(place) for place in document.source.places(one.span or "")]
    return {"position": position, "domain": one.domain, "span": one.span, "places": places}


def _predicted(document: Document, position: int) -> dict[str, Any]:
    one = document.predicted[position]
    grounded = document.grounded[position] if document.source is not None else None
    return {**_object(document, one, position), "grounded": grounded, "issues": list(one.issues)}
