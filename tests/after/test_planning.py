"""What a difference takes: planned from runs that are logged, and checked by the exact power of the paired t-test."""

import json
import random

import pytest
from scipy.stats import nct, t

from tests.after.test_streamed import rows_of, text_of, write_log
from tests.cli.conftest import write
from tls_tasks.cli import main


def planned(capsys, *arguments):
    assert main(["compare", *map(str, arguments), "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("n_runs", [1, 2])
def test_four_of_five_tests_on_the_planned_documents_find_it(tmp_path, capsys, n_runs):
    draw = random.Random(n_runs)
    rows = [{"id": str(n), "acc": draw.random()} for n in range(40)]
    runs = [write(tmp_path / f"{run}.jsonl", *({**row, "acc": row["acc"] + run * draw.gauss(0.1, 0.2)} for row in rows))
            for run in range(n_runs)]  # fmt: skip
    [found] = planned(capsys, *runs, "--plan", 0.05)
    values = [[json.loads(line)["acc"] for line in run.read_text().splitlines()] for run in runs]
    gaps = [a - b for a, b in zip(*values, strict=True)] if n_runs == 2 else [2**0.5 * value for value in values[0]]
    spread = (sum((gap - sum(gaps) / 40) ** 2 for gap in gaps) / 39) ** 0.5
    n, limit = found["units"], t.ppf(0.975, found["units"] - 1)
    power = nct.sf(limit, n - 1, 0.05 * n**0.5 / spread)
    assert (found["n_units"], found["unit"], found["within"]) == (40, "document", None) and 0.79 < power < 0.82
    assert main(["compare", *map(str, runs), "--plan", "0.05"]) == 0
    out = capsys.readouterr().out
    assert all(cell in out for cell in ("40 documents", f"{found['detectable']:.4f}", f"{n} documents"))
    assert ("nothing in common" in out) == (n_runs == 1)


def test_variance_within_documents_is_what_repeats_take_away(tmp_path, capsys):
    """Each document has the same three answers: all variance is within, and so many answers do what documents do."""
    rows = list(rows_of("summ_dialogsum", 12))
    words = rows[0]["doc"]["references"].split()
    for row, draw in zip(rows, map(random.Random, range(12)), strict=True):
        answers = [" ".join(words[: draw.randrange(1, len(words))]) for _ in range(3)]
        row |= {"doc": {**rows[0]["doc"], "doc_id": row["doc"]["doc_id"]}, "filtered_resps": answers}
    log = write_log(tmp_path, "summ_dialogsum", text_of(rows))
    [found] = planned(capsys, log, "--plan", 0.02, "--metric", "rouge_l_recall")
    assert 0.5 < found["within"] <= 1 and found["n_units"] == 12 and found["units"] > 12
    if found["within"] == 1:
        assert found["repeats"] == pytest.approx(3 * found["units"] / 12, rel=0.2)
