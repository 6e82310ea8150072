"""A task of somebody else's: nothing is scored again, its numbers are what its host logged for each document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tls_tasks.after.aggregates import Logged, table_of
from tls_tasks.after.conditions import model_name
from tls_tasks.after.content import Content
from tls_tasks.after.foreign import Results, SampleRow
from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog
from tls_tasks.after.run import Run
from tls_tasks.core.score import Score

_FUNCTION = re.compile(r"\bdef (\w+)\(|<function (\w+) at ")

_NO_METRIC = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)


class RunOfContent(Run):
    """A run that is called, as are its documents, what its log says.

    Attributes:
        content: All that the log says.
    """

    content: Content

    @property
    def name(self) -> str:
        """The task's name."""
        return self.content.task

    @property
    def model(self) -> str:
        """The model's name."""
        return self.content.model

    @property
    def ids(self) -> list[str]:
        """Each document's name."""
        return list(self.content.ids)


@dataclass(frozen=True)
class LoggedTask(RunOfContent):
    """One task of one run, with the numbers that its host logged.

    Attributes:
        run: Its files.
        log: Its samples, with what is wrong with the file, and the metrics whose numbers can't be made again.
        score: The numbers: one unit a document.
        results: The whole results file; empty if there is none.
        content: All that the log says.
    """

    run: RunFiles
    log: SampleLog
    score: Score
    results: Results
    content: Content

    @property
    def reported(self) -> dict[str, float]:
        """The numbers that the host reported."""
        return {key: found.reported for key, found in self.content.logged.items() if found.reported is not None}

    def picture(self, sample: Sample) -> dict[str, Any]:
        """The answer, with the target beside it."""
        target = sample.row.get("target")
        several = isinstance(target, list) and all(isinstance(one, str) for one in target)
        return {"kind": "text", "target": "" if target is None else "\n".join(target) if several else str(target)}


def logged_task(run: RunFiles, content: Content, clusters: Sequence[str] | None = None) -> LoggedTask:
    """A task with the numbers that its host logged.

    Args:
        run: Its files.
        content: What the log says.
        clusters: Each document's cluster: what is drawn and exchanged together. None: each stands for itself.
    """
    table, (units,), said = table_of([content.logged], len(content.ids))
    place = str(run.results or content.log.path)
    problems = [LogProblem("other_number", place, f"{content.task}: {key}: {why}") for key, why in said.items()]
    log = replace(content.log, problems=(*content.log.problems, *problems))
    return LoggedTask(run, log, Score(content.task, "", units, table, clusters), content.results, content)


def read_harness(run: RunFiles, name: str, log: SampleLog, results: Results) -> Content:
    """A task of the harness's.

    A metric is called as the harness prints it, with its filter where a task has several: ``exact_match,strict-match``.
    """
    stated = {
        _called(entry["metric"]): entry
        for entry in results.get("configs", {}).get(name, {}).get("metric_list") or ()
        if isinstance(entry, dict) and "metric" in entry
    }
    better = results.get("higher_is_better", {}).get(name, {})
    told = results.get("results", {}).get(name, {})
    logged = {}
    for filter_name, samples in log.filtered.items():
        rows = {sample.doc_id: sample.row for sample in samples}
        for metric in dict.fromkeys(metric for row in rows.values() for metric in _metrics(row)):
            values = [cast("dict[str, Any]", rows.get(sample.doc_id, {})).get(metric) for sample in log.samples]
            reported = told.get(f"{metric},{filter_name}")
            aggregation = _called(stated.get(metric, {}).get("aggregation"))
            logged[metric if len(log.filtered) == 1 else f"{metric},{filter_name}"] = Logged(
                values,
                aggregation,
                better.get(metric),
                float(reported) if isinstance(reported, int | float) else None,
            )
    return Content(
        name, model_name(results, run.folder), log, [str(sample.doc_id) for sample in log.samples], logged, results
    )


def _called(stated: Any) -> str:
    """The name of a metric or an aggregation; of a function of the task's own the harness logs the source."""
    match = _FUNCTION.search(stated) if isinstance(stated, str) else None
    return (match[1] or match[2]) if match else stated if isinstance(stated, str) else ""


def _metrics(row: SampleRow | Mapping[str, Any]) -> list[str]:
    """The metrics of a row; releases before ``metrics`` was logged have them among the other columns."""
    named = row.get("metrics")
    return named if named is not None else [key for key in row if key not in _NO_METRIC]
