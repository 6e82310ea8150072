"""What the page draws of one tree."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.score import without_nan
from tls_tasks.trees.read import parse_tree
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.view import compare

_LONGEST_SOURCE = 20_000  # characters


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Both trees side by side, each leaf with its scores, and list items as they were aligned for the score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an answer that can't be read is what the page shows
        score = tree_eval([answer], [doc["reference"]], doc["schema"])
    (sample,) = score.items
    parsed = parse_tree(answer, sample.plan.root)
    reference = json.loads(doc["reference"])
    prediction = {} if parsed.failed and isinstance(reference, dict) else parsed.value
    rows = compare(reference, prediction, sample.plan, sample.alignments)
    return {
        "kind": "tree",
        "rows": [
            [row.state, row.depth, row.label, row.reference, row.prediction, without_nan(row.scores)] for row in rows
        ],
        "source": doc.get("text", "")[:_LONGEST_SOURCE],
    }
