"""A submission in formats of others: the hub's ``.eval_results``, model cards, and Every Eval Ever."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.core.score import Interval

_SCHEMA_VERSION = "0.3.0"  # of Every Eval Ever


def eval_results(scored: Sequence[ScoredTask]) -> list[dict[str, Any]]:
    """The list of a ``.eval_results/*.yaml`` file, one entry a task and metric, made by huggingface_hub's own class.

    Raises:
        TlsTasksError: If the installed huggingface_hub is older than the format.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        need = "a submission needs huggingface_hub 1.3 or newer: pip install -U huggingface_hub"
        raise TlsTasksError(need) from error
    entries = []
    for task in scored:
        dataset, revision = _dataset_of(task)
        notes = f"tls-tasks {__version__}, task version {task.version:g}; {'; '.join(task.signatures.values())}"
        entries += [
            EvalResultEntry(
                dataset_id=dataset,
                dataset_revision=revision,
                task_id=f"{task.name}.{key}",
                value=value,
                date=_date_of(task).isoformat(),
                notes=notes,
            )
            for key, value in task.ranked.items()
        ]
    rows: list[dict[str, Any]] = eval_result_entries_to_yaml(entries)
    return rows


def model_index(scored: Sequence[ScoredTask], model: str) -> dict[str, Any]:
    """The ``model-index`` of a model card, made by huggingface_hub's own classes."""
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            task_type="text-generation",
            dataset_type=_dataset_of(task)[0],
            dataset_name=task.name,
            dataset_revision=_dataset_of(task)[1],
            metric_type=key,
            metric_value=value,
            metric_name=key,
        )
        for task in scored
        for key, value in task.ranked.items()
    ]
    card: dict[str, Any] = ModelCardData(model_name=model.partition("/")[2], eval_results=results).to_dict()
    return {"model-index": card["model-index"]}


def every_eval_ever(scored: ScoredTask, model: str, *, organization: str, relationship: str) -> dict[str, Any]:
    """One task's record in the schema of Every Eval Ever.

    Args:
        scored: The task.
        model: ``ORG/NAME``.
        organization: Who ran the evaluation.
        relationship: To the model's maker: ``first_party``, ``third_party``, ``collaborative`` or ``other``.
    """
    stamp = str(int(_date_of(scored).timestamp()))
    developer, _, name = model.partition("/")
    intervals = scored.intervals()
    signature = "; ".join(scored.signatures.values())
    return {
        "schema_version": _SCHEMA_VERSION,
        "evaluation_id": f"{scored.name}/{model}/{stamp}",
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
        "model_info": {
            "name": name,
            "id": model,
            "developer": developer,
            "additional_details": {"deployment_type": _deployment(scored), "model_availability": "unknown"},
        },
        "evaluation_results": [
            _result(scored, key, value, intervals, signature) for key, value in scored.ranked.items()
        ],
    }


def _result(
    scored: ScoredTask, key: str, value: float, intervals: Mapping[str, Interval], signature: str
) -> dict[str, Any]:
    dataset, revision = _dataset_of(scored)
    source = {"source_type": "hf_dataset", "hf_repo": dataset} if scored.edition == "hub" else {"source_type": "other"}
    details = {"edition": scored.edition, "revision": revision or "", "task_version": f"{scored.version:g}"}
    higher = scored.score.table[key].better
    uncertainty: dict[str, Any] = {"num_samples": len(scored.ids)}
    if key in intervals:
        low, high = intervals[key]
        method = "percentile bootstrap over topics or documents"
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95, "method": method}
    return {
        "evaluation_name": scored.name,
        "source_data": {"dataset_name": scored.name, **source, "additional_details": details},
        "metric_config": {
            "metric_id": f"tls_tasks.{key}",
            "metric_name": key,
            "lower_is_better": not higher,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0 if higher else "Infinity",
            "additional_details": {"signature": signature},
        },
        "score_details": {"score": value, "uncertainty": uncertainty},
    }


def _dataset_of(scored: ScoredTask) -> tuple[str, str | None]:
    """The hub repository and revision of the task's data; for other data a name of ours."""
    origin = scored.provenance.get("origin", "")
    if scored.edition == "hub" and origin:
        repo, _, revision = origin.partition("@")
        return repo, revision or None
    return f"tls-tasks/{scored.name}", None


def _deployment(scored: ScoredTask) -> str:
    source = str(scored.results.get("model_source"))
    if source.endswith("completions"):
        return "externally_managed"
    return "self_deployed" if source in {"hf", "vllm", "sglang"} else "unknown"


def _date_of(scored: ScoredTask) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(scored.results["date"], datetime.timezone.utc)
