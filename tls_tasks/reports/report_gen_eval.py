"""``compat="report_gen_eval"``: score reports as the program of that name does (orionweller/report_gen_eval, b34e68e).

The program differs from its documentation, which :mod:`~tls_tasks.reports.plan` follows:

- a sentence in which anything fails (an unknown document, a nugget without importance, the judge) scores 0 and is not
  counted in precision;
- an answer must be exactly YES or NO, and is asked for up to three times, each time with its whole batch;
- a repeated claim passes whether it was ever cited or not;
- a negative statement is ignored if the request has no nuggets;
- undefined ratios are 0;
- a sentence without text, or a nugget without ``gold_answers``, makes it drop the whole report.

Equal verdicts therefore give equal numbers, but its prompts differ from ours. Reports and nuggets in a form that it
does not read are converted to its form. It refuses a report without ``collection_ids``; here its documents are looked
up in all collections.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.reports.documents import LookUp, canonical_collection
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.nuggets import parse_request
from tls_tasks.reports.plan import Pair, Walk, citation_query, walk_together
from tls_tasks.reports.rows import ReportRow
from tls_tasks.reports.score import ReportItem, build_unit
from tls_tasks.reports.types import Judge, Query

PROGRAM = "report_gen_eval"
_TRIES = 3
_ANSWERS: Mapping[Any, bool] = {"YES": True, "NO": False, True: True, False: False}
_NEEDED = "request_id and sentences with text and, of each nugget, question_text and gold_answers"

_About = Mapping[str, str | int]


class LostReportError(InputError, KeyError):
    """A report that the program drops; also a KeyError, which is what the program raises.

    Example:
        >>> raise LostReportError("predictions", 0, "a sentence without 'text'", "one with it")
        Traceback (most recent call last):
        ...
        tls_tasks.reports.report_gen_eval.LostReportError: predictions[0]: got a sentence without 'text', expected one with it
    """  # noqa: E501


class _Report:
    """A report from its raw row, since the program fails on rows that a parser would repair.

    Raises:
        LostReportError: The program would drop the report.
    """

    def __init__(self, row: ReportRow, find: LookUp | None, judge: Judge) -> None:
        self._find, self._judge = find, judge
        self.n_calls = 0
        self.unique: set[Pair] = set()
        raw = row.raw_report
        report = raw if row.report is None or "sentences" in raw else row.report.to_row()
        try:
            forms = (_programs_form(nuggets) for nuggets in row.raw_nuggets)
            fitting = (form["items"] for form in forms if str(form["query_id"]) == str(report["request_id"]))
            self._nuggets = next(fitting, None) or []
            self._sentences = report["sentences"]
            self._texts = [sentence["text"] for sentence in self._sentences]
            self.total = sum(len(nugget["gold_answers"]) for nugget in self._nuggets)
            self.ids = str(report["request_id"]), str(report.get("run_id", ""))
            self._collections = report.get("collection_ids") or [None]
        except (KeyError, TypeError, AttributeError) as error:
            got = f"a report that {PROGRAM} drops with {type(error).__name__}: {error}"
            raise LostReportError("predictions", row.row, got, _NEEDED) from error
        self.walks = [self._walk(index) for index in range(len(self._texts))]

    def _walk(self, index: int) -> Walk[dict[str, Any]]:
        """Walk one sentence and return its index, text, score and matched pairs; ``error`` is what ended it."""
        text = str(self._texts[index])
        about: _About = {"request_id": self.ids[0], "run_id": self.ids[1], "sentence": index}
        result: dict[str, Any] = {"index": index, "text": text, "score": 0, "matched": [], "error": None}
        try:
            queries = [citation_query(text, *document, about) for document in self._documents(self._sentences[index])]
            if queries:
                holds = yield from self._batch(queries)
                matched = (yield from self._matches(text, about)) if all(holds) else []
                score = len(matched) if all(holds) else -1
            else:
                score, matched = yield from self._uncited(text, index, about)
        except Exception as error:  # as in the program, which catches everything
            return {**result, "error": f"{type(error).__name__}: {error}"}
        self.unique.update(matched)
        return {**result, "score": score, "matched": [pair._asdict() for pair in matched]}

    def _documents(self, sentence: Any) -> list[tuple[str, str]]:
        """Return ids and texts of a sentence's citations; only lists count, an unknown document raises."""
        cited = sentence.get("citations")
        if not isinstance(cited, list):
            return []
        documents, collections = [], self._find.collections if self._find else None
        for doc_id in cited:
            for name in self._collections:
                if collections is not None and name is not None and canonical_collection(name) not in collections:
                    raise RuntimeError(f"no collection {name}")
                text = "" if self._find is None else self._find([] if name is None else [name], doc_id)
                if text is not None:
                    documents.append((str(doc_id), text))
                    break
        if len(documents) != len(cited):
            raise RuntimeError(f"{len(documents)} of {len(cited)} cited documents found")
        return documents

    def _uncited(self, text: str, index: int, about: _About) -> Walk[tuple[int, list[Pair]]]:
        """Return score and matched pairs of a sentence without citations."""
        (negative,) = yield from self._batch([Query("negative", {"sentence": text}, about)])
        if negative:
            matched = yield from self._matches(text, about)
            return (1 if matched else -1) if self._nuggets else 0, matched
        (is_new,) = yield from self._batch([Query("requires_citation", {"sentence": text}, about)])
        if is_new and index:
            fields = {"sentence": text, "previous": "\n".join(self._texts[:index])}
            (is_new,) = yield from self._batch([Query("first_instance", fields, about)])
        return -1 if is_new else 0, []

    def _matches(self, text: str, about: _About) -> Walk[list[Pair]]:
        """Return the distinct pairs that a sentence gives, in order."""
        pairs = []
        for nugget in self._nuggets:
            for answer in nugget["gold_answers"]:  # an answer may be a dict with references
                answer_text = answer.get("answer", answer) if isinstance(answer, Mapping) else answer
                pairs.append(Pair(nugget["question_text"], answer_text))
                _ = nugget["info"]["importance"]  # the program reads it, and fails if it is missing
        fields = [{"sentence": text, "question": str(pair.question), "answer": str(pair.answer)} for pair in pairs]
        answers = yield from self._batch([Query("nugget_agreement", queried, about) for queried in fields])
        return list(dict.fromkeys(pair for pair, matches in zip(pairs, answers, strict=True) if matches))

    def _batch(self, queries: Sequence[Query]) -> Walk[list[bool]]:
        """Return all answers; if one can't be read, the whole batch is asked again, up to three times."""
        verdicts = (yield queries) if queries else []
        tries: list[tuple[Any, ...]] = [(verdict.value,) for verdict in verdicts]
        if isinstance(self._judge, Recorded):
            tries = [self._judge.tries(query) for query in queries]
        streams = [chain(words, repeat(words[-1] if words else None)) for words in tries]
        for _ in range(_TRIES):
            answers = []
            for stream in streams:
                self.n_calls += 1
                raw = next(stream)
                answer = _ANSWERS.get(raw.strip().upper() if isinstance(raw, str) else raw)
                if answer is None:
                    break
                answers.append(answer)
            else:
                return answers
        raise RuntimeError(f"no YES or NO after {_TRIES} tries")


def score_as_program(rows: Sequence[ReportRow], find: LookUp | None, judge: Judge) -> list[ReportItem]:
    """Score reports as the program does, and return one item a report.

    Args:
        rows: The reports.
        find: Looks documents up; None: every cited id exists.
        judge: The judge. Recorded judgments are read strictly, try by try; a missing verdict of any other judge counts
            as three failures.

    Raises:
        LostReportError: The program would drop a report.
        JudgeError: If the judge can't be used at all.
    """
    reports = [None if row.raw_report is None else _Report(row, find, judge) for row in rows]
    judged = walk_together([report.walks if report else [] for report in reports], judge)
    items = []
    for row, report, sentences in zip(rows, reports, judged, strict=True):
        if report is None:
            total = len({(nugget.question, answer.text) for nugget in row.request.nuggets for answer in nugget.answers})
            ratios = {"recall": (0, total), "precision": (0, 1)}
            unit = build_unit([], ratios, ["parse_failure"], zero=True, total_nuggets=total)
            items.append(ReportItem(row.row, *row.ids, unit, ("parse_failure",), row.problems))
            continue
        flags = () if sentences else ("empty_report",)
        counts = {"total_nuggets": report.total, "questions_asked": report.n_calls}
        scored = [None if sentence["error"] else sentence["score"] for sentence in sentences]
        ratios = {"recall": (len(report.unique), report.total)}
        unit = build_unit(scored, ratios, flags, zero=True, unique_nuggets_matched=len(report.unique), **counts)
        scores = [sentence["score"] for sentence in sentences]
        errors = [sentence["index"] for sentence in sentences if sentence["error"]]
        details = {"scores": scores, "errors": errors, "judge_calls": report.n_calls, "sentences": list(sentences)}
        items.append(ReportItem(row.row, *report.ids, unit, flags, details=partial(dict, details)))
    return items


def _programs_form(row: Any) -> Any:
    """Return a row of nuggets in the program's form, with ``items``, whatever form it has."""
    request = parse_request(row).value if isinstance(row, Mapping) and "items" not in row else None
    return row if request is None else request.to_row()
