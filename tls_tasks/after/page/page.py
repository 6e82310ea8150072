"""Scored runs -> one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.logs import Sample
from tls_tasks.after.page.views import view_of
from tls_tasks.after.scored_runs import ScoredTask, problems_of
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.core.score import without_nan

Progress = Callable[[Iterable[Any], str, int], Iterable[Any]]

_LONGEST_ANSWER = 100_000
"""Characters of an answer that the page keeps; it says so where there were more."""


def page(scored: Sequence[ScoredTask], *, title: str = "tls-tasks report", progress: Progress | None = None) -> str:
    """The page, to be written to one file; it asks nothing of the network.

    Args:
        scored: Tasks of runs.
        title: The page's heading.
        progress: Shows how far it is.
    """
    data = {"title": title, "version": __version__, "tasks": _tasks(scored, progress)}
    style, script = _asset("page.css"), _asset("page.js")
    return _asset("page.html").format(
        title=html.escape(title),
        policy=_policy(style, script),
        style=style,
        script=script,
        data=_script_safe(json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))),
    )


def _tasks(scored: Sequence[ScoredTask], progress: Progress | None) -> list[dict[str, Any]]:
    """One entry a task, with the runs that have it."""
    tasks: dict[str, dict[str, Any]] = {}
    for one in scored:
        if one.task.name not in tasks:
            tasks[one.task.name] = _task_entry(one)
        tasks[one.task.name]["runs"].append(_run_entry(one, progress))
    return list(tasks.values())


def _task_entry(scored: ScoredTask) -> dict[str, Any]:
    return {
        "name": scored.task.name,
        "family": scored.task.family,
        "metrics": [
            {"key": metric.key, "higher": metric.higher_is_better, "share": metric.higher_is_better is True}
            for metric in scored.task.metrics
        ],
        "signatures": list(scored.signatures().values()),
        "runs": [],
    }


def _run_entry(scored: ScoredTask, progress: Progress | None) -> dict[str, Any]:
    samples = scored.log.samples
    intervals = scored.score.intervals(n_resamples=500)
    documents = progress(samples, f"{scored.task.name} documents", len(samples)) if progress else samples
    return {
        "model": scored.model,
        "file": scored.log.path.name,
        "edition": scored.edition,
        "values": without_nan(scored.score.as_dict()),
        "intervals": {key: list(interval) for key, interval in intervals.items()},
        "problems": [str(problem) for problem in problems_of(scored)],
        "documents": [_document(scored, place, sample) for place, sample in enumerate(documents)],
    }


def _document(scored: ScoredTask, place: int, sample: Sample) -> dict[str, Any]:
    """A document's row, and its picture as JSON text of its own: the browser reads it when it is looked at."""
    return {
        "id": scored.score.ids[place],
        "topic": scored.score.topics[place],
        "values": without_nan(scored.score.of_document(place)),
        "view": json.dumps(_view(scored, sample), ensure_ascii=True, allow_nan=False, separators=(",", ":")),
    }


def _view(scored: ScoredTask, sample: Sample) -> dict[str, Any]:
    answer = "\n".join(map(str, sample.answer))
    try:
        explained = scored.explain(sample)
        view = dict(view_of(scored.task.family, sample.doc, list(sample.answer), explained))
    except (TlsTasksError, KeyError, IndexError, TypeError, ValueError) as error:
        # A log that was changed by hand must not cost the page; the document says what is wrong with it.
        view = {"kind": "text", "trouble": f"{type(error).__name__}: {error}"}
    cut = max(0, len(answer) - _LONGEST_ANSWER)
    return {**view, "answer": answer[:_LONGEST_ANSWER], "answer_cut": cut}


def _asset(name: str) -> str:
    return resources.files("tls_tasks.after.page").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """A content security policy that lets run what we wrote and nothing else, whatever a text may do."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'sha256-{digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _script_safe(text: str) -> str:
    """JSON that can stand in a script element: no ``<``, so that no text can end the element or begin a comment."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
