"""What the server of :mod:`tests.fault_parts` has ready before it forks: all that commands import and read first."""

import importlib

from tls_tasks.hosts.discovery import task_files
from tls_tasks.registry import find_task

for _name in (
    *("pyarrow.csv", "pyarrow.parquet", "tests.fault_parts"),
    *(f"tls_tasks.{name}" for name in ("cli", "after.page", "after.comparisons", "after.submission.verification")),
    *(f"tls_tasks.{name}" for name in ("after.submission.leaderboard", "reports.report_eval", "reports.runs")),
):
    importlib.import_module(_name)
for _name in task_files():
    find_task(_name)
