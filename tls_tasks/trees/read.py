"""Model text -> a tree (:func:`parse_tree`): which value in the answer is the tree that the schema asks for."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tls_tasks.core.errors import check_choice
from tls_tasks.core.json_text import PACKED, FoundJson, Stage, find_json, is_whole_json
from tls_tasks.core.json_values import RepeatedKeys
from tls_tasks.core.parsed import Parsed, Problem, beside, folded, leaves, problem, problem_kinds, unread_in
from tls_tasks.core.yaml_text import Unquoted, find_yaml, settled
from tls_tasks.trees.compliance import find_issues
from tls_tasks.trees.types import MAX_DEPTH, Branch, Leaf, ListOf, SchemaNode, node_for

_MAX_WRAPPERS = 4  # levels of wrappers in which a tree is looked for
_MAX_WRAPPED = 1_000  # values of wrappers that are looked at
_MAX_STYLED = 5_000  # keys of a dictionary of which some may be in another style

_YES_OR_NO = {"yes": True, "no": False, "on": True, "off": False, "true": True, "false": False}


def match_keys(value: Mapping[Any, Any], node: Branch) -> dict[Any, Any]:
    """Return key -> schema key, for keys that differ from a lacking one in case and style alone.

    Two keys that could be the same one are neither.

    Example:
        >>> node = Branch({"unit_price": Leaf("number"), "day": Leaf("date")})
        >>> match_keys({"unitPrice": 1, "Day": 2, "day-": 3}, node)
        {'unitPrice': 'unit_price'}
    """
    if value.keys() == node.children.keys() or len(value) > _MAX_STYLED:
        return {}
    unknown, lacking = _fold_keys(value.keys() - node.children.keys()), _fold_keys(node.children.keys() - value.keys())
    return {unknown[name]: lacking[name] for name in unknown.keys() & lacking.keys()}


def _fold_keys(keys: Set[Any]) -> dict[str, Any]:
    """Return folded text -> key, for the keys whose folded text no other key has."""
    names = Counter(folded(key) for key in keys if isinstance(key, str))
    return {name: key for key in keys if isinstance(key, str) and names[name := folded(key)] == 1 and name}


def _schema_keys(value: Any, node: Branch, any_style: bool) -> Set[Any]:
    """Return the schema's keys that a value has; with ``any_style`` also those written in another style."""
    if not isinstance(value, dict):
        return set()
    keys, is_open = node.children.keys() & value.keys(), node.rest is not None
    return keys | set(match_keys(value, node).values()) if any_style and not is_open else keys


def looks_like(value: Any, node: SchemaNode | None, any_style: bool = True) -> bool:
    """Tell whether a value has the shape of the schema's root: a key in common, or both are lists."""
    if isinstance(node, Branch):
        return bool(_schema_keys(value, node, any_style))
    return isinstance(value, list) if isinstance(node, ListOf) else True


def unwrapped(value: Any, node: SchemaNode | None, any_style: bool = True) -> Any:
    """Return the one dictionary within a value that has the schema's keys, if the value hasn't; else the value.

    A wrapper is a dictionary (``{"result": …}``, ``{"name": "extract", "arguments": …}``) or a list of one item. Its
    keys are not the schema's, but for those that what is in it has, too. If two in it would do, none is taken; nor does
    a schema that allows other keys have a wrapper around what find_issues with it.

    Example:
        >>> node = Branch({"a": Leaf("string"), "name": Leaf("string")})
        >>> unwrapped({"name": "extract", "arguments": {"a": "x", "name": "y"}}, node)
        {'a': 'x', 'name': 'y'}
        >>> unwrapped({"results": [{"a": "x"}, {"a": "y"}]}, node)
        {'results': [{'a': 'x'}, {'a': 'y'}]}
    """
    trees = _wrapped_trees(value, node, any_style)
    return trees[0] if len(trees) == 1 else value


def _wrapped_trees(value: Any, node: SchemaNode | None, any_style: bool) -> list[dict[str, Any]]:
    """List the dictionaries within a wrapper that fit the schema; several only if the wrapper has none of its keys."""
    if not isinstance(node, Branch) or not isinstance(value, dict | list):
        return []
    top = _schema_keys(value, node, any_style)
    if isinstance(value, dict) and (len(top) == len(value) or (node.rest is not None and not find_issues(value, node))):
        return []
    keys = [(inner, _schema_keys(inner, node, any_style)) for inner in _inner_dictionaries(value, node)]
    most = max((len(inner_keys) for _, inner_keys in keys if top < inner_keys), default=0)
    best = [inner for inner, inner_keys in keys if top < inner_keys and len(inner_keys) == most]
    return best if len(best) == 1 or not top else []


def _inner_dictionaries(value: Any, node: Branch, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the dictionaries within a wrapper, but not those within the schema's own keys."""
    if depth == _MAX_WRAPPERS or len(value) > _MAX_WRAPPED:
        return
    inners = value if isinstance(value, list) else (value[key] for key in value if key not in node.children)
    for inner in inners:
        if isinstance(inner, dict):
            yield inner
        if isinstance(inner, dict | list):
            yield from _inner_dictionaries(inner, node, depth + 1)


def fit_outline(value: Any, node: SchemaNode | None) -> Any:
    """Return the tree of a YAML or Markdown outline, with wrappers removed and types, keys and lists as in the schema.

    Text stays as it is written where the schema wants text. A key may be written as a label (``Invoice number``). A
    list of items with one key each, which is how Markdown has dictionaries, becomes one.

    Example:
        >>> node = Branch({"unit_price": Leaf("number"), "paid": Leaf("boolean"), "id": Leaf("string")})
        >>> fit_outline([{"Unit price": Unquoted("4.50")}, {"Paid": Unquoted("no")}, {"ID": Unquoted("0117")}], node)
        {'unit_price': 4.5, 'paid': False, 'id': '0117'}
    """
    if node is None:
        value = _pair_keys(_join_dictionaries(value) if isinstance(value, list) else value)
    return _fit_values(unwrapped(value, node, any_style=False), node)


def _fit_values(value: Any, node: SchemaNode | None) -> Any:
    if isinstance(node, Branch):
        value = _pair_keys(_join_dictionaries(value) if isinstance(value, list) else value)
        if isinstance(value, dict):
            return _fit_dictionary(value, node)
    elif isinstance(node, ListOf):
        if isinstance(value, list):
            return [_fit_values(item, node.item) for item in value]
    elif isinstance(node, Leaf) and isinstance(value, Unquoted):
        return _typed_scalar(value, node)
    return settled(value)


def _join_dictionaries(items: list[Any]) -> Any:
    """Return one dictionary for a list of dictionaries with different keys; otherwise the list."""
    pairs = [pair for item in items if isinstance(item, dict) for pair in item.items()]
    is_one = all(isinstance(item, dict) for item in items) and len(dict(pairs)) == len(pairs) > 0
    return dict(pairs) if is_one else items


def _pair_keys(value: Any) -> Any:
    """Return the dictionary that repeated ``Attribute: a`` and ``Value: b`` make up; otherwise the value."""
    pairs = value.pairs if isinstance(value, RepeatedKeys) else []
    names, values = pairs[::2], pairs[1::2]
    keys = [{key for key, _ in part} for part in (names, values)]
    is_pairs = len(names) == len(values) and all(len(key) == 1 for key in keys) and keys[0] != keys[1]
    return {str(name): child for (_, name), (_, child) in zip(names, values, strict=True)} if is_pairs else value


def _fit_dictionary(value: dict[str, Any], node: Branch) -> dict[str, Any]:
    """Return a dictionary with the schema's keys in place of labels, and its values fitted."""
    names = match_keys(value, node)
    named = {names.get(key, key): child for key, child in value.items()}
    return {key: _fit_values(child, node.children.get(key)) for key, child in named.items()}


def _typed_scalar(value: Unquoted, leaf: Leaf) -> Any:
    scalar = settled(value)
    if scalar is None or leaf.type in ("integer", "number", "any"):
        return scalar
    if leaf.type == "boolean":
        return _YES_OR_NO.get(value.lower(), scalar)
    return scalar if leaf.type == "choice" and scalar in leaf.choices else str(value)


MODES = ("lenient", "strict")
"""``lenient``: the tree is found, and mended where it can be; ``strict``: an answer that is no JSON document fails."""

TREE_PROBLEM_KINDS = problem_kinds("trees", "json")
"""What may be wrong with a tree in a text."""

_MENDED = frozenset({"repaired_json", "truncated", "broken_json", "wrapped", "key_style"})


@dataclass(frozen=True, slots=True)
class ParsedTree(Parsed[Any]):
    """A tree that was read, and what was wrong on the way.

    Attributes:
        value: The tree. None if nothing could be read, and also for the JSON value ``null``: ask ``failed``.
        problems: Kinds are :data:`TREE_PROBLEM_KINDS`.
        stage: Where it was found, see :data:`~tls_tasks.core.json_text.STAGES`; ``none``: nowhere.
        valid: Whether the answer is a JSON document (RFC 8259: no NaN), nested 64 deep at most, or one in a code fence.
        grounds: What is known of the quotes of its values, by key and position; None without a source.
        written: The tree with leaves that are objects by mistake, as the guide's results have it; None: there are none.

    Example:
        >>> parse_tree("null").failed, parse_tree("nothing").failed
        (False, True)
    """

    stage: Stage = "whole"
    valid: bool = True
    grounds: Any = field(default=None, repr=False)
    written: Any = field(default=None, repr=False)

    @property
    def guide_tree(self) -> Any:
        """The tree as the guide's results have it."""
        return self.value if self.written is None else self.written

    @property
    def failed(self) -> bool:
        """Whether nothing at all could be read."""
        return self.stage == "none"

    def rates(self) -> dict[str, bool]:
        """Return name -> whether the answer has this property.

        ``json_valid``: a JSON document, alone or in one code fence; ``parsed``: a tree was read; ``repaired``:
        something in it was mended, or dropped since it is unfinished or can't be read; ``duplicate_keys``: it has a key
        twice; ``non_finite``: it has NaN, infinity, or a number too large.
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
    """Return a copy with dicts for mappings, lists for tuples, and None for NaN and infinity.

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
    if value is None or isinstance(value, (str, int)):  # a union of types would be made anew for each value
        return value
    if isinstance(value, float):
        if bad_numbers is not None and not math.isfinite(value):
            bad_numbers.append(value)
        return value if math.isfinite(value) else None
    is_list = isinstance(value, (list, tuple))
    if not is_list and not isinstance(value, Mapping):
        return value
    if depth == MAX_DEPTH:
        raise TooDeepError
    if is_list:
        return [plain(item, bad_numbers, depth + 1) for item in value]
    return {key: plain(child, bad_numbers, depth + 1) for key, child in value.items()}


def parse_tree(text: str, node: SchemaNode | None = None, mode: str = "lenient", any_style: bool = True) -> ParsedTree:
    r"""Read the tree in a model's text. Never raises, whatever the text.

    Reasoning is no part of the answer. In the mode ``lenient``, these are tried in turn until one has a tree: the whole
    answer as JSON; fenced blocks; JSON Lines; dictionaries and lists in prose; the finished part of a cut text. Quotes,
    comments, commas and Python's literals are mended, short pieces by json_repair. YAML and Markdown's lists of
    ``key: value`` win over valid JSON in prose if they have more of the schema's keys. Of several trees the last whole
    one counts (models draft first), of several lists the one with most values; trees with a key of the schema go
    before others. Fenced objects without a key in common are one.

    A wrapper that the schema doesn't have is taken off: ``{"result": {…}}``, ``[{…}]``, a call of a function.

    NaN and infinity become null, and so does a number that no float holds; integers stay what they are. Of a repeated
    key the last value counts. What is unfinished in a cut text is dropped, since half a value is another value: the
    last item of a list, the last value of a dictionary. More than 64 levels are a failure. A tree of another
    shape than the schema's root (a list, a scalar, a dictionary with none of its keys) is kept if it is all there is.

    Args:
        text: What the model wrote.
        node: The schema; decides which of several trees is meant.
        mode: ``lenient``, or ``strict``: the answer is one JSON document and nothing else, without NaN.
        any_style: Whether a key that differs from a lacking key only in case or style (``unitPrice``, ``unit_price``) is
            that key, with a problem; not in strict mode, nor where the schema allows any key.

    Raises:
        OptionError: No such mode.

    Example:
        >>> parse_tree('```json\n{"a": 1, "b": [1, 2],}\n```')
        ParsedTree(value={'a': 1, 'b': [1, 2]}, problems=(Problem(kind='repaired_json', detail='trailing comma'),), stage='fence', valid=False)
        >>> parse_tree('{"a": 1, "b": ["x", "y and th').value
        {'a': 1, 'b': ['x']}
        >>> parse_tree("{'a': 1}", mode="strict").failed
        True
    """  # noqa: E501 - the result is one line
    check_choice("parse_mode", mode, MODES)
    if mode == "strict":
        json = find_json(text, lambda value: True, deep=True)
        is_json = _is_valid(json)
        return _build_tree(json.values[0], json, text) if is_json else _failure("not_strict", text, json.problems)
    parsed = _parse_leniently(node, any_style, text)
    return apply_key_style(parsed, node) if any_style else parsed


def apply_key_style(parsed: ParsedTree, node: SchemaNode | None) -> ParsedTree:
    """Return the tree with the schema's keys in place of those written in another case or style."""
    notes: list[Problem] = []
    value = _rename_keys(parsed.value, node, notes)
    return replace(parsed, value=value, problems=(*parsed.problems, *dict.fromkeys(notes))) if notes else parsed


def _rename_keys(value: Any, node: SchemaNode | None, notes: list[Problem]) -> Any:
    node = node and node_for(node, value)
    if isinstance(node, ListOf) and isinstance(value, list):
        return [_rename_keys(item, node.item, notes) for item in value]
    if not isinstance(node, Branch) or not isinstance(value, dict):
        return value
    names, rest = ({}, node.rest.item) if node.rest else (match_keys(value, node), None)  # others may be keys, too
    notes += [problem("key_style", key) for key in value if key in names]
    named = {names.get(key, key): child for key, child in value.items()}
    return {key: _rename_keys(child, node.children.get(key, rest), notes) for key, child in named.items()}


def _parse_leniently(node: SchemaNode | None, any_style: bool, text: str) -> ParsedTree:
    json = _find_values(text, node, any_style)
    if not json.values:  # an empty object says that there is nothing
        json = replace(find_json(text, lambda value: value == {}, lambda value: False), problems=json.problems)
    if not json.values:
        lost = (note for note in beside(text) if not note.is_note)
        return _failure("no_json", text, (*json.problems, *lost), is_whole_json(text, lambda value: True))
    alike = [value for value in json.values if looks_like(unwrapped(value, node, any_style), node, any_style)]
    alike, n_values = alike or list(json.values), len(json.values)
    if json.stage == "fence" and isinstance(whole := _join_dictionaries(alike), dict):  # blocks with different keys
        alike, n_values = [whole], n_values - len(alike) + 1
    if json.stage == "outline":  # the list that is most of the answer, and not a note behind it
        value = max(reversed(alike), key=partial(_weigh, node, any_style=any_style))
    else:
        value = _last_whole(alike, json, alike[-1])
    trees = _wrapped_trees(value, node, any_style)
    tree = _last_whole(trees or [value], json, value)
    n_trees = n_values - 1 + max(1, len(trees))
    noted = [problem("several_trees", str(n_trees))] if n_trees > 1 else []
    if trees:
        wrapper = ", ".join(map(str, value)) if isinstance(value, dict) else "[…]"
        noted = [problem("wrapped", wrapper), *unread_in(value, trees), *noted]
    return _build_tree(tree, replace(json, problems=(*json.problems, *noted)), text)


def _build_tree(value: Any, json: FoundJson, text: str) -> ParsedTree:
    try:
        return ParsedTree(plain(value), json.problems, json.stage, _is_valid(json, text))
    except TooDeepError:
        return _failure("too_deep", text, json.problems)


def _failure(kind: str, text: str, problems: tuple[Problem, ...] = (), is_valid: bool = False) -> ParsedTree:
    return ParsedTree(None, (problem(kind, text), *problems), "none", is_valid)


def _find_values(text: str, node: SchemaNode | None, any_style: bool) -> FoundJson:
    """Return the values that may be the tree: JSON, or an outline if it holds more of a tree."""
    json = find_json(text, weigh := partial(_weigh, node, any_style=any_style), deep=True)
    if json.stage in ("whole", "fence"):
        return json
    # JSON of another shape than the schema's root stays what it is; without a schema, a part of it is no answer either.
    if (node is None or not json.values) and is_whole_json(text, lambda value: True):
        return find_json(text, lambda value: True, deep=True)
    is_most = 2 * sum(end - start for start, end in json.places) > len(text)
    if is_most or (node is None and json.stage == "scan"):
        return json
    outline = find_yaml(text, partial(_weigh_outline, node), as_written=True, is_one=True)
    outline = replace(outline, values=tuple(fit_outline(value, node) for value in outline.values))
    if json.stage == "scan" and isinstance(node, Branch) and outline.values:
        json_keys, outline_keys = (
            max(len(_schema_keys(unwrapped(value, node), node, any_style)) for value in source.values)
            for source in (json, outline)
        )
        return json if json_keys >= outline_keys else outline
    return max([json, outline], key=lambda json: sum(map(weigh, json.values)))


def _weigh(node: SchemaNode | None, value: Any, any_style: bool) -> int:
    """Count the values of a tree that a value holds; 0 if its shape is not that of the schema's root.

    What follows a damaged tree in a text is often a part of that tree, in most cases a list. So a list counts for
    little where a dictionary is wanted.
    """
    trees = _wrapped_trees(value, node, any_style) or [value]
    if node is None and not isinstance(value, dict):
        return int(isinstance(value, list) and any(isinstance(item, dict) for item in value))
    alike = (tree for tree in trees if looks_like(tree, node, any_style))
    return sum(1 for tree in alike for _ in leaves(tree))


def _weigh_outline(node: SchemaNode | None, value: Any) -> int:
    """Count the values of an outline; without a schema it needs two keys, since ``Note: …`` is prose."""
    value = fit_outline(value, node)
    if isinstance(node, Leaf) or (node is None and not (isinstance(value, dict) and len(value) > 1)):
        return 0
    return _weigh(node, value, any_style=False)


def _is_valid(json: FoundJson, text: str = "") -> bool:
    """Tell whether the answer is strict JSON: no NaN, no control characters in strings; 1e999 is allowed.

    The text may be one code fence with nothing around it.
    """
    is_fenced = json.stage == "fence" and text.strip()[:3] == text.strip()[-3:] == "```" and text.count("```") == 2
    return (json.stage == "whole" or is_fenced) and not any(
        (noted.kind == "repaired_json" and noted != PACKED)
        or (noted.kind == "non_finite" and noted.detail.lstrip("-")[:1] in ("N", "I"))
        for noted in json.problems
    )


def _last_whole(trees: Sequence[Any], json: FoundJson, value: Any) -> Any:
    """Return the last of the trees, or the one before if the text is cut off within the last."""
    return trees[-2 if json.stage == "truncated" and value is json.values[-1] and len(trees) > 1 else -1]
