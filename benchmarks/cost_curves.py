"""Draw how the cost of each metric grows: with the number of documents, and with the size of one document.

    make bench
    python benchmarks/cost_curves.py

Sizes double. A time is the processor time of the best of three calls, as a multiple of our own at the smallest size;
the exponent is the slope of log(time) over log(size) on the last four sizes (1: linear, 2: quadratic). Peers get the
same input until a call takes longer than four seconds. Writes ``docs/pictures/cost_documents.svg`` and
``cost_size.svg`` and prints the tables of docs/developing/benchmarks.md. Needs the extra ``bench``.
"""

from __future__ import annotations

import importlib
import math
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import tls_tasks
from benchmarks import alignment_rouge as timelines
from benchmarks import evidence_extraction as objects
from benchmarks import rouge_l as summaries
from benchmarks.comparisons import ROOT, Comparison, timed
from tls_tasks.timelines.alignment import VARIANTS
from tls_tasks.timelines.alignment_rouge import tilse_counts

PICTURES = ROOT / "docs" / "pictures"
LONGEST = 4.0  # seconds of a peer's call, after which it gets no larger input
Work = Callable[[], Any]
Curve = dict[int, float]


class Case(NamedTuple):
    """One metric and one way of growing."""

    unit: str
    sizes: list[int]
    ours: Callable[[int], Work]
    peer: str = ""
    theirs: Callable[[int], Work] | None = None
    goal: float = 1.35
    """What the exponent may be at most: two runs on one machine differ by up to 0.3."""


def doubled(first: int, n: int) -> list[int]:
    """``n`` sizes, each twice the one before."""
    return [first << step for step in range(n)]


def seconds(work: Work) -> float:
    """Processor time of the best of three calls; of the only one, if it is long."""
    times: list[float] = []
    while len(times) < 3 and not (times and times[0] > LONGEST):
        times.append(timed(work)[0])
    return min(times)


def curve(make: Callable[[int], Work], sizes: list[int]) -> Curve:
    """Size -> seconds, until a call takes too long."""
    found: Curve = {}
    for size in sizes:
        found[size] = seconds(make(size))
        if found[size] > LONGEST:
            break
    return found


def exponent(found: Curve) -> float:
    """The slope of the last four points in a plot of logarithms."""
    points = [(math.log(size), math.log(elapsed)) for size, elapsed in list(found.items())[-4:]]
    middle_x, middle_y = (sum(own) / len(points) for own in zip(*points, strict=True))
    across = sum((x - middle_x) ** 2 for x, _ in points)
    return float(sum((x - middle_x) * (y - middle_y) for x, y in points) / across)


def timeline_pair(n: int) -> tuple[Any, Any]:
    """Two timelines of ``n`` days."""
    return timelines.make_long(n, 1), timelines.make_long(n, 2)


def of_timelines(metric: Callable[..., Any], n_rows: int, n_days: int) -> Work:
    """A call with timelines."""
    left, right = timeline_pair(n_days)
    return lambda: metric([left] * n_rows, [right] * n_rows).results


def of_tilse(n_days: int) -> Work:
    """The five variants by tilse's approximate ROUGE in Python."""
    left, right = timeline_pair(n_days)
    return lambda: [tilse_counts(left, [right], variant, "reimpl") for variant in VARIANTS]


def of_texts(n_rows: int, n_words: int) -> Work:
    """A call with summaries."""
    left, right = summaries.make_long(n_words)
    return lambda: tls_tasks.rouge_l([left] * n_rows, [right] * n_rows).results


def of_rouge_score(n_words: int) -> Work:
    """The same by rouge_score."""
    pair, work = summaries.make_long(n_words), summaries.rouge_score("rougeL", False)
    return lambda: work([pair])


def of_objects(n_rows: int, n_objects: int) -> Work:
    """A call with extracted objects of one domain."""
    text, gold, told = objects.make_page("as in English", n_objects)
    return lambda: tls_tasks.evidence_extraction([told] * n_rows, [gold] * n_rows, [text] * n_rows).results


def of_all_pairs(n_objects: int) -> Work:
    """The matching of the original scorer alone."""
    page = objects.make_page("as in English", n_objects)
    return lambda: objects.all_pairs([page])


def names(n: int, seed: int) -> list[str]:
    """``n`` short texts."""
    generator = random.Random(seed)
    return [" ".join(generator.choices(objects.WORDS, objects.WEIGHTS, k=3)) for _ in range(n)]


def of_trees(n_rows: int, n_items: int) -> Work:
    """A call with trees that are a list of strings."""
    left, right = ({"items": names(n_items, seed)} for seed in (1, 2))
    return lambda: tls_tasks.tree_eval([left] * n_rows, [right] * n_rows, {"items": ["string"]}).results


def of_anls(n_items: int) -> Work:
    """The same lists by ANLS*."""
    score = importlib.import_module("anls_star").anls_score
    left, right = names(n_items, 1), names(n_items, 2)
    return lambda: score(left, right)


def of_reports(n_rows: int, n_sentences: int) -> Work:
    """A call with reports and a judge that costs nothing."""
    sentences = [{"text": f"{text} {place}.", "citations": ["d"]} for place, text in enumerate(names(n_sentences, 1))]
    items = [{"question_text": f"{text}?", "gold_answers": [text]} for text in names(10, 2)]
    told = [{"request_id": str(row), "sentences": sentences} for row in range(n_rows)]
    gold = [{"query_id": str(row), "items": items} for row in range(n_rows)]
    return lambda: tls_tasks.report_eval(told, gold, {"d": "text"}, lambda query: "word1" in str(query.fields)).results


ROWS = doubled(32, 7)
DOCUMENTS: Mapping[str, Case] = {
    "alignment_rouge": Case("of 10 x 10 dates", ROWS, lambda n: of_timelines(tls_tasks.alignment_rouge, n, 10)),
    "date_f1": Case("of 10 x 10 dates", ROWS, lambda n: of_timelines(tls_tasks.date_f1, n, 10)),
    "rouge_l": Case("of 100 x 100 words", ROWS, lambda n: of_texts(n, 100)),
    "evidence_extraction": Case("of 10 x 10 objects", ROWS, lambda n: of_objects(n, 10)),
    "tree_eval": Case("of 10 x 10 leaves", ROWS, lambda n: of_trees(n, 10)),
    "report_eval": Case("of 10 sentences", ROWS, lambda n: of_reports(n, 10)),
}
SIZES: Mapping[str, Case] = {
    "alignment_rouge": Case(
        "dates", doubled(16, 7), lambda n: of_timelines(tls_tasks.alignment_rouge, 1, n), "tilse reimpl", of_tilse, 2.2
    ),
    "date_f1": Case("dates", doubled(64, 7), lambda n: of_timelines(tls_tasks.date_f1, 1, n)),
    "rouge_l": Case("words", doubled(128, 9), lambda n: of_texts(1, n), "rouge_score", of_rouge_score, 2.2),
    "evidence_extraction": Case("objects", doubled(32, 7), lambda n: of_objects(1, n), "all pairs", of_all_pairs, 2.2),
    "tree_eval": Case("items of a list", doubled(16, 7), lambda n: of_trees(1, n), "ANLS*", of_anls, 2.2),
    "report_eval": Case("sentences", doubled(16, 7), lambda n: of_reports(1, n), goal=1.5),
}


def table(title: str, cases: Mapping[str, Case]) -> dict[str, tuple[Curve, Curve]]:
    """Measure and print; the curves."""
    print(f"\n| metric | {title} | seconds at the largest | exponent | peer, exponent | peer / ours |")
    print("|---|---|--:|--:|---|--:|")
    curves = {}
    for name, case in cases.items():
        case.ours(case.sizes[0])()  # what is imported and kept at first use
        mine = curve(case.ours, case.sizes)
        other = curve(case.theirs, case.sizes) if case.theirs else {}
        curves[name] = mine, other
        cells = [f"`{name}`", f"{case.sizes[0]:,} to {max(mine):,} {case.unit}", f"{mine[max(mine)]:.3f}"]
        cells += [f"{exponent(mine):.2f}"]
        cells += [f"{case.peer}, {exponent(other):.2f}" if other else ""]
        cells += [f"{other[max(other)] / mine[max(other)]:,.1f} at {max(other):,}" if other else ""]
        print(f"| {' | '.join(cells)} |", flush=True)
    return curves


def draw_documents(curves: Mapping[str, tuple[Curve, Curve]], pyplot: Any) -> None:
    """All metrics in one picture."""
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for name, (mine, _) in curves.items():
        axes.plot([*mine], relative(mine, mine), marker="o", markersize=3, label=name)
    axes.plot(ROWS, [size / ROWS[0] for size in ROWS], color="grey", linestyle=":", label="linear")
    axes.set(xscale="log", yscale="log", xlabel="documents", ylabel=f"time, {ROWS[0]} documents = 1")
    axes.legend(fontsize="small")
    save(figure, "cost_documents.svg")


def draw_sizes(curves: Mapping[str, tuple[Curve, Curve]], pyplot: Any) -> None:
    """One picture a metric, with its peer."""
    figure, grid = pyplot.subplots(2, 3, figsize=(9, 5.4), layout="constrained")
    for axes, (name, (mine, other)) in zip(grid.flat, curves.items(), strict=True):
        axes.plot([*mine], relative(mine, mine), marker="o", markersize=3, label="ours")
        if other:
            axes.plot([*other], relative(other, mine), marker="s", markersize=3, linestyle="--", label=SIZES[name].peer)
        ends = [min(mine), max(mine)]
        axes.plot(ends, [size / ends[0] for size in ends], color="grey", linestyle=":", label="linear")
        axes.set(xscale="log", yscale="log", title=name, xlabel=SIZES[name].unit)
        axes.legend(fontsize="small", loc="lower right")
    figure.supylabel("time, ours at the smallest size = 1")
    save(figure, "cost_size.svg")


def relative(curve_of: Curve, to: Curve) -> list[float]:
    """Times as multiples of the first one of a curve."""
    return [elapsed / to[min(to)] for elapsed in curve_of.values()]


def save(figure: Any, name: str) -> None:
    """Write a picture; the same figures give the same file."""
    PICTURES.mkdir(exist_ok=True)
    for axes in figure.axes:
        axes.minorticks_off()
    figure.savefig(PICTURES / name, metadata={"Date": None, "Creator": None})
    text = "\n".join(line.rstrip() for line in (PICTURES / name).read_text(encoding="utf-8").splitlines())
    (PICTURES / name).write_text(text + "\n", encoding="utf-8")


def slope(case: Case) -> list[float]:
    """The exponent of our own curve."""
    case.ours(case.sizes[0])()
    return [exponent(curve(case.ours, case.sizes))]


def steepest(cases: Iterable[Case]) -> list[float]:
    """The largest exponent of our curves, each as a multiple of its goal."""
    return [max(slope(case)[0] / case.goal for case in cases)]


def comparisons() -> Iterator[Comparison]:
    """What is compared; the tables of this script have every curve."""
    for title, cases in (("documents", DOCUMENTS), ("the size of one document", SIZES)):
        what = f"growth with {title}: the largest of {len(cases)} exponents, by its limit"
        yield Comparison(what, partial(steepest, cases.values()), "", "of its limit", 1, True)


def main() -> int:
    """Print the tables and draw the pictures."""
    documents, sizes = table("documents", DOCUMENTS), table("one document", SIZES)
    pyplot = plotter()
    draw_documents(documents, pyplot)
    draw_sizes(sizes, pyplot)
    return 0


def plotter() -> Any:
    """Pyplot, set up so that the same figures give the same file."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tls-tasks", "font.size": 9})
    return importlib.import_module("matplotlib.pyplot")


if __name__ == "__main__":
    sys.exit(main())
