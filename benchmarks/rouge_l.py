"""Time rouge_l against rouge_score, rouge-score-rs and context-bench's algorithm, side by side in one run.

    make bench
    python benchmarks/run.py rouge_l

The 300 pairs are passages from the articles of the embedded edition, two of the same topic; the long texts are made up
by a seeded rule, with words as rare and as frequent as in news. Each side reads the same texts and must give the same
F, which is checked. context-bench's evaluators aren't on the package index, so that its algorithm (words between
blanks, two rows of the table) is written down here. rouge-score-rs is written in Rust and quicker than this package;
its threads' processor time counts. Needs the extra ``bench``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from benchmarks.run import ROOT, Comparison, in_a_process, versus
from tls_tasks.summaries.rouge_l import rouge_l

Pair = tuple[str, str]
Work = Callable[[Sequence[Pair]], list[float]]
Values = Callable[[], list[float]]
WORDS_OF_A_SENTENCE = 25
EMBEDDED = ROOT / "tls_tasks" / "data" / "embedded"


def make_short(generator: random.Random, n_pairs: int, n_predicted: int, n_reference: int) -> list[Pair]:
    """Pairs of passages of one topic, one sentence of 25 words a line."""
    topics = []
    for path in sorted(EMBEDDED.glob("tls_*/*/articles.jsonl")):
        articles = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        topics.append(" ".join(sentence for article in articles for sentence in article["sentences"]).split())
    pairs = []
    for words in generator.choices(topics, k=n_pairs):
        left, right = (generator.randrange(len(words) - size) for size in (n_predicted, n_reference))
        pairs.append((_lines(words[left : left + n_predicted]), _lines(words[right : right + n_reference])))
    return pairs


def make_long(n_words: int) -> Pair:
    """A pair of long texts with words as frequent as in news."""
    generator = random.Random(n_words)
    vocabulary = [f"word{number}" for number in range(5000)]
    weights = [1 / (rank + 1) for rank in range(5000)]
    left, right = (generator.choices(vocabulary, weights, k=n_words) for _ in range(2))
    return _lines(left), _lines(right)


def _lines(words: Sequence[str]) -> str:
    starts = range(0, len(words), WORDS_OF_A_SENTENCE)
    return "\n".join(" ".join(words[start : start + WORDS_OF_A_SENTENCE]) for start in starts)


def two_rows(pairs: Sequence[Pair]) -> list[float]:
    """F by context-bench's algorithm."""
    values = []
    for prediction, reference in pairs:
        left, right = prediction.lower().split(), reference.lower().split()
        length = two_row_length(left, right)
        precision, recall = length / len(left), length / len(right)
        values.append(2 * precision * recall / (precision + recall) if length else 0.0)
    return values


def two_row_length(left: Sequence[str], right: Sequence[str]) -> int:
    """How long the longest common subsequence is, by two rows of a table, cell by cell as in the original."""
    above = [0] * (len(right) + 1)
    row = [0] * (len(right) + 1)
    for i in range(len(left)):
        for j in range(len(right)):
            if left[i] == right[j]:
                row[j + 1] = above[j] + 1
            else:
                row[j + 1] = max(row[j], above[j + 1])
        above, row = row, above
    return above[-1]


def rouge_score(rouge_type: str, use_stemmer: bool) -> Work:
    """F by the package rouge_score."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([rouge_type], use_stemmer=use_stemmer)
    return lambda pairs: [scorer.score(reference, prediction)[rouge_type].fmeasure for prediction, reference in pairs]


def rouge_score_rs(rouge_type: str, use_stemmer: bool) -> Work:
    """F by the package rouge-score-rs, one call for all pairs."""
    from rouge_score_rs.rouge_scorer import RougeScorer

    scorer = RougeScorer([rouge_type], use_stemmer=use_stemmer)

    def work(pairs: Sequence[Pair]) -> list[float]:
        predictions, references = zip(*pairs, strict=True)
        return [row[rouge_type].fmeasure for row in scorer.score_batch(list(references), list(predictions))]

    return work


def ours(rouge_type: str = "rougeL", tokenizer: str = "whitespace", use_stemmer: bool = False) -> Work:
    """F by this package, one call for all pairs."""

    def work(pairs: Sequence[Pair]) -> list[float]:
        score = rouge_l(
            [prediction for prediction, _ in pairs],
            [reference for _, reference in pairs],
            rouge_types=(rouge_type,),
            tokenizer=tokenizer,
            use_stemmer=use_stemmer,
            use_aggregator=False,
        )
        values: list[float] = next(v for key, v in score.as_dict().items() if key.endswith("_f1"))
        return values

    return work


@cache
def short() -> list[Pair]:
    """300 pairs of passages."""
    return make_short(random.Random(2004), 300, 120, 150)


def sides(peer: Callable[[], Work], mine: Work, make: Callable[[], list[Pair]]) -> tuple[Values, Values]:
    """The peer's call and ours."""
    pairs = make()
    return partial(peer(), pairs), partial(mine, pairs)


def comparisons() -> Iterator[Comparison]:
    """What is compared."""
    made, call = "bench.make_long(50_000)", "bench.ours()([made])"
    yield from in_a_process("50,000 x 50,000 words, as in news", "rouge_l", made, call, (0.6, 60))
    kinds = {"rougeL": ("rougeL", False), "rougeL, stems": ("rougeL", True), "rougeLsum": ("rougeLsum", False)}
    for what, make, goals in (
        ("300 pairs of 120 x 150 words", short, {"rougeL": 60, "rougeL, stems": 60, "rougeLsum": 10}),
        ("1 pair of 5,000 x 5,000 words", lambda: [make_long(5000)], {"rougeL": 1000, "rougeLsum": 10}),
    ):
        if make is short:
            two = partial(sides, lambda: two_rows, ours(), make)
            yield versus(what, "context-bench's two rows", two, goals["rougeL"])
        for label, goal in goals.items():
            kind, stems = kinds[label]
            both = partial(sides, partial(rouge_score, kind, stems), ours(kind, "rouge", stems), make)
            yield versus(what, f"rouge_score {label}", both, goal)
            both = partial(sides, partial(rouge_score_rs, kind, stems), ours(kind, "rouge", stems), make)
            yield versus(what, f"rouge-score-rs {label}", both, note="none: below 1 it is quicker")
