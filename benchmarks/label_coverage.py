"""How often the interval of a corrected judge holds people's mean: GPT-4 and GPT-3.5 as judges of SummEval's summaries.

    python benchmarks/label_coverage.py LLM_summeval

LLM_summeval is a checkout of DAMO-NLP-SG/LLM_summeval (MIT; measured on git bd7dde1). An item is a summary, a request
its document. People say YES if the experts' mean rating reaches a threshold, a judge if its rating does. Of each draw,
n summaries have a label; people's mean is that over all summaries.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tls_tasks.core.correction import correct

_RATING = re.compile(r"\b[1-5](?:\.\d+)?\b(?!\s*-)")
_THRESHOLDS = {"consistency": 4.9, "relevance": 3.99}
_JUDGES = ("gpt-4-0314", "gpt-3.5-turbo-0301")


def verdicts(folder: Path, judge: str, aspect: str) -> Iterator[tuple[str, bool, bool]]:
    """Of each summary the document, the judge's verdict, and people's."""
    for path in sorted((folder / "model_output_annotations").glob("*.jsonl")):
        system, ratings = path.name.partition("_")[0], {}
        answers = folder / "eval_model_generations" / judge / f"eval_{system}_generations" / f"{aspect}_rts.txt"
        for line in answers.read_text(encoding="utf-8").splitlines() if answers.exists() else ():
            row = json.loads(line)
            said = row["resp"] if isinstance(row["resp"], str) else row["resp"][0]
            _, _, end = said.lower().rpartition("score")
            if found := _RATING.search(end):
                ratings[row["id"]] = float(found[0])
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            people = np.mean([expert[aspect] for expert in row["expert_annotations"]])
            if row["id"] in ratings:
                yield row["id"], ratings[row["id"]] >= _THRESHOLDS[aspect], bool(people >= _THRESHOLDS[aspect])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    args = parser.parse_args()
    print("| judge | question | summaries | judge says | people say | labels | coverage | width |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for judge, aspect in ((judge, aspect) for judge in _JUDGES for aspect in _THRESHOLDS):
        rows = list(verdicts(args.folder, judge, aspect))
        said, people = sum(own for _, own, _ in rows) / len(rows), sum(label for *_, label in rows) / len(rows)
        own_reach = 1.96 * (said * (1 - said) / len(rows)) ** 0.5  # of an interval without labels
        for n in (50, 100, 200):
            generator, hits, width = np.random.default_rng(n), 0, 0.0
            for _ in range(args.draws):
                chosen = {*generator.choice(len(rows), n, replace=False).tolist()}
                items = [(name, own, label if row in chosen else None) for row, (name, own, label) in enumerate(rows)]
                low, high = correct(items).interval or (0.0, 1.0)
                hits, width = hits + (low <= people <= high), width + high - low
            head = f"| {judge} | {aspect} | {len(rows)} | {said:.3f} ± {own_reach:.3f} | {people:.3f} "
            print(f"{head}| {n} | {hits / args.draws:.3f} | {width / args.draws:.3f} |", flush=True)


if __name__ == "__main__":
    main()
