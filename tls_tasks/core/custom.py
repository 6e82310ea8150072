"""How a signature names a function of the caller's: its name and a hash of all that decides what it returns.

Of code that is installed, name and release stand for the code. Of the caller's own it is the source text without
layout and comments, with the values of defaults, closures and the global names that it reads, and so on from there.
The source must be what runs: it is compiled again and compared. Whatever can't be followed, since it has no source or
is an object of somebody else's, makes the whole function ``unsigned``.

The hash is the same in every process and on every machine with this version of Python. Another version may write the
same source in another way (f-strings, from 3.12 on), and then gives another hash.
"""

from __future__ import annotations
import __future__

import ast
import dis
import enum
import functools
import hashlib
import importlib.metadata
import importlib.util
import linecache
import re
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_UNSIGNED = re.compile(r"\bunsigned\(|\bcustom\([^#()]*\)")  # the second is how releases before this one wrote it

_MOST_VALUES = 10_000
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which every class statement's class has
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_FOLDERS = frozenset({"site-packages", "dist-packages"})
_FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


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
        >>> custom_sign(str.split), custom_sign(sys.__stdout__.write, "write")
        ('custom(str.split#0c2efa748afe)', 'unsigned(write)')
    """
    own = name or getattr(function, "__qualname__", None) or type(function).__qualname__
    label = re.sub(r"[|#()\s]", "/", str(own))
    try:
        return f"custom({label}#{_Teller().tell(function)[:12]})"
    except (_UnknownError, RecursionError):
        return f"unsigned({label})"


def is_unsigned(signature: str) -> bool:
    """Whether a signature leaves open what made the number.

    Example:
        >>> is_unsigned("rouge_l|tok:unsigned(words)|v:1"), is_unsigned("rouge_l|tok:custom(words#0c2efa748afe)|v:1")
        (True, False)
    """
    return _UNSIGNED.search(signature) is not None


_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})


def _digest(told: Any) -> str:
    return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()


class _UnknownError(Exception):
    """A value of which nobody can tell what it does."""


class _Teller:
    """Turns a value into a digest of what it is; of equal values it is equal."""

    def __init__(self) -> None:
        self._told: dict[int, str] = {}
        self._kept: list[Any] = []  # so that no id is used twice
        self._path: list[int] = []

    def tell(self, value: Any) -> str:
        """What stands for the value.

        Raises:
            _UnknownError: Nobody can tell.
        """
        if type(value) in _PLAIN:
            return _digest((type(value).__name__, repr(value)))
        if id(value) in self._path:  # a function that calls itself
            return f"again {len(self._path) - self._path.index(id(value))}"
        if id(value) not in self._told:
            self._kept.append(value)
            if len(self._kept) > _MOST_VALUES:
                raise _UnknownError
            self._path.append(id(value))
            self._told[id(value)] = _digest(self._tell(value))
            self._path.pop()
        return self._told[id(value)]

    def _tell(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, type | types.FunctionType) and (release := _release(value.__module__)):
            return value.__module__, value.__qualname__, release
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.MethodType):
            return "method", self.tell(value.__func__), self.tell(value.__self__)
        if isinstance(value, functools.partial):
            return "partial", self.tell(value.func), self._all(value.args), self.tell(dict(value.keywords))
        if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):  # written in C
            owner = value.__self__
            if owner is None or isinstance(owner, types.ModuleType):
                return value.__module__, value.__qualname__, _release(value.__module__)
            return "bound", value.__name__, self.tell(owner)
        if isinstance(
            value, types.MethodDescriptorType | types.WrapperDescriptorType | types.ClassMethodDescriptorType
        ):
            return "of", value.__name__, self.tell(value.__objclass__)
        if isinstance(value, re.Pattern):
            return "pattern", self.tell(value.pattern), value.flags
        if isinstance(value, enum.Enum):
            return "member", self.tell(type(value)), value.name
        if type(value) in (list, tuple):
            return type(value).__name__, self._all(value)
        if type(value) in (set, frozenset):
            return type(value).__name__, sorted(self._all(value))
        if type(value) in (dict, types.MappingProxyType):
            return "dict", self._all(value.keys()), self._all(value.values())
        return self._object(value)

    def _all(self, values: Any) -> tuple[Any, ...]:
        return tuple(map(self.tell, values))

    def _object(self, value: Any) -> Any:
        """An object by its class and its state."""
        of = self.tell(type(value))
        if any(base.__module__ == "evaluate.module" for base in type(value).__mro__):
            return of, self.tell((value.config_name, value.seed))  # the rest is where it keeps its rows
        if callable(wrapped := getattr(value, "__wrapped__", None)):
            return of, self.tell(wrapped)
        slots = [name for base in type(value).__mro__ for name in _slots(base)]
        state = {name: getattr(value, name) for name in slots if hasattr(value, name)}
        state |= getattr(value, "__dict__", {})
        plain = next((kind for kind in (tuple, list, dict, str, int, float) if isinstance(value, kind)), None)
        if plain is None and not all(map(_is_python, type(value).__mro__[:-1])):  # its state is out of sight
            if _top(type(value).__module__) not in sys.stdlib_module_names:
                raise _UnknownError
            try:
                return of, self.tell(value.__reduce__())
            except TypeError:
                raise _UnknownError from None
        return of, self.tell(None if plain is None else plain(value)), self.tell(state)

    def _module(self, module: types.ModuleType) -> Any:
        if release := _release(module.__name__):
            return module.__name__, release
        return module.__name__, ast.unparse(_tree(str(getattr(module, "__file__", "")), module.__dict__))

    def _function(self, function: types.FunctionType) -> Any:
        code = function.__code__
        node = _node_of(code, function.__globals__)
        defaults = self.tell((function.__defaults__, function.__kwdefaults__))
        cells = {name: _content(cell) for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)}
        names = _names(code, "LOAD_GLOBAL", "LOAD_NAME")
        read = {name: function.__globals__[name] for name in names if name in function.__globals__}
        imported = [(name, _release(name) or self._own(name)) for name in _names(code, "IMPORT_NAME")]
        return "function", ast.unparse(node), defaults, self.tell(cells), self.tell(read), imported

    def _own(self, name: str) -> Any:
        """A module of the caller's own that is imported within a function."""
        if name not in sys.modules:
            raise _UnknownError
        return self.tell(sys.modules[name])

    def _class(self, cls: type) -> Any:
        """A class by its source and all that its methods read; what a dataclass adds follows from the source."""
        methods = _methods(cls)
        found = _sources(cls, methods)
        texts = sorted(text for texts in found.values() for text in texts)
        if not texts:
            raise _UnknownError
        own = [method for method in methods if found[method.__code__.co_filename]]
        return "class", texts, self._all(base for base in cls.__bases__ if base is not object), self._all(own)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty: its variable has no value yet
        return None


@functools.lru_cache(maxsize=256)
def _is_python(cls: type) -> bool:
    """Whether a class was made by a class statement; others, written in C, keep more than their attributes."""
    return bool(cls.__flags__ & _HEAP_TYPE) and any(_sources(cls, _methods(cls)).values())


def _methods(cls: type) -> list[types.FunctionType]:
    members = [getattr(member, "__func__", getattr(member, "fget", member)) for member in vars(cls).values()]
    return [member for member in members if isinstance(member, types.FunctionType)]


def _sources(cls: type, methods: list[types.FunctionType]) -> dict[str, list[str]]:
    """Each file that the class may be from -> the text of its class statements there."""
    module = sys.modules.get(cls.__module__)
    places = {getattr(module, "__file__", None), *(method.__code__.co_filename for method in methods)} - {None}
    return {str(place): _classes(str(place), cls.__qualname__, vars(module or cls)) for place in places}


def _slots(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


@functools.lru_cache(maxsize=256)
def _release(module: str | None) -> str:
    """The release that a module of installed code belongs to; empty for the caller's own code."""
    top = _top(module)
    if top == "builtins" or top in sys.stdlib_module_names - {"__main__"}:
        return "python"
    if top != "tls_tasks" and _FOLDERS.isdisjoint(Path(_place_of(top)).parts):
        return ""
    try:
        return importlib.metadata.version("tls-tasks" if top == "tls_tasks" else top)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(top, ())
        return ",".join(f"{name}=={importlib.metadata.version(name)}" for name in sorted({*names}))


def _place_of(top: str) -> str:
    """Where a package or module is."""
    if top in sys.modules:
        return str(getattr(sys.modules[top], "__file__", None) or "")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return ""
    return str(spec.origin) if spec is not None and spec.origin else ""


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and all code within it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _codes(value)


def _names(code: types.CodeType, *operations: str) -> list[str]:
    """The names that these operations take, in order."""
    found = (step.argval for one in _codes(code) for step in dis.get_instructions(one) if step.opname in operations)
    return sorted(set(found))


# --- source ---


def _text(place: str, module_names: Mapping[str, Any]) -> str:
    """The source of a file, a notebook's cell or a doctest; empty if there is none."""
    linecache.checkcache(place)
    return "".join(linecache.getlines(place, dict(module_names)))


def _tree(place: str, module_names: Mapping[str, Any]) -> ast.Module:
    text = _text(place, module_names)
    if not text:
        raise _UnknownError
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        raise _UnknownError from None


def _node_of(code: types.CodeType, module_names: Mapping[str, Any]) -> ast.AST:
    """The source of a function, which must be what runs."""
    shape = _shape(code)
    text = _text(code.co_filename, module_names)
    for found, node in _functions(text, code.co_flags & _FUTURE).get((code.co_firstlineno, code.co_name), ()):
        if _shape(found) == shape:
            return node
    raise _UnknownError


@functools.lru_cache(maxsize=16)
def _functions(text: str, flags: int) -> dict[tuple[int, str], list[tuple[types.CodeType, ast.AST]]]:
    """(line, name) -> the functions of a source that begin there, compiled and as trees.

    Two lambdas may stand on one line. To tell them apart each function is given a line of its own before the source is
    compiled.
    """
    try:
        tree = ast.parse(text)
        nodes = [node for node in ast.walk(tree) if isinstance(node, _FUNCTION_NODES)]
        lines = []
        for number, node in enumerate(nodes, start=1):
            first: Any = next(iter(getattr(node, "decorator_list", ())), node)
            lines.append(first.lineno)
            first.lineno, first.end_lineno, first.col_offset, first.end_col_offset = number, number, 0, 0
        module = compile(tree, "<signature>", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return {}
    found: dict[tuple[int, str], list[tuple[types.CodeType, ast.AST]]] = {}
    names = {number: getattr(node, "name", "<lambda>") for number, node in enumerate(nodes, start=1)}
    for code in _codes(module):
        number = code.co_firstlineno
        if names.get(number) == code.co_name:
            found.setdefault((lines[number - 1], code.co_name), []).append((code, nodes[number - 1]))
    return found


def _shape(code: types.CodeType) -> tuple[Any, ...]:
    """What of compiled code does not depend on where it stands."""
    values = tuple(
        _shape(value) if isinstance(value, types.CodeType) else (type(value), _in_order(value))
        for value in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, *names, code.co_argcount, code.co_kwonlyargcount, values)


def _in_order(value: Any) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _classes(place: str, name: str, module_names: Mapping[str, Any]) -> list[str]:
    """The text of the classes of this qualified name in a source."""

    def below(node: ast.AST, names: list[str]) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield from below(child, names)
            elif child.name == names[0] and names[1:]:
                yield from below(child, names[1:])
            elif child.name == names[0] and isinstance(child, ast.ClassDef):
                yield ast.unparse(child)

    try:
        return list(below(_tree(place, module_names), name.replace("<locals>.", "").split(".")))
    except _UnknownError:
        return []
