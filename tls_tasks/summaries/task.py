"""The summarisation tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.json_text import strip_thinking
from tls_tasks.core.score import Score, mean, total
from tls_tasks.core.task import Task
from tls_tasks.summaries.data import DATA_SETS, load_documents, prompt
from tls_tasks.summaries.rouge_l import results, rouge_l

_RESULTS = {
    **results("rouge_l"),
    "n_words": mean("n_words", better=None),
    "empty_answers": total("empty_answers", better=False),
}


def _score(doc: Mapping[str, Any], summary: str) -> Score:
    return rouge_l([summary], [json.loads(doc["references"])])


def _summary(answer: str) -> str:
    """The answer without ``<think>`` blocks, which are no part of a summary."""
    return strip_thinking(answer).text.strip()


def _unit(doc: Mapping[str, Any], answer: str) -> dict[str, float]:
    summary = _summary(answer)
    n_words = len(summary.split())
    return {**_score(doc, summary).units[0], "n_words": n_words, "empty_answers": int(not n_words)}


def _explain(doc: Mapping[str, Any], answer: str) -> dict[str, dict[str, Any]]:
    return {"rouge_l": _score(doc, _summary(answer)).as_dict(detailed=True)}


def _target(doc: Mapping[str, Any]) -> str:
    """The first reference summary."""
    return str(json.loads(doc["references"])[0])


TASKS = {
    name: Task(name, "summaries", _RESULTS, load_documents, prompt, _target, _unit, _explain) for name in DATA_SETS
}
