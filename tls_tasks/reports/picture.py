"""What the page draws of one cited report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
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
