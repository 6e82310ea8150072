"""Judges by the name of their provider, all of which speak OpenAI's protocol; one report judged in one call."""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.data.files import text_lines
from tls_tasks.reports.documents import find_lookup
from tls_tasks.reports.judges.endpoint import ChatJudge, from_endpoint
from tls_tasks.reports.nuggets import read_requests
from tls_tasks.reports.read import parse_report_row
from tls_tasks.reports.types import Report

_ASSIGNMENT = re.compile(r"""\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\n]*))""")


class ModelProvider(str, Enum):
    """Whose models judge."""

    TOGETHER = "together"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


_URLS = {
    ModelProvider.TOGETHER: "https://api.together.xyz/v1",
    ModelProvider.OPENAI: "https://api.openai.com/v1",
    ModelProvider.ANTHROPIC: "https://api.anthropic.com/v1",
}


def from_provider(
    provider: str | ModelProvider,
    model_name: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    name: str | None = None,
    **options: Any,
) -> ChatJudge:
    """A judge by the name of its provider.

    Args:
        provider: ``together``, ``openai`` or ``anthropic``.
        model_name: The model, as the provider calls it.
        api_key: By default the value of ``TOGETHER_API_KEY``, ``OPENAI_API_KEY`` or ``ANTHROPIC_API_KEY``, in the
            environment or in the file ``.env``.
        base_url: Another URL at which the provider answers.
        name: For the signature; by default provider and model.
        **options: See :class:`~tls_tasks.reports.judges.model.Endpoint`.

    Raises:
        OptionError: A provider that doesn't exist.
        InputError: No key, or an argument that can't be used.

    Example:
        >>> judge = from_provider("openai", "gpt-4o", api_key="sk-123")
        >>> judge.name.partition(",")[0]
        'openai/gpt-4o'
    """
    if provider not in _URLS:
        raise OptionError.unknown("provider", provider, [known.value for known in ModelProvider])
    known = ModelProvider(provider)
    key = read_key(f"{known.value.upper()}_API_KEY") if api_key is None else api_key
    label = name or f"{known.value}/{model_name}"
    return from_endpoint(base_url or _URLS[known], model_name, api_key=key, name=label, **options)


def read_key(variable: str) -> str:
    """The key in an environment variable, or else in the file ``.env`` of the working directory.

    Raises:
        InputError: There is none, or it is empty.

    Example:
        >>> read_key("NO_SUCH_KEY")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: NO_SUCH_KEY: got nothing, expected a key in the environment or in .env
    """
    key = os.environ.get(variable, "").strip() or _assignments(Path(".env")).get(variable, "")
    if not key:
        raise InputError(variable, None, "nothing", "a key in the environment or in .env")
    return key


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
        documents: Where the cited documents are, as in ``report_eval``; by default, for a model, in the look-up files
            of report_gen_eval, ``./neuclir-docs-lookup/doc_mapping_COLLECTION.pkl``.
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
    found = report if isinstance(report, Report) else parse_report_row(report).value
    if documents is None and judge is None and found and any(own.citations for own in found.sentences):
        documents = find_lookup([found])
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


def _assignments(file: Path) -> dict[str, str]:
    """The assignments ``NAME=value`` in a file; nothing is substituted, and nothing is run."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found = [match for match in map(_ASSIGNMENT.match, lines) if match]
    return {match[1]: (match[2] or match[3] or match[4] or "").strip() for match in found}
