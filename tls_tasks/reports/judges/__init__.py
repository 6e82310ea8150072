"""Judges: what answers the yes/no questions about a report, behind :class:`~tls_tasks.reports.types.Judge`.

A model's trouble with a question is an unscored verdict with a reason, and never a score; a server that refuses every
question raises :class:`~tls_tasks.core.errors.JudgeError`, in its own words.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tls_tasks.reports.judges.api import evaluate_report
    from tls_tasks.reports.judges.cache import VerdictCache
    from tls_tasks.reports.judges.callable import ByKind, from_callable
    from tls_tasks.reports.judges.nli import NliJudge
    from tls_tasks.reports.judges.providers import ModelProvider, from_endpoint, from_provider
    from tls_tasks.reports.judges.recorded import Recorded, Recorder
    from tls_tasks.reports.judges.stats import JudgeStats

_PLACES = {
    "ByKind": "callable",
    "JudgeStats": "stats",
    "ModelProvider": "providers",
    "NliJudge": "nli",
    "Recorded": "recorded",
    "Recorder": "recorded",
    "VerdictCache": "cache",
    "evaluate_report": "api",
    "from_callable": "callable",
    "from_endpoint": "providers",
    "from_provider": "providers",
}

__all__ = [
    "ByKind",
    "JudgeStats",
    "ModelProvider",
    "NliJudge",
    "Recorded",
    "Recorder",
    "VerdictCache",
    "evaluate_report",
    "from_callable",
    "from_endpoint",
    "from_provider",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for: whoever looks up documents needs no network."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
