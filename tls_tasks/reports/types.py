"""Cited reports, the nuggets of a request, and the questions that a judge is asked about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

QUERY_KINDS = ("citation_support", "nugget_agreement", "negative", "requires_citation", "first_instance")
"""What a judge is asked: does the document support the sentence; does the sentence give the answer; does it deny
something; does it need a citation; is it the first to make its claim."""


@dataclass(frozen=True, slots=True)
class ReportSentence:
    """One sentence.

    Attributes:
        text: Without citation marks. Blank: there was none, and the sentence is passed over; it keeps its place.
        citations: Ids of the cited documents, each once, in order.
    """

    text: str
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A report as it was submitted.

    Attributes:
        request_id: Which request it answers.
        run_id: Which system wrote it.
        collection_ids: Where its documents are.
        sentences: In order.
    """

    request_id: str
    run_id: str
    collection_ids: tuple[str, ...] = ()
    sentences: tuple[ReportSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class NuggetAnswer:
    """One right answer, and the documents that attest it if the nugget file says so."""

    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nugget:
    """A question that a report should answer.

    Attributes:
        question_id: Its id, or the question where there is none.
        question: The question.
        answers: Right answers; empty: nobody knows, and a report should say so.
        aggregator: ``OR``: any answer will do; ``AND``: all are asked for.
        importance: ``vital`` (weight 2); ``okay``, empty or anything else (weight 1).
    """

    question_id: str
    question: str
    answers: tuple[NuggetAnswer, ...]
    aggregator: str = "OR"
    importance: str = "vital"


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What a report was asked for, and its nuggets.

    Attributes:
        request_id: Its id.
        text: The request.
        collection_id: Where its documents are.
        nuggets: One an item of the nuggets file, in order; several may share a question.
    """

    request_id: str
    text: str = ""
    collection_id: str = ""
    nuggets: tuple[Nugget, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """One yes/no question for a judge.

    Attributes:
        kind: One of :data:`QUERY_KINDS`.
        fields: What the prompt of this kind shows: ``sentence``; ``document`` (citation_support); ``question`` and
            ``answer`` (nugget_agreement); ``previous`` (first_instance). A document without text has its ``doc_id``
            here as well. Two queries with the same kind and fields are the same question, and are asked once.
        about: What people and recordings know it by: ``request_id``, ``run_id``, ``sentence`` (its place, from 0),
            ``doc_id`` or ``question_id``; no part of the question.
    """

    kind: str
    fields: Mapping[str, str]
    about: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What makes two queries the same question."""
        return self.kind, tuple(sorted(self.fields.items()))


class Verdict(NamedTuple):
    """A judge's answer.

    Attributes:
        value: Yes or no; None: unscored, and ``reason`` says why.
        reason: ``unreadable``, ``timeout``, ``missing``, ``refused`` …; empty where there is a value.
        raw: What the judge wrote, shortened.
        probability: Of yes, where the judge knows it.
        cached: Whether it was read from the cache or a recording.
    """

    value: bool | None
    reason: str = ""
    raw: str = ""
    probability: float | None = None
    cached: bool = False


class Judge(Protocol):
    """What answers queries."""

    @property
    def name(self) -> str:
        """Stands in the signature: the back-end, the model and the hash of the prompts."""

    def ask(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """One verdict a query, in order. Trouble with single queries is an unscored verdict, never an exception."""
