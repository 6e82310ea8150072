"""One document's explained score -> what the page draws of it. One function a family; pure."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from tls_tasks.after.page.marks import mark_positions, mark_spans, mark_words, rouge_words
from tls_tasks.core.answers import answer_text
from tls_tasks.core.json_text import strip_thinking
from tls_tasks.core.scores import without_nan
from tls_tasks.text.lcs import union_lcs
from tls_tasks.text.tokenizers import whitespace_words
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline
from tls_tasks.trees.read import parse_tree
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.view import compare

View = Mapping[str, Any]
"""Plain data; ``kind`` says which drawing it is for."""

LONGEST_LCS = 5_000
"""Words of a text up to which the words in common order are shown: finding them takes memory, unlike counting them."""


def view_of(family: str, doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """What the page draws of one document.

    Args:
        family: The task's family.
        doc: The document.
        answer: What the model answered, as logged.
        explained: Metric -> its detailed result over this document.
    """
    view = VIEWS.get(family)
    return view(doc, answer, explained) if view else {"kind": "text", "answer": answer_text(answer)}


def timeline_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """Both timelines, the dates that are aligned, and the words in common of aligned dates."""
    predicted = parse_timeline(answer_text(answer)).value or Timeline()
    reference = parse_timeline(doc["reference"]).value or Timeline()
    alignment = explained["alignment_rouge"]["items"][0]["alignment"]
    matches = explained["date_f1"]["items"][0]["matches"]
    pairs = [(pair["predicted"], pair["reference"]) for side in alignment.values() for pair in side]
    words = {
        side: {entry.date.isoformat(): rouge_words("\n".join(entry.sentences)) for entry in timeline}
        for side, timeline in (("predicted", predicted), ("reference", reference))
    }
    met: dict[tuple[str, str], set[str]] = {}
    for left, right in pairs:
        met.setdefault(("predicted", left), set()).update(words["reference"].get(right, ()))
        met.setdefault(("reference", right), set()).update(words["predicted"].get(left, ()))
    return {
        "kind": "timeline",
        "predicted": _days("predicted", predicted, met),
        "reference": _days("reference", reference, met),
        "precision": _pairs(alignment["precision"]),
        "recall": _pairs(alignment["recall"]),
        "same": [pair["predicted"] for pair in matches if pair["predicted"] == pair["reference"]],
    }


def _days(side: str, timeline: Timeline, met: Mapping[tuple[str, str], set[str]]) -> list[list[Any]]:
    days = ((entry.date.isoformat(), entry.sentences) for entry in timeline)
    return [[day, [mark_words(sentence, met.get((side, day), ())) for sentence in texts]] for day, texts in days]


def _pairs(rows: list[Mapping[str, Any]]) -> list[list[Any]]:
    return [[row["predicted"], row["reference"], row["weight"], row["hits"]] for row in rows]


def summary_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """The summary and the reference that counted, with the words of their longest common subsequence."""
    summary = strip_thinking(answer_text(answer)).text.strip()
    references = json.loads(doc["references"])
    best = explained["rouge_l"]["items"][0]["best_reference"]["rouge_l"]
    reference = references[best]
    left, right = whitespace_words(summary), whitespace_words(reference)
    fits = max(len(left), len(right)) <= LONGEST_LCS
    return {
        "kind": "summary",
        "predicted": mark_positions(summary, union_lcs(left, [right]) if fits else ()),
        "reference": mark_positions(reference, union_lcs(right, [left]) if fits else ()),
        "others": [text for place, text in enumerate(references) if place != best],
        "query": doc.get("query", ""),
        "source": doc.get("text", "")[:20_000],
    }


def evidence_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """The source with its spans by hit, miss and spurious, and the objects with what is wrong with them."""
    item = explained["evidence_extraction"]["items"][0]
    spans = []
    for mark, objects in (
        ("miss", item["misses"]),
        ("spurious", item["spurious"]),
        ("hit", [one for match in item["matches"] for one in (match["reference"], match["prediction"])]),
    ):
        spans += [(start, end, mark) for one in objects for start, end in one["places"] or ()]
    return {
        "kind": "evidence",
        "source": mark_spans(doc["text"], spans),
        "matches": [
            {
                "domain": match["reference"]["domain"],
                "reference": match["reference"]["span"],
                "predicted": match["prediction"]["span"],
                "overlap": match["overlap"],
                "wrong": [
                    [name, str(pair["predicted"]), str(pair["reference"])]
                    for name, pair in match["attributes"].items()
                    if not pair["right"]
                ],
            }
            for match in item["matches"]
        ],
        "misses": [[one["domain"], one["span"]] for one in item["misses"]],
        "spurious": [
            [one["domain"], one["span"], [*one["issues"], *([] if one["grounded"] else ["not in the text"])]]
            for one in item["spurious"]
        ],
    }


def report_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """Each sentence with its way through the decision tree, its citations and the nuggets that it gives."""
    items = explained["report_eval"]["items"]
    if not items:
        return {"kind": "text"}
    return {
        "kind": "report",
        "request": str(doc.get("problem_statement") or doc.get("title") or ""),
        "sentences": [
            {
                "text": sentence["text"],
                "score": sentence["score"],
                "path": list(sentence["path"]),
                "citations": [[one["doc_id"], one["supports"], one["known"]] for one in sentence["citations"]],
                "matched": [[one["question"], one["answer"]] for one in sentence["matched"]],
                "unread": [[one["kind"], one["reason"]] for one in sentence["verdicts"] if one["value"] is None],
            }
            for sentence in items[0]["sentences"]
        ],
    }


def tree_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """Both trees side by side, each leaf with its scores, list items as the score aligned them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an answer that can't be read is what the page shows
        score = tree_eval([answer_text(answer)], [doc["reference"]], doc["schema"])
    (sample,) = score.items
    parsed = parse_tree(answer_text(answer), sample.plan.root)
    reference = json.loads(doc["reference"])
    prediction = {} if parsed.failed and isinstance(reference, dict) else parsed.value
    rows = compare(reference, prediction, sample.plan, sample.alignments)
    return {
        "kind": "tree",
        "rows": [
            [row.state, row.depth, row.label, row.reference, row.prediction, without_nan(row.scores)] for row in rows
        ],
        "source": str(doc.get("text", ""))[:20_000],
    }


VIEWS: Mapping[str, Callable[[Mapping[str, Any], list[Any], Mapping[str, Any]], View]] = {
    "timelines": timeline_view,
    "summaries": summary_view,
    "evidence": evidence_view,
    "reports": report_view,
    "trees": tree_view,
}
"""Family -> its view."""
