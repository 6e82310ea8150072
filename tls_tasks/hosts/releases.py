"""What releases of lm-eval lack, mended in the running process: each change with the condition under which it goes."""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, wraps
from importlib.metadata import version
from typing import Any

TRIED = ("0.4.12", "0.4.13", "0.5.0")
"""How the releases begin that every family has run on, with equal results."""

_log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def mend() -> None:
    """Change what the installed release lacks; of one that was never tried, as much as it has, and one line says so."""
    release = version("lm_eval")
    is_tried = release.startswith(TRIED)
    if not is_tried:
        known = ", ".join(TRIED)
        _log.warning(
            "lm-eval %s was never tried with tls-tasks (%s were): check a run by `tls-tasks score`", release, known
        )
    try:
        for module, owner, name, change in _changes():
            place = importlib.import_module(f"lm_eval.{module}")
            place = getattr(place, owner) if owner else place
            setattr(place, name, wraps(original := getattr(place, name))(change(original)))
    except (AttributeError, ImportError):
        if is_tried:
            raise


def _changes() -> list[tuple[str, str, str, Callable[..., Any]]]:
    """List module, class, function, and what makes the changed function of it."""
    from lm_eval.api import metrics

    changes: list[tuple[str, str, str, Callable[..., Any]]] = []
    if not hasattr(metrics, "unweighted_mean_stderr"):  # goes with releases before 0.4.13, once 0.5 has it
        changes.append(("api.group", "Group", "aggregate", _with_errors_of_means))
    if not hasattr(metrics, "Metric"):  # goes with releases before 0.4.13
        return [*changes, ("api.task", "ConfigurableTask", "process_results", _with_pooled_keys)]
    # 0.5: the first goes once a metric states its own standard error, or only what is registered is drawn at random;
    # the second once a task's own results are not looked up in the registry; the third once it does as 0.4.13 does.
    changes.append(("api.metrics", "", "stderr_for_metric", _without_random_draws))
    changes.append(("api.metrics.utils", "", "parse_metric", _with_names_of_tasks))
    return [*changes, ("scorers", "Scorer", "aggregate", _with_pooled_results)]


def as_logged(answers: list[Any]) -> Any:
    """Return what a filter gives for a document: 0.4 logs one answer as text, of which 0.5 would make letters."""
    from lm_eval.api import metrics

    return answers[0] if len(answers) == 1 and not hasattr(metrics, "Metric") else answers


def is_ours(function: Any) -> bool:
    """Tell whether a function, or the class of an object, is of this package."""
    return str(getattr(function, "__module__", "")).startswith("tls_tasks.")


def _with_errors_of_means(aggregate: Callable[..., Any]) -> Callable[..., Any]:
    """The standard error of a group of ours is that of the plain mean over tasks, not pooled by their sizes."""

    def changed(self: Any, task_metrics: Any) -> Any:
        row, tasks = aggregate(self, task_metrics), self.get_all_tasks()
        if all(is_ours(task.config.process_results) for task in tasks):
            names = {getattr(task, "_qualified_name", task.task_name) for task in tasks}
            members = [metrics for name, metrics in task_metrics.items() if name in names]
            for key in (key for key, value in row.items() if "_stderr," in key and value != "N/A"):
                row[key] = math.sqrt(sum(metrics[key] ** 2 for metrics in members)) / len(members)
        return row

    return changed


def _with_pooled_keys(process_results: Callable[..., Any]) -> Callable[..., Any]:
    """All results of a metric or task of ours get their aggregation, not only those that the file of a task names."""

    def changed(self: Any, doc: Any, results: Any, **options: Any) -> Any:
        row = process_results(self, doc, results, **options)
        if any(map(is_ours, self._aggregation_list.values())):
            self._aggregation_list.update({**_aggregations(row), **self._aggregation_list})
        return row

    return changed


def _without_random_draws(stderr_for_metric: Callable[..., Any]) -> Callable[..., Any]:
    """No bootstrap of ours: 100,000 draws a result, of which the harness has the standard error already."""
    return lambda metric, bootstrap_iters: None if is_ours(metric) else stderr_for_metric(metric, bootstrap_iters)


def _with_names_of_tasks(parse_metric: Callable[..., Any]) -> Callable[..., Any]:
    """A task's results are not looked up in the registry (``f1``), nor do they go up where the file says ``null``."""

    def changed(config: Any, output_type: Any = None) -> Any:
        if is_ours(config.get("aggregation")):
            config = {**config, "metric": type(config["metric"], (), {})}  # by its name alone: nothing calls it
        parsed = parse_metric(config, output_type)
        return replace(parsed, higher_is_better=config.get("higher_is_better", parsed.higher_is_better))

    return changed


def _with_pooled_results(aggregate: Callable[..., Any]) -> Callable[..., Any]:
    """As :func:`_with_pooled_keys`."""

    def changed(self: Any, docs: Any, bootstrap_iters: Any = 0, aggregation_overrides: Any = None) -> Any:
        has_ours = any(is_ours(metric.aggregation) for metric in self.metrics or ())
        pooled = {key: own for row in docs.values() for key, own in _aggregations(row).items()} if has_ours else {}
        return aggregate(self, docs, bootstrap_iters, {**pooled, **(aggregation_overrides or {})})

    return changed


def _aggregations(row: Any) -> dict[str, Callable[..., Any]]:
    """Return the aggregations that the results of a document bring with them."""
    return {key: own for key, value in (row or {}).items() if (own := getattr(value, "aggregation", None)) is not None}
