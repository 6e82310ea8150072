"""From documents to corpus scores: the table of results, and details that help to improve a prompt."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from tls_tasks.core.prf import PRF, Counts
from tls_tasks.core.score import Result, Score, mean, ratio, total, values
from tls_tasks.core.terminal import shown
from tls_tasks.evidence.documents import OTHER, Document
from tls_tasks.evidence.matching import Matcher
from tls_tasks.evidence.types import Attribute, EvidenceSchema

_NONE = "(none)"  # in a confusion table: no counterpart, or an attribute without a value

_Confusions = defaultdict[str, Counter[str]]


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
def _prf_results(prefix: str = "") -> dict[str, Result]:
    """Precision, recall and F1 of the objects of all documents together, from the parts ``tp``, ``fp`` and ``fn``."""
    tp, fp, fn = (f"{prefix}{part}" for part in ("tp", "fp", "fn"))
    return {
        "precision": Result((tp, fp), _share),
        "recall": Result((tp, fn), _share),
        "f1": Result((tp, fp, fn), _f1),
    }


@lru_cache
def _count_results(prefix: str = "") -> dict[str, Result]:
    """How many objects were found, spurious and missed."""
    return {part: total(f"{prefix}{part}", better=part == "tp") for part in ("tp", "fp", "fn")}


def accuracy_result(name: str) -> Result:
    """The accuracy of an attribute, or of ``bucket``, over matched objects."""
    return ratio(f"{name}/right", f"{name}/asked")


def results(schema: EvidenceSchema, macro: bool = False) -> dict[str, Result]:
    """The table of ``evidence_extraction``; the parts are those of :meth:`.Document.unit`."""
    return {
        **_count_results(),
        **_prf_results(),
        **{f"{name}_accuracy": accuracy_result(name) for name in schema.accuracy_names},
        **{
            f"evidence_coverage{kind}": Result(("sourced", "checked", f"grounded{kind}"), _coverage, empty=math.nan)
            for kind in ("", "_normalised")
        },
        **({f"macro_{name}": mean(f"macro/{name}") for name in PRF._fields} if macro else {}),
        "parse_failures": total("parse_failures", better=False),
        "schema_invalid": total("schema_invalid", better=False),
    }


def domains(schema: EvidenceSchema, score: Score) -> dict[str, Any]:
    """Domain -> precision, recall, F1 and counts; domains that are not in the schema are combined as ``(other)``."""
    found: dict[str, dict[str, float]] = {}
    for domain in (*schema.domains, OTHER):
        prefix = f"domain/{domain}/"
        numbers = values({**_prf_results(prefix), **_count_results(prefix)}, score.units)
        counts = {part: int(numbers[part]) for part in ("tp", "fp", "fn")}
        if domain != OTHER or any(counts.values()):
            found[domain] = {**numbers, **counts}
    return {"domains": found}


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
    for name, objects, places in (
        ("missed", document.wanted, document.missed()),
        ("spurious", document.predicted, document.spurious()),
    ):
        for place in places:
            wrong = [] if name == "missed" else [*objects[place].issues]
            if name == "spurious" and document.source is not None and not document.grounded[place]:
                wrong.append("not in the text")
            texts = f"{shown(str(objects[place].domain))}: {shown(str(objects[place].span))}"
            yield "; ".join([f"  {name:8}  {texts}", *wrong])
    if document.parsed.failed:
        yield "  parse failure"


def details(matcher: Matcher, score: Score) -> dict[str, Any]:
    """Other ways to count the same matches, confusion tables, and how often the schema was violated in which way."""
    buckets = [attribute.name for attribute in matcher.schema.attributes if attribute.bucket]
    right, asked = (sum(_sum(score, f"{name}/{part}") for name in buckets) for part in ("right", "asked"))
    documents: Sequence[Document] = score.items
    issues = Counter(issue for document in documents for entry in document.parsed.value or () for issue in entry.issues)
    changes = Counter(change.kind for document in documents for change in document.changes)
    return {
        "schemes": _schemes(score),
        "bucket_field_accuracy": right / asked if asked else 0.0,
        "confusions": _confusions(documents, matcher),
        "issues": dict(issues.most_common()),
        "changes": dict(changes.most_common()),
    }


def _sum(score: Score, part: str) -> float:
    return math.fsum(unit[part] for unit in score.units)


def _schemes(score: Score) -> Mapping[str, Any]:
    """The same matches, counted differently.

    ``exact`` counts a match if both spans are the same text, ``partial`` counts 1 if they are and 1/2 otherwise, as in
    MUC, and ``soft`` counts the overlap.
    """
    tp, fp, fn, exact = (_sum(score, part) for part in ("tp", "fp", "fn", "exact"))
    hits = {"exact": exact, "partial": exact + (tp - exact) / 2, "soft": _sum(score, "overlap")}
    return {name: Counts(hit, tp + fp, hit, tp + fn).prf()._asdict() for name, hit in hits.items()}


def _confusions(documents: Sequence[Document], matcher: Matcher) -> dict[str, dict[str, dict[str, int]]]:
    """Tables of the reference's value -> the predicted value -> how often.

    The table ``domain`` covers all objects: those that are not matched are matched once more regardless of domain, and
    ``(none)`` stands for no counterpart. The tables of attributes cover the matches.
    """
    schema = matcher.schema
    names = ("domain", *(attribute.name for attribute in schema.attributes))
    tables: dict[str, _Confusions] = {name: defaultdict(Counter) for name in names}
    for document in documents:
        for wanted, predicted in _domain_pairs(document, matcher):
            tables["domain"][wanted][predicted] += 1
        for match in document.matches:
            for attribute, wanted, written in document.comparisons(match):
                tables[attribute.name][wanted][_written(attribute, wanted, written)] += 1
    return {name: {wanted: dict(row) for wanted, row in table.items()} for name, table in tables.items()}


def _domain_pairs(document: Document, matcher: Matcher) -> list[tuple[str, str]]:
    wanted = {position: document.label(entry.domain) for position, entry in enumerate(document.wanted)}
    predicted = {position: document.label(entry.domain) for position, entry in enumerate(document.predicted)}
    missed, spurious = set(document.missed()), set(document.spurious())
    across = matcher.match(
        [entry if position in missed else None for position, entry in enumerate(document.wanted)],
        [entry if position in spurious else None for position, entry in enumerate(document.predicted)],
        across_domains=True,
    )
    pairs = [(wanted.pop(match.reference), predicted.pop(match.prediction)) for match in (*document.matches, *across)]
    return [*pairs, *((label, _NONE) for label in wanted.values()), *((_NONE, label) for label in predicted.values())]


def _written(attribute: Attribute, wanted: str, predicted: str | None) -> str:
    """The predicted value; ``(other)`` if it is not in the schema, since a model may write anything."""
    if predicted is None:
        return _NONE
    return predicted if predicted == wanted or predicted in attribute.values else OTHER
