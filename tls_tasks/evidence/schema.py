"""Build a schema of evidence-grounded objects from plain values, as found in YAML, JSON or a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.options import check_choice
from tls_tasks.core.rows import describe
from tls_tasks.evidence.types import JOURNAL_SCHEMA, Attribute, EvidenceSchema, scalar_text

_SCHEMAS = {JOURNAL_SCHEMA.name: JOURNAL_SCHEMA}

_TEXT_KEYS = ("name", "domain_field", "span_field")
_KEYS = ("domains", "attributes", *_TEXT_KEYS)
_ATTRIBUTE_KEYS = ("name", "field", "fields", "values", "default", "bucket")
_FORM = "an EvidenceSchema, the name of one, or a mapping with 'domains' and 'attributes'"
_ATTRIBUTE_FORM = "a mapping with 'name', 'values' and, if they differ from the name, 'field' or 'fields'"


def read_schema(value: Any) -> EvidenceSchema:
    """The schema that a value stands for.

    Args:
        value: A schema; ``journal``; or a mapping with ``domains`` (a list) and optionally ``attributes``, ``name``,
            ``domain_field`` and ``span_field``. Each attribute is a mapping with ``name``, ``values`` and optionally
            ``default``, ``bucket`` and, if its key is not its name, ``field`` (the key) or ``fields`` (domain -> key,
            with ``""`` for all other domains). :class:`~tls_tasks.evidence.types.EvidenceSchema` says what they mean.

    Raises:
        InputError: The value is not a schema; names the part and what was expected.

    Example:
        >>> schema = read_schema({"domains": ["food"], "attributes": [{"name": "meal", "values": ["lunch", "dinner"]}]})
        >>> schema.attributes[0].field_of("food"), schema.span_field, schema.name
        ('meal', 'evidence_span', 'custom')
        >>> read_schema({"domains": ["food"], "atributes": []})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: schema: got 'atributes', expected one of 'domains', 'attributes', 'name', ...
    """
    if isinstance(value, EvidenceSchema):
        return value
    if isinstance(value, str):
        check_choice("schema", value, _SCHEMAS)
        return _SCHEMAS[value]
    if not isinstance(value, Mapping):
        raise InputError("schema", None, describe(value), _FORM)
    _check_keys(value, "schema", _KEYS)
    parts = {key: _text(value[key], f"schema[{key!r}]") for key in _TEXT_KEYS if key in value}
    domains = tuple(_text(name, "schema['domains']") for name in _list(value.get("domains"), "schema['domains']"))
    given = _list(value.get("attributes", ()), "schema['attributes']")
    attributes = tuple(_attribute(entry, f"schema['attributes'][{index}]") for index, entry in enumerate(given))
    try:
        return EvidenceSchema(**{"name": "custom", **parts}, domains=domains, attributes=attributes)
    except ValueError as error:
        raise InputError("schema", None, f"an impossible one: {error}", _FORM) from None


def _attribute(value: Any, place: str) -> Attribute:
    if not isinstance(value, Mapping) or "name" not in value:
        raise InputError(place, None, describe(value), _ATTRIBUTE_FORM)
    _check_keys(value, place, _ATTRIBUTE_KEYS)
    name = _text(value["name"], f"{place}['name']")
    fields = value.get("fields", {"": value.get("field", name)})
    if not isinstance(fields, Mapping) or ("field" in value and "fields" in value):
        raise InputError(f"{place}['fields']", None, describe(fields), _ATTRIBUTE_FORM)
    keys = {_text(domain, f"{place}['fields']"): _text(key, f"{place}['fields']") for domain, key in fields.items()}
    values = tuple(_scalar(entry, f"{place}['values']") for entry in _list(value.get("values"), f"{place}['values']"))
    default = None if value.get("default") is None else _scalar(value["default"], f"{place}['default']")
    bucket = value.get("bucket", False)
    if not isinstance(bucket, bool):
        raise InputError(f"{place}['bucket']", None, describe(bucket), "true or false")
    try:
        return Attribute(name, keys, values, default, bucket)
    except ValueError as error:
        raise InputError(place, None, f"an impossible one: {error}", _ATTRIBUTE_FORM) from None


def _check_keys(value: Mapping[Any, Any], place: str, known: tuple[str, ...]) -> None:
    for key in value:
        if key not in known:
            raise OptionError.unknown(place, key, known)


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(place, None, describe(value), "a list")
    return list(value)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(place, None, describe(value), "a str")
    return value


def _scalar(value: Any, place: str) -> str:
    text = scalar_text(value)
    if text is None:
        raise InputError(place, None, describe(value), "a str or a number")
    return text
