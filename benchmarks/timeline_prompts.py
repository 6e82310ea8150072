"""What the prompts of tls_crisis show of the reference, and how tls_datewise fares with it, at several budgets.

    python benchmarks/timeline_prompts.py [--data FOLDER] [--task tls_crisis] [BUDGET …]

FOLDER holds the data set in news-tls' layout (default: beside the checkout). For each budget in characters and each
topic: the share of reference dates that are among the days shown, AR-1 of an oracle (for each shown reference date the
shown sentence of that day with the best ROUGE-1 F against the reference's), and AR-1 and date F1 of the baseline.
Prints rows of a Markdown table.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tls_tasks
from tls_tasks.text.rouge155 import tokenize
from tls_tasks.timelines.baseline import answer

DEFAULT_DATA = Path(__file__).parent.parent.parent / "shared" / "data"


def shown_sentences(context: str) -> dict[str, list[str]]:
    """Day -> the sentences under its heading."""
    days: dict[str, list[str]] = defaultdict(list)
    day = ""
    for line in context.splitlines():
        if line.startswith("- "):
            days[day].append(line[2:])
        else:
            day = line.rpartition(", ")[2]
    return days


def overlap(sentence: str, reference: Sequence[str]) -> float:
    """ROUGE-1 F of one sentence."""
    left, right = Counter(tokenize(sentence)), Counter(word for text in reference for word in tokenize(text))
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def oracle(doc: Mapping[str, Any]) -> str:
    """The best that can be copied: a line for each reference date that is shown."""
    shown = shown_sentences(doc["context"])
    rows = [row for row in json.loads(doc["reference"]) if row["date"] in shown]
    best = (max(shown[row["date"]], key=lambda sentence: overlap(sentence, row["text"])) for row in rows)
    return "\n".join(f"{row['date']}: {sentence}" for row, sentence in zip(rows, best, strict=True))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--task", default="tls_crisis")
    parser.add_argument("budgets", nargs="*", type=int, default=[24_000, 100_000, 400_000, 100_000_000])
    arguments = parser.parse_args()
    task = tls_tasks.task(arguments.task)
    print("| budget | topic | reference dates shown | oracle AR-1 | `tls_datewise` AR-1 | date F1 |")
    print("|--:|---|--:|--:|--:|--:|")
    for budget in arguments.budgets:
        docs = task.documents(data=str(arguments.data), context_budget=budget)
        answers: dict[str, str] = {}
        for doc in docs:
            prompt = task.prompt(doc)
            if prompt not in answers:
                answers[prompt] = answer(prompt)
        topics = [task.topic_of(doc) for doc in docs]
        best = [task.process(doc, oracle(doc)) for doc in docs]
        found = [task.process(doc, answers[task.prompt(doc)]) for doc in docs]
        for name in [*dict.fromkeys(topics), None]:
            of = [index for index, topic in enumerate(topics) if name in (topic, None)]
            # the distinct dates of a topic's references
            dates = {(topics[i], row["date"]) for i in of for row in json.loads(docs[i]["reference"])}
            days = {(topics[i], day) for i in of for day in shown_sentences(docs[i]["context"])}
            most, own = (task.results([units[i] for i in of], [topics[i] for i in of]) for units in (best, found))
            hits = len(dates & days)
            print(
                f"| {budget:,} | {name or 'all'} | {hits} of {len(dates)} ({hits / len(dates):.3f}) "
                f"| {most['ar1_f1']:.4f} | {own['ar1_f1']:.4f} | {own['date_f1']:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
