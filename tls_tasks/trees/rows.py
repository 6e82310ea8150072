"""Rows of predictions and references, in every form a caller may have them -> trees.

A tree is JSON text, model text (predictions only), or plain Python values. Text in ``predictions`` comes from a model:
whatever it holds, it is read as far as it can be and never raises. All else comes from the caller, and what doesn't fit
raises, naming row and field.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.json_text import is_whole_json
from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Problem
from tls_tasks.core.text_rows import describe
from tls_tasks.trees.read import ParsedTree, parse_tree
from tls_tasks.trees.types import SchemaNode
from tls_tasks.trees.values import ANY_OF, MAX_DEPTH, AnyOf, is_plain, is_too_deep, plain

TREE_FORMS = "a tree: JSON text, or dictionaries, lists and scalars"

_LOSSES = {
    "duplicate_key": "a key twice",
    "too_deep": f"more than {MAX_DEPTH} levels",
}


def read_tree(
    value: Any, node: SchemaNode | None = None, mode: str = "lenient", field: str = "predictions", index: int | None = 0
) -> ParsedTree:
    """Read one row.

    Args:
        value: A tree in any form.
        node: The schema; decides which of several trees in a model's text is meant.
        mode: How model text is read, see :func:`~tls_tasks.trees.read.parse_tree`.
        field: ``predictions`` or ``references``, also for errors.
        index: The row's number, for errors.

    Returns:
        The tree, with None for NaN and infinity. In a reference ``{"$any_of": [...]}`` has become an
        :class:`~tls_tasks.trees.values.AnyOf`.

    Raises:
        InputError: None or NaN for a row; a reference that is no JSON document, has a key twice or nests too deeply.

    Example:
        >>> read_tree('Here it is: {"a": NaN}').value, read_tree({"a": (1, 2)}).value
        ({'a': None}, {'a': [1, 2]})
        >>> read_tree('{"a": {"$any_of": ["x", "y"]}}', field="references").value
        {'a': AnyOf(values=('x', 'y'))}
        >>> read_tree("no tree", field="references", index=3)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: references[3]: got text that is no JSON document (no tree), expected a tree: JSON text, or dictionaries, lists and scalars
    """  # noqa: E501 - the message is one line
    _check_row(value, field, index)
    if field != "references":
        return parse_tree(value, node, mode) if isinstance(value, str) else _structured(value)
    if is_plain(value, without_key=ANY_OF) and not isinstance(value, str):
        return ParsedTree(value)
    parsed = _reference_text(value, index) if isinstance(value, str) else _structured(value)
    for one in parsed.problems:
        if one.kind in _LOSSES:
            raise InputError(field, index, f"a tree with {_LOSSES[one.kind]} ({one.detail})", TREE_FORMS)
    if _has_any_of(parsed.value):
        return ParsedTree(_with_answers(parsed.value, field, index), parsed.problems)
    return parsed


def _check_row(value: Any, field: str, index: int | None) -> None:
    if value is None or isinstance(value, bytes) or (isinstance(value, float) and value != value):
        raise InputError(field, index, describe(value), TREE_FORMS)


def _reference_text(text: str, index: int | None) -> ParsedTree:
    if not is_whole_json(text, lambda _: True):
        raise InputError(
            "references", index, f"text that is no JSON document ({problem('no_json', text).detail})", TREE_FORMS
        )
    return parse_tree(text)


def _structured(value: Any) -> ParsedTree:
    """A tree of Python values."""
    if is_plain(value):
        return ParsedTree(value)
    if is_too_deep(value):
        return ParsedTree(None, (problem("too_deep", type(value).__name__),), "none", False)
    bad: list[float] = []
    tree = plain(value, bad)
    return ParsedTree(tree, tuple(dict.fromkeys(Problem("non_finite", str(number)) for number in bad)), valid=not bad)


def _has_any_of(value: Any) -> bool:
    layer = [value]
    while layer:
        deeper: list[Any] = []
        for one in layer:
            if isinstance(one, dict):
                if ANY_OF in one:
                    return True
                deeper += one.values()
            elif isinstance(one, list):
                deeper += one
        layer = deeper
    return False


def _with_answers(value: Any, field: str, index: int | None) -> Any:
    if isinstance(value, dict):
        if set(value) != {ANY_OF}:
            return {key: _with_answers(one, field, index) for key, one in value.items()}
        answers = value[ANY_OF]
        if not isinstance(answers, list) or not answers or any(isinstance(one, dict) for one in answers):
            raise InputError(field, index, f"{ANY_OF} with {describe(answers)}", "a list of values for one leaf")
        return AnyOf(answers)
    return [_with_answers(one, field, index) for one in value] if isinstance(value, list) else value


def read_columns(
    predictions: Any, references: Any, node: SchemaNode | None = None, mode: str = "lenient"
) -> list[tuple[ParsedTree, Any]]:
    """Both columns row by row: a parsed prediction, and the tree of its reference.

    Raises:
        InputError: A column that is none, columns of unequal length, or a row that doesn't fit.

    Example:
        >>> [(parsed.value, tree) for parsed, tree in read_columns(['{"a": 1}'], [{"a": 2}])]
        [({'a': 1}, {'a': 2})]
    """
    _check_columns(predictions, references)
    return [
        (
            read_tree(prediction, node, mode, "predictions", index),
            read_tree(reference, node, "strict", "references", index).value,
        )
        for index, (prediction, reference) in enumerate(zip(predictions, references, strict=True))
    ]


def _check_columns(predictions: Any, references: Any) -> None:
    for name, column in (("predictions", predictions), ("references", references)):
        is_column = hasattr(column, "__len__") and hasattr(column, "__iter__")
        if isinstance(column, str | bytes | Mapping) or not is_column:
            raise InputError(name, None, describe(column), "a list with one row a document")
    if len(predictions) != len(references):
        raise InputError("references", None, f"{len(references)} rows", f"{len(predictions)}, as many as predictions")


# In packed rows: a dictionary whose keys are not all text, and a date.
_PAIRS, _DATE, _INTEGER = "$pairs", "$date", "$integer"
_TAGS = frozenset({_PAIRS, _DATE, _INTEGER})
_LONG = 10**600  # integers up to here are written as they are, whatever limit Python has been set to


def pack_batch(predictions: Any, references: Any) -> dict[str, list[str]]:
    r"""Both columns with every row as one JSON string, for tables that keep well-formed strings only.

    NaN, large integers, -0.0, lone surrogates, dates and keys that are no text survive.

    Raises:
        InputError: As :func:`read_columns`, as far as it can be told without the schema; or a value of a class that
            JSON doesn't have.

    Example:
        >>> pack_batch(['{"a": 1}'], [{1: ["x"]}])
        {'predictions': ['"{\\"a\\": 1}"'], 'references': ['{"$pairs": [[1, ["x"]]]}']}
    """
    _check_columns(predictions, references)
    columns = {"predictions": predictions, "references": references}
    return {
        field: [_packed(row, field, index) for index, row in enumerate(column)] for field, column in columns.items()
    }


def _packed(row: Any, field: str, index: int) -> str:
    _check_row(row, field, index)
    if field == "references" and isinstance(row, str):
        _reference_text(row, index)
    if not isinstance(row, str) and is_too_deep(row):
        if field == "references":
            raise InputError(field, index, f"a tree with {_LOSSES['too_deep']}", TREE_FORMS)
        row = "[" * (MAX_DEPTH + 1)  # as text it fails for the same reason
    return json.dumps(_tagged(row, field, index))


def _tagged(value: Any, field: str, index: int) -> Any:
    if isinstance(value, Mapping):
        if all(type(key) is str for key in value) and not (len(value) == 1 and not _TAGS.isdisjoint(value)):
            return {key: _tagged(one, field, index) for key, one in value.items()}
        pairs = [[_tagged(key, field, index), _tagged(one, field, index)] for key, one in value.items()]
        return {_PAIRS: pairs}
    if isinstance(value, list | tuple):
        return [_tagged(one, field, index) for one in value]
    if isinstance(value, AnyOf):
        return {ANY_OF: [_tagged(one, field, index) for one in value.values]}
    if isinstance(value, datetime.date):
        return {_DATE: value.isoformat()}
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return value if -_LONG < value < _LONG else {_INTEGER: hex(value)}
    raise InputError(field, index, f"a value of class {type(value).__name__}", "values that JSON has, or dates")


def unpack_batch(column: Iterable[str]) -> list[Any]:
    """A packed column, row by row, as :func:`read_tree` takes it.

    Example:
        >>> unpack_batch(['{"$pairs": [[1, ["x"]]]}', '{"day": {"$date": "2011-01-25"}}'])
        [{1: ['x']}, {'day': datetime.date(2011, 1, 25)}]
    """
    return [json.loads(packed, object_hook=_untagged) for packed in column]


def _untagged(value: dict[str, Any]) -> Any:
    if len(value) == 1:
        if _PAIRS in value:
            return {_key(key): one for key, one in value[_PAIRS]}
        if _DATE in value:
            text = value[_DATE]
            return (datetime.datetime if len(text) > 10 else datetime.date).fromisoformat(text)
        if _INTEGER in value:
            return int(value[_INTEGER], 16)
    return value


def _key(key: Any) -> Any:
    """A key that was a tuple has become a list."""
    return tuple(map(_key, key)) if isinstance(key, list) else key
