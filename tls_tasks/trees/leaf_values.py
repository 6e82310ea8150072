"""The class of leaf metrics, and the built-in ones: of any value (equality), numbers, dates and texts."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, LCSseq, Levenshtein
from rapidfuzz.process import cdist, cpdist

from tls_tasks.core.errors import InputError, warn_caller
from tls_tasks.core.score import f_beta
from tls_tasks.text.dates import read_date
from tls_tasks.text.rouge155 import NonAsciiWarning
from tls_tasks.text.tokenizers import is_unspaced, names_of, normalizer, unicode_words, whitespace_words
from tls_tasks.trees.types import AnyOf

FloatArray = NDArray[np.float64]

UNFIT = object()
"""What :attr:`LeafMetric.prepare` gives for a value that the metric cannot compare."""


@dataclass(frozen=True, slots=True)
class LeafMetric:
    """A metric of two leaf values.

    Values that a metric cannot compare (a list for a metric of texts) get its worst score and never raise.

    Attributes:
        name: The key in results.
        score_pairs: Prepared references, as many prepared predictions -> one score a pair.
        prepare: A value -> what is compared, or :data:`UNFIT`; None: the value itself.
        score_matrix: Distinct prepared references and predictions -> the scores of all pairs, where that is quicker
            than pair by pair.
        score_range: Least and greatest score.
        higher_is_better: Direction.
        settings: Options that differ from the defaults, for signatures.
        own_name: What the metric is called where ``name`` was changed; for signatures.
        is_reflexive: Whether equal values that it can compare surely have the best score.

    Example:
        >>> from tls_tasks.trees.leaf_metrics import resolve_metric
        >>> metric = resolve_metric("indel_ratio")
        >>> metric.pairs(["baroo", "drums"], ["bar", 7])
        array([0.75, 0.  ])
        >>> metric.matrix(["baroo", AnyOf(["drum kit", "drums"])], ["drums", "bar"]).round(2)
        array([[0.2 , 0.75],
               [1.  , 0.25]])
    """

    name: str
    score_pairs: Callable[[Sequence[Any], Sequence[Any]], Any]
    prepare: Callable[[Any], Any] | None = None
    score_matrix: Callable[[Sequence[Any], Sequence[Any]], FloatArray] | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    settings: str = ""
    own_name: str = ""
    is_reflexive: bool = True

    @property
    def worst(self) -> float:
        """The score of what can't be compared."""
        return float(self.score_range[0] if self.higher_is_better else self.score_range[1])

    @property
    def best(self) -> float:
        """The score of a perfect value."""
        return float(self.score_range[1] if self.higher_is_better else self.score_range[0])

    @property
    def signature(self) -> str:
        """Its own name, whatever the key in results is, and settings."""
        return (self.own_name or self.name) + (f"({self.settings})" if self.settings else "")

    def normalize(self, scores: Any, clip: bool = True) -> Any:
        """Return scores (an array or a single one) mapped to [0, 1], 1 the best.

        Args:
            scores: In the metric's range, or beyond it.
            clip: Whether those beyond the range (0, 1) are clipped; beyond any other range they always are.

        Example:
            >>> from tls_tasks.trees.leaf_metrics import resolve_metric
            >>> error = resolve_metric(max, name="error", score_range=(0, 10), higher_is_better=False)
            >>> error.normalize(np.array([2.0, 12.0]))
            array([0.8, 0. ])
        """
        low, high = self.score_range
        if clip or (low, high) != (0, 1):
            scores = np.clip(scores, low, high)
        if (low, high) != (0, 1):
            scores = (scores - low) / (high - low)
        return scores if self.higher_is_better else 1.0 - scores

    def pairs(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """Return the scores of ``references[i]`` with ``predictions[i]``, of an :class:`AnyOf` the best answer's."""
        if AnyOf in set(map(type, references)):
            each = _answers(references)
            repeated = [value for value, answers in zip(predictions, each, strict=True) for _ in answers]
            return self._best_answers(self.pairs(list(chain(*each)), repeated), each)
        refs, preds = self._fit(references), self._fit(predictions)
        fit = [index for index in refs if index in preds]
        scores = np.full(len(references), self.worst)
        if fit:
            scores[fit] = self.score_pairs([refs[index] for index in fit], [preds[index] for index in fit])
        return scores

    def matrix(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """Return the scores of every reference with every prediction, ``[references, predictions]``."""
        if AnyOf in set(map(type, references)):
            each = _answers(references)
            return self._best_answers(self.matrix(list(chain(*each)), predictions), each)
        (ref_distinct, rows), (pred_distinct, columns) = map(_distinct, (references, predictions))
        refs, preds = self._fit(ref_distinct), self._fit(pred_distinct)
        scores = np.full((len(ref_distinct), len(pred_distinct)), self.worst)
        if refs and preds:
            scores[np.ix_(list(refs), list(preds))] = self._all_with_all(list(refs.values()), list(preds.values()))
        return scores if scores.shape == (len(rows), len(columns)) else scores[np.ix_(rows, columns)]

    def _all_with_all(self, refs: list[Any], preds: list[Any]) -> Any:
        if self.score_matrix is not None:
            return self.score_matrix(refs, preds)
        repeated = [value for value in refs for _ in preds]
        return np.reshape(self.score_pairs(repeated, preds * len(refs)), (len(refs), len(preds)))

    def normalized(self, names: str | Sequence[str]) -> LeafMetric:
        """Return this metric for normalised texts; ``names`` as in :data:`~tls_tasks.text.tokenizers.NORMALIZERS`.

        Example:
            >>> from tls_tasks.trees.leaf_metrics import resolve_metric
            >>> metric = resolve_metric("exact_match").normalized(["lower", "strip"])
            >>> metric.pairs(["Berlin"], [" BERLIN"]), metric.signature
            (array([1.]), 'exact_match(normalize=lower+strip)')
        """
        if not names_of(names):
            return self
        settings = ",".join(filter(None, [self.settings, f"normalize={'+'.join(names_of(names))}"]))
        change, prepare = normalizer(names), self.prepare or (lambda value: value)
        return replace(self, prepare=lambda value: prepare(_with_texts(change, value)), settings=settings)

    def _fit(self, values: Sequence[Any]) -> dict[int, Any]:
        """Return index -> prepared value, for the values that the metric can compare."""
        prepared = values if self.prepare is None else map(self.prepare, values)
        return {index: value for index, value in enumerate(prepared) if value is not UNFIT}

    def _best_answers(self, scores: FloatArray, each: Sequence[Sequence[Any]]) -> FloatArray:
        """Return for each reference the best score over its accepted answers."""
        best = np.maximum if self.higher_is_better else np.minimum
        result: FloatArray = best.reduceat(scores, np.cumsum([0, *map(len, each[:-1])]), axis=0)
        return result


def _answers(references: Sequence[Any]) -> list[Sequence[Any]]:
    return [reference.values if isinstance(reference, AnyOf) else (reference,) for reference in references]


def _distinct(values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[int]]:
    """Return the distinct values in order, and for each value its index among them; 1, 1.0 and True are distinct."""
    keys = list(zip(map(type, values), values, strict=True))
    try:
        indices = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    except TypeError:  # a value can't be hashed
        return values, range(len(values))
    return [value for _, value in indices], [indices[key] for key in keys]


def _with_texts(change: Callable[[str], str], value: Any) -> Any:
    """Return a value with its text changed, and the texts of a list too."""
    if isinstance(value, list | tuple):
        return [_with_texts(change, item) for item in value]
    return change(value) if isinstance(value, str) else value


def _each(score: Callable[[Any, Any], Any], references: Sequence[Any], predictions: Sequence[Any]) -> list[Any]:
    return list(map(score, references, predictions))


def _pair_metric(name: str, prepare: Callable[[Any], Any], score: Callable[[Any, Any], Any], **more: Any) -> LeafMetric:
    """Return a metric from a function of two prepared values (one of this module: metrics are pickled)."""
    return LeafMetric(name, partial(_each, score), prepare, **more)


# --- equality ---


def _value_key(value: Any, *, loose: bool = False) -> Any:
    """Return a key that two values share if and only if they are equal; hashable if the value's parts are.

    Numbers are equal by value, ``1`` and ``1.0``; booleans equal booleans only; NaN equals nothing; lists and
    dictionaries are compared part by part; values of any other class by their own ``==``.

    Args:
        value: Any value.
        loose: Whether ``True`` is 1, as Python and treeval have it.

    Example:
        >>> _value_key(1) == _value_key(1.0), _value_key(1) == _value_key(True), _value_key(1) == _value_key("1")
        (True, False, False)
    """
    if isinstance(value, str):
        return str.__str__(value)  # the text of an Enum's member, where str(value) would name the member
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return ("number" if loose else "boolean", value)
    if isinstance(value, int | float):
        return ("number", value if value == value else object())
    key = partial(_value_key, loose=loose)
    if isinstance(value, list | tuple):
        return ("list", tuple(map(key, value)))
    if isinstance(value, Mapping):
        try:
            return ("dictionary", frozenset((key(name), key(item)) for name, item in value.items()))
        except TypeError:  # an unhashable object of the caller's: the dictionaries themselves are compared
            return ("other", value)
    return value if value is None else ("other", value)


def exact_match(tolerance: float = 0.0) -> LeafMetric:
    """Return the metric that is 1 for equal values, else 0. Types are strict: ``True`` is not 1; 1 and 1.0 are equal.

    Args:
        tolerance: How far two numbers may be apart.

    Raises:
        InputError: A tolerance that is negative or not a number.

    Example:
        >>> exact_match().pairs([1, 1, 5, "a"], [1.0, True, "5", "a"])
        array([1., 0., 0., 1.])
        >>> exact_match(tolerance=0.01).pairs([1.00, 1.00], [1.01, 1.02])
        array([1., 0.])
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not tolerance >= 0:
        raise InputError("tolerance", None, repr(tolerance), "a number from 0")
    if tolerance:
        score = partial(_is_within, float(tolerance))
        return _pair_metric("exact_match", _value_key, score, settings=f"tolerance={tolerance}")
    return _pair_metric("exact_match", _value_key, eq, score_matrix=_equality_matrix)


def _equality_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    """Return 1 or 0 for each pair of keys; each key is hashed once, where that is possible."""
    numbers: dict[Any, int] = {}
    try:
        rows, columns = ([numbers.setdefault(key, len(numbers)) for key in keys] for keys in (references, predictions))
    except TypeError:  # a value can't be hashed, so pairs are compared one by one
        return np.array([[float(reference == key) for key in predictions] for reference in references])
    return np.equal.outer(rows, columns).astype(np.float64)


def _is_within(tolerance: float, reference: Any, prediction: Any) -> float:
    """Return 1 if two keys are equal or two numbers close enough, else 0."""
    if reference != prediction:
        match reference, prediction:
            case ("number", int(left)), ("number", int(right)):
                return float(abs(left - right) <= tolerance)
            case ("number", int() | float() as left), ("number", int() | float() as right):
                left, right = _to_float(left), _to_float(right)
                # 1.01 and 1.00 are .01 apart, but not as floats: some units in the last place are let through
                slack = min(4 * math.ulp(max(abs(left), abs(right))), tolerance / 1000)
                return float(abs(left - right) <= tolerance + slack)
    return float(reference == prediction)


def _treeval_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> Any:
    """Return treeval's exact matches: booleans are numbers, and floats need to be close only.

    A float or boolean prediction is compared with ``numpy.isclose`` (1e-5 of the reference, 1e-8 at least), all others
    by equality.

    Example:
        >>> TREEVAL_METRICS["exact_match"].pairs([1, 1000000.0, 1000000, "a"], [True, 1000005.0, 1000005, "a"])
        array([1., 1., 0., 1.])
    """
    are_close = np.isclose(_floats(predictions, float | bool), _floats(references, int | float))
    return are_close | _each(eq, references, predictions)


def _treeval_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    are_close = np.isclose(_floats(predictions, float | bool)[None, :], _floats(references, int | float)[:, None])
    return np.asarray(np.maximum(are_close, _equality_matrix(references, predictions)))


def _floats(keys: Sequence[Any], kinds: Any) -> FloatArray:
    """Return the numbers of these types that keys stand for, NaN for all other keys."""
    numbers = [key[1] if type(key) is tuple and key[0] == "number" else None for key in keys]
    return np.array([_to_float(number) if isinstance(number, kinds) else math.nan for number in numbers])


# --- numbers ---


def _to_float(number: float) -> float:
    """Return a number as a float; an integer that no float holds becomes infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _number(value: Any) -> Any:
    """Return a finite number as it is; UNFIT for all else, and for booleans."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0
    return value if is_number else UNFIT


def _closeness(reference: float, prediction: float) -> float:
    """Return 1 - |a - b| / max(|a|, |b|), at least 0, and 1 for equal numbers: their distance for their size.

    Example:
        >>> BUILT_IN["number_closeness"].pairs([100, 0, 5, 5], [90, 0, -5, "5"])
        array([0.9, 1. , 0. , 0. ])
    """
    try:
        size = max(abs(reference), abs(prediction))
        return max(1.0 - abs(reference - prediction) / size, 0.0) if size else 1.0
    except OverflowError:  # an integer that no float holds is far from any float
        return 0.0


def _difference(name: str, reference: float, prediction: float) -> float:
    """Return the squared difference (``mse``), the absolute one (``abs_err``) or 1 / (1 + the absolute one)."""
    gap = abs(prediction - reference)
    return {"mse": gap * gap, "abs_err": gap, "num_sim": 1 / (1 + gap)}[name]


def _small_number(value: Any) -> Any:
    """Any number, booleans too: the metrics that are used with treeval have it so."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e150 else UNFIT


# --- dates ---

_read_date = lru_cache(maxsize=10_000)(read_date)  # the dates of a list are weighed and then scored


def _day(value: Any) -> Any:
    """Return (kind, first day, last day) of a date; text that is no date as it is."""
    if isinstance(value, datetime.date):
        return ("day", False), value.toordinal(), 0
    if not isinstance(value, str):
        return UNFIT
    found = _read_date(value)
    if found is None or found.other:
        return value.strip()
    return (found.precision, bool(found.end)), found.date.toordinal(), found.end.toordinal() if found.end else 0


def _day_closeness(reference: Any, prediction: Any) -> float:
    """Return 1 / (1 + days between) of two dates, in any notation with a single reading.

    Times of day don't matter. Two months are compared by their first days, two years and two ranges likewise (of ranges
    both ends count); a day and a month have nothing in common: 0. Text that is no date is met by the same text only.

    Example:
        >>> dates = ["2011-01-25", "2011-01-25", "spring"], ["25 January 2011", "2011-01-26", "spring"]
        >>> BUILT_IN["date_closeness"].pairs(*dates)
        array([1. , 0.5, 1. ])
    """
    if isinstance(reference, str) or isinstance(prediction, str) or reference[0] != prediction[0]:
        return float(reference == prediction)
    return float(1 / (1 + abs(reference[1] - prediction[1]) + abs(reference[2] - prediction[2])))


# --- texts ---


_DISTANCES: Mapping[str, Any] = {"indel_ratio": Indel, "levenshtein_similarity": Levenshtein}


def _edits(name: str, compare: Any, references: Sequence[Any], predictions: Sequence[Any]) -> Any:
    """Return 1 - distance / greatest distance that texts of these lengths can have, for each pair of texts.

    ``indel_ratio`` (what the package Levenshtein calls ``ratio``, and treeval's "levenshtein") counts the insertions
    and deletions that turn one text into the other, ``levenshtein_similarity`` substitutions too. Two empty texts: 1.

    Example:
        >>> [BUILT_IN[name].pairs(["baroo", ""], ["bar", ""]).tolist() for name in _DISTANCES]
        [[0.75, 1.0], [0.6, 1.0]]
    """
    return compare(references, predictions, scorer=_DISTANCES[name].normalized_similarity, dtype=np.float64)


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else UNFIT


def _words(split: Callable[[str], list[str]], value: Any) -> Any:
    return split(value) if isinstance(value, str) else UNFIT


def _spaced_words(value: Any) -> Any:
    if isinstance(value, str) and is_unspaced(value):
        message = "leaf metric 'rouge_l': a text is written without blanks, so that it sees few words: use 'token_f1'"
        warn_caller(message, NonAsciiWarning)
    return _words(whitespace_words, value)


def _n_common(reference: list[str], prediction: list[str]) -> int:
    return (Counter(reference) & Counter(prediction)).total()


def _f1(n_common: Callable[[list[str], list[str]], int], reference: list[str], prediction: list[str]) -> float:
    """Return the F1 of common words (as in SQuAD), or of the longest common subsequence.

    Two texts without words: 1. Unlike in our metric ``rouge_l``, an empty reference is met by an empty prediction only.

    Example:
        >>> BUILT_IN["token_f1"].pairs(["the electric guitar", "drums"], ["Guitar, electric!", ""])
        array([0.8, 0. ])
        >>> BUILT_IN["rouge_l"].pairs(["the cat sat on the mat"], ["the cat sat"])
        array([0.66666667])
    """
    if not (common := n_common(reference, prediction)):
        return float(not reference and not prediction)
    return f_beta(common / len(prediction), common / len(reference))


BUILT_IN: Mapping[str, LeafMetric] = {
    "exact_match": exact_match(),
    **{
        name: LeafMetric(name, partial(_edits, name, cpdist), _text, partial(_edits, name, cdist))
        for name in _DISTANCES
    },
    "token_f1": _pair_metric("token_f1", partial(_words, unicode_words), partial(_f1, _n_common)),
    "rouge_l": _pair_metric("rouge_l", _spaced_words, partial(_f1, LCSseq.similarity)),
    "number_closeness": _pair_metric("number_closeness", _number, _closeness),
    "date_closeness": _pair_metric("date_closeness", _day, _day_closeness),
    **{
        name: _pair_metric(name, _small_number, partial(_difference, name), score_range=limits, higher_is_better=is_up)
        for name, limits, is_up in (("mse", (0, 1), False), ("abs_err", (0, 10), False), ("num_sim", (0, 1), True))
    },
}
"""The metrics by name. ``exact_match`` has an option, see :func:`exact_match`.

The last three are those that are used with treeval; as a measure of numbers ``number_closeness`` is better, since it
has no scale.
"""

TREEVAL_METRICS: Mapping[str, LeafMetric] = {
    "exact_match": LeafMetric("exact_match", _treeval_pairs, partial(_value_key, loose=True), _treeval_matrix),
    "levenshtein": replace(BUILT_IN["indel_ratio"], name="levenshtein"),
}
"""treeval's names for what they mean there; with ``compat="treeval"`` they come before ours."""
