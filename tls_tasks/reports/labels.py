"""Correct a judge's mean by people's labels: draw items, write them to a file for people to label, read the labels.

An *item* is a part of a report that counts whatever a judge decides: a citation (``citation_support``), a nugget of the
request (``nugget_coverage``) or a criterion of its rubric (``criteria_met``). Precision, recall, sentence_support and
f1 have no such items, since the judge also decides which sentences count in them, and are not corrected; nor is
rubric_score, since it weighs verdicts by points and so is no mean of them.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.correction import correct
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.intervals import caution
from tls_tasks.data.files import file_rows, first_value, read_objects
from tls_tasks.reports.documents import make_lookup, open_documents
from tls_tasks.reports.judges.recordings import digest

KINDS = {"citation": "citation_support", "nugget": "nugget_coverage", "criterion": "criteria_met"}
"""Kind of an item -> the result whose micro value is the mean of the judge's verdicts on these items."""

_VALUE = {kind: key if kind == "criterion" else f"{key}_micro" for kind, key in KINDS.items()}
"""Kind -> the result key of that micro value."""

COLUMNS = ("kind", "request_id", "item_id", "text", "source", "label")
"""The columns of a file of labels."""

_NEEDED = ("kind", "request_id", "item_id", "label", "text")

LEAST_LABELS, LEAST_OF_CLASS = 30, 5
"""The fewest labels of a kind, and the fewest YES and the fewest NO among them, that correct a result."""

_LABELS = {"YES": True, "NO": False, "": None}
_MOST_SHOWN = 32_000  # characters of a cell; spreadsheets hold few more

Key = tuple[str, str, str]
"""An item's kind (of :data:`KINDS`), its request, and an id within the request that is the same for all judges."""

_Find = Callable[[Sequence[str], str], str | None]


class Item(NamedTuple):
    """A citation, nugget or criterion, with a judge's verdict.

    Attributes:
        text: The sentence that cites, the question with its answers, or the criterion.
        source: The text that people read to decide: the cited document (its id, if it is not available), or the report.
        verdict: Whether it is supported, given or met; None if the judge gave no verdict.
    """

    text: str
    source: str
    verdict: bool | None


Items = Mapping[Key, Item]

Labels = Mapping[Key, bool | None]
"""The label that people gave each drawn item, None where they gave none."""


# ---- Items are read from judged reports.


def judged_items(report: Mapping[str, Any]) -> Iterator[tuple[Key, Item]]:
    """Yield the items of a judged report with their keys; the means of their verdicts are the micro values.

    Args:
        report: A line of ``results.jsonl``, or :meth:`~tls_tasks.reports.score.ReportItem.as_dict`.
    """
    sentences, suffix = report.get("sentences", ()), f" of {report['run_id']}" if report["run_id"] else ""
    rows: dict[str, list[tuple[str, Item]]] = {kind: [] for kind in KINDS}
    for number, sentence in enumerate(sentences, start=1):
        for cited in sentence["citations"]:
            doc_id, name = cited["doc_id"], f"sentence {number}{suffix} cites {cited['doc_id']}"
            rows["citation"].append((name, Item(sentence["text"], doc_id, cited["supports"])))
    report_text = " ".join(sentence["text"] for sentence in sentences)
    for number, nugget in enumerate(report.get("nuggets", ()), start=1):
        question = f"{nugget['question']} {(' AND ' if nugget['needs_all'] else ' OR ').join(nugget['answers'])}"
        rows["nugget"].append((f"nugget {number}{suffix}", Item(question, report_text, nugget["covered"])))
    for number, criterion in enumerate(report.get("criteria", ()), start=1):
        verdict = None if criterion["value"] is None else criterion["value"] == 1
        rows["criterion"].append((f"criterion {number}{suffix}", Item(criterion["text"], report["report"], verdict)))
    for kind, key in list(KINDS.items())[: 3 if "criteria" in report else 2]:
        n = report["ratios"][key][1]  # it is 0 if nothing was judged
        # An answer without a report has no rows, and counts as one NO for each of the n.
        n_missing = n - sum(item.verdict is not None for _, item in rows[kind])
        unread = Item("(no report could be read)", "", False)
        rows[kind] += [(f"{kind} {number}{suffix}", unread) for number in range(1, n_missing + 1)]
        for name, item in rows[kind]:
            yield (kind, str(report["request_id"]), name), item if n else item._replace(verdict=None)


def with_sources(items: Items, find: _Find) -> Items:
    """Return the items with the texts of the cited documents in place of their ids."""
    cited = {key: item.source for key, item in items.items() if key[0] == "citation"}
    texts = {key: find((), doc_id) or f"{doc_id}: no such document" for key, doc_id in cited.items()}
    return {**items, **{key: items[key]._replace(source=text) for key, text in texts.items()}}


def read_items(path: Path, document_paths: Sequence[str] = ()) -> Items:
    """Read the items that a judge was asked about.

    Args:
        path: ``results.jsonl`` of ``tls-tasks reports``, or ``verdicts.jsonl`` beside it.
        document_paths: Files of the cited documents, see :func:`~tls_tasks.reports.documents.open_documents`.

    Raises:
        DataError: A file that can't be read, that has no item, or that has two reports of a run to a request.
    """
    results_path = path.with_name("results.jsonl") if path.name == "verdicts.jsonl" else path
    items: dict[Key, Item] = {}
    for source, row in read_objects(results_path):
        try:
            report_items = dict(judged_items(row))
        except (LookupError, TypeError, AttributeError) as error:  # the row is of another kind, or was changed
            raise DataError(f"{source}: no judged report ({type(error).__name__}: {error})") from error
        if repeated := report_items.keys() & items:
            raise DataError(f"{source}: got {min(repeated)} twice, expected each report once")
        items |= report_items
    if not items:
        raise DataError(f"{results_path}: got none, expected citations, nuggets or criteria")
    cited = {item.source for (kind, *_), item in items.items() if kind == "citation"}
    return with_sources(items, make_lookup(open_documents(document_paths, cited))) if document_paths else items


# ---- Items are drawn, and people's labels of them are read.


def draw_items(items: Items, n: int, seed: int) -> dict[Key, Item]:
    """Draw ``n`` items of each kind without replacement, all if there are fewer, in the order of drawing.

    The first of them are a draw, too, if people label no more. Items are ordered by a hash of seed and item, so that
    the draw can be repeated, in any language, whatever the order of the reports.
    """
    order = sorted(items, key=lambda key: digest([seed, *key]))
    return {key: items[key] for kind in KINDS for key in [key for key in order if key[0] == kind][:n]}


def label_sheet(items: Items, n: int, seed: int) -> list[tuple[str, ...]]:
    """Return the rows of a file in which people label a draw: :data:`COLUMNS`, and a row an item."""
    drawn = draw_items(items, n, seed).items()
    return [COLUMNS, *((*key, item.text[:_MOST_SHOWN], item.source[:_MOST_SHOWN], "") for key, item in drawn)]


def read_labels(path: Path, *judged: Items) -> Labels:
    """Read the labels that people wrote into a draw.

    Args:
        path: The file of :func:`label_sheet`, which a spreadsheet may have saved.
        judged: The items of one or more judges; each label must be about an item of one of them.

    Raises:
        DataError: A file that can't be read.
        InputError: An item that no judge has or that comes twice, or a label other than YES, NO or nothing.
    """
    # The sheet puts an apostrophe before a text that a spreadsheet would take for a formula.
    keys = {(kind, request_id.lstrip("'"), name): (kind, request_id, name) for kind, request_id, name in chain(*judged)}
    labels: dict[Key, bool | None] = {}
    for source, row in file_rows(path):
        if not any(row.values()):  # spreadsheets end in empty rows
            continue
        kind, request_id, item_id, label, text = (first_value({name: "", **row}, [name], source) for name in _NEEDED)
        key, answer = keys.get((kind, request_id.lstrip("'"), item_id)), label.strip().upper()
        texts = {" ".join(items[key].text[:_MOST_SHOWN].split()) for items in judged if key and key in items}
        if key is None or key in labels or (text and " ".join(text.lstrip("'").split()) not in texts):
            got = f"{kind} {item_id!r} of request {request_id!r}, which is another judge's or report's, or comes twice"
            raise InputError(source, None, got, "each drawn item once")
        if answer not in _LABELS:
            raise InputError(f"{source}: label", None, repr(label), "YES, NO or no label")
        labels[key] = _LABELS[answer]
    return labels


# ---- Labels correct the judge's means.


def corrections(items: Items, labels: Labels) -> dict[str, Any]:
    """Return micro values corrected by labels, of the kinds that have labels.

    Returns:
        Of each result of :data:`KINDS`: ``KEY_micro`` (``criteria_met`` by itself is micro), the mean of the judge's
        verdicts; the same with ``_corrected``, the estimate of people's mean, and ``_corrected_ci``, and with
        ``_labels_only`` and ``_labels_only_ci``, that of the labels without the judge; ``KEY_width``,
        ``_sensitivity`` and ``_specificity``, the shares of right verdicts where people said YES and NO; how many
        ``_labels``, ``_empty`` ones, items ``_unlabelled`` and ``_unjudged`` (left out, with their labels);
        ``_lambda``; ``_signature``. And ``ci_caution``, why the intervals can't be trusted, if so.

    Raises:
        InputError: No labels, or too few of a kind or a class.
    """
    results: dict[str, Any] = {}
    intervals = {}
    for kind, key in KINDS.items():
        judgments = [(name[1], item.verdict, labels.get(name)) for name, item in items.items() if name[0] == kind]
        rows = [(request_id, verdict, label) for request_id, verdict, label in judgments if verdict is not None]
        cells = Counter((label, verdict) for _, verdict, label in rows)
        yes, no = (cells[label, True] + cells[label, False] for label in (True, False))
        if not yes + no:
            continue
        if yes + no < LEAST_LABELS or min(yes, no) < LEAST_OF_CLASS:
            got = f"{yes} YES and {no} NO as labels of what the judge judged, kind {kind}"
            expected = f"at least {LEAST_LABELS}, {LEAST_OF_CLASS} of each class; or no label of this kind"
            raise InputError("labels", None, got, expected)
        corrected, alone = correct(rows), correct([row for row in rows if row[2] is not None])
        intervals[key] = corrected.interval
        low, high = corrected.interval or (math.nan, math.nan)
        details = {
            "width": high - low, "labels": yes + no,
            "sensitivity": cells[True, True] / yes, "specificity": cells[False, False] / no,
            "empty": sum(label is None for name, label in labels.items() if name[0] == kind),
            "unlabelled": len(rows) - yes - no, "unjudged": len(judgments) - len(rows), "lambda": corrected.tuning,
            "signature": f"corrected:ppi++,n:{yes + no}",
        }  # fmt: skip
        mean = sum(verdict for _, verdict, _ in rows) / len(rows)
        names = ("", "_corrected", "_corrected_ci", "_labels_only", "_labels_only_ci")
        for name, value in zip(names, (mean, *corrected[:2], *alone[:2]), strict=True):
            results[_VALUE[kind] + name] = value
        results |= {f"{key}_{name}": value for name, value in details.items()}
    if not results:
        raise InputError("labels", None, "no label", f"YES or NO for {LEAST_LABELS} items of a kind at least")
    return {**results, "ci_caution": caution(intervals)}
