"""The functions by which the harness makes one number of its documents' values, by the names that its logs have."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache
def registered_aggregation(metric: str, name: str) -> tuple[str, Callable[[list[Any]], float]] | None:
    """The aggregation that the harness has registered under a name; without a name the metric's own.

    Returns:
        Its name and the function; None if there is none.

    Example:
        >>> name, function = registered_aggregation("mcc", "")
        >>> name, function([[1, 0], [0, 1]])
        ('matthews_corrcoef', -1.0)
        >>> registered_aggregation("mcc", "of_the_task") is None
        True
    """
    import lm_eval.api.metrics  # noqa: F401  # registers them
    from lm_eval.api.registry import AGGREGATION_REGISTRY, METRIC_AGGREGATION_REGISTRY

    own = METRIC_AGGREGATION_REGISTRY.get(metric) if not name and metric in METRIC_AGGREGATION_REGISTRY else None
    for known in AGGREGATION_REGISTRY:
        function: Callable[[list[Any]], float] = AGGREGATION_REGISTRY.get(known)
        if known == name or function is own:
            return known, function
    return None
