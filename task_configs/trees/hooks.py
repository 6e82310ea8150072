"""What the YAML files here name by ``!function``.

Releases of lm-eval before 0.4.12 find functions only in files beside the YAML.
"""

from typing import Any

from tls_tasks.hosts.aggregations import ratio_of_sums, total, tree_f1, tree_precision, tree_recall
from tls_tasks.trees.data import load_tree_task, prompt
from tls_tasks.trees.task import process_tree

__all__ = [
    "load_trees",
    "process_tree",
    "prompt",
    "ratio_of_sums",
    "total",
    "tree_f1",
    "tree_precision",
    "tree_recall",
]


def load_trees(*, tree_data_set: str, **options: Any) -> Any:
    """Load a task's documents; metadata, ``--metadata`` and ``--model_args`` are the options."""
    return load_tree_task(tree_data_set, **options)
