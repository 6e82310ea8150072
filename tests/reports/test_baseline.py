"""The lead baseline for reports: what it takes from a prompt."""

import pytest

from tls_tasks.reports.baseline import answer
from tls_tasks.reports.data import load_documents, prompt
from tls_tasks.reports.read import parse_report

pytestmark = pytest.mark.filterwarnings("ignore")


def shown(*documents):
    listed = "\n\n".join(f"[{number}] {document}" for number, document in enumerate(documents, start=1))
    return f"<documents>\n{listed}\n</documents>\n\nRequest: x\n\nReport:"


def test_it_cites_the_first_sentence_of_each_document():
    assert answer(shown("A\nOne. Two.", "B\nDr. Hale left. He came back.")) == "One. [1] Dr. Hale left. [2]"
    assert answer(shown("A\nOne.", "B\nTwo.", "C\nThree."), k=2) == "One. [1] Two. [2]"


def test_a_document_without_title_begins_on_the_line_of_its_number():
    assert answer(shown("Only text here.")) == "Only text here. [1]"


def test_numbers_inside_a_document_begin_none():
    assert answer(shown("A\nSee below.\n[7] is no document.\n[1] neither.", "B\nTwo.")) == "See below. [1] Two. [2]"


def test_the_last_list_of_documents_is_the_one_that_is_asked_about():
    assert answer(shown("A\nOne.") + "\n\n" + shown("B\nTwo.")) == "Two. [1]"


@pytest.mark.parametrize("text", ["", "Report:", "<documents>\n</documents>", "</documents>\n<documents>\n[1] x"])
def test_a_prompt_without_documents_has_no_answer(text):
    assert answer(text) == ""


def test_its_reports_on_the_embedded_edition_can_be_read():
    for doc in load_documents("report_generation", edition="embedded"):
        text = answer(prompt(doc), k=3)
        assert answer(prompt(doc), k=3) == text
        sentences = parse_report(text, ["a", "b", "c"]).value.sentences
        assert [one.citations for one in sentences] == [("a",), ("b",), ("c",)]
