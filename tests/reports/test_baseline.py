"""The lead baseline for reports: what it takes from a prompt."""

import json
from pathlib import Path

import pytest

from tls_tasks.reports.baseline import answer
from tls_tasks.reports.data import load_documents, prompt
from tls_tasks.reports.read import parse_report

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.filterwarnings("ignore")


def shown(*documents):
    listed = "\n\n".join(f"[{number}] {document}" for number, document in enumerate(documents, start=1))
    return f"<documents>\n{listed}\n</documents>\n\nRequest: x\n\nReport:"


@pytest.mark.parametrize(("prompt", "wanted"), [case for case in CASES["answers"] if isinstance(case, list)])
def test_it_cites_the_first_sentence_of_each_document(prompt, wanted):
    assert answer(prompt, k=2) == wanted


def test_its_reports_on_the_embedded_edition_can_be_read():
    for doc in load_documents("report_generation", edition="embedded"):
        text = answer(prompt(doc), k=3)
        assert answer(prompt(doc), k=3) == text
        sentences = parse_report(text, ["a", "b", "c"]).value.sentences
        assert [one.citations for one in sentences] == [("a",), ("b",), ("c",)]
