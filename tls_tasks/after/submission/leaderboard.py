"""Checked submissions -> one static page that ranks them: one ranking for each set of equal conditions.

A ranking is a table in HTML: a dot on its interval for each system, and all results below.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import resources
from itertools import pairwise
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.comparisons import System, compare_systems, documents_of
from tls_tasks.after.page import document
from tls_tasks.after.run import Conditions
from tls_tasks.after.scored_runs import ScoredTask, references_of
from tls_tasks.after.submission.checks import utc_day
from tls_tasks.after.submission.golds import AROUND, EQUAL
from tls_tasks.after.submission.verification import Verified
from tls_tasks.core.intervals import LEAST_TRUSTED
from tls_tasks.data.editions import KNOWN, UNKNOWN, read_editions

SIGNIFICANT = 0.05
"""P-values below this tell two systems apart."""

Row = Mapping[str, Any]
"""A system: texts and results by the title of their column, ``ends`` of its interval.

Without ``rank`` if published; with an empty one if it is no system, but people's references.
"""

_BESIDE = (EQUAL, AROUND, "chat template", "generation")
_FACTS = ("interval", "n", "checks", "signed", "date", "edition", "budget", *_BESIDE)
_TOPS = (0.1, 0.2, 0.4, 1.0)  # where the axis of a share may end; an empty end is cut

_DOUBT = f"† Unreliable interval: fewer than {LEAST_TRUSTED} topics or documents, or no variation"
_UNKNOWN_DATA = " This release does not know the data, so nothing here compares with other tables."


def take_replaced(submissions: Sequence[Verified]) -> Iterator[str]:
    """Take tasks out of submissions where the same key signed a later one for the model, or one that replaces it.

    Yields:
        What was taken, and of whom.
    """
    signed = sorted((one for one in submissions if one.key), key=lambda one: one.manifest["date"])
    replaced = {(one.key, one.manifest["replaces"]) for one in signed}
    later: set[tuple[str, str, str, Conditions]] = set()
    for submission in reversed(signed):
        model, kept = submission.manifest["model"], []
        for task in submission.scored:
            series = submission.key, model.casefold(), task.name, task.conditions
            if series in later or (submission.key, submission.digest) in replaced:
                yield f"{model} of {utc_day(submission.manifest['date'])}: {task.name}: its key signed a later one"
            else:
                kept.append(task)
                later.add(series)
        submission.scored = kept


def told_apart(submissions: Mapping[str, Verified], bound: Collection[str]) -> dict[str, Verified]:
    """Names for submissions, no two the same. Being first gives no right to a name; a signature of its ORG does.

    Args:
        submissions: By a hash of what they hold.
        bound: The names that have keys here, if any: who signed then stands beside each name that its ORG did not sign.

    Returns:
        Name -> submission.
    """
    names = {}
    for digest, submission in submissions.items():
        is_bare, model = submission.is_rightful or not bound, submission.manifest["model"]
        organisation = model.partition("/")[0].casefold()
        alike = sorted(name for name in bound if name != organisation and _letters(name) in _letters(organisation))
        signed = ", not by the key of ".join([submission.signed, *alike])
        names[digest] = model if is_bare else f"{model} ({signed})"
    n_of_name = Counter(names.values())
    unique = {digest: name if n_of_name[name] == 1 else f"{name} #{digest[:8]}" for digest, name in names.items()}
    return {name: submissions[digest] for digest, name in unique.items()}


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name)


def site(submissions: Mapping[str, Verified]) -> str:
    """The page, without script and network: a ranking for each task, version, data, prompt options, shots and judge.

    Two systems are in one significance group if the paired test cannot tell them apart from the group's best, after
    Holm over all systems that it was compared with. Systems that answered other documents are in groups of their own.

    Args:
        submissions: Name -> submission.
    """
    # What is measured may depend on the documents, and a fingerprint is only what a stranger says of them.
    by_task: dict[str, dict[tuple[Conditions, str, tuple[str, ...]], dict[str, ScoredTask]]] = {}
    for system, submission in submissions.items():
        for task in submission.scored:
            key = task.conditions, submission.statuses.get(task.name, UNKNOWN), tuple(task.ranked)
            by_task.setdefault(task.name, {}).setdefault(key, {})[system] = task
    published = json.loads(resources.files("tls_tasks.after.submission").joinpath("published.json").read_text("utf-8"))
    source, sections = published["source"], []
    for name, members in by_task.items():
        paper = published["tasks"].get(name)
        edition, is_beside = read_editions(name).get(paper["edition"]) if paper else None, False
        for number, key in enumerate(sorted(members, key=lambda key: key[1] != KNOWN), start=1):
            conditions, status, metrics = key
            anchor = name if number == 1 else f"{name}-{number}"
            rows, notes = _ranked(submissions, members[key], metrics)
            if edition and status == KNOWN and edition.fingerprint == conditions.fingerprint:
                rows += paper["rows"]
                notes.append(f"Published rows: {source}.")
                is_beside = True
            known = f"version {conditions.version:g}, {status}, {conditions}."
            intro = html.escape(known + _UNKNOWN_DATA * (status == UNKNOWN))
            test = f"at p < {SIGNIFICANT} (paired randomisation over topics or documents, Holm)."
            caption = f"Ranked by {metrics[0]}. The systems of a group do not differ significantly from its best {test}"
            table = ranking(metrics, rows, caption, f"All results of {anchor}")
            texts = "".join(f"<p class='soft'>{html.escape(note)}</p>" for note in notes)
            heading = name if status == KNOWN else f"{name} ({status})"
            sections.append(_section(anchor, heading, f"<p>{intro}</p>{table}{texts}"))
        # Published rows of a task on whose data nobody here ran stand in a table of their own.
        if paper and not is_beside:
            why = f"these were made on the original data ({paper['edition']}), on which no submission here ran"
            caption = f"{source}. Not ranked with the rows above: {why}."
            table = ranking(metrics, paper["rows"], caption, f"All published results of {name}")
            sections.append(_section(f"{name}-published", f"{name}, published", table))
    return document("leaderboard.html", "tls-tasks leaderboard", version=__version__, sections="\n".join(sections))


def _ranked(
    submissions: Mapping[str, Verified], tasks: Mapping[str, ScoredTask], metrics: Sequence[str]
) -> tuple[list[Row], list[str]]:
    """A row for each system, best first; and what cannot be compared or looks strange."""
    first = next(iter(tasks.values()))
    sign = -1 if first.score.definitions[metrics[0]].better else 1
    order = sorted(tasks, key=lambda system: (sign * tasks[system].metrics[metrics[0]], system))
    groups, notes = _groups(metrics[0], [System(system, {first.name: tasks[system]}) for system in order])
    rows: list[Row] = []
    for place, system in enumerate(order, start=1):
        task, submission = tasks[system], submissions[system]
        interval = task.intervals().get(metrics[0])
        doubt = "" if interval is None or interval.is_trusted else " †"
        notes += [_DOUBT] * bool(doubt and _DOUBT not in notes)
        row = {
            "rank": str(place),
            "system": system,
            "group": str(groups[system]),
            "ends": tuple(interval or ()),
            "interval": f"{interval.low:.4f} to {interval.high:.4f}{doubt}" if interval else "",
            "n": str(len(task.ids)),
            "checks": submission.level,
            "signed": submission.signed,
            "date": utc_day(task.results["date"]),
            "edition": submission.edition(task),
            "budget": task.conditions.budget,
            **submission.facts.get(task.name, {}),
        }
        rows.append({**task.metrics, **row})
    if metrics[0] in (found := references_of(list(tasks.values()))).get("values", {}):
        rows.append({**found["values"], "rank": "", "group": "", "system": found["name"], "checks": found["about"]})
    # All are scored by this release, so that one signature says how the numbers of the whole table were made.
    return rows, [*(f"Signature: {text}" for text in first.signatures.values()), *notes, *_copies(order, tasks)]


def _copies(order: Sequence[str], tasks: Mapping[str, ScoredTask]) -> Iterator[str]:
    """Systems that gave the answers of another one."""
    seen: dict[str, str] = {}
    for system in order:
        documents = tasks[system].documents
        answers = json.dumps([[doc_id, sample.answer] for doc_id, sample in documents])
        if seen.setdefault(answers, system) != system and any(sample.answer for _, sample in documents):
            yield f"{system} gave the same answers as {seen[answers]}, word by word"


def _groups(metric: str, order: Sequence[System]) -> tuple[dict[str, int], list[str]]:
    """Each system's group, 1 for the best; and what cannot be compared."""
    [task] = order[0].tasks
    groups: dict[str, int] = {}
    notes: dict[str, None] = {}
    while rest := [system for system in order if system.name not in groups]:
        best, *others = rest
        group = groups[best.name] = max(groups.values(), default=0) + 1
        answered = {system.name: set(documents_of(system.tasks[task])) for system in rest}
        same = [other for other in others if answered[other.name] == answered[best.name]]
        for other in others:
            if other not in same:
                notes[f"{other.name} cannot be compared with {best.name}: they answered different documents"] = None
        for test in compare_systems([best, *same], [metric]) if same else ():
            notes |= dict.fromkeys(test.warnings)
            if test.metrics[metric].adjusted >= SIGNIFICANT:
                groups[test.second] = group
    return groups, list(notes)


def _section(anchor: str, heading: str, content: str) -> str:
    anchor, heading = html.escape(anchor), html.escape(heading)
    return f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{heading}</h2>{content}</section>'


def ranking(metrics: Sequence[str], rows: Sequence[Row], caption: str, label: str) -> str:
    """The ranking by the first metric, and all results below."""
    metric = metrics[0]
    most = max(float(value) for row in rows for value in (row[metric], *row.get("ends", ())))
    top = next((top for top in _TOPS if most <= top), most)
    ticks = [top * quarter / 4 for quarter in range(5)]
    grid = "".join(_line("grid", (tick, tick), top, "100%") for tick in ticks)
    labels = "".join(f'<text x="{_share(tick, top)}" y="12" text-anchor="middle">{tick:g}</text>' for tick in ticks)
    ends_group = [row.get("group") != after.get("group") for row, after in pairwise([*rows, rows[-1]])]
    lines = []
    for row, is_last in zip(rows, ends_group, strict=True):
        facts = " · ".join(str(row[key]) for key in ("checks", "signed", "date") if key in row)
        cells = (
            f'<td class="soft">{row.get("rank", "")}</td><th scope="row">{html.escape(row["system"])}</th>'
            f'<td class="soft">{html.escape(facts or "published, not recomputed")}</td>'
            f'<td class="cell"><svg class="plot" aria-hidden="true">{grid}{_dot(row, metric, top)}</svg></td>'
            f'<td class="figure"><b>{row[metric]:.4f}</b><span class="soft">{row.get("interval", "")}</span></td>'
        )
        lines.append(f"<tr{_class('last' if is_last else '')}>{cells}</tr>")
    titles = ("rank", "system", "checks", "plot", f"{metric}, interval")
    head = "".join(f'<th scope="col" class="unseen">{html.escape(title)}</th>' for title in titles)
    axis = f'<td class="cell"><svg class="axis" aria-hidden="true">{labels}</svg></td>'
    foot = f"<tfoot><tr><td></td><td></td><td></td>{axis}<td></td></tr></tfoot>"
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>{foot}"
    table = f'<table class="forest ranking"><caption>{html.escape(caption)}</caption>{body}</table>'
    return table + _all_results(metrics, rows, label)


def _all_results(metrics: Sequence[str], rows: Sequence[Row], label: str) -> str:
    """All results and facts, folded."""
    titles = ["rank", metrics[0], "system", "group", *_FACTS, *metrics[1:]]
    classes = {title: _class("number" if title in {*metrics, "n", "budget"} else "") for title in titles}
    head = "".join(f'<th scope="col"{classes[title]}>{html.escape(title)}</th>' for title in titles)
    body = []
    for row in rows:
        # A paper's row was not recomputed, and has no rank.
        filled = {"rank": "published", **row}
        texts = {title: f"{cell:.4f}" if isinstance(cell, float) else str(cell) for title, cell in filled.items()}
        cells = {title: f"<td{classes[title]}>{html.escape(texts.get(title, ''))}</td>" for title in titles}
        cells["system"] = f'<th scope="row">{html.escape(texts["system"])}</th>'
        body.append(f"<tr>{''.join(cells.values())}</tr>")
    lines, region = "\n".join(body), f'tabindex="0" role="region" aria-label="{html.escape(label)}"'
    table = f'<table class="results"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'
    return f'<details><summary>{html.escape(label)}</summary><div class="wide" {region}>{table}</div></details>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _share(value: float, top: float) -> str:
    return f"{100 * min(1.0, max(0.0, value / top)):.2f}%"


def _line(kind: str, ends: Sequence[float], top: float, height: str = "") -> str:
    above, below = ("0", height) if height else ("11", "11")
    x1, x2 = (_share(end, top) for end in ends)
    return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{above}" y2="{below}"/>'


def _dot(row: Row, metric: str, top: float) -> str:
    """A dot on its interval: dashed if the interval is unreliable, hollow if not recomputed; a stroke of references."""
    if row.get("rank") == "":
        return _line("mean", (row[metric],) * 2, top, "100%")
    tone = "hollow" if "rank" not in row else "a" if row["group"] == "1" else "c"
    doubt = " doubtful" if "†" in row.get("interval", "") else ""
    whisker = _line(f"whisker {tone}{doubt}", row["ends"], top) if row.get("ends") else ""
    return f'{whisker}<circle class="dot {tone}" cx="{_share(row[metric], top)}" cy="11" r="5"/>'
