"""``compat="report_gen_eval"``: what the program of that name does (orionweller/report_gen_eval, b34e68e).

It differs from its own documentation, which :mod:`~tls_tasks.reports.plan` follows:

- a sentence in which anything fails (an unknown document, a nugget without importance, the judge) scores 0 and is not
  counted in precision;
- an answer must be exactly YES or NO, and is asked for up to three times, each time with its whole batch;
- a repeated claim passes whether it was ever cited or not;
- a negative statement is ignored if the request has no nuggets;
- undefined ratios are 0;
- a sentence without text, or a nugget without ``gold_answers``, loses the whole report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

from tls_tasks.reports.details import ReportItem, failed_item
from tls_tasks.reports.documents import LookUp, canonical_collection
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.plan import Identity, ask_all, citation_query
from tls_tasks.reports.rows import ReportRow
from tls_tasks.reports.score import RATIOS, UNDEFINED, Ratio, unit_of
from tls_tasks.reports.types import Judge, Query, Verdict

_TRIES = 3

_Tries = Callable[[Query], Sequence[Any] | None]
"""A query -> what is said at the first, second … try (the last for all later ones); None: not asked yet."""

_About = Mapping[str, str | int]


class _Match(NamedTuple):
    question: Any
    answer: Any


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence as the program scores it; ``error`` says what ended it."""

    index: int
    text: str
    score: int
    matched: tuple[dict[str, Any], ...] = ()
    error: str | None = None


class _Waits(BaseException):
    """Something must be asked first. Not an Exception, since the program catches those."""


@dataclass(slots=True)
class _Model:
    """Calls the model as the program does."""

    tries: _Tries
    invocations: int = 0
    wanted: dict[Identity, Query] = field(default_factory=dict)

    def batch(self, queries: Sequence[Query]) -> list[bool]:
        """All answers; if one can't be read, the whole batch is asked again, up to three times."""
        said = [self.tries(query) for query in queries]
        self.wanted.update((query.identity, query) for query, texts in zip(queries, said, strict=True) if texts is None)
        if None in said:
            raise _Waits
        calls = [0] * len(queries)
        for _ in range(_TRIES):
            answers = []
            for position, texts in enumerate(said):
                answer = _read_strictly(texts[min(calls[position], len(texts) - 1)]) if texts else None
                calls[position] += 1
                self.invocations += 1
                if answer is None:
                    break
                answers.append(answer)
            else:
                return answers
        raise RuntimeError(f"no YES or NO after {_TRIES} tries")

    def ask(self, kind: str, sentence: str, about: _About, **fields: str) -> bool:
        """One answer."""
        return self.batch([Query(kind, {"sentence": sentence, **fields}, about)])[0]


def score_as_program(rows: Sequence[ReportRow], find: LookUp | None, judge: Judge) -> list[ReportItem]:
    """Score reports as the program does; what it would ask next is asked for all reports at once.

    Args:
        rows: The reports; what counts is how they were given, since the program trips over what a parser would repair.
        find: Looks documents up; None: all exist.
        judge: The judge. Recorded judgments are read strictly, try by try; a missing verdict of any other judge counts
            as three failures.

    Raises:
        KeyError: What loses a report in the program.
        TypeError: The same.
        JudgeError: If the judge can't be used at all.
    """
    known: dict[Identity, Verdict] = {}
    tries: _Tries = judge.tries if isinstance(judge, Recorded) else partial(_tries_of, known)
    while True:
        models = [_Model(tries) for _ in rows]
        items = [
            failed_item(row, "answer", "as_given", zero=True) if row.raw_report is None else _report(row, find, model)
            for row, model in zip(rows, models, strict=True)
        ]
        wanted = {identity: query for model in models for identity, query in model.wanted.items()}
        if not wanted:
            return items
        known |= ask_all(judge, wanted)


def _tries_of(known: Mapping[Identity, Verdict], query: Query) -> Sequence[Any] | None:
    verdict = known.get(query.identity)
    return None if verdict is None else (verdict.value,)


def _read_strictly(said: Any) -> bool | None:
    text = said.strip().upper() if isinstance(said, str) else {True: "YES", False: "NO"}.get(said)
    return {"YES": True, "NO": False}.get(text or "")


def _report(row: ReportRow, find: LookUp | None, model: _Model) -> ReportItem:
    report = row.raw_report
    try:
        nuggets = next(
            (own["items"] for own in row.raw_nuggets if str(own["query_id"]) == str(report["request_id"])), None
        )
        texts = [sentence["text"] for sentence in report["sentences"]]
        unique: set[_Match] = set()
        sentences = [_sentence(index, report, texts, nuggets, find, model, unique) for index in range(len(texts))]
        total = sum(len(nugget["gold_answers"]) for nugget in nuggets) if nuggets else 0
        ids = str(report["request_id"]), str(report["run_id"])
        _ = report["collection_ids"]
    except (KeyError, TypeError, AttributeError) as error:
        loss = f"predictions[{row.row}]: report_gen_eval loses this report by {type(error).__name__}: {error}"
        raise type(error)(loss) from error
    return _item(row, ids, sentences, len(unique), total, model.invocations)


def _sentence(
    index: int, report: Any, texts: Sequence[Any], nuggets: Any, find: LookUp | None, model: _Model, unique: set[_Match]
) -> _Sentence:
    text = str(texts[index])
    about: _About = {"request_id": str(report["request_id"]), "sentence": index}
    try:
        documents = _documents(report["sentences"][index], report, find)
        if documents:
            score, matched = _cited(text, documents, nuggets, model, about)
        else:
            score, matched = _uncited(text, texts[:index], nuggets, model, about)
        unique.update(matched)
    except _Waits:
        return _Sentence(index, text, 0)
    except Exception as error:  # the program catches everything, and so does its copy
        return _Sentence(index, text, 0, error=f"{type(error).__name__}: {error}")
    return _Sentence(index, text, score, tuple(match._asdict() for match in matched))


def _documents(row: Any, report: Any, find: LookUp | None) -> list[tuple[str, str]]:
    """Ids and texts of what a sentence cites. Anything but a list is ignored; an unknown document ends the sentence."""
    if "citations" not in row or not row["citations"] or not isinstance(row["citations"], list):
        return []
    found = []
    for doc_id in row["citations"]:
        for collection in report["collection_ids"]:
            if find and find.collections is not None and canonical_collection(collection) not in find.collections:
                raise RuntimeError(f"no collection {collection}")
            text = "" if find is None else find([collection], doc_id)
            if text is not None:
                found.append((str(doc_id), text))
                break
    if len(found) != len(row["citations"]):
        raise RuntimeError(f"{len(found)} of {len(row['citations'])} cited documents found")
    return found


def _cited(
    text: str, documents: Sequence[tuple[str, str]], nuggets: Any, model: _Model, about: _About
) -> tuple[int, list[_Match]]:
    if not all(model.batch([citation_query(text, doc_id, found, about) for doc_id, found in documents])):
        return -1, []
    matched = _matches(text, nuggets, model, about) if nuggets else []
    return len(matched), matched


def _uncited(text: str, earlier: Sequence[Any], nuggets: Any, model: _Model, about: _About) -> tuple[int, list[_Match]]:
    if model.ask("negative", text, about):
        if not nuggets:
            return 0, []
        matched = _matches(text, nuggets, model, about)
        return 1 if matched else -1, matched
    if not model.ask("requires_citation", text, about):
        return 0, []
    if not earlier or model.ask("first_instance", text, about, previous="\n".join(earlier)):
        return -1, []
    return 0, []


def _matches(text: str, nuggets: Any, model: _Model, about: _About) -> list[_Match]:
    """The distinct pairs that a sentence gives, in order."""
    pairs = []
    for nugget in nuggets:
        for answer in nugget["gold_answers"]:
            pairs.append(_Match(nugget["question_text"], answer))
            _ = nugget["info"]["importance"]  # the program reads it, and fails if it is missing
    if not pairs:
        return []
    answers = model.batch(
        [
            Query("nugget_agreement", {"sentence": text, "question": str(question), "answer": str(answer)}, about)
            for question, answer in pairs
        ]
    )
    matched: list[_Match] = []
    for pair, answer in zip(pairs, answers, strict=True):
        if answer and pair not in matched:
            matched.append(pair)
    return matched


def _item(
    row: ReportRow, ids: tuple[str, str], sentences: Sequence[_Sentence], n_unique: int, total: int, judge_calls: int
) -> ReportItem:
    rewarded = sum(sentence.score > 0 for sentence in sentences)
    penalized = sum(sentence.score < 0 for sentence in sentences)
    errors = [sentence.index for sentence in sentences if sentence.error]
    ratios = dict.fromkeys(RATIOS, UNDEFINED)
    ratios |= {"recall": Ratio(n_unique, total), "precision": Ratio(rewarded, rewarded + penalized)}
    counts = {
        "sentences": len(sentences),
        "rewarded_sentences": rewarded,
        "penalized_sentences": penalized,
        "unscored_sentences": len(errors),
        "unique_nuggets_matched": n_unique,
        "total_nuggets": total,
        "unknown_citations": 0,
        "questions_asked": judge_calls,
        "questions_unanswered": 0,
    }
    flags = () if sentences else ("empty_report",)
    details = partial(_details, sentences, errors, judge_calls)
    return ReportItem(row.row, *ids, unit_of(ratios, counts, flags, zero=True), flags, details=details)


def _details(sentences: Sequence[_Sentence], errors: list[int], judge_calls: int) -> dict[str, Any]:
    return {
        "scores": [sentence.score for sentence in sentences],
        "errors": errors,
        "judge_calls": judge_calls,
        "sentences": [asdict(sentence) for sentence in sentences],
    }
