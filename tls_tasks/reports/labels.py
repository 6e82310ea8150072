"""People's labels of a judge's verdicts: items are drawn, labelled by people, read back, and correct the judge's mean.

An *item* is a part of a report that counts whatever a judge says: a citation (``citation_support``), a nugget of the
request (``nugget_coverage``) or a criterion of its rubric (``criteria_met``). Precision, recall, sentence_support and
f1 have no such items, since the judge also decides which sentences count in them, and are not corrected; nor is
rubric_score, whose items have points of their own, so that it is no mean of verdicts.
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
from tls_tasks.reports.documents import look_up, open_documents
from tls_tasks.reports.judges.recordings import digest

KINDS = {"citation": "citation_support", "nugget": "nugget_coverage", "criterion": "criteria_met"}
"""Kind of an item -> the result whose micro value is the mean of the judge's verdicts on these items."""

_VALUE = {kind: key if kind == "criterion" else f"{key}_micro" for kind, key in KINDS.items()}
"""Kind -> how results call that micro value."""

COLUMNS = ("kind", "request_id", "item_id", "text", "source", "label")
"""Of a file of labels."""

_NEEDED = ("kind", "request_id", "item_id", "label", "text")

LEAST_LABELS, LEAST_OF_CLASS = 30, 5
"""With fewer labels of a kind, or fewer YES or NO among them, nothing is corrected."""

_LABELS = {"YES": True, "NO": False, "": None}
_MOST_SHOWN = 32_000  # characters: a cell of a spreadsheet holds few more

Key = tuple[str, str, str]
"""An item's kind (of :data:`KINDS`), its request, and what tells it from the request's other items, whoever judges."""

_Find = Callable[[Sequence[str], str], str | None]


class Item(NamedTuple):
    """A citation or a nugget, and what a judge says of it.

    Attributes:
        text: The sentence that cites, or the question with its answers.
        source: What people read to decide: the cited document (its id, if nobody has the documents), or the report.
        verdict: Whether it is supported, or given; None: the judge did not say.
    """

    text: str
    source: str
    verdict: bool | None


Items = Mapping[Key, Item]

Labels = Mapping[Key, bool | None]
"""People's label of each item that was drawn, None where it is empty."""


# ---- items


def items_of(report: Mapping[str, Any]) -> Iterator[tuple[Key, Item]]:
    """The items of a judged report: the means of their verdicts are the micro values.

    Args:
        report: A line of ``results.jsonl``, or :meth:`~tls_tasks.reports.score.ReportItem.as_dict`.
    """
    sentences, of = report.get("sentences", ()), f" of {report['run_id']}" if report["run_id"] else ""
    rows: dict[str, list[tuple[str, Item]]] = {kind: [] for kind in KINDS}
    for number, sentence in enumerate(sentences, start=1):
        for cited in sentence["citations"]:
            doc_id, name = cited["doc_id"], f"sentence {number}{of} cites {cited['doc_id']}"
            rows["citation"].append((name, Item(sentence["text"], doc_id, cited["supports"])))
    whole = " ".join(sentence["text"] for sentence in sentences)
    for number, nugget in enumerate(report.get("nuggets", ()), start=1):
        asked = f"{nugget['question']} {(' AND ' if nugget['needs_all'] else ' OR ').join(nugget['answers'])}"
        rows["nugget"].append((f"nugget {number}{of}", Item(asked, whole, nugget["covered"])))
    for number, one in enumerate(report.get("criteria", ()), start=1):
        verdict = None if one["value"] is None else one["value"] == 1
        rows["criterion"].append((f"criterion {number}{of}", Item(one["text"], report["report"], verdict)))
    for kind, key in list(KINDS.items())[: 3 if "criteria" in report else 2]:
        n = report["ratios"][key][1]  # 0: nothing was judged
        unread = range(n - sum(item.verdict is not None for _, item in rows[kind]))  # of an answer without a report
        rows[kind] += [(f"{kind} {number + 1}{of}", Item("(no report could be read)", "", False)) for number in unread]
        for name, item in rows[kind]:
            yield (kind, str(report["request_id"]), name), item if n else item._replace(verdict=None)


def with_sources(items: Items, find: _Find) -> Items:
    """The items with the texts of the cited documents in place of their ids."""
    cited = {key: item.source for key, item in items.items() if key[0] == "citation"}
    texts = {key: find((), doc_id) or f"{doc_id}: no such document" for key, doc_id in cited.items()}
    return {**items, **{key: items[key]._replace(source=text) for key, text in texts.items()}}


def read_items(path: Path, places: Sequence[str] = ()) -> Items:
    """The items that a judge was asked about.

    Args:
        path: ``results.jsonl`` of ``tls-tasks reports``, or ``verdicts.jsonl`` beside it.
        places: Files of the cited documents, see :func:`~tls_tasks.reports.documents.open_documents`.

    Raises:
        DataError: A file that can't be read, that has no item, or that has two reports of a run to a request.
    """
    place = path.with_name("results.jsonl") if path.name == "verdicts.jsonl" else path
    items: dict[Key, Item] = {}
    for where, row in read_objects(place):
        try:
            read = dict(items_of(row))
        except (LookupError, TypeError, AttributeError) as error:  # of another kind, or changed
            raise DataError(f"{where}: no judged report ({type(error).__name__}: {error})") from error
        if twice := read.keys() & items:
            raise DataError(f"{where}: got {min(twice)} twice, expected each report once")
        items |= read
    if not items:
        raise DataError(f"{place}: got none, expected citations, nuggets or criteria")
    cited = {item.source for (kind, *_), item in items.items() if kind == "citation"}
    return with_sources(items, look_up(open_documents(places, cited))) if places else items


# ---- labels


def draw(items: Items, n: int, seed: int) -> dict[Key, Item]:
    """``n`` items of each kind without replacement, all if there are fewer, in the order of drawing.

    Whoever labels only the first of them has labelled a draw, too. Items are ordered by a hash of seed and item, so
    that anybody can draw again, in any language, whatever the order of the reports.
    """
    order = sorted(items, key=lambda key: digest([seed, *key]))
    return {key: items[key] for kind in KINDS for key in [key for key in order if key[0] == kind][:n]}


def sheet(items: Items, n: int, seed: int) -> list[tuple[str, ...]]:
    """The rows of a file in which people label a draw: :data:`COLUMNS`, and a row an item."""
    drawn = draw(items, n, seed).items()
    return [COLUMNS, *((*key, item.text[:_MOST_SHOWN], item.source[:_MOST_SHOWN], "") for key, item in drawn)]


def read_labels(path: Path, *judged: Items) -> Labels:
    """Read the labels that people wrote into a draw.

    Args:
        path: The file, as :func:`sheet` made it and a spreadsheet may have saved it.
        judged: The items of judges; the labels must be of the items of one of them.

    Raises:
        DataError: A file that can't be read.
        InputError: An item that no judge has or that stands there twice, or a label that is none.
    """
    # A spreadsheet would take a text that begins with = for a formula: it stands behind an apostrophe.
    keys = {(kind, request_id.lstrip("'"), name): (kind, request_id, name) for kind, request_id, name in chain(*judged)}
    labels: dict[Key, bool | None] = {}
    for place, row in file_rows(path):
        if not any(row.values()):  # spreadsheets end in empty rows
            continue
        kind, request_id, item_id, label, text = (first_value({name: "", **row}, [name], place) for name in _NEEDED)
        key, said = keys.get((kind, request_id.lstrip("'"), item_id)), label.strip().upper()
        texts = {" ".join(items[key].text[:_MOST_SHOWN].split()) for items in judged if key and key in items}
        if key is None or key in labels or (text and " ".join(text.lstrip("'").split()) not in texts):
            got = f"{kind} {item_id!r} of request {request_id!r}, which is another judge's or report's, or comes twice"
            raise InputError(place, None, got, "each drawn item once")
        if said not in _LABELS:
            raise InputError(f"{place}: label", None, repr(label), "YES, NO or no label")
        labels[key] = _LABELS[said]
    return labels


# ---- corrections


def corrections(items: Items, labels: Labels) -> dict[str, Any]:
    """Micro values corrected by labels, of the kinds that have labels.

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
    found: dict[str, Any] = {}
    intervals = {}
    for kind, key in KINDS.items():
        own = [(name[1], item.verdict, labels.get(name)) for name, item in items.items() if name[0] == kind]
        rows = [(request_id, verdict, label) for request_id, verdict, label in own if verdict is not None]
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
        values = {
            "width": high - low, "labels": yes + no,
            "sensitivity": cells[True, True] / yes, "specificity": cells[False, False] / no,
            "empty": sum(label is None for name, label in labels.items() if name[0] == kind),
            "unlabelled": len(rows) - yes - no, "unjudged": len(own) - len(rows), "lambda": corrected.tuning,
            "signature": f"corrected:ppi++,n:{yes + no}",
        }  # fmt: skip
        mean = sum(verdict for _, verdict, _ in rows) / len(rows)
        names = ("", "_corrected", "_corrected_ci", "_labels_only", "_labels_only_ci")
        for name, value in zip(names, (mean, *corrected[:2], *alone[:2]), strict=True):
            found[_VALUE[kind] + name] = value
        found |= {f"{key}_{name}": value for name, value in values.items()}
    if not found:
        raise InputError("labels", None, "no label", f"YES or NO for {LEAST_LABELS} items of a kind at least")
    return {**found, "ci_caution": caution(intervals)}
