"""FAMILIES and METRICS: the one list of what can be asked and scored, read by docs, tests, hosts and commands.

A metric is data (``metrics.json``): its name, the function that computes it, its result keys, range and direction, its
source, and what holds for it. Functions and tasks are named, not imported, so that reading the registry costs nothing.
"""

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
INVARIANTS: Mapping[str, str] = json.loads((_FOLDER / "invariants.json").read_text(encoding="utf-8"))
"""What holds for a metric, unless it declares otherwise; ``tests/test_contract.py`` proves every declaration, the
exceptions too."""


_PARTS = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """What is known of one metric.

    Attributes:
        name: Registry key, and folder under ``metrics/``. The function of this name lies in
            ``tls_tasks/FAMILY/NAME.py``; called as ``function(predictions, references, **options)``, it returns a typed
            score with ``as_dict()``.
        family: What a row is: ``timelines``, ``summaries`` …; decides which tasks report the metric and which cases
            the contract tests use.
        prefixes: Result keys are ``<prefix>_precision``, ``<prefix>_recall`` and ``<prefix>_f1``; empty where ``keys``
            names them.
        summary: One line for tables.
        original: The tool whose numbers are reproduced.
        citation: Paper and section, or the document that defines it.
        fails: The names of :data:`INVARIANTS` that do not hold, each with the reason; None where it cannot be asked
            (several references of a metric that takes one).
        keys: The result keys of a metric without prefixes: the values that a prediction is judged by.
        further_keys: What ``as_dict()`` gives besides, but for the signature: counts, rates, trees.
        columns: The columns of rows that the function takes.
        value_range: Lowest and highest value.
        higher_is_better: Direction.
        people: How large a difference means something to people (``data/people.json``, which ``make people`` writes).
        people_task: The task on whose data alone that was measured; empty where ``people`` names its data.
    """

    name: str
    family: str
    summary: str
    original: str
    citation: str
    prefixes: tuple[str, ...] = ()
    fails: Mapping[str, str | None] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    further_keys: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("predictions", "references")
    value_range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    people: str = ""
    people_task: str = ""

    @property
    def invariants(self) -> dict[str, bool | None]:
        """Each name of :data:`INVARIANTS` -> whether it holds."""
        fails = {name: None if reason is None else False for name, reason in self.fails.items()}
        return {**dict.fromkeys(INVARIANTS, True), **fails}

    @property
    def result_keys(self) -> tuple[str, ...]:
        """The keys of ``as_dict()`` by which a prediction is judged, in order: numbers in ``value_range``."""
        return self.keys or tuple(f"{prefix}_{part}" for prefix in self.prefixes for part in _PARTS)

    @property
    def module(self) -> str:
        """Where the function is."""
        return f"tls_tasks.{self.family}.{self.name}"

    @property
    def rows(self) -> str:
        """The module that reads the family's rows.

        Its ``check_row(row, field, index)`` refuses a row that cannot be scored, and its ``to_plain(value)`` turns
        the family's own objects into plain values.
        """
        return f"tls_tasks.{self.family}.rows"

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        function: Callable[..., Any] = getattr(importlib.import_module(self.module), self.name)
        return function


def _read() -> dict[str, MetricSpec]:
    files = (_FOLDER / "metrics.json", _FOLDER / "data/people.json")
    raw, people = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    metrics = {}
    for name, given in raw.items():
        tuples: dict[str, Any] = {key: tuple(part) if isinstance(part, list) else part for key, part in given.items()}
        measured = people.get(name, {})
        of_people = {"people": measured.get("difference", ""), "people_task": measured.get("task", "")}
        metrics[name] = MetricSpec(name, **of_people, **tuples)
    return metrics


METRICS: Mapping[str, MetricSpec] = _read()
"""Every metric by name."""

_DEFINITIONS: Mapping[str, Mapping[str, str]] = json.loads((_FOLDER / "result_keys.json").read_text(encoding="utf-8"))


def define(key: str) -> str:
    """Return what a result key of our tasks means, in a few words; empty for a key that a user's data adds.

    Example:
        >>> define("date_recall")
        'Selected dates: share of the reference covered'
    """
    keys, parts = _DEFINITIONS["keys"], _DEFINITIONS["parts"]
    stems = ((part, stem) for part in parts for stem in (key.removeprefix(f"{part}_"), key.removesuffix(f"_{part}")))
    composed = (f"{keys[stem]}: {parts[part]}" for part, stem in stems if stem != key and stem in keys)
    return keys.get(key) or next(composed, "")


FAMILIES: Mapping[str, str] = {
    family: f"tls_tasks.{family}.task" for family in ("timelines", "summaries", "evidence", "trees", "reports")
}
"""Family -> the module with its ``TASKS``."""


def find_task(name: str) -> Any:
    """The task called ``name``, a :class:`~tls_tasks.core.task.Task`.

    Raises:
        OptionError: If there is none; the message lists the names that exist.

    Example:
        >>> find_task("summ_qmsum").family
        'summaries'
    """
    from tls_tasks.core.errors import OptionError

    known: list[str] = []
    begin = name.partition("_")[0]  # summ, tree …: asked first, since importing another family may take a second
    for family in sorted(FAMILIES, key=lambda family: not family.startswith(begin)):
        tasks = importlib.import_module(FAMILIES[family]).TASKS
        if name in tasks:
            return tasks[name]
        known += tasks
    raise OptionError.unknown("task", name, known)
