"""Families that are not on :class:`~tls_tasks.core.task.Task` yet, seen as if they were. Goes with the last of them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.score import Result
from tls_tasks.core.task import Task


def old_task(name: str, family: str, config: Mapping[str, Any]) -> Task:
    """A task made of its YAML's process function and aggregations."""
    from tls_tasks.hosts.aggregations import AGGREGATIONS

    hooks = importlib.import_module(f"tls_tasks.task_configs.{family}.hooks")
    process = getattr(hooks, str(config["process_results"]).removeprefix("hooks."))
    explain = importlib.import_module(process.__module__).explain
    metrics = {
        entry["metric"]: (str(entry["aggregation"]).removeprefix("hooks."), entry.get("higher_is_better"))
        for entry in config["metric_list"]
    }

    def sums(key: str, value: Any) -> dict[str, float]:
        how = metrics[key][0]
        if how == "mean_f_by_topic":
            return {f"{key}.n": 1.0, f"{key}.f1": float(value["f1"])}
        return {f"{key}.{part}": number for part, number in AGGREGATIONS[how].units([value])[0].items()}

    def unit(doc: Mapping[str, Any], answer: Any) -> dict[str, float]:
        values = process(doc, [answer])
        return {part: number for key in metrics for part, number in sums(key, values[key]).items()}

    def result(key: str) -> Result:
        how, better = metrics[key]
        if how == "mean_f_by_topic":
            return Result((f"{key}.n", f"{key}.f1"), lambda n, f1: f1 / n if n else 0.0, 0.0, better, equal_votes=True)
        one: Any = {"f1": 0, "precision": 0, "recall": 0, "hits": 0, "of": 0, "tp": 0, "fp": 0, "fn": 0, "topic": ""}
        one |= {"support": {"hits": 0, "of": 0}, "coverage": {"hits": 0, "of": 0}}
        plain = how in ("mean", "nanmean", "total")
        names = list(AGGREGATIONS[how].units([0.0 if plain else one])[0])
        aggregation = AGGREGATIONS[how]

        def of(*numbers: float) -> float:
            return aggregation.value(dict(zip(names, numbers, strict=True)))

        return Result(tuple(f"{key}.{name}" for name in names), of, aggregation.of_nothing, better)

    return Task(
        name,
        family,
        {key: result(key) for key in metrics},
        load=lambda name, **options: (),
        prompt=hooks.prompt,
        target=lambda doc: "",
        unit=unit,
        explain=lambda doc, answer: explain(doc, [answer]),
        topic="topic" if family == "timelines" else "",
    )
