"""What the YAML files name by ``!function``: made from a family's tasks.

``task_configs/FAMILY/hooks.py`` is two lines, and ``!function hooks.NAME`` is looked up here: ``load``, ``prompt``,
``target``, ``fewshot_target``, ``process``, ``judge``, and for each result key KEY the aggregations ``KEY`` and
``KEY_stderr``.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tls_tasks.core.score import Result, Unit, jackknife
from tls_tasks.core.task import Task, answer_text
from tls_tasks.hosts.context import load_fitting
from tls_tasks.hosts.request_cache import drop_stale_requests
from tls_tasks.hosts.unread import check_secrets, say_unread


class Number(float):
    """A document's result: a plain number in every log, with the units and whatever else the corpus's result needs."""

    __slots__ = ("about", "units")
    units: Sequence[Unit]
    about: Any

    def __new__(cls, value: float, units: Sequence[Unit], about: Any) -> Number:
        """Attach the units, and what else the aggregation needs."""
        self = super().__new__(cls, value)
        self.units, self.about = units, about
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Units survive the way between processes (accelerate, torchrun)."""
        return type(self), (float(self), self.units, self.about)


class _Hook:
    """An object that is neither function nor dataclass.

    Of functions the harness writes the source text into the results file, of dataclasses all fields, of this the
    ``str``.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return f"tls_tasks: {self.text}"


class Process(_Hook):
    """``process_results``: result key -> the document's number, and the same for standard errors."""

    def __init__(self, task: Task) -> None:
        super().__init__(f"process_results of {task.family}")
        self.task = task

    def __call__(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Number]:
        """Score one answer; never raises, since an exception would lose the whole run."""
        task = self.task.for_document(doc)
        unit, topic = task.process(doc, answer_text(results)), task.topic_of(doc)
        numbers = {
            key: Number(result.value([unit]), [{part: unit[part] for part in result.parts}], topic)
            for key, result in task.table.items()
        }
        # NaN: where a user's YAML does not name KEY_stderr, the harness would put the mean of these in its place.
        errors = {f"{key}_stderr": Number(math.nan, numbers[key].units, topic) for key in task.with_errors}
        return numbers | errors


class _Aggregation(_Hook):
    """What the harness calls with all documents' numbers: a result, or its jackknife standard error over topics."""

    def __init__(self, key: str, result: Result, is_error: bool) -> None:
        what = "jackknife standard error of " if is_error else ""
        super().__init__(f"{what}{key}, of the sums of {', '.join(result.parts)}")
        self.result, self.is_error = result, is_error

    def __call__(self, numbers: Sequence[Number]) -> float | str:
        """The corpus's value; of a standard error that can't be computed what the harness itself writes."""
        units, topics = [number.units[0] for number in numbers], [number.about for number in numbers]
        if not self.is_error:
            return self.result.value(units, topics)
        error = jackknife(self.result, units, topics)
        return "N/A" if math.isnan(error) else error


class _Load(_Hook):
    """``custom_dataset``: the documents as the harness wants them."""

    def __init__(self, task: Task) -> None:
        super().__init__(f"documents of {task.family}")
        self.task = task

    def __call__(self, **options: Any) -> dict[str, Any]:
        """Take what is in ``dataset_kwargs``, ``metadata``, ``--metadata`` and ``--model_args``."""
        from datasets import Dataset, Features, Value

        name = next(options.pop(key) for key in list(options) if key.endswith("_data_set"))
        check_secrets(self.task, options)
        say_unread(self.task, options.keys() - {"generation", "answer_tokens", *self.task.options})
        rows = [dict(row) for row in load_fitting(self.task, name, options)]
        drop_stale_requests(name, options.get("config_source"), rows)
        # Text and whole numbers only: the JSON in some columns is never looked into, so that no date becomes a time.
        kinds = {key: Value("int64" if isinstance(value, int) else "string") for key, value in rows[0].items()}
        splits = {"test": rows}
        if self.task.fewshot is not None:
            splits["fewshot"] = [dict(row) for row in self.task.fewshot(name)]
        return {split: Dataset.from_list(of, features=Features(kinds)) for split, of in splits.items()}


class _Judge(_Hook):
    """A filter: the judged answers, all at once."""

    def __init__(self, task: Task) -> None:
        super().__init__(f"judged answers of {task.family}")
        self.judge = task.judge

    def __call__(self, responses: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[str]:
        """Ask the judge about all answers."""
        assert self.judge is not None
        return self.judge([answer_text([response]) for response in responses], docs)


def hooks(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a ``hooks.py``.

    Args:
        module: A family's module with ``TASKS``.
    """

    def lookup(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        family = importlib.import_module(module)
        tasks: Mapping[str, Task] = family.TASKS
        task = next(iter(tasks.values()))
        if name in ("load", "process", "judge"):
            return {"load": _Load, "process": Process, "judge": _Judge}[name](task)
        if name in ("prompt", "target", "fewshot_target"):
            return getattr(task, name.removeprefix("fewshot_"))
        if name.endswith("_prompt") and (own := next((t for n, t in tasks.items() if n.endswith(name[:-7])), None)):
            return own.prompt
        key = name.removesuffix("_stderr")
        table = {key: result for task in tasks.values() for key, result in task.table.items()}
        # Where documents bring their own table (an extraction's schema), a user's YAML names keys of its own.
        result = table.get(key) or (family.result_of(key) if task.table_of is not None else None)
        if result is not None:
            return _Aggregation(key, result, name != key)
        known = ", ".join(("load", "prompt", "target", "fewshot_target", "process", *table))
        raise AttributeError(f"{module}: no {name!r}; there are {known}")

    return lookup
