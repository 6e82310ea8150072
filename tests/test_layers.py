"""The import rule, a light import, sorted public names: what keeps the architecture what it is."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tls_tasks
from scripts.size import code_lines
from tests.conftest import ROOT
from tls_tasks.registry import FAMILIES, METRICS

PACKAGE = ROOT / "tls_tasks"

BASE = {"core", "text", "data"}

# room -> the rooms that it may import besides itself; nobody imports what is not listed here.
MAY_IMPORT = {
    "core": set(),
    "text": {"core"},
    "data": {"core", "text"},
    **{family: BASE for family in FAMILIES},
    "registry": {"core"},  # for the error of an unknown name
    "hosts": {*BASE, *FAMILIES, "registry", "__init__"},
    "after": {*BASE, *FAMILIES, "registry", "hosts", "__init__"},
    "cli": {*BASE, *FAMILIES, "registry", "hosts", "after", "__init__"},
    # For type checkers, but for core's error of an unknown name; what is loaded is tested below.
    "__init__": {"registry", "core", "after", *FAMILIES},
    "__main__": {"cli"},
    "metrics": {"hosts", *BASE, *FAMILIES, "registry", "__init__"},
}

# Who may import what is heavy or reaches out.
ALLOWED = {
    "evaluate": {"metrics", "hosts"},
    "lm_eval": {"hosts", "cli"},
    "datasets": {"data", "hosts", "metrics"},
    "huggingface_hub": {"data", "after"},
    "transformers": {"data", "reports"},
    "httpx": {"reports"},
    "gradio": {"metrics"},
    "inspect_ai": {"hosts", "after"},
    "ray": {"after"},
    "openai": {"reports"},
    "requests": {"data"},  # errors of pooch, which downloads what tls-tasks fetch is asked for
    "pooch": {"data"},
    "urllib": set(),
    "socket": set(),
    "subprocess": {"after"},  # OpenSSH, for signatures
    "pickle": set(),  # but see READS_PICKLES
}

# The files that may import pickle: for an unpickler that fetches no function and no class, and nothing else.
READS_PICKLES = {"tls_tasks/reports/documents.py", "tls_tasks/hosts/loading.py"}


def sources():
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        yield (relative.parts[0].removesuffix(".py"), path)
    for path in sorted((ROOT / "metrics").rglob("*.py")):
        if path.name != "app.py":
            yield ("metrics", path)


def imports(path):
    """The modules that a file imports, at the top or inside a function, and the line of each."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            if node.module != "tls_tasks":
                yield node.module, node.lineno
                continue
            for alias in node.names:  # a room, or a name of the package itself
                is_room = (PACKAGE / alias.name).is_dir() or (PACKAGE / f"{alias.name}.py").is_file()
                yield f"tls_tasks.{alias.name}" if is_room else "tls_tasks", node.lineno


SOURCES = list(sources())


def rooms_imported(path):
    """The rooms of the package that a file imports, and the line of each."""
    for module, line in imports(path):
        parts = module.split(".")
        if module == "tls_tasks":
            yield "__init__", line
        elif parts[0] == "tls_tasks":
            yield parts[1], line


def test_rooms_import_only_what_they_may():
    wrong = []
    for room, path in SOURCES:
        for imported, line in rooms_imported(path):
            file = str(path.relative_to(ROOT))
            if imported != room and imported not in MAY_IMPORT.get(room, set()):
                wrong.append(f"{file}:{line}: {room} may not import {imported}")
    assert not wrong, "\n".join(wrong)


def test_every_room_is_known():
    unknown = {room for room, _ in SOURCES} - set(MAY_IMPORT)
    assert not unknown, (
        f"tls_tasks/: nothing says what {sorted(unknown)} may import: enter a family in FAMILIES of "
        "tls_tasks/registry.py, another room in MAY_IMPORT of tests/test_layers.py"
    )


def test_heavy_imports_stay_where_they_belong():
    wrong = []
    for room, path in SOURCES:
        for module, line in imports(path):
            root, file = module.split(".")[0], str(path.relative_to(ROOT))
            if (root == "pickle" and file in READS_PICKLES) or module == "urllib.parse":  # which reaches nothing
                continue
            if root in ALLOWED and room not in ALLOWED[root]:
                wrong.append(f"{file}:{line}: {room} may not import {module}")
    assert not wrong, "\n".join(wrong)


def test_the_rules_above_are_not_vacuous():
    seen = {module.split(".")[0] for _, path in SOURCES for module, _ in imports(path)}
    assert {"evaluate", "lm_eval", "datasets", "tls_tasks"} <= seen


def test_nothing_runs_data():
    pattern = re.compile(r"\b(eval|exec)\(|pickle\.load|trust_remote_code\s*=\s*True|yaml\.(unsafe_)?load\(")
    for _, path in SOURCES:
        found = [line for line in path.read_text(encoding="utf-8").splitlines() if pattern.search(line)]
        assert not found, (path, found)


def test_the_import_is_light():
    code = (
        "import json, sys; before = set(sys.modules); import tls_tasks; "
        "print(json.dumps([sorted(set(sys.modules) - before), sorted({name.split('.')[0] for name in sys.modules})]))"
    )
    new, modules = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert {name for name in new if name.startswith("tls_tasks")} == {"tls_tasks"}
    assert len(new) < 10  # a command is interrupted while more is imported: it would show a traceback
    assert not {"numpy", "scipy", "datasets", "evaluate", "lm_eval", "nltk", "torch", "pyarrow"} & set(modules)


def test_public_names():
    assert tls_tasks.__all__ == sorted(tls_tasks.__all__)
    assert set(tls_tasks.__all__) == {*METRICS, "METRICS", "__version__", "meta", "task"}, "see tls_tasks/__init__.py"
    assert dir(tls_tasks) == tls_tasks.__all__
    for name in tls_tasks.__all__:
        assert getattr(tls_tasks, name) is not None
    assert all(callable(getattr(tls_tasks, name)) for name in METRICS)
    with pytest.raises(AttributeError, match="has no attribute 'rouge'"):
        tls_tasks.rouge  # noqa: B018


def test_version_and_changelog_agree():
    assert f"## {tls_tasks.__version__} " in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {tls_tasks.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_files_and_functions_stay_small():
    for _, path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert code_lines(text) <= 265, f"{path}: more than one idea?"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= 50, f"{path}:{node.lineno} {node.name} has {lines} lines"


def test_every_public_thing_is_documented():
    missing = []
    for _, path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree):
            missing.append(str(path))
        for node in tree.body:
            if (
                isinstance(node, ast.FunctionDef | ast.ClassDef)
                and not node.name.startswith("_")
                and not ast.get_docstring(node)
            ):
                missing.append(f"{path}:{node.name}")
    assert not missing, "no docstring (a name with an underscore needs none):\n" + "\n".join(missing)


def test_no_machine_paths_in_what_ships():
    pattern = re.compile(r"(?<![\w.~-])/(root|home|work|opt|mnt)/[a-z]")
    for path in Path(PACKAGE).rglob("*"):
        if path.suffix in {".py", ".json", ".jsonl", ".md", ".txt"}:
            assert not pattern.search(path.read_text(encoding="utf-8")), path


def test_what_is_imported_is_declared():
    """Each package that our code imports is a dependency, or an extra's."""
    from importlib import metadata

    declared = {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in metadata.requires("tls-tasks")}
    owners = metadata.packages_distributions()
    roots = {module.split(".")[0] for _, path in SOURCES for module, _ in imports(path)}
    foreign = roots - set(sys.stdlib_module_names) - {"tls_tasks", "_tls_tasks_hook"}
    with_hf = {"torch", "transformers"}  # what lm-eval[hf] is for
    undeclared = {
        root
        for root in foreign - with_hf
        if not {name.lower().replace("_", "-") for name in owners.get(root, [root])} & declared
    }
    assert not undeclared, f"{sorted(undeclared)}: declare them in pyproject.toml"
