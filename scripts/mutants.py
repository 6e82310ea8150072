"""Change one thing in the code, run the tests, and see whether they notice: what they don't notice, no test fixes.

mutmut makes the changes (mutants): ``<`` becomes ``<=``, ``+`` becomes ``-``, an argument is left out. A sample is
drawn by seed over the scorers, readers, aggregation and the judge. For each mutant those tests of its family run that
reach the changed function, the fast ones first, until one fails. A mutant that survives is shown: either a test is
missing, or the change makes no difference; such changes are in ``scripts/mutants.yaml``, with the reason. The exit code
is 1 if more than 3 % of the others survive. Everything is made in ``build/mutants``.

    python scripts/mutants.py
    python scripts/mutants.py --family trees --count 50 --seed 2
    python scripts/mutants.py --survivors
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import NamedTuple

import libcst
import yaml
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.file_mutation import create_mutations, group_by_top_level_node
from mutmut.mutation.trampoline_templates import mangle_function_name

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "scripts" / "mutants.yaml"
MOST_SURVIVING = 0.03
MEMORY = 8 * 2**30  # of one process: a mutant may ask for more and more

LEFT_OUT = frozenset(
    """__init__ baseline callable comparisons corpus data files foreign logs mapped_rows page picture public_files
    readers run scored_runs streamed task tilse_engine topics units""".split()
)
"""Modules whose tests are elsewhere: what a harness run reaches, what is only shown, and what loads a model."""

FAMILIES = {
    family: [path.stem for path in sorted((ROOT / "tls_tasks" / family).glob("*.py")) if path.stem not in LEFT_OUT]
    for family in ("core", "text", "timelines", "summaries", "evidence", "trees", "reports", "reports/judges", "after")
}
"""Folder of ``tls_tasks`` -> its modules. Their tests are those in the folder of the same name in ``tests``."""

SHARED = "test_batteries test_signatures core/test_front_door core/test_score_shown core/test_warnings"
"""What is run for every family: its part of these is not in its own folder."""

# Tests of time take minutes where each call goes through mutmut's switch; what processes do is not seen by it.
OPTIONS = [
    "-m",
    "not slow",
    "-k",
    "not (linear or minutes or processes or killed or interrupt)",
    "-p",
    "no:cacheprovider",
]


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
    parser.add_argument("--jobs", type=int, default=2, help="how many families are tried at a time (2)")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="only from this one; may be given again")
    parser.add_argument("--survivors", action="store_true", help="only what survived the last time, with today's tests")
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would tests
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    last = FOLDER / "results.json"
    equivalent = _equivalent()
    if args.survivors:
        results = {Mutant(*mutant): outcome for *mutant, outcome in json.loads(last.read_text(encoding="utf-8"))}
        drawn = [mutant for mutant, outcome in results.items() if outcome in ("survived", "not tried")]
    else:
        shutil.rmtree(FOLDER, ignore_errors=True)
        results, drawn = {}, _draw(args.family or list(FAMILIES), args.count, args.seed, args.jobs)
    own = {family: [mutant for mutant in drawn if mutant.family == family] for family in FAMILIES}
    with ThreadPoolExecutor(args.jobs) as pool:
        longest_first = sorted(filter(own.get, own), key=lambda family: -len(own[family]))
        for outcomes in as_completed([pool.submit(_try, family, own[family]) for family in longest_first]):
            results |= outcomes.result()
            last.write_text(json.dumps([[*mutant, outcome] for mutant, outcome in results.items()]), encoding="utf-8")
    return _report(results, equivalent)


def _draw(families: Sequence[str], count: int, seed: int, jobs: int) -> list[Mutant]:
    """So many of all mutants, each as likely as any other; a change elsewhere in the code draws no others."""
    files = [(family, f"tls_tasks/{family}/{name}.py") for family in families for name in FAMILIES[family]]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "setup.cfg").write_text("[mutmut]\nsource_paths = tls_tasks\n", encoding="utf-8")
    with ProcessPoolExecutor(jobs) as pool:
        every = [mutant for own in pool.map(_mutants_of, *zip(*files, strict=True)) for mutant in own]
    print(f"{len(every)} mutants in {len(files)} files, {min(count, len(every))} drawn with seed {seed}", flush=True)
    return sorted(sorted(every, key=lambda mutant: random.Random(f"{seed} {mutant.full_name}").random())[:count])


def _mutants_of(family: str, file: str) -> list[Mutant]:
    os.chdir(FOLDER)  # where mutmut looks for its settings
    module, mutations, *_ = create_mutations(file, (ROOT / file).read_text(encoding="utf-8"))
    count = {node: len(own) for node, own in group_by_top_level_node(mutations).items()}
    found = []
    for statement in module.body:
        is_class = isinstance(statement, libcst.ClassDef)
        for node in statement.body.body if is_class else [statement]:
            if isinstance(node, libcst.FunctionDef) and node in count:
                name = mangle_function_name(name=node.name.value, class_name=statement.name.value if is_class else None)
                found += [Mutant(family, file, f"{name}__mutmut_{i + 1}") for i in range(count[node])]
    return found


def _try(family: str, mutants: Sequence[Mutant]) -> dict[Mutant, str]:
    """What becomes of the mutants of a family: killed, timeout or survived."""
    place = FOLDER / family.replace("/", "-")
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    paths = [path for path in files.stdout.decode().splitlines() if (ROOT / path).is_file()]
    for path in paths:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, place / path)
    shared = " ".join(f"tests/{name}.py" for name in SHARED.split())
    tests = f"tests/{family.partition('/')[0]} {shared}"  # those of a folder within may stand beside it
    lists = {
        "only_mutate": sorted({mutant.file for mutant in mutants}),
        "also_copy": sorted({path.partition("/")[0] for path in paths} - {"tls_tasks", "tests"}),
        "pytest_add_cli_args_test_selection": sorted({*tests.split()}),
        "pytest_add_cli_args": OPTIONS,
    }
    settings = ["[mutmut]", "source_paths = tls_tasks", "timeout_multiplier = 5", "timeout_constant = 5"]
    settings += ["debug = true"]  # the log has what each test says
    settings += ["process_isolation = forkserver"]  # what the unchanged code left in a cache would hide a mutant
    settings += [f"{key} =" + "".join(f"\n  {value}" for value in values) for key, values in lists.items()]
    (place / "setup.cfg").write_text("\n".join(settings) + "\n", encoding="utf-8")

    names = [mutant.full_name for mutant in mutants]
    done = partial(subprocess.run, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    ran = done([sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names])
    (place / "log.txt").write_text(ran.stdout.replace("\r", "\n"), encoding="utf-8")
    if ran.returncode:
        print(f"{family}: nothing was tried, see {place / 'log.txt'}\n{ran.stdout[-2000:]}", flush=True)
        return dict.fromkeys(mutants, "not tried")
    listing = done([sys.executable, "-m", "mutmut", "results", "--all", "true"]).stdout
    listed = dict(line.strip().split(": ") for line in listing.splitlines())
    outcomes = {"killed": "killed", "timeout": "timeout", "segfault": "timeout"}  # the last: one that no signal stops
    found = {  # what survived the last time may be gone from the code
        mutant: outcomes.get(listed[mutant.full_name], "survived") if mutant.full_name in listed else "gone"
        for mutant in mutants
    }
    print(f"{family}: {dict(Counter(listed.get(name, 'gone') for name in names))}", flush=True)
    return found


def _change(mutant: Mutant) -> tuple[str, str]:
    """The lines that a mutant takes away, and those that it puts there, without their indents."""
    os.chdir(FOLDER / mutant.family.replace("/", "-"))
    lines = get_diff_for_mutant(mutant.full_name, path=mutant.file).splitlines()[2:]
    before, after = ("\n".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
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
    columns = ["drawn", "killed", "timeout", "gone", "equivalent", "survived", "not tried"]
    print(f"{'':15}{''.join(f'{name:>12}' for name in columns)}{'of the rest':>13}")
    for group, own in counts.items():
        share = own["survived"] / max(1, own["drawn"] - own["equivalent"] - own["gone"])
        print(f"{group:15}{''.join(f'{own[name]:>12}' for name in columns)}{share:>13.1%}")
    if share > MOST_SURVIVING:
        print(f"{share:.1%} survive, at most {MOST_SURVIVING:.0%} may")
    return int(share > MOST_SURVIVING or own["not tried"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
