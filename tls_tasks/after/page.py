"""Scored runs, or one document -> one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import Progress, ScoredTask
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import without_nan
from tls_tasks.core.task import Doc, Task
from tls_tasks.core.terminal import visible

_LONGEST_ANSWER = 100_000  # characters; the page says how many more there were


def page(scored: Sequence[ScoredTask], *, title: str = "tls-tasks", progress: Progress | None = None) -> str:
    """The page as one HTML text that needs nothing from the network.

    Args:
        scored: The tasks of all runs.
        title: The page's heading.
        progress: Shows the progress, as in :func:`~tls_tasks.after.scored_runs.score_places`.
    """
    return _filled(title, {"title": visible(title), "version": __version__, "tasks": _tasks(scored, progress)})


def picture_page(task: Task, doc: Doc, answer: str, explained: Mapping[str, Any], title: str) -> str:
    """The picture of one document alone, as an HTML text that needs nothing from the network.

    Args:
        task: A task of the family.
        doc: What ``task.picture`` reads of a document.
        answer: A model's answer.
        explained: Metric -> the detailed score of the answer.
        title: The heading.
    """
    return _filled(title, {"view": _view(lambda: task.picture(doc, answer, explained), answer)})


def _filled(title: str, data: Mapping[str, Any]) -> str:
    style, script = asset("page.css"), asset("page.js")
    return asset("page.html").format(
        title=html.escape(visible(title)),
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
        entry = tasks.setdefault(
            run.name,
            {
                "name": run.name,
                "family": run.task.family,
                "metrics": [{"key": key, "higher": result.better} for key, result in run.score.table.items()],
                "signatures": list(run.signatures.values()),
                "runs": [],
            },
        )
        entry["runs"].append(_run_entry(run, progress))
    return list(tasks.values())


def _run_entry(scored: ScoredTask, progress: Progress | None) -> dict[str, Any]:
    samples = scored.log.samples
    documents = progress(samples, f"{scored.name} documents", len(samples)) if progress else samples
    return {
        "model": visible(scored.model),
        "effort": visible(scored.effort),
        "file": visible(scored.log.path.name),
        "data": visible(scored.data),
        "values": without_nan(scored.metrics),
        "intervals": scored.intervals(n_resamples=500),
        "problems": [visible(str(problem)) for problem in scored.problems],
        "documents": [
            {
                "id": visible(scored.ids[place]),
                "topic": visible(scored.topics[place]),
                "values": without_nan(scored.of_document(place)),
                "view": _json(_view_of(scored, sample)),  # as text, which the browser parses when it is opened
            }
            for place, sample in enumerate(documents)
        ],
    }


def _view_of(scored: ScoredTask, sample: Sample) -> dict[str, Any]:
    shown = "\n".join(map(str, sample.answer))
    return _view(lambda: scored.picture(sample), shown)


def _view(draw: Callable[[], Mapping[str, Any]], shown: str) -> dict[str, Any]:
    """What the task draws of an answer: plain data, of a ``kind`` that the script knows."""
    try:
        view = draw()
    except DataError as error:
        # A log that was edited must not cost the page: its document says what is wrong.
        view = {"kind": "text", "problem": str(error)}
    cut = max(0, len(shown) - _LONGEST_ANSWER)
    return {**view, "answer": shown[:_LONGEST_ANSWER], "answer_cut": cut}


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
