"""What the page draws of a report."""

import json
from collections.abc import Mapping
from typing import Any


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Each sentence with its path through the decision tree, its citations, its nuggets and its missing verdicts."""
    item = explained["report_eval"]["items"][0]  # without sentences and nuggets where no report was read
    told = item.get("sentences", ())
    lacking = ([verdict for verdict in sentence["verdicts"] if verdict["value"] is None] for sentence in told)
    sentences = [{**sentence, "verdicts": verdicts} for sentence, verdicts in zip(told, lacking, strict=True)]
    missed = [nugget for nugget in item.get("nuggets", ()) if not nugget["covered"]]
    nuggets = [f"{nugget['question']} {'; '.join(nugget['answers'])}" for nugget in missed]
    request = str(doc.get("problem_statement") or doc.get("title") or "")
    judged = json.loads(answer) if answer.startswith("{") else {}
    told = {
        "kind": "report",
        "lost": judged.get("lost", []),
        "request": request,
        "sentences": sentences,
        "nuggets": nuggets,
    }
    return {**told, "criteria": item["criteria"], "report": item["report"]} if "criteria" in item else told
