"""Scored runs -> one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import Progress, ScoredTask
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.core.score import without_nan
from tls_tasks.core.task import answer_text

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
        "model": scored.model,
        "effort": scored.effort,
        "file": scored.log.path.name,
        "data": f"{scored.data}, version {scored.version:g}, {scored.conditions}",
        "values": without_nan(scored.metrics),
        "intervals": scored.intervals(n_resamples=500),
        "problems": list(map(str, scored.problems)),
        "documents": [
            {
                "id": scored.ids[place],
                "topic": scored.topics[place],
                "values": without_nan(scored.of_document(place)),
                "view": _json(_view(scored, sample)),  # as text, which the browser parses when it is opened
            }
            for place, sample in enumerate(documents)
        ],
    }


def _view(scored: ScoredTask, sample: Sample) -> dict[str, Any]:
    """What the task draws of an answer: plain data, of a ``kind`` that the script knows."""
    answer = "\n".join(map(str, sample.answer))
    try:
        view = scored.task.picture(sample.doc, answer_text(sample.answer), scored.explain(sample))
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
