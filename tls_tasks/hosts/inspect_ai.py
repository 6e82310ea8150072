"""Inspect's view of tasks: ``inspect eval tls_tasks/TASK``, ``inspect score LOG --scorer tls_tasks/TASK``.

The entry point of the group ``inspect_ai`` imports this module, and nothing else does: it needs the extra ``inspect``.
Each task is registered with a scorer of the same name, since by its name alone ``inspect score`` finds one again.
"""

import copy
import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from anyio import to_thread
from inspect_ai import Task as InspectTask
from inspect_ai import task as registered
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Scorer, Target, Value, metric, scorer
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.solver import TaskState

from tls_tasks.core.errors import InputError, check_options, check_whole_number
from tls_tasks.core.score import Results, Score, Unit, grouped, mean_unit, without_nan
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.core.task import Doc, Task
from tls_tasks.hosts.discovery import task_file, task_files
from tls_tasks.hosts.loading import load_fitting
from tls_tasks.registry import find_task

_NOT_FOR_USERS = {"closed_book", "generation", "model_args", "provenance"}


def _registered_task(name: str) -> Any:
    def create(**options: Any) -> InspectTask:
        task, config = find_task(name), copy.deepcopy(task_file(name).config)
        check_options(name, options, [*(set(task.options) - _NOT_FOR_USERS), "num_fewshot", "max_length"])
        check_no_secret(options, "-T")
        examples = _examples(task, options.get("num_fewshot", 0))
        told, about = config["generation_kwargs"], {**config["metadata"], **options}
        documents = load_fitting(task, name, {**config["dataset_kwargs"], **about, "generation": told})
        how = GenerateConfig(max_tokens=told["max_gen_toks"], stop_seqs=told["until"], temperature=told["temperature"])
        dataset = MemoryDataset([_sample(task, doc, examples) for doc in documents], name=name)
        version, score = about.pop("version"), _SCORERS[name]()
        return InspectTask(dataset=dataset, scorer=score, config=how, version=version, metadata=about)

    return registered(name=name)(create)


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


async def _score_task(name: str, options: Mapping[str, Any], state: TaskState) -> InspectScore:
    """A document of ours; its answer is judged first where answers are judged, unless the log has the verdicts."""
    task, doc, answer, kept = find_task(name), state.metadata, state.output.completion, {}
    if "doc_id" not in doc:
        expected = f"a document of {name}; the function of a metric scores other tasks' answers"
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
    return _as_inspects(answer, unit, _ordered(task), scores, {**kept, "topic": task.get_topic(doc)})


def _ordered(task: Task) -> Results:
    """The results, the headline first, then as the task's file lists them."""
    table = task.table
    return {key: table[key] for key in [task.headline, *task_file(task.name).metrics, *table] if key in table}


def _as_inspects(
    answer: str, unit: Unit, table: Results, scores: Mapping[str, Score], about: Mapping[str, Any]
) -> InspectScore:
    failed = [key for key in table if key.endswith("parse_failures") and table[key].value([unit])]
    is_broken = any(map(math.isnan, unit.values()))
    reason = "scoring_failed" if is_broken else "invalid_response_format" if failed else None
    said = "\n\n".join(score.explain(0) for score in scores.values())
    signatures = {name: score.signature for name, score in scores.items()}
    return InspectScore(
        value=without_nan({key: float(result.value([unit])) for key, result in table.items()}),
        answer=answer,
        explanation=textwrap.indent(said, "    "),  # which is code in Markdown, as the viewer takes it
        reason=reason if answer.strip() else "no_response",
        metadata={"unit": without_nan(unit), "signatures": signatures, **about},  # None: unscored
    )


@metric(scores="unreduced")
def corpus(of: str) -> Metric:
    """The results of all documents, as lm-eval aggregates them: of sums, not of the documents' results.

    The sums of a document are their means over epochs. ``KEY_stderr`` is the jackknife standard error over topics, or
    over samples.

    Args:
        of: A task.
    """

    def compute(scores: list[SampleScore]) -> Value:
        kept = [score for score in scores if "unit" in (score.score.metadata or {})]
        if not kept:
            return {}
        about: list[Any] = [score.score.metadata for score in kept]
        each = [{part: math.nan if sum_ is None else sum_ for part, sum_ in own["unit"].items()} for own in about]
        rows = [score.sample_id for score in kept]
        units = [mean_unit(epochs) for epochs in grouped(each, rows).values()]
        topics = [epochs[0]["topic"] for epochs in grouped(about, rows).values()]
        table = _ordered(find_task(of).for_document(kept[0].sample_metadata or {}))
        # Of documents with schemas of their own, the results that all of them have.
        table = {key: result for key, result in table.items() if all(unit.keys() >= {*result.parts} for unit in units)}
        whole = Score(of, "", units, table, topics)
        errors = {**dict.fromkeys(table, math.nan), **whole.standard_errors()}
        stderr = without_nan({f"{key}_stderr": error for key, error in errors.items()})  # None is left out
        return {key: float(value) for key, value in whole.results.items()} | stderr

    return compute


def _registered_scorer(name: str) -> Any:
    """The scorer of a task's documents; it takes a judge where answers are judged."""
    known = ["judge"] if find_task(name).judge else []

    def create(**options: Any) -> Scorer:
        check_options(f"the scorer {name}", options, known)

        async def run(state: TaskState, target: Target) -> InspectScore:
            return await _score_task(name, options, state)

        return run

    return scorer(metrics=[corpus(name)], name=name)(create)


_SCORERS = {name: _registered_scorer(name) for name in task_files()}
_TASKS = {name: _registered_task(name) for name in task_files()}
