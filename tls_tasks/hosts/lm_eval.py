"""What the YAML files name by ``!function``: made from a family's tasks.

``task_configs/FAMILY/hooks.py`` is two lines, and ``!function hooks.NAME`` is looked up here: ``load``, ``prompt``,
``target``, ``fewshot_target``, ``process``, ``judge``, ``repeats``, and for each result key KEY the aggregations
``KEY`` and ``KEY_stderr``.
"""

from __future__ import annotations

import difflib
import importlib
import logging
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tls_tasks.core.errors import check_whole_number
from tls_tasks.core.score import Result, Unit, jackknife
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.core.task import Task, answers_in
from tls_tasks.hosts.loading import load_fitting
from tls_tasks.hosts.releases import as_logged, mend

_LEAST_LIKENESS = 0.8  # of a name that may be misspelt; many arguments of models are somewhat alike

_said: set[tuple[str, str]] = set()
_log = logging.getLogger(__name__)


def _check_options(task: Task, options: Mapping[str, Any]) -> None:
    """Look at ``--metadata`` and ``--model_args``, which both end in the results.

    Warns of what may be a misspelt option of the task, once a family; all else may be for the model.

    Raises:
        InputError: What looks like a secret: names the option, never the secret.
    """
    texts = {name: value for name, value in options.items() if isinstance(value, str)}  # a judge's are its own matter
    advice = "the name of an environment variable, or one that the model reads, such as OPENAI_API_KEY or HF_TOKEN"
    check_no_secret(texts, "--metadata or --model_args", advice)
    for name in options.keys() - set(task.options):
        meant = difflib.get_close_matches(name, task.options, 1, _LEAST_LIKENESS)
        if meant and (task.family, name) not in _said:
            _said.add((task.family, name))
            _log.warning("tasks of %s do not read the option %r; did you mean %r?", task.family, name, meant[0])


class Number(float):
    """A document's result: a plain number in every log, with the units and whatever else the corpus's result needs.

    Its ``aggregation`` counts where the file of the task names none.
    """

    __slots__ = ("about", "aggregation", "units")
    units: Sequence[Unit]
    about: Any
    aggregation: Any

    def __new__(cls, value: float, units: Sequence[Unit], about: Any, aggregation: Any = None) -> Number:
        """Attach the units, and what else the aggregation needs."""
        self = super().__new__(cls, value)
        self.units, self.about, self.aggregation = units, about, aggregation
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Units survive the way between processes (accelerate, torchrun)."""
        return type(self), (float(self), self.units, self.about)


class _Hook:
    """A function in an object that is neither function nor dataclass.

    Of functions the harness writes the source text into the results file, of dataclasses all fields, of this the
    ``str``.
    """

    def __init__(self, text: str, call: Callable[..., Any]) -> None:
        self.text, self.call = text, call

    def __str__(self) -> str:
        return f"tls_tasks: {self.text}"

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.call(*arguments, **options)


def process_results(task: Task, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Number]:
    """Result key -> the document's number, and the same for standard errors.

    It never raises, since an exception would lose the whole run.
    """
    static_table, task = task.table, task.for_document(doc)
    unit, topic = task.process_repeats(doc, results), task.get_topic(doc)

    def number(key: str, value: float, is_error: bool = False) -> Number:
        result = task.table[key]
        aggregation = None if key in static_table else partial(_aggregate, result, is_error)  # of the data's own schema
        return Number(value, [{part: unit[part] for part in result.parts}], topic, aggregation)

    numbers = {key: number(key, result.value([unit])) for key, result in task.table.items()}
    # NaN: where a user's YAML does not name KEY_stderr, the harness would put the mean of these in its place.
    return numbers | {f"{key}_stderr": number(key, math.nan, True) for key in task.jackknife_keys}


def _aggregate(result: Result, is_error: bool, numbers: Sequence[Number]) -> float | str:
    """All documents' numbers -> the result, or its jackknife standard error over topics, or what the harness writes."""
    units, topics = [number.units[0] for number in numbers], [number.about for number in numbers]
    if not is_error:
        return result.value(units, topics)
    error = jackknife(result, units, topics)
    return "N/A" if math.isnan(error) else error


def _load(task: Task, **options: Any) -> dict[str, Any]:
    """``custom_dataset``: what is in ``dataset_kwargs``, ``metadata``, ``--metadata`` and so on -> the documents."""
    from datasets import Dataset, Features, Value

    name = next(options.pop(key) for key in list(options) if key.endswith("_data_set"))
    _check_options(task, options)
    config, run = _run()
    if config is not None and (repeats := options.pop("repeats", None)):
        config.repeats = check_whole_number("repeats", repeats)
    rows = [dict(row) for row in load_fitting(task, name, {**run, **options})]
    if config is not None and (said := options.get("provenance", {}).get("data")):
        # The harness may use one configuration twice.
        config.task_alias = f"{(config.task_alias or config.task).removesuffix(f' ({said})')} ({said})"
    # Text and whole numbers only: the JSON in some columns is never looked into, so that no date becomes a time.
    kinds = {key: Value("int64" if isinstance(value, int) else "string") for key, value in rows[0].items()}
    splits = {"test": rows}
    if task.fewshot is not None:
        splits["fewshot"] = [{key: row.get(key) for key in kinds} for row in task.fewshot(name)]
    return {split: Dataset.from_list(of, features=Features(kinds)) for split, of in splits.items()}


def _run() -> tuple[Any, dict[str, Any]]:
    """Return the configuration of the task that is loaded now, None outside of a run, and options that are the run's.

    The harness tells its tasks of none before they are loaded; the frames of its functions hold all: ``num_fewshot``,
    ``lm``, the model, None if it counts no tokens and so cuts nothing, and ``max_gen_toks`` of ``--gen_kwargs``.
    """
    from lm_eval.api.model import TemplateLM

    config, values, frame = None, dict.fromkeys(("num_fewshot", "lm", "gen_kwargs")), sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__", "").partition(".")[0] == "lm_eval":
            config = getattr(frame.f_locals.get("self"), "config", None) if config is None else config
            values = {key: frame.f_locals.get(key) if value is None else value for key, value in values.items()}
    own, n, lm = getattr(config, "num_fewshot", None), values["num_fewshot"], getattr(values["lm"], "lm", values["lm"])
    told = values["gen_kwargs"] if isinstance(values["gen_kwargs"], dict) else {}
    return config, {
        "num_fewshot": (own if n is None or own == 0 else n) or 0,
        "lm": lm if isinstance(lm, TemplateLM) else None,  # lm.lm: of CachingLM
        "max_gen_toks": told.get("max_gen_toks"),
    }


def _judge(task: Task, responses: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A filter: the judged answers of all documents and repeats, all at once."""
    assert task.judge is not None
    answers = [answers_in([list(response)]) for response in responses]
    asked = [doc for doc, own in zip(docs, answers, strict=True) for _ in own]
    judged = iter(task.judge([answer for own in answers for answer in own], asked))
    return list(map(as_logged, ([next(judged) for _ in own] for own in answers)))


def _repeats(task: Task, responses: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A filter: all answers of a document, of which 0.4 would take the first."""
    return [as_logged(list(response)) for response in responses]


_CALLS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "load": ("documents", _load),
    "process": ("process_results", process_results),
    "judge": ("judged answers", _judge),
    "repeats": ("all answers", _repeats),
}


def hooks(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a ``hooks.py``.

    Args:
        module: A family's module with ``TASKS``.
    """
    mend()

    def lookup(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        family = importlib.import_module(module)
        tasks: Mapping[str, Task] = family.TASKS
        task = next(iter(tasks.values()))
        ending, _, what = name.rpartition("_")  # closed_book_prompt: of the first task whose name ends so
        if ending and what in (*_CALLS, "prompt", "target"):
            own = next((own for name, own in tasks.items() if name.endswith(f"_{ending}")), None)
            task, name = (task, name) if own is None else (own, what)
        if name in _CALLS:
            text, call = _CALLS[name]
            return _Hook(f"{text} of {task.family}", partial(call, task))
        if name in ("prompt", "target", "fewshot_target"):
            return getattr(task, name.removeprefix("fewshot_"))
        key = name.removesuffix("_stderr")
        table = {key: result for task in tasks.values() for key, result in task.table.items()}
        if (result := table.get(key)) is None:
            known = ", ".join(("load", "prompt", "target", "fewshot_target", "process", *table))
            raise AttributeError(f"{module}: no {name!r}; there are {known}")
        of = f"{key}, of the sums of {', '.join(result.parts)}"
        text = of if name == key else f"jackknife standard error of {of}"
        return _Hook(text, partial(_aggregate, result, name != key))

    return lookup
