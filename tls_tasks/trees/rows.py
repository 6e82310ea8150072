"""Rows of predictions and references, in every form a caller may have them -> trees.

A tree is JSON text, model text (predictions only), or plain Python values. Text in ``predictions`` comes from a model:
whatever it holds, it is read as far as it can be and never raises. All else comes from the caller, and what doesn't fit
raises, naming row and field.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from tls_tasks.core.errors import InputError, describe, shorten
from tls_tasks.core.json_text import is_whole_json
from tls_tasks.core.parsed import Problem, leaves, problem
from tls_tasks.core.rows import no_class, read_columns, read_text, to_plain
from tls_tasks.text.quotes import Source
from tls_tasks.trees.compliance import TYPE_NAMES, find_issues, is_scalar
from tls_tasks.trees.read import ParsedTree, TooDeepError, apply_key_style, looks_like, parse_tree, plain
from tls_tasks.trees.types import ANY_OF, MAX_DEPTH, AnyOf, Branch, Leaf, SchemaNode, leaves_by_path, node_for
from tls_tasks.trees.values import list_children, replace_children

_TREE = "a tree: JSON text, or dictionaries, lists and scalars"


def read_rows(
    predictions: Any,
    references: Any,
    node: SchemaNode | None = None,
    mode: str = "lenient",
    any_style: bool = True,
    sources: Any = None,
    ground: Any = None,
) -> list[tuple[ParsedTree, Any]]:
    """Read both columns row by row: a parsed prediction, and the tree of its reference.

    Quotes are taken off predictions, see :func:`read_quoted`; with ``sources``, ``ground`` makes what is kept of each
    of the source, the leaf, its value and the quote.

    Raises:
        InputError: Something that isn't a column, columns of unequal length, or a row that doesn't fit.

    Example:
        >>> [(parsed.value, tree) for parsed, tree in read_rows(['{"a": 1}'], [{"a": 2}])]
        [({'a': 1}, {'a': 2})]
    """
    columns = {"predictions": predictions, "references": references, "sources": sources}
    predictions, references, sources = read_columns(**columns)
    grounds: list[Any] = [None] * len(predictions)
    if sources is not None:
        texts = (Source(read_text(text, "sources", index)) for index, text in enumerate(sources))
        grounds = [partial(ground, text) for text in texts]
    settings = node, mode, any_style
    parses = [read_quoted(predictions[index], index, *settings, find) for index, find in enumerate(grounds)]
    trees = [read_reference(reference, index) for index, reference in enumerate(references)]
    if node and TYPE_NAMES.isdisjoint(leaf.type for leaf in leaves_by_path(node).values()):
        for index, tree in enumerate(trees):
            if (names := [*leaves(tree)]) and all(isinstance(name, str) and name in TYPE_NAMES for name in names):
                raise InputError(
                    "references", index, f"a schema {shorten(tree)}", f"{_TREE}; is it swapped with schema?"
                )
    return [(_reject_null(*row), row[1]) for row in zip(parses, trees, strict=True)]


def _reject_null(parsed: ParsedTree, reference: Any) -> ParsedTree:
    """Return the prediction, as a failure if it is null and the reference does not accept null."""
    if parsed.value is not None or parsed.failed:
        return parsed
    if _accepts_null(reference):
        return replace(parsed, valid=True)
    return replace(parsed, problems=(problem("no_tree", "null"), *parsed.problems), stage="none")


def _accepts_null(reference: Any) -> bool:
    return reference is None or (isinstance(reference, AnyOf) and any(map(_accepts_null, reference.values)))


def read_prediction(
    value: Any, index: int | None = 0, node: SchemaNode | None = None, mode: str = "lenient", any_style: bool = True
) -> ParsedTree:
    """Read a prediction.

    Args:
        value: A tree in any form.
        index: The row's number, for errors.
        node: The schema; decides which of several trees in a model's text is meant.
        mode: How model text is read, see :func:`~tls_tasks.trees.read.parse_tree`.
        any_style: Likewise, of keys; of trees that are no text, too.

    Returns:
        The tree, with None for NaN and infinity; None for no answer.

    Raises:
        InputError: NaN or bytes for a row.

    Example:
        >>> read_prediction('Here it is: {"a": NaN}').value, read_prediction({"a": (1, 2)}).value
        ({'a': None}, {'a': [1, 2]})
    """
    if value is None:
        return ParsedTree(None, valid=False)
    _refuse_missing(value, "predictions", index)
    if isinstance(value, str):
        return parse_tree(value, node, mode, any_style)
    return apply_key_style(_structured(value), node) if any_style and mode == "lenient" else _structured(value)


_QUOTED, _PARALLEL = {"value", "quote", "citations"}, ("answer", "quotes")


def read_quoted(
    value: Any, index: int | None, node: Any, mode: str, any_style: bool, ground: Callable[[Any, Any, str], Any] | None
) -> ParsedTree:
    """Read a prediction and take off its quotes, which are kept in ``grounds``.

    ``{"value": …, "quote": …}`` is a value and its quote at a leaf of scalar type and at keys that the schema lacks, if
    it has no other keys but ``citations``. ``{"answer": …, "quotes": …}`` are a tree and one of its quotes, unless the
    schema has such a key.

    A leaf of scalar type is no object, so that other keys beside its value are ignored, with a problem; and so are
    quotes where there is no source. What the guide defines keeps such objects (``written``), as does treeval's profile.

    The arguments are those of :func:`read_prediction`; ``ground`` makes what is kept of leaf, value and quote.

    Example:
        >>> told, node = {"n": {"value": 3, "quote": "3 men"}}, Branch({"n": Leaf("integer")})
        >>> parsed = read_quoted(told, 0, node, "lenient", True, lambda leaf, value, quote: quote)
        >>> parsed.value, parsed.grounds
        ({'n': 3}, {'n': '3 men'})
        >>> read_quoted(told, 0, node, "lenient", True, None).problems
        (Problem(kind='leaf_object', detail='quote'),)
    """
    parsed, quotes_tree = read_prediction(value, index, node, mode, any_style), None
    if ground is None and (node is None or not any_style or _is_typed(parsed.value, node)):
        return parsed
    if ground is not None:
        issues = [issue.kind for issue in find_issues(dict.fromkeys(_PARALLEL), node)]
        if issues.count("unknown") == len(_PARALLEL) or "type" in issues:
            both = read_prediction(value, index, Branch({"answer": node, "quotes": Leaf("any")}), mode, any_style)
            if isinstance(both.value, dict) and both.value.keys() >= {*_PARALLEL} and not looks_like(both.value, node):
                parsed, quotes = (replace(both, value=both.value[part]) for part in _PARALLEL)
                quotes_tree = (apply_key_style(quotes, node) if any_style and mode == "lenient" else quotes).value
    objects = list[list[str]]()
    bare, written, grounds = _split_quotes(parsed.value, node, quotes_tree, ground, objects)
    ignored = sorted({name for names in objects for name in names})
    noted = [problem("leaf_object", ", ".join(ignored))] if ignored else []
    parsed = replace(parsed, value=bare, written=written if objects else None, problems=(*parsed.problems, *noted))
    return parsed if ground is None else replace(parsed, grounds=grounds)


def _is_typed(value: Any, node: SchemaNode) -> bool:
    return not any(issue.kind == "type" for issue in find_issues(value, node))


def _split_quotes(value: Any, node: SchemaNode | None, beside: Any, ground: Any, objects: list[Any]) -> tuple[Any, ...]:
    """Return a value without its quotes, the same with objects in place of leaves as written, and its grounds.

    Args:
        value: A value of a prediction.
        node: Its node.
        beside: What a parallel tree of quotes has there.
        ground: Makes what is kept of a quote; None: there is no source.
        objects: Collects of each leaf that is an object by mistake the keys that are ignored.
    """
    node, written = node and node_for(node, value), value
    is_leaf = isinstance(node, Leaf) and is_scalar(node)
    if isinstance(value, dict) and "value" in value and (node is None or is_leaf):
        is_quoted = ground is not None and value.keys() <= _QUOTED
        if is_quoted or is_leaf:
            ignored = () if is_quoted else value.keys() - ({"value"} if ground is None else _QUOTED)
            objects += [] if is_quoted else [[*map(str, ignored)]]
            value, beside = value["value"], value.get("quote", beside)
            written = value if is_quoted else written
    if isinstance(node, Leaf):
        is_quoted = ground is not None and isinstance(beside, str) and bool(beside.strip())
        has_value = not isinstance(value, dict | list | None)
        return value, written, ground(node, value, beside) if is_quoted and has_value else {}
    quotes = dict(enumerate(beside)) if isinstance(beside, list) else beside if isinstance(beside, dict) else {}
    if not (children := list_children(node, value)):
        return value, written, {}
    split = [_split_quotes(child, inner, quotes.get(step), ground, objects) for step, inner, child in children]
    bare, written, grounds = zip(*split, strict=True)
    below = {step: inner for (step, _, _), inner in zip(children, grounds, strict=True) if inner}
    return replace_children(value, bare), replace_children(value, written), below


def read_reference(value: Any, index: int | None = 0) -> Any:
    """Read a reference; ``{"$any_of": [...]}`` becomes an :class:`~tls_tasks.trees.types.AnyOf`.

    Args:
        value: A tree in any form.
        index: The row's number, for errors.

    Raises:
        InputError: None or NaN for a row, text that is no JSON document, a key twice, too many levels.

    Example:
        >>> read_reference('{"a": {"$any_of": ["x", "y"]}}')
        {'a': AnyOf(values=('x', 'y'))}
        >>> read_reference("no tree", 3)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: references[3]: got text that is no JSON document (no tree), expected a tree: JSON text, or dictionaries, lists and scalars
    """  # noqa: E501 - the message is one line
    _refuse_missing(value, "references", index)
    if isinstance(value, str):
        if not is_whole_json(value, lambda _: True):
            got = f"text that is no JSON document ({problem('no_json', value).detail})"
            raise InputError("references", index, got, _TREE)
        parsed = parse_tree(value, Leaf("any"))  # nothing that the caller gives is an echo
    else:
        parsed = _structured(value)
    losses = {"duplicate_key": "a key twice", "too_deep": f"more than {MAX_DEPTH} levels"}
    for noted in parsed.problems:
        if noted.kind in losses:
            raise InputError("references", index, f"a tree with {losses[noted.kind]} ({noted.detail})", _TREE)
    return _read_answers(parsed.value, index)


def _refuse_missing(value: Any, field: str, index: int | None) -> None:
    if value is None or isinstance(value, bytes) or (isinstance(value, float) and value != value):
        raise InputError(field, index, describe(value), _TREE)


def _structured(value: Any) -> ParsedTree:
    """Return Python values as a parsed tree."""
    bad: list[float] = []
    try:
        tree = plain(value, bad)
    except TooDeepError:
        return ParsedTree(None, (problem("too_deep", type(value).__name__),), "none", False)
    return ParsedTree(tree, tuple(dict.fromkeys(Problem("non_finite", str(number)) for number in bad)), valid=not bad)


def _read_answers(value: Any, index: int | None) -> Any:
    if isinstance(value, AnyOf):
        return AnyOf([_read_answers(plain(to_plain(answer)), index) for answer in value.values])
    if isinstance(value, list):
        return [_read_answers(item, index) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() != {ANY_OF}:
        return {key: _read_answers(child, index) for key, child in value.items()}
    answers = value[ANY_OF]
    if not isinstance(answers, list) or not answers:
        raise InputError("references", index, f"{ANY_OF} with {describe(answers)}", "a list of one answer or more")
    return AnyOf(_read_answers(answers, index))


def check_row(row: Any, field: str, index: int) -> None:
    """Refuse a row that can't be scored, whatever the schema."""
    if field == "references":
        read_reference(row, index)
    elif not isinstance(row, str) and read_prediction(row, index).failed:
        raise InputError(field, index, f"a tree with more than {MAX_DEPTH} levels", _TREE)


def answers_to_json(value: Any) -> Any:
    """Return several valid answers in their JSON form, ``{"$any_of": […]}``; a fallback for JSON encoders."""
    return {ANY_OF: list(value.values)} if isinstance(value, AnyOf) else no_class(value)
