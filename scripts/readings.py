"""What each layer of the readers wins: its lines of code, and the answers that are misread without it.

Each layer is switched off in turn, and the answers of ``tests/batteries`` (written with a look at some readers), of
``batteries/later`` and of ``batteries/unseen`` (written from the prompts alone and never extended) are read again.
``python scripts/readings.py [FAMILY …]`` prints the table; docs/developing/reading_layers.md shows it.

Real answers of models, labelled before any run, stand in the last column where ``../shared`` has them (they can't be
part of the project: see tests/real/SOURCES.md), for all families but evidence.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import runpy
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.size import code_lines  # noqa: E402 - needs the path above
from tests import test_batteries  # noqa: E402
from tls_tasks.core.json_text import FoundJson  # noqa: E402
from tls_tasks.core.reasoning import Patterns, strip_thinking  # noqa: E402
from tls_tasks.reports import citations  # noqa: E402

READ_RIGHT: dict[str, int] = test_batteries.READ_RIGHT
cases: Callable[[str, str], list[Any]] = test_batteries.cases
wrong: Callable[[str, str], list[Any]] = test_batteries.wrong
SETS = ("batteries", "batteries/later", "batteries/unseen")
SHARED = ROOT.parent / "shared"
"""Has the real answers, and the script that compares them with their labels."""


@dataclass(frozen=True)
class Layer:
    """A layer of a reader that can be switched off.

    Attributes:
        family: Whose reader it is.
        name: What it reads, as docs/developing/reading_layers.md names it.
        off: What is set in place of which attribute: ``{"timelines.read_lines.table_at": replacement}``.
        code: Files (``timelines/tables.py``), functions (``timelines.read.find_json``) and constants that only this
            layer needs.
    """

    family: str
    name: str
    off: dict[str, Any]
    code: tuple[str, ...]

    def lines(self) -> int:
        """The code lines of files and functions together."""
        return sum(code_lines(_source(name)) for name in self.code)

    @contextmanager
    def switched_off(self) -> Iterator[None]:
        """Every attribute replaced while the block runs."""
        before = {name: getattr(*_attribute(name)) for name in self.off}
        try:
            for name, replacement in self.off.items():
                setattr(*_attribute(name), replacement)
            yield
        finally:
            for name, value in before.items():
                setattr(*_attribute(name), value)


def _attribute(name: str) -> tuple[Any, str]:
    """The module and the attribute of ``timelines.read.find_json``; an unknown name raises AttributeError."""
    module, _, attribute = name.rpartition(".")
    return importlib.import_module(f"tls_tasks.{module}"), attribute


def _source(name: str) -> str:
    if name.endswith(".py"):
        return (ROOT / "tls_tasks" / name).read_text(encoding="utf-8")
    module, attribute = _attribute(name)
    if callable(getattr(module, attribute)):
        return textwrap.dedent(inspect.getsource(getattr(module, attribute)))
    source = inspect.getsource(module)
    assigned = (node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    found = next(node for node in assigned if ast.unparse(node.targets[0]) == attribute)
    return str(ast.get_source_segment(source, found))


def always(value: Any) -> Callable[..., Any]:
    """A function that returns ``value`` whatever it is given."""
    return lambda *arguments, **options: value


def first(value: Any, *others: Any, **options: Any) -> Any:
    """The first argument, unchanged."""
    return value


def refuse(*arguments: Any) -> Any:
    """What a parser does with a text that it can't read."""
    raise ValueError(arguments)


NEVER = re.compile("(?!)")
"""A pattern that matches nothing."""


def without(*names: str) -> Patterns:
    """The patterns of reports, of which these match nothing."""
    patterns = Patterns(citations.__file__)
    patterns.update(dict.fromkeys(names, NEVER))
    return patterns


LAYERS: tuple[Layer, ...] = (
    Layer(
        "timelines",
        "tables",
        {"timelines.read_lines.table_at": always(None)},
        (
            "timelines.tables.read_table",
            "timelines.tables._date_columns",
            "timelines.tables._date_in",
            "timelines.tables._named",
            "timelines.tables._is_date",
        ),
    ),
    Layer(
        "evidence",
        "YAML and lists",
        {"evidence.read._LINE": NEVER, "evidence.read.find_yaml": always(FoundJson((), "none"))},
        ("evidence.read._LINE",),
    ),
    Layer("evidence", "XML", {"evidence.read._ELEMENT": NEVER}, ("evidence.read._ELEMENT",)),
    Layer("evidence", "quotes around cells", {"evidence.read._bare": str.strip}, ("evidence.read._bare",)),
    Layer(
        "evidence",
        "lists that are repeated",
        {"evidence.read.is_repeated": always(False)},
        ("evidence.read.is_repeated",),
    ),
    Layer(
        "summaries",
        "fences, tags, quotation marks",
        {"summaries.read._FENCED": NEVER, "summaries.read._TAGGED": NEVER, "summaries.read._QUOTES": ()},
        ("summaries.read._inside", "summaries.read._FENCED", "summaries.read._TAGGED", "summaries.read._QUOTES"),
    ),
    Layer(
        "summaries",
        "announcements",
        {"summaries.read._LEAD_INS": ()},
        ("summaries.read._after_lead_in", "summaries.read._LEAD_INS"),
    ),
    Layer(
        "summaries",
        "closing remarks",
        {"summaries.read._CLOSING": NEVER},
        ("summaries.read._before_closing", "summaries.read._CLOSING"),
    ),
    Layer(
        "reports",
        "marks in HTML, LaTeX and superscript",
        {"reports.read_prose.in_brackets": first, "reports.read.in_brackets": first},
        ("reports.citations.in_brackets", "reports.citations._lowered"),
    ),
    Layer(
        "reports",
        "numbers in round brackets or behind stops alone",
        {"reports.citations._PATTERN": without("weak_mark")},
        ("reports.citations._opens",),
    ),
    Layer(
        "reports",
        "lists of references",
        {"reports.read_prose._PATTERN": without("references")},
        ("reports.citations.entry_of",),
    ),
    Layer(
        "reports",
        "such lists without a heading",
        {"reports.read_prose._are_sources": always(False)},
        ("reports.read_prose._are_sources",),
    ),
    Layer(
        "reports",
        "HTML tags",
        {"reports.read_prose._TAG": NEVER},
        ("reports.read_prose._tag_text", "reports.read_prose._TAG"),
    ),
    Layer("reports", "abbreviations", {"reports.read_prose._PATTERN": without("abbreviation")}, ()),
    Layer("reports", "broken lines", {"reports.read_prose._goes_on": always(False)}, ("reports.read_prose._goes_on",)),
    Layer(
        "reports",
        "JSON",
        {"reports.read._json_sentences": always(None)},
        (
            "reports.read._json_sentences",
            "reports.read._rows",
            "reports.read._prose",
            "reports.read._row_sentence",
            "reports.read._cited_ids",
        ),
    ),
    Layer(
        "timelines",
        "titles and texts before the date",
        {"timelines.read_lines.split_title": always(None)},
        ("timelines.entries.split_title", "timelines.read_lines._n_days"),
    ),
    Layer(
        "timelines",
        "numbers of items",
        {"timelines.read_lines.without_numbers": lambda lines: (lines, "")},
        ("timelines.list_forms.without_numbers",),
    ),
    Layer(
        "timelines",
        "items of one form",
        {"timelines.read_lines.items_of_one_form": always(set())},
        ("timelines.list_forms.items_of_one_form", "timelines.list_forms.split_formed"),
    ),
    Layer(
        "trees",
        "wrappers",
        {"trees.read._wrapped_trees": always([])},
        ("trees.read._wrapped_trees", "trees.read._inner_dictionaries"),
    ),
    Layer(
        "trees",
        "YAML and Markdown lists",
        {"trees.read.find_yaml": always(FoundJson((), "none"))},
        (
            "trees.read._weigh_outline",
            "trees.read.fit_outline",
            "trees.read._fit_values",
            "trees.read._fit_dictionary",
            "trees.read._join_dictionaries",
            "trees.read._typed_scalar",
        ),
    ),
    Layer("trees", "labels as keys", {"trees.read._fit_dictionary": first}, ("trees.read._fit_dictionary",)),
    Layer(
        "trees",
        "keys in another style",
        {"trees.read.match_keys": always({})},
        ("trees.read.match_keys", "trees.read._fold_keys", "trees.read.apply_key_style", "trees.read._rename_keys"),
    ),
    Layer("trees", "a list of pairs", {"trees.read._join_dictionaries": first}, ("trees.read._join_dictionaries",)),
    Layer(
        "all",
        "another prompt behind the answer",
        {"core.reasoning._before_prompt": lambda text: (text, "")},
        ("core.reasoning._before_prompt", "core.reasoning._PROMPT"),
    ),
    Layer(
        "all",
        "tags around the answer",
        {"core.reasoning._unwrapped": lambda text: (text, "")},
        ("core.reasoning._unwrapped",),
    ),
    Layer("all", "JSON in strings of JSON", {"core.json_text.unpacked": first}, ("core.json_text.unpacked",)),
    Layer(
        "all", "comments and trailing commas in JSON", {"core.json_text.mended": refuse}, ("core.json_values.mended",)
    ),
    Layer("all", "JSON mended by json_repair", {"core.json_text.repaired": refuse}, ("core.json_values.repaired",)),
    Layer("all", "whole entries of damaged JSON", {"core.json_text.cuts": always(())}, ("core.json_pieces.cuts",)),
    Layer("all", "YAML mended by us", {"core.yaml_text._mended": str}, ("core.yaml_text._mended",)),
)


def misread(family: str) -> tuple[set[str], ...]:
    """The ids of the answers of a family, or of all, that are misread, for each set and of the real answers."""
    strip_thinking.cache_clear()
    families = list(READ_RIGHT) if family == "all" else [family]
    misses = ({f"{name} {case['id']}" for name in families for case, _, _ in wrong(name, folder)} for folder in SETS)
    real = ((row, is_right(row, row["text"])[0]) for name in families for row, is_right in real_answers(name))
    return (*misses, {row["id"] for row, right in real if not right})


@cache
def real_answers(family: str) -> list[tuple[dict[str, Any], Callable[..., Any]]]:
    """The real answers of a family, each with the function that says whether it is read right."""
    script, path = SHARED / "tools" / "real_answers.py", SHARED / "data" / "real_answers" / f"{family}.jsonl"
    is_right: Any = runpy.run_path(str(script))["FAMILIES"].get(family) if script.is_file() and path.is_file() else None
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines()) if is_right else ()
    return [(row, is_right) for row in rows if not (family == "trees" and isinstance(row["expected"], list))]


def table(families: list[str]) -> str:
    """The table in Markdown; lost answers are those that the complete reader reads right."""
    rows = ["| family | layer | lines | lost: battery | later | unseen | real |", "|---|---|--:|--:|--:|--:|--:|"]
    for family in families:
        right = misread(family)
        if family != "all":
            sizes = [*(len(cases(family, folder)) for folder in SETS), len(real_answers(family))]
            counts = (f"{n - len(misses)} of {n}" for misses, n in zip(right, sizes, strict=True))
            rows.append(f"| {family} | *all layers: read right* | | {' | '.join(counts)} |")
        for layer in LAYERS:
            if layer.family == family:
                with layer.switched_off():
                    lost = tuple(str(len(now - before)) for now, before in zip(misread(family), right, strict=True))
                rows.append(f"| {family} | {layer.name} | {layer.lines()} | {' | '.join(lost)} |")
    return "\n".join(rows) if any(map(real_answers, families)) else "\n".join((*rows, f"No real answers in {SHARED}."))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(table(sys.argv[1:] or [*READ_RIGHT, "all"]))
