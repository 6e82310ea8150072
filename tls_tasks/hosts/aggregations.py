"""The functions by which the harness makes one number of its documents' values, by the names that its logs have."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache
def registered_aggregation(metric: str, name: str) -> Callable[[list[Any]], float] | None:
    """The aggregation that the harness has registered under a name, else the metric's own; None if there is neither.

    Example:
        >>> registered_aggregation("acc", "median")([1, 3, 2])
        2
    """
    import lm_eval.api.metrics  # noqa: F401  # registers them
    from lm_eval.api.registry import AGGREGATION_REGISTRY, METRIC_AGGREGATION_REGISTRY

    for registry, wanted in ((AGGREGATION_REGISTRY, name), (METRIC_AGGREGATION_REGISTRY, metric)):
        if wanted in registry:
            function: Callable[[list[Any]], float] = registry.get(wanted)
            return function
    return None
