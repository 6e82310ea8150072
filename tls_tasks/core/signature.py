"""The signature: one line that says how a number was made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


def signature(metric: str, config: Any, version: int) -> str:
    """One line that says how a number was made, derived from the frozen config so that it can't forget a field.

    Every field of ``config`` appears as ``name:value`` in the order of definition. A field may give its short name in
    its ``metadata`` (``sign``), and a value that is left out because everybody expects it (``quiet``). ``sign=None``
    leaves out a field that can't move the number.

    Args:
        metric: The metric's registry name.
        config: A frozen dataclass with all settings.
        version: Raised whenever the same settings give another number than before.

    Example:
        >>> @dataclasses.dataclass(frozen=True)
        ... class Settings:
        ...     variant: str = "concat"
        ...     aggregate: str = dataclasses.field(default="mean_f", metadata={"sign": "agg"})
        ...     beta: float = dataclasses.field(default=1.0, metadata={"quiet": 1.0})
        >>> signature("alignment_rouge", Settings(), 1)
        'alignment_rouge|variant:concat|agg:mean_f|v:1'
        >>> signature("alignment_rouge", Settings(beta=2.0), 1)
        'alignment_rouge|variant:concat|agg:mean_f|beta:2.0|v:1'
    """
    parts = [metric]
    for field in dataclasses.fields(config):
        name = field.metadata.get("sign", field.name)
        value = getattr(config, field.name)
        if name is None or ("quiet" in field.metadata and value == field.metadata["quiet"]):
            continue
        parts.append(f"{name}:{_render(value)}")
    return "|".join([*parts, f"v:{version}"])


def _render(value: Any) -> str:
    """Booleans as yes and no, callables by their name, everything else by ``str``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Callable):  # type: ignore[arg-type]
        return f"custom({getattr(value, '__qualname__', type(value).__qualname__)})"
    return str(value)
