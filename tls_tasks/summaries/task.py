"""The summarisation tasks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tls_tasks.core.score import Score, mean, total
from tls_tasks.core.task import Task, shorter_text
from tls_tasks.summaries.data import ALL_SETS, examples, load_documents, prompt
from tls_tasks.summaries.picture import picture
from tls_tasks.summaries.read import parse_summary
from tls_tasks.summaries.rouge_l import results, rouge_l

_RESULTS = {
    **results("rouge_l"),
    "n_words": mean("n_words", better=None, bounded=False),
    "empty_answers": total("empty_answers", better=False),
}


def _score(doc: Mapping[str, Any], answer: str) -> Score:
    return rouge_l([answer], [json.loads(doc["references"])], read="answer")


def _unit(doc: Mapping[str, Any], answer: str) -> dict[str, float]:
    n_words = len((parse_summary(answer).value or "").split())
    return {**_score(doc, answer).units[0], "n_words": n_words, "empty_answers": int(not n_words)}


def _scores(doc: Mapping[str, Any], answer: str) -> dict[str, Score]:
    return {"rouge_l": _score(doc, answer)}


def _target(doc: Mapping[str, Any]) -> str:
    """Return the first reference summary."""
    return str(json.loads(doc["references"])[0])


def _among(documents: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Yield (id, document, answer) for each reference of several: it is the answer, the others are the references."""
    for doc in documents:
        references = json.loads(doc["references"])
        for index, answer in enumerate(references if len(references) > 1 else ()):
            remaining = [*references[:index], *references[index + 1 :]]
            yield f"{doc['doc_id']}/{index}", {**doc, "references": json.dumps(remaining)}, answer


_PARTS = (_RESULTS, load_documents, prompt, _target, _unit, _scores, picture)

TASKS = {
    name: Task(name, "summaries", *_PARTS, fewshot=examples, shorter=shorter_text, headline="rouge_l_f1", among=_among)
    for name in ALL_SETS
}
