"""Model text -> a tree: see :func:`parse_tree`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tls_tasks.core.json_text import JSON_PROBLEM_KINDS, FoundJson, Stage, find_json, is_whole_json
from tls_tasks.core.options import check_choice
from tls_tasks.core.parsed import Parsed, Problem, problem
from tls_tasks.core.reasoning import first_reading
from tls_tasks.core.yaml_text import find_yaml
from tls_tasks.trees.shapes import fit, is_echo, looks_like, unwrapped
from tls_tasks.trees.types import MAX_DEPTH, Branch, Leaf, SchemaNode

MODES = ("lenient", "strict")
"""``lenient``: the tree is found, and mended where it can be; ``strict``: an answer that is no JSON document fails."""

TREE_PROBLEM_KINDS = (
    *JSON_PROBLEM_KINDS, "no_json", "too_deep", "echoed_schema", "several_trees", "wrapped", "not_strict"
)  # fmt: skip
"""What may be wrong with a tree in a text, beside what may be wrong with any JSON.

``no_json``: nothing that could be a tree; ``too_deep``: more than 64 levels; ``echoed_schema``: the schema and nothing
else; ``several_trees``: the last whole one counts; ``wrapped``: a wrapper was taken off; ``not_strict``: in strict mode
the answer is no JSON document.
"""

_MENDED = frozenset({"repaired_json", "truncated", "broken_json", "wrapped"})


@dataclass(frozen=True, slots=True)
class ParsedTree(Parsed[Any]):
    """A tree that was read, and what was wrong on the way.

    Attributes:
        value: The tree. None if nothing could be read, and also for the JSON value ``null``: ask ``failed``.
        problems: Kinds are :data:`TREE_PROBLEM_KINDS`.
        stage: Where it was found, see :data:`~tls_tasks.core.json_text.STAGES`; ``none``: nowhere.
        valid: Whether the answer as it stands is a JSON document (RFC 8259: no NaN), nested 64 deep at most.

    Example:
        >>> parse_tree("null").failed, parse_tree("nothing").failed
        (False, True)
    """

    stage: Stage = "whole"
    valid: bool = field(default=True)

    @property
    def failed(self) -> bool:
        """Whether nothing at all could be read."""
        return self.stage == "none"

    def rates(self) -> dict[str, bool]:
        """What the answer is.

        ``json_valid``: a JSON document; ``parsed``: a tree was read; ``repaired``: something in it was mended, or
        dropped since it is unfinished or can't be read; ``duplicate_keys``: it has a key twice; ``non_finite``: it has
        NaN, infinity, or a number too large.
        """
        kinds = {problem.kind for problem in self.problems}
        return {
            "json_valid": self.valid,
            "parsed": not self.failed,
            "repaired": not self.failed and not kinds.isdisjoint(_MENDED),
            "duplicate_keys": "duplicate_key" in kinds,
            "non_finite": "non_finite" in kinds,
        }


class TooDeepError(Exception):
    """Dictionaries and lists nested too deeply. Never leaves the package."""


def plain(value: Any, bad_numbers: list[float] | None = None, depth: int = 0) -> Any:
    """A copy with dicts for mappings, lists for tuples, and None for NaN and infinity.

    Args:
        value: Any value.
        bad_numbers: Collects the numbers that were NaN or infinite.
        depth: How deep the value is in its tree.

    Raises:
        TooDeepError: More than :data:`~tls_tasks.trees.types.MAX_DEPTH` levels.

    Example:
        >>> plain({"a": (1, float("nan"))})
        {'a': [1, None]}
    """
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        if bad_numbers is not None:
            bad_numbers.append(value)
        return None
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == MAX_DEPTH:
        raise TooDeepError
    if isinstance(value, Mapping):
        return {key: plain(child, bad_numbers, depth + 1) for key, child in value.items()}
    return [plain(item, bad_numbers, depth + 1) for item in value]


def parse_tree(text: str, node: SchemaNode | None = None, mode: str = "lenient") -> ParsedTree:
    r"""Read the tree in a model's text. Never raises, whatever the text.

    Reasoning (:mod:`tls_tasks.core.reasoning`) is no part of the answer. Leniently, the first stage that finds
    something wins: the whole answer as JSON; fenced blocks; JSON Lines; dictionaries and lists in prose; the finished
    part of what is cut off. Quotes, comments, commas and Python's literals are mended, short pieces by json_repair.
    YAML, Markdown's lists of ``key: value`` and XML win over JSON in prose if they hold more of a tree. Of several trees
    the last whole one counts, among those with a key of the schema if there are such: models draft first.

    By the schema a wrapper is known, and taken off: ``{"result": {…}}``, ``[{…}]``, a call of a function. The schema
    itself, or an example that has types for values, is no answer.

    NaN and infinity become null, and so does a number that no float holds; integers stay what they are. Of a repeated
    key the last value counts. What is unfinished in a cut text is dropped, since half a value is another value: the
    last item of a list, the last value of a dictionary. More than 64 levels are a failure. A tree of another
    shape than the schema's root (a list, a scalar, a dictionary with none of its keys) is kept if it is all there is.

    Args:
        text: What the model wrote.
        node: The schema; decides which of several trees is meant.
        mode: One of :data:`MODES`. Strictly, the answer is one JSON document and nothing else, without NaN.

    Raises:
        OptionError: No such mode.

    Example:
        >>> parse_tree('Draft: {"a": 0}. Final:\n```json\n{"a": 1, "b": [1, 2],}\n```')
        ParsedTree(value={'a': 1, 'b': [1, 2]}, problems=(Problem(kind='repaired_json', detail='trailing comma'),), stage='fence', valid=False)
        >>> parse_tree('{"a": 1, "b": ["x", "y and th').value
        {'a': 1, 'b': ['x']}
        >>> parse_tree("{'a': 1}", mode="strict").failed
        True
    """  # noqa: E501 - the result is one line
    check_choice("parse_mode", mode, MODES)
    if mode == "strict":
        found = find_json(text, lambda value: True, deep=True)
        if not _is_valid(found):
            return _failure("not_strict", text, found.problems)
        return _tree_of(found.values[0], found, text)
    return first_reading(text, partial(_leniently, node))


def _leniently(node: SchemaNode | None, text: str) -> ParsedTree:
    found = _found(text, node)
    if not found.values:
        echo = find_json(text, lambda value: is_echo(value, node))
        return _failure("echoed_schema" if echo.values else "no_json", text, found.problems, _is_valid(echo))
    value = _chosen(found, node)
    tree = unwrapped(value, node)
    several = (problem("several_trees", str(len(found.values))),) if len(found.values) > 1 else ()
    if tree is not value:
        wrapper = ", ".join(map(str, value)) if isinstance(value, dict) else "[…]"
        several = (problem("wrapped", wrapper), *several)
    return _tree_of(tree, replace(found, problems=(*found.problems, *several)), text)


def _tree_of(value: Any, found: FoundJson, text: str) -> ParsedTree:
    try:
        return ParsedTree(plain(value), found.problems, found.stage, _is_valid(found))
    except TooDeepError:
        return _failure("too_deep", text, found.problems)


def _failure(kind: str, text: str, problems: tuple[Problem, ...] = (), is_valid: bool = False) -> ParsedTree:
    return ParsedTree(None, (problem(kind, text), *problems), "none", is_valid)


def _found(text: str, node: SchemaNode | None) -> FoundJson:
    """The values that may be the tree: JSON, or an outline if it holds more of a tree."""
    weigh = partial(_weigh, node)

    def is_no_echo(value: Any) -> bool:
        return not is_echo(value, node)

    found = find_json(text, weigh, deep=True)
    if found.stage in ("whole", "fence", "jsonl"):
        return found
    # JSON of another shape than the schema's root stays what it is; without a schema, a part of it is no answer either.
    if (node is None or not found.values) and is_whole_json(text, is_no_echo):
        return find_json(text, is_no_echo, deep=True)
    if 2 * sum(end - start for start, end in found.places) > len(text):
        return found
    outline = find_yaml(text, partial(_weigh_outline, node), as_written=True)
    outline = replace(outline, values=tuple(fit(value, node) for value in outline.values))
    return max([found, outline], key=lambda found: sum(map(weigh, found.values)))


def _weigh(node: SchemaNode | None, value: Any) -> int:
    """How many values of a tree a value holds; 0 if its shape is not that of the schema's root, or it is the schema.

    What follows a damaged tree in a text is often a part of that tree, in most cases a list. So a list counts for
    little where a dictionary is wanted.
    """
    value = unwrapped(value, node)
    if is_echo(value, node):
        return 0
    if isinstance(node, Branch) and isinstance(value, list):
        return sum(_n_values(item) for item in value if looks_like(item, node))
    if node is None and not isinstance(value, dict):
        return int(isinstance(value, list) and any(isinstance(item, dict) for item in value))
    return _n_values(value) if looks_like(value, node) else 0


def _weigh_outline(node: SchemaNode | None, value: Any) -> int:
    """The same for an outline; without a schema it is one if it has two keys, since ``Note: …`` is prose."""
    if isinstance(node, Leaf) or (node is None and not (isinstance(value, dict) and len(value) > 1)):
        return 0
    value = fit(value, node)
    return _weigh(node, value) if isinstance(value, dict | list) else 0


def _n_values(value: Any) -> int:
    """How many scalars are in a value."""
    waiting, n_values = [value], 0
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict | list):
            waiting += inner.values() if isinstance(inner, dict) else inner
        else:
            n_values += 1
    return n_values


def _is_valid(found: FoundJson) -> bool:
    """Whether the answer is strict JSON: no NaN, no control characters in strings; 1e999 is allowed."""
    return found.stage == "whole" and not any(
        (noted.kind == "repaired_json" and noted.detail != "JSON in a string")
        or (noted.kind == "non_finite" and noted.detail.lstrip("-")[:1] in ("N", "I"))
        for noted in found.problems
    )


def _chosen(found: FoundJson, node: SchemaNode | None) -> Any:
    """The tree that is meant: the last that is like the schema, and whole if there is such a one."""
    alike = [value for value in found.values if looks_like(unwrapped(value, node), node)] or list(found.values)
    if found.stage == "truncated" and len(alike) > 1 and alike[-1] is found.values[-1]:
        alike.pop()
    return alike[-1]
