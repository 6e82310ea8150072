"""How a signature names a function of the caller's: its name and a hash of all that decides what it returns.

Of installed code, name and release stand for the code. Of the caller's code it is the compiled code, without its file
and lines, and the values of defaults, closures and the global names that it reads: plain values, patterns, installed
code, and functions of the same kind. All else is ``unsigned``, such as objects with a state of their own, functions
that call themselves or import modules when they run: their hash could be that of another function. The hash is the
same in every process with this Python.
"""

import builtins
import dis
import functools
import hashlib
import importlib.metadata
import operator
import re
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_UNSIGNED = re.compile(r"\bunsigned\(|\bcustom\([^#()]*\)")  # the second is how releases before 0.2 wrote it
_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_READS_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_OF_CODE = (
    "co_code co_consts co_names co_varnames co_freevars co_cellvars co_exceptiontable co_flags co_argcount "
    "co_posonlyargcount co_kwonlyargcount"
).split()


def custom_sign(function: Any, name: str | None = None) -> str:
    """A function as a signature names it.

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
        return f"custom({label}#{_hash(function)[:12]})"
    except Exception:  # no hash of such a value, or of a function that calls itself; objects may refuse in any way
        return f"unsigned({label})"


def is_unsigned(signature: str) -> bool:
    """Whether a signature leaves open what made the number.

    Example:
        >>> is_unsigned("rouge_l|tok:unsigned(words)|v:1"), is_unsigned("rouge_l|tok:custom(words#0c2efa748afe)|v:1")
        (True, False)
    """
    return _UNSIGNED.search(signature) is not None


def _hash(value: Any) -> str:
    """A hash that no other value has.

    Raises:
        LookupError: The value, or another that decides what it does, is of a kind without a hash.
    """
    kind = type(value)
    installed = _name_of_installed(value)
    parts = [repr(value)] if kind in _PLAIN else [_hash(part) for part in installed or _PARTS[kind](value)]
    return hashlib.sha256(repr((kind.__name__, parts)).encode()).hexdigest()


def _name_of_installed(value: Any) -> tuple[str, ...]:
    """Module, name and release of what installed code has by that name; empty for other values."""
    module: Any = getattr(getattr(value, "__objclass__", value), "__module__", None)
    try:
        found = operator.attrgetter(value.__qualname__)(sys.modules[module])
        return (module, value.__qualname__, _release(module)) if found is value else ()
    except (AttributeError, LookupError):
        return ()


def _of_function(function: types.FunctionType) -> Iterable[Any]:
    codes = [function.__code__]
    for code in codes:  # it grows by the code within each code
        codes += [value for value in code.co_consts if isinstance(value, types.CodeType)]
    steps = [step for code in codes for step in dis.get_instructions(code)]
    if any(step.opname == "IMPORT_NAME" for step in steps):
        raise LookupError("the code of a module that is imported when the function runs")
    known = {**vars(builtins), **function.__globals__}
    read = {name: known[name] for name in sorted({step.argval for step in steps if step.opname in _READS_GLOBAL})}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return function.__code__, function.__defaults__, function.__kwdefaults__, vars(function), cells, read


@functools.lru_cache(maxsize=256)
def _release(module: str) -> str:
    """The release that a module of installed code belongs to.

    Raises:
        LookupError: It is the caller's own code.
    """
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return "python"
    # The release says nothing about code outside of these folders, which its author may be editing; ours is released.
    if top != "tls_tasks" and _INSTALLED.isdisjoint(Path(sys.modules[top].__file__ or "").parts):
        raise LookupError(f"{module} is not installed")
    names = importlib.metadata.packages_distributions()[top]
    return ",".join(f"{name}=={importlib.metadata.version(name)}" for name in sorted({*names}))


_PARTS: dict[type, Callable[[Any], Iterable[Any]]] = {
    list: iter,
    tuple: iter,
    dict: dict.items,
    **dict.fromkeys((set, frozenset), lambda value: sorted(map(_hash, value))),
    slice: lambda value: (value.start, value.stop, value.step),
    re.Pattern: lambda value: (value.pattern, value.flags),
    functools.partial: lambda value: (value.func, value.args, value.keywords),
    types.ModuleType: lambda value: (value.__name__, _release(value.__name__)),
    types.CodeType: lambda value: (getattr(value, name, None) for name in _OF_CODE),
    types.FunctionType: _of_function,
}
"""Kind -> what decides how a value of exactly this kind behaves."""
