"""What the YAML files here name by ``!function``.

Releases of lm-eval before 0.4.12 find functions only in files beside the YAML.
"""

from collections.abc import MutableMapping
from typing import Any

from tls_tasks.hosts.aggregations import f1_of_scored, ratio_of_scored, total
from tls_tasks.reports.data import load_report_task, prompt
from tls_tasks.reports.judges.choose import check_judge
from tls_tasks.reports.task import judge_answers, process_report

__all__ = [
    "f1_of_scored",
    "judge_answers",
    "load_reports",
    "process_report",
    "prompt",
    "ratio_of_scored",
    "total",
]


def load_reports(
    *, report_data_set: str, judge: Any = "none", provenance: MutableMapping[str, str] | None = None, **options: Any
) -> Any:
    """Load a task's documents; metadata, ``--metadata`` and ``--model_args`` are the options.

    A judge that can't work is refused here, before anything has been generated; its name goes into the results.
    """
    name = check_judge(judge)
    if provenance is not None:
        provenance["judge"] = name
    return load_report_task(report_data_set, judge=judge, provenance=provenance, **options)
