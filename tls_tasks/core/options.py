"""Check options that several metrics share, and build signatures from options."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast

from tls_tasks.core.errors import InputError, check_options, check_whole_number, describe

LEAST_BOOTSTRAP = 100
"""The number of topics or rows from which intervals are bootstrapped; see :mod:`tls_tasks.core.intervals`."""

F = TypeVar("F", bound=Callable[..., Any])


def signed_by(config: type, *, data: Collection[str] = (), adds: Collection[str] = ()) -> Callable[[F], F]:
    """Declare which options a scorer's signature shows: each is in ``config``, or is named here as moving no number.

    A field of ``config`` holds the option of its name, or the options that its metadata name (``of``). A scorer with an
    option that is declared nowhere can't be imported. The decorated scorer refuses unknown options, as
    :func:`check_options` does.

    Args:
        config: The dataclass that :func:`signature` takes.
        data: Parameters that hold the data to score.
        adds: Options that add results and change no other result.

    Raises:
        TypeError: An option that is in none of these, or one that the scorer doesn't have.

    Example:
        >>> @dataclasses.dataclass(frozen=True)
        ... class Settings:
        ...     mode: str = "strict"
        >>> @signed_by(Settings, data=("rows",))
        ... def accuracy(rows, *, mode="strict", limit=None): ...
        Traceback (most recent call last):
        ...
        TypeError: accuracy: say of limit whether the signature holds it
    """
    fields = {name: field for field in dataclasses.fields(config) for name in field.metadata.get("of", (field.name,))}

    def declare(function: F) -> F:
        parameters = tuple(inspect.signature(function).parameters)
        if undeclared := [name for name in parameters if name not in {*fields, *data, *adds}]:
            raise TypeError(f"{function.__name__}: say of {', '.join(undeclared)} whether the signature holds it")
        if unknown := [name for name in (*data, *adds) if name not in parameters]:
            raise TypeError(f"{function.__name__} has no {', '.join(unknown)}")

        @functools.wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            check_options(function.__name__, options, parameters)
            return function(*arguments, **options)

        signs = {name: fields[name].metadata.get("sign", fields[name].name) for name in parameters if name in fields}
        checked.options = {**signs, **dict.fromkeys(adds)}  # type: ignore[attr-defined]
        return cast(F, checked)

    return declare


def signed_options(scorer: Callable[..., Any]) -> Mapping[str, str | None]:
    """Return a scorer's options: name -> its name in the signature; None where it moves no number."""
    options: Mapping[str, str | None] = scorer.options  # type: ignore[attr-defined]
    return options


INTERVAL = ("confidence_interval", "n_resamples", "seed")
"""The names of the options of an interval."""


def interval_options(
    confidence_interval: Any, n_resamples: Any, seed: Any, *, has_mean: bool = True
) -> dict[str, Any] | None:
    """Check the options of intervals and return them for :meth:`~tls_tasks.core.score.Score.intervals`.

    Args:
        confidence_interval: The coverage, such as 0.95; None: no intervals.
        n_resamples: The number of resamples of a bootstrap.
        seed: Seed of the generator.
        has_mean: Whether the metric gives one value for all rows; a list of values has no interval.

    Raises:
        InputError: An option with which no interval can be computed.
    """
    check_whole_number("n_resamples", n_resamples)
    check_whole_number("seed", seed, least=0)
    if confidence_interval is None:
        return None
    is_number = isinstance(confidence_interval, int | float) and not isinstance(confidence_interval, bool)
    if not is_number or not 0 < confidence_interval < 1:
        got = repr(confidence_interval) if is_number else describe(confidence_interval)
        raise InputError("confidence_interval", None, got, "a coverage such as 0.95")
    if not has_mean:
        raise InputError("confidence_interval", None, "use_aggregator=False", "a mean to give an interval of")
    return {"confidence": confidence_interval, "n_resamples": n_resamples, "seed": seed}


def interval_sign(options: dict[str, Any] | None) -> str:
    """Return the text by which a signature names the interval; empty if there is none.

    Example:
        >>> interval_sign(interval_options(0.95, 1000, 12345))
        '0.95,jackknife-t<100,bootstrap1000,seed12345'
    """
    if options is None:
        return ""
    method = f"jackknife-t<{LEAST_BOOTSTRAP},bootstrap{options['n_resamples']},seed{options['seed']}"
    return f"{options['confidence']},{method}"


def custom_sign(function: Any, name: str | None = None) -> str:
    """Return the text by which a signature names a function of the caller; boards refuse such signatures.

    Args:
        function: The function, or any callable.
        name: Its name in the signature; by default its ``__qualname__``.

    Example:
        >>> custom_sign(lambda text: text.split()), custom_sign("a".split, "words|v:1")
        ('custom(<lambda>)', 'custom(words/v:1)')
    """
    label = name or getattr(function, "__qualname__", None) or type(function).__qualname__
    label = re.sub(r"[|#()\s]", "/", str(label))
    return f"custom({label})"


def has_custom(signature: str) -> bool:
    """Return whether a function of the caller is part of the metric, so that its numbers can't be reproduced.

    Example:
        >>> has_custom("rouge_l|tok:custom(words)|v:1"), has_custom("rouge_l|tok:whitespace|v:1")
        (True, False)
    """
    return "custom(" in signature


def signature(metric: str, config: Any, version: int) -> str:
    """Return one line with all settings that move a number, derived from the frozen config.

    Every field of ``config`` appears as ``name:value``, in the order of definition. A field's ``metadata`` may have its
    short name (``sign``), and a default value at which the field is left out (``quiet``).

    Args:
        metric: The metric's registry name.
        config: A frozen dataclass with all settings.
        version: The metric's version, raised whenever the same settings give other numbers.

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
        if "quiet" in field.metadata and value == field.metadata["quiet"]:
            continue
        parts.append(f"{name}:{_render(value)}")
    return "|".join([*parts, f"v:{version}"])


def _render(value: Any) -> str:
    """Return booleans as yes and no, callables by name, everything else by ``str``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Callable):  # type: ignore[arg-type]
        return custom_sign(value)
    return str(value)
