"""Print the table of docs/people.md on SummEval: ``python scripts/make_people_tables.py SAMPLE``.

SAMPLE is JSON, gzipped: ``references``, id -> the reference summaries; ``rows``, each with ``model``, ``id``,
``decoded`` and the experts' mean ratings. docs/people.md says where the data is from; none of it is kept here.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import tls_tasks
from tls_tasks.after.meta import LEVELS

_STEMS: dict[str, Any] = {"tokenizer": "rouge", "use_stemmer": True}
_SCORES: dict[str, tuple[int, dict[str, Any]]] = {
    "rouge_l, 1 reference": (1, {}),
    "rouge_l, 11 references": (11, {}),
    "the same, tokenizer rouge and stems, 1": (1, _STEMS),
    "the same, tokenizer rouge and stems, 11": (11, _STEMS),
}


def main(sample: Path) -> None:
    """Score all answers, and print how far people agree."""
    data = json.loads(gzip.decompress(sample.read_bytes()))
    rows = data["rows"]
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for name, (n, options) in _SCORES.items():
        references = [data["references"][row["id"]][:n] for row in rows]
        score = tls_tasks.rouge_l([row["decoded"] for row in rows], references, use_aggregator=False, **options)
        for row, value in zip(rows, score.as_dict()["rouge_l_f1"], strict=True):
            scores.setdefault(row["model"], {}).setdefault(row["id"], {})[name] = value
    people = [{"system": row["model"], "id": row["id"], "rating": row["relevance"]} for row in rows]
    found = tls_tasks.meta(scores, people)["aspects"]["rating"]
    print("| score | by system | by document | < .01 apart | .01 to .02 | .02 or more |\n|---|---|---|---|---|---|")
    for name, own in found["metrics"].items():
        taus = ["{tau_b:.3f} [{tau_b_ci[0]:.2f}, {tau_b_ci[1]:.2f}]".format(**own[level]) for level in LEVELS]
        near = ["{in_peoples_order:g} of {pairs}".format(**place) for place in own["near"]]
        print(f"| {' | '.join([name, *taus, *near])} |")
    for test in found["tests"]:
        gaps = [f"{test['difference'][one]['tau_b']:+.3f} (p = {test['p_value'][one]['tau_b']:.3f})" for one in LEVELS]
        print(f"{test['first']}, less {test['second']}: {', '.join(gaps)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
