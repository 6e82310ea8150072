"""Rows of data sets as pydantic models: one reader for every family, whose errors name file, line and field.

A field may have several names, of which the first that a row has counts. Null counts as absent, since Arrow and CSV
fill in the fields that a row lacks. Fields that a model doesn't have are ignored.
"""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tls_tasks.core.errors import DataError

RowT = TypeVar("RowT", bound="DataRow")


def parse_list(value: Any) -> Any:
    """Parse a list of texts from JSON or Python's notation, such as a cell of CSV; return any other value as it is.

    Raises:
        ValueError: A text begins and ends like a list of texts, but is none.

    Example:
        >>> parse_list('["It rains.", "Rain."]'), parse_list("['It rains.', 'Rain.']"), parse_list("[sic] It rains.")
        (['It rains.', 'Rain.'], ['It rains.', 'Rain.'], '[sic] It rains.')
    """
    is_list = isinstance(value, str) and value[:2] in ("['", '["') and value[-2:] in ("']", '"]')
    if not is_list:
        return value
    try:
        return json.loads(value)
    except ValueError:
        with suppress(ValueError, SyntaxError):
            printed = ast.literal_eval(value)  # reads literals, and runs nothing
            if repr(printed) == value:  # ["a" "b"] is one text in Python
                return printed
        raise


Texts = Annotated[list[str], BeforeValidator(lambda raw: x if isinstance(x := parse_list(raw), list) and x else [x])]
"""One text, or a list of at least one, also a list that is written as text."""

Id = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
"""Text, or a number for it: ids are compared as text."""


def named(*names: str, **options: Any) -> Any:
    """Declare a field that a row may have under any of these names.

    Args:
        *names: The names; the first that a row has counts.
        **options: Options of ``pydantic.Field``; without ``default`` the field is required.
    """
    return Field(validation_alias=AliasChoices(*names), **options)


class DataRow(BaseModel):
    """The base of the rows of all data sets: strict types, unknown fields ignored.

    Example:
        >>> class Song(DataRow):
        ...     text: str = named("text", "lyrics")
        >>> [song.text for _, song in read_models(Song, [("songs.jsonl, line 1", {"lyrics": "Rain.", "year": 1962})])]
        ['Rain.']
        >>> list(read_models(Song, [("songs.jsonl, line 1", {"year": 1962})]))
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.DataError: songs.jsonl, line 1: no field text or lyrics; there are year
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


def read_models(model: type[RowT], rows: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, RowT]]:
    """Yield (where, model) for each row.

    Args:
        model: The type of a row.
        rows: (where, value) pairs, as :func:`~tls_tasks.data.files.file_rows` returns them.

    Raises:
        DataError: A row is no object, lacks a required field, or has a value of another type.
    """
    return ((where, read_model(model, row, where)) for where, row in rows)


def read_model(model: type[RowT], row: Any, where: str) -> RowT:
    """Read one row; see :func:`read_models`."""
    if not isinstance(row, Mapping):
        raise DataError(f"{where}: expected an object, got {type(row).__name__}")
    try:
        return model.model_validate({key: value for key, value in row.items() if value is not None})
    except ValidationError as error:
        raise DataError(f"{where}: {_message(model, row, error)}") from None


def _message(model: type[DataRow], row: Mapping[Any, Any], error: ValidationError) -> str:
    """Return a message about the first error, with all names of the field."""
    first = error.errors(include_url=False)[0]
    # pydantic names a missing field by the first of its names, and a wrong value by the name that the row has.
    by_name = {name: names for names in map(_accepted_names, model.model_fields.items()) for name in names}
    names = by_name.get(str(first["loc"][0]), (str(first["loc"][0]),)) if first["loc"] else ()
    if first["type"] == "missing" and len(first["loc"]) == 1:
        return f"no field {' or '.join(names)}; there are {', '.join(map(str, row)) or 'none'}"
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"][1:])
    field = f"{'/'.join(names)}{path}"
    if first["type"] == "missing":
        return f"{field} is missing"
    if first["type"] == "value_error":
        return f"{field}{': ' * bool(names)}{first['ctx']['error']}"
    got = type(first["input"]).__name__
    return f"{field} must be {first['msg'].removeprefix('Input should be ')}, got {got}"


def _accepted_names(field: tuple[str, Any]) -> tuple[str, ...]:
    """Return all names under which a row may have a field."""
    name, info = field
    alias = info.validation_alias
    return tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (str(alias or name),)
