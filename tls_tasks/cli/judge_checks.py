"""``tls-tasks judge --self-test``: whether a judge works."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import number, say, write_json
from tls_tasks.core.terminal import visible
from tls_tasks.core.text_table import text_table

if TYPE_CHECKING:
    from tls_tasks.reports.judges.known_answers import Case
    from tls_tasks.reports.types import Judge

_WORDS = {True: "YES", False: "NO", None: "nothing"}
_NOTE = "95 % intervals are Wilson's. A question without a verdict counts as wrong."


def run_self_test(judge: Judge, least: float, *, as_json: bool) -> int:
    """Ask, print accuracy and failures, and say by the exit code whether the judge is good enough."""
    from tls_tasks.reports.judges.known_answers import self_test, shares

    cases = self_test(judge)
    found = shares(cases)
    failed = [_failure(case) for case in cases if not case.is_right]
    everything = found["all"]["all"]
    if as_json:
        tables = {
            name: {value: {**share._asdict(), "accuracy": share.accuracy} for value, share in group.items()}
            for name, group in found.items()
        }
        write_json(Path("-"), {"judge": judge.name, **tables, "failed": failed})
    else:
        head = ("questions", "right", "of", "unread", "accuracy", "from", "to")
        rows = [
            (value, str(share.right), str(share.n), str(share.unread), *map(number, (share.accuracy, *share[3:])))
            for group in (
                found["all"],
                found["kind"],
                {f"trap: {trap}": share for trap, share in found["trap"].items()},
            )
            for value, share in group.items()
        ]
        say("\n".join([text_table([head, *rows]), "", _NOTE, visible(judge.name), *_failures(failed)]))
    return int(everything.accuracy < least or everything.unread == everything.n)


def _failure(case: Case) -> dict[str, Any]:
    context = case.query.about.get("context")
    return {
        "kind": case.query.kind,
        "trap": case.trap,
        **({"context": context} if context else {}),
        "fields": dict(case.query.fields),
        "expected": _WORDS[case.expected],
        "got": _WORDS[case.verdict.value],
        "raw": case.verdict.raw or case.verdict.reason,
    }


def _failures(failed: Sequence[dict[str, Any]]) -> list[str]:
    lines = []
    for row in failed:
        lines += ["", f"{row['kind']} ({row['trap']}): {row['expected']} expected, got {row['got']}: {row['raw']}"]
        shown = {"context": row["context"], **row["fields"]} if "context" in row else row["fields"]
        lines += [f"  {name}: {' / '.join(text.splitlines())}" for name, text in shown.items()]
    return [visible(line) for line in lines]
