"""Checked submissions -> one static page that ranks them: one ranking for each set of equal conditions."""

from __future__ import annotations

import datetime
import html
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.comparisons import System, compare_task
from tls_tasks.after.conditions import Conditions
from tls_tasks.after.joined import documents_of
from tls_tasks.after.page import document
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission.verification import Verified
from tls_tasks.core.intervals import LEAST_TRUSTED
from tls_tasks.core.terminal import shown
from tls_tasks.data.editions import KNOWN, UNKNOWN, editions_of

SIGNIFICANT = 0.05
"""P-values below this tell two systems apart."""

# What needs no quotes; commas and brackets could be taken for what the board says of a signature.
_PLAIN_NAME = re.compile(r"[\w.&-]+(?: [\w.&-]+){0,5}")

_DOUBT = f"† Unreliable interval: fewer than {LEAST_TRUSTED} topics or documents, or no variation"

_FACTS = ("interval", "n", "checks", "signed", "submitter", "date", "edition", "budget")
_PUBLISHED = ' class="published"'


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission on the board.

    Attributes:
        name: How it is called there, as no other one is.
        submission: What the checks found; nothing stands against it.
    """

    name: str
    submission: Verified


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a table.

    Attributes:
        system: Its name.
        group: Its significance group, 1 for the best; None for a paper's values, which were not recomputed.
        cells: What else is known, by the title of its column.
    """

    system: str
    group: int | None
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The ranking of one task under equal conditions, by one metric.

    Attributes:
        conditions: What all rows have in common.
        status: What the data is worth.
        metrics: All that are shown; the first ranks.
        rows: Best first; published ones, if any belong here, last.
        notes: What cannot be compared, and what looks strange.
    """

    conditions: Conditions
    status: str
    metrics: Sequence[str]
    rows: Sequence[_Row]
    notes: Sequence[str]

    @property
    def is_published(self) -> bool:
        """Whether papers' rows are among its own."""
        return any(row.group is None for row in self.rows)


def told_apart(submissions: Sequence[tuple[Verified, str]], bound: Collection[str]) -> list[Entry]:
    """Names for submissions, no two the same. Being first gives no right to a name; a signature of its ORG does.

    Args:
        submissions: Each with a hash of its manifest.
        bound: The names that allowed signers bind to keys.
    """
    models = [str(submission.manifest["model"]) for submission, _ in submissions]
    keys = [model.casefold() for model in models]  # Acme is nobody else than acme
    rightful = Counter(key for key, (own, _) in zip(keys, submissions, strict=True) if _is_rightful(own))
    owned = {name.casefold() for name in bound}
    names = []
    for model, key, (submission, _) in zip(models, keys, submissions, strict=True):
        is_only = keys.count(key) == 1 and key.partition("/")[0] not in owned
        if is_only or (rightful[key] == 1 and _is_rightful(submission)):
            names.append(model)
        else:
            names.append(f"{model} (by {_submitter(submission)}, {submission.signer})")
    return [
        Entry(name if names.count(name) == 1 else f"{name} #{digest[:8]}", submission)
        for name, (submission, digest) in zip(names, submissions, strict=True)
    ]


def _is_rightful(submission: Verified) -> bool:
    return submission.signer.name.casefold() == str(submission.manifest["model"]).partition("/")[0].casefold()


def _submitter(submission: Verified) -> str:
    name = str(submission.manifest.get("organization") or str(submission.manifest["model"]).partition("/")[0])
    return name if _PLAIN_NAME.fullmatch(name) else repr(shown(name, 60))


def rankings(entries: Sequence[Entry]) -> list[_Ranking]:
    """One ranking for each task, version, data, budget and other options of the prompt, shots and judge; best first.

    Two systems are in one significance group if the paired test cannot tell them apart from the group's best, after
    Holm over all systems that it was compared with. Systems that answered other documents are in groups of their own.
    """
    # What is measured may depend on the documents, and a fingerprint is only what a stranger says of them.
    members: dict[tuple[Conditions, str, tuple[str, ...]], dict[str, tuple[Entry, ScoredTask]]] = {}
    for entry in entries:
        for task in entry.submission.scored:
            key = task.conditions, entry.submission.statuses.get(task.name, UNKNOWN), tuple(task.ranked)
            members.setdefault(key, {})[entry.name] = entry, task
    order = list(dict.fromkeys(conditions.task for conditions, *_ in members))
    ordered = sorted(members.items(), key=lambda item: (order.index(item[0][0].task), item[0][1] != KNOWN))
    return [_ranking(conditions, status, systems) for (conditions, status, _), systems in ordered]


def _ranking(conditions: Conditions, status: str, members: Mapping[str, tuple[Entry, ScoredTask]]) -> _Ranking:
    name = conditions.task
    tasks = {system: task for system, (_, task) in members.items()}
    some = next(iter(tasks.values()))
    keys = list(some.ranked)
    sign = -1 if some.score.definitions[keys[0]].better else 1
    order = sorted(tasks, key=lambda system: (sign * tasks[system].metrics[keys[0]], system))
    groups, notes = _groups(name, keys[0], [System(system, {name: tasks[system]}) for system in order])
    rows = [_Row(system, groups[system], _cells(members[system][0].submission, tasks[system])) for system in order]
    if any(row.cells["interval"].endswith("†") for row in rows):
        notes.append(_DOUBT)
    published = _published().get(name)
    if published and status == KNOWN and published["fingerprint"] == conditions.fingerprint:
        rows += published["rows"]
    # All are scored by this release, so that one signature says how the numbers of the whole table were made.
    signatures = [f"Signature: {signature}" for signature in some.signatures.values()]
    return _Ranking(conditions, status, keys, rows, [*signatures, *notes, *_copies(order, tasks)])


def _cells(submission: Verified, task: ScoredTask) -> dict[str, str]:
    interval, date = task.intervals().get(next(iter(task.ranked))), task.results.get("date")
    doubt = "" if interval is None or interval.is_trusted else " †"
    made = datetime.datetime.fromtimestamp(date, datetime.timezone.utc) if isinstance(date, int | float) else None
    return {
        **{key: _number(value) for key, value in task.metrics.items()},
        "interval": f"{interval.low:.4f} to {interval.high:.4f}{doubt}" if interval else "",
        "n": str(len(task.ids)),
        "checks": submission.word(task.name),
        "signed": str(submission.signer),
        "submitter": _submitter(submission) if submission.manifest else "",
        "date": made.date().isoformat() if made else "",
        "edition": task.edition,
        "budget": task.conditions.budget,
    }


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else f"{value:.4f}"


def _copies(order: Sequence[str], tasks: Mapping[str, ScoredTask]) -> Iterator[str]:
    """Systems that gave the answers of another one."""
    seen: dict[str, str] = {}
    for system in order:
        documents = tasks[system].documents
        answers = json.dumps([[doc_id, sample.answer] for doc_id, sample in documents])
        if seen.setdefault(answers, system) != system and any(sample.answer for _, sample in documents):
            yield f"{system} gave the same answers as {seen[answers]}, word by word"


def _groups(name: str, key: str, order: Sequence[System]) -> tuple[dict[str, int], list[str]]:
    groups: dict[str, int] = {}
    notes: list[str] = []
    while rest := [system for system in order if system.name not in groups]:
        best, *others = rest
        group = groups[best.name] = max(groups.values(), default=0) + 1
        answered = set(documents_of(best.tasks[name]))
        same = [other for other in others if set(documents_of(other.tasks[name])) == answered]
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


@cache
def _published() -> dict[str, dict[str, Any]]:
    """Task -> the papers' rows, their source, and label and fingerprint of the edition that they were made on."""
    text = resources.files("tls_tasks.after.submission").joinpath("published.json").read_text(encoding="utf-8")
    papers = json.loads(text)
    for name, task in papers["tasks"].items():
        edition = editions_of(name).get(task["edition"])
        task |= {"source": papers["source"], "fingerprint": edition.fingerprint if edition else None}
        task["rows"] = [
            _Row(row.pop("system"), None, {key: _number(value) for key, value in row.items()}) for row in task["rows"]
        ]
    tasks: dict[str, dict[str, Any]] = papers["tasks"]
    return tasks


def site(ranked: Sequence[_Ranking]) -> str:
    """The page: no script, no network."""
    n_of_task: Counter[str] = Counter()
    sections = []
    for ranking in ranked:
        n_of_task[ranking.conditions.task] += 1
        sections.append(_section(ranking, n_of_task[ranking.conditions.task]))
    for name in (name for name in n_of_task if name in _published()):
        own = [ranking for ranking in ranked if ranking.conditions.task == name]
        if not any(ranking.is_published for ranking in own):
            sections.append(_published_apart(name, own[0].metrics))
    return document("leaderboard.html", "tls-tasks leaderboard", version=__version__, sections="\n".join(sections))


def _section(ranking: _Ranking, number: int) -> str:
    name = ranking.conditions.task
    anchor = name if number == 1 else f"{name}-{number}"
    heading = name if ranking.status == KNOWN else f"{name} ({ranking.status})"
    conditions = f"version {ranking.conditions.version:g}, {ranking.status}, {ranking.conditions}"
    if ranking.status == UNKNOWN:
        conditions += ". This release does not know the data, so nothing here compares with other tables"
    caption = (
        f"Ranked by {ranking.metrics[0]}. The systems of a group do not differ significantly from its best at "
        f"p < {SIGNIFICANT} (paired randomisation over topics or documents, Holm)."
    )
    table = _table(ranking.metrics, ranking.rows, f"Ranking of {anchor}", caption)
    published = [f"Published rows: {_published()[name]['source']}."] if ranking.is_published else []
    notes = "".join(f"<p class='soft small'>{html.escape(note)}</p>" for note in [*ranking.notes, *published])
    return _html_section(anchor, heading, f"<p>{html.escape(conditions)}.</p>{table}{notes}")


def _published_apart(name: str, metrics: Sequence[str]) -> str:
    """Published rows of a task on whose data nobody here ran, in a table of their own."""
    published = _published()[name]
    caption = (
        f"{published['source']}. Not ranked with the rows above: these were made on the original data "
        f"({published['edition']}), on which no submission here ran."
    )
    table = _table(metrics, published["rows"], f"Published results of {name}", caption)
    return _html_section(f"{name}-published", f"{name}, published", table)


def _html_section(anchor: str, heading: str, content: str) -> str:
    anchor, heading = html.escape(anchor), html.escape(heading)
    return f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{heading}</h2>{content}</section>'


def _table(metrics: Sequence[str], rows: Sequence[_Row], label: str, caption: str) -> str:
    """Score and name come first: a telephone shows them without scrolling."""
    titles = ["rank", metrics[0], "system", "group", *_FACTS, *metrics[1:]]
    head = "".join(f'<th scope="col"{_class(title, metrics)}>{html.escape(title)}</th>' for title in titles)
    body = []
    for place, row in enumerate(rows, start=1):
        is_ours = row.group is not None
        texts = {
            "rank": str(place) if is_ours else "published",
            "group": str(row.group) if is_ours else "",
            **row.cells,
        }
        cells = {title: f"<td{_class(title, metrics)}>{html.escape(texts.get(title, ''))}</td>" for title in titles}
        cells["system"] = f'<th scope="row">{html.escape(row.system)}</th>'
        body.append(f"<tr{'' if is_ours else _PUBLISHED}>{''.join(cells.values())}</tr>")
    lines = "\n".join(body)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}"><table class="board">'
        f"<caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _class(title: str, metrics: Sequence[str]) -> str:
    return ' class="number"' if title in {*metrics, "n", "budget"} else ""
