"""What the page draws of one cited report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Each sentence with its path through the decision tree, its citations and the nuggets that it answers."""
    sentences = explained["report_eval"]["items"][0]["sentences"]
    return {
        "kind": "report",
        "request": str(doc.get("problem_statement") or doc.get("title") or ""),
        # Of the verdicts, only the missing ones are shown.
        "sentences": [
            {**sentence, "verdicts": [verdict for verdict in sentence["verdicts"] if verdict["value"] is None]}
            for sentence in sentences
        ],
    }
