"""The fields of a document, family by family: what a prompt is made of and an answer is scored against."""

import json
from pathlib import Path

import pytest

from tests.test_data import load, put

pytestmark = pytest.mark.usefixtures("isolated")

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.parametrize("task", CASES)
def test_a_document_has_these_fields_and_its_text_is_cut_to_the_budget(tmp_path, task):
    assert load(task, data=put(task, tmp_path), context_budget=6)[0][0] == CASES[task]
