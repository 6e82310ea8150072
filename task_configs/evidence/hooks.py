"""What the YAML files here name by ``!function``.

Releases of lm-eval before 0.4.12 find functions only in files beside the YAML.
"""

from typing import Any

from tls_tasks.evidence.data import load_evidence_task, prompt
from tls_tasks.evidence.task import process_evidence
from tls_tasks.hosts.aggregations import f1_of_sums, ratio_of_sums, total

__all__ = ["f1_of_sums", "load_evidence", "process_evidence", "prompt", "ratio_of_sums", "total"]


def load_evidence(*, evidence_data_set: str, **options: Any) -> Any:
    """Load a task's documents; metadata, ``--metadata`` and ``--model_args`` are the options."""
    return load_evidence_task(evidence_data_set, **options)
