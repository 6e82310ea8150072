"""What ``tls_corpus`` makes of whole corpora with the rules of tests/rule_model.py as its model; prints two tables.

    python benchmarks/tls_corpus.py [--data FOLDER] [--chunks 2048 8192 32768] [--budgets 24000 100000 400000]

FOLDER holds ``crisis`` in news-tls' layout (default: ``shared/data`` beside the checkout). The rules answer on loopback
and see the text of each question only. Tokens are counted as it counts them without a tokenizer: one for 3.2 bytes.
Beside it stand ``tls_datewise`` and the same rules without ``tls_corpus``, on the prompts of three budgets.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import re
import tempfile
from collections import defaultdict
from typing import Any

from benchmarks.comparisons import ROOT

DATA = ROOT.parent / "shared" / "data"

KEYS = ("ar1_f1", "ar2_f1", "date_f1")


def run(model: str, data: str, model_args: dict[str, Any], **options: Any) -> dict[str, Any]:
    """One run of the harness over the four topics."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    results: dict[str, Any] = lm_eval.simple_evaluate(
        model=model,
        model_args=model_args,
        tasks=["tls_crisis"],
        task_manager=TaskManager(
            include_path=str(ROOT / "task_configs"), include_defaults=False, metadata={"data": data, **options}
        ),
        apply_chat_template=model != "tls_datewise",
    )
    return results


def run_corpus(data: str, endpoint: dict[str, Any], chunk_tokens: int) -> dict[str, Any]:
    """One run of ``tls_corpus``."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TLS_TASKS_CACHE"] = cache  # nothing of an earlier run
        model_args = {"base": "local-chat-completions", **endpoint, "chunk_tokens": chunk_tokens}
        return run("tls_corpus", data, model_args)


def serve() -> tuple[Any, dict[str, Any]]:
    """The rules as a server, and how a model reaches it."""
    parts: Any = importlib.import_module("tests.harness_parts")
    rules: Any = importlib.import_module("tests.rule_model")
    server = parts.Server(lambda prompt: one_answer(rules, prompt) if "Timeline:" in prompt else rules.answer(prompt))
    return server, {"model": "rules", "base_url": server.url, "num_concurrent": 4}


def cells(results: dict[str, Any]) -> str:
    """AR-1, AR-2 and date F1 as cells of a table."""
    found = results["results"]["tls_crisis"]
    return " | ".join(f"{found[f'{key},none']:.4f}".removeprefix("0") for key in KEYS)


def one_answer(rules: Any, prompt: str) -> str:
    """The rules' answer to the task's own prompt: the dates that most of its sentences name, each with its centre."""
    from tls_tasks.timelines.prompts import centrality

    n_dates = int(re.findall(r"Choose about (\d+) date", prompt)[-1])
    lengths = re.findall(r"in at most (\d+) sentences", prompt)
    published, found = None, defaultdict(list)
    for line in prompt.rpartition("<sentences>")[2].partition("</sentences>")[0].splitlines():
        if heading := re.fullmatch(r"\w+day, (\d{4}-\d{2}-\d{2})", line):
            published = datetime.date.fromisoformat(heading[1])
        elif line.startswith("- "):
            for day in set(rules.days_of(line, published)) or {published}:
                found[day].append(line[2:])
    lines = []
    for day in sorted(sorted(found, key=lambda day: -len(found[day]))[:n_dates]):
        scores = centrality(found[day])
        best = sorted(range(len(scores)), key=lambda place: -scores[place])[: int(lengths[-1]) if lengths else 1]
        lines.append(f"{day}: {' '.join(found[day][place] for place in sorted(best))}")
    return "\n".join(lines)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(DATA))
    parser.add_argument("--chunks", type=int, nargs="+", default=[2048, 8192, 32768])
    parser.add_argument("--budgets", type=int, nargs="+", default=[24_000, 100_000, 400_000])
    arguments = parser.parse_args()
    server, endpoint = serve()
    side_by_side = ["| system | reads | AR-1 | AR-2 | date F1 |", "|---|---|---|---|---|"]
    for budget in arguments.budgets:
        shown = f"a prompt with {budget:,} characters"
        found = run("tls_datewise", arguments.data, {}, context_budget=budget)
        side_by_side.append(f"| `tls_datewise` | {shown} | {cells(found)} |")
        found = run("local-chat-completions", arguments.data, endpoint, context_budget=budget)
        side_by_side.append(f"| the rules | {shown} | {cells(found)} |")
    costs = ["| chunk tokens | map calls | in | out | write calls | in | out |", "|---|---|---|---|---|---|---|"]
    for chunk_tokens in arguments.chunks:
        results = run_corpus(arguments.data, endpoint, chunk_tokens)
        side_by_side.append(
            f"| the rules in `tls_corpus` | all, {chunk_tokens:,} tokens at a time | {cells(results)} |"
        )
        totals = results["config"]["tls_corpus"]
        figures = [f"{name}_{figure}" for name in ("map", "write") for figure in ("calls", "tokens_in", "tokens_out")]
        costs.append(f"| {chunk_tokens:,} | {' | '.join(f'{totals[figure]:,}' for figure in figures)} |")
    server.close()
    print("\n".join([*side_by_side, "", *costs]))


if __name__ == "__main__":
    main()
