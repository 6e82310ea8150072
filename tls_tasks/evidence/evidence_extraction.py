"""evidence_extraction: extracted objects, matched one to one by their domain and by the words that they quote.

Original: the scorer described in the user's document on evidence-grounded extraction (section 3) and the code that
belongs to it. A match needs the same domain and a Jaccard overlap of words of at least 1/2; attributes are compared on
matches only; evidence coverage is the share of quotes that occur in the text at all.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from tls_tasks.core import options
from tls_tasks.core.errors import InputError, check_choice, describe, first_rows, warn_caller, warn_of_unread
from tls_tasks.core.score import Score
from tls_tasks.evidence.matching import MATCHINGS, TOKENIZERS, Matcher
from tls_tasks.evidence.postprocess import check_ungrounded
from tls_tasks.evidence.postprocess import postprocess as postprocessed
from tls_tasks.evidence.rows import Row, read_rows
from tls_tasks.evidence.score import Document, details, domains, explanation, results
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceSchema, read_schema
from tls_tasks.text.quotes import Source
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import find_tokenizer, warn_of_unseen

VERSION = 4


@dataclass(frozen=True, slots=True)
class _EvidenceConfig:
    """The settings of :func:`evidence_extraction`, as they stand in its signature."""

    schema: str
    overlap: str = field(default="jaccard", metadata={"of": ()})
    tokenizer: str | Tokenizer = field(default="whitespace", metadata={"sign": "tok"})
    threshold: float = 0.5
    matching: str = "greedy"
    postprocess: str | None = field(default=None, metadata={"sign": "post", "quiet": None})
    aggregate: str = field(default="micro", metadata={"sign": "agg", "of": ()})
    interval: str = field(default="", metadata={"sign": "ci", "quiet": "", "of": options.INTERVAL})


class TiedMatchWarning(UserWarning):
    """The number of matches of some documents depends on the order of objects with equal overlaps."""


@options.signed_by(_EvidenceConfig, data=("predictions", "references", "sources"))
def evidence_extraction(
    predictions: Sequence[Any],
    references: Sequence[Any],
    sources: Sequence[str | None] | None = None,
    *,
    schema: EvidenceSchema | str | Mapping[str, Any] = JOURNAL_SCHEMA,
    threshold: float | str = 0.5,
    tokenizer: str | Tokenizer = "whitespace",
    matching: str = "greedy",
    postprocess: str | None = None,
    confidence_interval: float | None = None,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> Score:
    """Score extracted objects by domain, quoted span and attributes.

    Args:
        predictions: One row a document: model text, a JSON string, or a list of objects; None for no answer.
        references: One row a document: a JSON string or a list of objects. A row has one reference.
        sources: The documents' texts; None if a text is unknown. If no text is known, coverage is None.
        schema: Domains, attributes and keys: a schema, its name, or a mapping, see
            :func:`~tls_tasks.evidence.types.read_schema`.
        threshold: The least Jaccard overlap of a match, from 0 to 1: distinct words in both / in either. Also as text
            such as ``"3/10"``.
        tokenizer: ``whitespace`` (lower case, punctuation stays on words), ``strip_punct``, ``unicode``, or a function:
            text -> words.
        matching: ``greedy``: the greatest overlap first, ties by the lowest reference, then prediction index.
            ``optimal``: as many matches as possible, then the greatest sum of overlaps.
        postprocess: Run :func:`~tls_tasks.evidence.postprocess.postprocess` first; ``keep``, ``drop`` or
            ``uncertain`` says what happens to ungrounded objects. ``schema_invalid`` counts the model's own objects.
        confidence_interval: Coverage of an interval over documents, for example 0.95.
        n_resamples: Resamples of a bootstrap, which is made of 100 rows or more.
        seed: Seed of the bootstrap.

    Returns:
        ``tp``, ``fp``, ``fn`` over all documents; ``precision``, ``recall``, ``f1`` of their sums; ``NAME_accuracy`` of
        each attribute and ``bucket_accuracy`` (all buckets right), over matches; ``evidence_coverage`` and
        ``evidence_coverage_normalised``, the share of predicted objects whose quote is in the source;
        ``domains``; ``parse_failures`` and ``schema_invalid``. See
        :class:`~tls_tasks.core.score.Score`.

    Raises:
        InputError: Rows that can't be scored, naming index and field.
        OptionError: An option that doesn't exist.

    Warns:
        TiedMatchWarning: With equal overlaps, another order of the objects gives greedy matching another number.

    Example:
        >>> gold = {"domain": "food", "evidence_span": "had tea", "polarity": "present", "time_bucket": "today"}
        >>> tea, mind = {**gold, "evidence_span": "Had tea twice"}, {**gold, "domain": "mind", "evidence_span": "tired"}
        >>> result = evidence_extraction([[tea, mind]], [[gold]], ["Had tea twice."]).as_dict()
        >>> result["f1"], result["polarity_accuracy"], result["evidence_coverage"]
        (0.6666666666666666, 1.0, 0.5)
        >>> result["signature"]
        'evidence_extraction|schema:journal|overlap:jaccard|tok:whitespace|threshold:0.5|matching:greedy|agg:micro|v:4'
    """
    schema = read_schema(schema)
    least_overlap = _read_threshold(threshold)
    check_choice("matching", matching, MATCHINGS)
    check_ungrounded("postprocess", postprocess, schema)
    interval = options.interval_options(confidence_interval, n_resamples, seed)
    config = _EvidenceConfig(
        schema.label,
        tokenizer=tokenizer,
        threshold=least_overlap,
        matching=matching,
        postprocess=postprocess,
        interval=options.interval_sign(interval),
    )
    # The signature is built before any function of the caller is called.
    signed = options.signature("evidence_extraction", config, VERSION)
    matcher = Matcher(find_tokenizer(tokenizer, TOKENIZERS), least_overlap, matching)
    rows = enumerate(read_rows(predictions, references, sources, schema))
    documents = [_document(index, row, schema, matcher, postprocess) for index, row in rows]
    unread = [document.row for document in documents if document.parsed.failed]
    warn_of_unread(unread, len(documents), "evidence")
    spans = [[entry.span or "" for entry in (*document.gold, *document.predicted)] for document in documents]
    warn_of_unseen(tokenizer, spans)
    if tied := [document.row for document in documents if matching == "greedy" and _is_tied(matcher, document)]:
        message = f"in {len(tied)} of {len(documents)} documents the order of objects decides how many match"
        warn_caller(f"{message} (rows {first_rows(tied)}): matching='optimal' does not depend on it", TiedMatchWarning)
    return Score(
        metric="evidence_extraction",
        signature=signed,
        units=[document.unit() for document in documents],
        definitions=results(schema),
        items=documents,
        problems={document.row: kinds for document in documents if (kinds := document.parsed.kinds())},
        parse_failures=sum(document.parsed.failed for document in documents),
        details=partial(details, schema),
        more=partial(domains, schema),
        interval=interval,
        undefined=None,
        explanation=explanation,
    )


def _is_tied(matcher: Matcher, document: Document) -> bool:
    """Return whether the number of matches changes if ties go to the highest indices instead of the lowest."""
    return len(matcher.match(document.gold[::-1], document.predicted[::-1])) != len(document.matches)


def _read_threshold(value: Any) -> float:
    try:
        threshold = math.nan if isinstance(value, bool) else float(Fraction(value))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        threshold = math.nan
    if not 0 <= threshold <= 1:
        raise InputError("threshold", None, describe(value), "a number from 0 to 1, also as text such as '3/10'")
    return threshold


def _document(index: int, row: Row, schema: EvidenceSchema, matcher: Matcher, ungrounded: str | None) -> Document:
    """Match the objects of one row, after post-processing if ``ungrounded`` is not None."""
    parsed, gold, text = row
    predicted = parsed.value or ()
    if ungrounded is not None:
        if text is None:
            raise InputError("sources", index, "None", "the document's text: postprocess checks quotes in it")
        predicted = postprocessed(predicted, text, schema, ungrounded)
    source = None if text is None else Source(text)
    grounded = tuple(entry.span is not None and source.holds(entry.span) for entry in predicted) if source else ()
    matches = tuple(matcher.match(gold, predicted))
    return Document(index, schema, parsed, gold, predicted, matches, source, grounded)
