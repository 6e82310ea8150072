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
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.comparisons import System, compare_task
from tls_tasks.after.conditions import Conditions
from tls_tasks.after.joined import documents_of
from tls_tasks.after.page import asset, csp_hash
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
class _Ranking:
    """The ranking of one task under equal conditions, by one metric.

    Attributes:
        conditions: What all rows have in common.
        status: What the data is worth.
        metric: The one that ranks.
        metrics: All that are shown.
        rows: Best first; published ones, if any belong here, last.
        notes: What cannot be compared, and what looks strange.
    """

    conditions: Conditions
    status: str
    metric: str
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
    found: dict[tuple[Conditions, str, tuple[str, ...]], dict[str, tuple[Entry, ScoredTask]]] = {}
    for entry in entries:
        for task in entry.submission.scored:
            key = task.conditions, entry.submission.statuses.get(task.name, UNKNOWN), tuple(task.ranked)
            found.setdefault(key, {})[entry.name] = entry, task
    order = list(dict.fromkeys(conditions.task for conditions, *_ in found))
    ordered = sorted(found.items(), key=lambda item: (order.index(item[0][0].task), item[0][1] != KNOWN))
    return [_ranking(conditions, status, members) for (conditions, status, _), members in ordered]


def _ranking(conditions: Conditions, status: str, members: Mapping[str, tuple[Entry, ScoredTask]]) -> _Ranking:
    name = conditions.task
    tasks = {system: task for system, (_, task) in members.items()}
    first = next(iter(tasks.values()))
    keys = list(first.ranked)
    sign = -1 if first.score.definitions[keys[0]].better else 1
    order = sorted(tasks, key=lambda system: (sign * tasks[system].metrics[keys[0]], system))
    groups, notes = _groups(name, keys[0], [System(system, {name: tasks[system]}) for system in order])
    rows = [
        _Row(
            system, tasks[system].metrics, groups[system], _facts(members[system][0].submission, tasks[system], keys[0])
        )
        for system in order
    ]
    if _published_on(name) == conditions.fingerprint and status == KNOWN:
        rows += _published_rows(name)
    # All are scored by this release, so that one signature says how the numbers of the whole table were made.
    signatures = [f"Signature: {signature}" for signature in first.signatures.values()]
    doubt = [_DOUBT] if any(row.facts["interval"].endswith("†") for row in rows[: len(order)]) else []
    notes = [*signatures, *notes, *doubt, *_copies(order, tasks)]
    return _Ranking(conditions, status, keys[0], tuple(keys), tuple(rows), tuple(notes))


def _facts(submission: Verified, task: ScoredTask, key: str) -> dict[str, str]:
    interval, date = task.intervals().get(key), task.results.get("date")
    doubt = "" if interval is None or interval.is_trusted else " †"
    made = datetime.datetime.fromtimestamp(date, datetime.timezone.utc) if isinstance(date, int | float) else None
    return {
        "interval": f"{interval.low:.4f} to {interval.high:.4f}{doubt}" if interval else "",
        "n": str(len(task.ids)),
        "edition": task.edition,
        "budget": task.conditions.budget,
        "date": made.date().isoformat() if made else "",
        "submitter": _submitter(submission) if submission.manifest else "",
        "signed": str(submission.signer),
        "checks": submission.word(task.name),
    }


def _copies(order: Sequence[str], tasks: Mapping[str, ScoredTask]) -> Iterator[str]:
    """Systems that gave the answers of another one."""
    seen: dict[str, str] = {}
    for system in order:
        samples = tasks[system].log.samples
        answers = json.dumps([[key, sample.answer] for key, sample in zip(tasks[system].ids, samples, strict=True)])
        if samples and seen.setdefault(answers, system) != system and any(sample.answer for sample in samples):
            yield f"{system} gave the same answers as {seen[answers]}, word by word"


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
    """The papers' rows, by task, with the edition that they were made on, and their source."""
    text = resources.files("tls_tasks.after.submission").joinpath("published.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def _published_on(name: str) -> str | None:
    """The fingerprint of the data that a task's published rows were made on; None if there are no rows."""
    found = _published()["tasks"].get(name)
    edition = editions_of(name).get(found["edition"]) if found else None
    return edition.fingerprint if edition else None


def _published_rows(name: str) -> list[_Row]:
    return [_Row(row["system"], row, None, {}) for row in _published()["tasks"][name]["rows"]]


def site(ranked: Sequence[_Ranking]) -> str:
    """The page: no script, no network."""
    style = asset("page.css")
    n_of_task: Counter[str] = Counter()
    sections = []
    for ranking in ranked:
        n_of_task[ranking.conditions.task] += 1
        sections.append(_section(ranking, n_of_task[ranking.conditions.task]))
    body = "\n".join([*sections, *_published_apart(ranked)])
    return asset("leaderboard.html").format(digest=csp_hash(style), style=style, body=body, version=__version__)


def _section(ranking: _Ranking, number: int) -> str:
    name = html.escape(ranking.conditions.task)
    anchor = name if number == 1 else f"{name}-{number}"
    notes = "".join(f"<p class='soft small'>{html.escape(note)}</p>" for note in ranking.notes)
    if any(row.group is None for row in ranking.rows):
        notes += f"<p class='soft small'>Published rows: {html.escape(_published()['source'])}.</p>"
    said = f"version {ranking.conditions.version:g}, {ranking.status}, {ranking.conditions}"
    if ranking.status == UNKNOWN:
        said += ". This release does not know the data, so nothing here compares with other tables"
    caption = (
        f"Ranked by {html.escape(ranking.metric)}. The systems of a group do not differ significantly from its best at "
        f"p &lt; {SIGNIFICANT} (paired randomisation over topics or documents, Holm)."
    )
    heading = f'<h2 id="{anchor}">{name}{"" if ranking.status == KNOWN else f" ({ranking.status})"}</h2>'
    table = _table(ranking, f"Ranking of {anchor}", caption)
    return f'<section aria-labelledby="{anchor}">{heading}<p>{html.escape(said)}.</p>{table}{notes}</section>'


def _table(ranking: _Ranking, label: str, caption: str) -> str:
    """Score and name come first: a telephone shows them without scrolling."""
    first, *others = ranking.metrics
    titles = ["rank", first, "system", "group", *_FACTS, *others]
    numbers = {first, *others, "n", "budget"}
    head = "".join(f'<th scope="col"{_class(title in numbers)}>{html.escape(title)}</th>' for title in titles)
    rows = "\n".join(_row(place, row, first, others, numbers) for place, row in enumerate(ranking.rows, start=1))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="board">'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(place: int, row: _Row, first: str, others: Sequence[str], numbers: Collection[str]) -> str:
    published = row.group is None
    rank, group, kind = ("published", "", ' class="published"') if published else (place, row.group, "")
    facts = "".join(f"<td{_class(key in numbers)}>{html.escape(row.facts.get(key, ''))}</td>" for key in _FACTS)
    cells = "".join(_number(row.values.get(key)) for key in others)
    system = f'<th scope="row">{html.escape(row.system)}</th>'
    return f"<tr{kind}><td>{rank}</td>{_number(row.values.get(first))}{system}<td>{group}</td>{facts}{cells}</tr>"


def _published_apart(ranked: Sequence[_Ranking]) -> Iterator[str]:
    """Published rows of tasks on whose data nobody here ran, in tables of their own."""
    for name in dict.fromkeys(ranking.conditions.task for ranking in ranked):
        own = [ranking for ranking in ranked if ranking.conditions.task == name]
        if name not in _published()["tasks"] or any(row.group is None for ranking in own for row in ranking.rows):
            continue
        edition = _published()["tasks"][name]["edition"]
        why = (
            f"{_published()['source']}. Not ranked with the rows above: these were made on the original data "
            f"({edition}), on which no submission here ran."
        )
        shown = _Ranking(own[0].conditions, KNOWN, own[0].metric, own[0].metrics, tuple(_published_rows(name)))
        table = _table(shown, f"Published results of {name}", html.escape(why))
        anchor = f"{html.escape(name)}-published"
        heading = f'<h2 id="{anchor}">{html.escape(name)}, published</h2>'
        yield f'<section aria-labelledby="{anchor}">{heading}{table}</section>'


def _class(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _number(value: float | None) -> str:
    shown = "" if value is None else "NaN" if math.isnan(value) else f"{value:.4f}"
    return f'<td class="number">{shown}</td>'
