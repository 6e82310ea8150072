"""Several answers a document: the parts are averaged within it, in the harness's numbers and in what comes after."""

import json
from collections import Counter
from pathlib import Path

import pytest

import tls_tasks
from tests.harness_parts import manager
from tests.made_runs import make_run
from tls_tasks.after.page import page
from tls_tasks.after.scored_runs import score_places
from tls_tasks.core.errors import InputError
from tls_tasks.core.score import Score, mean_unit

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ANSWERS = {
    "evidence_journals": ["I can't.", "[]", '[{"quote": "We went for a walk"}]'],
    "report_generation": ["Rain fell [1]. Snow fell [2].", "", "It is dry."],
    "tls_crisis": ["2011-01-25: Police clash.\n2011-02-11: He resigns.", "2011-01-25: A protest.", "I can't."],
}


def make(folder, name, **metadata):
    from lm_eval.api.model import LM

    class Says(LM):
        loglikelihood = loglikelihood_rolling = None

        def generate_until(self, requests):
            n_asked = Counter()
            for request in requests:
                n_asked[request.args[0]] += 1
                yield ANSWERS[name][n_asked[request.args[0]] - 1]

    return make_run(folder, Says(), [name], metadata={"repeats": 3, "edition": "embedded", **metadata})


@pytest.mark.parametrize("name", ANSWERS)
def test_a_document_stays_one_unit(tmp_path, name):
    folder = make(tmp_path, name, **({"judge": "recorded"} if name.startswith("report") else {}))
    task, [scored] = tls_tasks.task(name), score_places([folder])
    documents = [sample.doc for sample in scored.log.samples]
    judged = [[own.answer[0] for own in scored.repeats(sample)] for sample in scored.log.samples]
    if task.judge is None:
        assert judged == [ANSWERS[name]] * len(documents)
    units = [
        mean_unit([task.process(doc, text) for text in texts]) for doc, texts in zip(documents, judged, strict=True)
    ]
    whole = Score(name, "", units, task.table, [task.get_topic(doc) for doc in documents])
    assert not scored.problems and len(scored.score.units) == len(documents)
    (results,) = Path(folder).glob("**/results_*.json")
    row = json.loads(results.read_text())["results"][name]
    for key in task.table.keys() & {key.partition(",")[0] for key in row}:
        assert row[f"{key},none"] == pytest.approx(whole.results[key], abs=1e-12, nan_ok=True), key
    for key, error in whole.standard_errors().items():
        if key in task.jackknife_keys and row[f"{key}_stderr,none"] != "N/A":
            assert row[f"{key}_stderr,none"] == pytest.approx(error, abs=1e-12), key
    assert page([scored]).count('"repeats":[{') == len(documents)


def test_what_is_no_number_of_repeats_is_refused():
    with pytest.raises(InputError, match="repeats: got 'three', expected a whole number above 0"):
        list(manager(repeats="three").load(["tree_extraction"])["tasks"].values())[0].dataset  # noqa: B018, RUF015
