"""How a signature names a function of the caller's: its name and a hash of all that decides what it returns.

Of code that is installed, name and release stand for the code. Of the caller's own it is the compiled code, without
the place where it stands, and the values of defaults, closures and the global names that it reads, and so on from
there. Whatever can't be described, such as an object that a library in C keeps to itself, makes the whole function
``unsigned``. The hash is the same in every process and on every machine with this version of Python.
"""

from __future__ import annotations

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
    "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__dataclass_fields__",
    "__firstlineno__", "__static_attributes__",
})  # fmt: skip
_OF_CODE = (
    "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars",
    "co_exceptiontable", "co_flags", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount",
)  # fmt: skip
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
)
_PARTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (types.MethodType, ("__func__", "__self__")),
    (functools.partial, ("func", "args", "keywords")),
    (re.Pattern, ("pattern", "flags")),
    (staticmethod | classmethod, ("__func__",)),
    (property, ("fget", "fset", "fdel")),
)


class _OpaqueError(Exception):
    """A value of which nobody can tell what it does."""


def custom_sign(function: Any, name: str | None = None) -> str:
    """A function, or another callable object, as a signature names it.

    Args:
        function: Whatever the caller gave.
        name: What to call it; by default its own name.

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
    label = re.sub(
        r"[|#()\s]", "/", str(name or getattr(function, "__qualname__", None) or type(function).__qualname__)
    )
    try:
        return f"custom({label}#{_Describer().digest(function)[:12]})"
    except (_OpaqueError, RecursionError):
        return f"unsigned({label})"


def is_unsigned(signature: str) -> bool:
    """Whether a signature leaves open what made the number.

    Example:
        >>> is_unsigned("rouge_l|tok:unsigned(words)|v:1"), is_unsigned("rouge_l|tok:custom(words#0c2efa748afe)|v:1")
        (True, False)
    """
    return _UNSIGNED.search(signature) is not None


class _Describer:
    """Digests of values; those of equal values are equal."""

    def __init__(self) -> None:
        self.digests: dict[int, str] = {}
        self.path: list[int] = []
        self.values: list[Any] = []  # kept, so that no id is used twice

    def digest(self, value: Any) -> str:
        """A hash of what a value is; within itself it is told by its level, as in a function that calls itself."""
        if type(value) in _PLAIN:
            return _hash((type(value).__name__, repr(value)))
        if id(value) in self.path:
            return f"again {len(self.path) - self.path.index(id(value))}"
        if id(value) not in self.digests:
            self.values.append(value)
            if len(self.values) > _MOST_VALUES:
                raise _OpaqueError
            self.path.append(id(value))
            self.digests[id(value)] = _hash((type(value).__name__, self._described(value)))
            self.path.pop()
        return self.digests[id(value)]

    def _all(self, values: Iterable[Any]) -> tuple[str, ...]:
        return tuple(map(self.digest, values))

    def _described(self, value: Any) -> Any:
        """What a value is, in digests of its parts."""
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
        if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
            owner = value.__self__
            if owner is None or isinstance(owner, types.ModuleType):
                return value.__qualname__, _release(value.__module__)
            return value.__name__, self.digest(owner)
        if isinstance(value, _DESCRIPTORS):
            return value.__name__, value.__objclass__.__qualname__, _release(value.__objclass__.__module__)
        if type(value) in (set, frozenset):
            return sorted(self._all(value))
        for kinds, names in _PARTS:
            if isinstance(value, kinds):
                return self._all(getattr(value, name) for name in names)
        if type(value) in (list, tuple):
            return self._all(value)
        if type(value) in (dict, types.MappingProxyType):
            return self._all((*value.keys(), *value.values()))
        return self._object(value)

    def _function(self, function: types.FunctionType) -> Any:
        known = function.__globals__
        steps = [step for code in _codes(function.__code__) for step in dis.get_instructions(code)]
        read = sorted({step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")} & known.keys())
        imported = sorted({step.argval for step in steps if step.opname == "IMPORT_NAME"})
        if not all(map(_release, imported)):
            raise _OpaqueError
        cells = [_content(cell) for cell in function.__closure__ or ()]
        parts = (function.__code__, function.__defaults__, function.__kwdefaults__, cells)
        return self._all((*parts, {name: known[name] for name in read})), list(map(_release, imported))

    def _object(self, value: Any) -> Any:
        """An object by its class and its state."""
        kind = type(value)
        if any(base.__module__ == "evaluate.module" for base in kind.__mro__):
            return self._all((kind, value.config_name, value.seed))  # the rest is where it keeps its rows
        if callable(wrapped := getattr(value, "__wrapped__", None)):
            return self._all((kind, wrapped))
        plain = next((base for base in (tuple, list, dict, str, int, float) if isinstance(value, base)), None)
        if plain is None and not all(map(_is_python, kind.__mro__[:-1])):  # its state is out of sight
            if _release(kind.__module__) != "python":
                raise _OpaqueError
            try:
                return self._all((kind, value.__reduce__()))
            except TypeError:
                raise _OpaqueError from None
        slots = (vars(base).get("__slots__", ()) for base in kind.__mro__)
        names = {name for own in slots for name in ((own,) if isinstance(own, str) else own) if hasattr(value, name)}
        state = {name: getattr(value, name) for name in sorted(names)} | getattr(value, "__dict__", {})
        return self._all((kind, plain and plain(value), state))


def _hash(described: Any) -> str:
    return hashlib.sha256(repr(described).encode("utf-8", "surrogatepass")).hexdigest()


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and all code within it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _codes(value)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty: its variable has no value yet
        return None


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
    place = getattr(sys.modules.get(top), "__file__", None) or ""
    if top != "tls_tasks" and _FOLDERS.isdisjoint(Path(place).parts):
        return ""
    try:
        return importlib.metadata.version("tls-tasks" if top == "tls_tasks" else top)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(top, ())
        return ",".join(f"{name}=={importlib.metadata.version(name)}" for name in sorted({*names}))
