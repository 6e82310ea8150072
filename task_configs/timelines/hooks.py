"""What the YAML files here name by ``!function``.

Releases of lm-eval before 0.4.12 find functions only in files beside the YAML.
"""

from typing import Any

from tls_tasks.hosts.aggregations import f_of_means, mean_f_by_topic, total
from tls_tasks.timelines.data import load_timeline_task
from tls_tasks.timelines.documents import closed_book_prompt, prompt
from tls_tasks.timelines.task import process_timeline

__all__ = [
    "closed_book_prompt",
    "f_of_means",
    "load_timelines",
    "mean_f_by_topic",
    "process_timeline",
    "prompt",
    "total",
]


def load_timelines(*, tls_data_set: str, **options: Any) -> Any:
    """Load a task's documents; metadata, ``--metadata`` and ``--model_args`` are the options."""
    return load_timeline_task(tls_data_set, **options)
