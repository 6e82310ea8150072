"""Scores for long-form model output that people can trust.

Every metric of :data:`tls_tasks.registry.METRICS` is a function of this package under its own name, imported at first
use::

    >>> import tls_tasks
    >>> score = tls_tasks.date_f1(
    ...     predictions=[[{"date": "2011-01-25", "text": "Protests begin."}]],
    ...     references=[{"2011-01-25": ["Protests begin."], "2011-02-11": ["Mubarak resigns."]}],
    ... )
    >>> score.as_dict()["date_recall"]
    0.5
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.registry import FAMILIES, METRICS
from tls_tasks.registry import find_task as task

if TYPE_CHECKING:  # what editors, type checkers and the API reference see
    from tls_tasks.after.meta import meta
    from tls_tasks.evidence.evidence_extraction import evidence_extraction
    from tls_tasks.reports.report_eval import report_eval
    from tls_tasks.summaries.rouge_l import rouge_l
    from tls_tasks.timelines.alignment_rouge import alignment_rouge
    from tls_tasks.timelines.date_f1 import date_f1
    from tls_tasks.trees.tree_eval import tree_eval

__version__ = "0.1.0"

__all__ = [
    "METRICS",
    "__version__",
    "alignment_rouge",
    "date_f1",
    "evidence_extraction",
    "meta",
    "report_eval",
    "rouge_l",
    "task",
    "tree_eval",
]

if not (Path(__file__).parent / "task_configs").is_dir():
    # A checkout: metrics/ and task_configs/ lie beside this folder, in a wheel inside it. With this line
    # `tls_tasks.task_configs`, which is what our entry point names, is the right folder in both.
    __path__.append(str(Path(__file__).parent.parent))


def __getattr__(name: str) -> Any:
    """Import a metric's function, or a family, at first use, so that ``import tls_tasks`` stays light."""
    if name in METRICS:
        return METRICS[name].load()
    if name == "meta":
        return importlib.import_module(f"{__name__}.after.meta").meta
    if name in FAMILIES:
        return importlib.import_module(f"{__name__}.{name}")
    from tls_tasks.core.errors import nearest

    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{nearest(name, [*__all__, *FAMILIES])}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
