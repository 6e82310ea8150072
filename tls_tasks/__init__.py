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
import os

TYPE_CHECKING = False  # to import typing, pathlib or the registry takes a command long enough for a Ctrl-C to hit it
if TYPE_CHECKING:  # what editors, type checkers and the API reference see
    from typing import Any

    from tls_tasks.after.meta import meta
    from tls_tasks.evidence.evidence_extraction import evidence_extraction
    from tls_tasks.registry import METRICS
    from tls_tasks.registry import find_task as task
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

_FOLDER = os.path.dirname(__file__)
if not os.path.isdir(f"{_FOLDER}/task_configs"):
    # A checkout: metrics/ and task_configs/ lie beside this folder, in a wheel inside it. With this line
    # `tls_tasks.task_configs`, which is what our entry point names, is the right folder in both.
    __path__.append(os.path.dirname(_FOLDER))


def __getattr__(name: str) -> "Any":
    """Import a metric's function, or a family, at first use, so that ``import tls_tasks`` stays light."""
    registry = importlib.import_module(f"{__name__}.registry")
    of_registry = {"METRICS": registry.METRICS, "task": registry.find_task, "registry": registry}
    if name in of_registry:
        return of_registry[name]
    if name in registry.METRICS:
        return registry.METRICS[name].load()
    if name == "meta":
        return importlib.import_module(f"{__name__}.after.meta").meta
    if name in registry.FAMILIES:
        return importlib.import_module(f"{__name__}.{name}")
    from tls_tasks.core.errors import nearest

    names = [*__all__, *registry.FAMILIES]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{nearest(name, names)}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
