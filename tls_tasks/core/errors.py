"""Every exception that tls-tasks raises on purpose, and the checks of options that raise them.

::

    TlsTasksError
    ├── InputError (ValueError)         what the caller gave can't be scored: which row, which field, what was expected
    │   └── OptionError                 an option has a value that doesn't exist; names the ones that do
    ├── DataError                       a data set is absent, damaged or not the pinned one; says where we looked
    ├── JudgeError                      a judge can't be used at all: its server refuses us, in the server's words
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
    """The end of a message on a name that does not exist; empty if none is near.

    Example:
        >>> nearest("context_bugdet", ["data", "context_budget"])
        "; did you mean 'context_budget'?"
    """
    known = [known for known in names if isinstance(known, str)]
    found = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else []
    return f"; did you mean {found[0]!r}?" if found else ""


def json_fault(error: Exception) -> str:
    """What is wrong with JSON, without the number of the line where it has only one: the caller names that.

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
    """What an error calls a wrong value.

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
    """The ``repr`` of a value, cut to 60 characters."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        text = f"{type(value).__name__} of too many digits"
    return text if len(text) <= 60 else text[:57] + "…"


class TlsTasksError(Exception):
    """The root of all exceptions of this package."""


class InputError(TlsTasksError, ValueError):
    """What the caller gave can't be scored.

    Example:
        >>> raise InputError("references", 3, "None", "one timeline or a list of them")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: references[3]: got None, expected one timeline or a list of them
    """

    def __init__(self, field: str, index: int | None, got: str, expected: str) -> None:
        """Name the ``field``, its row ``index`` (None: the whole field), what was ``got`` and what ``expected``."""
        self.field, self.index, self.got, self.expected = field, index, got, expected
        super().__init__(field, index, got, expected)  # by these it is pickled, and so survives a process boundary

    def __str__(self) -> str:
        """The message."""
        place = self.field if self.index is None else f"{self.field}[{self.index}]"
        return f"{place}: got {self.got}, expected {self.expected}"


class OptionError(InputError):
    """An option has a value that doesn't exist.

    Attributes:
        choices: The values that do exist, where they can be listed.

    Example:
        >>> raise OptionError.unknown("variant", "m:1", ["align", "align+m:1"])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: variant: got 'm:1', expected one of 'align', 'align+m:1'
    """

    choices: tuple[object, ...] = ()

    @classmethod
    def unknown(cls, option: str, value: object, choices: Iterable[object]) -> OptionError:
        """Build the error for ``value`` of ``option`` that isn't among ``choices``."""
        choices = tuple(choices)
        listed = ", ".join(repr(choice) for choice in choices)
        error = cls(option, None, repr(value), f"one of {listed}{nearest(value, choices)}")
        error.choices = choices
        return error


def check_options(metric: str, given: Iterable[str], known: Collection[str]) -> None:
    """Refuse options that a metric doesn't have.

    Example:
        >>> check_options("rouge_l", ["tokeniser"], ["tokenizer", "use_stemmer"])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: option of rouge_l: got 'tokeniser', expected one of 'tokenizer', 'use_stemmer'; did you mean 'tokenizer'?
    """  # noqa: E501 - the message is one line
    for name in given:
        if name not in known:
            raise OptionError.unknown(f"option of {metric}", name, known)


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


class DataError(TlsTasksError):
    """A data set is absent, damaged or not the pinned one."""


class JudgeError(TlsTasksError):
    """A judge can't be used at all: wrong key, unknown model, unknown parameter, a recording that lacks what is asked.

    Trouble with single questions never raises: it is an unscored verdict.

    Example:
        >>> raise JudgeError.refused("gpt-x at https://host/v1", 404, "The model gpt-x does not exist")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.JudgeError: judge gpt-x at https://host/v1: refused with 404: The model gpt-x does not exist
    """  # noqa: E501

    @classmethod
    def refused(cls, judge: str, status: int, words: str) -> JudgeError:
        """Build the error for a server that refused with an HTTP ``status`` and these ``words``."""
        return cls(f"judge {judge}: refused with {status}: {words}")


class MissingExtraError(TlsTasksError, ImportError):
    """An optional dependency isn't installed.

    Example:
        >>> raise MissingExtraError("engine='tilse'", "tilse")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.MissingExtraError: engine='tilse' needs an optional dependency: in a checkout of tls-tasks, pip install '.[tilse]'
    """  # noqa: E501

    def __init__(self, what: str, extra: str) -> None:
        """``what`` was asked for; ``extra`` is the name of the extra that brings it."""
        self.what, self.extra = what, extra
        super().__init__(what, extra)  # by these it is pickled

    def __str__(self) -> str:
        """The message."""
        return f"{self.what} needs an optional dependency: in a checkout of tls-tasks, pip install '.[{self.extra}]'"


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Raise an import that fails as a :class:`MissingExtraError`."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(what, extra) from error


class ParseFailureWarning(UserWarning):
    """Predictions in which nothing could be read: they count as empty."""


class RepeatedDateWarning(UserWarning):
    """Reference timelines that have a date more than once: it is scored as one day."""


_OUR_FRAMES = ("tls_tasks", "evaluate", "evaluate_modules", "datasets_modules")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn, and point at the first line outside this package and evaluate: the caller's own."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _OUR_FRAMES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def without_warnings(*kinds: type[Warning]) -> Iterator[None]:
    """Ignore warnings of these kinds."""
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
        repeated: Place and date of each.
    """
    if repeated:
        shown = f"{', '.join(repeated[:10])}{' …' if len(repeated) > 10 else ''}"
        told = "a date that a reference timeline has more than once is one day with all its texts"
        warn_caller(f"{told}: {shown}", RepeatedDateWarning)


def warn_of_unread(unread: Sequence[int], of: int, what: str) -> None:
    """Warn of the rows whose prediction could not be read at all, if there are any.

    Args:
        unread: These rows.
        of: How many rows there are.
        what: What was looked for, in the plural.
    """
    if unread:
        told = f"{len(unread)} of {of} predictions could not be read as {what} and count as empty"
        warn_caller(f"{told}: rows {first_rows(unread)}", ParseFailureWarning)
