"""Checked submissions -> one static page that ranks them: one ranking for each set of equal conditions."""

import datetime
import html
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.comparisons import System, compare_systems, documents_of
from tls_tasks.after.page import document
from tls_tasks.after.run import Conditions
from tls_tasks.after.scored_runs import ScoredTask, references_of
from tls_tasks.after.submission.golds import EQUAL
from tls_tasks.after.submission.ranking import CORRECTED, Row, ranking
from tls_tasks.after.submission.verification import Verified, is_bound
from tls_tasks.core.intervals import LEAST_TRUSTED
from tls_tasks.core.terminal import shown
from tls_tasks.data.editions import KNOWN, UNKNOWN, editions_of

SIGNIFICANT = 0.05
"""P-values below this tell two systems apart."""

# What needs no quotes; commas and brackets could be taken for what the board says of a signature.
_PLAIN_NAME = re.compile(r"[\w.&-]+(?: [\w.&-]+){0,5}", re.ASCII)
_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l"})

_DOUBT = f"† Unreliable interval: fewer than {LEAST_TRUSTED} topics or documents, or no variation"
_CORRECTED = "Corrected by PPI++ with the submitter's labels; nobody here knows who labelled, and the order ignores it."
_UNKNOWN_DATA = " This release does not know the data, so nothing here compares with other tables."


def told_apart(submissions: Mapping[str, Verified], bound: Collection[str]) -> dict[str, Verified]:
    """Names for submissions, no two the same. Being first gives no right to a name; a signature of its ORG does.

    Args:
        submissions: By a hash of what they hold.
        bound: The names and patterns that allowed signers bind to keys.

    Returns:
        Name -> submission.
    """
    # Acme is nobody else than acme, nor is Acrne; m-1 and m-l are told apart by who sent them.
    keys = {digest: _look(submission.manifest["model"]) for digest, submission in submissions.items()}
    rightful = {digest for digest in keys if submissions[digest].is_rightful}
    names = {}
    for digest, submission in submissions.items():
        names[digest] = name = submission.manifest["model"]
        rivals = {other for other, key in keys.items() if key == keys[digest]}
        if (len(rivals) > 1 or is_bound(_look(submission.org), map(_look, bound))) and rivals & rightful != {digest}:
            names[digest] = f"{name} (by {_submitter(submission)}, {submission.signed})"
    n_of_name = Counter(names.values())
    unique = {digest: name if n_of_name[name] == 1 else f"{name} #{digest[:8]}" for digest, name in names.items()}
    return {name: submissions[digest] for digest, name in unique.items()}


def _look(name: str) -> str:
    return name.casefold().translate(_ALIKE).replace("rn", "m").replace("vv", "w")


def _submitter(submission: Verified) -> str:
    manifest = submission.manifest
    name = manifest.get("organization") or submission.org
    return name if _PLAIN_NAME.fullmatch(name) else repr(shown(name, 60))


def site(submissions: Mapping[str, Verified], pages: Mapping[str, str] | None = None) -> str:
    """The page, without script and network: a ranking for each task, version, data, prompt options, shots and judge.

    Two systems are in one significance group if the paired test cannot tell them apart from the group's best, after
    Holm over all systems that it was compared with. Systems that answered other documents are in groups of their own.

    Args:
        submissions: Name -> submission.
        pages: Name -> address of a page that shows the submission's answers.
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
        edition, is_beside = editions_of(name).get(paper["edition"]) if paper else None, False
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
            table = ranking(metrics, rows, caption, f"All results of {anchor}", pages or {})
            texts = "".join(f"<p class='soft'>{html.escape(note)}</p>" for note in notes)
            heading = name if status == KNOWN else f"{name} ({status})"
            sections.append(_section(anchor, heading, f"<p>{intro}</p>{table}{texts}"))
        # Published rows of a task on whose data nobody here ran stand in a table of their own.
        if paper and not is_beside:
            why = f"these were made on the original data ({paper['edition']}), on which no submission here ran"
            caption = f"{source}. Not ranked with the rows above: {why}."
            table = ranking(metrics, paper["rows"], caption, f"All published results of {name}", {})
            sections.append(_section(f"{name}-published", f"{name}, published", table))
    if late := [(name, submission.late) for name, submission in submissions.items() if not submission.scored]:
        lines = "".join(f"<p>{html.escape(f'{name}: not checked: {text}')}</p>" for name, text in late)
        sections.append(_section("not-checked", "Not checked", lines))
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
        date = datetime.datetime.fromtimestamp(task.results["date"], datetime.timezone.utc).date()
        numbers = submission.manifest.get("corrected", {})
        has_labels = numbers.get("task") == task.name
        caveats = {_DOUBT: doubt or (has_labels and numbers["ci_caution"]), _CORRECTED: has_labels}
        notes += [note for note, is_due in caveats.items() if is_due and note not in notes]
        row = {
            "rank": str(place),
            "system": system,
            "group": str(groups[system]),
            "ends": tuple(interval or ()),
            "interval": f"{interval.low:.4f} to {interval.high:.4f}{doubt}" if interval else "",
            "n": str(len(task.ids)),
            "checks": submission.word(task.name),
            "signed": submission.signed,
            "submitter": _submitter(submission),
            "date": date.isoformat(),
            # Which edition it is the fingerprint says, and only where the gold answers are its.
            "edition": task.pinned.label if task.pinned and submission.statuses.get(task.name) == KNOWN else "unknown",
            "budget": task.conditions.budget,
            **({CORRECTED: _corrected(numbers)} if has_labels else {}),
            **submission.facts.get(task.name, {}),
        }
        rows.append({**task.metrics, **row})
        if submission.late:
            notes.append(f"{system}: not checked: {submission.late}")
        if not (equal := submission.facts.get(task.name, {}).get(EQUAL, "0 ")).startswith("0 "):
            notes.append(f"{system}: {equal} longer answers {EQUAL}: they are right, or were copied from it")
    if metrics[0] in (found := references_of(list(tasks.values()))).get("values", {}):
        rows.append({**found["values"], "rank": "", "group": "", "system": found["name"], "submitter": found["about"]})
    # All are scored by this release, so that one signature says how the numbers of the whole table were made.
    notes = [*(f"Signature: {text}" for text in first.signatures.values()), *notes, *_copies(order, tasks)]
    return rows, [*notes, *(f"{copy} is a copy of {system}" for system in order for copy in submissions[system].copies)]


def _corrected(numbers: Mapping[str, Any]) -> str:
    """Each result that labels correct: its estimate, interval, and the number of labels."""
    told, doubt = [], " †" if numbers["ci_caution"] else ""
    for key in [key for key in numbers if key.endswith("_micro_corrected")]:
        name, (low, high) = key.removesuffix("_micro_corrected"), numbers[f"{key}_ci"] or (math.nan, math.nan)
        told.append(f"{name} {numbers[key]:.4f} ({low:.4f} to {high:.4f}){doubt}, {numbers[f'{name}_labels']} labels")
    return f"corrected: {'; '.join(told)}"


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
