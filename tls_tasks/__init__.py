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

from __future__ import annotations

from pathlib import Path
from typing import Any

from tls_tasks.registry import METRICS, find_task

__version__ = "0.1.0"

task = find_task

__all__ = sorted([*METRICS, "METRICS", "__version__", "task"])

if not (Path(__file__).parent / "task_configs").is_dir():
    # A checkout: metrics/ and task_configs/ lie beside this folder, in a wheel inside it. With this line
    # `tls_tasks.task_configs`, which is what our entry point names, is the right folder in both.
    __path__.append(str(Path(__file__).parent.parent))


def __getattr__(name: str) -> Any:
    """Import a metric's function at first use, so that ``import tls_tasks`` stays light."""
    if name in METRICS:
        return METRICS[name].load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
