"""An optional step before scoring: enforce the schema, move attributes to the key of their domain, check quotes."""

from collections.abc import Iterable, Mapping
from typing import Any

from tls_tasks.core.errors import InputError, check_choice
from tls_tasks.evidence.read import ObjectReader
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceObject, EvidenceSchema, known_name, scalar_text
from tls_tasks.text.quotes import Source

UNGROUNDED = ("keep", "drop", "uncertain")
"""Treatments of an object whose quote is not in the text."""

_UNCERTAIN = "uncertain"


def postprocess(
    objects: Iterable[EvidenceObject], source: str, schema: EvidenceSchema = JOURNAL_SCHEMA, ungrounded: str = "keep"
) -> tuple[EvidenceObject, ...]:
    """Make objects fit their schema and check their quotes.

    An attribute whose key is empty is taken from the key that another domain uses for it; afterwards, keys of other
    domains are removed. Values are normalised in case, blanks and hyphens (``Last night`` becomes ``last_night``).
    Missing or unknown values are replaced by the default. Objects that still violate the schema are dropped.

    Args:
        objects: A model's objects, as read by :func:`~tls_tasks.evidence.read.parse_evidence`.
        source: The text that they quote.
        schema: The schema of the objects.
        ungrounded: The treatment of an object whose quote is not verbatim in the text: ``keep`` or ``drop`` it, or keep
            it and set the first attribute that can be ``uncertain`` to that value (``uncertain``).

    Raises:
        OptionError: Unknown value of ``ungrounded``.
        InputError: ``ungrounded`` is ``uncertain``, but some domain has no attribute with that value.

    Example:
        >>> from tls_tasks.evidence.read import parse_evidence
        >>> answer = '''[{"domain": "Emotion", "evidence_span": "felt calm", "polarity": "present",
        ...     "intensity_bucket": "low", "time_bucket": "today"}, {"domain": "food", "evidence_span": "tea"}]'''
        >>> fitted = postprocess(parse_evidence(answer).value, "I felt calm.", ungrounded="drop")
        >>> [(entry.domain, entry.fields["arousal_bucket"]) for entry in fitted]
        [('emotion', 'low')]
    """
    check_ungrounded("ungrounded", ungrounded, schema)
    text, reader = Source(source), ObjectReader(schema)
    fitted: list[EvidenceObject] = []
    for entry in objects:
        fields = _fit_fields(entry.fields, schema)
        span, domain = fields.get(schema.span_field), fields.get(schema.domain_field)
        if isinstance(span, str) and not text.holds(span):
            if ungrounded == "drop":
                continue
            # An object of an unknown domain has no such key, and is dropped below.
            key = _uncertain_key(schema, domain) if ungrounded == _UNCERTAIN and isinstance(domain, str) else None
            fields |= {key: _UNCERTAIN} if key else {}
        fitted.append(reader.read(fields))
    return tuple(entry for entry in fitted if not entry.issues)


def check_ungrounded(option: str, value: str | None, schema: EvidenceSchema) -> None:
    """Refuse a value that is none of the choices, and ``uncertain`` if some domain has no attribute with that value."""
    check_choice(option, value, (None, *UNGROUNDED))
    for domain in schema.domains if value == _UNCERTAIN else ():
        if _uncertain_key(schema, domain) is None:
            got = f"schema {schema.name!r}, in which no attribute of domain {domain!r} may be {_UNCERTAIN!r}"
            raise InputError(option, None, f"{_UNCERTAIN!r} with {got}", "'keep' or 'drop'")


def _uncertain_key(schema: EvidenceSchema, domain: str) -> str | None:
    """Return the key of the first attribute of a domain that can be ``uncertain``; None if no attribute can."""
    return next((key for attribute, key in schema.keys_for(domain) if _UNCERTAIN in attribute.values), None)


def _fit_fields(raw: Mapping[str, Any], schema: EvidenceSchema) -> dict[str, Any]:
    """Return the fields of an object, changed to fit the schema as far as possible."""
    fields = dict(raw)
    domain = fields.get(schema.domain_field)
    if not isinstance(domain, str):
        return fields
    domain = fields[schema.domain_field] = known_name(domain, schema.domains) or domain
    for attribute, key in schema.keys_for(domain):
        for used_key in dict.fromkeys(attribute.fields.values()):
            value = fields.pop(used_key, None) if used_key != key else None
            if fields.get(key) is None and value is not None:
                fields[key] = value
        text = scalar_text(fields.get(key))
        value = None if text is None else known_name(text, attribute.values)
        if value is not None or attribute.default is not None:
            fields[key] = value if value is not None else attribute.default
    return fields
