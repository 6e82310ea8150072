"""The picture of a judged report for the page."""

import json
from collections.abc import Mapping
from typing import Any


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Return each sentence with its path through the tree, citations, nuggets and missing verdicts, for the page."""
    item = explained["report_eval"]["items"][0]  # without sentences and nuggets where no report was read
    judged = item.get("sentences", ())
    missing = ([verdict for verdict in sentence["verdicts"] if verdict["value"] is None] for sentence in judged)
    sentences = [{**sentence, "verdicts": verdicts} for sentence, verdicts in zip(judged, missing, strict=True)]
    missed = [nugget for nugget in item.get("nuggets", ()) if not nugget["covered"]]
    nuggets = [f"{nugget['question']} {'; '.join(nugget['answers'])}" for nugget in missed]
    request = str(doc.get("problem_statement") or doc.get("title") or "")
    logged = json.loads(answer) if answer.startswith("{") else {}
    fields = {
        "kind": "report",
        "lost": logged.get("lost", []),
        "request": request,
        "sentences": sentences,
        "nuggets": nuggets,
    }
    return {**fields, "criteria": item["criteria"], "report": item["report"]} if "criteria" in item else fields
