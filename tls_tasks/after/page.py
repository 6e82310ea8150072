"""Scored runs, or one document -> one self-contained HTML page."""

import base64
import hashlib
import html
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.run import Run, model_arguments, stated_metadata
from tls_tasks.after.scored_runs import Progress
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import without_nan
from tls_tasks.core.task import Doc, Task
from tls_tasks.core.terminal import visible

_LONGEST_ANSWER = 100_000  # characters; the page says how many more there were


def labels(scored: Sequence[Run]) -> list[str]:
    """A name for each run of a task: the model's, and what tells it from the model's other runs.

    Options in which they differ tell runs apart; where all are equal, the folder does, and in one folder the date.
    """
    names = []
    for run in scored:
        others = [other for other in scored if other.model == run.model and other.run != run.run]
        own = _settings(run)
        differing = [key for key in own if any(_settings(other).get(key, own[key]) != own[key] for other in others)]
        # The harness repeats the model's arguments in each task's metadata.
        details = list(dict.fromkeys(f"{key.rpartition('.')[2]}={own[key]}" for key in differing))
        alike = [other for other in others if all(_settings(other).get(key) == own[key] for key in differing)]
        if same := [other for other in alike if other.name == run.name]:
            root = os.path.commonpath([one.run.folder.resolve() for one in (run, *others)])
            # Only the first folder below: the harness makes up the next one for a model without a name.
            below = [one.run.folder.resolve().relative_to(root).parts for one in (run, *same)]
            part, *parts = [next(iter(folders), "") for folders in below]
            details.append(run.run.date if part in parts else part)
        names.append(f"{run.model} ({', '.join(details)})" if details else run.model)
    return names


def _settings(scored: Run) -> dict[str, str]:
    """Option -> value: of the whole run, and under TASK.option what belongs to this task."""
    stated: dict[str, Any] = {**scored.results, **(scored.results.get("config") or {})}
    metadata = stated_metadata(scored.name, scored.results)
    options = {key: value for key, value in metadata.items() if key not in ("provenance", "config_source")}
    task = {**options, "num_fewshot": scored.results.get("n-shot", {}).get(scored.name), "data": scored.data}
    names = ("gen_kwargs", "limit", "chat_template_sha", "system_instruction_sha")
    whole = {**model_arguments(scored.results), **{key: stated.get(key) for key in names}}
    return {
        **{str(key).replace(".", "_"): str(value)[:40] for key, value in whole.items()},
        **{f"{scored.name}.{key}": str(value)[:40] for key, value in task.items()},
    }


def page(scored: Sequence[Run], *, title: str = "tls-tasks", progress: Progress | None = None) -> str:
    """The page as one HTML text that needs nothing from the network.

    Args:
        scored: The tasks of all runs.
        title: The page's heading.
        progress: Shows the progress, as in :func:`~tls_tasks.after.scored_runs.score_places`.
    """
    tasks = _tasks(scored, labels(scored), progress)
    return _filled(title, {"title": visible(title), "version": __version__, "tasks": tasks})


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
    script = asset("page.js")
    # Without ``<`` no text can end the script element that holds the data, or begin a comment.
    text = _json(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return document("runs.html", visible(title), f"script-src {_csp_hash(script)}", script=script, data=text)


def document(body: str, title: str, policy: str = "", **parts: str) -> str:
    """A whole HTML document in our style, from the template that all pages share.

    Args:
        body: The asset that is its body.
        title: Its title, which the body gets too.
        policy: What the content security policy allows besides our style.
        parts: What else the body's fields are, in HTML.
    """
    style, title = asset("page.css"), html.escape(title)
    # Whatever a text may do, the browser applies what we wrote and nothing else.
    allowed = ["default-src 'none'", policy, f"style-src {_csp_hash(style)}", "base-uri 'none'", "form-action 'none'"]
    content = asset(body).format(title=title, **parts)
    return asset("page.html").format(title=title, policy="; ".join(filter(None, allowed)), style=style, body=content)


def _tasks(scored: Sequence[Run], names: Sequence[str], progress: Progress | None) -> list[dict[str, Any]]:
    """One entry a task, with the runs that have it."""
    tasks: dict[str, dict[str, Any]] = {}
    for run, name in zip(scored, names, strict=True):
        entry = tasks.setdefault(
            run.name,
            {
                "name": run.name,
                "family": run.family,
                "metrics": [{"key": key, "higher": result.better} for key, result in run.score.definitions.items()],
                "signatures": list(run.signatures.values()),
                "prompts": {},  # text -> its number: runs of one task mostly ask the same
                "runs": [],
            },
        )
        entry["runs"].append(_run_entry(run, name, entry["prompts"], progress))
    return [{**entry, "prompts": list(entry["prompts"])} for entry in tasks.values()]


def _run_entry(scored: Run, name: str, prompts: dict[str, int], progress: Progress | None) -> dict[str, Any]:
    samples, topics, intervals = scored.log.samples, scored.topics, scored.intervals()
    documents = progress(samples, f"{scored.name} documents", len(samples)) if progress else samples
    return {
        "model": visible(name),
        "effort": visible(scored.effort),
        "file": visible(scored.log.path.name),
        "data": visible(scored.stated),
        "values": without_nan(scored.metrics),
        "intervals": intervals,
        "doubtful": [key for key, interval in intervals.items() if not interval.is_trusted],
        "problems": [visible(str(problem)) for problem in scored.problems],
        "documents": [
            {
                "id": visible(scored.ids[place]),
                "topic": visible(topics[place]),
                "values": without_nan(scored.of_document(place)),
                "prompt": prompts.setdefault(sample.request[:_LONGEST_ANSWER], len(prompts)),
                # As text, which the browser parses when it is opened.
                "view": _json(_view(partial(scored.picture, sample), "\n".join(map(str, sample.answer)))),
            }
            for place, sample in enumerate(documents)
        ],
    }


def _view(draw: Callable[[], Mapping[str, Any]], answer: str) -> dict[str, Any]:
    """What the task draws of an answer: plain data, of a ``kind`` that the script knows."""
    try:
        view = draw()
    except DataError as error:
        # A log that was edited must not cost the page: its document says what is wrong.
        view = {"kind": "text", "problem": str(error)}
    cut = max(0, len(answer) - _LONGEST_ANSWER)
    return {**view, "answer": answer[:_LONGEST_ANSWER], "answer_cut": cut}


def asset(name: str) -> str:
    """The text of a file of this folder."""
    return resources.files("tls_tasks.after").joinpath(name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    """The source expression by which a content security policy lets an inline style or script apply."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
