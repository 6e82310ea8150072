"""Evidence-grounded objects, the schema of their keys and values, and reading schemas from plain values."""

import hashlib
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, TypeAdapter, ValidationError, with_config

from tls_tasks.core.errors import InputError, check_choice, describe
from tls_tasks.core.parsed import folded

_RESERVED_NAMES = ("bucket", "bucket_field")  # bucket_accuracy is the accuracy of several attributes together
_MAX_BITS = 2000  # no scale has longer integers, and Python may refuse to convert them to text


def scalar_text(value: Any) -> str | None:
    """Return a JSON scalar as text, so that 3 on a scale equals "3"; None for anything else, even NaN and infinity.

    Example:
        >>> scalar_text("low"), scalar_text(3), scalar_text(True), scalar_text(float("nan")), scalar_text(["low"])
        ('low', '3', 'true', None, None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MAX_BITS else None
    return repr(value) if isinstance(value, float) and math.isfinite(value) else None


def known_name(text: str, names: Collection[str]) -> str | None:
    """Return the name that equals a text, or the only one that does up to case, blanks and hyphens; else None.

    Example:
        >>> known_name("Last night", ("today", "last_night")), known_name("a_b", ("A b", "a-b"))
        ('last_night', None)
    """
    if text in names:
        return text
    matches = [name for name in names if folded(name) == folded(text)]
    return matches[0] if len(matches) == 1 else None


def _with_fields(value: Any) -> Any:
    """Add ``fields`` to a raw attribute without them: its key is the one under ``field``, or its name."""
    if isinstance(value, Mapping) and "fields" not in value:
        key = value.get("field", value.get("name"))
        return {**{name: part for name, part in value.items() if name != "field"}, "fields": {"": key}}
    return value


Scalar = Annotated[str, BeforeValidator(scalar_text)]
"""Text, or a number that is read as text."""


@with_config(extra="forbid")
@dataclass(frozen=True, slots=True)
class Attribute:
    """One constrained attribute of an object.

    Attributes:
        name: Name in results: ``polarity`` gives ``polarity_accuracy``.
        fields: Domain -> the key that holds it in objects of that domain; ``""`` stands for all other domains.
        values: The allowed values, as text; numbers on a scale are compared as text too.
        default: The value of a missing key (or null). None: the key is required, and an object without it has the
            attribute wrong.
        bucket: Whether it is part of ``bucket_accuracy``, which counts a match if all such attributes are right.

    Raises:
        ValueError: The name is reserved, there are no fields or no values, a value is repeated, or the default is not
            one of the values.

    Example:
        >>> level = Attribute("level", {"emotion": "arousal_bucket", "": "intensity_bucket"}, ("low", "high"))
        >>> level.key_for("emotion"), level.key_for("food")
        ('arousal_bucket', 'intensity_bucket')
    """

    name: str
    fields: Mapping[str, str]
    values: tuple[Scalar, ...]
    default: Scalar | None = None
    bucket: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError if the parts contradict each other."""
        if not self.name or self.name in _RESERVED_NAMES:
            raise ValueError(f"an attribute can't have the name {self.name!r}")
        if not self.values or len(set(self.values)) < len(self.values):
            raise ValueError(f"attribute {self.name!r}: values must be one or more, all different, got {self.values!r}")
        if self.default is not None and self.default not in self.values:
            raise ValueError(f"attribute {self.name!r}: default {self.default!r} is none of {self.values!r}")

    def key_for(self, domain: str) -> str | None:
        """Return the key of the attribute in an object of this domain; None if such objects don't have it."""
        return self.fields.get(domain, self.fields.get(""))


@with_config(extra="forbid")
@dataclass(frozen=True)
class EvidenceSchema:
    """The domains, attributes and keys of the objects of a task; users can define their own.

    Attributes:
        name: Part of the signature.
        domains: The domains; objects are matched within a domain.
        attributes: The attributes that are compared on matched objects.
        domain_field, span_field: The keys of the domain and of the quoted span.

    Raises:
        ValueError: There are no domains, something is repeated, a key has two meanings, or an attribute names an
            unknown domain.

    Example:
        >>> EvidenceSchema("names", ("person", "place"), span_field="quote").label
        'names#386aadcd'
        >>> EvidenceSchema("names", ("person",), (Attribute("age", {"place": "age"}, ("young", "old")),))
        Traceback (most recent call last):
        ...
        ValueError: attribute 'age': 'place' is no domain of the schema (person)
    """

    name: str
    domains: tuple[str, ...]
    attributes: tuple[Annotated[Attribute, BeforeValidator(_with_fields)], ...] = ()
    domain_field: str = "domain"
    span_field: str = "evidence_span"

    def __post_init__(self) -> None:
        """Raise ValueError if the parts contradict each other."""
        if not self.domains or not all(self.domains) or len(set(self.domains)) < len(self.domains):
            raise ValueError(f"domains must be one or more, all different and none empty, got {self.domains!r}")
        if len({attribute.name for attribute in self.attributes}) < len(self.attributes):
            raise ValueError("attributes must have different names")
        for attribute in self.attributes:
            if unknown := attribute.fields.keys() - {"", *self.domains}:
                names = ", ".join(self.domains)
                raise ValueError(f"attribute {attribute.name!r}: {min(unknown)!r} is no domain of the schema ({names})")
        for domain in self.domains:
            keys = [self.domain_field, self.span_field, *(key for _, key in self.keys_for(domain))]
            if not all(keys) or len(set(keys)) < len(keys):
                raise ValueError(f"an object of domain {domain!r} would have two things under one key: {keys!r}")

    def keys_for(self, domain: str) -> list[tuple[Attribute, str]]:
        """Return (attribute, key) of all attributes of objects of this domain."""
        return self._fields.get(domain, self._fields[""])

    @cached_property
    def _fields(self) -> dict[str, list[tuple[Attribute, str]]]:
        """The (attribute, key) pairs by domain; ``""`` stands for domains that are not in the schema."""
        return {
            domain: [(attribute, key) for attribute in self.attributes if (key := attribute.key_for(domain))]
            for domain in (*self.domains, "")
        }

    @property
    def accuracy_names(self) -> list[str]:
        """The names of all accuracies over matched objects; ``bucket`` precedes the attributes that it combines.

        Example:
            >>> JOURNAL_SCHEMA.accuracy_names
            ['polarity', 'bucket', 'level', 'time']
        """
        single = [attribute.name for attribute in self.attributes if not attribute.bucket]
        buckets = [attribute.name for attribute in self.attributes if attribute.bucket]
        return [*single, "bucket", *buckets] if buckets else single

    def as_dict(self) -> dict[str, Any]:
        """Return the schema as plain values, in the form of :func:`~tls_tasks.evidence.types.read_schema`."""
        return {
            "name": self.name,
            "domains": list(self.domains),
            "domain_field": self.domain_field,
            "span_field": self.span_field,
            "attributes": [{**asdict(attribute), "values": list(attribute.values)} for attribute in self.attributes],
        }

    @property
    def label(self) -> str:
        """The schema in a signature: its name and, unless it is the journals' schema, a digest of its content."""
        if self == JOURNAL_SCHEMA:
            return self.name
        text = json.dumps(self.as_dict(), sort_keys=True)
        return f"{self.name}#{hashlib.sha256(text.encode()).hexdigest()[:8]}"


class EvidenceObject(NamedTuple):
    """One extracted object; a tuple, to save memory in a corpus of hundreds of thousands.

    Attributes:
        domain: As written, whether or not it is in the schema; None if it is missing or not text.
        span: The quoted evidence; None if it is missing or not text.
        fields: All keys of the object as given, including those of domain and span.
        issues: Violations of the schema, e.g. ``unknown_domain``, ``missing_polarity``; see
            :meth:`~tls_tasks.evidence.read.ObjectReader.read`.
    """

    domain: str | None
    span: str | None
    fields: Mapping[str, Any] = MappingProxyType({})
    issues: tuple[str, ...] = ()


_ADAPTER = TypeAdapter(EvidenceSchema)

JOURNAL_SCHEMA = _ADAPTER.validate_json(Path(__file__).with_name("journal_schema.json").read_text(encoding="utf-8"))
"""The schema of journal entries, after the user's text: domains, polarity, intensity or arousal, and time."""


_FORM = "an EvidenceSchema, the name of one, or a mapping with 'domains' and 'attributes'"


def read_schema(value: Any) -> EvidenceSchema:
    """Return the schema that a value names or describes.

    Args:
        value: A schema; ``journal``; or a mapping with ``domains`` (a list) and optionally ``attributes``, ``name``,
            ``domain_field`` and ``span_field``. Each attribute is a mapping with ``name``, ``values`` and optionally
            ``default``, ``bucket`` and, if its key is not its name, ``field`` (the key) or ``fields`` (domain -> key,
            with ``""`` for all other domains). :class:`~tls_tasks.evidence.types.EvidenceSchema` says what they mean.

    Raises:
        InputError: The value is not a schema; the message names the wrong part.

    Example:
        >>> schema = read_schema({"domains": ["food"], "attributes": [{"name": "meal", "values": ["lunch", "dinner"]}]})
        >>> schema.attributes[0].key_for("food"), schema.span_field, schema.name
        ('meal', 'evidence_span', 'custom')
        >>> read_schema({"domains": ["food"], "atributes": []})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: schema['atributes']: got list [] (Unexpected keyword argument), expected an EvidenceSchema, ...
    """  # noqa: E501
    if isinstance(value, EvidenceSchema):
        return value
    if isinstance(value, str):
        if value.endswith(".json"):
            raise InputError("schema", None, repr(value), f"{_FORM}; of a file give the content, json.load(open(name))")
        check_choice("schema", value, (JOURNAL_SCHEMA.name,))
        return JOURNAL_SCHEMA
    if not isinstance(value, Mapping):
        raise InputError("schema", None, describe(value), _FORM)
    try:
        return _ADAPTER.validate_python({"name": "custom", **value})
    except ValidationError as error:
        first = error.errors()[0]
        path = "".join(f"[{step!r}]" for step in first["loc"])
        raise InputError(f"schema{path}", None, f"{describe(first['input'])} ({first['msg']})", _FORM) from None
