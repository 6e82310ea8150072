"""Options that several metrics have, checked once and in the same words; and the signature that is made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.rows import describe, shorten

LEAST_BOOTSTRAP = 100
"""From so many topics or rows on intervals are bootstrapped; see :mod:`tls_tasks.core.intervals`."""


def check_choice(option: str, value: Any, choices: Collection[Any]) -> None:
    """Refuse a value that is none of the choices.

    Example:
        >>> check_choice("matching", "best", ("greedy", "optimal"))
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: matching: got 'best', expected one of 'greedy', 'optimal'
    """
    if not isinstance(value, str | None) or value not in choices:
        raise OptionError.unknown(option, value, choices)


def check_switches(**switches: Any) -> None:
    """Refuse what is neither True nor False.

    Example:
        >>> check_switches(use_stemmer="False")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: use_stemmer: got 'False', expected True or False
    """
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise InputError(name, None, shorten(value), "True or False")


def check_whole_number(option: str, value: Any, least: int = 1) -> int:
    """A whole number of at least ``least``.

    Example:
        >>> check_whole_number("context_budget", 0)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: context_budget: got 0, expected a whole number above 0
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(option, None, repr(value), f"a whole number above {least - 1}")
    return value


def interval_options(
    confidence_interval: Any, n_resamples: Any, seed: Any, *, has_mean: bool = True
) -> dict[str, Any] | None:
    """The options of :meth:`~tls_tasks.core.score.Score.intervals` from those that every metric has.

    Args:
        confidence_interval: The coverage, such as 0.95; None: no intervals.
        n_resamples: How many resamples a bootstrap draws.
        seed: Seed of the generator.
        has_mean: Whether the metric gives one value for all rows; of lists there are no intervals.

    Raises:
        InputError: What no interval can be made with.
    """
    if confidence_interval is None:
        return None
    if isinstance(confidence_interval, bool) or not isinstance(confidence_interval, int | float):
        raise InputError("confidence_interval", None, describe(confidence_interval), "a coverage such as 0.95")
    check_whole_number("n_resamples", n_resamples)
    check_whole_number("seed", seed, least=0)
    if not has_mean:
        raise InputError("confidence_interval", None, "use_aggregator=False", "a mean to give an interval of")
    return {"confidence": confidence_interval, "n_resamples": n_resamples, "seed": seed}


def interval_sign(options: dict[str, Any] | None) -> str:
    """How a signature names the interval; empty if there is none.

    Example:
        >>> interval_sign(interval_options(0.95, 1000, 12345))
        '0.95,jackknife-t<100,bootstrap1000,seed12345'
    """
    if options is None:
        return ""
    how = f"jackknife-t<{LEAST_BOOTSTRAP},bootstrap{options['n_resamples']},seed{options['seed']}"
    return f"{options['confidence']},{how}"


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
