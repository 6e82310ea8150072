"""Scored runs, or one document -> one self-contained HTML page."""

import base64
import hashlib
import html
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.comparisons import System, compare_systems
from tls_tasks.after.logs import Sample
from tls_tasks.after.run import Progress, Run
from tls_tasks.after.scored_runs import references_of
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.parsed import leaves
from tls_tasks.core.score import without_nan
from tls_tasks.core.significance import smallest_p
from tls_tasks.core.terminal import visible
from tls_tasks.registry import FAMILIES, define
from tls_tasks.text.quotes import mark_spans

_LONGEST_ANSWER = 100_000  # characters; the page says how many more there were
_MOST_CHARACTERS = 9_000_000  # of all answers, views and prompts, so that 10,000 documents make at most 12 MB
_TITLES = ("question", "query", "title", "problem_statement", "topic", "text", "input", "prompt")
_LONGEST_TITLE = 80
_DIGITS = 8  # of a document's score
_Entry = dict[str, Any]


def labels(scored: Sequence[Run]) -> list[str]:
    """A name for each run: the model's, and of several of one task its folder; of several in one folder the date."""
    names = []
    for run in scored:
        same = ((other.run, other.model) for other in scored if other.name == run.name)
        others = [files for files, model in same if model == run.model and files != run.run]
        folders = [files.folder.resolve() for files in (run.run, *others)]
        # Only the first folder below: the harness makes up the next one for a model without a name.
        root = os.path.commonpath(folders)
        own, *rest = [next(iter(folder.relative_to(root).parts), "") for folder in folders]
        names.append(f"{run.model} ({run.run.date if own in rest else own})" if others else run.model)
    return names


def page(scored: Sequence[Run], *, progress: Progress | None = None) -> str:
    """The page as one HTML text that needs nothing from the network.

    Args:
        scored: The tasks of all runs.
        progress: Shows the progress, as in :func:`~tls_tasks.after.scored_runs.score_places`.
    """
    blocks: dict[str, str] = {}
    by_task: dict[str, list[tuple[str, Run]]] = {}
    for run, label in zip(scored, labels(scored), strict=True):
        by_task.setdefault(run.name, []).append((label, run))
    n_documents = sum(len(run.log.samples) for run in scored)
    room = min(_LONGEST_ANSWER, _MOST_CHARACTERS // max(1, n_documents))
    tasks = [_task_entry(at, runs, blocks, room, progress) for at, runs in enumerate(by_task.values())]
    title = tasks[0]["name"] if len(tasks) == 1 else f"{len(tasks)} tasks"
    return _filled(title, {"version": __version__, "tasks": tasks}, blocks)


def _filled(title: str, index: Mapping[str, Any], blocks: Mapping[str, str]) -> str:
    """The page around its data; ``blocks`` (id -> JSON) stand behind the script, which reads one when it is opened."""
    # A family's functions stand before the script that calls them.
    pictures = [resources.files(f"tls_tasks.{family}").joinpath("picture.js") for family in FAMILIES]
    script = "\n".join(['"use strict";', *(file.read_text(encoding="utf-8") for file in pictures), asset("page.js")])
    fields = {"script": script, "index": _inert(_json(index)), "version": __version__}
    element = '<script type="application/json" id="{}">{}</script>'
    fields["blocks"] = "\n".join(element.format(key, _inert(block)) for key, block in blocks.items())
    return document("runs.html", visible(title), f"script-src {_csp_hash(script)}", "img-src blob:", **fields)


def document(body: str, title: str, *policies: str, **parts: str) -> str:
    """A whole HTML document in our style, from the template that all pages share.

    Args:
        body: The asset that is its body.
        title: Its title, which the body gets too.
        policies: What the content security policy allows besides our style.
        parts: What else the body's fields are, in HTML.
    """
    style, title = asset("page.css"), html.escape(title)
    # Whatever a text may do, the browser applies what we wrote and nothing else.
    always = ("default-src 'none'", f"style-src {_csp_hash(style)}", "base-uri 'none'", "form-action 'none'")
    content = asset(body).format(title=title, **parts)
    return asset("page.html").format(title=title, policy="; ".join([*always, *policies]), style=style, body=content)


def _task_entry(
    number: int, runs: Sequence[tuple[str, Run]], blocks: dict[str, str], room: int, progress: Progress | None
) -> _Entry:
    """A task with its runs and labels; its views and prompts go into ``blocks``, of ``room`` characters a document."""
    prompts: dict[str, int] = {}  # text -> its number: runs of one task mostly ask the same
    entries = []
    for place, (label, run) in enumerate(runs):
        entry, samples = _run_entry(run, label, prompts, room // 3), run.log.samples
        entries.append(entry)
        for at, sample in enumerate(progress(samples, f"{run.name} documents", len(samples)) if progress else samples):
            each = run.repeats(sample)
            views = [_view(partial(run.picture, one), one, run.log.path, room // 3 // len(each)) for one in each]
            blocks[f"view-{number}.{place}.{at}"] = _json({**views[0], "repeats": views[1:]})
            if any(view.get("problem") or view["lost"] for view in views):
                entry["troubled"].append(at)
    blocks.update({f"prompt-{number}.{at}": _json(text) for text, at in prompts.items()})
    first = runs[0][1]
    table, places = first.score.definitions, combinations(range(len(runs)), 2)
    ranges = {key: [0, 1] if result.bounded else None for key, result in table.items()}
    return {
        "name": first.name,
        "headline": next(iter(first.ranked or table), ""),
        "reported": [key for key in first.reported_keys if key in table],
        "judged": first.is_judged,
        "unit": "topic" if len(set(first.topics)) < len(first.ids) else "document",
        "edition": f"{first.data}, {_units(first)}",
        "metrics": [
            {"key": key, "higher": result.better, "range": ranges[key], "means": define(key) if first.family else ""}
            for key, result in table.items()
        ],
        "signatures": list(first.signatures.values()),
        "pairs": {f"{left}.{right}": _pair(runs[left][1], runs[right][1]) for left, right in places},
        "among": references_of([run for _, run in runs]) or None,
        "runs": entries,
    }


def _pair(left: Run, right: Run) -> dict[str, list[float | None]]:
    """What ``compare`` says of two runs: metric -> difference, interval, p, and wins, ties, losses of the second."""
    try:
        [test] = compare_systems([System("left", {left.name: left}), System("right", {left.name: right})])
    except (DataError, InputError):
        return {}  # other documents: the page says of how many both have a score
    pair = {}
    for key, row in test.metrics.items():
        difference, interval = row.result.difference, row.result.interval or (None, None)
        if not math.isnan(difference):
            n_units = row.result.n_units
            pair[key] = [
                difference,
                *interval,
                row.adjusted,
                row.wins,
                row.ties,
                row.losses,
                n_units,
                smallest_p(n_units),
            ]
    return pair


def _units(run: Run) -> str:
    """Return the number of independent units: topics, if documents belong together."""
    n_topics, n_documents = len(set(run.topics)), len(run.ids)
    documents = f"{n_documents:,} document{'s' * (n_documents != 1)}"
    return f"{n_topics:,} topic{'s' * (n_topics != 1)} ({documents})" if n_topics < n_documents else documents


def _run_entry(scored: Run, label: str, prompts: dict[str, int], room: int) -> _Entry:
    """A run with the scores of its documents in columns."""
    ids, topics = (list(map(visible, names)) for names in (scored.ids, scored.topics))
    values, intervals = [without_nan(scored.of_document(at)) for at in range(len(ids))], scored.intervals()
    shown = [{key: value and round(value, _DIGITS) for key, value in own.items()} for own in values]  # None stays
    columns = {key: [own[key] for own in shown] for key in scored.score.definitions}
    asked = [sample.request[:room] for sample in scored.log.samples]
    titles = [_title(sample) for sample in scored.log.samples]
    return {
        "model": visible(label),
        "data": visible(scored.stated),
        "n": len(scored.ids),
        "values": without_nan(scored.metrics),
        "intervals": {key: list(interval) for key, interval in intervals.items()},
        "doubtful": [key for key, interval in intervals.items() if not interval.is_trusted],
        "problems": [visible(str(problem)) for problem in scored.problems],
        "ids": ids,
        "topics": topics if topics != ids else None,
        "titles": titles if titles != ids else None,
        "columns": {key: own for key, own in columns.items() if any(value is not None for value in own)},
        "prompts": [prompts.setdefault(text, len(prompts)) for text in asked],
        "troubled": [],
    }


def _title(sample: Sample) -> str:
    """Return the first words of a document's question, or of its text."""
    texts = (sample.doc.get(key) for key in _TITLES)
    text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return " ".join(text[: 2 * _LONGEST_TITLE].split())[:_LONGEST_TITLE]


def _view(draw: Callable[[], Mapping[str, Any]], sample: Sample, path: Path, room: int) -> dict[str, Any]:
    """Return what the page shows of an answer: plain data, of a ``kind`` that the script knows.

    ``response`` is what the model wrote, in pieces, with the ``lost`` passages marked; ``answer`` what a filter made of
    it, if that differs. What is longer than ``room`` is cut, and ``cut`` says where the rest is.
    """
    responses, answer = "\n\n".join(map(str, leaves(sample.row.get("resps")))), "\n".join(map(str, sample.answer))
    response = responses or answer
    try:
        view = {"lost": [], **draw()}
    except DataError as error:
        # A log that was edited must not cost the page: its document says what is wrong.
        view = {"lost": [], "kind": "text", "problem": str(error)}
    spans = [span for passage in view["lost"] if (span := _span_of(passage, response))]
    whole = {**view, "response": mark_spans(response[:room], [(*span, "lost") for span in spans]), "answer": ""}
    if answer != response and view["kind"] == "text":
        whole["answer"] = answer[:room]
    where = f"{path.name}, line {sample.line}"
    if max(len(response), len(whole["answer"])) > room:
        whole["cut"] = f"{len(response) - room:,} more characters stand in {where}"
    if len(_json(view)) > 3 * room:
        whole = {"kind": "text", "lost": view["lost"][:9], "response": whole["response"], "answer": ""}
        whole["cut"] = f"The page has no room for more of this document: see {where}"
    return whole


def _span_of(passage: str, text: str) -> tuple[int, int] | None:
    """Return where a passage stands, up to the end of its line where it was shortened; None if it doesn't."""
    words = passage.removesuffix("…")
    begin = text.find(words) if words else -1
    if begin < 0:
        return None
    end = begin + len(words)
    if words != passage:
        end += len(text[end:].partition("\n")[0])
    return begin, end


def asset(name: str) -> str:
    """The text of a file of this folder."""
    return resources.files("tls_tasks.after").joinpath(name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    """The source expression by which a content security policy lets an inline style or script apply."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inert(text: str) -> str:
    """JSON that can't end the element that holds it, or begin a comment: it has no ``<``."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
