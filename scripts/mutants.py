"""Change one thing in the code, run the tests, and see whether they fail: no test guards a change that none detects.

mutmut makes the changes (mutants): ``<`` becomes ``<=``, ``+`` becomes ``-``, an argument is left out. A sample is
drawn by seed over the scorers, readers, aggregation and the judge. One run of all fast tests under coverage, with the
examples in docstrings, kept until the code changes, tells which tests execute which line. Each mutant is written into a
copy of the project, where those tests run that execute the changed line, then the others of its folder, the fast ones
first, until one fails. A mutant that survives is shown: either a test is missing, or the change makes no difference;
such changes are in ``scripts/mutants.yaml``, with the reason. The exit code is 1 if more than 3 % of the others
survive. Everything is made in ``build/mutants``.

    python scripts/mutants.py
    python scripts/mutants.py --family trees --count 50 --seed 2
    python scripts/mutants.py --survivors
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import coverage
import libcst
import yaml
from mutmut.mutation.file_mutation import create_mutations, group_by_top_level_node
from mutmut.mutation.trampoline_templates import mangle_function_name

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "scripts" / "mutants.yaml"
MOST_SURVIVING = 0.03
MEMORY = 8 * 2**30  # bytes of one process: a mutant may ask for more and more
MOST_REACHING, MOST_OTHERS = 60.0, 90.0
"""Seconds of tests, as they took without a mutant: of those that execute its line, and of the others of its folder."""

LEFT_OUT = frozenset(
    """__init__ baseline callable comparisons corpus data files foreign logs page public_files
    readers run scored_runs streamed task topics units""".split()
)
"""Modules whose tests are elsewhere: what a harness run reaches, what is only shown, and what loads a model."""

FAMILIES = {
    family: [path.stem for path in sorted((ROOT / "tls_tasks" / family).glob("*.py")) if path.stem not in LEFT_OUT]
    for family in ("core", "text", "timelines", "summaries", "evidence", "trees", "reports", "reports/judges", "after")
}
"""Folder of ``tls_tasks`` -> its modules. Their tests are those in the folder of the same name in ``tests``."""

# Tests of time show nothing of a mutant, and take minutes.
OPTIONS = ["-m", "not slow", "-k", "not (linear or minutes or killed or interrupt)"]

RECORDER = """
import json, os
from hypothesis import Phase, settings

def pytest_configure(config):
    # A failing example is enough: making it smaller takes minutes.
    settings.register_profile("mutants", settings.get_profile("project"), phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutants")

def pytest_runtest_logreport(report):
    times = os.environ.get("MUTANTS_TIMES")
    if times and "PYTEST_XDIST_WORKER" not in os.environ and report.when == "call" and report.passed:
        with open(times, "a", encoding="utf-8") as file:
            file.write(json.dumps([report.nodeid, report.duration]) + "\\n")
"""
"""A plugin for pytest, beside the copies."""


_STRICT = re.compile(r"\bstrict=\w+")
"""Of ``zip``: it stops a bug of ours where two lists should have one length, and changes nothing without such a bug."""
_NO_CASE = re.compile(r'\b(?:(?:en|de)code\(|encoding=|headers\[|headers\.(?:pop|get)\()"[\w-]+"', re.IGNORECASE)
"""Names of encodings and of HTTP headers: their case changes nothing."""


class Mutant(NamedTuple):
    """A mutant by its family, its file, and the name that mutmut gives it."""

    family: str
    file: str
    name: str

    @property
    def full_name(self) -> str:
        """The name by which mutmut takes it."""
        return f"{self.file.removesuffix('.py').replace('/', '.')}.{self.name}"

    @property
    def function(self) -> str:
        """The function that is changed: ``name`` or ``Class.name``."""
        return self.name.partition("__mutmut_")[0].removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")


def main() -> int:
    """Draw, run, and say what survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=200, help="how many mutants are drawn (200)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="how many are tried at a time (cores)")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="only from this one; may be given again")
    parser.add_argument("--survivors", action="store_true", help="only what survived the last time, with today's tests")
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would tests
    last, equivalent = FOLDER / "results.json", _equivalent()
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "mutants_recorder.py").write_text(RECORDER, encoding="utf-8")
    (FOLDER / "setup.cfg").write_text("[mutmut]\nsource_paths = tls_tasks\n", encoding="utf-8")
    if (ROOT.parent / "shared").is_dir() and not (FOLDER / "shared").exists():
        (FOLDER / "shared").symlink_to(ROOT.parent / "shared")  # tests look for it beside the project
    results: dict[Mutant, str] = {}
    if args.survivors:
        results = {Mutant(*mutant): outcome for *mutant, outcome in json.loads(last.read_text(encoding="utf-8"))}
        drawn = [mutant for mutant, outcome in results.items() if outcome == "survived"]
    else:
        drawn = _draw(args.family or list(FAMILIES), args.count, args.seed, args.jobs)
    tests = _Tests(args.jobs)
    copies: Queue[Path] = Queue()
    for job in range(args.jobs):
        copies.put(place := _copied(FOLDER / str(job)))
        _pytest(place, "tests", "--collect-only", PYTHONDONTWRITEBYTECODE="")  # compiles all that is imported, once
    with ThreadPoolExecutor(args.jobs) as pool:
        for mutant, outcome in zip(drawn, pool.map(lambda mutant: _try(mutant, tests, copies), drawn), strict=True):
            print(f"{outcome}: {mutant.full_name}", flush=True)
            results[mutant] = outcome
            last.write_text(json.dumps([[*mutant, outcome] for mutant, outcome in results.items()]), encoding="utf-8")
    return _report(results, equivalent)


def _draw(families: Sequence[str], count: int, seed: int, jobs: int) -> list[Mutant]:
    """So many of all mutants, each as likely as any other; a change elsewhere in the code draws no others."""
    files = [(family, f"tls_tasks/{family}/{name}.py") for family in families for name in FAMILIES[family]]
    with ProcessPoolExecutor(jobs) as pool:
        every = [mutant for own in pool.map(_mutants_of, *zip(*files, strict=True)) for mutant in own]
    print(f"{len(every)} mutants in {len(files)} files, {min(count, len(every))} drawn with seed {seed}", flush=True)
    return sorted(sorted(every, key=lambda mutant: random.Random(f"{seed} {mutant.full_name}").random())[:count])


def _mutants_of(family: str, file: str) -> list[Mutant]:
    return [Mutant(family, file, name) for name, _ in _mutations(file)]


def _mutations(file: str) -> Iterator[tuple[str, tuple[libcst.Module, libcst.CSTNode, libcst.CSTNode]]]:
    """The name of each mutant of a file, and its module with the node to replace and the node that replaces it."""
    os.chdir(FOLDER)  # where mutmut looks for its settings
    module, mutations, *_ = create_mutations(file, (ROOT / file).read_text(encoding="utf-8"))
    of_function = group_by_top_level_node(mutations)
    for statement in module.body:
        is_class = isinstance(statement, libcst.ClassDef)
        for node in statement.body.body if is_class else [statement]:
            if isinstance(node, libcst.FunctionDef) and node in of_function:
                name = mangle_function_name(name=node.name.value, class_name=statement.name.value if is_class else None)
                for number, change in enumerate(of_function[node], 1):
                    yield f"{name}__mutmut_{number}", (module, change.original_node, change.mutated_node)


def _mutated(mutant: Mutant) -> str | None:
    """The file with the mutant in it; None for one that the code no longer has."""
    for name, (module, before, after) in _mutations(mutant.file):
        if name == mutant.name:
            return str(module.deep_replace(before, after).code)
    return None


def _copied(place: Path) -> Path:
    """A copy of the project as it is, with what git doesn't know yet."""
    shutil.rmtree(place, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    for path in listed.stdout.decode().splitlines():
        if (ROOT / path).is_file():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, place / path)
    return place


def _pytest(place: Path, *words: str, seconds: float | None = None, **more: str) -> int | None:
    """The exit code of tests in a copy; None if the time is up."""
    # No mutant is kept compiled: it may be as long, and as old to the second, as the code it changes.
    given = {
        "PYTHONPATH": f"{place}{os.pathsep}{FOLDER}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",
        **more,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants_recorder", "-p", "no:cacheprovider", *words]
    with (place / "log.txt").open("w", encoding="utf-8") as log:
        running = subprocess.Popen(
            command,
            cwd=place,
            env={**os.environ, **given},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
        try:
            return running.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            return None


class _Tests:
    """Which tests execute a line, and how long each takes, from one run of all fast tests without a mutant."""

    def __init__(self, jobs: int) -> None:
        place = FOLDER / "base"
        code = hashlib.sha256()
        for path in sorted([*ROOT.glob("tls_tasks/**/*.py"), *ROOT.glob("tests/**/*.py")]):
            code.update(path.read_bytes())
        stamp, times = place / "stamp", place / "times.jsonl"
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != code.hexdigest():
            _copied(place)
            words = ["-n", str(jobs + 1), "--dist", "worksteal", "--cov=tls_tasks", "--cov-context=test"]
            ran = _pytest(place, "tests", "tls_tasks", *OPTIONS, *words, "--cov-report=", MUTANTS_TIMES=str(times))
            if ran is None or ran not in (0, 1):
                raise SystemExit(f"the tests without a mutant did not run, see {place / 'log.txt'}")
            stamp.write_text(code.hexdigest(), encoding="utf-8")
        # A test that fails without a mutant, as one of speed may under coverage, says nothing.
        self.seconds: dict[str, float] = dict(map(json.loads, times.read_text(encoding="utf-8").splitlines()))
        data = coverage.CoverageData(str(place / ".coverage"))
        data.read()
        self.lines = {
            str(Path(file).relative_to(place)): {
                line: {context.partition("|")[0] for context in contexts} & self.seconds.keys()
                for line, contexts in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        print(f"{len(self.seconds)} tests pass without a mutant", flush=True)

    def of(self, mutant: Mutant, mutated: str) -> Iterator[list[str]]:
        """Tests to try a mutant with, in two lists: those that execute its line, then the others of its folder."""
        before = (ROOT / mutant.file).read_text(encoding="utf-8").splitlines()
        changed = _changed_lines(before, mutated.splitlines())
        nodes = [node for node in ast.walk(ast.parse("\n".join(before))) if isinstance(node, ast.stmt)]
        around = [node for node in nodes if node.lineno <= changed[0] <= (node.end_lineno or node.lineno)]
        lines = self.lines.get(mutant.file, {})
        reaching = set().union(*(lines.get(line, set()) for line in {*changed, around[-1].lineno}))
        yield self._fast(reaching, MOST_REACHING)
        # Those of a folder within may stand beside it; no line of a function holds its defaults.
        folders = f"tests/{mutant.family.partition('/')[0]}/", "tests/test_api.py"
        yield self._fast({test for test in self.seconds if test.startswith(folders)} - reaching, MOST_OTHERS)

    def _fast(self, tests: set[str], most: float) -> list[str]:
        chosen, spent = [], 0.0
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            spent += self.seconds[test]
            if spent > most:
                break
            chosen.append(test)
        return chosen


def _changed_lines(before: list[str], after: list[str]) -> list[int]:
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [
        line + 1 for kind, start, end, *_ in blocks if kind != "equal" for line in range(start, max(end, start + 1))
    ]


def _plain(code: str) -> str:
    """Code without what changes nothing in any place."""
    return _NO_CASE.sub(lambda found: found[0].lower(), _STRICT.sub("", code))


def _try(mutant: Mutant, tests: _Tests, copies: Queue[Path]) -> str:
    """What becomes of a mutant: killed, timeout, survived, or gone from the code."""
    mutated = _mutated(mutant)
    if mutated is None:
        return "gone"
    if _plain(mutated) == _plain((ROOT / mutant.file).read_text(encoding="utf-8")):
        return "equivalent"
    place = copies.get()
    try:
        (place / mutant.file).write_text(mutated, encoding="utf-8")
        for chosen in tests.of(mutant, mutated):
            seconds = 120 + 10 * sum(tests.seconds[test] for test in chosen)
            (place / "tests.txt").write_text("\n".join(chosen), encoding="utf-8")
            ran = _pytest(place, "-x", "@tests.txt", seconds=seconds) if chosen else 0
            if ran != 0:
                return "timeout" if ran is None else "killed"
        return "survived"
    finally:
        shutil.copy2(ROOT / mutant.file, place / mutant.file)
        copies.put(place)


def _change(mutant: Mutant) -> tuple[str, str]:
    """The lines that a mutant takes away, and those that it puts there, without their indents."""
    lines = difflib.ndiff(
        (ROOT / mutant.file).read_text(encoding="utf-8").splitlines(), (_mutated(mutant) or "").splitlines()
    )
    kept = [(line[0], line[2:].strip()) for line in lines if line[0] in "-+"]
    before, after = ("\n".join(text for sign, text in kept if sign == side) for side in "-+")
    return before, after


def _equivalent() -> dict[tuple[str, str, str, str], str]:
    """(file, function, before, after) of the changes that make no difference -> why; an entry must fit the code."""
    entries = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or []
    for entry in entries:
        code = [line.strip() for line in (ROOT / entry["file"]).read_text(encoding="utf-8").splitlines()]
        for line in entry["before"].splitlines():
            if line not in code:
                near = difflib.get_close_matches(line, code, 1)
                raise SystemExit(f"{EQUIVALENT}: no line {line!r} in {entry['file']}; near: {near}. Mend or delete it.")
    return {(entry["file"], entry["function"], entry["before"], entry["after"]): entry["reason"] for entry in entries}


def _report(results: dict[Mutant, str], equivalent: dict[tuple[str, str, str, str], str]) -> int:
    counts = {family: Counter[str]() for family in [*FAMILIES, "all"]}
    for mutant, outcome in sorted(results.items()):
        if outcome == "survived":
            before, after = _change(mutant)
            entry = {"file": mutant.file, "function": mutant.function, "before": before, "after": after}
            entry["reason"] = equivalent.get((mutant.file, mutant.function, before, after), "")
            outcome = "equivalent" if entry["reason"] else outcome
            shown = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=1000)
            print(f"# {outcome}: {mutant.full_name}\n{shown}")
        for group in (mutant.family, "all"):
            counts[group].update(["drawn", outcome])
    columns = ["drawn", "killed", "timeout", "gone", "equivalent", "survived"]
    print(f"{'':15}{''.join(f'{name:>12}' for name in columns)}{'of the rest':>13}")
    for group, own in counts.items():
        share = own["survived"] / max(1, own["drawn"] - own["equivalent"] - own["gone"])
        print(f"{group:15}{''.join(f'{own[name]:>12}' for name in columns)}{share:>13.1%}")
    if share > MOST_SURVIVING:
        print(f"{share:.1%} survive, at most {MOST_SURVIVING:.0%} may")
    return int(share > MOST_SURVIVING)


if __name__ == "__main__":
    raise SystemExit(main())
