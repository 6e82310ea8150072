"""Judges, which answer the yes/no questions about a report; the interface is :class:`~tls_tasks.reports.types.Judge`.

A question that can't be answered gets an unscored verdict with a reason, never a score. A server that refuses every
question raises :class:`~tls_tasks.core.errors.JudgeError` with the server's message.
"""

from tls_tasks.reports.judges.cache import VerdictCache
from tls_tasks.reports.judges.callable import CallableJudge
from tls_tasks.reports.judges.choose import ModelProvider, evaluate_report, from_provider
from tls_tasks.reports.judges.endpoint import ChatJudge
from tls_tasks.reports.judges.recordings import Recorded, Recorder

__all__ = [
    "CallableJudge", "ChatJudge", "ModelProvider", "Recorded", "Recorder", "VerdictCache", "evaluate_report",
    "from_provider",
]  # fmt: skip
