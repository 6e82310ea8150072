"""One report judged and scored in one call, with the names of report_gen_eval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tls_tasks.data.files import text_lines
from tls_tasks.reports.judges.providers import ModelProvider, from_provider
from tls_tasks.reports.nuggets import read_requests


def evaluate_report(
    report: Any,
    nuggets_file: str | Path,
    provider: str | ModelProvider = ModelProvider.TOGETHER,
    model_name: str | None = None,
    *,
    documents: Any = None,
    judge: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """Judge and score one report.

    Args:
        report: A report in any form that :func:`~tls_tasks.reports.report_eval.report_eval` takes, with ``request_id``.
        nuggets_file: JSON Lines of requests with nuggets; the first line with the report's ``request_id`` counts.
        provider: Whose model judges: ``together``, ``openai`` or ``anthropic``.
        model_name: The model, as the provider calls it.
        documents: Where the cited documents are, as in ``report_eval``.
        judge: Another judge instead of provider and model.
        **options: Those of ``report_eval``, such as ``compat="report_gen_eval"``.

    Returns:
        ``request_id``, ``run_id``, ``metrics`` (the results and counts of ``report_eval``), ``sentence_results`` (for
        each sentence ``index``, ``text``, ``score``, ``matched`` …), ``signature``.

    Raises:
        DataError: The file of nuggets can't be read.
        InputError: A report that can't be read, or no key for the provider.
        JudgeError: A judge that can't be used.

    Example:
        >>> import json, tempfile
        >>> row = {"query_id": "7", "items": [{"question_text": "When did it rain?", "gold_answers": ["on Monday"]}]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "nuggets.jsonl")
        ...     _ = file.write_text(json.dumps(row))
        ...     results = evaluate_report(
        ...         {"request_id": "7", "sentences": [{"text": "It rained on Monday.", "citations": ["d1"]}]},
        ...         nuggets_file=file,
        ...         documents={"d1": "Heavy rain fell on Monday."},
        ...         judge=lambda query: True,
        ...     )
        >>> results["metrics"]["recall"], results["sentence_results"][0]["score"]
        (1.0, 1)
    """
    from tls_tasks.reports.report_eval import report_eval  # which imports this package

    asked = from_provider(provider, model_name or "") if judge is None else judge
    requests, _ = read_requests(text_lines(Path(nuggets_file)), str(nuggets_file))
    score = report_eval([report], [list(requests)], documents, asked, **options)
    item = score.as_dict(detailed=True)["items"][0]
    metrics = {key: value for key, value in score.as_dict().items() if key not in ("signature", "counts")}
    return {
        "request_id": item["request_id"],
        "run_id": item["run_id"],
        "metrics": {**metrics, **item["counts"]},
        "sentence_results": item.get("sentences", []),
        "signature": score.signature,
    }
