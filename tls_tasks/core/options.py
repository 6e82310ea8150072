"""Options that several metrics have, checked once and in the same words; and the signature that is made of them."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast

from tls_tasks.core.errors import InputError, check_options, check_whole_number, describe

LEAST_BOOTSTRAP = 100
"""From so many topics or rows on intervals are bootstrapped; see :mod:`tls_tasks.core.intervals`."""

F = TypeVar("F", bound=Callable[..., Any])


def signed_by(config: type, *, data: Collection[str] = (), adds: Collection[str] = ()) -> Callable[[F], F]:
    """Declare what a scorer's signature holds: every option, unless it is named here as one that moves no number.

    A field of ``config`` holds the option of its name, or those that its metadata name (``of``). A scorer with an
    option that nobody has thought of can't be imported. The scorer refuses options that it doesn't have, as
    :func:`check_options` does.

    Args:
        config: The dataclass that :func:`signature` takes.
        data: Parameters that are no options but what is scored.
        adds: Options that add results of their own and change no other.

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
        parameters = tuple(inspect.signature(function).parameters)  # in a closure, which signatures describe
        if unsaid := [name for name in parameters if name not in {*fields, *data, *adds}]:
            raise TypeError(f"{function.__name__}: say of {', '.join(unsaid)} whether the signature holds it")
        if unknown := [name for name in (*data, *adds) if name not in parameters]:
            raise TypeError(f"{function.__name__} has no {', '.join(unknown)}")

        @functools.wraps(function)
        def checked(*given: Any, **options: Any) -> Any:
            check_options(function.__name__, options, parameters)
            return function(*given, **options)

        signs = {name: fields[name].metadata.get("sign", fields[name].name) for name in parameters if name in fields}
        checked.options = {**signs, **dict.fromkeys(adds)}  # type: ignore[attr-defined]
        return cast(F, checked)

    return declare


def options_of(scorer: Callable[..., Any]) -> Mapping[str, str | None]:
    """A scorer's options: name -> what the signature calls it; None of one that moves no number."""
    options: Mapping[str, str | None] = scorer.options  # type: ignore[attr-defined]
    return options


INTERVAL = ("confidence_interval", "n_resamples", "seed")
"""The options of an interval."""


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
    """How a signature names the interval; empty if there is none.

    Example:
        >>> interval_sign(interval_options(0.95, 1000, 12345))
        '0.95,jackknife-t<100,bootstrap1000,seed12345'
    """
    if options is None:
        return ""
    how = f"jackknife-t<{LEAST_BOOTSTRAP},bootstrap{options['n_resamples']},seed{options['seed']}"
    return f"{options['confidence']},{how}"


def custom_sign(function: Any, name: str | None = None) -> str:
    """Name a function of the caller in a signature. The name says nothing about what it does: boards refuse it.

    Args:
        function: Whatever the caller passed.
        name: The name for it; by default its ``__qualname__``.

    Example:
        >>> custom_sign(lambda text: text.split()), custom_sign("a".split, "words|v:1")
        ('custom(<lambda>)', 'custom(words/v:1)')
    """
    label = name or getattr(function, "__qualname__", None) or type(function).__qualname__
    label = re.sub(r"[|#()\s]", "/", str(label))
    return f"custom({label})"


def has_custom(signature: str) -> bool:
    """Whether a function of the caller made the number, so that nobody else can tell how.

    Example:
        >>> has_custom("rouge_l|tok:custom(words)|v:1"), has_custom("rouge_l|tok:whitespace|v:1")
        (True, False)
    """
    return "custom(" in signature


def signature(metric: str, config: Any, version: int) -> str:
    """One line that says how a number was made, derived from the frozen config so that it can't forget a field.

    Every field of ``config`` appears as ``name:value`` in the order of definition. A field may give its short name in
    its ``metadata`` (``sign``), and a value that is left out because everybody expects it (``quiet``).

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
        if "quiet" in field.metadata and value == field.metadata["quiet"]:
            continue
        parts.append(f"{name}:{_render(value)}")
    return "|".join([*parts, f"v:{version}"])


def _render(value: Any) -> str:
    """Booleans as yes and no, callables by name, everything else by ``str``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Callable):  # type: ignore[arg-type]
        return custom_sign(value)
    return str(value)
