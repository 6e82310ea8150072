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

_DOUBT = (
    f"† An interval not to be trusted: of fewer than {LEAST_TRUSTED} topics or documents, or all of them gave the same"
)

_FACTS = ("interval", "n", "checks", "signed", "submitter", "date", "edition", "budget")
_NUMBER, _PUBLISHED = ' class="number"', ' class="published"'


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
        values: Metric -> value.
        group: Its significance group, 1 for the best; None for a paper's values, which were not recomputed.
        facts: What else is known, by the names of ``_FACTS``.
    """

    system: str
    values: Mapping[str, float]
    group: int | None
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Published:
    """What papers report of a task.

    Attributes:
        source: Which papers.
        edition: The label of the edition that they ran on.
        fingerprint: Of that edition; None if this release does not know it.
        rows: Their results.
    """

    source: str
    edition: str
    fingerprint: str | None
    rows: tuple[_Row, ...]


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
    metrics: tuple[str, ...]
    rows: tuple[_Row, ...]
    notes: tuple[str, ...] = ()


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
    best = next(iter(tasks.values()))
    keys = tuple(best.ranked)
    sign = -1 if best.score.definitions[keys[0]].better else 1
    order = sorted(tasks, key=lambda system: (sign * tasks[system].metrics[keys[0]], system))
    groups, notes = _groups(name, keys[0], [System(system, {name: tasks[system]}) for system in order])
    rows = []
    for system in order:
        entry, task = members[system]
        rows.append(_Row(system, task.metrics, groups[system], _facts(entry.submission, task, keys[0])))
    doubt = [_DOUBT] if any(row.facts["interval"].endswith("†") for row in rows) else []
    published = _published(name)
    if published and status == KNOWN and published.fingerprint == conditions.fingerprint:
        rows += published.rows
    # All are scored by this release, so that one signature says how the numbers of the whole table were made.
    signatures = [f"Signature: {signature}" for signature in best.signatures.values()]
    notes = [*signatures, *notes, *doubt, *_copies(order, tasks)]
    return _Ranking(conditions, status, keys, tuple(rows), tuple(notes))


def _facts(submission: Verified, task: ScoredTask, key: str) -> dict[str, str]:
    interval, date = task.intervals().get(key), task.results.get("date")
    doubt = "" if interval is None or interval.is_trusted else " †"
    made = datetime.datetime.fromtimestamp(date, datetime.timezone.utc) if isinstance(date, int | float) else None
    return {
        "interval": f"{interval.low:.4f} to {interval.high:.4f}{doubt}" if interval else "",
        "n": str(len(task.ids)),
        "checks": submission.word(task.name),
        "signed": str(submission.signer),
        "submitter": _submitter(submission) if submission.manifest else "",
        "date": made.date().isoformat() if made else "",
        "edition": task.edition,
        "budget": task.conditions.budget,
    }


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
def _published(name: str) -> _Published | None:
    """The papers' rows of a task; None if there are none."""
    text = resources.files("tls_tasks.after.submission").joinpath("published.json").read_text(encoding="utf-8")
    papers = json.loads(text)
    if name not in papers["tasks"]:
        return None
    label, rows = papers["tasks"][name]["edition"], papers["tasks"][name]["rows"]
    edition = editions_of(name).get(label)
    rows = tuple(_Row(row["system"], row, None, {}) for row in rows)
    return _Published(papers["source"], label, edition.fingerprint if edition else None, rows)


def site(ranked: Sequence[_Ranking]) -> str:
    """The page: no script, no network."""
    n_of_task: Counter[str] = Counter()
    sections = []
    for ranking in ranked:
        n_of_task[ranking.conditions.task] += 1
        sections.append(_section(ranking, n_of_task[ranking.conditions.task]))
    for name in n_of_task:
        own = [ranking for ranking in ranked if ranking.conditions.task == name]
        if (published := _published(name)) and not any(row.group is None for ranking in own for row in ranking.rows):
            sections.append(_published_apart(own[0], published))
    return document("leaderboard.html", "tls-tasks leaderboard", version=__version__, sections="\n".join(sections))


def _section(ranking: _Ranking, number: int) -> str:
    name, metric = ranking.conditions.task, ranking.metrics[0]
    notes = list(ranking.notes)
    if (published := _published(name)) and any(row.group is None for row in ranking.rows):
        notes.append(f"Published rows: {published.source}.")
    conditions = f"version {ranking.conditions.version:g}, {ranking.status}, {ranking.conditions}"
    if ranking.status == UNKNOWN:
        conditions += ". This release does not know the data, so nothing here compares with other tables"
    caption = (
        f"Ranked by {metric}. The systems of a group do not differ significantly from its best at p < {SIGNIFICANT} "
        "(paired randomisation over topics or documents, Holm)."
    )
    anchor = name if number == 1 else f"{name}-{number}"
    table = _table(ranking.metrics, ranking.rows, f"Ranking of {anchor}", caption)
    below = "".join(f"<p class='soft small'>{html.escape(note)}</p>" for note in notes)
    heading = name if ranking.status == KNOWN else f"{name} ({ranking.status})"
    return _html_section(anchor, heading, f"<p>{html.escape(conditions)}.</p>{table}{below}")


def _published_apart(ranking: _Ranking, published: _Published) -> str:
    """Published rows of a task on whose data nobody here ran, in a table of their own."""
    name = ranking.conditions.task
    caption = (
        f"{published.source}. Not ranked with the rows above: these were made on the original data "
        f"({published.edition}), on which no submission here ran."
    )
    table = _table(ranking.metrics, published.rows, f"Published results of {name}", caption)
    return _html_section(f"{name}-published", f"{name}, published", table)


def _html_section(anchor: str, heading: str, content: str) -> str:
    anchor, heading = html.escape(anchor), html.escape(heading)
    return f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{heading}</h2>{content}</section>'


def _table(metrics: Sequence[str], rows: Sequence[_Row], label: str, caption: str) -> str:
    """Score and name come first: a telephone shows them without scrolling."""
    first, *others = metrics
    titles = ["rank", first, "system", "group", *_FACTS, *others]
    kinds = [_NUMBER if title in {*metrics, "n", "budget"} else "" for title in titles]
    head = "".join(
        f'<th scope="col"{kind}>{html.escape(title)}</th>' for title, kind in zip(titles, kinds, strict=True)
    )
    lines = []
    for place, row in enumerate(rows, start=1):
        numbers = {key: _number(row.values.get(key)) for key in metrics}
        rank, group = ("published", "") if row.group is None else (str(place), str(row.group))
        texts = {"rank": rank, "system": row.system, "group": group, **row.facts, **numbers}
        cells = [
            f'<th scope="row">{html.escape(texts[title])}</th>'
            if title == "system"
            else f"<td{kind}>{html.escape(texts.get(title, ''))}</td>"
            for title, kind in zip(titles, kinds, strict=True)
        ]
        lines.append(f"<tr{_PUBLISHED if row.group is None else ''}>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}"><table class="board">'
        f"<caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _number(value: float | None) -> str:
    return "" if value is None else "NaN" if math.isnan(value) else f"{value:.4f}"
