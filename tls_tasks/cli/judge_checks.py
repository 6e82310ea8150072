"""``tls-tasks judge --self-test``: whether a judge works; ``--dry-run``: what judging would take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import number, say, write_json
from tls_tasks.core.terminal import text_table, visible
from tls_tasks.reports.judges.known_answers import Case, self_test, shares
from tls_tasks.reports.judges.model import DEFAULTS
from tls_tasks.reports.judges.price import price, read_prices, total
from tls_tasks.reports.types import Judge

_WORDS = {True: "YES", False: "NO", None: "nothing"}
_PRICE_NOTE = """\
A range is the least and the most: which questions are asked depends on earlier verdicts. What the cache answers
is in no call. Tokens are estimated, a prompt's at four bytes each; a model that thinks before it answers writes more
(up to {} a call by default). Answers that can't be read are asked for once more, which is not counted."""
_NOTE = "95 % intervals are Wilson's. A question without a verdict counts as wrong."


def run_self_test(judge: Judge, least: float, *, as_json: bool) -> int:
    """Ask, print accuracy and failures, and say by the exit code whether the judge is good enough."""
    cases = self_test(judge)
    groups = shares(cases)
    failed = [_failure(case) for case in cases if not case.is_right]
    total = groups["all"]["all"]
    if as_json:
        tables = {
            name: {value: {**share._asdict(), "accuracy": share.accuracy} for value, share in group.items()}
            for name, group in groups.items()
        }
        write_json(Path("-"), {"judge": judge.name, **tables, "failed": failed})
    else:
        rows = [["questions", "right", "of", "unread", "accuracy", "from", "to"]]
        for name, prefix in (("all", ""), ("kind", ""), ("trap", "trap: ")):
            for value, share in groups[name].items():
                numbers = map(number, (share.accuracy, *share[3:]))
                rows.append([f"{prefix}{value}", str(share.right), str(share.n), str(share.unread), *numbers])
        say("\n".join([text_table(rows), "", _NOTE, visible(judge.name), *_failures(failed)]))
    return int(total.accuracy < least or total.unread == total.n)


def say_price(score: Callable[[Judge], Any], judge: Judge, args: argparse.Namespace) -> int:
    """Print what judging would take, by kind of question."""
    prices = None if args.price is None else read_prices("--price", args.price)
    found = price(score, judge)
    rows = {**found, "all": total(found)}
    money = {kind: row.money(*prices) for kind, row in rows.items()} if prices else {}
    if args.json:
        paid = {kind: {"money": pair} for kind, pair in money.items()}
        write_json(Path("-"), {kind: {**row._asdict(), **paid.get(kind, {})} for kind, row in rows.items()})
        return 0
    table = [["question", "questions", "calls", "prompt tokens", "completion tokens", *(["money"] if prices else [])]]
    for kind, row in rows.items():
        table.append([kind, *(_range(pair, ",") for pair in row), *([_range(money[kind], ",.2f")] if prices else [])])
    say("\n".join([text_table(table), "", _PRICE_NOTE.format(DEFAULTS["max_tokens"])]))
    return 0


def _range(pair: tuple[float, float], form: str) -> str:
    low, high = (format(end, form) for end in pair)
    return low if low == high else f"{low} to {high}"


def _failure(case: Case) -> dict[str, Any]:
    passage = case.query.about.get("passage")
    return {
        "kind": case.query.kind,
        "trap": case.trap,
        **({"passage": passage} if passage else {}),
        "fields": dict(case.query.fields),
        "expected": _WORDS[case.expected],
        "got": _WORDS[case.verdict.value],
        "raw": case.verdict.raw or case.verdict.reason,
    }


def _failures(failed: Sequence[dict[str, Any]]) -> Iterator[str]:
    for row in failed:
        yield ""
        yield visible(f"{row['kind']} ({row['trap']}): {row['expected']} expected, got {row['got']}: {row['raw']}")
        for name, text in {"passage": row.get("passage", ""), **row["fields"]}.items():
            if text:
                yield visible(f"  {name}: {' / '.join(text.splitlines())}")
