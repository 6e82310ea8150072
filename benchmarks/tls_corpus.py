"""What ``tls_corpus`` makes of whole corpora with the rules of tests/rule_model.py as its model; prints two tables.

    python benchmarks/tls_corpus.py [--data FOLDER] [--chunks 2048 8192 32768]

FOLDER holds ``crisis`` in news-tls' layout (default: ``shared/data`` beside the checkout). The rules answer on loopback
and see the text of each question only. Tokens are counted as it counts them without a tokenizer: one for 3.2 bytes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))


def run(url: str, data: str, chunk_tokens: int) -> dict[str, Any]:
    """One run of the harness over the four topics."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    results: dict[str, Any] = lm_eval.simple_evaluate(
        model="tls_corpus",
        model_args={
            "base": "local-chat-completions",
            "model": "rules",
            "base_url": url,
            "num_concurrent": 4,
            "chunk_tokens": chunk_tokens,
        },
        tasks=["tls_crisis"],
        task_manager=TaskManager(
            include_path=str(ROOT / "task_configs"), include_defaults=False, metadata={"data": data}
        ),
        apply_chat_template=True,
    )
    return results


def main() -> None:
    """Run and print."""
    parts: Any = importlib.import_module("tests.harness_parts")
    rules: Any = importlib.import_module("tests.rule_model")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--chunks", type=int, nargs="+", default=[2048, 8192, 32768])
    arguments = parser.parse_args()
    server = parts.Server(rules.answer)
    scores = ["| chunk tokens | AR-1 | AR-2 | date F1 |", "|---|---|---|---|"]
    costs = [
        "| topic | chunk tokens | map calls | in | out | write calls | in | out |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for chunk_tokens in arguments.chunks:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["TLS_TASKS_CACHE"] = cache  # nothing of an earlier run
            results = run(server.url, arguments.data, chunk_tokens)
            steps = json.loads(Path(results["config"]["tls_corpus"]["steps"]).read_text(encoding="utf-8"))
        numbers = [f"{results['results']['tls_crisis'][f'{key},none']:.4f}" for key in ("ar1_f1", "ar2_f1", "date_f1")]
        scores.append(f"| {chunk_tokens:,} | {' | '.join(number.lstrip('0') for number in numbers)} |")
        for topic in steps:
            cells = [
                f"{topic[f'{name}_{what}']:,}"
                for name in ("map", "write")
                for what in ("calls", "tokens_in", "tokens_out")
            ]
            costs.append(f"| {topic['topic']} | {chunk_tokens:,} | {' | '.join(cells)} |")
    server.close()
    print("\n".join([*scores, "", *costs]))


if __name__ == "__main__":
    main()
