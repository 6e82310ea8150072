"""``compat="report_gen_eval"``: what the program of that name does (orionweller/report_gen_eval, b34e68e).

It differs from its own documentation, which :mod:`~tls_tasks.reports.plan` follows:

- a sentence in which anything fails (an unknown document, a nugget without importance, the judge) scores 0 and is not
  counted in precision;
- an answer must be exactly YES or NO, and is asked for up to three times, each time with its whole batch;
- a repeated claim passes whether it was ever cited or not;
- a negative statement is ignored if the request has no nuggets;
- undefined ratios are 0;
- a sentence without text, or a nugget without ``gold_answers``, loses the whole report.

That is its arithmetic, and equal verdicts give equal numbers. Its questions are others than ours: they are in its
prompts (:class:`~tls_tasks.reports.judges.prompts.PromptFolder`), and its verdicts in its results
(:func:`~tls_tasks.reports.judges.recordings.recorded_rows`). Reports and nuggets in a form that it does not read are
put into its own, and documents of a report without ``collection_ids``, which it refuses, are looked for in all
collections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError
from tls_tasks.reports.details import ReportItem, failed_item
from tls_tasks.reports.documents import LookUp, canonical_collection
from tls_tasks.reports.judges.recordings import PROGRAM, Recorded
from tls_tasks.reports.nuggets import parse_request
from tls_tasks.reports.plan import Walk, citation_query, walk_together
from tls_tasks.reports.rows import ReportRow
from tls_tasks.reports.score import unit_of
from tls_tasks.reports.types import Judge, Query

_TRIES = 3
_NEEDED = "request_id and sentences with text and, of each nugget, question_text and gold_answers"

_About = Mapping[str, str | int]


class LostReportError(InputError, KeyError):
    """A report that the program loses; also a KeyError, which is what the program raises.

    Example:
        >>> raise LostReportError("predictions", 0, "a sentence without 'text'", "one with it")
        Traceback (most recent call last):
        ...
        tls_tasks.reports.report_gen_eval.LostReportError: predictions[0]: got a sentence without 'text', expected one with it
    """  # noqa: E501


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


class _Report:
    """A report as it was given: what counts, since the program trips over what a parser would repair.

    Raises:
        LostReportError: What loses the report in the program.
    """

    def __init__(self, row: ReportRow, find: LookUp | None, judge: Judge) -> None:
        self.row, self._find, self._judge = row, find, judge
        self.n_calls = 0
        self.unique: set[_Match] = set()
        raw = row.raw_report
        report = self._report = raw if row.report is None or "sentences" in raw else row.report.as_row()
        try:
            nuggets = (_programs_form(own) for own in row.raw_nuggets)
            self._nuggets = next(
                (own["items"] for own in nuggets if str(own["query_id"]) == str(report["request_id"])), None
            )
            self._texts = [sentence["text"] for sentence in report["sentences"]]
            self.total = sum(len(nugget["gold_answers"]) for nugget in self._nuggets) if self._nuggets else 0
            self.ids = str(report["request_id"]), str(report.get("run_id", ""))
            self._collections = report.get("collection_ids") or [None]
        except (KeyError, TypeError, AttributeError) as error:
            got = f"a report that {PROGRAM} loses by {type(error).__name__}: {error}"
            raise LostReportError("predictions", row.row, got, _NEEDED) from error

    def walks(self) -> list[Walk[_Sentence]]:
        """A walk for each sentence."""
        return [self._walk(index) for index in range(len(self._texts))]

    def _walk(self, index: int) -> Walk[_Sentence]:
        text = str(self._texts[index])
        about: _About = {"request_id": self.ids[0], "run_id": self.ids[1], "sentence": index, "scope": PROGRAM}
        try:
            documents = self._documents(self._report["sentences"][index])
            walk = self._cited(text, documents, about) if documents else self._uncited(text, index, about)
            score, matched = yield from walk
            self.unique.update(matched)
        except Exception as error:  # the program catches everything, and so does its copy
            return _Sentence(index, text, 0, error=f"{type(error).__name__}: {error}")
        return _Sentence(index, text, score, tuple(match._asdict() for match in matched))

    def _documents(self, sentence: Any) -> list[tuple[str, str]]:
        """Ids and texts of what a sentence cites; anything but a list is ignored, an unknown document is an error."""
        cited = sentence.get("citations")
        if not isinstance(cited, list):
            return []
        found = []
        for doc_id in cited:
            for collection in self._collections:
                known = None if self._find is None else self._find.collections
                if known is not None and collection is not None and canonical_collection(collection) not in known:
                    raise RuntimeError(f"no collection {collection}")
                text = "" if self._find is None else self._find([] if collection is None else [collection], doc_id)
                if text is not None:
                    found.append((str(doc_id), text))
                    break
        if len(found) != len(cited):
            raise RuntimeError(f"{len(found)} of {len(cited)} cited documents found")
        return found

    def _cited(self, text: str, documents: Sequence[tuple[str, str]], about: _About) -> Walk[tuple[int, list[_Match]]]:
        holds = yield from self._batch([citation_query(text, doc_id, found, about) for doc_id, found in documents])
        if not all(holds):
            return -1, []
        matched = (yield from self._matches(text, about)) if self._nuggets else []
        return len(matched), matched

    def _uncited(self, text: str, index: int, about: _About) -> Walk[tuple[int, list[_Match]]]:
        earlier = self._texts[:index]
        if (yield from self._question("negative", text, about)):
            if not self._nuggets:
                return 0, []
            matched = yield from self._matches(text, about)
            return 1 if matched else -1, matched
        if not (yield from self._question("requires_citation", text, about)):
            return 0, []
        if not earlier or (yield from self._question("first_instance", text, about, previous="\n".join(earlier))):
            return -1, []
        return 0, []

    def _matches(self, text: str, about: _About) -> Walk[list[_Match]]:
        """The distinct pairs that a sentence gives, in order."""
        pairs = []
        for nugget in self._nuggets or ():
            for answer in nugget["gold_answers"]:
                pairs.append(_Match(nugget["question_text"], answer))
                _ = nugget["info"]["importance"]  # the program reads it, and fails if it is missing
        answers = yield from self._batch(
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

    def _question(self, kind: str, sentence: str, about: _About, **fields: str) -> Walk[bool]:
        (answer,) = yield from self._batch([Query(kind, {"sentence": sentence, **fields}, about)])
        return answer

    def _batch(self, queries: Sequence[Query]) -> Walk[list[bool]]:
        """All answers; if one can't be read, the whole batch is asked again, up to three times."""
        verdicts = (yield queries) if queries else []
        said: list[tuple[Any, ...]] = [(verdict.value,) for verdict in verdicts]
        if isinstance(self._judge, Recorded):
            said = [self._judge.tries(query) for query in queries]
        calls = [0] * len(queries)
        for _ in range(_TRIES):
            answers = []
            for position, tries in enumerate(said):
                answer = _read_strictly(tries[min(calls[position], len(tries) - 1)]) if tries else None
                calls[position] += 1
                self.n_calls += 1
                if answer is None:
                    break
                answers.append(answer)
            else:
                return answers
        raise RuntimeError(f"no YES or NO after {_TRIES} tries")


def score_as_program(rows: Sequence[ReportRow], find: LookUp | None, judge: Judge) -> list[ReportItem]:
    """Score reports as the program does.

    Args:
        rows: The reports.
        find: Looks documents up; None: all exist.
        judge: The judge. Recorded judgments are read strictly, try by try; a missing verdict of any other judge counts
            as three failures.

    Raises:
        LostReportError: What loses a report in the program.
        JudgeError: If the judge can't be used at all.
    """
    reports = [None if row.raw_report is None else _Report(row, find, judge) for row in rows]
    judged = walk_together([report.walks() if report else [] for report in reports], judge)
    return [
        _item(report, sentences) if report else failed_item(row, "answer", "as_given", zero=True)
        for row, report, sentences in zip(rows, reports, judged, strict=True)
    ]


def _programs_form(row: Any) -> Any:
    """A row of nuggets with ``items``, whatever form it has; answers with references are texts, as it needs them."""
    if isinstance(row, Mapping) and "items" not in row:
        request = parse_request(row).value
        row = row if request is None else request.as_row()
    if not isinstance(row, Mapping) or not isinstance(row.get("items"), list):
        return row
    return {**row, "items": [_with_texts(item) for item in row["items"]]}


def _with_texts(item: Any) -> Any:
    if not isinstance(item, Mapping) or not isinstance(item.get("gold_answers"), list):
        return item
    answers = [own.get("answer", own) if isinstance(own, Mapping) else own for own in item["gold_answers"]]
    return {**item, "gold_answers": answers}


def _read_strictly(said: Any) -> bool | None:
    text = said.strip().upper() if isinstance(said, str) else {True: "YES", False: "NO"}.get(said)
    return {"YES": True, "NO": False}.get(text or "")


def _item(report: _Report, sentences: Sequence[_Sentence]) -> ReportItem:
    n_unique = len(report.unique)
    flags = () if sentences else ("empty_report",)
    unit = unit_of(
        [None if sentence.error else sentence.score for sentence in sentences],
        {"recall": (n_unique, report.total)},
        flags,
        zero=True,
        unique_nuggets_matched=n_unique,
        total_nuggets=report.total,
        questions_asked=report.n_calls,
    )
    return ReportItem(report.row.row, *report.ids, unit, flags, details=partial(_details, sentences, report.n_calls))


def _details(sentences: Sequence[_Sentence], n_calls: int) -> dict[str, Any]:
    return {
        "scores": [sentence.score for sentence in sentences],
        "errors": [sentence.index for sentence in sentences if sentence.error],
        "judge_calls": n_calls,
        "sentences": [asdict(sentence) for sentence in sentences],
    }
