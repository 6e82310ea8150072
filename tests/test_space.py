"""The app of each metric: it is served on loopback, and scores the example of the metric's card."""

import re
import runpy
from pathlib import Path

import pytest

from tls_tasks.registry import METRICS

ROOT = Path(__file__).parents[1]

# What the example of each card prints.
PRINTED = {
    "alignment_rouge": {"ar1_f1": 0.4444444444444445},
    "date_f1": {"date_f1": 0.5},
    "rouge_l": {"rouge_l_f1": 0.5},
    "evidence_extraction": {"f1": 1.0, "polarity_accuracy": 1.0, "evidence_coverage": 1.0},
    "tree_eval": {"f1_value": 0.9722222222222222},
    "report_eval": {"recall": 1.0, "precision": 1.0},
}


@pytest.mark.parametrize("name", sorted(METRICS))
def test_an_app_is_served_and_scores_the_example_of_the_card(name):
    gradio_client = pytest.importorskip("gradio_client", reason="no gradio: pip install 'gradio>=6.31'")
    app = runpy.run_path(str(ROOT / "metrics" / name / "app.py"))
    _, address, _ = app["demo"].launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, ssr_mode=False)
    try:
        client = gradio_client.Client(address, verbose=False, analytics_enabled=False)
        result = client.predict(*app["EXAMPLE"], api_name="/score")
    finally:
        app["demo"].close()
    assert {key: result[key] for key in PRINTED[name]} == PRINTED[name]
    assert result["signature"].startswith(f"{name}|")


@pytest.mark.parametrize("name", sorted(METRICS))
def test_the_numbers_above_are_those_of_the_card(name):
    card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", card, re.DOTALL)[1]
    for key, value in PRINTED[name].items():
        assert f'results["{key}"]' in example
        assert str(value)[:5] in card
