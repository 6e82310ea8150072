"""Results that report_gen_eval wrote -> lines of a recording.

They say of each sentence what the judge answered, but not of which document, since only the conjunction of all is
written, and of the nuggets only those that the sentence gives. So a line may stand for every document or every nugget
of a sentence that has no line of its own (:data:`ANY`), and all lines are restricted to the program's own arithmetic
(``compat="report_gen_eval"``): under other rules a sentence with several citations would need the verdict on each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ANY = "*"
"""In place of a document's id, or of a question and its answer: all that have no line of their own."""

PROGRAM = "report_gen_eval"
"""The ``scope`` of verdicts that count in its arithmetic only."""

_SENTENCES = "sentence_results"


def recorded_rows(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The lines of a recording in a line of a file: itself, or those that a result of report_gen_eval holds.

    A sentence with an ``error`` has no verdict; scored again, it fails again.

    Example:
        >>> said = {"model_responses": [{"type": "citation_relevance", "response": "YES"}]}
        >>> matched = [{"question_text": "q", "matched_answer": "a", "importance": "vital"}]
        >>> sentence = {"sentence": "s", "evaluation_details": said, "matched_nuggets": matched}
        >>> lines = recorded_rows({"request_id": "7", "run_id": "r", "sentence_results": [sentence]})
        >>> [(line["kind"], line.get("doc_id") or line["answer"], line["verdict"]) for line in lines]
        [('citation_relevance', '*', 'YES'), ('nugget_agreement', 'a', 'YES'), ('nugget_agreement', '*', 'NO')]
    """
    if _SENTENCES not in row:
        return [row]
    return [
        {**line, "request_id": row.get("request_id"), "run_id": row.get("run_id"), "place": index, "scope": PROGRAM}
        for index, sentence in enumerate(_objects(row[_SENTENCES]))
        if not sentence.get("error")
        for line in _lines(sentence)
    ]


def _lines(sentence: Mapping[str, Any]) -> list[dict[str, Any]]:
    details = sentence.get("evaluation_details")
    said = _objects(details.get("model_responses")) if isinstance(details, Mapping) else []
    given = [
        (own.get("question_text"), own.get("matched_answer"), "YES")
        for own in _objects(sentence.get("matched_nuggets"))
    ]
    text = {"sentence": sentence.get("sentence")}
    return [
        *({**text, "kind": own.get("type"), "doc_id": ANY, "verdict": own.get("response")} for own in said),
        *({**text, "kind": "nugget_agreement", "question": question, "answer": answer, "verdict": verdict}
          for question, answer, verdict in (*given, (ANY, ANY, "NO"))),
    ]  # fmt: skip


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [own if isinstance(own, Mapping) else {} for own in value] if isinstance(value, list) else []
