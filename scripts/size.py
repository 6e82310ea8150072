"""Count the code of the package by room, and hold it against the budget in ``tests/size.yaml``.

A code line holds at least one token that is no comment and no docstring. ``python scripts/size.py`` prints a table;
``tests/test_size.py`` fails where the sum is over its limit.
"""

from __future__ import annotations

import ast
import graphlib
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
FOLDERS = ("tls_tasks", "metrics", "task_configs", "hook")
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    r"""The number of lines that hold code.

    Example:
        >>> code_lines('"A docstring."\n\nx = 1  # one\n"What x is."\n# a comment\ny = (\n    2\n)\n')
        4
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(_docstring_lines(ast.parse(source))))


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    """Lines of docstrings, and of strings that document an assignment."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):  # the body of a lambda is one expression
            continue
        for before, statement in zip([None, *body], body, strict=False):
            may_document = before is None or isinstance(before, ast.Assign | ast.AnnAssign)
            match statement:
                case ast.Expr(value=ast.Constant(value=str())) if may_document:
                    yield from range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def files(folders: tuple[str, ...] = FOLDERS) -> dict[Path, int]:
    """Every Python file below the folders, relative to the checkout, with its code lines."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT): code_lines(path.read_text(encoding="utf-8")) for path in paths}


def rooms(sizes: dict[Path, int]) -> dict[str, int]:
    """The code lines of each room: a folder of ``tls_tasks``, its files at the top, or what is outside the package."""
    total: Counter[str] = Counter()
    for path, lines in sizes.items():
        inside = path.parts[0] == "tls_tasks"
        total[(path.parts[1] if len(path.parts) > 2 else "top") if inside else "outside"] += lines
    return dict(total)


def hidden() -> dict[str, int]:
    """The size of what could hide code: name of its limit -> size.

    ``python_characters``: the Python files of the package. ``pattern_characters``: the YAML in ``tls_tasks``, without
    the list of secrets. ``other_bytes``: all else in the package. ``test_json_bytes``: JSON and JSON Lines in tests.
    Embedded data, word lists and READMEs count nowhere.
    """
    total = Counter(dict.fromkeys(("python_characters", "pattern_characters", "other_bytes", "test_json_bytes"), 0))
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*")):
        is_counted = path.is_file() and path.suffix != ".pyc" and path.name != "README.md"
        if not is_counted or str(path.relative_to(ROOT)).startswith(("tls_tasks/data/embedded", "tls_tasks/text/data")):
            continue
        is_pattern = path.suffix == ".yaml" and path.is_relative_to(ROOT / "tls_tasks") and path.stem != "secrets"
        if path.suffix == ".py" or is_pattern:
            name = "pattern_characters" if is_pattern else "python_characters"
            total[name] += len(path.read_text(encoding="utf-8"))
        else:
            total["other_bytes"] += path.stat().st_size
    total["test_json_bytes"] = sum(path.stat().st_size for path in (ROOT / "tests").rglob("*.json*"))
    return dict(total)


def circle() -> list[str]:
    """The modules of one import circle, or none; imports for type checkers and inside functions count.

    Raises:
        SyntaxError: A file is no Python.
    """
    paths = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in files()}
    graph = {}
    for module, path in paths.items():
        names = set(_imported(ast.parse((ROOT / path).read_text(encoding="utf-8")), module, path.stem == "__init__"))
        # A module may import its own package, whose __init__ Python has run by then.
        graph[module] = {name for name in names & set(paths) if not f"{module}.".startswith(f"{name}.")}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def _imported(tree: ast.Module, module: str, is_package: bool) -> Iterator[str]:
    """The absolute names of everything that a module imports, wherever in the file."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def budget() -> dict[str, int]:
    """The limits ``sum``, ``tests``, ``small_files`` and those of :func:`hidden`, and a guide line for each room."""
    table: dict[str, int] = yaml.safe_load((ROOT / "tests/size.yaml").read_text(encoding="utf-8"))
    return table


def report() -> str:
    """The limits, then a line for each room: its guide line, and a mark where it is more than 10 % over."""
    sizes, limits = rooms(files()), budget()
    lines = [f"{'sum':12} {sum(sizes.values()):6,} of {limits['sum']:6,}"]
    others = {"tests": sum(files(("tests",)).values()), **hidden()}
    lines += [f"{name:20} {size:9,} of {limits[name]:9,}" for name, size in others.items()]
    for room, size in sorted(sizes.items(), key=lambda item: -item[1]):
        over = size > 1.1 * limits.get(room, 0)
        lines.append(f"{room:12} {size:6,} of {limits.get(room, 0):6,}{'  over' if over else ''}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
    sys.exit(sum(files().values()) > budget()["sum"])
