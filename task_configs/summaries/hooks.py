"""What the YAML files here name by ``!function``.

Releases of lm-eval before 0.4.12 find functions only in files beside the YAML.
"""

from typing import Any

from tls_tasks.hosts.aggregations import total
from tls_tasks.summaries.data import load_summary_task, prompt
from tls_tasks.summaries.task import process_summary

__all__ = ["load_summaries", "process_summary", "prompt", "total"]


def load_summaries(*, summ_data_set: str, **options: Any) -> Any:
    """Load a task's documents; metadata, ``--metadata`` and ``--model_args`` are the options."""
    return load_summary_task(summ_data_set, **options)
