"""The built-in leaf metrics: of any value (equality), numbers, dates and texts."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import eq
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein
from rapidfuzz.process import cdist, cpdist

from tls_tasks.core.errors import InputError
from tls_tasks.text.dates import read_date
from tls_tasks.text.tokenizers import unicode_words, whitespace_words
from tls_tasks.trees.leaf_base import UNFIT, FloatArray, LeafMetric


def _value_key(value: Any, *, loose: bool = False) -> Any:
    """What two values have in common if and only if they are equal; hashable if the value's parts are.

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
    if isinstance(value, bool | np.bool_):
        return ("number" if loose else "boolean", bool(value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | float):
        return ("number", value if value == value else object())
    if isinstance(value, list | tuple):
        return ("list", tuple(_value_key(item, loose=loose) for item in value))
    if isinstance(value, Mapping):
        items = [(_value_key(key, loose=loose), _value_key(item, loose=loose)) for key, item in value.items()]
        try:
            return ("dictionary", frozenset(items))
        except TypeError:  # an unhashable object of the caller's: the dictionaries themselves are compared
            return ("other", value)
    return value if value is None else ("other", value)


def _exact_match(tolerance: float = 0.0) -> LeafMetric:
    """1 where two values are equal, else 0. Types are strict: ``True`` is not 1, ``"5"`` is not 5; 1 and 1.0 are equal.

    Args:
        tolerance: How far two numbers may be apart.

    Raises:
        InputError: A tolerance that is negative or not a number.

    Example:
        >>> _exact_match().pairs([1, 1, 5, "a"], [1.0, True, "5", "a"])
        array([1., 0., 0., 1.])
        >>> _exact_match(tolerance=0.01).pairs([1.00, 1.00], [1.01, 1.02])
        array([1., 0.])
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not tolerance >= 0:
        raise InputError("tolerance", None, repr(tolerance), "a number from 0")
    if tolerance:
        score = partial(_is_within, float(tolerance))
        return _metric_of_pairs("exact_match", _value_key, score, f"tolerance={tolerance}")
    return LeafMetric("exact_match", _equal_pairs, _value_key, _equality_matrix)


def _treeval_exact_match() -> LeafMetric:
    """Exact match as treeval has it: by the prediction's type. Booleans are numbers; floats need to be close only.

    A float or boolean prediction is compared with ``numpy.isclose`` (1e-5 of the reference, 1e-8 at least), all others
    by equality.

    Example:
        >>> _treeval_exact_match().pairs([1, 1000000.0, 1000000, "a"], [True, 1000005.0, 1000005, "a"])
        array([1., 1., 0., 1.])
    """
    return LeafMetric("exact_match", _treeval_pairs, partial(_value_key, loose=True), _treeval_matrix)


def _equal_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> list[bool]:
    return list(map(eq, references, predictions))


def _equality_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    """One comparison of numbers a pair, whatever the values are."""
    numbers: dict[Any, int] = {}
    try:
        left, right = (
            np.array([numbers.setdefault(key, len(numbers)) for key in keys]) for keys in (references, predictions)
        )
    except TypeError:  # an unhashable value: compare pair by pair
        return np.array([[float(reference == key) for key in predictions] for reference in references])
    return np.asarray(left[:, None] == right[None, :], dtype=np.float64)


def _is_within(tolerance: float, reference: Any, prediction: Any) -> float:
    """Whether two keys are equal, or two numbers close enough."""
    if reference == prediction or not (_is_number_key(reference) and _is_number_key(prediction)):
        return float(reference == prediction)
    left, right = reference[1], prediction[1]
    if isinstance(left, int) and isinstance(right, int):
        return float(abs(left - right) <= tolerance)
    left, right = _as_float(left), _as_float(right)
    # 1.01 and 1.00 are .01 apart, but not as floats: some units in the last place are let through
    slack = min(4 * math.ulp(max(abs(left), abs(right))), tolerance / 1000)
    return float(abs(left - right) <= tolerance + slack)


def _is_number_key(key: Any) -> bool:
    return isinstance(key, tuple) and key[0] == "number" and _is_number(key[1])


def _treeval_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> Any:
    are_equal = _equal_pairs(references, predictions)
    given = _floats(predictions, float | bool)
    if np.isnan(given).all():
        return are_equal
    return np.isclose(given, _floats(references, int | float), rtol=1e-5, atol=1e-8) | are_equal


def _treeval_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    wanted, given = _floats(references, int | float)[:, None], _floats(predictions, float | bool)[None, :]
    are_close = np.isclose(given, wanted, rtol=1e-5, atol=1e-8)
    return np.asarray(np.maximum(are_close, _equality_matrix(references, predictions)))


def _floats(keys: Sequence[Any], kinds: Any) -> FloatArray:
    """The numbers of these types that keys stand for, NaN for all other keys."""
    numbers = [key[1] if type(key) is tuple and key[0] == "number" else None for key in keys]
    return np.array([_as_float(number) if isinstance(number, kinds) else math.nan for number in numbers])


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number; booleans aren't.

    Example:
        >>> _is_number(1), _is_number(True), _is_number(float("nan"))
        (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


def _number(value: Any) -> Any:
    return value if _is_number(value) else UNFIT


def _as_float(number: float) -> float:
    """The number as a float; an integer that no float holds becomes infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _number_closeness() -> LeafMetric:
    """1 - |a - b| / max(|a|, |b|), at least 0: how far two numbers are apart for their size. 1 if they are equal.

    Example:
        >>> _number_closeness().pairs([100, 0, 5, 5], [90, 0, -5, "5"])
        array([0.9, 1. , 0. , 0. ])
    """
    return _metric_of_pairs("number_closeness", _number, _closeness)


def _closeness(reference: float, prediction: float) -> float:
    try:
        size = max(abs(reference), abs(prediction))
        return max(1.0 - abs(reference - prediction) / size, 0.0) if size else 1.0
    except OverflowError:  # an integer that no float holds is far from any float
        return 0.0


def _difference(name: str, score_range: tuple[float, float], higher_is_better: bool = False) -> LeafMetric:
    """A metric of the difference of two numbers, as they are used with treeval; booleans are numbers there.

    Args:
        name: ``mse`` (its square), ``abs_err`` (its size) or ``num_sim`` (1 / (1 + its size)).
        score_range: treeval's, whatever the numbers are: beyond it scores are clipped.
        higher_is_better: Direction.
    """
    metric = _metric_of_pairs(name, _small_number, partial(_score_of_difference, name))
    return replace(metric, score_range=score_range, higher_is_better=higher_is_better)


def _small_number(value: Any) -> Any:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e150 else UNFIT


def _score_of_difference(name: str, reference: float, prediction: float) -> float:
    gap = abs(prediction - reference)
    return {"mse": gap * gap, "abs_err": gap, "num_sim": 1 / (1 + gap)}[name]


def _date_closeness() -> LeafMetric:
    """1 / (1 + days between), of two dates in any notation that can be read in one way only.

    Times of day don't matter. Two months are compared by their first days, two years and two ranges likewise (of ranges
    both ends count); a day and a month have nothing in common: 0. Text that is no date is met by the same text only.

    Example:
        >>> _date_closeness().pairs(["2011-01-25", "2011-01-25", "spring"], ["25 January 2011", "2011-01-26", "spring"])
        array([1. , 0.5, 1. ])
    """
    return _metric_of_pairs("date_closeness", _day, _day_closeness)


def _day(value: Any) -> Any:
    """What is compared of a date: its precision, first and last day; of text that is no date the text itself."""
    if isinstance(value, datetime.date):
        return "day", value.toordinal(), None
    if not isinstance(value, str):
        return UNFIT
    found = read_date(value)
    if found is None or found.other:
        return value.strip()
    return found.precision, found.date.toordinal(), found.end and found.end.toordinal()


def _day_closeness(reference: Any, prediction: Any) -> float:
    are_dates = isinstance(reference, tuple) and isinstance(prediction, tuple)
    if not are_dates or reference[0] != prediction[0] or (reference[2] is None) != (prediction[2] is None):
        return float(reference == prediction)
    gap: int = abs(reference[1] - prediction[1]) + abs((reference[2] or 0) - (prediction[2] or 0))
    return 1.0 / (1.0 + gap)


# --- texts ---


_SCORERS: Mapping[str, Any] = {
    "indel_ratio": Indel.normalized_similarity,
    "levenshtein_similarity": Levenshtein.normalized_similarity,
}


def _edit_metric(name: str) -> LeafMetric:
    """1 minus a distance of two texts, as a part of the greatest that texts of their lengths can have.

    ``indel_ratio`` (what the package Levenshtein calls ``ratio``, and treeval's "levenshtein") counts the insertions
    and deletions that turn one text into the other, ``levenshtein_similarity`` substitutions too. Two empty texts: 1.

    Example:
        >>> [_edit_metric(name).pairs(["baroo", ""], ["bar", ""]).tolist() for name in _SCORERS]
        [[0.75, 1.0], [0.6, 1.0]]
    """
    pairs, matrix = partial(_edit_pairs, name), partial(_edit_matrix, name)  # by name: they are pickled
    return LeafMetric(name, pairs, _text, matrix)


def _edit_pairs(name: str, references: Sequence[Any], predictions: Sequence[Any]) -> Any:
    return cpdist(references, predictions, scorer=_SCORERS[name], dtype=np.float64)


def _edit_matrix(name: str, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    return np.asarray(cdist(references, predictions, scorer=_SCORERS[name], dtype=np.float64))


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else UNFIT


def _token_f1() -> LeafMetric:
    """F1 of the words in common, each as often as it stands in both (as in SQuAD); two texts without words: 1.

    Example:
        >>> _token_f1().pairs(["the electric guitar", "drums"], ["Guitar, electric!", ""])
        array([0.8, 0. ])
    """
    return _metric_of_pairs("token_f1", partial(_words, unicode_words), _common_f1)


def _rouge_l() -> LeafMetric:
    """F1 of the longest common subsequence of words, as in our ``rouge_l``; two texts without words: 1.

    Unlike there, an empty reference is met by an empty prediction only.

    Example:
        >>> _rouge_l().pairs(["the cat sat on the mat"], ["the cat sat"])
        array([0.66666667])
    """
    return _metric_of_pairs("rouge_l", partial(_words, whitespace_words), _subsequence_f1)


def _words(split: Callable[[str], list[str]], value: Any) -> Any:
    return split(value) if isinstance(value, str) else UNFIT


def _common_f1(reference: list[str], prediction: list[str]) -> float:
    return _f1((Counter(reference) & Counter(prediction)).total(), len(reference), len(prediction))


def _subsequence_f1(reference: list[str], prediction: list[str]) -> float:
    return _f1(LCSseq.similarity(reference, prediction), len(reference), len(prediction))


def _f1(common: int, n_reference: int, n_predicted: int) -> float:
    if not common:
        return float(n_reference == n_predicted == 0)
    precision, recall = common / n_predicted, common / n_reference
    return 2 * precision * recall / (precision + recall)


def _metric_of_pairs(
    name: str, prepare: Callable[[Any], Any], score: Callable[[Any, Any], float], settings: str = ""
) -> LeafMetric:
    """A metric by a function of two prepared values, 1 the best score and 0 the worst."""
    return LeafMetric(name, partial(_each, score), prepare, settings=settings)


def _each(score: Callable[[Any, Any], float], references: Sequence[Any], predictions: Sequence[Any]) -> list[float]:
    return list(map(score, references, predictions))


BUILT_IN: Mapping[str, Callable[..., LeafMetric]] = {
    "exact_match": _exact_match,
    **{name: partial(_edit_metric, name) for name in _SCORERS},
    "token_f1": _token_f1,
    "rouge_l": _rouge_l,
    "number_closeness": _number_closeness,
    "date_closeness": _date_closeness,
    "mse": partial(_difference, "mse", (0, 1)),
    "abs_err": partial(_difference, "abs_err", (0, 10)),
    "num_sim": partial(_difference, "num_sim", (0, 1), higher_is_better=True),
}
"""Name -> the function that makes the metric; its parameters are the metric's options.

The last three are those that are used with treeval; as a measure of numbers ``number_closeness`` is better, since it
has no scale.
"""

TREEVAL_METRICS: Mapping[str, Callable[..., LeafMetric]] = {
    "exact_match": _treeval_exact_match,
    "levenshtein": lambda: replace(BUILT_IN["indel_ratio"](), name="levenshtein"),
}
"""treeval's names for what they mean there; with ``compat="treeval"`` they come before ours."""
