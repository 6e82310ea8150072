"""The exceptions of tls-tasks, and the checks of options that raise them.

::

    TlsTasksError
    ├── InputError (ValueError)         an argument can't be scored; names the field, the row and the expected form
    │   └── OptionError                 an option has a value that doesn't exist; lists the values that do
    ├── DataError                       a data set is absent, damaged or not the pinned one; names where it was sought
    ├── JudgeError                      a judge can't be used at all; repeats the message of its server
    └── MissingExtraError (ImportError) an optional dependency isn't installed; gives the install line

Trouble made by a model (no JSON, impossible dates) is never an exception: it is scored at the metric's worst value and
counted as a parse failure.
"""

from __future__ import annotations

import difflib
import json
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def nearest(name: object, names: Iterable[object]) -> str:
    """Return the end of a message about a name that does not exist: the nearest name, or nothing.

    Example:
        >>> nearest("context_bugdet", ["data", "context_budget"])
        "; did you mean 'context_budget'?"
    """
    candidates = [candidate for candidate in names if isinstance(candidate, str)]
    matches = difflib.get_close_matches(name, candidates, n=1) if isinstance(name, str) else []
    return f"; did you mean {matches[0]!r}?" if matches else ""


def json_fault(error: Exception) -> str:
    """Return the fault of invalid JSON as text; without the line number where the text has only one line.

    Example:
        >>> try:
        ...     json.loads('{"a" 1}')
        ... except ValueError as error:
        ...     json_fault(error)
        "Expecting ':' delimiter at character 6"
    """
    if isinstance(error, json.JSONDecodeError) and "\n" not in error.doc.strip():
        return f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
    return str(error)


def describe(value: Any) -> str:
    """Return the text by which an error describes a wrong value: its type and its shortened ``repr``.

    Example:
        >>> describe(None), describe(float("nan")), describe(3)
        ('None', 'NaN', 'int 3')
    """
    if value is None:
        return "None"
    if isinstance(value, float) and value != value:
        return "NaN"
    return f"{type(value).__name__} {shorten(value)}"


def shorten(value: Any) -> str:
    """Return the ``repr`` of a value, cut to 60 characters."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python converts to text
        text = f"{type(value).__name__} of too many digits"
    return text if len(text) <= 60 else text[:57] + "…"


class TlsTasksError(Exception):
    """The root of all exceptions of this package."""


class InputError(TlsTasksError, ValueError):
    """An argument of the caller can't be scored.

    Example:
        >>> raise InputError("references", 3, "None", "one timeline or a list of them")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: references[3]: got None, expected one timeline or a list of them
    """

    def __init__(self, field: str, index: int | None, got: str, expected: str) -> None:
        """Name the ``field``, its row ``index`` (None: the whole field), what was ``got`` and what ``expected``."""
        self.field, self.index, self.got, self.expected = field, index, got, expected
        super().__init__(field, index, got, expected)  # pickle rebuilds the error from these arguments

    def __str__(self) -> str:
        """Return the message."""
        location = self.field if self.index is None else f"{self.field}[{self.index}]"
        return f"{location}: got {self.got}, expected {self.expected}"


class OptionError(InputError):
    """An option has a value that doesn't exist.

    Example:
        >>> raise OptionError.unknown("variant", "m:1", ["align", "align+m:1"])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: variant: got 'm:1', expected one of 'align', 'align+m:1'
    """

    @classmethod
    def unknown(cls, option: str, value: object, choices: Iterable[object]) -> OptionError:
        """Build the error for ``value`` of ``option`` that isn't among ``choices``."""
        choices = tuple(choices)
        listed = ", ".join(repr(choice) for choice in choices)
        return cls(option, None, repr(value), f"one of {listed}{nearest(value, choices)}")


def check_options(metric: str, names: Iterable[str], options: Collection[str]) -> None:
    """Refuse options that a metric doesn't have.

    Example:
        >>> check_options("rouge_l", ["tokeniser"], ["tokenizer", "use_stemmer"])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: option of rouge_l: got 'tokeniser', expected one of 'tokenizer', 'use_stemmer'; did you mean 'tokenizer'?
    """  # noqa: E501 - the message is one line
    for name in names:
        if name not in options:
            raise OptionError.unknown(f"option of {metric}", name, options)


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
    """Refuse a value that is neither True nor False.

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
    """Return a value that is a whole number of at least ``least``; refuse any other.

    Example:
        >>> check_whole_number("context_budget", 0)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: context_budget: got 0, expected a whole number above 0
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(option, None, repr(value), f"a whole number above {least - 1}")
    return value


class DataError(TlsTasksError):
    """A data set is absent, damaged or not the pinned one."""


class JudgeError(TlsTasksError):
    """A judge can't be used at all: wrong key, unknown model, unknown parameter.

    Trouble with single questions never raises: it gives an unscored verdict.
    """


class MissingExtraError(TlsTasksError, ImportError):
    """An optional dependency isn't installed.

    Example:
        >>> raise MissingExtraError("engine='tilse'", "tilse")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.MissingExtraError: engine='tilse' needs an optional dependency: in a checkout of tls-tasks, pip install '.[tilse]'
    """  # noqa: E501

    def __str__(self) -> str:
        """Return the message: ``what`` needs the dependency, and the ``extra`` that installs it."""
        what, extra = self.args
        return f"{what} needs an optional dependency: in a checkout of tls-tasks, pip install '.[{extra}]'"


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Raise a failing import inside a ``with`` block as a :class:`MissingExtraError`."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(what, extra) from error


class ParseFailureWarning(UserWarning):
    """Some predictions could not be read at all; they count as empty."""


class RepeatedDateWarning(UserWarning):
    """A reference timeline has a date more than once; it is scored as one day."""


_OUR_FRAMES = ("tls_tasks", "evaluate", "evaluate_modules", "datasets_modules")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn, and point at the caller's line: the first one outside this package and evaluate."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _OUR_FRAMES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def without_warnings(*kinds: type[Warning]) -> Iterator[None]:
    """Ignore warnings of these kinds inside a ``with`` block."""
    with warnings.catch_warnings():
        for kind in kinds:
            warnings.simplefilter("ignore", kind)
        yield


def first_rows(rows: Sequence[int]) -> str:
    """Return the numbers of the first ten rows, for a message."""
    return f"{[*rows[:10]]}{' …' if len(rows) > 10 else ''}"


def warn_of_repeated(repeated: Sequence[str]) -> None:
    """Warn of the dates that reference timelines have more than once, if there are any.

    Args:
        repeated: Row and date of each, as text.
    """
    if repeated:
        shown = f"{', '.join(repeated[:10])}{' …' if len(repeated) > 10 else ''}"
        message = "a date that a reference timeline has more than once is one day with all its texts"
        warn_caller(f"{message}: {shown}", RepeatedDateWarning)


def warn_of_unread(unread: Sequence[int], n_rows: int, noun: str) -> None:
    """Warn of the rows whose prediction could not be read at all, if there are any.

    Args:
        unread: The indices of these rows.
        n_rows: The number of all rows.
        noun: The thing that predictions should hold, in the plural (``reports``).
    """
    if unread:
        message = f"{len(unread)} of {n_rows} predictions could not be read as {noun} and count as empty"
        warn_caller(f"{message}: rows {first_rows(unread)}", ParseFailureWarning)
