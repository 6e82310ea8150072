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

__all__ = [
    "JOURNAL_SCHEMA",
    "QUERY_KINDS",
    "Attribute",
    "EvidenceObject",
    "EvidenceSchema",
    "Judge",
    "Nugget",
    "NuggetAnswer",
    "Query",
    "Report",
    "ReportRequest",
    "ReportSentence",
    "Timeline",
    "TimelineEntry",
    "Verdict",
]
