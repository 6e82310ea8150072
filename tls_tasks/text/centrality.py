"""How central each of several texts is: the cosine of its TF-IDF vector with the sum of all of them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from tls_tasks.text.rouge155 import tokenize


def centrality(texts: Sequence[str]) -> list[float]:
    """How central each text is, up to a factor that all share: which is the order of cosines with the centroid.

    Words are those of ROUGE-1.5.5; a word's weight is its count times ``log(1 + n / df)``.

    Example:
        >>> scores = centrality(["Protests in Cairo.", "The army fires at protests in Cairo.", "It rains."])
        >>> scores.index(min(scores))
        2
    """
    vectors = _tf_idf([tokenize(text) for text in texts])
    centre: Counter[str] = Counter()
    for vector in vectors:
        centre.update(vector)
    return [math.fsum(weight * centre[word] for word, weight in vector.items()) for vector in vectors]


def _tf_idf(documents: Sequence[Sequence[str]]) -> list[Mapping[str, float]]:
    """Vectors of length 1: word -> weight."""
    frequency = Counter(word for words in documents for word in set(words))
    vectors: list[Mapping[str, float]] = []
    for words in documents:
        weights = {
            word: count * math.log(1 + len(documents) / frequency[word]) for word, count in Counter(words).items()
        }
        length = math.sqrt(math.fsum(weight**2 for weight in weights.values())) or 1.0
        vectors.append({word: weight / length for word, weight in weights.items()})
    return vectors
