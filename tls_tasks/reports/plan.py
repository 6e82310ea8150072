"""Walk each sentence of a report through the decision tree, asking a judge on the way.

The tree is that of Mayfield et al., On the Evaluation of Machine-Generated Reports, SIGIR 2024, as the documentation of
report_gen_eval describes it. A walk through it is a generator: it yields questions, is sent the verdicts, and returns
the outcome of its sentence. All walks advance together (:func:`walk_together`), so that the questions of many sentences
are asked at once; no question about one sentence depends on a verdict about another. The questions, in this order:

1. does each cited document support the sentence (if it cites), is it negative (if it does not);
2. does it give each answer of a nugget, does it need a citation;
3. is it the first to make its claim.

If a verdict of the first kind is missing, the nuggets are still asked about, since recall and coverage need to know
which answers the report leaves out.
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
"""A generator that yields questions, is sent a verdict on each, and returns an outcome."""

_NO_ANSWER = "It is not known."
"""The answer that a negative sentence must give to be confirmed by a nugget without answers."""


class Pair(NamedTuple):
    """A nugget's question and one of its answers."""

    question: str
    answer: str


@dataclass(slots=True)
class Outcome:
    """A sentence with what a walk through the tree finds out about it.

    Attributes:
        index: Its index in the report.
        text: The sentence.
        about: The ids by which recordings identify it.
        score: Above 0 rewarded, -1 penalised, 0 ignored; None: unscored, since a missing verdict could change it.
        path: The branches that were taken.
        citations: Document id -> whether it supports the sentence; None if unknown.
        unknown: Cited ids of no document.
        support: Whether a sentence that cites or needs a citation is supported; None if it does neither, or unknown.
        matched: The (question, answer) pairs that it gives.
        earns_recall: Whether its matches count for recall: every citation holds, or it is a negative statement.
        earns_coverage: Whether they count for coverage: at least one citation holds, or it is a negative statement.
        verdicts: The queries that were asked, with their verdicts.
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
        """Yield the queries, store the verdicts, and return yes or no to each; None where there is no verdict."""
        queries = list(queries)
        verdicts = (yield queries) if queries else ()
        self.verdicts += zip(queries, verdicts, strict=True)
        return [None if verdict.value is None else bool(verdict.value) for verdict in verdicts]

    def query(self, kind: str, about: Mapping[str, str] | None = None, **fields: str) -> Query:
        """Build a query about the sentence."""
        return Query(kind, {"sentence": self.text, **fields}, {**self.about, **(about or {})})


_Branch = Walk[tuple[int | None, tuple[str, ...], bool | None]]
"""A walk that ends with score, path and support of an :class:`Outcome`."""


class ReportPlan:
    """The walks that judge a report against the nuggets of its request.

    Args:
        report: The report.
        request: Its request, with nuggets.
        find: Looks documents up; None: judges know documents by their ids, and every cited id exists.

    Attributes:
        pairs: The distinct (question, answer) pairs of the request -> the question's id.
        can_reward: Whether there is a nugget that a sentence can give or, as a negative statement, confirm.
    """

    def __init__(self, report: Report, request: ReportRequest, find: LookUp | None) -> None:
        self._report, self._find, self._by_sentence = report, find, request.by_sentence
        self._about = {"request_id": report.request_id or request.request_id, "run_id": report.run_id}
        self.pairs: dict[Pair, str] = {}
        self._unanswerable: dict[Pair, str] = {}  # a negative sentence may say that nobody knows the answer
        for nugget in request.nuggets:
            for answer in nugget.answers:
                self.pairs.setdefault(Pair(nugget.question, answer.text), nugget.question_id)
            if not nugget.answers:
                self._unanswerable.setdefault(Pair(nugget.question, _NO_ANSWER), nugget.question_id)
        self.can_reward = bool(self.pairs or self._unanswerable)

    def walks(self) -> list[Walk[Outcome]]:
        """Return a walk for each sentence that has text."""
        sentences = self._report.sentences if self._by_sentence else ()
        numbered_sentences = [(index, sentence) for index, sentence in enumerate(sentences) if sentence.text.strip()]
        passages = _passages([sentence.text.strip() for _, sentence in numbered_sentences])
        return [self._walk(*numbered, passage) for numbered, passage in zip(numbered_sentences, passages, strict=True)]

    def _walk(self, index: int, sentence: ReportSentence, passage: str) -> Walk[Outcome]:
        """Walk a sentence through the whole tree and return its outcome."""
        context = {"passage": passage} if passage else {}
        outcome = Outcome(index, sentence.text, {**self._about, "sentence": index, **context})
        branch = self._judge_cited(outcome, sentence.citations) if sentence.citations else self._judge_uncited(outcome)
        outcome.score, outcome.path, outcome.support = yield from branch
        return outcome

    def _judge_cited(self, outcome: Outcome, doc_ids: Sequence[str]) -> _Branch:
        """Ask about the citations of a sentence and, if one may hold, about its nuggets."""
        queries: dict[str, Query] = {}
        for doc_id in dict.fromkeys(doc_ids):
            outcome.citations[doc_id] = None
            try:
                document = "" if self._find is None else self._find(self._report.collection_ids, doc_id)
            except (InputError, TypeError):
                raise  # the caller's fault: it returned no document, or takes other arguments
            except Exception as error:  # the instrument's fault: a store that can't be read may raise anything
                unreachable = Verdict(None, "unreachable", repr(error)[:200])
                outcome.verdicts.append((citation_query(outcome.text, doc_id, "", outcome.about), unreachable))
                continue
            if document is None:
                outcome.citations[doc_id] = False
                outcome.unknown.append(doc_id)
            else:
                queries[doc_id] = citation_query(outcome.text, doc_id, document, outcome.about)
        outcome.citations |= zip(queries, (yield from outcome.ask(queries.values())), strict=True)
        holds = outcome.citations.values()
        outcome.earns_recall, outcome.earns_coverage = all(holds), True in holds
        answers = (yield from self._ask_nuggets(outcome, self.pairs)) if outcome.earns_coverage or None in holds else []
        if False in holds:
            return -1, ("cited", "citation_fails"), False
        if None in holds:
            return None, ("cited", "unscored"), None
        path = ("cited", "citations_hold")
        if None in answers:
            return None, (*path, "unscored"), True
        return len(outcome.matched), (*path, "nuggets_matched" if outcome.matched else "no_nugget"), True

    def _judge_uncited(self, outcome: Outcome) -> _Branch:
        """Ask whether a sentence is negative or needs a citation, and whether its claim is new."""
        (negative,) = yield from outcome.ask([outcome.query("negative")])
        if negative is None:
            yield from self._ask_nuggets(outcome, self.pairs)
            return None, ("uncited", "unscored"), None
        if negative:
            outcome.earns_recall = outcome.earns_coverage = True
            answers = yield from self._ask_nuggets(outcome, {**self.pairs, **self._unanswerable})
            score = 1 if True in answers else None if None in answers else -1
            last_branch = {1: "nugget_confirms", None: "unscored", -1: "no_nugget"}[score]
            return score, ("uncited", "negative", last_branch), None
        path: tuple[str, ...] = ("uncited", "not_negative")
        (required,) = yield from outcome.ask([outcome.query("requires_citation")])
        if not required:
            return (None, (*path, "unscored"), None) if required is None else (0, (*path, "needs_no_citation"), None)
        path += ("needs_citation",)
        # Support asks whether the claim is new to the report; the score, whether it is new to the cited sentences.
        before = [sentence for sentence in self._report.sentences[: outcome.index] if sentence.text.strip()]
        new = new_to_cited = yield from self._is_new(outcome, before)
        cited = [sentence for sentence in before if sentence.citations]
        if not new and cited != before:
            new_to_cited = yield from self._is_new(outcome, cited, scope="cited")
        support = False if new else None
        if new_to_cited is None:
            return None, (*path, "unscored"), support
        if not new_to_cited:
            return 0, (*path, "repeats_cited"), support
        return -1, (*path, "first_instance" if new else "repeats_uncited"), support

    def _is_new(self, outcome: Outcome, earlier: Sequence[ReportSentence], **about: str) -> Walk[bool | None]:
        """Return whether the sentence is the first to make its claim, among ``earlier``; None without a verdict."""
        if not earlier:
            return True
        previous = "\n".join(sentence.text for sentence in earlier)
        (new,) = yield from outcome.ask([outcome.query("first_instance", about, previous=previous)])
        return new

    def _ask_nuggets(self, outcome: Outcome, pairs: Mapping[Pair, str]) -> Walk[list[bool | None]]:
        """Return whether the sentence gives each pair, and store the matched pairs in its outcome."""
        queries = [outcome.query("nugget_agreement", {"question_id": pairs[pair]}, **pair._asdict()) for pair in pairs]
        answers = yield from outcome.ask(queries)
        outcome.matched = tuple(pair for pair, yes in zip(pairs, answers, strict=True) if yes and pair in self.pairs)
        return answers


def walk_together(walks: Sequence[Sequence[Walk[End]]], judge: Judge) -> list[tuple[End, ...]]:
    """Take all walks to their ends; what all of them wait for is asked in one call, each question once.

    Args:
        walks: The walks of each report.
        judge: Answers the queries.

    Returns:
        For each report, what its walks return.

    Raises:
        InputError: If a look-up returns something that is not a document.
        JudgeError: If the judge can't be used at all.
    """
    verdicts: dict[object, Verdict] = {}
    returned: dict[Any, End] = {}
    waiting: dict[Any, Sequence[Query]] = {walk: () for report_walks in walks for walk in report_walks}
    while waiting:
        pending: dict[object, Query] = {}
        for walk, queries in list(waiting.items()):
            try:
                while all(query.identity in verdicts for query in queries):
                    queries = walk.send([verdicts[query.identity] for query in queries] or None)
            except StopIteration as stop:
                returned[walk] = stop.value
                del waiting[walk]
                continue
            waiting[walk] = queries
            for query in queries:
                pending.setdefault(query.identity, query)
        new_queries = [query for identity, query in pending.items() if identity not in verdicts]
        new_verdicts = judge.ask(new_queries) if new_queries else []
        verdicts |= {query.identity: verdict for query, verdict in zip(new_queries, new_verdicts, strict=True)}
    return [tuple(returned[walk] for walk in report_walks) for report_walks in walks]


def citation_query(sentence: str, doc_id: str, text: str, about: Mapping[str, str | int]) -> Query:
    """Build the query whether a document supports a sentence."""
    # The id is a field of documents without text, which would otherwise all be the same question.
    fields = {"sentence": sentence, "document": text} | ({} if text.strip() else {"doc_id": doc_id})
    return Query("citation_support", fields, {**about, "doc_id": doc_id})


def _passages(texts: Sequence[str]) -> Iterator[str]:
    """Yield each sentence among its neighbours, whole ones as far as they fit; empty where none does.

    The passage holds as much text before the sentence as behind it, and more on one side where the other has less.

    Example:
        >>> list(_passages(["Ann left.", "She wept.", "x" * 1995, "It rained."]))
        ['Ann left. She wept.', 'Ann left. She wept.', '', '']
    """
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    for index, text in enumerate(texts):
        end = bisect_right(starts, starts[index + 1] + max(0, PASSAGE_LENGTH - len(text)) // 2) - 1
        first = min(index, bisect_left(starts, starts[end] - PASSAGE_LENGTH - 1))
        end = max(end, bisect_right(starts, starts[first] + PASSAGE_LENGTH + 1) - 1)
        yield " ".join(texts[first:end]) if end - first > 1 else ""
