"""Scored runs -> one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import ScoredTask, problems_of
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.core.score import without_nan
from tls_tasks.core.task import answer_text

Progress = Callable[[Iterable[Any], str, int], Iterable[Any]]

_LONGEST_ANSWER = 100_000  # characters; the page says how many more there were


def page(scored: Sequence[ScoredTask], *, title: str = "tls-tasks", progress: Progress | None = None) -> str:
    """The page as one HTML text that needs nothing from the network.

    Args:
        scored: The tasks of all runs.
        title: The page's heading.
        progress: Shows the progress, as in :func:`~tls_tasks.after.scored_runs.score_places`.
    """
    data = {"title": title, "version": __version__, "tasks": _tasks(scored, progress)}
    style, script = asset("page.css"), asset("page.js")
    return asset("page.html").format(
        title=html.escape(title),
        # Whatever a text may do, the browser applies what we wrote and nothing else.
        policy=f"default-src 'none'; script-src {csp_hash(script)}; style-src {csp_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        data=_script_safe(_json(data)),
    )


def _tasks(scored: Sequence[ScoredTask], progress: Progress | None) -> list[dict[str, Any]]:
    """One entry a task, with the runs that have it."""
    tasks: dict[str, dict[str, Any]] = {}
    for run in scored:
        if run.task.name not in tasks:
            tasks[run.task.name] = _task_entry(run)
        tasks[run.task.name]["runs"].append(_run_entry(run, progress))
    return list(tasks.values())


def _task_entry(scored: ScoredTask) -> dict[str, Any]:
    return {
        "name": scored.task.name,
        "family": scored.task.family,
        "metrics": [{"key": metric.key, "higher": metric.higher_is_better} for metric in scored.task.metrics],
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
        "intervals": intervals,
        "problems": [str(problem) for problem in problems_of(scored)],
        "documents": [_document(scored, place, sample) for place, sample in enumerate(documents)],
    }


def _document(scored: ScoredTask, place: int, sample: Sample) -> dict[str, Any]:
    """A document's row, with its view as a JSON text of its own, which the browser parses when it is opened."""
    return {
        "id": scored.score.ids[place],
        "topic": scored.score.topics[place],
        "values": without_nan(scored.score.of_document(place)),
        "view": _json(_view(scored, sample)),
    }


def _picture(family: str) -> Callable[[Mapping[str, Any], str, Mapping[str, Any]], dict[str, Any]]:
    """What the family draws of (document, answer, explained score): plain data, of a ``kind`` that the script knows."""
    function: Callable[..., dict[str, Any]] = importlib.import_module(f"tls_tasks.{family}.picture").picture
    return function


def _view(scored: ScoredTask, sample: Sample) -> dict[str, Any]:
    answer = "\n".join(map(str, sample.answer))
    try:
        explained = scored.explain(sample)
        view = _picture(scored.task.family)(sample.doc, answer_text(sample.answer), explained)
    except (TlsTasksError, KeyError, IndexError, TypeError, ValueError) as error:
        # A log that was edited must not cost the page: its document says what is wrong.
        view = {"kind": "text", "problem": f"{type(error).__name__}: {error}"}
    cut = max(0, len(answer) - _LONGEST_ANSWER)
    return {**view, "answer": answer[:_LONGEST_ANSWER], "answer_cut": cut}


def asset(name: str) -> str:
    """The text of a file of this folder."""
    return resources.files("tls_tasks.after").joinpath(name).read_text(encoding="utf-8")


def csp_hash(text: str) -> str:
    """The source expression by which a content security policy lets an inline style or script apply."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _script_safe(text: str) -> str:
    """JSON for a script element: without ``<`` no text can end the element or begin a comment."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
