"""Cited reports, the nuggets and the rubric of a request, and the questions that a judge is asked about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

SENTENCE_KINDS = ("citation_support", "nugget_agreement", "negative", "requires_citation", "first_instance")
"""What a judge is asked about a sentence: whether the document supports it, it gives the answer, it is a negative
statement, it needs a citation, it is the first to make its claim."""

QUERY_KINDS = (*SENTENCE_KINDS, "criterion")
"""The same, and whether the report as a whole meets a criterion of a rubric."""

PASSAGE_LENGTH = 2000
"""How many characters of a report are shown around a sentence, which may speak of "it" and "she"."""


@dataclass(frozen=True, slots=True)
class ReportSentence:
    """One sentence.

    Attributes:
        text: Without citation marks. A sentence without text is ignored, but keeps its place.
        citations: Distinct ids of the cited documents, in order.
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
        written: The text as it was written, with headings and marks; empty if there is none, or not all of it counts.
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
        told = (f"{own.text} [{', '.join(own.citations)}]" if own.citations else own.text for own in self.sentences)
        return self.written or " ".join(told)

    def as_row(self) -> dict[str, Any]:
        """The report as a row of the form of NeuCLIR 2024 and report_gen_eval.

        Example:
            >>> Report("7", "a", ("c",), (ReportSentence("It rained.", ("d1",)),)).as_row()["sentences"]
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

    def as_row(self) -> Any:
        """The answer in a nugget's row: its text, or an object if its documents are known."""
        return {"answer": self.text, "references": list(self.references)} if self.references else self.text


@dataclass(frozen=True, slots=True)
class Nugget:
    """A question that a report should answer.

    Attributes:
        question_id: Its id, or the question if it has none.
        question: The question.
        answers: Right answers; empty if nobody knows, and a report should say so.
        aggregator: ``OR``: any answer suffices; ``AND``: all are required.
        importance: ``vital`` has weight 2, anything else (``okay``, empty) weight 1.
        has_info: False where its item lacks ``info.importance``, over which report_gen_eval trips.
    """

    question_id: str
    question: str
    answers: tuple[NuggetAnswer, ...]
    aggregator: str = "OR"
    importance: str = "vital"
    has_info: bool = True

    def as_row(self) -> dict[str, Any]:
        """The nugget as an item of a request's row."""
        info = {"importance": self.importance, "aggregator_type": self.aggregator}
        about = {"info": info} if self.has_info else info
        item = {"question_id": self.question_id, "question_text": self.question, **about}
        return {**item, "gold_answers": [answer.as_row() for answer in self.answers]}


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A request for a report, and its nuggets.

    Attributes:
        request_id: Its id.
        text: The request.
        collection_id: Where its documents are.
        nuggets: One an item of the nuggets file, in order; several may share a question.
        doc_ids: The documents that the prompt showed, in the order of their numbers, if it is known.
        by_sentence: Whether its reports are judged sentence by sentence; False where there are criteria alone.
    """

    request_id: str
    text: str = ""
    collection_id: str = ""
    nuggets: tuple[Nugget, ...] = ()
    doc_ids: tuple[str, ...] = ()
    by_sentence: bool = True

    def as_row(self) -> dict[str, Any]:
        """The request as a row of the form of NeuCLIR 2024 and report_gen_eval.

        Example:
            >>> ReportRequest("7", nuggets=(Nugget("q1", "q", (NuggetAnswer("a"),)),)).as_row()["items"][0]["gold_answers"]
            ['a']
        """  # noqa: E501
        items = [nugget.as_row() for nugget in self.nuggets]
        row = {"query_id": self.request_id, "test_collection": self.collection_id, "query_text": self.text}
        shown = {"doc_ids": list(self.doc_ids)} if self.doc_ids else {}
        return {**row, **shown, **({"items": items} if self.by_sentence else {})}


class Criterion(NamedTuple):
    """What a report as a whole shall be, or shall not be where its points are negative.

    Attributes:
        text: The criterion.
        points: What a report gets that meets it.
        tags: Of what it is a criterion.
    """

    text: str
    points: float
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """One question for a judge, to be answered by yes or no.

    Attributes:
        kind: One of :data:`QUERY_KINDS`.
        fields: What the prompt of this kind shows: ``sentence``; ``document`` (citation_support); ``question`` and
            ``answer`` (nugget_agreement); ``previous`` (first_instance). A criterion has no sentence: ``report``,
            ``request`` and ``criterion``. A document without text also has its ``doc_id`` here. Two queries with the
            same kind and fields are the same question, which is asked once.
        about: How people and recordings identify it: ``request_id``, ``run_id``, ``sentence`` (its index, from 0),
            ``doc_id`` or ``question_id``; and ``passage``, the sentence among its neighbours in the report, which
            prompts show. It is not part of the question.
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
        value: True or False; None if unscored, and ``reason`` says why.
        reason: ``unreadable``, ``timeout``, ``missing``, ``refused`` …; empty if there is a value.
        raw: What the judge wrote, shortened.
        probability: Of yes, if the judge knows it.
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
        """What the signature calls the judge: the back-end, the model and the hash of the prompts."""

    def ask(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """One verdict per query, in order. A query that fails gets an unscored verdict, never an exception."""
