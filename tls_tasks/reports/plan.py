"""What must be asked about a report, and where each sentence comes out of the decision tree.

The tree is that of Mayfield et al., On the Evaluation of Machine-Generated Reports, SIGIR 2024, as the documentation of
report_gen_eval describes it. :func:`_walk` follows it with the known verdicts and collects the questions on its way
that nobody has answered yet. Asking them and walking again is a wave. Since no question about one sentence depends on a
verdict about another, three waves suffice:

1. does each cited document support the sentence (if it cites), is it negative (if it does not);
2. does it give each answer of a nugget, does it need a citation;
3. is it the first to make its claim.

If a verdict of the first wave is missing, the nuggets are asked nevertheless: otherwise it would not be known what the
report leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tls_tasks.core.errors import InputError, JudgeError
from tls_tasks.reports.documents import LookUp
from tls_tasks.reports.types import Judge, Query, Report, ReportRequest, Verdict

_NO_ANSWER = "It is not known."
"""What a negative sentence must say to be confirmed by a nugget without answers."""

SCOPES = ("cited", "any")
"""Which earlier sentences let a repeated claim pass without a citation."""

Identity = tuple[str, tuple[tuple[str, str], ...]]
_Verdicts = Mapping[Identity, Verdict]


class Pair(NamedTuple):
    """A question and one of its answers."""

    question: str
    answer: str


class _Cited(NamedTuple):
    """A citation.

    Attributes:
        doc_id: The cited document.
        query: Whether it supports the sentence; None where there is no such document, which then supports nothing.
        lost: Why the document could not be fetched, though it may exist; then nothing can be asked about it.
    """

    doc_id: str
    query: Query | None
    lost: str = ""


@dataclass(frozen=True, slots=True)
class _SentencePlan:
    """A sentence with text, and what it takes to judge it.

    Attributes:
        index: Its index in the report, from 0.
        text: The sentence.
        cited: Its citations.
        earlier: All sentences before it that have text.
        earlier_cited: Those of them that cite something.
        about: ``request_id``, ``run_id`` and ``sentence``.
    """

    index: int
    text: str
    cited: tuple[_Cited, ...]
    earlier: tuple[str, ...]
    earlier_cited: tuple[str, ...]
    about: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class ReportPlan:
    """A report, prepared to be judged.

    Attributes:
        pairs: The distinct (question, answer) pairs of the request -> the question's id.
        unanswerable: Questions to which nobody knows an answer -> their ids; they can confirm a negative sentence.
        sentences: The sentences that have text.
        scope: One of :data:`SCOPES`.
    """

    pairs: Mapping[Pair, str]
    unanswerable: Mapping[Pair, str]
    sentences: tuple[_SentencePlan, ...]
    scope: str


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


def plan_report(report: Report, request: ReportRequest, find: LookUp | None, scope: str = "cited") -> ReportPlan:
    """Prepare a report.

    Args:
        report: The report.
        request: What it was asked for, with nuggets.
        find: Looks documents up; None: judges know documents by their ids, and all exist.
        scope: See :class:`ReportPlan`.

    Raises:
        InputError: If the look-up returns something that is not a document.
    """
    pairs: dict[Pair, str] = {}
    unanswerable: dict[Pair, str] = {}
    for nugget in request.nuggets:
        for answer in nugget.answers:
            pairs.setdefault(Pair(nugget.question, answer.text), nugget.question_id)
        if not nugget.answers:
            unanswerable.setdefault(Pair(nugget.question, _NO_ANSWER), nugget.question_id)
    request_id = report.request_id or request.request_id
    earlier: list[str] = []
    earlier_cited: list[str] = []
    plans: list[_SentencePlan] = []
    for index, sentence in enumerate(report.sentences):
        if not sentence.text.strip():
            continue
        about: dict[str, str | int] = {"request_id": request_id, "run_id": report.run_id, "sentence": index}
        cited = tuple(
            _cited(doc_id, sentence.text, about, find, report.collection_ids)
            for doc_id in dict.fromkeys(sentence.citations)
        )
        plans.append(_SentencePlan(index, sentence.text, cited, tuple(earlier), tuple(earlier_cited), about))
        earlier.append(sentence.text)
        if cited:
            earlier_cited.append(sentence.text)
    return ReportPlan(pairs, unanswerable, tuple(plans), scope)


def judge_reports(plans: Sequence[ReportPlan], judge: Judge) -> list[tuple[Outcome, ...]]:
    """Ask what must be asked about reports, each question once, and follow the tree to every sentence's end.

    Args:
        plans: The reports.
        judge: The judge, asked once per wave.

    Returns:
        The outcomes of each report's sentences.

    Raises:
        JudgeError: If the judge can't be used at all.
    """
    verdicts: dict[Identity, Verdict] = {}
    while True:
        wanted: dict[Identity, Query] = {}
        outcomes = [tuple(_walk(plan, sentence, verdicts, wanted) for sentence in plan.sentences) for plan in plans]
        if not wanted:
            return outcomes
        verdicts |= ask_all(judge, wanted)


def ask_all(judge: Judge, wanted: Mapping[Identity, Query]) -> dict[Identity, Verdict]:
    """A judge's verdicts on questions.

    Raises:
        JudgeError: If the judge can't be used at all, or does not give one verdict per question.
    """
    verdicts = judge.ask(list(wanted.values()))
    if len(verdicts) != len(wanted):
        raise JudgeError(f"judge {judge.name}: gave {len(verdicts)} verdicts to {len(wanted)} questions")
    if wrong := [type(verdict).__name__ for verdict in verdicts if not isinstance(verdict, Verdict)]:
        raise JudgeError(f"judge {judge.name}: gave a {wrong[0]}, expected a Verdict for each question")
    return dict(zip(wanted, verdicts, strict=True))


class _Asker:
    """Answers from the known verdicts, and records what was asked."""

    def __init__(self, sentence: _SentencePlan, verdicts: _Verdicts, wanted: dict[Identity, Query]) -> None:
        self._sentence, self._verdicts, self._wanted = sentence, verdicts, wanted
        self.asked: list[tuple[Query, Verdict]] = []
        self.waits = False

    def __call__(self, kind: str, about: Mapping[str, str] | None = None, **fields: str) -> bool | None:
        """Yes, no, or None: there is no verdict, or none yet (then ``waits`` is set)."""
        return self.ask(
            Query(kind, {"sentence": self._sentence.text, **fields}, {**self._sentence.about, **(about or {})})
        )

    def ask(self, query: Query) -> bool | None:
        """The same for a whole query."""
        identity = query.identity
        verdict = self._verdicts.get(identity)
        if verdict is None:
            self._wanted.setdefault(identity, query)
            self.waits = True
            return None
        self.asked.append((query, verdict))
        return verdict.value

    def citation(self, cited: _Cited) -> bool | None:
        """Whether a citation holds."""
        if cited.query is None:
            return False
        if cited.lost:
            self.asked.append((cited.query, Verdict(None, "unreachable", cited.lost)))
            return None
        return self.ask(cited.query)

    def pairs(self, pairs: Mapping[Pair, str]) -> dict[Pair, bool | None]:
        """Which pairs the sentence gives."""
        return {
            pair: self("nugget_agreement", {"question_id": question_id}, question=pair.question, answer=pair.answer)
            for pair, question_id in pairs.items()
        }


class _End(NamedTuple):
    """Where a path ends, and what counts there; see :class:`Outcome`."""

    score: int | None
    path: tuple[str, ...]
    support: bool | None = None
    matched: tuple[Pair, ...] = ()
    earns_recall: bool = False
    earns_coverage: bool = False


_WAITS = _End(None, ("waits",))


def _walk(plan: ReportPlan, sentence: _SentencePlan, verdicts: _Verdicts, wanted: dict[Identity, Query]) -> Outcome:
    """Follow the tree as far as the verdicts go.

    Args:
        plan: The report.
        sentence: One of its sentences.
        verdicts: What judges have said.
        wanted: Receives the unanswered questions; if there are none, the outcome is final.
    """
    ask = _Asker(sentence, verdicts, wanted)
    citations = {one.doc_id: ask.citation(one) for one in sentence.cited}
    end = _cited_end(plan, citations, ask) if citations else _uncited_end(plan, sentence, ask)
    return Outcome(
        index=sentence.index,
        text=sentence.text,
        citations=citations,
        unknown=tuple(cited.doc_id for cited in sentence.cited if cited.query is None),
        verdicts=tuple(ask.asked),
        **end._asdict(),
    )


def _cited_end(plan: ReportPlan, citations: Mapping[str, bool | None], ask: _Asker) -> _End:
    if ask.waits:
        return _WAITS
    holds = _all_of(citations.values())
    if not any(value is not False for value in citations.values()):
        return _End(-1, ("cited", "citation_fails"), False)
    given = ask.pairs(plan.pairs)
    matched, some = _matched(plan, given), any(citations.values())
    if holds is False:
        return _End(-1, ("cited", "citation_fails"), False, matched, earns_coverage=some)
    if holds is None:
        return _End(None, ("cited", "unscored"), None, matched, earns_coverage=some)
    path = ("cited", "citations_hold")
    if None in given.values():
        return _End(None, (*path, "unscored"), True, matched, True, True)
    return _End(len(matched), (*path, "nuggets_matched" if matched else "no_nugget"), True, matched, True, True)


def _uncited_end(plan: ReportPlan, sentence: _SentencePlan, ask: _Asker) -> _End:
    negative = ask("negative")
    if ask.waits:
        return _WAITS
    if negative is None:
        return _End(None, ("uncited", "unscored"), matched=_matched(plan, ask.pairs(plan.pairs)))
    if negative:
        given = ask.pairs({**plan.pairs, **plan.unanswerable})
        confirmed = _any_of(given.values())
        branch = {True: "nugget_confirms", False: "no_nugget", None: "unscored"}[confirmed]
        score = None if confirmed is None else 1 if confirmed else -1
        return _End(score, ("uncited", "negative", branch), None, _matched(plan, given), True, True)
    path = ("uncited", "not_negative")
    required = ask("requires_citation")
    if ask.waits:
        return _WAITS
    if not required:
        return _End(None, (*path, "unscored")) if required is None else _End(0, (*path, "needs_no_citation"))
    return _first_instance(plan, sentence, ask, (*path, "needs_citation"))


def _first_instance(plan: ReportPlan, sentence: _SentencePlan, ask: _Asker, path: tuple[str, ...]) -> _End:
    """Whether an uncited claim is new: to the report, which support counts, and to its cited sentences."""
    new = ask("first_instance", previous="\n".join(sentence.earlier)) if sentence.earlier else True
    new_to_cited = new
    if plan.scope == "cited" and new is not True:
        if not sentence.earlier_cited:
            new_to_cited = True
        elif sentence.earlier_cited != sentence.earlier:
            new_to_cited = ask("first_instance", {"scope": "cited"}, previous="\n".join(sentence.earlier_cited))
            new = False if new_to_cited is False else new  # what repeats a cited claim repeats a claim
    support = False if new else None
    if new_to_cited is None:
        return _End(None, (*path, "unscored"), support)
    if not new_to_cited:
        return _End(0, (*path, "repeats_cited" if plan.scope == "cited" else "repeats"), support)
    return _End(-1, (*path, "first_instance" if new else "repeats_uncited"), support)


def _matched(plan: ReportPlan, given: Mapping[Pair, bool | None]) -> tuple[Pair, ...]:
    return tuple(pair for pair, value in given.items() if value and pair in plan.pairs)


def _all_of(values: Iterable[bool | None]) -> bool | None:
    """Whether all are true; None if unknown.

    Example:
        >>> _all_of([True, None]), _all_of([False, None]), _all_of([])
        (None, False, True)
    """
    kept = list(values)
    return False if False in kept else None if None in kept else True


def _any_of(values: Iterable[bool | None]) -> bool | None:
    """Whether any is true; None if unknown.

    Example:
        >>> _any_of([True, None]), _any_of([False, None]), _any_of([])
        (True, None, False)
    """
    kept = list(values)
    return True if True in kept else None if None in kept else False


def citation_query(sentence: str, doc_id: str, text: str, about: Mapping[str, str | int]) -> Query:
    """Whether a document supports a sentence."""
    # Documents without text would all be the same question.
    fields = {"sentence": sentence, "document": text} | ({} if text.strip() else {"doc_id": doc_id})
    return Query("citation_support", fields, {**about, "doc_id": doc_id})


def _cited(
    doc_id: str, sentence: str, about: Mapping[str, str | int], find: LookUp | None, collections: Sequence[str]
) -> _Cited:
    text: str | None = ""
    lost = ""
    try:
        text = text if find is None else find(collections, doc_id)
    except (InputError, TypeError):
        raise  # not a document, or a look-up with other arguments: the caller's fault
    except Exception as error:  # the store can't be read: the instrument's fault, whatever it raises
        lost = repr(error)[:200]
    return _Cited(doc_id, None if text is None else citation_query(sentence, doc_id, text, about), lost)
