"""A submission in the formats of others: the hub's ``.eval_results``, model cards, Every Eval Ever."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.errors import MissingExtraError

EVERY_EVAL_EVER = "0.3.0"
"""The version of the schema that :func:`every_eval_ever` follows."""

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
"""What an evaluator may be to the model's maker."""


def eval_results(scored: Sequence[ScoredTask]) -> list[dict[str, Any]]:
    """The list of a ``.eval_results/*.yaml`` file, by huggingface_hub's own class: one entry a task and metric.

    Raises:
        MissingExtraError: If the installed huggingface_hub is older than the format.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        raise MissingExtraError(".eval_results (huggingface_hub 1.3 or newer)", "submit") from error
    entries = []
    for task in scored:
        dataset, revision = dataset_of(task)
        notes = f"tls-tasks {__version__}, task version {task.task.version:g}; {'; '.join(task.signatures().values())}"
        entries += [
            EvalResultEntry(
                dataset_id=dataset,
                dataset_revision=revision,
                task_id=f"{task.task.name}.{key}",
                value=value,
                date=date_of(task).isoformat(),
                notes=notes,
            )
            for key, value in judged(task).items()
        ]
    found: list[dict[str, Any]] = eval_result_entries_to_yaml(entries)
    return found


def model_index(scored: Sequence[ScoredTask], model: str) -> dict[str, Any]:
    """The ``model-index`` of a model card, by huggingface_hub's own classes."""
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            task_type="text-generation",
            dataset_type=dataset_of(task)[0],
            dataset_name=task.task.name,
            dataset_revision=dataset_of(task)[1],
            metric_type=key,
            metric_value=value,
            metric_name=key,
        )
        for task in scored
        for key, value in judged(task).items()
    ]
    card: dict[str, Any] = ModelCardData(model_name=model.partition("/")[2], eval_results=results).to_dict()
    return {"model-index": card["model-index"]}


def every_eval_ever(
    scored: ScoredTask, model: str, *, organization: str, relationship: str = "other"
) -> dict[str, Any]:
    """One task's record after the schema of Every Eval Ever.

    Args:
        scored: The task.
        model: ``ORG/NAME``.
        organization: Who ran the evaluation.
        relationship: One of :data:`RELATIONSHIPS`.
    """
    stamp = str(int(date_of(scored).timestamp()))
    developer, _, name = model.partition("/")
    intervals = scored.score.intervals()
    signature = "; ".join(scored.signatures().values())
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"{scored.task.name}/{model}/{stamp}",
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
            "version": str(scored.results.get("lm_eval_version") or "unknown"),
            "additional_details": {"tls_tasks_version": __version__},
        },
        "model_info": {
            "name": name,
            "id": model,
            "developer": developer,
            "additional_details": {"deployment_type": _deployment(scored), "model_availability": "unknown"},
        },
        "evaluation_results": [
            _result(scored, key, value, intervals, signature)
            for key, value in judged(scored).items()
            if math.isfinite(value)
        ],
    }


def _result(scored: ScoredTask, key: str, value: float, intervals: Mapping[str, Any], signature: str) -> dict[str, Any]:
    dataset, revision = dataset_of(scored)
    source: dict[str, Any] = {"dataset_name": scored.task.name, "source_type": "other"}
    if scored.edition == "hub":
        source = {"dataset_name": scored.task.name, "source_type": "hf_dataset", "hf_repo": dataset}
    details = {"edition": scored.edition, "revision": revision or "", "task_version": f"{scored.task.version:g}"}
    higher = next(metric.higher_is_better for metric in scored.task.metrics if metric.key == key)
    uncertainty: dict[str, Any] = {"num_samples": len(scored.score.ids)}
    if key in intervals:
        low, high = intervals[key]
        method = "percentile bootstrap over topics or documents"
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95, "method": method}
    return {
        "evaluation_name": scored.task.name,
        "source_data": {**source, "additional_details": details},
        "metric_config": {
            "metric_id": f"tls_tasks.{key}",
            "metric_name": key,
            "lower_is_better": higher is False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0 if higher else "Infinity",
            "additional_details": {"signature": signature},
        },
        "score_details": {"score": value, "uncertainty": uncertainty},
    }


def judged(scored: ScoredTask) -> dict[str, float]:
    """The metrics by which systems are compared: those that are better higher or lower."""
    values = scored.score.as_dict()
    return {m.key: values[m.key] for m in scored.task.metrics if m.higher_is_better is not None and m.key in values}


def dataset_of(scored: ScoredTask) -> tuple[str, str | None]:
    """The hub repository and revision that the task's data came from; our own name for other data."""
    origin = str(((scored.config.get("metadata") or {}).get("provenance") or {}).get("origin") or "")
    repo, _, revision = origin.partition("@")
    if scored.edition == "hub" and repo:
        return repo, revision or None
    return f"tls-tasks/{scored.task.name}", None


def date_of(scored: ScoredTask) -> datetime.datetime:
    """When the run was made, in UTC."""
    stamp = scored.results.get("date")
    return datetime.datetime.fromtimestamp(
        float(stamp) if isinstance(stamp, int | float) else 0.0, datetime.timezone.utc
    )


def _deployment(scored: ScoredTask) -> str:
    source = str(scored.results.get("model_source") or "")
    if source.endswith("completions"):
        return "externally_managed"
    return "self_deployed" if source in {"hf", "vllm", "sglang"} else "unknown"
