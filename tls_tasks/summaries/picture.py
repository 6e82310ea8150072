"""What the page draws of a summary."""

import json
from collections.abc import Mapping
from typing import Any

from tls_tasks.summaries.read import parse_summary
from tls_tasks.text.lcs import union_lcs
from tls_tasks.text.quotes import mark_positions
from tls_tasks.text.tokenizers import whitespace_words

_LONGEST_LCS = 5_000  # words; unlike counting a common subsequence, finding it takes memory for each pair of words
_LONGEST_SOURCE = 20_000  # characters


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """The summary and its best reference, with the words of their longest common subsequence."""
    parsed = parse_summary(answer)
    summary = parsed.value or ""
    references = json.loads(doc["references"])
    best = next(iter(explained["rouge_l"]["items"][0]["best_reference"].values()))
    reference = references[best]
    left, right = whitespace_words(summary), whitespace_words(reference)
    fits = max(len(left), len(right)) <= _LONGEST_LCS
    return {
        "kind": "summary",
        "lost": parsed.lost(),
        "predicted": mark_positions(summary, union_lcs(left, [right]) if fits else ()),
        "reference": mark_positions(reference, union_lcs(right, [left]) if fits else ()),
        "others": [text for place, text in enumerate(references) if place != best],
        "query": doc.get("query", ""),
        "source": doc.get("text", "")[:_LONGEST_SOURCE],
    }
