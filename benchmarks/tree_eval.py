"""Time tree_eval against treeval as shipped, and against peers.

    make bench
    TREEVAL_SOURCE=/path/to/Treeval python benchmarks/run.py tree_eval

treeval is not on the package index: TREEVAL_SOURCE names a checkout (git a56937f), without which its rows are skipped.
As shipped it loads its metrics from the Hub, or from folders of their names below the working directory; the stand-ins
that are written there compute the same as the originals. Each side reads the same trees and must give the same values,
which is checked. The extra ``bench`` has the peers.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.run import Comparison, Skipped, pairs, repeated, timed, versus
from tls_tasks.trees.tree_eval import tree_eval

Trees = tuple[list[Any], list[Any]]
"""Predictions and references."""

SONG: dict[str, Any] = {
    "song_name": "Wake Me Up Before You Go-Go",
    "artist_name": "Wham!",
    "song_duration_in_seconds": 231,
    "has_lyrics": True,
    "information": {"tempo": 81, "time_signature": "4/4", "key_signature": "C major"},
    "instruments": ["synthesizer", "bass guitar", "electric guitar", "drums"],
}
SONG_SCHEMA: dict[str, Any] = {
    "song_name": "string",
    "artist_name": "string",
    "song_duration_in_seconds": "integer",
    "has_lyrics": "boolean",
    "information": {"tempo": "integer", "time_signature": ["4/4", "4/2", "2/2"], "key_signature": "string"},
    "instruments": ["string"],
}
LINE_SCHEMA = {"description": "string", "quantity": "integer", "price": "number", "unit": "string"}
EXACT, TEXT = ["exact_match"], ["exact_match", "levenshtein"]
BY_TYPE = {
    "string": TEXT, "integer": EXACT, "number": EXACT, "boolean": EXACT, "choice": EXACT
}  # fmt: skip

OUR_NAMES = {"levenshtein": "indel_ratio"}


def songs(n: int, with_list: bool) -> Trees:
    """Songs of which a third has another name, tempo or instrument; lists in another order."""
    generator = random.Random(n)
    pairs = [_song_pair(generator) for _ in range(n)]
    trees: Trees = [prediction for prediction, _ in pairs], [reference for _, reference in pairs]
    if not with_list:
        for tree in trees[0] + trees[1]:
            del tree["instruments"]
    return trees


def _song_pair(generator: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    reference = {
        **SONG,
        "song_name": f"{SONG['song_name']} {generator.randrange(1000)}",
        "information": {**SONG["information"], "tempo": generator.randrange(60, 200)},
        "instruments": list(SONG["instruments"]),
    }
    prediction = {
        **reference, "information": dict(reference["information"]), "instruments": list(reference["instruments"])
    }  # fmt: skip
    if generator.random() < 1 / 3:
        prediction["song_name"] = prediction["song_name"][1:]
    if generator.random() < 1 / 3:
        prediction["information"]["tempo"] += 1
    if generator.random() < 1 / 3:
        prediction["instruments"][0] += "s"
    generator.shuffle(prediction["instruments"])
    return prediction, reference


def strings(n: int) -> Trees:
    """One list of strings of 12 letters, each with a wrong one, in another order."""
    generator = random.Random(n)
    reference = ["".join(generator.choices("abcdefgh ", k=12)) for _ in range(n)]
    return [{"l": generator.sample([text[:-1] + "z" for text in reference], n)}], [{"l": reference}]


def dictionaries(n: int) -> Trees:
    """One list of dictionaries of four leaves, half of them with a wrong one, in another order."""
    generator = random.Random(n)
    reference: list[dict[str, Any]] = [
        {
            "description": "".join(generator.choices("abcdefgh ", k=12)),
            "quantity": generator.randrange(100),
            "price": generator.randrange(10_000) / 100,
            "unit": generator.choice(["kg", "piece", "box"]),
        }
        for _ in range(n)
    ]
    prediction = [{**line, "quantity": line["quantity"] + generator.randrange(2)} for line in reference]
    return [{"l": generator.sample(prediction, n)}], [{"l": reference}]


# --- treeval ---

STAND_INS = {
    "exact_match": "float(np.mean(np.asarray(predictions) == np.asarray(references)))",
    "Natooz/levenshtein": "sum(map(Indel.normalized_similarity, predictions, references)) / len(predictions)",
}
"""Module -> what it computes of its two lists, as the Hub's modules of these names do."""

STAND_IN = """
import datasets
import evaluate
import numpy as np
from rapidfuzz.distance import Indel


class StandIn(evaluate.Metric):
    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="", citation="", features=datasets.Features(dict(predictions=text, references=text))
        )

    def _compute(self, predictions, references):
        return {{"{name}": {expression}}}
"""


@contextlib.contextmanager
def shipped_metrics() -> Iterator[dict[str, Any]]:
    """The ExactMatch and Levenshtein of treeval, in a working directory that has their modules."""
    metrics = importlib.import_module("treeval.metrics")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for module, expression in STAND_INS.items():
            name = module.rpartition("/")[2]
            path = Path(folder, module, f"{name}.py")
            path.parent.mkdir(parents=True)
            path.write_text(STAND_IN.format(name=name, expression=expression), encoding="utf-8")
        os.chdir(folder)
        try:
            yield {"exact_match": metrics.ExactMatch(), "levenshtein": metrics.Levenshtein()}
        finally:
            os.chdir(before)


def treeval(metrics: Mapping[str, Any], schema: Any) -> Callable[[Trees], float]:
    """The treeval score by treeval."""
    package = importlib.import_module("treeval")
    by_type = {() if label == "choice" else label: names for label, names in BY_TYPE.items()}
    tree_metrics = package.create_tree_metrics(schema, types_metrics=by_type)

    def work(trees: Trees) -> float:
        return float(package.treeval(*trees, schema, metrics, tree_metrics)["treeval_score"])

    return work


OUR_METRICS = {label: [OUR_NAMES.get(one, one) for one in names] for label, names in BY_TYPE.items()}


def ours(schema: Any, leaf_metrics: Any = OUR_METRICS) -> Callable[[Trees], float]:
    """The treeval score by this package, with everything else that is in its result; on such trees it is treeval's."""

    def work(trees: Trees) -> float:
        return float(tree_eval(*trees, schema, leaf_metrics).as_dict()["treeval_score"])

    return work


# --- peers ---


def anls_star() -> Callable[[Trees], float]:
    """ANLS* of a list of strings."""
    function = importlib.import_module("anls_star").anls_score
    return lambda trees: float(function(trees[1][0], trees[0][0]))


def stickler() -> Callable[[Trees], float]:
    """The score that stickler gives a list of strings."""
    package = importlib.import_module("stickler")
    field = package.ComparableField(comparator=package.LevenshteinComparator())
    model = type("Model", (package.StructuredModel,), {"__annotations__": {"l": list[str]}, "l": field})
    return lambda trees: float(model(**trees[1][0]).compare_with(model(**trees[0][0]))["overall_score"])


# --- the comparisons ---


@cache
def find_treeval() -> None:
    """Have treeval importable.

    Raises:
        Skipped: It is not here.
    """
    source = os.environ.get("TREEVAL_SOURCE")
    if not source:
        raise Skipped("TREEVAL_SOURCE does not name a checkout of it")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HOME", tempfile.mkdtemp())  # a lock that others poll would slow treeval down
    sys.path.insert(0, str(Path(source, "src") if Path(source, "src").is_dir() else Path(source)))


def against_treeval(schema: Any, make: Callable[[], Trees]) -> list[tuple[float, float]]:
    """Seconds of treeval and ours."""
    find_treeval()
    trees = make()
    with shipped_metrics() as metrics:
        return pairs(partial(treeval(metrics, schema), trees), partial(ours(schema), trees), same)


def same(one: float, other: float) -> bool:
    """Whether two scores are equal but for the order of sums."""
    return abs(one - other) <= 1e-9


def beside(peer: Callable[[], Callable[[Trees], float]]) -> tuple[Callable[[], float], Callable[[], float]]:
    """A peer and ours on a list of 100 strings."""
    trees = strings(100)
    return partial(peer(), trees), partial(ours({"l": ["string"]}, {"string": "levenshtein_similarity"}), trees)


def seconds(schema: Any, make: Callable[[], Trees]) -> list[float]:
    """Our own times."""
    work = partial(ours(schema), make())
    work()
    return [elapsed for elapsed, _ in repeated(lambda: timed(work))]


def comparisons() -> Iterator[Comparison]:
    """What is compared."""
    flat, listed = {key: kind for key, kind in SONG_SCHEMA.items() if key != "instruments"}, {"l": ["string"]}
    inputs: list[tuple[str, Any, Callable[[], Trees], float]] = [
        ("1 list of 20 strings", listed, lambda: strings(20), 500),
        ("100 trees with a list of 4", SONG_SCHEMA, lambda: songs(100, True), 100),
        ("1 flat tree", flat, lambda: songs(1, False), 1),
        ("100 flat trees", flat, lambda: songs(100, False), 1),
    ]
    for what, schema, make, goal in inputs:
        yield Comparison(what, partial(against_treeval, schema, make), "treeval as shipped", goal=goal)
    # These two have rules of their own, for blanks at the ends and for thresholds.
    for peer, tool in (("ANLS*", anls_star), ("stickler-eval", stickler)):
        yield versus("1 list of 100 strings", peer, partial(beside, tool), 100, same=None)
    limits: list[tuple[str, Any, Callable[[], Trees], float]] = [
        ("1 list of 2,000 dictionaries", {"l": [LINE_SCHEMA]}, lambda: dictionaries(2000), 3),
        ("10,000 trees with a list of 4", SONG_SCHEMA, lambda: songs(10_000, True), 5),
    ]
    for what, schema, make, limit in limits:
        yield Comparison(what, partial(seconds, schema, make), unit="s", goal=limit, at_most=True)
