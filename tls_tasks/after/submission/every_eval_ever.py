"""A run in the schema of Every Eval Ever: a record of a task's results, and a row for each document beside it."""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Mapping
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.intervals import Interval, caution
from tls_tasks.core.options import LEAST_BOOTSTRAP
from tls_tasks.core.task import answer_text

_SCHEMA_VERSION = "0.3.0"
_COLLECTION = "tls-tasks"
_KINDS = ("precision", "recall", "f1", "accuracy", "coverage", "support")
_PLACES = ("provenance", "config_source", "data")  # what is said elsewhere, and paths of one machine
_JUDGED = "reports"  # the family whose numbers rest on a judge's verdicts


def files(scored: ScoredTask, model: str, *, organization: str, relationship: str) -> dict[str, str]:
    """The record of one task and its rows: path below the folder that holds ``data/`` -> text.

    The names are made from what was run, so that the same run gives the same files.

    Args:
        scored: The task, with at least one document.
        model: ``ORG/NAME``.
        organization: Who ran the evaluation.
        relationship: To the model's maker: ``first_party``, ``third_party``, ``collaborative`` or ``other``.
    """
    stamp = str(int(scored.results["date"]))
    evaluation = f"{scored.name}/{model}/{stamp}"
    name = uuid.UUID(bytes=hashlib.sha256(evaluation.encode()).digest()[:16], version=4)
    folder = f"data/{_COLLECTION}/{model}"
    rows = _rows(scored, evaluation, model)
    # Escaped, since the validator takes line separators in a text for ends of lines.
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    record = _record(scored, model, stamp, evaluation, organization, relationship)
    record["evaluation_results"] = _results(scored, n_rows=len(rows))
    found = {}
    if rows:
        path = f"{folder}/{name}_samples.jsonl"
        checksum = hashlib.sha256(text.encode()).hexdigest()
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": path,
            "hash_algorithm": "sha256",
            "checksum": checksum,
            "total_rows": len(rows),
        }
        found[path] = text
    return {f"{folder}/{name}.json": json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n", **found}


def _record(
    scored: ScoredTask, model: str, stamp: str, evaluation: str, organization: str, relationship: str
) -> dict[str, Any]:
    return {
        "schema_version": _SCHEMA_VERSION,
        "evaluation_id": evaluation,
        "evaluation_timestamp": stamp,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "tls-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": {
            "name": "lm_eval",
            "version": str(scored.results.get("lm_eval_version", "unknown")),
            "additional_details": {"tls_tasks_version": __version__},
        },
        "model_info": _model_info(model, _deployment(scored)),
    }


def _model_info(model: str, deployment: str) -> dict[str, Any]:
    developer, _, name = model.rpartition("/")
    return {
        "name": name,
        "id": model,
        **({"developer": developer} if developer else {}),
        "additional_details": {"deployment_type": deployment, "model_availability": "unknown"},
    }


def _results(scored: ScoredTask, n_rows: int) -> list[dict[str, Any]]:
    intervals, errors = scored.intervals(), scored.score.standard_errors()
    shared = {
        "source_data": _source(scored),
        "generation_config": _generation(scored),
    }
    return [
        {
            "evaluation_result_id": f"{scored.name}.{key}",
            "evaluation_name": scored.name,
            **shared,
            "metric_config": _metric(scored, key),
            "score_details": {
                "score": value,
                "details": {
                    "documents": str(len(scored.ids)),
                    "documents_without_row": str(len(scored.ids) - n_rows),
                    "interval_caution": caution({key: intervals.get(key)}),
                },
                "uncertainty": _uncertainty(scored, intervals.get(key), errors.get(key, math.nan)),
            },
        }
        for key, value in scored.ranked.items()
    ]


def _source(scored: ScoredTask) -> dict[str, Any]:
    repository, _, revision = scored.provenance.get("origin", "").partition("@")
    on_hub = scored.edition == "hub" and bool(repository)
    details = {
        "edition": scored.edition,
        "data": scored.data,
        "status": scored.status,
        "context_budget": scored.conditions.budget,
        "fingerprint": scored.provenance.get("fingerprint", ""),
        "revision": revision if on_hub else "",
        "task_version": f"{scored.version:g}",
    }
    source = {"source_type": "hf_dataset", "hf_repo": repository} if on_hub else {"source_type": "other"}
    return {"dataset_name": scored.name, **source, "additional_details": details}


def _metric(scored: ScoredTask, key: str) -> dict[str, Any]:
    higher = scored.score.definitions[key].better
    kind = next((kind for kind in _KINDS if kind in key), "rouge" if "rouge" in key else key)
    judge = scored.provenance.get("judge", "")
    return {
        "evaluation_description": f"{key} of {scored.name}; the signature says how it was computed",
        "metric_id": f"tls_tasks.{key}",
        "metric_name": key,
        "metric_kind": kind,
        "metric_unit": "proportion",
        "lower_is_better": not higher,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0 if higher else "Infinity",
        **({"llm_scoring": _judging(judge)} if scored.task.family == _JUDGED and judge else {}),
        "additional_details": {"signature": "; ".join(scored.signatures.values())},
    }


def _judging(judge: str) -> dict[str, Any]:
    """Who judged, as the results name it: ``PROVIDER/MODEL,OPTION:VALUE,…,prompts:HASH``."""
    model, *options = judge.split(",")
    prompts = next((option.partition(":")[2] for option in options if option.startswith("prompts:")), "unknown")
    return {
        "judges": [{"model_info": _model_info(model, "unknown"), "additional_details": {"judge": judge}}],
        "input_prompt": f"the prompts of tls-tasks {__version__} with the hash {prompts}",
    }


def _uncertainty(scored: ScoredTask, interval: Interval | None, error: float) -> dict[str, Any]:
    drawn = "topics" if scored.task.topic else "documents"
    found: dict[str, Any] = {"num_samples": len(set(scored.topics))}
    if not math.isnan(error):
        found["standard_error"] = {"value": error, "method": f"jackknife over {drawn}"}
    if interval is not None:
        found["confidence_interval"] = {
            "lower": interval.low,
            "upper": interval.high,
            "confidence_level": 0.95,
            "method": f"{interval.method} over {drawn}",
        }
        if interval.n >= LEAST_BOOTSTRAP:
            found["num_bootstrap_samples"] = 1000
    return found


def _generation(scored: ScoredTask) -> dict[str, Any]:
    """How the answers were generated, and what names the prompts: there is one a document, so none is quoted here."""
    config = scored.results.get("configs", {}).get(scored.name, {})
    told = config.get("generation_kwargs") or {}
    arguments: dict[str, Any] = {
        name: told[name] for name in ("temperature", "top_p", "top_k") if isinstance(told.get(name), int | float)
    }
    if isinstance(told.get("max_gen_toks"), int):
        arguments["max_tokens"] = told["max_gen_toks"]
    metadata = {key: value for key, value in (config.get("metadata") or {}).items() if key not in _PLACES}
    details = {
        "generation_kwargs": told,
        "task_hash": scored.results.get("task_hashes", {}).get(scored.name, ""),
        "task_options": metadata,
        "num_fewshot": config.get("num_fewshot"),
        "chat_template_sha": scored.results.get("chat_template_sha"),
        "system_instruction_sha": scored.results.get("system_instruction_sha"),
    }
    plain = {key: value if isinstance(value, str) else json.dumps(value, default=str) for key, value in details.items()}
    return {"generation_args": arguments, "additional_details": plain}


def _rows(scored: ScoredTask, evaluation: str, model: str) -> list[dict[str, Any]]:
    """A row for each document that has a number of its own, with the task's first result; the others beside it."""
    (first, *_) = scored.ranked or ("",)
    rows = []
    for position, (sample, doc_id) in enumerate(zip(scored.log.samples, scored.ids, strict=True)):
        numbers = {key: value for key, value in scored.of_document(position).items() if key in scored.ranked}
        if math.isfinite(numbers.get(first, math.nan)):
            rows.append(_row(scored, evaluation, model, sample, doc_id, first, numbers))
    return rows


def _row(
    scored: ScoredTask,
    evaluation: str,
    model: str,
    sample: Sample,
    doc_id: str,
    first: str,
    numbers: Mapping[str, float],
) -> dict[str, Any]:
    target, request = _whole(str(sample.row.get("target"))), _whole(sample.request)
    answer = _whole(answer_text(sample.row.get("resps") or sample.answer))  # as written, before the task's filters
    identity = json.dumps({"raw": request, "reference": target}, sort_keys=True)
    return {
        "schema_version": _SCHEMA_VERSION,
        "evaluation_id": evaluation,
        "model_id": model,
        "evaluation_name": scored.name,
        "evaluation_result_id": f"{scored.name}.{first}",
        "sample_id": _whole(doc_id),
        "sample_hash": hashlib.sha256(identity.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": request, "reference": [target]},
        "output": {"raw": [answer]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": answer,
                "extraction_method": "none",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": numbers[first], "is_correct": numbers[first] > 1 - 1e-9},
        "metadata": {
            **{key: str(sample.row.get(key, "")) for key in ("doc_hash", "prompt_hash", "target_hash")},
            "results": json.dumps({key: None if math.isnan(value) else value for key, value in numbers.items()}),
        },
    }


def _whole(text: str) -> str:
    """Text that every reader takes: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _deployment(scored: ScoredTask) -> str:
    source = str(scored.results.get("model_source"))
    if source.endswith("completions"):
        return "externally_managed"
    return "self_deployed" if source in {"hf", "vllm", "sglang"} else "unknown"
