"""Inspect's view of our tasks and metrics: ``inspect eval tls_tasks/TASK``, ``inspect score LOG --scorer tls_tasks/METRIC``.

The entry point of the group ``inspect_ai`` imports this module, and nothing else does: it needs the extra ``inspect``.
Each task is registered with a scorer of the same name, since by its name alone ``inspect score`` finds one again.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from anyio import to_thread
from inspect_ai import Task as InspectTask
from inspect_ai import task as registered
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Scorer, Target, Value, metric, scorer
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.solver import TaskState, generate

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.options import check_options, check_whole_number, options_of
from tls_tasks.core.score import Results, Score, without_nan
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.core.task import Doc, Task
from tls_tasks.hosts.context import load_fitting
from tls_tasks.hosts.task_files import task_file, task_files
from tls_tasks.registry import METRICS, find_task

_NOT_FOR_USERS = {"closed_book", "generation", "model_args", "provenance"}
_OF_THE_VIEW = ("num_fewshot", "max_length")


def _make_task(name: str, options: dict[str, Any]) -> InspectTask:
    task, config = find_task(name), copy.deepcopy(task_file(name).config)
    known = [*(option for option in task.options if option not in _NOT_FOR_USERS), *_OF_THE_VIEW]
    if unknown := next((option for option in options if option not in known), None):
        raise OptionError.unknown(f"option of {name}", unknown, known)
    check_no_secret(options, "-T")
    examples = _examples(task, options.get("num_fewshot", 0))
    generation, about = config["generation_kwargs"], {**config["metadata"], **options}
    documents = load_fitting(task, name, {**config["dataset_kwargs"], **about, "generation": generation})
    return InspectTask(
        dataset=MemoryDataset([_sample(task, doc, examples) for doc in documents], name=name),
        solver=generate(),
        scorer=_SCORERS[name](),
        config=GenerateConfig(
            max_tokens=generation["max_gen_toks"],
            stop_seqs=generation["until"],
            temperature=generation["temperature"],
        ),
        version=about.pop("version"),
        metadata=about,
    )


def _examples(task: Task, n: int) -> list[ChatMessage]:
    examples = () if task.fewshot is None else task.fewshot(task.name)
    if check_whole_number("num_fewshot", n, 0) > len(examples):
        raise InputError("num_fewshot", None, str(n), f"a whole number up to {len(examples)}")
    turns = [(ChatMessageUser(content=task.prompt(doc)), doc) for doc in examples[:n]]
    return [message for asked, doc in turns for message in (asked, ChatMessageAssistant(content=task.target(doc)))]


def _sample(task: Task, doc: Doc, examples: Sequence[ChatMessage]) -> Sample:
    asked = task.prompt(doc)
    messages = [*examples, ChatMessageUser(content=asked)] if examples else asked
    return Sample(input=messages, target=task.target(doc), id=doc["doc_id"], metadata=dict(doc))


async def _score_task(name: str, options: Mapping[str, Any], state: TaskState, target: Target) -> InspectScore:
    """A document of ours; its answer is judged first where answers are judged, unless the log has the verdicts."""
    task, doc, answer, kept = find_task(name), state.metadata, state.output.completion, {}
    if "doc_id" not in doc:
        expected = f"a document of {name}; a metric, such as tls_tasks/rouge_l, scores other people's logs"
        raise InputError("metadata", None, f"none of our documents in sample {state.sample_id}", expected)
    text = answer
    if task.judge is not None:
        doc = {**doc, **{name: json.dumps(value) for name, value in options.items()}}
        earlier = [score for score in (state.scores or {}).values() if score.answer == answer and not options]
        text = next((str(score.metadata["judged"]) for score in earlier if "judged" in (score.metadata or {})), "")
        text = text or (await to_thread.run_sync(task.judge, [answer], [doc]))[0]
        kept = {"judged": text}
    task = task.for_document(doc)
    unit = task.process(doc, text)
    scores = {} if any(map(math.isnan, unit.values())) else task.scores(doc, text)
    first = {key: task.table[key] for key in task_file(name).metrics if key in task.table}
    return _as_inspects(answer, [unit], {**first, **task.table}, scores, {**kept, "topic": task.topic_of(doc)})


async def _score_metric(name: str, options: Mapping[str, Any], state: TaskState, target: Target) -> InspectScore:
    """Any sample: the reference is in its metadata, or its target."""
    spec, metadata, answer, kept = METRICS[name], state.metadata, state.output.completion, dict(options)
    field = kept.pop("reference", next((key for key in ("references", "reference") if key in metadata), None))
    targets: Any = target[0] if len(target) == 1 else list(target)
    columns = {"predictions": answer, "references": targets if field is None else _value(metadata, field)}
    if "sources" in spec.columns:
        columns["sources"] = metadata.get(kept.pop("source", "text"))
    score = spec.load()(**{key: [value] for key, value in columns.items()}, **_with_schema(name, kept, metadata))
    keys = sorted(score.definitions, key=lambda key: "f1" not in key.split("_"))
    table = {key: score.definitions[key] for key in keys}
    about = {"options": kept, "topic": metadata.get("topic")}
    return _as_inspects(answer, score.units, table, {name: score}, about)


def _value(metadata: Mapping[str, Any], field: str) -> Any:
    """A field of the metadata; documents of ours have their references as JSON text."""
    if field not in metadata:
        raise InputError("reference", None, repr(field), f"a field of the metadata: {', '.join(metadata)}")
    try:
        value = json.loads(metadata[field])
    except (TypeError, ValueError, RecursionError):
        return metadata[field]
    return value if isinstance(value, list | dict) else metadata[field]


def _with_schema(name: str, options: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    takes = "schema" in inspect.signature(METRICS[name].load()).parameters
    return {**({"schema": metadata["schema"]} if takes and metadata and "schema" in metadata else {}), **options}


def _as_inspects(
    answer: str, units: Sequence[Any], table: Results, scores: Mapping[str, Score], about: Mapping[str, Any]
) -> InspectScore:
    failed = [key for key in table if key.endswith("parse_failures") and table[key].value(units)]
    is_broken = any(math.isnan(part) for unit in units for part in unit.values())
    reason = "scoring_failed" if is_broken else "invalid_response_format" if failed else None
    said = "\n\n".join(score.explain(0) for score in scores.values())
    return InspectScore(
        value=without_nan({key: float(result.value(units)) for key, result in table.items()}),
        answer=answer,
        explanation=textwrap.indent(said, "    "),  # which is code in Markdown, as the viewer takes it
        reason=reason if answer.strip() else "no_response",
        metadata={
            "units": [without_nan(unit) for unit in units],  # None: unscored
            "signatures": {name: score.signature for name, score in scores.items()},
            **about,
        },
    )


@metric(scores="unreduced")
def corpus(of: str) -> Metric:
    """The results of all documents, as lm-eval aggregates them: of sums, not of the documents' results.

    Every epoch of a document counts. ``KEY_stderr`` is the jackknife standard error over topics, or over samples.

    Args:
        of: A task, or a metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        kept = [score for score in scores if "units" in (score.score.metadata or {})]
        if not kept:
            return {}
        own, units, topics, rows = kept[0].score, [], [], []
        for score in kept:
            about: Any = score.score.metadata
            for unit in about["units"]:
                units.append({part: math.nan if amount is None else amount for part, amount in unit.items()})
                topics.append(about["topic"])
                rows.append(score.sample_id)
        table = _table(of, own.metadata or {}, kept[0].sample_metadata)
        keys = [key for key in own.value if key in table] if isinstance(own.value, Mapping) else list(table)
        whole = Score(of, "", units, {key: table[key] for key in keys}, None if None in topics else topics, rows)
        errors = whole.standard_errors()
        found: dict[str, float | None] = {}
        for key, value in whole.results.items():
            found[key] = float(value)
            found[f"{key}_stderr"] = without_nan({key: errors.get(key, math.nan)})[key]  # None is left out
        return found

    return compute


def _table(of: str, about: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> Results:
    if of in METRICS:
        nothing = {column: [] for column in METRICS[of].columns}
        score: Score = METRICS[of].load()(**nothing, **_with_schema(of, about["options"], metadata))
        return score.definitions
    task: Task = find_task(of)
    return (task.for_document(metadata) if metadata else task).table


def _registered_scorer(name: str) -> Any:
    """A scorer for a task's documents, or for a metric; that of reports scores documents, since it needs all of one."""
    spec = METRICS.get(name)
    of = "report_custom" if spec and spec.family == "reports" else name
    if of in METRICS:
        score, known = _score_metric, ["reference", "source", "schema", *options_of(METRICS[of].load())]
    else:
        score, known = _score_task, ["judge"] if find_task(of).judge else []

    def create(**options: Any) -> Scorer:
        check_options(f"the scorer {name}", options, known)

        async def run(state: TaskState, target: Target) -> InspectScore:
            return await score(of, options, state, target)

        return run

    return scorer(metrics=[corpus(of)], name=name)(create)


def _registered_task(name: str) -> Any:
    def create(**options: Any) -> InspectTask:
        return _make_task(name, options)

    return registered(name=name)(create)


_SCORERS = {name: _registered_scorer(name) for name in (*task_files(), *METRICS)}
_TASKS = {name: _registered_task(name) for name in task_files()}
