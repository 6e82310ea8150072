"""Data for the picture of a summary on the HTML page."""

import json
from collections.abc import Mapping
from typing import Any

from tls_tasks.summaries.read import parse_summary
from tls_tasks.text.lcs import union_lcs
from tls_tasks.text.quotes import mark_positions
from tls_tasks.text.tokenizers import whitespace_words

_LONGEST_LCS = 5_000  # words: finding a common subsequence, unlike counting it, takes memory for each pair of words
_LONGEST_SOURCE = 20_000  # the number of characters that the page shows


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary and its best reference, with the words of their longest common subsequence marked."""
    parsed = parse_summary(answer)
    summary = parsed.value or ""
    references = json.loads(doc["references"])
    best = next(iter(explained["rouge_l"]["items"][0]["best_reference"].values()))
    reference = references[best]
    predicted, gold = whitespace_words(summary), whitespace_words(reference)
    fits = max(len(predicted), len(gold)) <= _LONGEST_LCS
    return {
        "kind": "summary",
        "lost": parsed.lost(),
        "predicted": mark_positions(summary, union_lcs(predicted, [gold]) if fits else ()),
        "reference": mark_positions(reference, union_lcs(gold, [predicted]) if fits else ()),
        "others": [text for index, text in enumerate(references) if index != best],
        "query": doc.get("query", ""),
        "source": doc.get("text", "")[:_LONGEST_SOURCE],
    }
