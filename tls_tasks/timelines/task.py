"""The timeline tasks, with articles and in closed-book form."""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

from tls_tasks.core.score import Result, Score, grouped, mean, prf_of_means, ratio, total
from tls_tasks.core.task import Task
from tls_tasks.timelines.alignment_rouge import alignment_rouge
from tls_tasks.timelines.data import ALL_SETS, examples, load_documents
from tls_tasks.timelines.date_f1 import date_f1
from tls_tasks.timelines.picture import picture
from tls_tasks.timelines.prompts import closed_book_prompt, prompt
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline

_METRICS: Mapping[str, Callable[..., Score]] = {"alignment_rouge": alignment_rouge, "date_f1": date_f1}
_CLOSED_BOOK = "_closed_book"


RESULTS: dict[str, Result] = {}
"""F of the means, as papers report it, and ``<prefix>_mean_f``: the mean F of each topic, then of all topics."""

for _prefix in ("ar1", "ar2", "date"):
    RESULTS |= {**prf_of_means(_prefix), f"{_prefix}_mean_f": mean(f"{_prefix}_f1", equal_votes=True)}

_TABLE = {
    **RESULTS,
    "parse_failures": total("parse_failures", better=False),
    "n_dates": mean("n_dates", better=None, bounded=False),
}


_WITH_ARTICLES = {
    **_TABLE,
    "dates_in_articles": ratio("in_articles", "dates", empty=math.nan),
    "dates_invented": total("invented", better=False),
}


def _unit(doc: Mapping[str, Any], answer: str) -> dict[str, float]:
    """Return the unit of an answer: parts of both metrics, parse failure, number of dates, and dates by article."""
    parsed = parse_timeline(answer)
    prediction, reference = parsed.value or Timeline(), json.loads(doc["reference"])
    unit = {"parse_failures": float(parsed.failed), "n_dates": float(len(prediction))}
    for metric in _METRICS.values():
        unit |= metric([prediction], [reference]).units[0]
    if "article_dates" in doc:
        days = set(map(str, prediction.dates))
        not_in_articles = days.difference(json.loads(doc["article_dates"]))
        invented = not_in_articles.difference(json.loads(doc["reference_dates"]))
        unit |= {"dates": len(days), "in_articles": len(days) - len(not_in_articles), "invented": len(invented)}
    return unit


def _scores(doc: Mapping[str, Any], answer: str) -> dict[str, Score]:
    reference = json.loads(doc["reference"])
    return {name: metric([answer], [reference]) for name, metric in _METRICS.items()}


def _target(doc: Mapping[str, Any]) -> str:
    """Return the reference in the form that the prompt asks for: one line a date."""
    lines = ((day["date"], " ".join(" ".join(day["text"]).split())) for day in json.loads(doc["reference"]))
    return "\n".join(f"{date}: {text}" for date, text in lines)


def _among(documents: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Yield (id, document, answer) for ordered pairs of a topic's references, the first as answer to the second."""
    for members in grouped(documents, [doc["topic"] for doc in documents]).values():
        for answering, answered in itertools.permutations(members, 2):
            yield answering["doc_id"], answered, answering["reference"]


@wraps(load_documents)
def _load_closed_book(name: str, /, **options: Any) -> list[dict[str, str | int]]:
    return load_documents(name.removesuffix(_CLOSED_BOOK), **{**options, "closed_book": True})


_SHARED = (_target, _unit, _scores, picture, "topic")  # arguments of both forms of a task

TASKS = {
    name + ending: Task(
        *(name + ending, "timelines", table, load, prompt_form, *_SHARED),
        headline="ar1_f1",
        reported=("ar1_f1", "ar2_f1", "date_f1"),
        fewshot=examples,
        among=_among,
    )
    for ending, table, load, prompt_form in (
        ("", _WITH_ARTICLES, load_documents, prompt),
        (_CLOSED_BOOK, _TABLE, _load_closed_book, closed_book_prompt),
    )
    for name in ALL_SETS
}
