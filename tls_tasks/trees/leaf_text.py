"""Leaf metrics of texts: InDel ratio, normalised Levenshtein, token F1, ROUGE-L."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein
from rapidfuzz.process import cdist, cpdist

from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import summary_tokenizer
from tls_tasks.trees.leaf_base import UNFIT, FloatArray, LeafMetric, metric_of_pairs


def _indel_ratio() -> LeafMetric:
    """1 - d / (len(a) + len(b)), d the insertions and deletions that turn one text into the other; two empty texts: 1.

    It is what the package Levenshtein calls ``ratio``, and treeval's "levenshtein".

    Example:
        >>> _indel_ratio().pairs(["baroo", ""], ["bar", ""])
        array([0.75, 1.  ])
    """
    return _edit_metric("indel_ratio")


def _levenshtein_similarity() -> LeafMetric:
    """1 - d / max(len(a), len(b)), d the insertions, deletions and substitutions; two empty texts: 1.

    Example:
        >>> _levenshtein_similarity().pairs(["baroo", ""], ["bar", ""])
        array([0.6, 1. ])
    """
    return _edit_metric("levenshtein_similarity")


_SCORERS: Mapping[str, Any] = {
    "indel_ratio": Indel.normalized_similarity,
    "levenshtein_similarity": Levenshtein.normalized_similarity,
}


def _edit_metric(name: str) -> LeafMetric:
    pairs, matrix = partial(_edit_pairs, name), partial(_edit_matrix, name)  # by name: they are pickled
    return LeafMetric(name, pairs, _text, matrix, as_is=frozenset({str}))


def _edit_pairs(name: str, references: Sequence[Any], predictions: Sequence[Any]) -> Any:
    return cpdist(references, predictions, scorer=_SCORERS[name], dtype=np.float64)


def _edit_matrix(name: str, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    return np.asarray(cdist(references, predictions, scorer=_SCORERS[name], dtype=np.float64))


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else UNFIT


def _token_f1(tokenizer: str | Tokenizer = "unicode", use_stemmer: bool = False) -> LeafMetric:
    """F1 of the words in common, each as often as it stands in both (as in SQuAD); two texts without words: 1.

    Args:
        tokenizer: As in ``rouge_l``: ``unicode``, ``whitespace``, ``rouge``, or a function: text -> words.
        use_stemmer: Whether words are stemmed.

    Example:
        >>> _token_f1().pairs(["the electric guitar", "drums"], ["Guitar, electric!", ""])
        array([0.8, 0. ])
    """
    prepare = partial(_words, summary_tokenizer(tokenizer, use_stemmer))
    return metric_of_pairs("token_f1", prepare, _common_f1, _settings(tokenizer, "unicode", use_stemmer))


def _rouge_l(tokenizer: str | Tokenizer = "whitespace", use_stemmer: bool = False) -> LeafMetric:
    """F1 of the longest common subsequence of words, as in our ``rouge_l``; two texts without words: 1.

    Unlike there, an empty reference is met by an empty prediction only.

    Args:
        tokenizer: As in ``rouge_l``.
        use_stemmer: Whether words are stemmed.

    Example:
        >>> _rouge_l().pairs(["the cat sat on the mat"], ["the cat sat"])
        array([0.66666667])
    """
    prepare = partial(_words, summary_tokenizer(tokenizer, use_stemmer))
    return metric_of_pairs("rouge_l", prepare, _subsequence_f1, _settings(tokenizer, "whitespace", use_stemmer))


def _words(tokenizer: Tokenizer, value: Any) -> Any:
    return list(tokenizer(value)) if isinstance(value, str) else UNFIT


def _settings(tokenizer: str | Tokenizer, default: str, use_stemmer: bool) -> str:
    name = getattr(tokenizer, "__qualname__", tokenizer)
    changed = [f"tokenizer={name}"] if tokenizer != default else []
    return ",".join([*changed, *(["use_stemmer=True"] if use_stemmer else [])])


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
    "indel_ratio": _indel_ratio,
    "levenshtein_similarity": _levenshtein_similarity,
    "token_f1": _token_f1,
    "rouge_l": _rouge_l,
}
"""Name -> the function that makes the metric."""
