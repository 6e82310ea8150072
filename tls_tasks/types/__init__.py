"""The typed objects that scorers take: frozen, validated once, standard library only. One file a family."""

from tls_tasks.types.evidence import JOURNAL_SCHEMA, Attribute, EvidenceObject, EvidenceSchema
from tls_tasks.types.reports import (
    QUERY_KINDS,
    Judge,
    Nugget,
    NuggetAnswer,
    Query,
    Report,
    ReportRequest,
    ReportSentence,
    Verdict,
)
from tls_tasks.types.timelines import Timeline, TimelineEntry
from tls_tasks.types.trees import Branch, Leaf, ListOf, SchemaNode

__all__ = [
    "JOURNAL_SCHEMA",
    "QUERY_KINDS",
    "Attribute",
    "Branch",
    "EvidenceObject",
    "EvidenceSchema",
    "Judge",
    "Leaf",
    "ListOf",
    "Nugget",
    "NuggetAnswer",
    "Query",
    "Report",
    "ReportRequest",
    "ReportSentence",
    "SchemaNode",
    "Timeline",
    "TimelineEntry",
    "Verdict",
]
