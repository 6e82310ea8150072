"""Compute every metric over tests/recorded/answers.jsonl and record the numbers in tests/recorded/scores.json.

Without arguments, the scores are computed again and written. ``--check`` writes nothing: it prints each number that
differs from the recorded one and exits with 1 if there is any.

The results of a case are recorded by name and, where it has several rows, so are the numbers of each row. All other
numbers (alignments, counts, verdicts) are recorded as one hash, ``details``. ``--show ID`` prints them all, so that the
output of two checkouts can be compared with diff.

scores.json also keeps a history for each metric: one entry for each version, with a hash of the numbers it gave. When
numbers change, raise the metric's VERSION first. ``--same-version REASON`` replaces the numbers of the current version
instead and records the reason; use it when answers were added or removed and no recorded number changed.

A line of answers.jsonl is either a case::

    {"id": …, "metrics": […], "predictions": […], "references": […], "options": {…}}

or a value that several cases share, ``{"name": …, "value": …}``. Text of the form ``@NAME`` stands for such a value,
and ``@ID`` for the prediction of an earlier case.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import numbers
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import scipy

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # the package of this checkout, whichever one is installed

import tls_tasks  # noqa: E402

COMPACT = (",", ":")
RECORDED = ROOT / "tests" / "recorded"
ANSWERS = RECORDED / "answers.jsonl"
SCORES = RECORDED / "scores.json"

SHARED_DEPTH = 3
"""Shared values are looked up in the columns and options, in their elements, and in the elements of those."""

FURTHER = ("averages", "counts", "domains", "runs", "variants")
"""Results that are recorded by name for cases of several rows only."""

POSITIONS = ("reference", "row", "sample")
"""Numbers of a row that say which row it is; they go into the hash."""

Numbers = dict[str, Any]
"""Path of a result -> number, None, or text for signatures, hashes and values that JSON can't hold."""

Scores = dict[str, dict[str, Numbers]]
"""Case id -> metric -> numbers."""


class Case(NamedTuple):
    """One call of one or more metrics."""

    id: str
    metrics: list[str]
    predictions: list[Any]
    references: list[Any]
    options: dict[str, Any]


class Change(NamedTuple):
    """A number that is not the recorded one."""

    id: str
    metric: str
    key: str
    recorded: Any
    now: Any

    def __str__(self) -> str:
        """One line."""
        return f"{self.id} {self.metric} {self.key}: recorded {self.recorded}, now {self.now}"


class SameVersionError(Exception):
    """Numbers of a metric changed, but its version did not."""


def words_judge(query: Any) -> bool:
    """Answer a judge's question by comparing words; stands for ``"judge": "words"`` in a case."""
    fields = query.fields
    words = set(re.findall(r"\w+", fields["sentence"].lower()))
    if query.kind == "citation_support":
        return len(words & set(re.findall(r"\w+", fields["document"].lower()))) * 2 >= len(words)
    if query.kind == "nugget_agreement":
        return fields["answer"] in fields["sentence"]
    if query.kind == "negative":
        return bool(words & {"not", "nobody", "no", "never"})
    if query.kind == "first_instance":
        return fields["sentence"] not in fields["previous"].splitlines()
    return "terrible" not in words


def probability_judge(query: Any) -> float | str | None:
    """Answer with probabilities, with words, or not at all; stands for ``"judge": "probability"`` in a case."""
    if query.kind == "first_instance":
        return None
    if query.kind == "negative":
        return "YES" if words_judge(query) else "Hm, no."
    return 0.75 if words_judge(query) else 0.25


JUDGES = {"words": words_judge, "probability": probability_judge}


def read_cases() -> list[Case]:
    """The cases of answers.jsonl, with the shared values put in."""
    values: dict[str, Any] = {}
    cases = []
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "name" in row:
            values["@" + row["name"]] = row["value"]
            continue
        predictions, references = (_put_in(row[name], values, SHARED_DEPTH) for name in ("predictions", "references"))
        options = {name: _put_in(value, values, 1) for name, value in row["options"].items()}
        cases.append(Case(row["id"], row["metrics"], predictions, references, options))
        if len(predictions) == 1:
            values["@" + row["id"]] = predictions[0]
    return cases


def compute(case: Case, metric: str, detailed: bool = True) -> Numbers:
    """All numbers of a case. Where the metric raises, ``error`` is the name of the exception."""
    options = dict(case.options)
    if isinstance(options.get("judge"), str):
        options["judge"] = JUDGES[options["judge"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # answers that can't be read are what many cases are about
        try:
            score = getattr(tls_tasks, metric)(case.predictions, case.references, **options)
            return dict(flatten(score.as_dict(detailed=detailed)))
        except Exception as error:
            return {"error": type(error).__name__}


def condense(found: Numbers, n_rows: int) -> Numbers:
    """The numbers to record by name, and a hash of the others.

    Args:
        found: All numbers.
        n_rows: How many rows the case has. The numbers of a single row are those of the case, and go into the hash.
    """
    named = {key: value for key, value in found.items() if _has_name(key, n_rows)}
    others = {key: value for key, value in found.items() if key not in named}
    return {**named, "details": _digest(others)[:16]} if others else named


def compute_all() -> Scores:
    """The scores of all cases as they are now."""
    return {
        case.id: {metric: condense(compute(case, metric), len(case.predictions)) for metric in case.metrics}
        for case in read_cases()
    }


def flatten(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers in nested results, each with its path; text is left out, except for signatures."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from flatten(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from flatten(item, f"{path}.{index}")
    elif value is None or isinstance(value, bool):
        yield path, value
    elif isinstance(value, numbers.Integral):
        yield path, int(value)
    elif isinstance(value, numbers.Real):
        yield path, _plain_float(float(value))
    elif path == "signature":
        yield path, str(value)


def changes(recorded: Scores, now: Scores) -> list[Change]:
    """Every number that differs, also where there is none on one side. 1 and 1.0 differ."""
    found = []
    for case_id in dict.fromkeys([*recorded, *now]):
        before, after = recorded.get(case_id, {}), now.get(case_id, {})
        for metric in dict.fromkeys([*before, *after]):
            left, right = before.get(metric, {}), after.get(metric, {})
            for key in dict.fromkeys([*left, *right]):
                values = [json.dumps(side[key]) if key in side else "nothing" for side in (left, right)]
                if values[0] != values[1] and not ("_ci" in key and _is_close(left.get(key), right.get(key))):
                    found.append(Change(case_id, metric, key, *values))
    return found


def _is_close(before: Any, after: Any) -> bool:
    return isinstance(before, float) and isinstance(after, float) and math.isclose(before, after, rel_tol=_INEXACT)


_INEXACT = 1e-8 if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15) else 0.0
"""By how much ends of intervals may differ: the quantiles of older releases of scipy are other ones, by a billionth."""


def version_of(scores: Scores, metric: str) -> int:
    """The version in the metric's signatures."""
    signatures = [
        by_metric[metric]["signature"] for by_metric in scores.values() if "signature" in by_metric.get(metric, {})
    ]
    versions = {int(signature.rpartition("|v:")[2]) for signature in signatures}
    if len(versions) != 1:
        raise ValueError(f"{metric}: the signatures have the versions {sorted(versions)}, expected one")
    return versions.pop()


def digest_of(scores: Scores, metric: str) -> str:
    """A hash of the metric's numbers, without signatures."""
    own = {
        case_id: {key: value for key, value in by_metric[metric].items() if key != "signature"}
        for case_id, by_metric in scores.items()
        if metric in by_metric
    }
    return _digest(own)


def metrics_in(scores: Scores) -> list[str]:
    """The metrics that were computed, by name."""
    return sorted({metric for by_metric in scores.values() for metric in by_metric})


def updated_history(
    history: Mapping[str, list[Any]], scores: Scores, reason: str | None = None
) -> dict[str, list[Any]]:
    """The history with the numbers of today.

    Raises:
        SameVersionError: Numbers changed, their version did not, and no reason was given.
    """
    result = {metric: list(entries) for metric, entries in history.items()}
    for metric in metrics_in(scores):
        entries = result.setdefault(metric, [])
        entry = {"version": version_of(scores, metric), "sha256": digest_of(scores, metric)}
        last = entries[-1] if entries else None
        if last is None or entry["version"] > last["version"]:
            entries.append(entry)
        elif entry["version"] < last["version"]:
            raise SameVersionError(
                f"{metric}: version {entry['version']} is older than the last one, {last['version']}"
            )
        elif entry["sha256"] != last["sha256"]:
            if not reason:
                raise SameVersionError(
                    f"{metric}: numbers changed, and its version is still {last['version']}. Raise its VERSION, "
                    "or give --same-version REASON."
                )
            entries[-1] = {**entry, "rewritten": [*last.get("rewritten", []), reason]}
    return result


def read_recorded() -> dict[str, Any]:
    """What scores.json holds: ``history`` and ``scores``."""
    if not SCORES.exists():
        return {"history": {}, "scores": {}}
    recorded: dict[str, Any] = json.loads(SCORES.read_text(encoding="utf-8"))
    return recorded


def write_recorded(history: Mapping[str, Any], scores: Scores) -> None:
    """Write scores.json with one line for each case and metric, so that a diff shows which of them changed."""
    lines = ",\n".join(
        f"{json.dumps(case_id)}: {{"
        + ",".join(
            f"\n {json.dumps(metric)}: {json.dumps(found, separators=COMPACT)}" for metric, found in by_metric.items()
        )
        + "}"
        for case_id, by_metric in scores.items()
    )
    text = f'{{"history": {json.dumps(history, indent=1)},\n"scores": {{\n{lines}\n}}}}\n'
    SCORES.write_text(text, encoding="utf-8")


def show(start: str) -> None:
    """Print all numbers of some cases, one a line."""
    for case in read_cases():
        if case.id.startswith(start):
            for metric in case.metrics:
                for key, value in compute(case, metric).items():
                    print(case.id, metric, key, json.dumps(value))


def main() -> int:
    """Record, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with scores.json instead of writing it")
    parser.add_argument("--show", metavar="ID", help="print all numbers of the cases whose id starts with ID")
    parser.add_argument("--same-version", metavar="REASON", help="why the numbers of a version change after all")
    arguments = parser.parse_args()
    if arguments.show is not None:
        show(arguments.show)
        return 0
    recorded, now = read_recorded(), compute_all()
    found = changes(recorded["scores"], now)
    if arguments.check:
        for change in found:
            print(change)
        return 1 if found else 0
    try:
        history = updated_history(recorded["history"], now, arguments.same_version)
    except SameVersionError as error:
        print(error, file=sys.stderr)
        return 1
    write_recorded(history, now)
    print(f"{SCORES}: {len(found)} numbers changed")
    return 0


def _put_in(value: Any, values: Mapping[str, Any], depth: int) -> Any:
    """A value with the shared ones in the places of their names."""
    if isinstance(value, str) and value in values:
        return values[value]
    if depth and isinstance(value, list):
        return [_put_in(item, values, depth - 1) for item in value]
    return value


def _has_name(key: str, n_rows: int) -> bool:
    """Whether a number is recorded by name."""
    parts = key.split(".")
    if parts[0] == "items":
        return n_rows > 1 and len(parts) == 3 and parts[2] not in POSITIONS
    return parts[0] not in ("fields", "problems", *(FURTHER if n_rows <= 1 else ()))


def _digest(found: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _plain_float(value: float) -> float | str:
    """The float itself, which JSON writes by ``repr``, or the name of one that JSON doesn't have."""
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else str(value)


if __name__ == "__main__":
    sys.exit(main())
