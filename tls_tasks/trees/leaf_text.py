"""Leaf metrics of texts: InDel ratio, normalised Levenshtein, token F1, ROUGE-L."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein
from rapidfuzz.process import cdist, cpdist

from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import summary_tokenizer
from tls_tasks.trees.leaf_base import TEXT_TYPES, FloatArray, LeafMetric, Scorer, of_distinct, overlaps


def is_text(value: Any) -> bool:
    """Whether a value is a str."""
    return isinstance(value, str)


def _text_metric(name: str, pairs: Scorer, matrix: Scorer, settings: str = "") -> LeafMetric:
    return LeafMetric(name, pairs, partial(of_distinct, matrix), is_text, TEXT_TYPES, settings=settings)


def _fuzz_pairs(scorer: Callable[..., Any], references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    return np.asarray(cpdist(references, predictions, scorer=scorer, dtype=np.float64))


def _fuzz_matrix(scorer: Callable[..., Any], references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    return np.asarray(cdist(references, predictions, scorer=scorer, dtype=np.float64))


def _fuzz_metric(name: str, scorer: Callable[..., Any]) -> LeafMetric:
    metric = _text_metric(name, partial(_fuzz_pairs, scorer), partial(_fuzz_matrix, scorer))
    return replace(metric, score_pair=scorer)


def indel_ratio() -> LeafMetric:
    """1 - d / (len(a) + len(b)), d the insertions and deletions that turn one text into the other; two empty texts: 1.

    It is what the package Levenshtein calls ``ratio``, and treeval's "levenshtein".

    Example:
        >>> indel_ratio().pairs(["baroo", ""], ["bar", ""])
        array([0.75, 1.  ])
    """
    return _fuzz_metric("indel_ratio", Indel.normalized_similarity)


def levenshtein_similarity() -> LeafMetric:
    """1 - d / max(len(a), len(b)), d the insertions, deletions and substitutions; two empty texts: 1.

    Example:
        >>> levenshtein_similarity().pairs(["baroo", ""], ["bar", ""])
        array([0.6, 1. ])
    """
    return _fuzz_metric("levenshtein_similarity", Levenshtein.normalized_similarity)


def _settings(**options: tuple[Any, Any]) -> str:
    """Options that differ from their defaults: name -> (value, default)."""
    changed = {name: value for name, (value, default) in options.items() if value != default}
    return ",".join(f"{name}={getattr(value, '__qualname__', value)}" for name, value in changed.items())


def token_f1(tokenizer: str | Tokenizer = "unicode", use_stemmer: bool = False) -> LeafMetric:
    """F1 of the words in common, each as often as it stands in both (as in SQuAD); two texts without words: 1.

    Args:
        tokenizer: As in ``rouge_l``: ``unicode``, ``whitespace``, ``rouge``, or a function: text -> words.
        use_stemmer: Whether words are stemmed.

    Example:
        >>> token_f1().pairs(["the electric guitar", "drums"], ["Guitar, electric!", ""])
        array([0.8, 0. ])
    """
    words = summary_tokenizer(tokenizer, use_stemmer)
    settings = _settings(tokenizer=(tokenizer, "unicode"), use_stemmer=(use_stemmer, False))
    return _text_metric("token_f1", partial(_token_pairs, words), partial(_token_matrix, words), settings)


def _token_pairs(words: Tokenizer, references: Sequence[str], predictions: Sequence[str]) -> FloatArray:
    left, right = [list(words(text)) for text in references], [list(words(text)) for text in predictions]
    common = [(Counter(one) & Counter(other)).total() for one, other in zip(left, right, strict=True)]
    return _f1(np.array(common, dtype=np.float64), _lengths(left), _lengths(right))


def _token_matrix(words: Tokenizer, references: Sequence[str], predictions: Sequence[str]) -> FloatArray:
    left, right = [list(words(text)) for text in references], [list(words(text)) for text in predictions]
    common = overlaps(map(_numbered, left), map(_numbered, right))
    return _f1(common, _lengths(left)[:, None], _lengths(right)[None, :])


def _numbered(words: Sequence[str]) -> list[tuple[str, int]]:
    """Each word with how often it stood before, so that sets of them count repeated words."""
    seen: Counter[str] = Counter()
    numbered = []
    for word in words:
        numbered.append((word, seen[word]))
        seen[word] += 1
    return numbered


def _lengths(texts: Sequence[Sequence[Any]]) -> FloatArray:
    return np.array([len(text) for text in texts], dtype=np.float64)


def _f1(common: FloatArray, reference: FloatArray, predicted: FloatArray) -> FloatArray:
    """F1 of what is common, of as many in the reference and predicted; 1 where there is nothing in both."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = common / predicted, common / reference
        scores = 2 * precision * recall / (precision + recall)
    scores = np.where(common > 0, scores, 0.0)
    return np.where((reference == 0) & (predicted == 0), 1.0, scores)


def rouge_l(tokenizer: str | Tokenizer = "whitespace", use_stemmer: bool = False) -> LeafMetric:
    """F1 of the longest common subsequence of words, as in our ``rouge_l``; two texts without words: 1.

    Unlike there, an empty reference is met by an empty prediction only.

    Args:
        tokenizer: As in ``rouge_l``.
        use_stemmer: Whether words are stemmed.

    Example:
        >>> rouge_l().pairs(["the cat sat on the mat"], ["the cat sat"])
        array([0.66666667])
    """
    words = summary_tokenizer(tokenizer, use_stemmer)
    settings = _settings(tokenizer=(tokenizer, "whitespace"), use_stemmer=(use_stemmer, False))
    return _text_metric("rouge_l", partial(_rouge_pairs, words), partial(_rouge_matrix, words), settings)


def _rouge_pairs(words: Tokenizer, references: Sequence[str], predictions: Sequence[str]) -> FloatArray:
    left, right = _word_numbers(words, references, predictions)
    return _f1(_fuzz_pairs(LCSseq.similarity, left, right), _lengths(left), _lengths(right))


def _rouge_matrix(words: Tokenizer, references: Sequence[str], predictions: Sequence[str]) -> FloatArray:
    left, right = _word_numbers(words, references, predictions)
    return _f1(_fuzz_matrix(LCSseq.similarity, left, right), _lengths(left)[:, None], _lengths(right)[None, :])


def _word_numbers(
    words: Tokenizer, references: Sequence[str], predictions: Sequence[str]
) -> tuple[list[array[int]], list[array[int]]]:
    """The words of each text as numbers, which compare quicker than words."""
    numbers: dict[str, int] = {}
    left, right = (
        [array("Q", [numbers.setdefault(word, len(numbers)) for word in words(text)]) for text in texts]
        for texts in (references, predictions)
    )
    return left, right
