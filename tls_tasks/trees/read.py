"""Model text -> a tree: see :func:`parse_tree`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from tls_tasks.core.examples import is_example, lead_of
from tls_tasks.core.json_text import JSON_PROBLEM_KINDS, FoundJson, Stage, find_json, is_whole_json
from tls_tasks.core.json_values import number_of, problem
from tls_tasks.core.options import check_choice
from tls_tasks.core.parsed import Parsed, Problem
from tls_tasks.core.reasoning import first_reading, strip_thinking
from tls_tasks.core.yaml_text import find_yaml
from tls_tasks.trees.shapes import fit, is_echo, joined_parts, looks_like, unwrapped
from tls_tasks.trees.tables import in_tables
from tls_tasks.trees.types import ANY_OF, MAX_DEPTH, Branch, Leaf, ListOf, SchemaNode
from tls_tasks.trees.xml_text import elements_of

MODES = ("lenient", "strict")
"""``lenient``: the tree is found, and mended where it can be; ``strict``: an answer that is no JSON document fails."""

TREE_PROBLEM_KINDS = (
    *JSON_PROBLEM_KINDS,
    "no_json",  # nothing that could be a tree
    "too_deep",  # dictionaries and lists nested more than 64 deep
    "echoed_schema",  # the schema, or an example with types and dots for values, and nothing else
    "example",  # a tree "for example", which is no answer
    "several_trees",  # the last whole one counts
    "wrapped",  # the tree was in a wrapper, which was taken off
    "not_strict",  # strict mode: the answer is no JSON document
)
"""What may be wrong with a tree in a text."""

_LONGEST_ENTRY = 200
_LAST_NUMBER = re.compile(r'"([^"]+)"\s*:\s*(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)\Z')
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


_SCALARS = frozenset({str, int, float, bool, type(None)})
_PLAIN = _SCALARS | {dict, list}


def are_plain(trees: Iterable[Any]) -> bool:
    """Whether all trees are dictionaries and lists that need no reading: :func:`plain` would give the same.

    Nor does any of them hold several valid answers. All trees are checked at once, level by level, which is quick.

    Example:
        >>> are_plain([{"a": [1]}]), are_plain([{"a": (1,)}]), are_plain(['{"a": 1}']), are_plain([{"$any_of": [1]}])
        (True, False, False, False)
    """
    level = list(trees)
    kinds = set(map(type, level))
    if not kinds <= {dict, list}:
        return False
    for _ in range(MAX_DEPTH):
        branches = [value for value in level if type(value) is dict] if dict in kinds else []
        lists = [value for value in level if type(value) is list] if list in kinds else []
        if ANY_OF in chain.from_iterable(branches):
            return False
        level = [*chain.from_iterable(map(dict.values, branches)), *chain.from_iterable(lists)]
        kinds = set(map(type, level))
        if float in kinds and not all(math.isfinite(value) for value in level if type(value) is float):
            return False
        if kinds <= _SCALARS:
            return True
        if not kinds <= _PLAIN:
            return False
    return False


def parse_tree(text: str, node: SchemaNode | None = None, mode: str = "lenient") -> ParsedTree:
    r"""Read the tree in a model's text. Never raises, whatever the text.

    Reasoning (:mod:`tls_tasks.core.reasoning`) is no part of the answer. Leniently, the first stage that finds
    something wins: the whole answer as JSON; fenced blocks; JSON Lines; dictionaries and lists in prose; the finished
    part of what is cut off; the same with loose quotes, comments, trailing commas and Python's literals; json_repair.
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
        return _tree_of(node, mode, text)
    return first_reading(text, partial(_tree_of, node, mode))


def _tree_of(node: SchemaNode | None, mode: str, text: str) -> ParsedTree:
    if _nested_too_deeply(text):
        return _failure("too_deep", text)
    found = _found(text, node) if mode == "lenient" else find_json(text, _is_anything, deep=True)
    is_valid = _is_valid(found)
    if mode == "strict" and not is_valid:
        return _failure("not_strict", text, found.problems)
    if not found.values:
        echo = find_json(text, lambda value: is_echo(value, node))
        return _failure("echoed_schema" if echo.values else "no_json", text, found.problems, _is_valid(echo))
    value, several = _chosen(found, node)
    tree = unwrapped(value, node) if mode == "lenient" else value
    if tree is not value:
        wrapper = ", ".join(map(str, value)) if isinstance(value, dict) else "[…]"
        value, found = tree, replace(found, problems=(*found.problems, problem("wrapped", wrapper)))
    if found.stage == "truncated" and isinstance(node, Branch) and isinstance(value, dict):
        value = _with_last_number(value, node, text)
    if found.stage in ("truncated", "repaired", "scan") and not _has_content(value):
        return _failure("no_json", text, found.problems)
    try:
        value = plain(value)
    except TooDeepError:
        return _failure("too_deep", text, found.problems)
    return ParsedTree(
        value,
        found.problems + ((problem("several_trees", str(len(found.values))),) if several else ()),
        found.stage,
        is_valid,
    )


def _failure(kind: str, text: str, problems: tuple[Problem, ...] = (), is_valid: bool = False) -> ParsedTree:
    return ParsedTree(None, (problem(kind, text), *problems), "none", is_valid)


def _found(text: str, node: SchemaNode | None) -> FoundJson:
    """The values that may be the tree: JSON, or an outline if it holds more of a tree."""
    weigh = partial(_weigh, node)

    def is_no_echo(value: Any) -> bool:
        return not is_echo(value, node)

    found = _without_examples(find_json(text, weigh, deep=True), text)
    n_characters = sum(end - start for start, end in found.places)
    is_part = found.stage not in ("whole", "fence", "jsonl")
    are_examples = any(noted.kind == "example" for noted in found.problems)
    # JSON of another shape than the schema's root stays what it is; without a schema, a part of it is no answer either.
    if is_part and not are_examples and (node is None or not found.values) and is_whole_json(text, is_no_echo):
        return find_json(text, is_no_echo, deep=True)
    if not is_part or 2 * n_characters > len(text):
        return found
    return max([found, *_in_other_forms(text, node)], key=lambda found: sum(map(weigh, found.values)))


def _without_examples(found: FoundJson, text: str) -> FoundJson:
    """What is not said to be an example; a value that is all of the text, or of its fence, is none."""
    if found.stage == "whole" or not found.places:
        return found
    answer = strip_thinking(text).text
    begins = [0, *(end for _, end in found.places)]
    last = len(found.places) - 1
    kept = [
        at
        for at, (start, _) in enumerate(found.places)
        if not is_example(lead_of(answer, min(begins[at], start), start), at < last)
    ]
    if len(kept) == len(found.values):
        return found
    problems = (*found.problems, problem("example", str(len(found.values) - len(kept))))
    values, places = (tuple(part[at] for at in kept) for part in (found.values, found.places))
    return FoundJson(values, found.stage if kept else "none", problems, places)


def _in_other_forms(text: str, node: SchemaNode | None) -> Iterator[FoundJson]:
    """What YAML, Markdown and XML in a text say, as the schema has it."""
    outline = find_yaml(text, partial(_weigh_outline, node), as_written=True)
    yield replace(outline, values=tuple(fit(value, node) for value in outline.values))
    if isinstance(node, Branch) and "|" in text:
        in_rows, rest = in_tables(strip_thinking(text).text, node)
        around = find_yaml(rest, partial(_weigh_outline, node), as_written=True).values if in_rows else ()
        table = fit({**(around[-1] if around and isinstance(around[-1], dict) else {}), **in_rows}, node)
        yield FoundJson((table,), "outline", (problem("repaired_json", "a table"),))
    if node is not None and "</" in text:
        elements = fit(elements_of(strip_thinking(text).text), node)
        yield FoundJson((elements,), "outline", (problem("repaired_json", "XML"),))


def _weigh(node: SchemaNode | None, value: Any) -> int:
    """How much of a tree a value holds; 0 if it doesn't have the shape of the schema's root, or is the schema.

    What follows a damaged tree in a text is often a part of that tree, in most cases a list. So a list counts for
    little where a dictionary is wanted.
    """
    value = unwrapped(value, node)
    if is_echo(value, node):
        return 0
    if isinstance(node, Branch) and isinstance(value, list):
        return sum(_size(item) for item in value if looks_like(item, node))
    if node is None and not isinstance(value, dict):
        return int(isinstance(value, list) and any(isinstance(item, dict) for item in value))
    return _size(value) if looks_like(value, node) else 0


def _weigh_outline(node: SchemaNode | None, value: Any) -> int:
    """The same for an outline; without a schema it is one if it has two keys, since ``Note: …`` is prose."""
    if isinstance(node, Leaf) or (node is None and not (isinstance(value, dict) and len(value) > 1)):
        return 0
    value = fit(value, node)
    return _weigh(node, value) if isinstance(value, dict | list) else 0


def _is_anything(value: Any) -> bool:
    return True


def _size(value: Any) -> int:
    """A value and all values in it."""
    return sum(map(len, _layers(value)))


def _has_content(value: Any) -> bool:
    """Whether it holds anything besides dictionaries and lists."""
    return any(not isinstance(one, dict | list) for layer in _layers(value) for one in layer)


def _layers(value: Any) -> Iterator[list[Any]]:
    """A value, then the values in it, then those in them, and so on."""
    layer = [value]
    while layer:
        yield layer
        deeper: list[Any] = []
        for one in layer:
            if isinstance(one, dict):
                deeper += one.values()
            elif isinstance(one, list):
                deeper += one
        layer = deeper


def _is_valid(found: FoundJson) -> bool:
    """Whether the answer is strict JSON: no NaN, no control characters in strings; 1e999 is allowed."""
    return found.stage == "whole" and not any(
        (noted.kind == "repaired_json" and noted.detail != "JSON in a string")
        or (noted.kind == "non_finite" and noted.detail.lstrip("-")[:1] in ("N", "I"))
        for noted in found.problems
    )


def _chosen(found: FoundJson, node: SchemaNode | None) -> tuple[Any, bool]:
    """The tree that is meant, and whether there were others."""
    values: Sequence[Any] = found.values
    if found.stage == "repaired" and len(values) == 1 and not isinstance(node, ListOf):
        values = _joined_by_repair(found)
    if len(values) == 1:
        return values[0], False
    whole = values[:-1] if found.stage == "truncated" else values
    alike = [value for value in whole if looks_like(unwrapped(value, node), node)]
    if len(alike) > 1 and (joined := joined_parts(alike, node)):
        return joined, False
    if not alike and looks_like(unwrapped(values[-1], node), node):
        return values[-1], True
    return (alike or whole)[-1], True


def _with_last_number(tree: dict[str, Any], node: Branch, text: str) -> dict[str, Any]:
    """A number at the end of a text is whole if the schema has no further key: just the last bracket is missing."""
    last = _LAST_NUMBER.search(text[-_LONGEST_ENTRY:])
    missing = node.children.keys() - tree.keys()
    if last is None or missing != {last[1]}:
        return tree
    return {**tree, last[1]: number_of(last[2], {})}


def _joined_by_repair(found: FoundJson) -> Sequence[Any]:
    """json_repair puts a draft and the final answer into one list, which isn't in the text."""
    value = found.values[0]
    by_repair = any(noted.kind == "repaired_json" and noted.detail == "json_repair" for noted in found.problems)
    if by_repair and isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [item for item in value if isinstance(item, dict)]
    return found.values


_BRACKETS = re.compile(r"\\.|[\"\[\]{}]", re.DOTALL)


def _nested_too_deeply(text: str) -> bool:
    """Whether brackets outside of strings are nested more than :data:`MAX_DEPTH` deep, in the answer."""
    return _is_deep(text) and _is_deep(strip_thinking(text).text)


def _is_deep(answer: str) -> bool:
    if answer.count("{") + answer.count("[") <= MAX_DEPTH:
        return False
    depth, inside = 0, False
    for match in _BRACKETS.finditer(answer):
        found = match.group()
        if found == '"':
            inside = not inside
        elif not inside and found in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif not inside and found in "]}":
            depth = max(0, depth - 1)
    return False
