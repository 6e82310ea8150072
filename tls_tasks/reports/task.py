"""The report task: answers -> judged answers -> units.

All answers are judged together, so that many questions are asked at a time, and a judged answer contains the verdicts:
a logged run is a recording. Scoring reads it and asks nobody.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import wraps
from itertools import cycle
from typing import Any

from tls_tasks.core.parsed import Parsed
from tls_tasks.core.prf import f_beta
from tls_tasks.core.score import Score, mean, total
from tls_tasks.core.task import Doc, Task
from tls_tasks.reports.data import ALL_SETS, examples, load_documents, prompt, shorter
from tls_tasks.reports.documents import look_up
from tls_tasks.reports.judges import Recorded
from tls_tasks.reports.judges.choose import check_judge, is_paid, make_judge, unpaid
from tls_tasks.reports.judges.price import Price, price, read_prices
from tls_tasks.reports.judges.price import total as total_price
from tls_tasks.reports.judges.recordings import record
from tls_tasks.reports.nuggets import parse_request
from tls_tasks.reports.plan import Outcome, ReportPlan, walk_together
from tls_tasks.reports.read import parse_report
from tls_tasks.reports.report_eval import UnscoredWarning, report_eval
from tls_tasks.reports.score import KEYS, RATIOS, macro, micro
from tls_tasks.reports.types import Judge, Query, Report, ReportRequest, ReportSentence, Verdict

_log = logging.getLogger(__name__)

_SENTENCE = (
    "The council of the town decided in June that the old bridge over the river is to be built anew, said the mayor"
)
_NOBODY = "none"
"""The judge's name where nobody judges."""


def _f1_of_ratios(support_of: float, support_hits: float, coverage_of: float, coverage_hits: float) -> float:
    if not support_of or not coverage_of:
        return math.nan
    return f_beta(support_hits / support_of, coverage_hits / coverage_of)


_RESULTS = {
    **{key: macro(key) for key in KEYS},
    **{f"{key}_micro": micro(key) for key in RATIOS},
    "f1_micro": replace(micro("f1"), of=_f1_of_ratios),
    "n_unscored": total("unscored_sentences", better=False),
    "n_sentences": mean("n_sentences", better=None, bounded=False),
    "unknown_citations": total("unknown_citations", better=False),
    "parse_failures": total("parse_failures", better=False),
}


def _judge_answers(answers: Sequence[str], docs: Sequence[Doc]) -> list[str]:
    """Read the reports in all answers to a task and put the judge's questions about them.

    Args:
        answers: The model's answers, one a document.
        docs: The task's documents, whose ``judge`` says who judges.

    Returns:
        For each document JSON text: ``report`` (a row with ``sentences``), ``problems`` (kind -> how often), ``judge``
        (its name), ``judgments`` (lines of a recording) and, if the judge could not be used, ``judge_error``.

    Nothing is raised: an exception here would lose the answers of the whole run. Where the judge fails, its verdicts
    are missing, the log says why, and ``tls-tasks reports`` can ask again from the samples log.
    """
    parsed = [_parse_answer(answer, doc) for answer, doc in zip(answers, docs, strict=True)]
    asker = _Asker()
    outcomes: list[tuple[Outcome, ...]] = [() for _ in docs]
    try:
        asker.judge = make_judge(json.loads(docs[0]["judge"])) if docs else None
        if asker.judge is not None:
            plans = [
                ReportPlan(
                    own.value or Report(str(doc["doc_id"]), ""), _request_of(doc), look_up(_shown_documents(doc))
                )
                for own, doc in zip(parsed, docs, strict=True)
            ]
            outcomes = walk_together([plan.walks() for plan in plans], asker)
    except Exception as error:  # see above: the answers must survive, whatever it is
        asker.fail(error)
    return [json.dumps(_judged(*pair, asker)) for pair in zip(parsed, outcomes, strict=True)]


def _read_judged(doc: Doc, text: str) -> dict[str, Any]:
    """What :func:`_judge_answers` wrote; for any other text the report in it, judged by nobody."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and {"report", "judge", "judgments"} <= value.keys():
        return value
    return _judged(_parse_answer(text, doc), (), _Asker())


@wraps(load_documents)  # it takes the same options
def _load(
    name: str, /, *, judge: Any = _NOBODY, provenance: MutableMapping[str, str] | None = None, **options: Any
) -> list[dict[str, Any]]:
    """The documents. A judge that can't work is refused before anything has been generated."""
    prices = None
    if isinstance(judge, Mapping) and "price" in judge:  # moves no verdict, so that nobody but the log hears of it
        prices = read_prices("judge.price", judge["price"])
        judge = {key: value for key, value in judge.items() if key != "price"}
    judged_by = check_judge(judge)
    if provenance is not None:
        provenance["judge"] = judged_by
    documents = load_documents(name, judge=judge, provenance=provenance, **options)
    if is_paid(judge):
        found = _price_of_ten(judge, documents)
        said = "; ".join(
            f"{kind} {each.calls[1]:,} calls, {each.prompt_tokens[1]:,} tokens"
            + (f", {each.money(*prices)[1]:,.2f} of money" if prices else "")
            for kind, each in found.items()
        )
        _log.info(
            "judge %s: %d reports of ten sentences with a citation each would take at most %s; of reports that are "
            "there, `tls-tasks judge --dry-run` tells more",
            judged_by, len(documents), said,
        )  # fmt: skip
    return documents


def _price_of_ten(judge: Mapping[str, Any], documents: Sequence[Doc]) -> dict[str, Price]:
    """What a report of ten sentences for each document takes, by kind of question; every sentence cites a document."""

    def score(supposed: Judge) -> None:
        for doc in documents:
            shown = _shown_documents(doc)
            name, cited = str(doc["doc_id"]), zip(range(10), cycle(shown))
            told = [ReportSentence(f"{_SENTENCE} ({name}, {number}).", (doc_id,)) for number, doc_id in cited]
            plan = ReportPlan(Report(name, "", (), tuple(told)), _request_of(doc), look_up(shown))
            walk_together([plan.walks()], supposed)

    own = {name: value for name, value in judge.items() if name != "citation_support"}
    found = price(score, make_judge(unpaid(own)) or _Asker())
    if "citation_support" in judge:  # somebody else is asked
        found.pop("citation_support", None)
    return {**found, "all": total_price(found)}


def _target(doc: Doc) -> str:
    """The answers of the request's nuggets, each with the numbers of the documents that attest it."""
    numbers = {doc_id: str(number) for number, doc_id in enumerate(_shown_documents(doc), start=1)}
    return "\n".join(
        f"{answer.text} [{', '.join(numbers[doc_id] for doc_id in answer.references if doc_id in numbers)}]."
        for nugget in _request_of(doc).nuggets
        for answer in nugget.answers
    )


def _unit(doc: Doc, answer: str) -> dict[str, float]:
    """The unit of a judged report; of one that nobody has judged only what can be counted."""
    judged = _read_judged(doc, answer)
    n_sentences = len(judged["report"]["sentences"]) if judged["report"] else 0
    unit = {"unscored_sentences": n_sentences} if judged["judge"] == _NOBODY else _score(doc, judged).units[0]
    return {
        **unit,
        "n": 1,
        "n_sentences": n_sentences,
        "unknown_citations": int(judged["problems"].get("unknown_citation", 0)),
        "parse_failures": int(judged["report"] is None),
    }


def _scores(doc: Doc, answer: str) -> dict[str, Score]:
    return {"report_eval": _score(doc, _read_judged(doc, answer))}


def _score(doc: Doc, judged: Mapping[str, Any]) -> Score:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnscoredWarning)  # n_unscored counts them for the whole run
        return report_eval(
            ["" if judged["report"] is None else judged["report"]],  # no report in the answer: the worst score
            [_request_row(doc)],
            documents=_shown_documents(doc),
            judge=Recorded(judged["judgments"], name=str(judged["judge"])),
        )


class _Asker:
    """Passes questions on to the judge; if the judge fails, they are unscored and the reason is kept."""

    def __init__(self) -> None:
        self.judge: Judge | None = None
        self.error = ""

    @property
    def name(self) -> str:
        """The judge's name."""
        return _NOBODY if self.judge is None else self.judge.name

    def ask(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """The judge's verdicts; once it has failed, unscored ones."""
        if self.judge is not None and not self.error:
            try:
                return self.judge.ask(queries)
            except Exception as error:  # whatever it is, it must not lose the answers
                self.fail(error)
        return [Verdict(None, "down")] * len(queries)

    def fail(self, error: Exception) -> None:
        """Keep the reason, and log it."""
        self.error = f"{type(error).__name__}: {error}"
        _log.error(
            "the judge can't be used, its verdicts are missing (the answers are kept; judge them from the samples log "
            "by `tls-tasks reports`): %s",
            self.error,
            exc_info=not isinstance(error, ValueError | OSError),
        )


def read_sample(doc: Doc, text: str) -> tuple[Report, ReportRequest, dict[str, dict[str, str]]]:
    """The report in an answer, empty if there is none; its request; and the documents that the prompt showed."""
    report = _parse_answer(text, doc).value or Report(str(doc["doc_id"]), "")
    return report, _request_of(doc), _shown_documents(doc)


def _parse_answer(text: str, doc: Doc) -> Parsed[Report]:
    """The report in an answer to a document of the task."""
    documents = json.loads(doc["documents"])
    return parse_report(
        text,
        [str(document["id"]) for document in documents],
        titles=[document["title"] for document in documents],
        request_id=str(doc["doc_id"]),
        collection_ids=[doc["collection_id"]] if doc["collection_id"] else [],
        limit=doc["limit"] or None,
    )


def _judged(parsed: Parsed[Report], outcomes: Sequence[Outcome], asker: _Asker) -> dict[str, Any]:
    """What the samples log keeps of one report."""
    judgments = [record(query, verdict, asker.name) for outcome in outcomes for query, verdict in outcome.verdicts]
    return {
        "report": parsed.value.as_row() if parsed.value is not None else None,
        "problems": parsed.counts(),
        "judge": asker.name if asker.judge is not None or not asker.error else "failed",
        **({"judge_error": asker.error} if asker.error else {}),
        "judgments": judgments,
    }


def _request_of(doc: Doc) -> ReportRequest:
    """The request of a document, with its nuggets."""
    return parse_request(_request_row(doc)).value or ReportRequest(str(doc["doc_id"]))


def _request_row(doc: Doc) -> Any:
    """The request's row of nuggets, empty if it has no nuggets."""
    return json.loads(doc["nuggets"]) if doc["nuggets"] else {"query_id": doc["doc_id"], "items": []}


def _shown_documents(doc: Doc) -> dict[str, dict[str, str]]:
    """The documents that the prompt showed by id; others can't be cited."""
    return {document["id"]: document for document in json.loads(doc["documents"])}


def _picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Each sentence with its path through the decision tree, its citations and the nuggets that it answers."""
    sentences = explained["report_eval"]["items"][0].get("sentences", ())  # none where no report was read
    return {
        "kind": "report",
        "request": str(doc.get("problem_statement") or doc.get("title") or ""),
        # Of the verdicts, only the missing ones are shown.
        "sentences": [
            {**sentence, "verdicts": [verdict for verdict in sentence["verdicts"] if verdict["value"] is None]}
            for sentence in sentences
        ],
    }


TASKS = {
    name: Task(
        name,
        "reports",
        _RESULTS,
        _load,
        prompt,
        _target,
        _unit,
        _scores,
        _picture,
        judge=_judge_answers,
        fewshot=examples,
        shorter=shorter,
    )
    for name in ALL_SETS
}
