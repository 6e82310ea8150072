"""Where each sentence of a report comes out of the decision tree, and what a judge is asked on the way.

The tree is that of Mayfield et al., On the Evaluation of Machine-Generated Reports, SIGIR 2024, as the documentation of
report_gen_eval describes it. A walk through it is a generator: it yields questions, is sent the answers, and returns
where it came out. All walks go on side by side (:func:`walk_together`), so that the questions of many sentences are
asked at once; no question about one sentence depends on a verdict about another. The questions, in this order:

1. does each cited document support the sentence (if it cites), is it negative (if it does not);
2. does it give each answer of a nugget, does it need a citation;
3. is it the first to make its claim.

If a verdict of the first kind is missing, the nuggets are asked about nevertheless: otherwise it would not be known
what the report leaves out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from tls_tasks.core.errors import InputError, JudgeError
from tls_tasks.reports.documents import LookUp
from tls_tasks.reports.types import PASSAGE_LENGTH, Judge, Query, Report, ReportRequest, ReportSentence, Verdict

End = TypeVar("End")
Walk = Generator[Sequence[Query], Sequence[Verdict], End]
"""Yields questions, is sent a verdict on each, and returns where it ended."""

_NO_ANSWER = "It is not known."
"""What a negative sentence must say to be confirmed by a nugget without answers."""

SCOPES = ("cited", "any")
"""Which earlier sentences let a repeated claim pass without a citation."""


class Pair(NamedTuple):
    """A question and one of its answers."""

    question: str
    answer: str


class ReportPlan:
    """A report that is to be judged.

    Args:
        report: The report.
        request: What it was asked for, with nuggets.
        find: Looks documents up; None: judges know documents by their ids, and all exist.
        scope: One of :data:`SCOPES`.

    Attributes:
        pairs: The distinct (question, answer) pairs of the request -> the question's id.
        unanswerable: Questions to which nobody knows an answer -> their ids; they can confirm a negative sentence.
    """

    def __init__(self, report: Report, request: ReportRequest, find: LookUp | None, scope: str = "cited") -> None:
        self.report, self.find, self.scope = report, find, scope
        self.request_id = report.request_id or request.request_id
        self.pairs: dict[Pair, str] = {}
        self.unanswerable: dict[Pair, str] = {}
        for nugget in request.nuggets:
            for answer in nugget.answers:
                self.pairs.setdefault(Pair(nugget.question, answer.text), nugget.question_id)
            if not nugget.answers:
                self.unanswerable.setdefault(Pair(nugget.question, _NO_ANSWER), nugget.question_id)

    def walks(self) -> list[Walk[Outcome]]:
        """A walk for each sentence that has text."""
        told = [(index, own) for index, own in enumerate(self.report.sentences) if own.text.strip()]
        passages = _passages([own.text.strip() for _, own in told])
        return [_Sentence(self, told, place, passage).walk() for place, passage in enumerate(passages)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a sentence came out.

    Attributes:
        index: Its index in the report.
        text: The sentence.
        score: Above 0 rewarded, -1 penalised, 0 ignored; None: unscored, since a missing verdict could change it.
        path: The branches that were taken.
        citations: Document id -> whether it supports the sentence; None if unknown.
        unknown: Cited ids of no document.
        support: Whether a sentence that cites or needs a citation is supported; None: it does neither, or unknown.
        matched: Pairs that it gives.
        earns_recall: Whether its matches count for recall: every citation holds, or it is a negative statement.
        earns_coverage: Whether they count for coverage: at least one citation holds, or it is a negative statement.
        verdicts: What was asked, and the answers.
    """

    index: int
    text: str
    score: int | None
    path: tuple[str, ...]
    citations: Mapping[str, bool | None]
    unknown: tuple[str, ...]
    support: bool | None
    matched: tuple[Pair, ...]
    earns_recall: bool
    earns_coverage: bool
    verdicts: tuple[tuple[Query, Verdict], ...]


def walk_together(walks: Sequence[Sequence[Walk[End]]], judge: Judge) -> list[tuple[End, ...]]:
    """Take walks to their ends. Whenever all of them wait, what they want to know is asked together, each thing once.

    Args:
        walks: The walks of each report.
        judge: The judge.

    Returns:
        The ends of each report's walks.

    Raises:
        InputError: If a look-up returns something that is not a document.
        JudgeError: If the judge can't be used at all, or does not give one verdict per question.
    """
    known: dict[object, Verdict] = {}
    ends: dict[Any, End] = {}
    waiting: dict[Any, Sequence[Query]] = {walk: () for of_report in walks for walk in of_report}
    while waiting:
        wanted: dict[object, Query] = {}
        for walk, queries in list(waiting.items()):
            try:
                while all(query.identity in known for query in queries):
                    queries = walk.send([known[query.identity] for query in queries] or None)
            except StopIteration as end:  # noqa: PERF203 - this is how a generator returns
                ends[walk] = end.value
                del waiting[walk]
            else:
                waiting[walk] = queries
                for query in queries:
                    if query.identity not in known:
                        wanted.setdefault(query.identity, query)
        if wanted:
            known |= zip(wanted, _ask_all(judge, list(wanted.values())), strict=True)
    return [tuple(ends[walk] for walk in of_report) for of_report in walks]


def citation_query(sentence: str, doc_id: str, text: str, about: Mapping[str, str | int]) -> Query:
    """Whether a document supports a sentence."""
    # Documents without text would all be the same question.
    fields = {"sentence": sentence, "document": text} | ({} if text.strip() else {"doc_id": doc_id})
    return Query("citation_support", fields, {**about, "doc_id": doc_id})


class _End(NamedTuple):
    """Where a walk ends, and what counts there; see :class:`Outcome`."""

    score: int | None
    path: tuple[str, ...]
    support: bool | None = None
    matched: tuple[Pair, ...] = ()
    earns_recall: bool = False
    earns_coverage: bool = False


class _Sentence:
    """A sentence on its way through the tree."""

    def __init__(self, plan: ReportPlan, told: Sequence[tuple[int, ReportSentence]], place: int, passage: str) -> None:
        self._plan, self._told, self._place = plan, told, place
        self._index, self._sentence = told[place]
        self._about: dict[str, str | int] = {
            "request_id": plan.request_id,
            "run_id": plan.report.run_id,
            "sentence": self._index,
        }
        if passage:
            self._about["passage"] = passage
        self._unknown: list[str] = []
        self._verdicts: list[tuple[Query, Verdict]] = []

    def walk(self) -> Walk[Outcome]:
        """Follow the tree to an end."""
        citations = yield from self._citations()
        end = yield from (self._cited(citations) if citations else self._uncited())
        return Outcome(
            index=self._index,
            text=self._sentence.text,
            citations=citations,
            unknown=tuple(self._unknown),
            verdicts=tuple(self._verdicts),
            **end._asdict(),
        )

    def _citations(self) -> Walk[dict[str, bool | None]]:
        """Whether each citation holds; None if unknown."""
        text, find = self._sentence.text, self._plan.find
        holds: dict[str, bool | None] = {}
        queries: dict[str, Query] = {}
        for doc_id in dict.fromkeys(self._sentence.citations):
            holds[doc_id] = None
            try:
                document = "" if find is None else find(self._plan.report.collection_ids, doc_id)
            except (InputError, TypeError):
                raise  # not a document, or a look-up with other arguments: the caller's fault
            except Exception as error:  # the store can't be read: the instrument's fault, whatever it raises
                lost = Verdict(None, "unreachable", repr(error)[:200])
                self._verdicts.append((citation_query(text, doc_id, "", self._about), lost))
            else:
                if document is None:
                    holds[doc_id] = False
                    self._unknown.append(doc_id)
                else:
                    queries[doc_id] = citation_query(text, doc_id, document, self._about)
        values = yield from self._ask(list(queries.values()))
        return {**holds, **dict(zip(queries, values, strict=True))}

    def _cited(self, citations: Mapping[str, bool | None]) -> Walk[_End]:
        """The branches of a sentence that cites."""
        holds = citations.values()
        if True not in holds and None not in holds:
            return _End(-1, ("cited", "citation_fails"), False)
        given = yield from self._pairs(self._plan.pairs)
        matched = self._matched(given)
        if False in holds:
            return _End(-1, ("cited", "citation_fails"), False, matched, earns_coverage=True in holds)
        if None in holds:
            return _End(None, ("cited", "unscored"), None, matched, earns_coverage=True in holds)
        path = ("cited", "citations_hold")
        if None in given.values():
            return _End(None, (*path, "unscored"), True, matched, True, True)
        return _End(len(matched), (*path, "nuggets_matched" if matched else "no_nugget"), True, matched, True, True)

    def _uncited(self) -> Walk[_End]:
        """The branches of a sentence that does not."""
        negative = yield from self._question("negative")
        if negative is None:
            given = yield from self._pairs(self._plan.pairs)
            return _End(None, ("uncited", "unscored"), matched=self._matched(given))
        if negative:
            given = yield from self._pairs({**self._plan.pairs, **self._plan.unanswerable})
            end = _End(-1, ("uncited", "negative", "no_nugget"), None, self._matched(given), True, True)
            if True in given.values():
                return end._replace(score=1, path=("uncited", "negative", "nugget_confirms"))
            if None in given.values():
                return end._replace(score=None, path=("uncited", "negative", "unscored"))
            return end
        path = ("uncited", "not_negative")
        required = yield from self._question("requires_citation")
        if not required:
            return _End(None, (*path, "unscored")) if required is None else _End(0, (*path, "needs_no_citation"))
        return (yield from self._first_instance((*path, "needs_citation")))

    def _first_instance(self, path: tuple[str, ...]) -> Walk[_End]:
        """Whether an uncited claim is new: to the report, which support counts, and to its cited sentences."""
        before = [sentence for _, sentence in self._told[: self._place]]
        earlier = [sentence.text for sentence in before]
        earlier_cited = [sentence.text for sentence in before if sentence.citations]
        new: bool | None = True
        if earlier:
            new = yield from self._question("first_instance", previous="\n".join(earlier))
        new_to_cited = new
        if self._plan.scope == "cited" and new is not True:
            if not earlier_cited:
                new_to_cited = True
            elif earlier_cited != earlier:
                previous = "\n".join(earlier_cited)
                new_to_cited = yield from self._question("first_instance", {"scope": "cited"}, previous=previous)
        support = False if new else None
        if new_to_cited is None:
            return _End(None, (*path, "unscored"), support)
        if not new_to_cited:
            return _End(0, (*path, "repeats_cited" if self._plan.scope == "cited" else "repeats"), support)
        return _End(-1, (*path, "first_instance" if new else "repeats_uncited"), support)

    def _pairs(self, pairs: Mapping[Pair, str]) -> Walk[dict[Pair, bool | None]]:
        """Which pairs the sentence gives."""
        queries = [
            self._query("nugget_agreement", {"question_id": question_id}, **pair._asdict())
            for pair, question_id in pairs.items()
        ]
        values = yield from self._ask(queries)
        return dict(zip(pairs, values, strict=True))

    def _matched(self, given: Mapping[Pair, bool | None]) -> tuple[Pair, ...]:
        return tuple(pair for pair, value in given.items() if value and pair in self._plan.pairs)

    def _question(self, kind: str, about: Mapping[str, str] | None = None, **fields: str) -> Walk[bool | None]:
        (value,) = yield from self._ask([self._query(kind, about or {}, **fields)])
        return value

    def _query(self, kind: str, about: Mapping[str, str], **fields: str) -> Query:
        return Query(kind, {"sentence": self._sentence.text, **fields}, {**self._about, **about})

    def _ask(self, queries: Sequence[Query]) -> Walk[list[bool | None]]:
        """Yes or no to each query; None where there is no verdict."""
        verdicts: Sequence[Verdict] = (yield queries) if queries else []
        self._verdicts += zip(queries, verdicts, strict=True)
        return [verdict.value for verdict in verdicts]


def _passages(texts: Sequence[str]) -> Iterator[str]:
    """Each sentence among its neighbours, whole ones as far as they fit; empty where none does.

    As much stands before the sentence as behind it, and more on one side where the other has less.

    Example:
        >>> list(_passages(["Ann left.", "She wept.", "x" * 1995, "It rained."]))
        ['Ann left. She wept.', 'Ann left. She wept.', '', '']
    """
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    for place, text in enumerate(texts):
        room = PASSAGE_LENGTH - len(text)
        end = bisect_right(starts, starts[place + 1] + max(0, room) // 2) - 1
        first = min(place, bisect_left(starts, starts[end] - PASSAGE_LENGTH - 1))
        end = max(end, bisect_right(starts, starts[first] + PASSAGE_LENGTH + 1) - 1)
        yield " ".join(texts[first:end]) if end - first > 1 else ""


def _ask_all(judge: Judge, queries: Sequence[Query]) -> Sequence[Verdict]:
    verdicts = judge.ask(queries)
    if len(verdicts) != len(queries):
        raise JudgeError(f"judge {judge.name}: gave {len(verdicts)} verdicts to {len(queries)} questions")
    if wrong := [type(verdict).__name__ for verdict in verdicts if not isinstance(verdict, Verdict)]:
        raise JudgeError(f"judge {judge.name}: gave a {wrong[0]}, expected a Verdict for each question")
    return verdicts
