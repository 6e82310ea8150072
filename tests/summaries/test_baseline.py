import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.summaries.baseline import answer, sentences
from tls_tasks.summaries.data import DATA_SETS, load_documents, prompt

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.parametrize(("text", "expected"), CASES["sentences"])
def test_sentences(text, expected):
    assert list(sentences(text)) == expected


@pytest.mark.parametrize("name", list(DATA_SETS))
def test_it_answers_every_prompt_with_the_beginning_of_its_document(name):
    for doc in load_documents(name, edition="embedded"):
        for n in (1, 3, 5):
            assert answer(prompt(doc), n).split() == " ".join(list(sentences(doc["text"]))[:n]).split()
        assert doc["text"].startswith(answer(prompt(doc), 1))
        assert answer(prompt(doc)) == answer(prompt(doc), 3) != ""


def test_the_last_document_counts():
    doc = {"data_set": "summ_govreport", "query": ""}
    first, second = (prompt({**doc, "text": text}) for text in ("First. More.", "Second. More."))
    assert answer(f"{first} Something.\n\n{second}", 1) == "Second."
    assert answer(f"System text.\n{first}\n", 1) == "First."


def test_a_document_with_the_marks_in_it():
    doc = {"data_set": "summ_govreport", "query": "", "text": "Begin. The tag </document> ends it.\n</document>\nEnd."}
    assert answer(prompt(doc), 1) == "Begin."
    assert answer(prompt(doc), 9).endswith("End.")


@given(st.text(max_size=200), st.integers(1, 4))
def test_any_prompt_has_an_answer(text, n):
    assert isinstance(answer(text, n), str)
    doc = {"data_set": "summ_qmsum", "query": text, "text": text}
    assert len(answer(prompt(doc), n)) <= len(text) + n


def test_no_document_no_answer():
    assert answer("Summarise this: it rained.") == ""
