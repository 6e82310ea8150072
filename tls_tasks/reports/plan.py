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

from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from tls_tasks.core.errors import InputError
from tls_tasks.reports.documents import LookUp
from tls_tasks.reports.types import PASSAGE_LENGTH, Judge, Query, Report, ReportRequest, ReportSentence, Verdict

End = TypeVar("End")
Walk = Generator[Sequence[Query], Sequence[Verdict], End]
"""Yields questions, is sent a verdict on each, and returns where it ended."""

_NO_ANSWER = "It is not known."
"""What a negative sentence must say to be confirmed by a nugget without answers."""


class Pair(NamedTuple):
    """A question and one of its answers."""

    question: str
    answer: str


@dataclass(slots=True)
class Outcome:
    """A sentence on its way through the tree, and where it came out.

    Attributes:
        index: Its index in the report.
        text: The sentence.
        about: What recordings call it.
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
    about: Mapping[str, str | int]
    score: int | None = None
    path: tuple[str, ...] = ()
    citations: dict[str, bool | None] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    support: bool | None = None
    matched: tuple[Pair, ...] = ()
    earns_recall: bool = False
    earns_coverage: bool = False
    verdicts: list[tuple[Query, Verdict]] = field(default_factory=list)

    def ask(self, queries: Iterable[Query]) -> Walk[list[bool | None]]:
        """Yes or no to each query; None where there is no verdict."""
        queries = list(queries)
        verdicts = (yield queries) if queries else ()
        self.verdicts += zip(queries, verdicts, strict=True)
        return [None if verdict.value is None else bool(verdict.value) for verdict in verdicts]

    def query(self, kind: str, about: Mapping[str, str] | None = None, **fields: str) -> Query:
        """A question about the sentence."""
        return Query(kind, {"sentence": self.text, **fields}, {**self.about, **(about or {})})


_Branch = Walk[tuple[int | None, tuple[str, ...], bool | None]]
"""A walk that ends with score, path and support of an :class:`Outcome`."""


class ReportPlan:
    """A report that is to be judged.

    Args:
        report: The report.
        request: What it was asked for, with nuggets.
        find: Looks documents up; None: judges know documents by their ids, and all exist.

    Attributes:
        pairs: The distinct (question, answer) pairs of the request -> the question's id.
        can_reward: Whether there is a nugget that a sentence can give or, as a negative statement, confirm.
    """

    def __init__(self, report: Report, request: ReportRequest, find: LookUp | None) -> None:
        self._report, self._find, self._by_sentence = report, find, request.by_sentence
        self._about = {"request_id": report.request_id or request.request_id, "run_id": report.run_id}
        self.pairs: dict[Pair, str] = {}
        self._unanswerable: dict[Pair, str] = {}  # questions that nobody can answer confirm a negative sentence
        for nugget in request.nuggets:
            for answer in nugget.answers:
                self.pairs.setdefault(Pair(nugget.question, answer.text), nugget.question_id)
            if not nugget.answers:
                self._unanswerable.setdefault(Pair(nugget.question, _NO_ANSWER), nugget.question_id)
        self.can_reward = bool(self.pairs or self._unanswerable)

    def walks(self) -> list[Walk[Outcome]]:
        """A walk for each sentence that has text."""
        sentences = self._report.sentences if self._by_sentence else ()
        told = [(index, sentence) for index, sentence in enumerate(sentences) if sentence.text.strip()]
        passages = _passages([sentence.text.strip() for _, sentence in told])
        return [self._walk(*numbered, passage) for numbered, passage in zip(told, passages, strict=True)]

    def _walk(self, index: int, sentence: ReportSentence, passage: str) -> Walk[Outcome]:
        shown = {"passage": passage} if passage else {}
        end = Outcome(index, sentence.text, {**self._about, "sentence": index, **shown})
        branch = self._cited(end, sentence.citations) if sentence.citations else self._uncited(end)
        end.score, end.path, end.support = yield from branch
        return end

    def _cited(self, end: Outcome, doc_ids: Sequence[str]) -> _Branch:
        """The branches of a sentence that cites."""
        queries: dict[str, Query] = {}
        for doc_id in dict.fromkeys(doc_ids):
            end.citations[doc_id] = None
            try:
                document = "" if self._find is None else self._find(self._report.collection_ids, doc_id)
            except (InputError, TypeError):
                raise  # not a document, or a look-up with other arguments: the caller's fault
            except Exception as error:  # the store can't be read: the instrument's fault, whatever it raises
                lost = Verdict(None, "unreachable", repr(error)[:200])
                end.verdicts.append((citation_query(end.text, doc_id, "", end.about), lost))
                continue
            if document is None:
                end.citations[doc_id] = False
                end.unknown.append(doc_id)
            else:
                queries[doc_id] = citation_query(end.text, doc_id, document, end.about)
        end.citations |= zip(queries, (yield from end.ask(queries.values())), strict=True)
        holds = end.citations.values()
        end.earns_recall, end.earns_coverage = all(holds), True in holds
        given = (yield from self._give(end, self.pairs)) if end.earns_coverage or None in holds else []
        if False in holds:
            return -1, ("cited", "citation_fails"), False
        if None in holds:
            return None, ("cited", "unscored"), None
        path = ("cited", "citations_hold")
        if None in given:
            return None, (*path, "unscored"), True
        return len(end.matched), (*path, "nuggets_matched" if end.matched else "no_nugget"), True

    def _uncited(self, end: Outcome) -> _Branch:
        """The branches of a sentence that does not."""
        (negative,) = yield from end.ask([end.query("negative")])
        if negative is None:
            yield from self._give(end, self.pairs)
            return None, ("uncited", "unscored"), None
        if negative:
            end.earns_recall = end.earns_coverage = True
            given = yield from self._give(end, {**self.pairs, **self._unanswerable})
            score = 1 if True in given else None if None in given else -1
            name = {1: "nugget_confirms", None: "unscored", -1: "no_nugget"}[score]
            return score, ("uncited", "negative", name), None
        path: tuple[str, ...] = ("uncited", "not_negative")
        (required,) = yield from end.ask([end.query("requires_citation")])
        if not required:
            return (None, (*path, "unscored"), None) if required is None else (0, (*path, "needs_no_citation"), None)
        path += ("needs_citation",)
        # Whether the claim is new: to the report, which support counts, and to its cited sentences.
        before = [sentence for sentence in self._report.sentences[: end.index] if sentence.text.strip()]
        new = new_to_cited = yield from self._is_new(end, before)
        cited = [sentence for sentence in before if sentence.citations]
        if not new and cited != before:
            new_to_cited = yield from self._is_new(end, cited, scope="cited")
        support = False if new else None
        if new_to_cited is None:
            return None, (*path, "unscored"), support
        if not new_to_cited:
            return 0, (*path, "repeats_cited"), support
        return -1, (*path, "first_instance" if new else "repeats_uncited"), support

    def _is_new(self, end: Outcome, before: Sequence[ReportSentence], **about: str) -> Walk[bool | None]:
        """Whether the sentence is the first to make its claim, as far as these sentences go."""
        if not before:
            return True
        previous = "\n".join(sentence.text for sentence in before)
        (new,) = yield from end.ask([end.query("first_instance", about, previous=previous)])
        return new

    def _give(self, end: Outcome, pairs: Mapping[Pair, str]) -> Walk[list[bool | None]]:
        """Whether the sentence gives each pair."""
        queries = [end.query("nugget_agreement", {"question_id": own}, **pair._asdict()) for pair, own in pairs.items()]
        given = yield from end.ask(queries)
        end.matched = tuple(pair for pair, value in zip(pairs, given, strict=True) if value and pair in self.pairs)
        return given


def walk_together(walks: Sequence[Sequence[Walk[End]]], judge: Judge) -> list[tuple[End, ...]]:
    """Take walks to their ends. Whenever all of them wait, what they want to know is asked together, each thing once.

    Args:
        walks: The walks of each report.
        judge: The judge.

    Returns:
        The ends of each report's walks.

    Raises:
        InputError: If a look-up returns something that is not a document.
        JudgeError: If the judge can't be used at all.
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
            except StopIteration as end:
                ends[walk] = end.value
                del waiting[walk]
                continue
            waiting[walk] = queries
            for query in queries:
                wanted.setdefault(query.identity, query)
        asked = [query for identity, query in wanted.items() if identity not in known]
        verdicts = judge.ask(asked) if asked else []
        known |= {query.identity: verdict for query, verdict in zip(asked, verdicts, strict=True)}
    return [tuple(ends[walk] for walk in of_report) for of_report in walks]


def citation_query(sentence: str, doc_id: str, text: str, about: Mapping[str, str | int]) -> Query:
    """Whether a document supports a sentence."""
    # Documents without text would all be the same question.
    fields = {"sentence": sentence, "document": text} | ({} if text.strip() else {"doc_id": doc_id})
    return Query("citation_support", fields, {**about, "doc_id": doc_id})


def _passages(texts: Sequence[str]) -> Iterator[str]:
    """Each sentence among its neighbours, whole ones as far as they fit; empty where none does.

    As much stands before the sentence as behind it, and more on one side where the other has less.

    Example:
        >>> list(_passages(["Ann left.", "She wept.", "x" * 1995, "It rained."]))
        ['Ann left. She wept.', 'Ann left. She wept.', '', '']
    """
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    for place, text in enumerate(texts):
        end = bisect_right(starts, starts[place + 1] + max(0, PASSAGE_LENGTH - len(text)) // 2) - 1
        first = min(place, bisect_left(starts, starts[end] - PASSAGE_LENGTH - 1))
        end = max(end, bisect_right(starts, starts[first] + PASSAGE_LENGTH + 1) - 1)
        yield " ".join(texts[first:end]) if end - first > 1 else ""
