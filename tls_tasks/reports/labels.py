"""People's labels of a judge's verdicts: items are drawn, labelled by people, read back, and correct the judge's mean.

An *item* is a part of a report that counts whatever a judge says: a citation (``citation_support``) or a nugget of the
request (``nugget_coverage``). Precision, recall, sentence_support and f1 have no such items, since the judge also
decides which sentences count in them, and are not corrected.
"""

import csv
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.core.correction import correct
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.intervals import Interval, Statistics
from tls_tasks.core.task import answer_text
from tls_tasks.reports.documents import look_up
from tls_tasks.reports.json_lines import read_objects
from tls_tasks.reports.judges.recordings import ANY, PARTS, Judgment, keep, read_judgment
from tls_tasks.reports.plan import NO_ANSWER
from tls_tasks.reports.task import TASKS

KINDS = {"citation": "citation_support", "nugget": "nugget_coverage"}
"""Kind of an item -> the result whose micro value is the mean of the judge's verdicts on these items."""

COLUMNS = ("kind", "request_id", "item_id", "text", "source", "label")
"""Of a file of labels; its first line says how the items were drawn."""

_NEEDED = ("kind", "request_id", "item_id", "label")

LEAST_LABELS, LEAST_OF_CLASS = 30, 5
"""With fewer labels of a kind, or fewer YES or NO among them, nothing is corrected."""

_LABELS = {"YES": True, "NO": False, "": None}
_HEAD = "n={} seed={} items={}"
_MOST_SHOWN = 32_000  # characters: a cell of a spreadsheet holds few more

Key = tuple[str, str, str]
_Find = Callable[[Sequence[str], str], str | None]


class Item(NamedTuple):
    """A citation or a nugget, and what a judge says of it.

    Attributes:
        kind: One of :data:`KINDS`.
        request_id: The request.
        item_id: What tells it from the request's other items; the same whoever judges.
        text: The sentence that cites, or the question with its answers.
        source: What people read to decide: the cited document (its id, if nobody has the documents), or the report.
        verdict: Whether it is supported, or given; None: the judge did not say.
    """

    kind: str
    request_id: str
    item_id: str
    text: str
    source: str
    verdict: bool | None

    @property
    def key(self) -> Key:
        """What tells it from all other items."""
        return self[:3]


Items = Mapping[Key, Item]


class Labels(NamedTuple):
    """People's labels.

    Attributes:
        given: Item -> label.
        empty: Kind -> items that were drawn and have no label.
        seed: Of the draw.
        place: The file, for messages.
    """

    given: Mapping[Key, bool]
    empty: Mapping[str, int]
    seed: int
    place: Path


# ---- items


def read_items(path: Path, documents: Any = None) -> Items:
    """The items that a judge was asked about.

    Args:
        path: ``results.jsonl`` of ``tls-tasks reports``, its folder, or ``verdicts.jsonl`` beside it; a samples log of
            the harness; or any other recording, which lacks what nobody was asked.
        documents: The cited documents, see :func:`~tls_tasks.reports.documents.look_up`; a samples log has its own.

    Raises:
        DataError: A file that can't be read, or that has no item.
        InputError: Two reports of a run to a request, or a line that can't be read.
    """
    place = path / "results.jsonl" if path.is_dir() else path
    if place.name == "verdicts.jsonl" and (beside := place.with_name("results.jsonl")).exists():
        place = beside
    find, task = None if documents is None else look_up(documents), next(iter(TASKS.values()))
    found: list[Item] = []
    judgments: list[Judgment] = []
    samples: set[str] = set()
    where = str(place)
    try:
        for where, row in read_objects(place):
            if "ratios" in row:
                found += items_of(row, find)
            elif "filtered_resps" not in row:
                judgments.append(read_judgment(row, where))
            elif (doc := row["doc"])["doc_id"] not in samples:  # else the same answer under another filter
                samples.add(doc["doc_id"])
                (report,) = task.explain(doc, answer_text(row["filtered_resps"]))["report_eval"]["items"]
                found += items_of(report, look_up({shown["id"]: shown for shown in json.loads(doc["documents"])}))
    except (LookupError, TypeError, AttributeError, json.JSONDecodeError) as error:  # of another task, or changed
        raise DataError(f"{where}: no judged report ({type(error).__name__}: {error})") from error
    found += _items_of_recording(judgments, find)
    items = {item.key: item for item in found}
    if len(items) < len(found) or not items:
        twice = [str(key) for key, n in Counter(item.key for item in found).items() if n > 1]
        raise DataError(f"{place}: got {f'{twice[0]} twice' if twice else 'none'}, expected citations and nuggets")
    return items


def items_of(report: Mapping[str, Any], find: _Find | None = None) -> Iterator[Item]:
    """The items of a judged report: the means of their verdicts are the micro values.

    Args:
        report: A line of ``results.jsonl``, or :meth:`~tls_tasks.reports.score.ReportItem.as_dict`.
        find: Finds documents.
    """
    sentences, request_id, of = report.get("sentences", ()), str(report["request_id"]), _of_run(report["run_id"])
    rows: dict[str, list[tuple[str, str, str, bool | None]]] = {kind: [] for kind in KINDS}
    for number, sentence in enumerate(sentences, start=1):
        for cited in sentence.get("citations", ()):
            doc_id = str(cited["doc_id"])
            name = f"sentence {number}{of} cites {doc_id}"
            rows["citation"].append((name, str(sentence["text"]), _source(doc_id, find), cited["supports"]))
    whole = " ".join(str(sentence["text"]) for sentence in sentences)
    for number, nugget in enumerate(report.get("nuggets", ()), start=1):
        answers = (" AND " if nugget["needs_all"] else " OR ").join(map(str, nugget["answers"]))
        rows["nugget"].append((f"nugget {number}{of}", f"{nugget['question']} {answers}", whole, nugget["covered"]))
    for kind, key in KINDS.items():
        n = report["ratios"][key][1]  # 0: nothing was judged
        unread = range(n - sum(verdict is not None for *_, verdict in rows[kind]))  # of an answer without a report
        rows[kind] += [(f"{kind} {number + 1}{of}", "(no report could be read)", "", False) for number in unread]
        yield from (Item(kind, request_id, *row[:3], row[3] if n else None) for row in rows[kind])


def _items_of_recording(judgments: Iterable[Judgment], find: _Find | None) -> Iterator[Item]:
    """What a recording tells of items; of sentences that several reports share, only the first report's.

    A nugget is given by a sentence that has a citation that holds or is negative, or of which the recording says no
    more than that it gives the nugget.
    """
    said: dict[tuple[str, ...], Judgment] = {}
    for judgment in judgments:
        if ANY not in judgment.parts.values() and judgment.parts.get("answer") != NO_ANSWER:
            keep(said, (judgment.kind, *(judgment.parts.get(name, "") for name in PARTS)), judgment)
    holds: dict[tuple[str, ...], set[bool | None]] = {}
    nuggets: dict[tuple[str, ...], list[tuple[str, str, bool | None]]] = {}
    for (kind, text, doc_id, question, answer, request_id, run, *_), judgment in said.items():
        value = judgment.verdict.value
        if kind == "citation_support":
            name = f"sentence {_digest(text)[:8]}{_of_run(run)} cites {doc_id}"
            yield Item("citation", request_id, name, text, _source(doc_id, find), value)
        if kind in ("citation_support", "negative"):
            holds.setdefault((request_id, run, text), set()).add(value)
        elif kind == "nugget_agreement":
            nuggets.setdefault((request_id, run, question), []).append((text, answer, value))
    for (request_id, run, question), given in nuggets.items():
        covered = any(value and True in holds.get((request_id, run, text), {True}) for text, _, value in given)
        asked = f"{question} {' OR '.join(dict.fromkeys(answer for _, answer, _ in given))}"
        verdict = covered if any(value is not None for *_, value in given) else None
        yield Item("nugget", request_id, f"nugget {_digest(question)[:8]}{_of_run(run)}", asked, "", verdict)


def _of_run(run: object) -> str:
    return f" of {run}" if run else ""


def _source(doc_id: str, find: _Find | None) -> str:
    return doc_id if find is None else find((), doc_id) or f"{doc_id}: no such document"


# ---- labels


def draw(items: Items, n: int, seed: int) -> dict[Key, Item]:
    """``n`` items of each kind without replacement, all if there are fewer, in the order of drawing.

    Whoever labels only the first of them has labelled a draw, too. Items are ordered by a hash of seed and item, so
    that anybody can draw again, in any language, whatever the order of the reports.
    """
    order = sorted(items.values(), key=lambda item: _digest([seed, *item.key]))
    of_kinds = ([item for item in order if item.kind == kind][:n] for kind in KINDS)
    return {item.key: item for of_kind in of_kinds for item in of_kind}


def sheet(items: Items, n: int, seed: int) -> list[tuple[str, ...]]:
    """The rows of a file in which people label a draw: how it was made, :data:`COLUMNS`, and a row an item."""
    drawn = draw(items, n, seed).values()
    rows = [(*item.key, item.text[:_MOST_SHOWN], item.source[:_MOST_SHOWN], "") for item in drawn]
    return [("# " + _HEAD.format(n, seed, _hash_of(items)),), COLUMNS, *rows]


def read_labels(path: Path, *judged: Items) -> Labels:
    """Read the labels that people wrote into a draw.

    Args:
        path: The file, as :func:`sheet` made it and a spreadsheet may have saved it.
        judged: The items of judges; the labels must have been drawn from those of one of them.

    Raises:
        DataError: A file that can't be read.
        InputError: Labels of other items, an item that was not drawn or stands there twice, or no label.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            first, names = lines.readline(), lines.readline()
            rows = list(csv.DictReader([names, *lines], delimiter=max(",;\t", key=names.count)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: can't be read as CSV: {error}") from error
    made = re.search(_HEAD.format(r"(\d{1,999})", r"(-?\d{1,999})", "([0-9a-f]{16})"), first)
    if made is None or not all(name in names for name in _NEEDED):
        expected = f"{_HEAD.format('…', '…', '…')} and the columns {', '.join(_NEEDED)}, as --sample writes them"
        raise InputError(f"{path}: lines 1 and 2", None, repr(f"{first}{names}"[:200]), expected)
    n, seed = int(made[1]), int(made[2])
    hashes = {_hash_of(items): items for items in judged}
    if made[3] not in hashes:
        raise InputError(f"{path}: line 1", None, f"items={made[3]}", f"{' or '.join(hashes)}, the items of the judge")
    drawn = draw(hashes[made[3]], n, seed)
    labels: dict[Key, bool | None] = {}
    for row in filter(lambda row: any(row.values()), rows):  # spreadsheets end in empty rows
        # A spreadsheet would take an id that begins with = for a formula: it stands behind an apostrophe.
        kind, request_id, item_id, label = (row[name] or "" for name in _NEEDED)
        ids = ((kind, name, item_id) for name in (request_id, request_id.removeprefix("'")))
        key = next((key for key in ids if key in drawn), None)
        about, said = f"{path}: {kind} {item_id!r} of request {request_id!r}", label.strip().upper()
        if key is None or key in labels or said not in _LABELS:
            got = "an item that was not drawn" if key is None else "the item twice" if key in labels else repr(label)
            raise InputError(about, None, got, f"each of the {len(drawn)} drawn items once, with YES, NO or no label")
        labels[key] = _LABELS[said]
    empty = Counter(item.kind for key, item in drawn.items() if labels.get(key) is None)
    return Labels({key: label for key, label in labels.items() if label is not None}, empty, seed, path)


def _hash_of(items: Items) -> str:
    return _digest(sorted([*item.key, item.text] for item in items.values()))[:16]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


# ---- corrections


def corrections(items: Items, labels: Labels) -> dict[str, dict[str, Any]]:
    """Micro values corrected by labels, of the kinds that have labels.

    Returns:
        Result (of :data:`KINDS`) -> ``micro``, the mean of the judge's verdicts; ``micro_corrected``, the estimate of
        people's mean; ``micro_corrected_ci`` and its ``width``; ``sensitivity`` and ``specificity``, the shares of
        right verdicts where people said YES and NO; how many ``labels``, ``empty`` ones, items ``unlabelled`` and
        ``unjudged`` (left out, with their labels), ``requests`` with labels; ``lambda``; ``signature``.

    Raises:
        InputError: No labels, or too few of a kind or a class.
    """
    found = {}
    for kind, key in KINDS.items():
        own = [item for item in items.values() if item.kind == kind]
        rows = [(item.request_id, item.verdict, labels.given.get(item.key)) for item in own if item.verdict is not None]
        cells = Counter((label, verdict) for _, verdict, label in rows)
        yes, no = (cells[label, True] + cells[label, False] for label in (True, False))
        if not any(labelled == kind for labelled, *_ in labels.given):
            continue
        if yes + no < LEAST_LABELS or min(yes, no) < LEAST_OF_CLASS:
            got = f"{yes} YES and {no} NO as labels of what the judge judged, kind {kind}"
            expected = f"at least {LEAST_LABELS}, {LEAST_OF_CLASS} of each class; or no label of this kind"
            raise InputError(str(labels.place), None, got, expected)
        corrected = correct(rows)
        low, high = corrected.interval or (math.nan, math.nan)
        found[key] = {
            "micro": sum(verdict for _, verdict, _ in rows) / len(rows),
            "micro_corrected": corrected.value, "micro_corrected_ci": corrected.interval, "width": high - low,
            "sensitivity": cells[True, True] / yes, "specificity": cells[False, False] / no,
            "labels": yes + no, "empty": labels.empty.get(kind, 0), "unlabelled": len(rows) - yes - no,
            "unjudged": len(own) - len(rows), "requests": corrected.requests, "lambda": corrected.tuning,
            "signature": f"corrected:ppi++,n:{yes + no},seed:{labels.seed}",
        }  # fmt: skip
    if not found:
        raise InputError(str(labels.place), None, "no label", f"YES or NO for {LEAST_LABELS} items of a kind at least")
    return found


def both_judged(a: Items, b: Items, *, common: bool) -> list[Items]:
    """The items on which both judges have a verdict.

    Raises:
        InputError: If one judge has items that the other lacks (without ``common``).
    """
    if (lacking := a.keys() ^ b.keys()) and not common:
        got = f"{len(lacking)} that only one judge has, such as {min(lacking)}"
        raise InputError("items", None, got, "the same; compare those in common with --common")
    keys = [key for key in a if key in b and None not in (a[key].verdict, b[key].verdict)]
    return [{key: items[key] for key in keys} for items in (a, b)]


def difference(a: Items, b: Items, result: str) -> tuple[float, Interval | None]:
    """What B's uncorrected mean has more than A's on the same items, and its interval over requests, paired."""
    keys = [key for key in a if KINDS[key[0]] == result]
    requests: dict[str, Any] = {request_id: np.zeros(2) for _, request_id, _ in keys}
    for key in keys:
        requests[key[1]] += float(b[key].verdict or 0) - float(a[key].verdict or 0), 1
    sums = np.array(list(requests.values()))
    pairs = Statistics(sums, {result: (0, 1)}, lambda row: {result: float(row[0] / row[1])}, {result: (-1.0, 1.0)})
    return pairs.of(sums.sum(axis=0))[result], pairs.intervals(0.95, 1000, 12345).get(result)
