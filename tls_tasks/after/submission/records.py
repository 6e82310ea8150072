"""Numbers of a run in formats of others: Every Eval Ever, and the hub's model cards and ``.eval_results``."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.core.intervals import LEAST_TRUSTED, Interval
from tls_tasks.core.options import LEAST_BOOTSTRAP
from tls_tasks.core.task import answer_text

_SCHEMA_VERSION = "0.3.0"  # of Every Eval Ever
_COLLECTION = "tls-tasks"
_KINDS = ("precision", "recall", "f1", "accuracy", "coverage", "support")
_PLACES = ("provenance", "config_source", "data")  # what is said elsewhere, and paths of one machine
_JUDGED = "reports"  # the family whose numbers rest on a judge's verdicts


@dataclass(frozen=True, slots=True)
class Claim:
    """What a submitter says of a run.

    Attributes:
        model: The published model's name, ``ORG/NAME``.
        organization: Who ran the evaluation.
        relationship: To the maker of the model: ``first_party``, ``third_party``, ``collaborative`` or ``other``.
    """

    model: str
    organization: str
    relationship: str = "other"


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
    entries = [
        EvalResultEntry(
            dataset_id=_hub_source(task)[0] or _named(task),
            dataset_revision=_hub_source(task)[1],
            task_id=f"{task.name}.{key}",
            value=value,
            date=datetime.datetime.fromtimestamp(task.results["date"], datetime.timezone.utc).isoformat(),
            notes=f"tls-tasks {__version__}, task version {task.version:g}, {len(task.ids)} documents, {task.data}, "
            f"{task.conditions}; {'; '.join(task.signatures.values())}",
        )
        for task in scored
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
            dataset_type=_hub_source(task)[0] or _named(task),
            dataset_name=task.name,
            dataset_revision=_hub_source(task)[1],
            metric_type=key,
            metric_value=value,
            metric_name=key,
        )
        for task in scored
        for key, value in task.ranked.items()
    ]
    card: dict[str, Any] = ModelCardData(model_name=model.partition("/")[2], eval_results=results).to_dict()
    return {"model-index": card["model-index"]}


def _hub_source(scored: ScoredTask) -> tuple[str, str | None]:
    """The hub repository and revision of the task's data; of other data empty and None."""
    repository, _, revision = scored.provenance.get("origin", "").partition("@")
    return (repository, revision or None) if scored.edition == "hub" else ("", None)


def _named(scored: ScoredTask) -> str:
    """The name that data without a repository has on the hub."""
    return f"tls-tasks/{scored.name}"


def every_eval_ever(scored: ScoredTask, claim: Claim) -> dict[str, str]:
    """The record of one task and its rows: path below the folder that holds ``data/`` -> text.

    The names are made from what was run, so that the same run gives the same files.

    Args:
        scored: The task, with at least one document.
        claim: Of the submitter.
    """
    stamp = str(int(scored.results["date"]))
    evaluation = f"{scored.name}/{claim.model}/{stamp}"
    name = uuid.UUID(bytes=hashlib.sha256(evaluation.encode()).digest()[:16], version=4)
    path = f"data/{_COLLECTION}/{claim.model}/{name}"
    stated = {"schema_version": _SCHEMA_VERSION, "evaluation_id": evaluation}
    rows = _rows(scored, {**stated, "model_id": claim.model})
    # Escaped, since the validator takes line separators in a text for ends of lines.
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    record = {
        **stated,
        "evaluation_timestamp": stamp,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "tls-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": claim.organization,
            "evaluator_relationship": claim.relationship,
        },
        "eval_library": {
            "name": "lm_eval",
            "version": str(scored.results.get("lm_eval_version", "unknown")),
            "additional_details": {"tls_tasks_version": __version__},
        },
        "model_info": _model_info(claim.model, _deployment(scored)),
        "evaluation_results": _results(scored, n_rows=len(rows)),
    }
    files = {}
    if rows:
        files[f"{path}_samples.jsonl"] = text
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{path}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(text.encode()).hexdigest(),
            "total_rows": len(rows),
        }
    return {f"{path}.json": json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n", **files}


def _model_info(model: str, deployment: str) -> dict[str, Any]:
    developer, _, name = model.rpartition("/")
    return {
        "name": name,
        "id": model,
        **({"developer": developer} if developer else {}),
        "additional_details": {"deployment_type": deployment, "model_availability": "unknown"},
    }


def _deployment(scored: ScoredTask) -> str:
    source = str(scored.results.get("model_source"))
    if source.endswith("completions"):
        return "externally_managed"
    return "self_deployed" if source in {"hf", "vllm", "sglang"} else "unknown"


def _results(scored: ScoredTask, n_rows: int) -> list[dict[str, Any]]:
    intervals, errors = scored.intervals(), scored.score.standard_errors()
    source, generation = _source(scored), _generation(scored)
    return [
        {
            "evaluation_result_id": f"{scored.name}.{key}",
            "evaluation_name": scored.name,
            "source_data": source,
            "generation_config": generation,
            "metric_config": _metric(scored, key),
            "score_details": {
                "score": value,
                "details": {
                    "documents": str(len(scored.ids)),
                    "documents_without_row": str(len(scored.ids) - n_rows),
                    "interval_caution": _caution(key, intervals.get(key)),
                },
                "uncertainty": _uncertainty(scored, intervals.get(key), errors.get(key, math.nan)),
            },
        }
        for key, value in scored.ranked.items()
    ]


def _source(scored: ScoredTask) -> dict[str, Any]:
    repository, revision = _hub_source(scored)
    details = {
        "edition": scored.edition,
        "data": scored.data,
        "status": scored.status,
        "context_budget": scored.conditions.budget,
        "fingerprint": scored.provenance.get("fingerprint", ""),
        "revision": revision or "",
        "task_version": f"{scored.version:g}",
    }
    source = {"source_type": "hf_dataset", "hf_repo": repository} if repository else {"source_type": "other"}
    return {"dataset_name": scored.name, **source, "additional_details": details}


def _metric(scored: ScoredTask, key: str) -> dict[str, Any]:
    higher = scored.score.definitions[key].better
    judge = scored.provenance.get("judge", "")
    return {
        "evaluation_description": f"{key} of {scored.name}; the signature says how it was computed",
        "metric_id": f"tls_tasks.{key}",
        "metric_name": key,
        "metric_kind": next((kind for kind in _KINDS if kind in key), "rouge" if "rouge" in key else key),
        "metric_unit": "proportion",
        "lower_is_better": not higher,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0 if higher else "Infinity",
        **({"llm_scoring": _judging(judge)} if scored.family == _JUDGED and judge else {}),
        "additional_details": {"signature": "; ".join(scored.signatures.values())},
    }


def _caution(key: str, interval: Interval | None) -> str:
    # Archives hold these sentences and are compared word by word: another wording would refuse all older ones.
    if interval is None:
        return "no intervals: they need two topics or documents at least that add to a result"
    sentences = []
    if interval.n < LEAST_TRUSTED:
        untrusted = f"intervals of {interval.n} topics or documents can't be trusted"
        sentences.append(f"{untrusted}: of fewer than {LEAST_TRUSTED} they hold the true value too rarely")
    if not interval.has_width:
        sentences.append(f"no width, since all gave the same, which says nothing of others: {key}")
    return "; ".join(sentences)


def _judging(judge: str) -> dict[str, Any]:
    """Who judged, as the results name it: ``PROVIDER/MODEL,OPTION:VALUE,…,prompts:HASH``."""
    model, *options = judge.split(",")
    prompts = next((option.partition(":")[2] for option in options if option.startswith("prompts:")), "unknown")
    return {
        "judges": [{"model_info": _model_info(model, "unknown"), "additional_details": {"judge": judge}}],
        "input_prompt": f"the prompts of tls-tasks {__version__} with the hash {prompts}",
    }


def _uncertainty(scored: ScoredTask, interval: Interval | None, error: float) -> dict[str, Any]:
    unit = "topics" if scored.task.topic else "documents"
    uncertainty: dict[str, Any] = {"num_samples": len(set(scored.topics))}
    if not math.isnan(error):
        uncertainty["standard_error"] = {"value": error, "method": f"jackknife over {unit}"}
    if interval is not None:
        method = f"{interval.method} over {unit}"
        bounds = {"lower": interval.low, "upper": interval.high}
        uncertainty["confidence_interval"] = {**bounds, "confidence_level": 0.95, "method": method}
        if interval.n >= LEAST_BOOTSTRAP:
            uncertainty["num_bootstrap_samples"] = 1000
    return uncertainty


def _generation(scored: ScoredTask) -> dict[str, Any]:
    """How the answers were generated, and what names the prompts: there is one a document, so none is quoted here."""
    config = scored.results.get("configs", {}).get(scored.name, {})
    stated = config.get("generation_kwargs") or {}
    arguments: dict[str, Any] = {
        name: stated[name] for name in ("temperature", "top_p", "top_k") if isinstance(stated.get(name), int | float)
    }
    if isinstance(stated.get("max_gen_toks"), int):
        arguments["max_tokens"] = stated["max_gen_toks"]
    details = {
        "generation_kwargs": stated,
        "task_hash": scored.results.get("task_hashes", {}).get(scored.name, ""),
        "task_options": {key: value for key, value in (config.get("metadata") or {}).items() if key not in _PLACES},
        "num_fewshot": config.get("num_fewshot"),
        "chat_template_sha": scored.results.get("chat_template_sha"),
        "system_instruction_sha": scored.results.get("system_instruction_sha"),
    }
    texts = {key: value if isinstance(value, str) else json.dumps(value, default=str) for key, value in details.items()}
    return {"generation_args": arguments, "additional_details": texts}


def _rows(scored: ScoredTask, shared: dict[str, str]) -> list[dict[str, Any]]:
    """A row for each document that has a number of its own, with the task's first result; the others beside it."""
    (first, *_) = scored.ranked or ("",)
    rows = []
    for position, (doc_id, sample) in enumerate(scored.documents):
        numbers = {key: value for key, value in scored.of_document(position).items() if key in scored.ranked}
        if not math.isfinite(numbers.get(first, math.nan)):
            continue
        target, request = _encodable(str(sample.row.get("target"))), _encodable(sample.request)
        # As the model wrote it, before the task's filters.
        answer = _encodable(answer_text(sample.row.get("resps") or sample.answer))
        attribution = {"turn_idx": 0, "source": "output.raw", "extracted_value": answer}
        identity = json.dumps({"raw": request, "reference": target}, sort_keys=True)
        results = {key: None if math.isnan(value) else value for key, value in numbers.items()}
        rows.append(
            {
                **shared,
                "evaluation_name": scored.name,
                "evaluation_result_id": f"{scored.name}.{first}",
                "sample_id": _encodable(doc_id),
                "sample_hash": hashlib.sha256(identity.encode()).hexdigest(),
                "interaction_type": "single_turn",
                "input": {"raw": request, "reference": [target]},
                "output": {"raw": [answer]},
                "answer_attribution": [{**attribution, "extraction_method": "none", "is_terminal": True}],
                "evaluation": {"score": numbers[first], "is_correct": numbers[first] > 1 - 1e-9},
                "metadata": {
                    **{key: str(sample.row.get(key, "")) for key in ("doc_hash", "prompt_hash", "target_hash")},
                    "results": json.dumps(results),
                },
            }
        )
    return rows


def _encodable(text: str) -> str:
    """Text that every reader takes: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
