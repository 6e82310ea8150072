"""Leaf metrics of texts: InDel ratio, normalised Levenshtein, token F1, ROUGE-L."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein
from rapidfuzz.process import cdist, cpdist

from tls_tasks.text.tokenizers import unicode_words, whitespace_words
from tls_tasks.trees.leaf_base import UNFIT, FloatArray, LeafMetric, metric_of_pairs

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
    return LeafMetric(name, pairs, _text, matrix, as_is=frozenset({str}))


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
    return metric_of_pairs("token_f1", partial(_words, unicode_words), _common_f1)


def _rouge_l() -> LeafMetric:
    """F1 of the longest common subsequence of words, as in our ``rouge_l``; two texts without words: 1.

    Unlike there, an empty reference is met by an empty prediction only.

    Example:
        >>> _rouge_l().pairs(["the cat sat on the mat"], ["the cat sat"])
        array([0.66666667])
    """
    return metric_of_pairs("rouge_l", partial(_words, whitespace_words), _subsequence_f1)


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


TEXT_METRICS: Mapping[str, Callable[..., LeafMetric]] = {
    **{name: partial(_edit_metric, name) for name in _SCORERS},
    "token_f1": _token_f1,
    "rouge_l": _rouge_l,
}
"""Name -> the function that makes the metric."""
