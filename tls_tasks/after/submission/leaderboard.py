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
from tls_tasks.after.comparisons import System, compare_task, documents_of
from tls_tasks.after.page import asset, csp_hash

SIGNIFICANT = 0.05
"""P-values below this tell two systems apart."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a ranking.

    Attributes:
        system: Its name.
        values: Metric -> value.
        group: Its significance group, 1 for the best; None for a paper's values, which were not recomputed.
    """

    system: str
    values: Mapping[str, float]
    group: int | None


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The ranking of one task by one metric; ``notes`` says what cannot be compared."""

    task: str
    metric: str
    metrics: tuple[str, ...]
    rows: tuple[_Row, ...]
    notes: tuple[str, ...] = ()


def rankings(systems: Sequence[System]) -> list[_Ranking]:
    """One ranking a task, by the task's first metric, best first.

    Two systems are in one significance group if the paired test cannot tell them apart from the group's best, after
    Holm over all systems that it was compared with. Systems that answered other documents are in groups of their own.
    """
    names = dict.fromkeys(name for system in systems for name in system.tasks)
    return [_ranking(name, [system for system in systems if name in system.tasks]) for name in names]


def _ranking(name: str, systems: Sequence[System]) -> _Ranking:
    keys = list(systems[0].tasks[name].ranked)
    sign = -1 if systems[0].tasks[name].score.table[keys[0]].better else 1
    order = sorted(systems, key=lambda system: (sign * system.tasks[name].metrics[keys[0]], system.name))
    groups, notes = _groups(name, keys[0], order)
    rows = [_Row(system.name, system.tasks[name].metrics, groups[system.name]) for system in order]
    rows += [_Row(row["system"], row, None) for row in _published()["tasks"].get(name, [])]
    return _Ranking(name, keys[0], tuple(keys), tuple(rows), tuple(notes))


def _groups(name: str, key: str, order: Sequence[System]) -> tuple[dict[str, int], list[str]]:
    groups: dict[str, int] = {}
    notes: list[str] = []
    while rest := [system for system in order if system.name not in groups]:
        best, *others = rest
        group = groups[best.name] = max(groups.values(), default=0) + 1
        asked = set(documents_of(best.tasks[name]))
        same = [other for other in others if set(documents_of(other.tasks[name])) == asked]
        notes += [
            f"{other.name} cannot be compared with {best.name}: they answered different documents"
            for other in others
            if other not in same
        ]
        for test in compare_task(name, [best, *same], [key]):
            notes += [warning for warning in test.warnings if warning not in notes]
            if test.adjusted[0] >= SIGNIFICANT:
                groups[test.second] = group
    return groups, notes


def _published() -> dict[str, Any]:
    """The papers' rows, by task, and their source."""
    text = resources.files("tls_tasks.after.submission").joinpath("published.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def site(ranked: Sequence[_Ranking]) -> str:
    """The page: no script, no network."""
    style = asset("page.css")
    body = "\n".join(map(_section, ranked))
    return asset("leaderboard.html").format(digest=csp_hash(style), style=style, body=body, version=__version__)


def _section(ranking: _Ranking) -> str:
    name = html.escape(ranking.task)
    head = "".join(f'<th scope="col" class="number">{html.escape(key)}</th>' for key in ranking.metrics)
    rows = "\n".join(_row(place, row, ranking.metrics) for place, row in enumerate(ranking.rows, start=1))
    notes = "".join(f"<p class='soft small'>{html.escape(note)}</p>" for note in ranking.notes)
    if any(row.group is None for row in ranking.rows):
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


def _row(place: int, row: _Row, metrics: Sequence[str]) -> str:
    published = row.group is None
    rank, group, kind = ("published", "", ' class="published"') if published else (place, row.group, "")
    cells = "".join(f'<td class="number">{_number(row.values.get(key))}</td>' for key in metrics)
    return f'<tr{kind}><td>{rank}</td><th scope="row">{html.escape(row.system)}</th><td>{group}</td>{cells}</tr>'


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "NaN" if math.isnan(value) else f"{value:.4f}"
