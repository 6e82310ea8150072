"""The import rule, a light import, sorted public names: what keeps the architecture what it is."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tls_tasks
from tests.conftest import ROOT
from tls_tasks.registry import METRICS

PACKAGE = ROOT / "tls_tasks"

# Arrows point to lower or equal numbers only; equal ones may not import each other, but for one's own package.
LAYERS = {
    "types": 0,
    "errors": 0,
    "signature": 1,
    "intervals": 1,
    "significance": 2,
    "scores": 2,
    "text": 3,
    "parsing": 3,
    "scorers": 4,
    "registry": 5,
    "baselines": 6,
    "datasets": 6,
    "evaluators": 6,
    "judge": 6,
    "plugin": 6,
    "harness": 7,  # runs the baselines
    "report": 8,
    "submission": 8,
    "cli": 9,
    "__init__": 10,
    "__main__": 10,
}

# Who may import what is heavy or reaches out.
ALLOWED = {
    "evaluate": {"metrics"},
    "lm_eval": {"harness", "plugin", "cli"},
    "datasets": {"datasets", "metrics"},
    "huggingface_hub": {"datasets", "submission"},
    "transformers": {"datasets", "judge"},
    "httpx": {"judge"},
    "litellm": {"judge"},
    "requests": set(),
    "urllib": set(),
    "socket": set(),
    "subprocess": set(),
    "pickle": set(),  # the judge's pickles.py reads pickles by itself, and runs nothing in them
}


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
            yield node.module, node.lineno
            if node.module == "tls_tasks":
                yield from ((f"tls_tasks.{alias.name}", node.lineno) for alias in node.names)


SOURCES = list(sources())


def test_arrows_point_left():
    wrong = []
    for layer, path in SOURCES:
        for module, line in imports(path):
            parts = module.split(".")
            if layer == "metrics" or parts[0] != "tls_tasks" or len(parts) < 2 or parts[1] not in LAYERS:
                continue
            if parts[1] != layer and LAYERS[parts[1]] >= LAYERS[layer]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_every_module_has_a_layer():
    assert {layer for layer, _ in SOURCES} - {"metrics"} <= set(LAYERS)


def test_heavy_imports_stay_where_they_belong():
    wrong = []
    for layer, path in SOURCES:
        for module, line in imports(path):
            root = module.split(".")[0]
            if root in ALLOWED and layer not in ALLOWED[root]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
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
    assert {name for name in new if name.startswith("tls_tasks")} == {"tls_tasks", "tls_tasks.registry"}
    assert len(new) < 100  # 52, most of them dataclasses' and pathlib's
    assert not {"numpy", "scipy", "datasets", "evaluate", "lm_eval", "nltk", "torch", "pyarrow"} & set(modules)


def test_public_names():
    assert tls_tasks.__all__ == sorted(tls_tasks.__all__)
    assert set(tls_tasks.__all__) == {*METRICS, "METRICS", "__version__"}
    assert dir(tls_tasks) == tls_tasks.__all__
    for name in tls_tasks.__all__:
        assert getattr(tls_tasks, name) is not None
    assert all(callable(getattr(tls_tasks, name)) for name in METRICS)
    with pytest.raises(AttributeError, match="has no attribute 'rouge'"):
        tls_tasks.rouge  # noqa: B018


def test_version_and_changelog_agree():
    assert f"## {tls_tasks.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {tls_tasks.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_files_and_functions_stay_small():
    for _, path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400, f"{path}: more than one idea?"
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
    assert not missing


def test_no_machine_paths_in_what_ships():
    pattern = re.compile(r"(?<![\w.~-])/(root|home|work|opt|mnt)/[a-z]")
    for path in Path(PACKAGE).rglob("*"):
        if path.suffix in {".py", ".json", ".jsonl", ".md", ".txt"}:
            assert not pattern.search(path.read_text(encoding="utf-8")), path
