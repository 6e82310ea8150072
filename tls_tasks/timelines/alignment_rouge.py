"""alignment_rouge: ROUGE-1 and ROUGE-2 of two timelines whose dates are aligned first (AR-1, AR-2).

Original: tilse 0.2.1 (Martschat & Markert, EACL 2017) with ROUGE-1.5.5, whose numbers are reproduced: five variants,
references one at a time or jointly. The defaults are what news-tls and LLM-TLS report as AR-1 and AR-2: ``align+m:1``,
references one at a time, F from the mean precision and the mean recall over all (row, reference) pairs.

Where tilse stops with an error, the value is 0.0 and the item carries a flag that says why: a side has no dates
(``empty_prediction``, ``empty_reference``), or nothing of it is counted (``no_predicted_words``,
``no_reference_bigrams`` …).
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any

from tls_tasks.core.errors import OptionError, check_choice, check_switches, needs_extra
from tls_tasks.core.options import signature, signed_by
from tls_tasks.core.score import Counts, Item, Score, check_aggregate, ratio
from tls_tasks.text.rouge155 import Tokenizer, rouge_counts, tokenize
from tls_tasks.text.tokenizers import find_tokenizer, unicode_words, warn_of_unseen
from tls_tasks.timelines import alignment
from tls_tasks.timelines.alignment import VARIANTS, AlignedDays, Alignment, DayWords, align_all, count_overlap
from tls_tasks.timelines.pairs import score_pairs
from tls_tasks.timelines.read import DEFAULT_POLICY, TimelinePolicy, read_policy
from tls_tasks.timelines.rows import TimelineRow, read_rows
from tls_tasks.timelines.types import Timeline

VERSION = 4

_TILSE_METHODS = {
    "concat": "evaluate_concat",
    "agreement": "evaluate_agreement",
    "align": "evaluate_align_date_costs",
    "align+": "evaluate_align_date_content_costs",
    "align+m:1": "evaluate_align_date_content_costs_many_to_one",
}
_ENGINES = ("rouge155", "tilse")
"""``rouge155`` is exact and in Python; ``tilse`` (an extra) calls tilse's Perl script, thousands of times slower."""

_PREFIXES = ("ar1", "ar2")

_VariantCounts = dict[str, dict[str, Counts]]
"""Variant -> ``ar1`` and ``ar2`` -> counts."""


@dataclass(frozen=True, slots=True)
class _AlignmentRougeConfig:
    """The settings of :func:`alignment_rouge`, as its signature gives them."""

    variant: str = "align+m:1"
    engine: str = "rouge155"
    reference_mode: str = field(default="separate", metadata={"sign": "refs"})
    aggregate: str = field(default="f_of_means", metadata={"sign": "agg"})
    by_topic: bool = field(default=False, metadata={"quiet": False, "of": ("topics",)})
    beta: float = field(default=1.0, metadata={"quiet": 1.0})
    tokenizer: str | Tokenizer = field(default="rouge155", metadata={"sign": "tok", "quiet": "rouge155"})
    remove_stopwords: bool = field(default=True, metadata={"sign": "stop", "quiet": True})
    use_stemmer: bool = field(default=True, metadata={"sign": "stem", "quiet": True})
    policy: TimelinePolicy = field(default=DEFAULT_POLICY, metadata={"quiet": DEFAULT_POLICY})

    def __post_init__(self) -> None:
        """Raise OptionError for a value that an option doesn't have."""
        check_aggregate(self.aggregate, self.beta)
        check_choice("variant", self.variant, VARIANTS)
        check_choice("engine", self.engine, _ENGINES)
        has_tilse_words = self.tokenizer == "rouge155" and self.remove_stopwords and self.use_stemmer
        if self.engine == "tilse" and not has_tilse_words:
            got = "'tilse' with another tokeniser, stop words or stemming"
            raise OptionError("engine", None, got, "its own settings")


@signed_by(_AlignmentRougeConfig, data=("predictions", "references"), adds=("exact_date_mean",))
def alignment_rouge(
    predictions: Sequence[Any] | Mapping[str, Any],
    references: Sequence[Any] | Mapping[str, Any],
    *,
    variant: str = "align+m:1",
    reference_mode: str = "separate",
    aggregate: str = "f_of_means",
    beta: float = 1.0,
    topics: Sequence[str] | None = None,
    engine: str = "rouge155",
    tokenizer: str | Tokenizer = "rouge155",
    remove_stopwords: bool = True,
    use_stemmer: bool = True,
    exact_date_mean: bool = False,
    policy: TimelinePolicy | Mapping[str, str] | None = None,
) -> Score:
    """Score timelines by alignment ROUGE.

    Args:
        predictions: One timeline per row: model text, JSON, ``[{"date": …, "text": …}]`` or ``{date: [sentence, …]}``.
        references: One timeline per row, or a list of them, or a mapping annotator -> timeline.
        variant: Which dates are aligned, one of :data:`~tls_tasks.timelines.alignment.VARIANTS`.
        reference_mode: ``separate`` scores each reference on its own (news-tls), ``joint`` all at once (CHRONOS).
        aggregate: ``f_of_means`` (F of mean P and mean R) or ``mean_f`` (mean of the items' F).
        beta: Weight of recall in F.
        topics: The topic of each row. If given, every topic has the same weight.
        engine: What counts n-grams: ``rouge155`` (exact, in Python) or ``tilse`` (its Perl script, thousands of times
            slower).
        tokenizer: ``rouge155`` (ASCII letters and digits only), ``unicode``, or a function: sentence -> words. Dates
            are aligned by the words of ``unicode`` or of the function, too.
        remove_stopwords: Whether ``rouge155`` drops its stop words.
        use_stemmer: Whether ``rouge155`` stems.
        exact_date_mean: Also return ``exact_date_mean_1`` and ``exact_date_mean_2``. Each reference sentence has an F
            against the text predicted for its date. The result is the mean over a reference's sentences, then over
            all references (then over topics, if given). Some papers' pseudocode says this; it is not AR.
        policy: How dates and texts are read from model text, also as a mapping of its options.

    Returns:
        ``ar1_*`` and ``ar2_*`` in [0, 1]; a perfect prediction can score below 1 under ``align+m:1`` if two of its
        dates have the same text. ``as_dict(detailed=True)`` adds all five variants and the items with their alignment.

    Raises:
        InputError: Rows that can't be scored, naming index and field.
        OptionError: An option that doesn't exist.
        MissingExtraError: ``engine="tilse"`` without tilse.

    Warns:
        NonAsciiWarning: ``rouge155`` ignores most letters of some rows.
        ParseFailureWarning: Predictions that could not be read.
        RepeatedDateWarning: A reference timeline has a date more than once.

    Example:
        >>> score = alignment_rouge(
        ...     predictions=["2011-01-25: Mass protests erupt in Cairo."],
        ...     references=[{"2011-01-25": ["Protests erupt across Egypt."], "2011-02-11": ["Mubarak resigns."]}],
        ... )
        >>> round(score.as_dict()["ar1_precision"], 3), round(score.as_dict()["ar1_recall"], 3)
        (0.5, 0.4)
        >>> score.signature
        'alignment_rouge|variant:align+m:1|engine:rouge155|refs:separate|agg:f_of_means|v:4'
    """
    check_switches(remove_stopwords=remove_stopwords, use_stemmer=use_stemmer, exact_date_mean=exact_date_mean)
    config = _AlignmentRougeConfig(
        *(variant, engine, reference_mode, aggregate, topics is not None, beta, tokenizer, remove_stopwords),
        *(use_stemmer, read_policy(policy)),
    )
    signed = signature("alignment_rouge", config, VERSION)  # before any function of the caller is called
    rows = read_rows(predictions, references, topics, reference_mode, config.policy)
    warn_of_unseen(tokenizer, [[timeline.text for timeline in (row.prediction, *row.references)] for row in rows])
    scored = [*_score_rows(rows, config)]
    items = [item for item, _ in scored]
    variants = {name: [counts[name] for _, counts in scored] for name in VARIANTS}
    score = score_pairs("alignment_rouge", _PREFIXES, signed, config, rows, items, variants)
    return _with_exact_date_means(score, rows, config) if exact_date_mean else score


def _word_reader(config: _AlignmentRougeConfig) -> Callable[[Timeline], DayWords]:
    """Return a function: timeline -> words; tokenizers other than ``rouge155`` also tokenize for the alignment."""
    tokenizer = find_tokenizer(config.tokenizer, {"rouge155": tokenize, "unicode": unicode_words})
    if config.tokenizer != "rouge155":
        return partial(DayWords.from_timeline, rouge_tokenizer=tokenizer, content_tokenizer=tokenizer)
    rouge_words = partial(tokenize, remove_stopwords=config.remove_stopwords, use_stemmer=config.use_stemmer)
    return partial(DayWords.from_timeline, rouge_tokenizer=rouge_words, content_tokenizer=alignment.content_words)


def _score_rows(rows: Sequence[TimelineRow], config: _AlignmentRougeConfig) -> Iterator[tuple[Item, _VariantCounts]]:
    """Yield an item for each (row, reference) pair, with its counts under all variants."""
    read_words = _word_reader(config)
    for row in rows:
        prediction = read_words(row.prediction)
        for index, group in row.reference_groups(config.reference_mode):
            overlap = count_overlap(prediction, [read_words(reference) for reference in group])
            alignments = align_all(overlap)
            variants = {
                name: {prefix: alignment.weighted_counts(overlap, aligned, i) for i, prefix in enumerate(_PREFIXES)}
                for name, aligned in alignments.items()
            }
            flags = (*row.empty_flags(group), *_zero_flags(variants[config.variant]))
            if config.engine == "tilse":
                variants = {name: tilse_counts(row.prediction, group, name) for name in VARIANTS}
            details = partial(_alignment_rows, alignments[config.variant])
            yield Item(row.index, index, variants[config.variant], row.topic, flags, details, config.beta), variants


def _zero_flags(counts: Mapping[str, Counts]) -> Iterator[str]:
    """Yield a flag for each side that has no word or no bigram to count."""
    for prefix, unit in zip(_PREFIXES, ("words", "bigrams"), strict=True):
        if not counts[prefix].predicted:
            yield f"no_predicted_{unit}"
        if not counts[prefix].reference:
            yield f"no_reference_{unit}"


def _alignment_rows(alignment: Alignment | None) -> dict[str, Any]:
    """Return both directions of an alignment as rows of JSON, for an item's details."""
    sides = dict(zip(Alignment._fields, map(_pair_rows, alignment), strict=True)) if alignment else None
    return {"alignment": sides}


def _pair_rows(aligned: AlignedDays) -> list[dict[str, Any]]:
    """Return a row for each aligned pair: both dates in ISO form, the pair's weight and its ROUGE-1 hits."""
    predicted, reference = ([date.fromordinal(day).isoformat() for day in days.tolist()] for days in aligned[:2])
    columns = predicted, reference, aligned.weight.tolist(), aligned.hits[0].astype(float).tolist()
    names = "predicted", "reference", "weight", "hits"
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _with_exact_date_means(score: Score, rows: Sequence[TimelineRow], config: _AlignmentRougeConfig) -> Score:
    """Add ``exact_date_mean_1`` and ``exact_date_mean_2`` to a score: the means of some papers' pseudocode, not AR.

    Dates must be equal, extra predicted dates cost nothing, each reference sentence has the same weight, and words are
    not stemmed. References count one by one in either mode; every topic has the same weight where topics are given.
    """
    pairs = [(row.prediction, group) for row in rows for _, group in row.reference_groups(config.reference_mode)]
    keys = {f"exact_date_mean_{n}": n for n in (1, 2)}
    units = []
    for unit, (prediction, group) in zip(score.units, pairs, strict=True):
        means = {key: [_exact_date_mean(prediction, reference, n) for reference in group] for key, n in keys.items()}
        units.append({**unit, "exact_date_pairs": len(group), **{key: math.fsum(means[key]) for key in keys}})
    table = {key: ratio(key, "exact_date_pairs", equal_votes=config.by_topic) for key in keys}
    return replace(score, units=units, definitions={**score.definitions, **table})


def _exact_date_mean(prediction: Timeline, reference: Timeline, n: int) -> float:
    """Return the mean ROUGE-n F of the reference's sentences, each against all sentences predicted for its date."""
    predicted = {entry.date: entry.sentences for entry in prediction}
    pairs = ((predicted.get(entry.date, ()), sentence) for entry in reference for sentence in entry.sentences)
    f1_scores = [rouge_counts(texts, [[sentence]], n, _lower_words).prf().f1 for texts, sentence in pairs]
    return math.fsum(f1_scores) / len(f1_scores) if f1_scores else 0.0


def _lower_words(sentence: str) -> list[str]:
    return re.findall(r"\w+", sentence.lower())


def tilse_counts(
    prediction: Timeline, references: Sequence[Timeline], variant: str, computation: str = "original"
) -> dict[str, Counts]:
    """Return precision and recall as tilse computes them, as counts out of 1; all counts are 0 where tilse raises.

    tilse starts its Perl script, which needs XML::Parser, for every pair of days.

    Args:
        prediction: The predicted timeline.
        references: The references, scored jointly.
        variant: One of :data:`~tls_tasks.timelines.alignment.VARIANTS`.
        computation: ``original`` for the Perl script, ``reimpl`` for tilse's approximation in Python.

    Raises:
        MissingExtraError: tilse isn't installed.
    """
    with needs_extra("engine='tilse'", "tilse"):
        from tilse.data import timelines as tilse
        from tilse.evaluation.rouge import TimelineRougeEvaluator
    evaluator = TimelineRougeEvaluator({"rouge_1", "rouge_2"}, computation)
    by_date = [{entry.date: list(entry.sentences) for entry in timeline} for timeline in (prediction, *references)]
    try:
        predicted, *gold = map(tilse.Timeline, by_date)
        scores = getattr(evaluator, _TILSE_METHODS[variant])(predicted, tilse.GroundTruth(gold))
    except (ZeroDivisionError, ValueError):  # tilse raises these for empty timelines and for texts without words
        return dict.fromkeys(("ar1", "ar2"), Counts(0.0, 0.0, 0.0, 0.0))
    return {f"ar{n}": Counts(scores[f"rouge_{n}"]["precision"], 1, scores[f"rouge_{n}"]["recall"], 1) for n in (1, 2)}
