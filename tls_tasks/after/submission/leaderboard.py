"""Verified submissions -> one static page that ranks them, task by task."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.comparisons import System, compare_systems
from tls_tasks.after.page import asset, csp_hash
from tls_tasks.after.scored_runs import ScoredTask

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


def rankings(submissions: Sequence[Submission]) -> list[Ranking]:
    """One ranking a task, by the task's first metric, best first.

    Two systems are in one significance group if the paired test cannot tell them apart from the group's best, after
    Holm over all systems that it was compared with. Systems that answered other documents are in groups of their own.
    """
    names = dict.fromkeys(name for submission in submissions for name in submission.tasks)
    return [_ranking(name, [one for one in submissions if name in one.tasks]) for name in names]


def _ranking(name: str, submissions: Sequence[Submission]) -> Ranking:
    task = submissions[0].tasks[name].task
    ranked = [metric for metric in task.metrics if metric.higher_is_better is not None]
    keys, first = [metric.key for metric in ranked], ranked[0]
    values = {one.model: one.tasks[name].score.as_dict() for one in submissions}

    def rank(submission: Submission) -> tuple[float, str]:
        value = values[submission.model][first.key]
        return (-value if first.higher_is_better else value, submission.model)

    order = sorted(submissions, key=rank)
    groups, notes = _groups(name, first.key, order)
    rows = [Row(one.model, values[one.model], groups[one.model]) for one in order]
    rows += [Row(row["system"], row, None, published=True) for row in _published()["tasks"].get(name, [])]
    return Ranking(name, first.key, tuple(keys), tuple(rows), tuple(notes))


def _groups(name: str, key: str, order: Sequence[Submission]) -> tuple[dict[str, int], list[str]]:
    groups: dict[str, int] = {}
    notes: list[str] = []
    while rest := [submission for submission in order if submission.model not in groups]:
        best, *others = rest
        group = groups[best.model] = max(groups.values(), default=0) + 1
        same = [other for other in others if _documents(other.tasks[name]) == _documents(best.tasks[name])]
        notes += [
            f"{other.model} cannot be compared with {best.model}: they answered different documents"
            for other in others
            if other not in same
        ]
        if not same:
            continue
        tests = compare_systems([System(one.model, {name: one.tasks[name]}) for one in (best, *same)], keys=[key])
        notes += [warning for warning in tests[0].warnings if warning not in notes]
        for other, test in zip(same, tests, strict=True):
            if test.adjusted[0] >= SIGNIFICANT:
                groups[other.model] = group
    return groups, notes


def _documents(scored: ScoredTask) -> set[Any]:
    return {sample.row["doc_hash"] for sample in scored.log.samples}


def _published() -> dict[str, Any]:
    """The papers' rows, by task, and their source."""
    text = resources.files("tls_tasks.after.submission").joinpath("published.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def site(ranked: Sequence[Ranking]) -> str:
    """The page: no script, no network."""
    style = asset("page.css")
    body = "\n".join(_section(ranking) for ranking in ranked) or "<p>No submissions.</p>"
    return _PAGE.format(digest=csp_hash(style), style=style, body=body, version=html.escape(__version__))


def _section(ranking: Ranking) -> str:
    name = html.escape(ranking.task)
    head = "".join(f'<th scope="col" class="number">{html.escape(key)}</th>' for key in ranking.metrics)
    rows = "\n".join(_row(place, row, ranking.metrics) for place, row in enumerate(ranking.rows, start=1))
    notes = "".join(f"<p class='soft small'>{html.escape(note)}</p>" for note in ranking.notes)
    if any(row.published for row in ranking.rows):
        notes += f"<p class='soft small'>Published rows: {html.escape(_published()['source'])}.</p>"
    caption = (
        f"Ranked by {html.escape(ranking.metric)}. The systems of a group do not differ significantly from its best at "
        f"p &lt; {SIGNIFICANT} (paired randomisation over topics or documents, Holm)."
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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {digest}">
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
