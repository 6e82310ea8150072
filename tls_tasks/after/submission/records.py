"""Numbers of a run in formats of others: Every Eval Ever, and the hub's model cards and ``.eval_results``."""

import datetime
import hashlib
import json
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tls_tasks import __version__
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.intervals import LEAST_TRUSTED, Interval
from tls_tasks.core.options import LEAST_BOOTSTRAP
from tls_tasks.core.score import without_nan
from tls_tasks.core.task import answer_text
from tls_tasks.data.cards import as_yaml

EVAL_RESULTS = ".eval_results/tls_tasks.yaml"
"""The file for the model's repository on the hub."""

_KINDS = ("precision", "recall", "f1", "accuracy", "coverage", "support", "rouge")
_ELSEWHERE = ("provenance", "config_source", "data")  # what is said elsewhere, and paths of one machine


def records_of(scored: Sequence[ScoredTask], manifest: Mapping[str, Any], hub_records: bool) -> dict[str, bytes]:
    """The files of others' formats: name in the archive -> content.

    Args:
        scored: The tasks, each with at least one document.
        manifest: With what the submitter says: ``model``, ``organization`` and ``relationship``.
        hub_records: Also ``.eval_results``, of the tasks that read a data set on the hub.
    """
    model_index, eval_results = _for_the_hub(scored)
    name = manifest["model"].partition("/")[2]
    records = {"model-index.yml": as_yaml({"model-index": [{"name": name, "results": model_index}]})}
    if hub_records:
        records[EVAL_RESULTS] = as_yaml(eval_results)
    for task in scored:
        records |= _every_eval_ever(task, manifest)
    return {name: encoded(text) for name, text in records.items()}


def encoded(text: str) -> bytes:
    """Text that every reader takes: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def _for_the_hub(scored: Sequence[ScoredTask]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The results of a card's ``model-index``, and entries of ``.eval_results``, as huggingface_hub writes them."""
    model_index, eval_results = [], []
    for task in scored:
        repository, revision = _source(task)
        metrics = [{"type": key, "value": value, "name": key} for key, value in task.ranked.items()]
        data = {"name": task.name, "type": repository, **revision}
        model_index.append({"task": {"type": "text-generation"}, "dataset": data, "metrics": metrics})
        if task.edition == "hub":
            date = datetime.datetime.fromtimestamp(task.results["date"], datetime.timezone.utc).isoformat()
            documents = f"task version {task.version:g}, {len(task.ids)} documents, {task.data}, {task.conditions}"
            notes = f"tls-tasks {__version__}, {documents}; {'; '.join(task.signatures.values())}"
            for key, value in task.ranked.items():
                data = {"id": repository, "task_id": f"{task.name}.{key}", **revision}
                eval_results.append({"dataset": data, "value": value, "date": date, "notes": notes})
    return model_index, eval_results


def _source(scored: ScoredTask) -> tuple[str, dict[str, str]]:
    """The hub repository of the task's data, and its ``revision`` if stated; of other data a name that could be one."""
    repository, _, revision = scored.provenance.get("origin", "").partition("@")
    if scored.edition == "hub" and repository:
        return repository, {"revision": revision} if revision else {}
    return f"tls-tasks/{scored.name}", {}


def _every_eval_ever(scored: ScoredTask, manifest: Mapping[str, Any]) -> dict[str, str]:
    """The record of one task and its rows: name in the archive -> text.

    The names are made from what was run, so that the same run gives the same files.
    """
    model, results = str(manifest["model"]), scored.results
    stamp, source = str(int(results["date"])), str(results.get("model_source"))
    deployment = "self_deployed" if source in {"hf", "vllm", "sglang"} else "unknown"
    if source.endswith("completions"):
        deployment = "externally_managed"
    evaluation = f"{scored.name}/{model}/{stamp}"
    name = uuid.UUID(bytes=hashlib.sha256(evaluation.encode()).digest()[:16], version=4)
    path = f"data/tls-tasks/{model}/{name}"  # below the folder that the validator takes
    stated = {"schema_version": "0.3.0", "evaluation_id": evaluation}
    library = {"name": "lm_eval", "version": str(results.get("lm_eval_version", "unknown"))}
    rows = list(_rows(scored, {**stated, "model_id": model}))
    record: dict[str, Any] = {
        **stated,
        "evaluation_timestamp": stamp,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "tls-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": manifest.get("organization") or model.partition("/")[0],
            "evaluator_relationship": manifest.get("relationship") or "other",
        },
        "eval_library": {**library, "additional_details": {"tls_tasks_version": __version__}},
        "model_info": _model_info(model, deployment),
        "evaluation_results": _results(scored, n_rows=len(rows)),
    }
    files = {}
    if rows:
        # Escaped, since the validator takes line separators in a text for ends of lines.
        text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        files[f"every_eval_ever/{path}_samples.jsonl"] = text
        file = {"format": "jsonl", "file_path": f"{path}_samples.jsonl"}
        checksum = {"hash_algorithm": "sha256", "checksum": hashlib.sha256(text.encode()).hexdigest()}
        record["detailed_evaluation_results"] = {**file, **checksum, "total_rows": len(rows)}
    content = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return {f"every_eval_ever/{path}.json": content, **files}


def _model_info(model: str, deployment: str) -> dict[str, Any]:
    developer, _, name = model.rpartition("/")
    known = {"name": name, "id": model, **({"developer": developer} if developer else {})}
    return {**known, "additional_details": {"deployment_type": deployment, "model_availability": "unknown"}}


def _results(scored: ScoredTask, n_rows: int) -> list[dict[str, Any]]:
    intervals, errors = scored.intervals(), scored.score.standard_errors()
    repository, revision = _source(scored)
    details = {
        "edition": scored.edition,
        "data": scored.data,
        "status": scored.status,
        "context_budget": scored.conditions.budget,
        "fingerprint": scored.provenance.get("fingerprint", ""),
        "revision": revision.get("revision", ""),
        "task_version": f"{scored.version:g}",
    }
    kind = {"source_type": "hf_dataset", "hf_repo": repository} if scored.edition == "hub" else {"source_type": "other"}
    source = {"dataset_name": scored.name, **kind, "additional_details": details}
    generation = _generation(scored)
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


def _metric(scored: ScoredTask, key: str) -> dict[str, Any]:
    higher, judge = scored.score.definitions[key].better, scored.provenance.get("judge", "")
    scoring = {}
    if judge and scored.task.judge is not None:  # as the results name it: PROVIDER/MODEL,OPTION:VALUE,…,prompts:HASH
        model, *options = judge.split(",")
        prompts = next((option.partition(":")[2] for option in options if option.startswith("prompts:")), "unknown")
        judges = [{"model_info": _model_info(model, "unknown"), "additional_details": {"judge": judge}}]
        about = f"the prompts of tls-tasks {__version__} with the hash {prompts}"
        scoring = {"llm_scoring": {"judges": judges, "input_prompt": about}}
    return {
        "evaluation_description": f"{key} of {scored.name}; the signature says how it was computed",
        "metric_id": f"tls_tasks.{key}",
        "metric_name": key,
        "metric_kind": next((kind for kind in _KINDS if kind in key), key),
        "metric_unit": "proportion",
        "lower_is_better": not higher,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0 if higher else "Infinity",
        **scoring,
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
    results, config = scored.results, scored.results.get("configs", {}).get(scored.name, {})
    stated = config.get("generation_kwargs") or {}
    names = ("temperature", "top_p", "top_k")
    arguments = {name: stated[name] for name in names if isinstance(stated.get(name), int | float)}
    if isinstance(stated.get("max_gen_toks"), int):
        arguments["max_tokens"] = stated["max_gen_toks"]
    details = {
        "generation_kwargs": stated,
        "task_hash": results.get("task_hashes", {}).get(scored.name, ""),
        "task_options": {key: value for key, value in (config.get("metadata") or {}).items() if key not in _ELSEWHERE},
        "num_fewshot": config.get("num_fewshot"),
        "chat_template_sha": results.get("chat_template_sha"),
        "system_instruction_sha": results.get("system_instruction_sha"),
    }
    texts = {key: value if isinstance(value, str) else json.dumps(value, default=str) for key, value in details.items()}
    return {"generation_args": arguments, "additional_details": texts}


def _rows(scored: ScoredTask, shared: dict[str, str]) -> Iterator[dict[str, Any]]:
    """A row for each document that has a number of its own, with the task's first result; the others beside it."""
    (first, *_) = scored.ranked or ("",)
    for position, (doc_id, sample) in enumerate(scored.documents):
        numbers = {key: value for key, value in scored.of_document(position).items() if key in scored.ranked}
        if not math.isfinite(numbers.get(first, math.nan)):
            continue
        # As the model wrote it, before the task's filters.
        texts = (sample.request, str(sample.row.get("target")), answer_text(sample.row.get("resps") or sample.answer))
        request, target, answer, name = (encoded(text).decode() for text in (*texts, doc_id))
        identity = json.dumps({"raw": request, "reference": target}, sort_keys=True)
        attribution = {"turn_idx": 0, "source": "output.raw", "extracted_value": answer}
        yield {
            **shared,
            "evaluation_name": scored.name,
            "evaluation_result_id": f"{scored.name}.{first}",
            "sample_id": name,
            "sample_hash": hashlib.sha256(identity.encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": {"raw": request, "reference": [target]},
            "output": {"raw": [answer]},
            "answer_attribution": [{**attribution, "extraction_method": "none", "is_terminal": True}],
            "evaluation": {"score": numbers[first], "is_correct": numbers[first] > 1 - 1e-9},
            "metadata": {
                **{key: str(sample.row.get(key, "")) for key in ("doc_hash", "prompt_hash", "target_hash")},
                "results": json.dumps(without_nan(numbers)),
            },
        }
