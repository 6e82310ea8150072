"""An optional step before scoring: check quotes, enforce the schema, move attributes to the key of their domain.

A pure function that reports every change it makes.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, check_choice
from tls_tasks.evidence.read import ObjectReader
from tls_tasks.evidence.types import JOURNAL_SCHEMA, Attribute, EvidenceObject, EvidenceSchema, known_name, scalar_text
from tls_tasks.text.quotes import Source

UNGROUNDED = ("keep", "drop", "uncertain")
"""What can be done with an object whose quote is not in the text."""

_UNCERTAIN = "uncertain"


class Change(NamedTuple):
    """One change to an object.

    Attributes:
        position: The object's position in the input.
        kind: ``moved_NAME`` (an attribute was under the key of another domain), ``removed_NAME`` (it was there as
            well), ``corrected_NAME`` and ``corrected_domain`` (case, blanks or hyphens of a known value),
            ``defaulted_NAME`` (missing or unknown value), ``kept_ungrounded``, ``dropped_ungrounded``,
            ``marked_ungrounded``, ``dropped_invalid`` (unknown domain, no quote, or an attribute without a default is
            missing).
        before, after: The old and the new value; None if there is none.
    """

    position: int
    kind: str
    before: Any = None
    after: Any = None


class _Postprocessed(NamedTuple):
    """The remaining objects and the changes, both in order."""

    objects: tuple[EvidenceObject, ...]
    changes: tuple[Change, ...]


def postprocess(
    objects: Iterable[EvidenceObject], source: str, schema: EvidenceSchema = JOURNAL_SCHEMA, ungrounded: str = "keep"
) -> _Postprocessed:
    """Make objects fit their schema and check their quotes.

    An attribute whose key is empty is taken from the key that another domain uses for it; afterwards, keys of other
    domains are removed. Values are normalised in case, blanks and hyphens (``Last night`` becomes ``last_night``).
    Missing or unknown values are replaced by the default. Objects that still violate the schema are dropped.

    Args:
        objects: A model's objects, as read by :func:`~tls_tasks.evidence.read.parse_evidence`.
        source: The text that they quote.
        schema: What they may hold.
        ungrounded: What happens to an object whose quote is not verbatim in the text: ``keep`` or ``drop`` it, or keep
            it and set the first attribute that can be ``uncertain`` to that value (``uncertain``).

    Raises:
        OptionError: Unknown value of ``ungrounded``.
        InputError: ``ungrounded`` is ``uncertain``, but some domain has no attribute with that value.

    Example:
        >>> from tls_tasks.evidence.read import parse_evidence
        >>> answer = '''[{"domain": "Emotion", "evidence_span": "felt calm", "polarity": "present",
        ...     "intensity_bucket": "low", "time_bucket": "today"}, {"domain": "food", "evidence_span": "tea"}]'''
        >>> done = postprocess(parse_evidence(answer).value, "I felt calm.", ungrounded="drop")
        >>> done.objects[0].fields["arousal_bucket"], [change.kind for change in done.changes]
        ('low', ['moved_level', 'defaulted_level', 'dropped_ungrounded'])
    """
    check_choice("ungrounded", ungrounded, UNGROUNDED)
    check_uncertain("ungrounded", ungrounded, schema)
    text, reader = Source(source), ObjectReader(schema)
    kept: list[EvidenceObject] = []
    changes: list[Change] = []
    for position, entry in enumerate(objects):
        fields = dict(entry.fields)
        changes += [Change(position, *change) for change in _fit(fields, schema)]
        span = fields.get(schema.span_field)
        if isinstance(span, str) and not text.holds(span):
            if ungrounded == "drop":
                changes.append(Change(position, "dropped_ungrounded", span))
                continue
            changes.append(Change(position, *_mark_ungrounded(fields, schema, ungrounded)))
        fitted = reader.read(fields)
        if fitted.issues:
            changes.append(Change(position, "dropped_invalid", ", ".join(fitted.issues)))
        else:
            kept.append(fitted)
    return _Postprocessed(tuple(kept), tuple(changes))


def check_uncertain(option: str, value: str | None, schema: EvidenceSchema) -> None:
    """Refuse ``uncertain`` if some domain of the schema has no attribute with that value."""
    for domain in schema.domains if value == _UNCERTAIN else ():
        if _uncertain_attribute(schema, domain) is None:
            place = f"schema {schema.name!r}, in which no attribute of domain {domain!r} may be {_UNCERTAIN!r}"
            raise InputError(option, None, f"{_UNCERTAIN!r} with {place}", "'keep' or 'drop'")


def _uncertain_attribute(schema: EvidenceSchema, domain: str) -> tuple[Attribute, str] | None:
    return next((pair for pair in schema.fields_of(domain) if _UNCERTAIN in pair[0].values), None)


def _mark_ungrounded(fields: dict[str, Any], schema: EvidenceSchema, ungrounded: str) -> tuple[str, Any, Any]:
    domain, span = fields.get(schema.domain_field), fields[schema.span_field]
    found = _uncertain_attribute(schema, domain if isinstance(domain, str) else "")
    if ungrounded == "keep" or found is None:  # an unknown domain, which will be dropped as invalid
        return "kept_ungrounded", span, span
    before, fields[found[1]] = fields.get(found[1]), _UNCERTAIN
    return "marked_ungrounded", before, _UNCERTAIN


def _fit(fields: dict[str, Any], schema: EvidenceSchema) -> Iterator[tuple[str, Any, Any]]:
    """Change an object's fields to fit the schema as far as possible: the kind of each change, and both values."""
    domain = fields.get(schema.domain_field)
    if not isinstance(domain, str):
        return
    known = known_name(domain, schema.domains)
    if known is not None and known != domain:
        yield "corrected_domain", domain, known
        domain = fields[schema.domain_field] = known
    for attribute, key in schema.fields_of(domain):
        for other in dict.fromkeys(attribute.fields.values()):
            value = fields.pop(other, None) if other != key else None
            if value is not None and fields.get(key) is None:
                fields[key] = value
                yield f"moved_{attribute.name}", other, key
            elif value is not None:
                yield f"removed_{attribute.name}", value, None
        value = fields.get(key)
        text = scalar_text(value)
        known = None if text is None else known_name(text, attribute.values)
        if known is None and attribute.default is not None:
            fields[key] = attribute.default
            yield f"defaulted_{attribute.name}", value, attribute.default
        elif known is not None:
            fields[key] = known
            if known != text:
                yield f"corrected_{attribute.name}", value, known
