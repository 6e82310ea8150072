"""How a signature names a function of the caller's: its name and a hash of all that decides what it returns.

Of installed code, name and release stand for the code. Of the caller's code it is the compiled code, without its file
and lines, and the values of defaults, closures and the global names that it reads, and so on from there. If any of
this can't be described, such as an object that a library in C keeps to itself, the whole function is ``unsigned``.
The hash is the same in every process and on every machine with this version of Python.
"""

import copyreg
import dis
import functools
import hashlib
import importlib.metadata
import re
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_UNSIGNED = re.compile(r"\bunsigned\(|\bcustom\([^#()]*\)")  # the second is how releases before 0.2 wrote it
_MOST_VALUES = 10_000
_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})
_PICKLING = {"__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__", "__getnewargs_ex__"}
_NO_BEHAVIOUR = (
    "__doc__ __module__ __annotations__ __dataclass_fields__ __firstlineno__ __static_attributes__ __dict__ __weakref__"
).split()
_OF_CODE = (
    "co_code co_consts co_names co_varnames co_freevars co_cellvars co_exceptiontable co_flags co_argcount "
    "co_posonlyargcount co_kwonlyargcount"
).split()


def custom_sign(function: Any, name: str | None = None) -> str:
    """A function, or another callable object, as a signature names it.

    Args:
        function: Whatever the caller gave.
        name: The name for it; by default its ``__qualname__``.

    Example:
        >>> __name__ = "analysis"  # as if this were a script, and not installed
        >>> limit = 3
        >>> first = custom_sign(lambda text: text.split()[:limit])
        >>> first.startswith("custom(<lambda>#"), first == custom_sign(lambda text:   text.split()[:limit])
        (True, True)
        >>> limit = 4
        >>> first == custom_sign(lambda text: text.split()[:limit])
        False
        >>> custom_sign(sys.__stdout__.write, "write")
        'unsigned(write)'
    """
    label = name or getattr(function, "__qualname__", None) or type(function).__qualname__
    label = re.sub(r"[|#()\s]", "/", str(label))
    try:
        return f"custom({label}#{_digest(function)[:12]})"
    except Exception:  # objects of the caller's and of libraries may refuse in any way
        return f"unsigned({label})"


def is_unsigned(signature: str) -> bool:
    """Whether a signature leaves open what made the number.

    Example:
        >>> is_unsigned("rouge_l|tok:unsigned(words)|v:1"), is_unsigned("rouge_l|tok:custom(words#0c2efa748afe)|v:1")
        (True, False)
    """
    return _UNSIGNED.search(signature) is not None


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(_Description().of(value)).encode()).hexdigest()


class _Description:
    """Describes values as nested tuples of text, those of equal values alike; what hides its state raises an error."""

    def __init__(self) -> None:
        self.met: dict[int, tuple[int, Any]] = {}  # with the values, so that no id is used twice
        self.left = _MOST_VALUES

    def of(self, value: Any) -> tuple[Any, ...]:
        """A description; of what was met before, such as a function within itself, the number that it had then."""
        kind = type(value)
        if kind in _PLAIN:
            return kind.__name__, repr(value)
        if id(value) in self.met:
            return "again", self.met[id(value)][0]
        if kind not in (tuple, frozenset):  # whether equal constants are one object is up to the compiler
            self.met[id(value)] = len(self.met), value
        self.left -= 1
        if self.left < 0:
            raise TypeError("too many values")
        if kind in (set, frozenset):
            return kind.__name__, *sorted(map(_digest, value))
        return kind.__name__, *map(self.of, _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    """What decides how a value behaves."""
    if type(value) in (list, tuple):
        return value  # type: ignore[no-any-return]
    if type(value) is dict:
        return *value.keys(), *value.values()
    match value:
        case types.ModuleType() if release := _release(value.__name__):
            return value.__name__, release
        case types.FunctionType():
            return _of_function(value)
        case type() if "<" not in value.__qualname__ and (release := _release(value.__module__)):
            return value.__module__, value.__qualname__, release
        case type():
            members = {name: member for name, member in vars(value).items() if name not in _NO_BEHAVIOUR}
            return type(value), value.__qualname__, members, *value.__bases__
        case types.CodeType():
            return (getattr(value, name, None) for name in _OF_CODE)
        case property():
            return value.fget, value.fset, value.fdel
        case staticmethod() | classmethod() | functools._lru_cache_wrapper():
            return (value.__wrapped__,)
    return _of_object(value)


def _of_function(function: types.FunctionType) -> Iterable[Any]:
    # Not __module__, which functools.wraps sets; and a name doesn't tell what a closure holds.
    module, name = function.__globals__.get("__name__"), function.__qualname__
    if (release := _release(module)) and "<" not in name and not function.__closure__:
        return module, name, release
    codes = [function.__code__]
    for code in codes:  # it grows by the code within each code
        codes += [value for value in code.co_consts if isinstance(value, types.CodeType)]
    steps = [step for code in codes for step in dis.get_instructions(code)]
    read = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    known = {name: function.__globals__[name] for name in sorted(read & function.__globals__.keys())}
    # Code that is imported when the function runs is described, or refused, like a module that it reads.
    imported = [types.ModuleType(step.argval) for step in steps if step.opname == "IMPORT_NAME"]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return function.__code__, function.__defaults__, function.__kwdefaults__, vars(function), cells, known, imported


def _of_object(value: Any) -> Iterable[Any]:
    """What pickle keeps of an object, which refuses more state than attributes, as C may have it; see the class."""
    for base in type(value).__mro__:
        for name in vars(base).keys() & _PICKLING:
            if _release(getattr(vars(base)[name], "__module__", base.__module__)) != "python":
                raise TypeError(f"{base.__qualname__} may leave out state when it is pickled")
    registered = copyreg.dispatch_table.get(type(value))
    reduced = registered(value) if registered else value.__reduce_ex__(2)
    if isinstance(reduced, str):
        return reduced, _release(value.__module__)
    return type(value), *(list(part) if isinstance(part, Iterator) else part for part in reduced)


@functools.lru_cache(maxsize=256)
def _release(module: str | None) -> str:
    """The release that a module of installed code belongs to; empty for the caller's own code."""
    top = (module or "").partition(".")[0]
    if top in sys.stdlib_module_names:
        return "python"
    if top == "tls_tasks":
        return importlib.metadata.version("tls-tasks")
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    if {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts):
        return ""
    names = importlib.metadata.packages_distributions().get(top, ())
    return ",".join(f"{name}=={importlib.metadata.version(name)}" for name in sorted({*names}))
