"""The types of the family: cited reports, requests with nuggets and rubrics, and queries to a judge with verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

SENTENCE_KINDS = ("citation_support", "nugget_agreement", "negative", "requires_citation", "first_instance")
"""Kinds of queries about a sentence: does the document support it, does it give the answer, is it a negative statement,
does it need a citation, is it the first to make its claim."""

QUERY_KINDS = (*SENTENCE_KINDS, "criterion")
"""All kinds of queries; ``criterion``: does the whole report meet a criterion of a rubric."""

PASSAGE_LENGTH = 2000
"""The most characters of the passage that shows a sentence among its neighbours, so that "it" and "she" are clear."""


@dataclass(frozen=True, slots=True)
class ReportSentence:
    """One sentence of a report.

    Attributes:
        text: The sentence without citation marks. A sentence without text is ignored, but keeps its index.
        citations: Distinct ids of the cited documents, in order.
    """

    text: str
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A report as it was submitted.

    Attributes:
        request_id: The request that it answers.
        run_id: The system that wrote it.
        collection_ids: The collections of its documents.
        sentences: Its sentences, in order.
        written: The original text, with headings and marks; empty if there is none, or not all of it counts.
    """

    request_id: str
    run_id: str
    collection_ids: tuple[str, ...] = ()
    sentences: tuple[ReportSentence, ...] = ()
    written: str = field(default="", compare=False, repr=False)

    @property
    def text(self) -> str:
        """The whole report, as a judge reads it for a criterion.

        Example:
            >>> Report("7", "a", (), (ReportSentence("It rained.", ("d1",)), ReportSentence("So?"))).text
            'It rained. [d1] So?'
        """
        cited = (f"{row.text} [{', '.join(row.citations)}]" if row.citations else row.text for row in self.sentences)
        return self.written or " ".join(cited)

    def to_row(self) -> dict[str, Any]:
        """Return the report as a row in the form of NeuCLIR 2024 and report_gen_eval.

        Example:
            >>> Report("7", "a", ("c",), (ReportSentence("It rained.", ("d1",)),)).to_row()["sentences"]
            [{'text': 'It rained.', 'citations': ['d1']}]
        """
        sentences = [{"text": sentence.text, "citations": list(sentence.citations)} for sentence in self.sentences]
        about = {"request_id": self.request_id, "run_id": self.run_id, "collection_ids": list(self.collection_ids)}
        return {**about, "sentences": sentences}


@dataclass(frozen=True, slots=True)
class NuggetAnswer:
    """A right answer, and the documents that attest it if the nugget file names them."""

    text: str
    references: tuple[str, ...] = ()

    def to_row(self) -> Any:
        """Return the answer in the form of a nugget's row: its text, or an object if it has references."""
        return {"answer": self.text, "references": list(self.references)} if self.references else self.text


@dataclass(frozen=True, slots=True)
class Nugget:
    """A question that a report should answer.

    Attributes:
        question_id: Its id, or the question if it has none.
        question: The question.
        answers: Right answers; empty if the answer is unknown, which a report should then say.
        aggregator: ``OR``: any answer suffices; ``AND``: all are required.
        importance: ``vital`` has weight 2, anything else (``okay``, empty) weight 1.
        has_info: False where its item lacks ``info.importance``, without which report_gen_eval fails.
    """

    question_id: str
    question: str
    answers: tuple[NuggetAnswer, ...]
    aggregator: str = "OR"
    importance: str = "vital"
    has_info: bool = True

    def to_row(self) -> dict[str, Any]:
        """Return the nugget as an item of a request's row."""
        info = {"importance": self.importance, "aggregator_type": self.aggregator}
        about = {"info": info} if self.has_info else info
        item = {"question_id": self.question_id, "question_text": self.question, **about}
        return {**item, "gold_answers": [answer.to_row() for answer in self.answers]}


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A request for a report, and its nuggets.

    Attributes:
        request_id: Its id.
        text: The request.
        collection_id: The collection of its documents.
        nuggets: One nugget for each item of the nuggets file, in order; several may share a question.
        doc_ids: The documents that the prompt showed, in the order of their numbers; empty if unknown.
        by_sentence: Whether its reports are judged sentence by sentence; False where there are criteria alone.
    """

    request_id: str
    text: str = ""
    collection_id: str = ""
    nuggets: tuple[Nugget, ...] = ()
    doc_ids: tuple[str, ...] = ()
    by_sentence: bool = True

    def to_row(self) -> dict[str, Any]:
        """Return the request as a row in the form of NeuCLIR 2024 and report_gen_eval.

        Example:
            >>> ReportRequest("7", nuggets=(Nugget("q1", "q", (NuggetAnswer("a"),)),)).to_row()["items"][0]["gold_answers"]
            ['a']
        """  # noqa: E501
        items = [nugget.to_row() for nugget in self.nuggets]
        row = {"query_id": self.request_id, "test_collection": self.collection_id, "query_text": self.text}
        shown = {"doc_ids": list(self.doc_ids)} if self.doc_ids else {}
        return {**row, **shown, **({"items": items} if self.by_sentence else {})}


class Criterion(NamedTuple):
    """A statement that should hold for the whole report or, with negative points, should not.

    Attributes:
        text: The criterion.
        points: The points of a report that meets it.
        tags: The groups of criteria to which it belongs.
    """

    text: str
    points: float
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """One question for a judge, to be answered by yes or no.

    Attributes:
        kind: One of :data:`QUERY_KINDS`.
        fields: The texts that this kind's prompt shows: ``sentence``; ``document`` (citation_support); ``question`` and
            ``answer`` (nugget_agreement); ``previous`` (first_instance). A criterion has no sentence: ``report``,
            ``request`` and ``criterion``. A document without text also has its ``doc_id`` here. Two queries with the
            same kind and fields are the same question, which is asked once.
        about: Ids that identify it in recordings: ``request_id``, ``run_id``, ``sentence`` (its index, from 0),
            ``doc_id`` or ``question_id``; and ``passage``, the sentence among its neighbours in the report, which
            prompts show. It is not part of the question.
    """

    kind: str
    fields: Mapping[str, str]
    about: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The kind and the sorted fields, which are equal for queries that ask the same question."""
        return self.kind, tuple(sorted(self.fields.items()))


class Verdict(NamedTuple):
    """A judge's answer.

    Attributes:
        value: True or False; None if unscored.
        reason: Why there is no value: ``unreadable``, ``timeout``, ``missing``, ``refused`` …; empty if there is one.
        raw: The judge's answer, shortened.
        probability: The probability of yes, if the judge gives it.
        cached: Whether it was read from the cache or a recording.
    """

    value: bool | None
    reason: str = ""
    raw: str = ""
    probability: float | None = None
    cached: bool = False


class Judge(Protocol):
    """The interface of a judge: it has a name and answers queries."""

    @property
    def name(self) -> str:
        """The judge's name in signatures: the back-end, the model and the hash of the prompts."""

    def ask(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Return one verdict per query, in order; a query that fails gets an unscored verdict, never an exception."""
