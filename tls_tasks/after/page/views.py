"""What the page draws of one document: a function of (document, answer, explained score) for each family."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from tls_tasks.after.page.marks import mark_positions, mark_spans, mark_words, rouge_words
from tls_tasks.core.answers import answer_text
from tls_tasks.core.json_text import strip_thinking
from tls_tasks.core.score import without_nan
from tls_tasks.text.lcs import union_lcs
from tls_tasks.text.tokenizers import whitespace_words
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline
from tls_tasks.trees.read import parse_tree
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.view import compare

View = dict[str, Any]
"""Plain data; ``kind`` says which function of the page's script draws it."""

_LONGEST_LCS = 5_000  # words; unlike counting a common subsequence, finding it takes memory for each pair of words
_LONGEST_SOURCE = 20_000  # characters


def timeline_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """Both timelines, which dates are aligned, and the words that aligned dates share."""
    predicted = parse_timeline(answer_text(answer)).value or Timeline()
    reference = parse_timeline(doc["reference"]).value or Timeline()
    alignment = explained["alignment_rouge"]["items"][0]["alignment"]
    matches = explained["date_f1"]["items"][0]["matches"]
    pairs = [(pair["predicted"], pair["reference"]) for side in alignment.values() for pair in side]
    words = {
        side: {entry.date.isoformat(): rouge_words("\n".join(entry.sentences)) for entry in timeline}
        for side, timeline in (("predicted", predicted), ("reference", reference))
    }
    shared: dict[tuple[str, str], set[str]] = defaultdict(set)
    for left, right in pairs:
        shared["predicted", left] |= words["reference"][right]
        shared["reference", right] |= words["predicted"][left]
    return {
        "kind": "timeline",
        "predicted": _days("predicted", predicted, shared),
        "reference": _days("reference", reference, shared),
        "precision": _pairs(alignment["precision"]),
        "recall": _pairs(alignment["recall"]),
        "same": [pair["predicted"] for pair in matches if pair["predicted"] == pair["reference"]],
    }


def _days(side: str, timeline: Timeline, shared: Mapping[tuple[str, str], set[str]]) -> list[list[Any]]:
    days = []
    for entry in timeline:
        day = entry.date.isoformat()
        days.append([day, [mark_words(sentence, shared.get((side, day), ())) for sentence in entry.sentences]])
    return days


def _pairs(rows: list[Mapping[str, Any]]) -> list[list[Any]]:
    return [[row["predicted"], row["reference"], row["weight"], row["hits"]] for row in rows]


def summary_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """The summary and its best reference, with the words of their longest common subsequence."""
    summary = strip_thinking(answer_text(answer)).text.strip()
    references = json.loads(doc["references"])
    best = explained["rouge_l"]["items"][0]["best_reference"]["rouge_l"]
    reference = references[best]
    left, right = whitespace_words(summary), whitespace_words(reference)
    fits = max(len(left), len(right)) <= _LONGEST_LCS
    return {
        "kind": "summary",
        "predicted": mark_positions(summary, union_lcs(left, [right]) if fits else ()),
        "reference": mark_positions(reference, union_lcs(right, [left]) if fits else ()),
        "others": [text for place, text in enumerate(references) if place != best],
        "query": doc.get("query", ""),
        "source": doc.get("text", "")[:_LONGEST_SOURCE],
    }


def evidence_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """The source with hits, misses and spurious spans marked, and the objects with what is wrong with them."""
    item = explained["evidence_extraction"]["items"][0]
    spans = []
    for mark, objects in (
        ("miss", item["misses"]),
        ("spurious", item["spurious"]),
        ("hit", [match[side] for match in item["matches"] for side in ("reference", "prediction")]),
    ):
        spans += [(start, end, mark) for found in objects for start, end in found["places"] or ()]
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
        "misses": [[missed["domain"], missed["span"]] for missed in item["misses"]],
        "spurious": [
            [extra["domain"], extra["span"], [*extra["issues"], *([] if extra["grounded"] else ["not in the text"])]]
            for extra in item["spurious"]
        ],
    }


def report_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """Each sentence with its path through the decision tree, its citations and the nuggets that it answers."""
    return {
        "kind": "report",
        "request": str(doc.get("problem_statement") or doc.get("title") or ""),
        "sentences": [
            {
                "text": sentence["text"],
                "score": sentence["score"],
                "path": list(sentence["path"]),
                "citations": [[cited["doc_id"], cited["supports"], cited["known"]] for cited in sentence["citations"]],
                "matched": [[nugget["question"], nugget["answer"]] for nugget in sentence["matched"]],
                "unread": [[v["kind"], v["reason"]] for v in sentence["verdicts"] if v["value"] is None],
            }
            for sentence in explained["report_eval"]["items"][0]["sentences"]
        ],
    }


def tree_view(doc: Mapping[str, Any], answer: list[Any], explained: Mapping[str, Any]) -> View:
    """Both trees side by side, each leaf with its scores, and list items as they were aligned for the score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an answer that can't be read is what the page shows
        score = tree_eval([answer_text(answer)], [doc["reference"]], doc["schema"])
    parsed = parse_tree(answer_text(answer), score.plan.schema)
    metrics = {leaf.path: leaf.metrics for leaf in score.plan.leaves}
    reference = json.loads(doc["reference"])
    prediction = {} if parsed.failed and isinstance(reference, dict) else parsed.value
    alignments, types = score.samples()[0]["alignments"], score.plan.options.types
    rows = compare(reference, prediction, score.plan.schema, metrics.__getitem__, alignments, types)
    return {
        "kind": "tree",
        "rows": [
            [row.state, row.depth, row.label, row.reference, row.prediction, without_nan(row.scores)] for row in rows
        ],
        "source": doc.get("text", "")[:_LONGEST_SOURCE],
    }


VIEWS: Mapping[str, Callable[[Mapping[str, Any], list[Any], Mapping[str, Any]], View]] = {
    "timelines": timeline_view,
    "summaries": summary_view,
    "evidence": evidence_view,
    "reports": report_view,
    "trees": tree_view,
}
"""Family -> its view."""
