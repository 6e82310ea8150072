"""Record the means that ppi_python corrects given lambda, and the variances of truescore.

    pip install ppi_python==0.2.3 truescore==0.7.4
    python tests/oracles/make_corrections.py

Writes ``corrections.jsonl`` beside this file: 30 seeded cases with labels, the judge's verdicts on the same items and
on others (0 and 1, and three of numbers in [0, 1]), lambda, theta, and the variance where items are independent.
"""

import json
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_pointestimate
from truescore.correct import ppi_estimate


def make_case(number: int, generator: np.random.Generator) -> dict[str, object]:
    """A judge of some accuracy on 5 to 60 labelled and up to 200 other items, at least as many."""
    n = int(generator.integers(5, 61))
    n_others = int(generator.integers(n, 201))
    truth = (generator.random(n + n_others) < generator.uniform(0.1, 0.9)).astype(int)
    judge = np.where(generator.random(n + n_others) < generator.uniform(0.5, 1), truth, 1 - truth)
    if number % 10 == 9:
        judge = generator.random(n + n_others).round(3)
    tuned = (0.0, 1.0, round(float(generator.random()), 3))[number % 3]
    theta = float(np.squeeze(ppi_mean_pointestimate(truth[:n], judge[:n], judge[n:], lam=tuned)))
    error = ppi_estimate(judge, truth[:n], np.arange(n), lambda_=tuned).standard_error
    people, labelled, rest = (column.tolist() for column in (truth[:n], judge[:n], judge[n:]))
    case = {"people": people, "judge": labelled, "rest": rest}
    return {**case, "lambda": tuned, "theta": theta, "variance": error**2}


if __name__ == "__main__":
    generator = np.random.default_rng(33)
    cases = [make_case(number, generator) for number in range(30)]
    text = "".join(json.dumps(case) + "\n" for case in cases)
    Path(__file__).with_name("corrections.jsonl").write_text(text, encoding="utf-8")
