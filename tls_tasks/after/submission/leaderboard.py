"""Verified submissions -> one static page that ranks them, task by task."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.comparisons import System, compare_systems
from tls_tasks.after.scored_runs import ScoredTask, score_places
from tls_tasks.after.submission.archive import RUN
from tls_tasks.core.errors import InputError

SIGNIFICANT = 0.05
"""P-values below this tell two systems apart."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One verified submission.

    Attributes:
        model: ``ORG/NAME``.
        tasks: Task -> its scores.
    """

    model: str
    tasks: Mapping[str, ScoredTask]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a ranking.

    Attributes:
        system: Its name.
        values: Metric -> value.
        group: Its significance group, 1 for the best; None for published rows.
        published: Whether the values are a paper's and were not recomputed.
    """

    system: str
    values: Mapping[str, float]
    group: int | None
    published: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranking of one task by one metric; ``notes`` says what cannot be compared."""

    task: str
    metric: str
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def read_submission(folder: Path, model: str) -> Submission:
    """A verified submission's tasks."""
    return Submission(model, {task.task.name: task for task in score_places([folder / RUN], newest=True)})


def rankings(submissions: Sequence[Submission]) -> list[Ranking]:
    """One ranking a task, by the task's first metric, best first.

    Two systems are in one significance group if the paired test can't tell them apart from the group's best, after
    Holm over all that it was compared with. Systems that answered other documents are ranked without a group.
    """
    names = list(dict.fromkeys(name for submission in submissions for name in submission.tasks))
    return [_ranking(name, [one for one in submissions if name in one.tasks]) for name in names]


def _ranking(name: str, submissions: Sequence[Submission]) -> Ranking:
    task = submissions[0].tasks[name].task
    shown = tuple(metric.key for metric in task.metrics if metric.higher_is_better is not None)
    metric = next(metric for metric in task.metrics if metric.higher_is_better is not None)
    sign = -1.0 if metric.higher_is_better else 1.0
    scores = {one.model: one.tasks[name].score.as_dict() for one in submissions}

    def place(model: str) -> tuple[bool, float, str]:
        value = scores[model][metric.key]
        return (math.isnan(value), sign * value, model)

    order = sorted(submissions, key=lambda one: place(one.model))
    groups, notes = _groups(name, metric.key, order)
    rows = [Row(one.model, {key: scores[one.model][key] for key in shown}, groups.get(one.model)) for one in order]
    published = [
        Row(str(row["system"]), {key: float(row[key]) for key in shown if key in row}, None, published=True)
        for row in published_rows().get(name, [])
    ]
    return Ranking(name, metric.key, shown, (*rows, *published), tuple(notes))


def _groups(name: str, key: str, order: Sequence[Submission]) -> tuple[dict[str, int], list[str]]:
    groups: dict[str, int] = {}
    notes: list[str] = []
    rest, group = list(order), 0
    while rest:
        best, *others = rest
        group += 1
        groups[best.model], rest = group, []
        systems = [System(best.model, {name: best.tasks[name]})]
        comparable = []
        for other in others:
            system = System(other.model, {name: other.tasks[name]})
            try:
                compare_systems([*systems, system], keys=[key])
            except InputError as error:
                notes.append(f"{other.model} is in no group with {best.model}: {error}")
                rest.append(other)
                continue
            comparable.append((other, system))
        if not comparable:
            continue
        tests = compare_systems([*systems, *(system for _, system in comparable)], keys=[key])
        notes += [warning for warning in tests[0].warnings if warning not in notes]
        told_apart = []
        for (other, _), test in zip(comparable, tests, strict=True):
            if test.adjusted[0] < SIGNIFICANT:
                told_apart.append(other)
            else:
                groups[other.model] = group
        rest = [one for one in others if one in rest or one in told_apart]
    return groups, notes


def published_rows() -> Mapping[str, list[dict[str, Any]]]:
    """Task -> the papers' rows, as published."""
    rows: dict[str, list[dict[str, Any]]] = _published()["tasks"]
    return rows


def _published() -> dict[str, Any]:
    text = resources.files("tls_tasks.after.submission").joinpath("published.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def site(found: Sequence[Ranking]) -> str:
    """The page: no script, no network."""
    style = resources.files("tls_tasks.after.page").joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    body = "\n".join(_section(ranking) for ranking in found) or "<p>No submissions.</p>"
    return _PAGE.format(digest=digest, style=style, body=body, version=html.escape(__version__))


def _section(ranking: Ranking) -> str:
    name = html.escape(ranking.task)
    head = "".join(f'<th scope="col" class="number">{html.escape(key)}</th>' for key in ranking.metrics)
    rows = "\n".join(_row(place, row, ranking.metrics) for place, row in enumerate(ranking.rows, start=1))
    notes = "".join(f"<p class='soft small'>{html.escape(note)}</p>" for note in ranking.notes)
    if any(row.published for row in ranking.rows):
        notes += f"<p class='soft small'>Published rows: {html.escape(_published()['source'])}.</p>"
    caption = (
        f"Ranked by {html.escape(ranking.metric)}. Systems of one group can't be told apart from its best at p &lt; "
        f"{SIGNIFICANT} (paired randomisation over topics or documents, Holm)."
    )
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}">{name}</h2>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Ranking of {name}"><table>'
        f"<caption>{caption}</caption><thead><tr>"
        f'<th scope="col">rank</th><th scope="col">system</th><th scope="col">group</th>{head}'
        f"</tr></thead><tbody>{rows}</tbody></table></div>{notes}</section>"
    )


def _row(place: int, row: Row, metrics: Sequence[str]) -> str:
    rank = "published" if row.published else str(place)
    cells = "".join(f'<td class="number">{_number(row.values.get(key))}</td>' for key in metrics)
    group = "" if row.group is None else str(row.group)
    kind = ' class="published"' if row.published else ""
    return f'<tr{kind}><td>{rank}</td><th scope="row">{html.escape(row.system)}</th><td>{group}</td>{cells}</tr>'


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "NaN" if math.isnan(value) else f"{value:.4f}"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>tls-tasks leaderboard</title>
<style>{style}</style>
</head>
<body>
<header><h1>tls-tasks leaderboard</h1><p>Every row that is not marked as published was verified: scores and hashes were
computed again from the submitted answers by tls-tasks {version}.</p></header>
<main>
{body}
</main>
</body>
</html>
"""
