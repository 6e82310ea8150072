"""Options that several metrics have, checked once and in the same words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.rows import describe


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
    """Refuse what is neither True nor False."""
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise InputError(name, None, describe(value), "True or False")


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
        n_resamples: How many resamples are drawn.
        seed: Seed of the generator.
        has_mean: Whether the metric gives one value for all rows; of lists there are no intervals.

    Raises:
        InputError: What no interval can be made with.
    """
    if confidence_interval is None:
        return None
    if isinstance(confidence_interval, bool) or not isinstance(confidence_interval, int | float):
        raise InputError("confidence_interval", None, describe(confidence_interval), "a coverage such as 0.95")
    for name, value in (("n_resamples", n_resamples), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(name, None, describe(value), "a whole number")
    if not has_mean:
        raise InputError("confidence_interval", None, "use_aggregator=False", "a mean to give an interval of")
    return {"confidence": confidence_interval, "n_resamples": n_resamples, "seed": seed}


def interval_sign(options: dict[str, Any] | None) -> str:
    """How a signature names the interval; empty if there is none.

    Example:
        >>> interval_sign(interval_options(0.95, 1000, 12345))
        '0.95,1000,seed12345'
    """
    return "" if options is None else f"{options['confidence']},{options['n_resamples']},seed{options['seed']}"
