"""evidence_extraction: objects without canonical labels, matched by domain and by the span that they quote.

Original: the scorer described in the user's document on evidence-grounded extraction (section 3) and the code that
belongs to it. A match needs the same domain and a Jaccard overlap of the words of 1/2; attributes are judged on matches
only; evidence coverage says how many quotes occur in the text at all.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from tls_tasks.core import options
from tls_tasks.core.errors import InputError, check_choice, check_switches, describe, memory_for, warn_of_unread
from tls_tasks.core.score import Score
from tls_tasks.evidence.matching import MATCHINGS, OVERLAPS, TOKENIZERS, Matcher
from tls_tasks.evidence.postprocess import UNGROUNDED, check_uncertain
from tls_tasks.evidence.postprocess import postprocess as postprocessed
from tls_tasks.evidence.rows import Row, read_rows
from tls_tasks.evidence.score import Document, details, domains, explanation, results
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceObject, EvidenceSchema, read_schema
from tls_tasks.text.quotes import Source
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import find_tokenizer, warn_of_unseen

VERSION = 4


@dataclass(frozen=True, slots=True)
class _EvidenceConfig:
    """The settings of :func:`evidence_extraction`, as they stand in its signature."""

    schema: str
    overlap: str = "jaccard"
    tokenizer: str | Tokenizer = field(default="whitespace", metadata={"sign": "tok"})
    threshold: float = 0.5
    matching: str = "greedy"
    require_grounding: bool = field(default=False, metadata={"sign": "grounding", "quiet": False})
    postprocess: str | None = field(default=None, metadata={"sign": "post", "quiet": None})
    aggregate: str = field(default="micro", metadata={"sign": "agg", "of": ()})
    interval: str = field(default="", metadata={"sign": "ci", "quiet": "", "of": options.INTERVAL})


@options.signed_by(_EvidenceConfig, data=("predictions", "references", "sources"), adds=("macro",))
def evidence_extraction(
    predictions: Sequence[Any],
    references: Sequence[Any],
    sources: Sequence[str | None] | None = None,
    *,
    schema: EvidenceSchema | str | Mapping[str, Any] = JOURNAL_SCHEMA,
    threshold: float | Fraction | str = 0.5,
    overlap: str = "jaccard",
    tokenizer: str | Tokenizer = "whitespace",
    matching: str = "greedy",
    require_grounding: bool = False,
    postprocess: str | None = None,
    macro: bool = False,
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
        threshold: The least overlap of a match, from 0 to 1; also as text such as ``"3/10"``.
        overlap: ``jaccard`` (words as sets), ``token_f1`` (words with repetitions), ``substring`` or ``exact``, which
            are 0 or 1 and need no threshold; see :data:`~tls_tasks.evidence.matching.OVERLAPS`.
        tokenizer: ``whitespace`` (lower case, punctuation stays on words), ``strip_punct``, ``unicode``, or a function:
            text -> words.
        matching: ``greedy``: the greatest overlap first, ties by the lowest reference, then prediction position.
            ``optimal``: as many matches as possible, then the greatest sum of overlaps.
        require_grounding: Whether objects whose quote is not verbatim in the source can't match.
        postprocess: Run :func:`~tls_tasks.evidence.postprocess.postprocess` first; ``keep``, ``drop`` or
            ``uncertain`` says what happens to ungrounded objects. ``schema_invalid`` counts the model's own objects.
        macro: Whether to add means over documents; a document with no objects on either side scores 0 there.
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

    Example:
        >>> gold = {"domain": "food", "evidence_span": "had tea", "polarity": "present", "time_bucket": "today"}
        >>> told = [{**gold, "evidence_span": "Had tea twice"}, {**gold, "domain": "mind", "evidence_span": "sleepy"}]
        >>> result = evidence_extraction([told], [[gold]], ["Had tea twice."]).as_dict()
        >>> result["f1"], result["polarity_accuracy"], result["evidence_coverage"]
        (0.6666666666666666, 1.0, 0.5)
        >>> result["signature"]
        'evidence_extraction|schema:journal|overlap:jaccard|tok:whitespace|threshold:0.5|matching:greedy|agg:micro|v:4'
    """
    read = read_schema(schema)
    limit = _read_threshold(threshold)
    check_choice("matching", matching, MATCHINGS)
    check_choice("overlap", overlap, OVERLAPS)
    check_switches(require_grounding=require_grounding, macro=macro)
    check_choice("postprocess", postprocess, (None, *UNGROUNDED))
    check_uncertain("postprocess", postprocess, read)
    interval = options.interval_options(confidence_interval, n_resamples, seed)
    config = _EvidenceConfig(
        *(read.label, overlap, tokenizer, limit, matching, require_grounding, postprocess),
        interval=options.interval_sign(interval),
    )
    # Before a function of the caller's has been called.
    signed = options.signature("evidence_extraction", config, VERSION)
    matcher = Matcher(read, OVERLAPS[overlap], find_tokenizer(tokenizer, TOKENIZERS), limit, matching)
    rows = enumerate(read_rows(predictions, references, sources, read))
    documents = [_document(index, row, matcher, require_grounding, postprocess) for index, row in rows]
    unread = [document.row for document in documents if document.parsed.failed]
    warn_of_unread(unread, len(documents), "evidence")
    quoted = [[entry.span or "" for entry in (*document.wanted, *document.predicted)] for document in documents]
    warn_of_unseen(tokenizer if matcher.overlap.is_graded else None, quoted)  # the others compare as texts
    return Score(
        metric="evidence_extraction",
        signature=signed,
        units=[document.unit() for document in documents],
        definitions=results(read, macro),
        items=documents,
        problems={document.row: kinds for document in documents if (kinds := document.parsed.kinds())},
        parse_failures=sum(document.parsed.failed for document in documents),
        details=partial(details, read),
        more=partial(domains, read),
        interval=interval,
        undefined=None,
        explanation=explanation,
    )


def _read_threshold(value: Any) -> float:
    try:
        limit = math.nan if isinstance(value, bool) else float(Fraction(value))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        limit = math.nan
    if not 0 <= limit <= 1:
        raise InputError("threshold", None, describe(value), "a number from 0 to 1, also as text such as '3/10'")
    return limit


def _document(index: int, row: Row, matcher: Matcher, require_grounding: bool, ungrounded: str | None) -> Document:
    parsed, wanted, text = row
    if text is None and (require_grounding or ungrounded is not None):
        option = "require_grounding" if require_grounding else "postprocess"
        raise InputError("sources", index, "None", f"the document's text: {option} checks quotes in it")
    predicted = parsed.value or ()
    if text is not None and ungrounded is not None:
        predicted = postprocessed(predicted, text, matcher.schema, ungrounded)
    source = None if text is None else Source(text)
    grounded = tuple(entry.span is not None and source.holds(entry.span) for entry in predicted) if source else ()
    matchable: Sequence[EvidenceObject | None] = predicted
    if require_grounding:
        matchable = [entry if stands else None for entry, stands in zip(predicted, grounded, strict=True)]
    with memory_for(f"row {index}: {len(wanted):,} x {len(matchable):,} objects"):
        matches = tuple(matcher.match(wanted, matchable))
    return Document(index, matcher.schema, parsed, wanted, predicted, matches, source, grounded)
