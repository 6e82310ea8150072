"""Count what judging takes with several nuggets in a request, on the recorded verdicts of the embedded edition.

    python benchmarks/judge_calls.py

A server on loopback answers every question as it was recorded, alone or among others. It is consistent, so that the
scores are equal; how often a real judge answers otherwise when it is asked for several at once, ``tls-tasks agree``
says.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.reports.judges.server import Server  # noqa: E402
from tls_tasks.core.text_table import text_table  # noqa: E402
from tls_tasks.reports.data import EMBEDDED_RECORDING  # noqa: E402
from tls_tasks.reports.judges import Recorded, from_endpoint  # noqa: E402
from tls_tasks.reports.judges.prompts import neutral, render  # noqa: E402
from tls_tasks.reports.runs import read_run, score_run  # noqa: E402
from tls_tasks.reports.types import Query, Verdict  # noqa: E402

FOLDER = EMBEDDED_RECORDING.parent
NUMBERED = re.compile(r"^(\d+)\. (Question: .*)$", re.MULTILINE)
SIZES = (1, 5, 10, 20)


class Noting:
    """The recording, which also notes what each question looks like."""

    name = "embedded"

    def __init__(self) -> None:
        self._recorded = Recorded.read(EMBEDDED_RECORDING)
        self.alone: dict[str, str] = {}
        self.together: dict[tuple[str, str], str] = {}

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """What was recorded."""
        verdicts = self._recorded.ask(queries)
        for query, verdict in zip(queries, verdicts, strict=True):
            word = "YES" if verdict.value else "NO"
            self.alone[render(query)[0]["content"]] = word
            if query.kind == "nugget_agreement":
                pair = f"Question: {query.fields['question']} Answer: {query.fields['answer']}"
                self.together[neutral(query.fields["sentence"]), neutral(" ".join(pair.split()))] = word
        return verdicts

    def answer(self, sentence: str, n_before: int, messages: list[dict[str, str]]) -> str:
        """What the server says."""
        text = messages[0]["content"]
        if text in self.alone:
            return self.alone[text]
        return "\n".join(f"{number}: {self.together[sentence, pair]}" for number, pair in NUMBERED.findall(text))


def main() -> None:
    """Judge with each size and print the table."""
    run = read_run(FOLDER / "reports.jsonl", FOLDER / "nuggets.jsonl")
    rows = map(json.loads, (FOLDER / "documents.jsonl").read_text(encoding="utf-8").splitlines())
    documents = {row["id"]: row for row in rows}
    noting = Noting()
    expected = score_run(run, noting, documents=documents).as_dict()
    make: Any = Server
    server = make(noting.answer)
    table = [("nuggets per call", "requests", "of nuggets", "prompt tokens", "scores")]
    for size in SIZES:
        judge = from_endpoint(server.url, "recorded", nuggets_per_call=size)
        found = score_run(run, judge, documents=documents).as_dict()
        is_equal = {**found, "signature": ""} == {**expected, "signature": ""}
        sent = [request["messages"][0]["content"] for request in server.requests]
        n_of_nuggets = sum("question" in text.partition("\n")[0] for text in sent)
        tokens = sum(len(text.encode()) for text in sent) // 4
        table.append(
            (str(size), f"{len(sent):,}", f"{n_of_nuggets:,}", f"{tokens:,}", "equal" if is_equal else "other")
        )
        server.requests.clear()
    server.close()
    print(text_table(table))


if __name__ == "__main__":
    main()
