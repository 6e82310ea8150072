"""rouge_l: ROUGE-L of summaries, the longest common subsequence of words, with the tokeniser of your choice.

Originals: context-bench's ``rouge_l`` (words between blanks; the defaults here) and rouge_score 0.1.2 (``tokenizer``
``rouge``, with or without stemming, rougeLsum with its clipped union, rouge1 and rouge2). Source: Lin, ROUGE: A Package
for Automatic Evaluation of Summaries, 2004, sections 2 and 3. F is 2PR / (P + R), as both compute it.
"""

import textwrap
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tls_tasks.core import options
from tls_tasks.core.errors import InputError, check_choice, check_switches, first_rows, warn_caller, warn_of_unread
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.score import Counts, Item, Result, Score, prf_of_means, prf_unit
from tls_tasks.core.terminal import shown
from tls_tasks.summaries.read import parse_summary
from tls_tasks.summaries.rows import read_rows
from tls_tasks.text.lcs import lcs_length, union_lcs
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import Splitter, resolve_splitter, summary_tokenizer, warn_of_unseen

VERSION = 1

_NGRAMS = {"rouge1": 1, "rouge2": 2}
"""ROUGE type -> how many neighbouring words are counted together, in any order."""

_PREFIXES = {"rougeL": "rouge_l", "rougeLsum": "rouge_lsum", **{name: name for name in _NGRAMS}}
"""ROUGE type -> prefix of its result keys. rougeL takes a text as one sequence, rougeLsum sentence by sentence."""

_EMPTY_REFERENCE = ("one", "zero")
"""The score against a reference without characters: 1 as in context-bench's evaluator, or 0 as in its function."""

_READ = ("text", "answer")
"""The part of a prediction that is scored."""

Sentences = Sequence[Sequence[Hashable]]
Readers = Mapping[str, Callable[[str], Sentences]]


class EmptyReferenceWarning(UserWarning):
    """Some references have no characters, and with ``empty_reference="one"`` any answer scores 1 against them."""


@dataclass(frozen=True, slots=True)
class _RougeLConfig:
    """The settings of :func:`rouge_l`, as its signature gives them."""

    read: str = "text"
    rouge_types: str = field(default="rougeL", metadata={"sign": "types"})
    tokenizer: str | Tokenizer = field(default="whitespace", metadata={"sign": "tok"})
    use_stemmer: bool = field(default=False, metadata={"sign": "stem"})
    split_summaries: str | Splitter | None = field(default=None, metadata={"sign": "split", "quiet": None})
    empty_reference: str = field(default="one", metadata={"sign": "empty"})
    references: str = field(default="best", metadata={"sign": "refs", "of": ()})
    aggregate: str = field(default="mean_f", metadata={"sign": "agg", "of": ("use_aggregator",)})
    interval: str = field(default="", metadata={"sign": "ci", "quiet": "", "of": options.INTERVAL})


@options.signed_by(_RougeLConfig, data=("predictions", "references"))
def rouge_l(
    predictions: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    read: str = "text",
    tokenizer: str | Tokenizer = "whitespace",
    use_stemmer: bool = False,
    rouge_types: Sequence[str] = ("rougeL",),
    split_summaries: str | Splitter = "newline",
    empty_reference: str = "one",
    use_aggregator: bool = True,
    confidence_interval: float | None = None,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> Score:
    r"""Score summaries by their longest common subsequence of words with a reference.

    Args:
        predictions: One text per row; None is no answer, and scores 0.
        references: One text per row, or a list of them: the one with the greatest F counts, the first of ties.
        read: The part of a prediction that is scored: all its ``text``, or the ``answer`` in a model's text, as the
            tasks read it: without reasoning, fences, announcements and closing remarks.
        tokenizer: ``whitespace`` (lower case, punctuation stays attached), ``rouge`` (rouge_score's a-z and 0-9),
            ``unicode`` (words of any script, Chinese and Japanese by character), or a function: text -> words.
        use_stemmer: Whether words of more than three letters are stemmed by nltk's Porter stemmer.
        rouge_types: A list of ``rougeL``, ``rougeLsum``, ``rouge1`` (words in any order) and ``rouge2`` (pairs of
            neighbouring words in any order).
        split_summaries: Where rougeLsum's sentences end: ``newline``, ``regex`` (also after . ! ? 。), or a
            function: text -> sentences.
        empty_reference: The score against a reference without characters, ``one`` or ``zero``. A reference with
            characters but no words scores 0.
        use_aggregator: False gives lists with one value per row instead of means.
        confidence_interval: Coverage of an interval of each mean over rows, for example 0.95.
        n_resamples: Resamples of a bootstrap, which is made of 100 rows or more.
        seed: Seed of the bootstrap.

    Returns:
        ``rouge_l_precision``, ``rouge_l_recall``, ``rouge_l_f1`` in [0, 1], each the mean over the rows; the same as
        ``rouge_lsum_…``, ``rouge1_…``, ``rouge2_…`` for the other types; ``<key>_ci`` ([low, high]) where asked for.
        See :class:`~tls_tasks.core.score.Score`.

    Raises:
        InputError: Rows that can't be scored, naming index and field.
        OptionError: An option that doesn't exist.

    Warns:
        NonAsciiWarning: The tokeniser finds few or no words in some rows, which are written in another script.
        ParseFailureWarning: Predictions that are None.
        EmptyReferenceWarning: A reference without characters gives 1 to any answer.

    Example:
        >>> score = rouge_l(["the cat sat"], ["the cat sat on the mat"])
        >>> score.as_dict()["rouge_l_recall"], score.as_dict()["rouge_l_f1"]
        (0.5, 0.6666666666666666)
        >>> print(score.explain(0))
        rouge_l, row 0: rouge_l_f1 0.6667
          3 words in common of 3 predicted and 6 in reference 0
          reference  [the] [cat] [sat] on the mat
          predicted  [the] [cat] [sat]
        >>> score.signature
        'rouge_l|read:text|types:rougeL|tok:whitespace|stem:no|empty:one|refs:best|agg:mean_f|v:1'
        >>> rouge_l(["a b\nc d"], ["c d\na b"], rouge_types=["rougeLsum"]).as_dict()["rouge_lsum_f1"]
        1.0
        >>> pairs = rouge_l(["the cat sat"], ["the cat sat on the mat"], rouge_types=["rouge1", "rouge2"]).as_dict()
        >>> pairs["rouge1_recall"], pairs["rouge2_recall"]
        (0.5, 0.4)
    """
    types = _check_types(rouge_types)
    check_choice("read", read, _READ)
    check_choice("empty_reference", empty_reference, _EMPTY_REFERENCE)
    check_switches(use_stemmer=use_stemmer, use_aggregator=use_aggregator)
    interval = options.interval_options(confidence_interval, n_resamples, seed, has_mean=use_aggregator)
    words = summary_tokenizer(tokenizer, use_stemmer)
    split = resolve_splitter(split_summaries)
    readers: Readers = {
        "rouge_l": lambda text: [words(text)],
        "rouge_lsum": lambda text: [words(sentence) for sentence in split(text)],
        "rouge1": lambda text: [words(text)],
        "rouge2": lambda text: [_ngrams(words(text), 2)],
    }
    readers = {_PREFIXES[name]: readers[_PREFIXES[name]] for name in types}
    split_name = split_summaries if "rougeLsum" in types else None
    config = _RougeLConfig(
        *(read, ",".join(types), tokenizer, use_stemmer, split_name, empty_reference),
        aggregate="mean_f" if use_aggregator else "none",
        interval=options.interval_sign(interval),
    )
    signed = options.signature("rouge_l", config, VERSION)  # before any function of the caller is called
    rows = read_rows(predictions, references)
    answers = [parse_summary(prediction) if read == "answer" else Parsed(prediction) for prediction, _ in rows]
    rows = [(answer.value, texts) for answer, (_, texts) in zip(answers, rows, strict=True)]
    unread = [row for row, (prediction, _) in enumerate(rows) if prediction is None]
    warn_of_unread(unread, len(rows), "summaries")
    warn_of_unseen(tokenizer, [(prediction or "", *texts) for prediction, texts in rows])
    if empty_reference == "one":
        _warn_of_empty([texts for _, texts in rows])
    items = tuple(_item(row, texts, readers, empty_reference) for row, texts in enumerate(rows))
    # A caller's tokenizer may not be picklable, so that explanations get its words instead of the function.
    explained: tuple[Tokenizer, Sequence[Any]] = words, rows
    if not isinstance(tokenizer, str):
        explained = list, [(words(text or ""), [*map(words, texts)]) for text, texts in rows]
    return Score(
        metric="rouge_l",
        signature=signed,
        units=[prf_unit(item.counts) for item in items],
        definitions=results(*readers),
        items=items,
        as_lists=not use_aggregator,
        interval=interval,
        problems={row: kinds for row, answer in enumerate(answers) if (kinds := answer.kinds())}
        | {row: {"no_answer": 1} for row in unread},
        parse_failures=len(unread),
        explanation=partial(_explanation, *explained),
    )


def _warn_of_empty(references: Sequence[Sequence[str]]) -> None:
    """Warn if a row has a reference without any characters."""
    if rows := [row for row, texts in enumerate(references) if "" in texts]:
        message = f"in {len(rows)} of {len(references)} rows a reference is empty, against which any answer scores 1"
        advice = f"(rows {first_rows(rows)}): leave it out, or use empty_reference='zero'"
        warn_caller(f"{message} {advice}", EmptyReferenceWarning)


def _explanation(words: Tokenizer, rows: Sequence[Any], item: Item) -> Iterator[str]:
    """Yield both texts, with brackets around the hits of the first ROUGE type; rouge2 shows pairs as ``the_cat``."""
    prefix, best = next(iter(item.details()["best_reference"].items()))
    prediction, references = rows[item.row]
    match = _match_ngrams if prefix in _NGRAMS else union_lcs
    both = (prediction or "", references[best])
    predicted, reference = (_ngrams(words(text), _NGRAMS.get(prefix, 1)) for text in both)
    common = len(match(reference, [predicted]))
    unit = ("pair" if prefix == "rouge2" else "word") + "s" * (common != 1)
    yield f"  {common} {unit} in common of {len(predicted)} predicted and {len(reference)} in reference {best}"
    for name, ngrams, partner in (("reference", reference, predicted), ("predicted", predicted, reference)):
        hits = set(match(ngrams, [partner]))
        texts = (shown("_".join(ngram), 30) for ngram in ngrams)
        marked = (f"[{text}]" if index in hits else text for index, text in enumerate(texts))
        yield from textwrap.wrap(" ".join(marked), 100, initial_indent=f"  {name}  ", subsequent_indent=" " * 13)


def results(*prefixes: str) -> dict[str, Result]:
    """Return the table of results of the given prefixes: means over the rows."""
    return {key: result for prefix in prefixes for key, result in prf_of_means(prefix, "mean_f").items()}


def _check_types(rouge_types: Sequence[str]) -> tuple[str, ...]:
    names = ", ".join(map(repr, _PREFIXES))
    if isinstance(rouge_types, str) or not isinstance(rouge_types, Sequence) or not rouge_types:
        raise InputError("rouge_types", None, repr(rouge_types), f'a list of {names}, such as ["rougeL"]')
    for name in rouge_types:
        check_choice("rouge_types", name, _PREFIXES)
    return tuple(dict.fromkeys(rouge_types))


def _item(row: int, texts: tuple[str | None, Sequence[str]], readers: Readers, empty_reference: str) -> Item:
    """Score one row; for each prefix the reference with the greatest F counts."""
    prediction, references = texts
    no_answer = prediction is None
    counts: dict[str, Counts] = {}
    best: dict[str, int] = {}
    flags: set[str] = set()
    for prefix, read in readers.items():
        predicted, read_references = read(prediction or ""), [read(text) for text in references]
        scored = [
            _counts(predicted, sentences, prefix in _NGRAMS)
            if text or empty_reference == "zero" or no_answer
            else _EMPTY_IS_ONE
            for text, sentences in zip(references, read_references, strict=True)
        ]
        index = max(range(len(scored)), key=lambda n: scored[n].prf().f1)  # max returns the first of ties
        best[prefix], counts[prefix] = index, scored[index]
        is_empty = {"empty_prediction": not any(predicted), "empty_reference": not any(read_references[index])}
        flags |= {flag for flag, holds in is_empty.items() if holds}
    return Item(row, None, counts, None, tuple(sorted(flags)), partial(dict, best_reference=best))


_EMPTY_IS_ONE = Counts(1, 1, 1, 1)


def _counts(prediction: Sentences, reference: Sentences, is_ngrams: bool = False) -> Counts:
    """Count the words that a prediction and a reference share in the same order, or in any order if ``is_ngrams``.

    With one sentence on either side (rougeL) the hits are the length of the longest common subsequence. With more, the
    hits of a reference sentence are the union of its longest common subsequences with each predicted sentence, and no
    word counts more often than it was predicted (ROUGE-1.5.5's clipping, as in rouge_score).

    Example:
        >>> _counts([["a", "b"], ["c"]], [["c", "d"], ["a", "b"]])
        Counts(precision_hits=3, predicted=3, recall_hits=3, reference=4)
    """
    if is_ngrams:
        hits = len(_match_ngrams(reference[0], prediction))
    elif len(prediction) == len(reference) == 1:
        hits = lcs_length(prediction[0], reference[0])
    else:
        common: Counter[Hashable] = Counter()
        for sentence in reference:
            common.update(sentence[index] for index in union_lcs(sentence, prediction))
        hits = (common & Counter(word for sentence in prediction for word in sentence)).total()
    return Counts(hits, sum(map(len, prediction)), hits, sum(map(len, reference)))


def _ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [*zip(*(words[start:] for start in range(n)), strict=False)]


def _match_ngrams(reference: Sequence[Hashable], candidates: Sentences) -> list[int]:
    """Return the indices of the reference's n-grams that occur in the candidates; each of theirs matches once.

    Example:
        >>> _match_ngrams(["a", "b", "a", "a"], [["a", "c", "a"]])
        [0, 2]
    """
    unmatched, matches = Counter(ngram for candidate in candidates for ngram in candidate), []
    for index, ngram in enumerate(reference):
        if unmatched[ngram]:
            unmatched[ngram] -= 1
            matches.append(index)
    return matches
