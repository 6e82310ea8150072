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
import inspect
import re
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_UNSIGNED = re.compile(r"\bunsigned\(|\bcustom\([^#()]*\)")  # the second is how releases before 0.2 wrote it
_MOST_VALUES = 10_000
_FOLDERS = frozenset({"site-packages", "dist-packages"})
_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})
_NO_BEHAVIOUR = frozenset({
    "__doc__", "__module__", "__annotations__", "__dataclass_fields__", "__firstlineno__", "__static_attributes__",
    "__dict__", "__weakref__",
})  # fmt: skip
_PICKLING = ("__reduce__", "__reduce_ex__", "__getstate__")
_OF_CODE = (
    "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars",
    "co_exceptiontable", "co_flags", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount",
)  # fmt: skip


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
        return f"custom({label}#{_Describer().digest(function)[:12]})"
    except Exception:  # objects of the caller's and of libraries may refuse in any way
        return f"unsigned({label})"


def is_unsigned(signature: str) -> bool:
    """Whether a signature leaves open what made the number.

    Example:
        >>> is_unsigned("rouge_l|tok:unsigned(words)|v:1"), is_unsigned("rouge_l|tok:custom(words#0c2efa748afe)|v:1")
        (True, False)
    """
    return _UNSIGNED.search(signature) is not None


class _Describer:
    """Digests of values; those of equal values are equal. A value that can't be described raises TypeError."""

    def __init__(self) -> None:
        self.digests: dict[int, str] = {}
        self.path: list[int] = []
        self.values: list[Any] = []  # kept, so that no id is used twice

    def digest(self, value: Any) -> str:
        """A hash of the value; a value within itself is told by its level, as in a function that calls itself."""
        if type(value) in _PLAIN:
            return _hash((type(value).__name__, repr(value)))
        if id(value) in self.path:
            return f"again {len(self.path) - self.path.index(id(value))}"
        if id(value) not in self.digests:
            self.values.append(value)
            if len(self.values) > _MOST_VALUES:
                raise TypeError("too many values")
            self.path.append(id(value))
            self.digests[id(value)] = _hash((type(value).__name__, self._described(value)))
            self.path.pop()
        return self.digests[id(value)]

    def _all(self, values: Iterable[Any]) -> tuple[str, ...]:
        return tuple(map(self.digest, values))

    def _described(self, value: Any) -> Any:
        """A value in digests of its parts."""
        if isinstance(value, types.ModuleType | type | types.FunctionType):
            module = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
            if release := _release(module):
                return module, getattr(value, "__qualname__", ""), release
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            members = {name: member for name, member in vars(value).items() if name not in _NO_BEHAVIOUR}
            return self._all((value.__qualname__, members, *value.__bases__))
        if isinstance(value, types.CodeType):
            return value.co_code, self._all(getattr(value, name, None) for name in _OF_CODE)
        if type(value) in (list, tuple, set, frozenset):
            parts = self._all(value)
            return parts if isinstance(value, list | tuple) else sorted(parts)
        if type(value) in (dict, types.MappingProxyType):
            return self._all((*value.keys(), *value.values()))
        if isinstance(value, property):
            return self._all((value.fget, value.fset, value.fdel))
        if isinstance(value, staticmethod | classmethod | functools._lru_cache_wrapper):
            return self.digest(value.__wrapped__)
        return self._object(value)

    def _function(self, function: types.FunctionType) -> Any:
        known = function.__globals__
        steps = [step for code in _codes(function.__code__) for step in dis.get_instructions(code)]
        read = sorted({step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")} & known.keys())
        releases = [_release(step.argval) for step in steps if step.opname == "IMPORT_NAME"]
        if not all(releases):
            raise TypeError("an import of code that isn't installed")
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        parts = (function.__code__, function.__defaults__, function.__kwdefaults__, function.__dict__, cells)
        return self._all((*parts, {name: known[name] for name in read})), releases

    def _object(self, value: Any) -> Any:
        """An object by its class and by what pickle would keep of it, if that is all of its state."""
        kind = type(value)
        if any(base.__module__ == "evaluate.module" for base in kind.__mro__):
            return self._all((kind, value.config_name, value.seed))  # the rest is where it keeps its rows
        builtin = any(base in _PLAIN or base in (tuple, list, dict) for base in kind.__mro__)  # such as a named tuple
        for base in (base for base in kind.__mro__ if _release(base.__module__) != "python"):
            pickling = [getattr(vars(base).get(name, len), "__module__", None) for name in _PICKLING]
            if not (builtin or _is_python(base)) or {*map(_release, pickling)} != {"python"}:
                raise TypeError("an object whose state is out of sight")
        reduced = copyreg.dispatch_table[kind](value) if kind in copyreg.dispatch_table else value.__reduce_ex__(2)
        if isinstance(reduced, str):
            return reduced, _release(value.__module__)
        return self._all((kind, *(list(part) if isinstance(part, Iterator) else part for part in reduced)))


def _hash(described: Any) -> str:
    return hashlib.sha256(repr(described).encode("utf-8", "surrogatepass")).hexdigest()


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and all code within it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _codes(value)


@functools.lru_cache(maxsize=256)
def _is_python(cls: type) -> bool:
    """Whether a class was made by a class statement; others, written in C, keep more than their attributes."""
    try:
        return bool(inspect.getsource(cls))
    except (OSError, TypeError):
        return False


@functools.lru_cache(maxsize=256)
def _release(module: str | None) -> str:
    """The release that a module of installed code belongs to; empty for the caller's own code."""
    top = (module or "").partition(".")[0]
    if top == "builtins" or top in sys.stdlib_module_names - {"__main__"}:
        return "python"
    if top == "tls_tasks":
        return importlib.metadata.version("tls-tasks")
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    if _FOLDERS.isdisjoint(Path(file).parts):
        return ""
    names = importlib.metadata.packages_distributions().get(top, ())
    return ",".join(f"{name}=={importlib.metadata.version(name)}" for name in sorted({*names}))
