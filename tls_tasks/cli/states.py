"""The data sets of all families, until each family's ``data`` module has ``DATA_SETS``."""

from __future__ import annotations

from collections.abc import Mapping

from tls_tasks.data.order import Wanted
from tls_tasks.evidence.data import DATA_SETS as EVIDENCE
from tls_tasks.reports.data import DATA_SETS as REPORTS
from tls_tasks.summaries.data import DATA_SETS as SUMMARIES
from tls_tasks.timelines.data import DATA_SETS as TIMELINES
from tls_tasks.trees.data import DATA_SETS as TREES


def data_sets() -> Mapping[str, Wanted]:
    """Every data set of every family by name."""
    return {**TIMELINES, **SUMMARIES, **EVIDENCE, **TREES, **REPORTS}
