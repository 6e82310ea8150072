"""docs/api.md: all that pages and public docstrings tell a reader to use is listed there, and nothing private is.

``python -m tests.test_api`` records the arguments and defaults of all of it.
"""

import ast
import enum
import importlib
import inspect
import json
import re
from functools import reduce

import pytest

import tls_tasks
from scripts import pages
from tests.conftest import ROOT
from tls_tasks.reports import judges

ARGUMENTS = ROOT / "tests" / "test_api.json"
_ENTRY = re.compile(r"^::: (\S+)\n(?: {4}options:\n {6}members: \[(.*)\]$)?", re.M)


def listed():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name, members in _ENTRY.findall(text):
        yield from (f"{name}.{member}" for member in members.split(", ")) if members else [name]


NAMES = [*listed()]


def thing(name):
    """What a dotted name stands for; an AttributeError or ImportError if nothing does."""
    module, parts = name, []
    while True:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            module, _, part = module.rpartition(".")
            parts.insert(0, part)
        else:
            return reduce(getattr, parts, found)


THINGS = {name: thing(name) for name in NAMES}


def docstrings(name):
    """The docstring of a name, and of the public members of a class."""
    found = THINGS[name]
    yield inspect.getdoc(found) or ""
    for member in dir(found) if inspect.isclass(found) else ():
        if not member.startswith("_"):
            yield inspect.getdoc(getattr(found, member)) or ""


def is_private(name):
    return any(part.startswith("_") for part in name.split("."))


def is_listed(role, of):
    """Whether a role of the docstring of ``of`` leads to a listed name, or to a member of its own class."""
    own = THINGS[of]
    if inspect.isclass(own) and hasattr(own, role):
        return True
    home = getattr(own, "__module__", of.rpartition(".")[0])
    try:
        meant = thing(role if role.startswith("tls_tasks") else f"{home}.{role}")
    except AttributeError:
        return False
    return any(meant is one for one in THINGS.values())


def test_what_modules_declare_as_public_is_listed_and_nothing_else_of_them():
    assert len(set(NAMES)) == len(NAMES) and not [name for name in NAMES if is_private(name)]
    of_package = {f"tls_tasks.{name}" for name in tls_tasks.__all__ if name != "__version__"}
    assert of_package == {name for name in NAMES if name.count(".") == 1}
    of_judges = {name.rpartition(".")[2] for name in NAMES if name.rpartition(".")[0] == judges.__name__}
    assert of_judges == set(judges.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_public_docstrings_name_only_what_is_listed(name):
    roles = [role for text in docstrings(name) for role in re.findall(r":\w+:`~?(tls_tasks[^`]+|\w+)`", text)]
    assert [role for role in roles if is_private(role) or not is_listed(role, name)] == []


def test_what_the_code_of_pages_imports_is_listed():
    blocks = [block for page in pages.pages() for block in pages.blocks(page) if block.language == "python"]
    imports = [(block, node) for block in blocks for node in ast.walk(ast.parse(block.text))]
    used = {
        (str(block), f"{node.module}.{alias.name}")
        for block, node in imports
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tls_tasks")
        for alias in node.names
    }
    assert len(used) > 5
    assert [(where, name) for where, name in used if not any(thing(name) is one for one in THINGS.values())] == []


def arguments():
    """Name of a public function, class or method -> its arguments and their defaults."""
    every = dict(THINGS)
    for name, found in THINGS.items():
        if inspect.isclass(found):
            every |= {f"{name}.{one}": getattr(found, one) for one in vars(found) if not one.startswith("_")}
    told = {}
    for name, found in every.items():
        is_plain = inspect.isclass(found) and issubclass(found, enum.Enum | BaseException)  # each Python tells its own
        if callable(found) and not is_plain:
            every_argument = inspect.signature(found).parameters.values()
            bare = [argument.replace(annotation=argument.empty) for argument in every_argument]
            told[name] = re.sub(" at 0x[0-9a-f]+", "", str(inspect.Signature(bare)))
    return told


def test_arguments_and_defaults_are_the_recorded_ones():
    """A changed default changes what every call without it gives, and no test need notice."""
    assert arguments() == json.loads(ARGUMENTS.read_text("utf-8"))


if __name__ == "__main__":
    ARGUMENTS.write_text(json.dumps(arguments(), indent=1, ensure_ascii=False) + "\n", "utf-8")
