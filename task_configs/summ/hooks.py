"""What the YAML files here name by ``!function``.

Releases of lm-eval before 0.4.12 find functions only in files beside the YAML.
"""

from typing import Any

from tls_tasks.datasets.summaries import load_summary_task, prompt
from tls_tasks.harness.aggregations import total
from tls_tasks.harness.summaries import process_summary

__all__ = ["load_summaries", "process_summary", "prompt", "total"]


def load_summaries(*, summ_data_set: str, **options: Any) -> Any:
    """Load a task's documents; metadata, ``--metadata`` and ``--model_args`` are the options."""
    return load_summary_task(summ_data_set, **options)
