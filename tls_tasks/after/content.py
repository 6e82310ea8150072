"""What a reader makes of one log, whatever its host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tls_tasks.after.aggregates import Logged
from tls_tasks.after.foreign import Results
from tls_tasks.after.logs import SampleLog


@dataclass(frozen=True, slots=True)
class Content:
    """One task of one run as its log has it.

    Attributes:
        task: The task's name.
        model: The model's name.
        log: Its samples.
        ids: Each document's name.
        logged: Metric -> what was logged of it.
        results: What the harness's results file would say of a task of ours; empty where nothing like it is logged.
    """

    task: str
    model: str
    log: SampleLog
    ids: Sequence[str]
    logged: Mapping[str, Logged]
    results: Results = field(default_factory=Results)
