"""A submission in the hub's formats: ``.eval_results`` and model cards."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.errors import TlsTasksError


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
        notes = (
            f"tls-tasks {__version__}, task version {task.version:g}, {len(task.ids)} documents, {task.data}, "
            f"{task.conditions}; {'; '.join(task.signatures.values())}"
        )
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


def _dataset_of(scored: ScoredTask) -> tuple[str, str | None]:
    """The hub repository and revision of the task's data; for other data a name of ours."""
    origin = scored.provenance.get("origin", "")
    if scored.edition == "hub" and origin:
        repo, _, revision = origin.partition("@")
        return repo, revision or None
    return f"tls-tasks/{scored.name}", None


def _date_of(scored: ScoredTask) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(scored.results["date"], datetime.timezone.utc)
