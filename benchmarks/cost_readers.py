"""Draw how the cost of each reader grows: of model answers with their length, of logs with their rows.

    make bench
    python benchmarks/cost_readers.py

Realistic answers are sentences and objects of ``tests/batteries`` with a date or a number of their own each, in the
form that is named. Hostile ones repeat the piece that took the reader longest at 32 KiB, of those in ``tests/hostile``
and of those in the reader's own tests. Times and exponents are those of ``cost_curves.py``. Writes
``docs/pictures/cost_readers.svg`` and prints the tables of docs/developing/benchmarks.md. Needs the extras ``bench``,
``inspect`` and ``test``.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import io
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.comparisons import ROOT, Comparison, Skipped, timed
from benchmarks.cost_curves import Case, Curve, Work, curve, doubled, exponent, plotter, relative, save, steepest
from benchmarks.scale import TASK, write_log
from tls_tasks.after.logs import find_runs
from tls_tasks.after.readers import logged_runs
from tls_tasks.after.streamed import BlockScorer, Scored, read_units, score_streamed
from tls_tasks.after.units import Header
from tls_tasks.cli import main as command
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.evidence.read import parse_evidence
from tls_tasks.reports.read import parse_report
from tls_tasks.summaries.read import parse_summary
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.trees.read import parse_tree
from tls_tasks.trees.schema import read_schema

BYTES, ROWS, FEW_ROWS = doubled(1024, 11), doubled(64, 8), doubled(32, 7)
PROBE = 32 * 1024
IDS = [f"d{number}" for number in range(10)]
GOAL = 1.3
"""What an exponent may be at most: linear, and as much as two runs differ on a machine that others use."""


def sentences() -> list[str]:
    """Those of the timelines in the battery, without their dates."""
    lines = (ROOT / "tests" / "batteries" / "timelines.jsonl").read_text(encoding="utf-8").splitlines()
    return [text for line in lines for _, texts in json.loads(line)["expected"] for text in texts if text]


SENTENCES = sentences()


def until(size: int, part: Callable[[int, str], str], head: str = "", tail: str = "") -> str:
    """A text of about ``size`` characters: parts that are made of a number and a sentence."""
    parts, length, place = [head], len(head) + len(tail), 0
    while length < size or not place:
        parts.append(part(place, SENTENCES[place % len(SENTENCES)]))
        length += len(parts[-1])
        place += 1
    return "".join([*parts, tail])


def day(place: int) -> str:
    """A date of its own."""
    return (datetime.date(1900, 1, 1) + datetime.timedelta(days=place % 100_000)).isoformat()


def prose(place: int, text: str) -> str:
    """A sentence of its own."""
    return f"{text.rstrip('.')} for the {place}th time. "


def an_object(place: int, text: str) -> str:
    """An object of evidence."""
    fields = {"domain": "symptom", "evidence_span": f"{text[:60]} {place}", "polarity": "present"}
    return f"{json.dumps({**fields, 'intensity_bucket': 'low', 'time_bucket': 'today'})},\n"


def an_item(place: int, text: str) -> str:
    """An item of a tree's list."""
    return f"{json.dumps({'item': text, 'quantity': place, 'day': day(place)})},\n"


SCHEMA = read_schema({"items": [{"item": "string", "quantity": "integer", "day": "string"}]})
Reader = Callable[[str], Any]
READERS: Mapping[str, tuple[Reader, Mapping[str, Callable[[int], str]], Sequence[tuple[str, str]]]] = {
    "timelines": (
        parse_timeline,
        {
            "lines": partial(until, part=lambda place, text: f"{day(place)}: {text}\n"),
            "JSON": partial(
                until, part=lambda place, text: json.dumps({"date": day(place), "text": text}) + ",\n", head="["
            ),
            "table": partial(
                until, part=lambda place, text: f"| {day(place)} | {text} |\n", head="| Date | Event |\n|---|---|\n"
            ),
            "Markdown": partial(until, part=lambda place, text: f"## {day(place)}\n\n- **{text[:20]}** {text}\n\n"),
        },
        [("timelines.test_read_at_large", "SECTIONS_AND_MARKUP")],
    ),
    "evidence": (
        parse_evidence,
        {"JSON": partial(until, part=an_object, head="["), "objects in prose": partial(until, part=an_object)},
        [("evidence.test_read", "REPEATED")],
    ),
    "trees": (
        partial(parse_tree, node=SCHEMA),
        {"JSON": partial(until, part=an_item, head='{"items": [', tail="]}")},
        [],
    ),
    "reports": (
        lambda text: parse_report(text, IDS),
        {"text with citations": partial(until, part=lambda place, text: f"{prose(place, text)[:-2]} [{place % 10}]. ")},
        [("reports.test_read_text", "OTHERS")],
    ),
    "summaries": (parse_summary, {"prose": partial(until, part=prose)}, [("summaries.test_read", "PIECES")]),
    "reasoning": (
        strip_thinking,
        {"removed before a short answer": partial(until, part=prose, head="<think>\n", tail="\n</think>\nYes.")},
        [("core.test_reasoning", "PIECES")],
    ),
}
"""Name -> reader, its realistic texts by form, and where its tests have hostile pieces."""


def hostile_pieces(name: str) -> list[tuple[str, str]]:
    """(start, what is repeated), of all readers and of this one."""
    shared = importlib.import_module("tests.hostile")
    pieces = [*shared.REPEATED, *shared.PREFIXED]
    for module, there in READERS[name][2]:
        tests: Any = importlib.import_module(f"tests.{module}")
        some = getattr(tests, there, None) or tests.CASES[there]
        pieces += some.values() if isinstance(some, dict) else some
    return [("", piece) if isinstance(piece, str) else piece for piece in pieces]


def repeated(start: str, piece: str, size: int) -> str:
    """A hostile text."""
    return start + piece * (size // len(piece))


@cache
def worst(name: str) -> tuple[str, str]:
    """The piece that takes a reader longest."""
    read = READERS[name][0]
    return max(hostile_pieces(name), key=lambda one: timed(of_text(read, partial(repeated, *one), PROBE))[0])


def of_text(read: Reader, make: Callable[[int], str], size: int) -> Work:
    """A call of a reader; its text is no part of it, and what it kept of the last call is forgotten."""
    text = make(size)

    def work() -> Any:
        strip_thinking.cache_clear()
        return read(text)

    return work


def of_hostile(name: str, size: int) -> Work:
    """The worst that a reader is known to meet."""
    start, piece = worst(name)
    return of_text(READERS[name][0], partial(repeated, start, piece), size)


def texts() -> dict[str, Case]:
    """A curve a reader and form."""
    found = {}
    for name, (read, forms, _) in READERS.items():
        for form, make in forms.items():
            found[f"{name}, {form}"] = Case("bytes", BYTES, partial(of_text, read, make), goal=GOAL)
        found[f"{name}, hostile"] = Case("bytes", BYTES, partial(of_hostile, name), goal=GOAL)
    return found


@cache
def folder() -> Path:
    """For the logs; removed when Python ends."""
    kept = tempfile.TemporaryDirectory()
    importlib.import_module("atexit").register(kept.cleanup)
    return Path(kept.name)


@cache
def log_of(kind: str, n_rows: int) -> Path:
    """A log with so many rows, of a task of ours, or of one host's kind."""
    place = folder() / f"{kind}{n_rows}"
    if kind == "harness":
        return write_log(place, n_rows)
    place.mkdir()
    if kind == "inspect":
        return write_inspect_log(place, n_rows)
    rows: list[dict[str, Any]] = []
    for number, text in zip(range(n_rows), SENTENCES * n_rows, strict=False):
        if kind != "eee":
            score = number % (2 if kind == "rows" else 3) == 0
            rows.append({"id": str(number), "input": f"{number}?", "output": text, "acc": int(score)})
        else:
            answer = {"input": {"raw": f"{number}?"}, "output": {"raw": text}, "evaluation": {"score": number % 2}}
            rows.append(
                {
                    "evaluation_id": "made",
                    "sample_id": str(number),
                    "evaluation_name": "made",
                    "model_id": "made",
                    **answer,
                }
            )
    path = place / f"{kind}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@cache
def asked_by_inspect() -> Any:
    """The log of one question that Inspect asked."""
    try:
        import inspect_ai
    except ImportError as error:
        raise Skipped("the extra inspect is not installed") from error
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match

    answer = ModelOutput.from_content("mockllm", SENTENCES[0])
    answer.usage = ModelUsage()  # without it the model fetches a tokeniser, to count
    task = inspect_ai.Task(MemoryDataset([Sample(id="0", input="0?", target="0")]), scorer=match(), name="made")
    with tempfile.TemporaryDirectory() as out:
        [log] = inspect_ai.eval(
            task, model=get_model("mockllm/model", custom_outputs=[answer]), display="none", log_dir=out
        )
        return read_eval_log(log.location)


def write_inspect_log(place: Path, n_rows: int) -> Path:
    """That log with so many questions."""
    asked = asked_by_inspect()  # skipped without Inspect
    from inspect_ai.log import write_eval_log

    samples = [asked.samples[0].model_copy(update={"id": str(number)}) for number in range(n_rows)]
    path = place / "made.eval"
    write_eval_log(asked.model_copy(update={"samples": samples}), str(path))
    return path


def of_log(kind: str, n_rows: int) -> Work:
    """Everything that a log says."""
    path = log_of(kind, n_rows)
    return lambda: [list(logged_runs(run)) for run in find_runs([path])]


def of_command(arguments: Callable[[int], list[Any]], n_rows: int) -> Work:
    """A command over logs."""
    given = [str(one) for one in arguments(n_rows)]

    def work() -> None:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as out:
            warnings.simplefilter("ignore")
            if code := command([one.replace("OUT", out) for one in given]):
                raise ValueError(f"tls-tasks {' '.join(given)}: exit code {code}")

    return work


def of_blocks(n_rows: int) -> Work:
    """What ``score -o`` does, in this process and in blocks of 64 KiB."""
    path = log_of("harness", n_rows)
    [run] = find_runs([path])

    def engine(header: Header, blocks: Sequence[int]) -> Scored:
        yield from map(BlockScorer(header), blocks)

    def work() -> None:
        with tempfile.TemporaryDirectory() as out:
            score_streamed(str(path), TASK, Path(out, "units"), engine=engine, block_bytes=1 << 16)
            assert len(read_units([Path(out, "units")], run, {}).ids) == n_rows

    return work


def _page(n_rows: int) -> list[Any]:
    return ["page", log_of("harness", n_rows), "-o", "OUT/page.html"]


def _compare(n_rows: int) -> list[Any]:
    return ["compare", log_of("rows", n_rows), log_of("others", n_rows)]


LOGS: Mapping[str, Case] = {
    "lm_eval samples": Case("rows", ROWS, partial(of_log, "harness"), goal=GOAL),
    "Every Eval Ever": Case("rows", ROWS, partial(of_log, "eee"), goal=GOAL),
    "Inspect": Case("rows", FEW_ROWS, partial(of_log, "inspect"), goal=GOAL),
    "JSONL rows": Case("rows", ROWS, partial(of_log, "rows"), goal=GOAL),
    "score": Case("rows", FEW_ROWS, partial(of_command, lambda n: ["score", log_of("harness", n)]), goal=GOAL),
    "score -o": Case("rows", FEW_ROWS, of_blocks, goal=GOAL),
    "page": Case("rows", FEW_ROWS, partial(of_command, _page), goal=GOAL),
    "compare": Case("rows", FEW_ROWS, partial(of_command, _compare), goal=GOAL),
}


def comparisons() -> Iterator[Comparison]:
    """What is compared; the tables of this script have every curve."""
    groups: dict[str, list[Case]] = {"realistic answers": [], "hostile answers": [], "logs and commands": []}
    for name, case in texts().items():
        is_hostile = name.endswith("hostile")
        part = case._replace(sizes=BYTES[:7] if is_hostile else BYTES[4:8])
        groups["hostile answers" if is_hostile else "realistic answers"].append(part)
    groups["logs and commands"] += LOGS.values()
    for title, cases in groups.items():
        what = f"growth with the size of {title}: the largest of {len(cases)} exponents, by its limit"
        yield Comparison(what, partial(steepest, cases), "", "of its limit", 1, True)


def table(title: str, cases: Mapping[str, Case]) -> dict[str, Curve]:
    """Measure and print; the curves."""
    print(f"\n| {title} | sizes | seconds at the largest | exponent |\n|---|---|--:|--:|")
    curves = {}
    for name, case in cases.items():
        case.ours(case.sizes[0])()
        curves[name] = mine = curve(case.ours, case.sizes)
        sizes = f"{case.sizes[0]:,} to {max(mine):,} {case.unit}"
        shown = name
        if name.endswith(", hostile"):
            start, piece = worst(name.removesuffix(", hostile"))
            shown = f"{name}: `{start + piece!r}`".replace("|", "\\|")
        print(f"| {shown} | {sizes} | {mine[max(mine)]:.3f} | {exponent(mine):.2f} |", flush=True)
    return curves


def draw(groups: Sequence[tuple[str, str, Mapping[str, Curve]]], pyplot: Any) -> None:
    """A plot a group."""
    figure, grid = pyplot.subplots(1, len(groups), figsize=(4.2 * len(groups), 4.6), layout="constrained")
    for axes, (title, unit, curves) in zip(grid.flat, groups, strict=True):
        for name, mine in curves.items():
            axes.plot([*mine], relative(mine, mine), marker="o", markersize=3, label=name)
        longest = max(curves.values(), key=len)
        ends = [min(longest), max(longest)]
        axes.plot(ends, [size / ends[0] for size in ends], color="grey", linestyle=":", label="linear")
        axes.set(xscale="log", yscale="log", title=title, xlabel=unit)
        axes.legend(fontsize="x-small")
    figure.supylabel("time, at the smallest size = 1")
    save(figure, "cost_readers.svg")


def main() -> int:
    """Print the tables and draw the picture."""
    answers, logs = table("reader, answer", texts()), table("reader or command", LOGS)
    realistic = {name: found for name, found in answers.items() if not name.endswith("hostile")}
    hostile = {name: found for name, found in answers.items() if name.endswith("hostile")}
    groups = [("realistic answers", "bytes", realistic), ("hostile answers", "bytes", hostile), ("logs", "rows", logs)]
    draw(groups, plotter())
    return 0


if __name__ == "__main__":
    sys.exit(main())
