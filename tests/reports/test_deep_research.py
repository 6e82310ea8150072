"""Reports as deep-research systems write them: Markdown that cites pages by their URLs."""

import json

import pytest

from tests.cli.conftest import write
from tls_tasks.reports.documents import make_lookup, open_documents
from tls_tasks.reports.read import read_reports
from tls_tasks.reports.report_eval import report_eval

A, B = "https://bay.org/rain_(2019)", "https://news.example/flood?id=3"
FORMS = {
    "inline links": f"# Rain\n\nIt rained ([bay.org]({B})). It stopped [1]({B}).",
    "bare addresses": f"It rained ({B}). It stopped ({B}).",
    "footnotes": f"It rained.[^1] It stopped.[^1]\n\n[^1]: {B}",
    "a list of sources": f"It rained [1]. It stopped [1].\n\n## Sources\n[1] {B} - Floods | The News",
    "linked sources": f"It rained [1]. It stopped [1].\n\n**References:**\n1. [Floods]({B})",
    "two sources": f"It rained [2]. It stopped [2].\n\nReferences\n\n[1] Rain. {A}\n[2] Floods. {B}",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("field", ["article", "report", "response", "answer"])
def test_a_row_of_markdown_cites_pages(form, field):
    (report,), bad = read_reports([json.dumps({"id": 7, field: FORMS[form]})], "r")
    assert report.request_id == "7" and not bad
    assert [sentence.citations for sentence in report.sentences] == [(B,), (B,)]


@pytest.mark.parametrize(
    ("cited", "stored", "is_same"),
    [
        ("http://www.bay.org/a/", "https://bay.org/a", True), ("https://bay.org/a#top", "http://bay.org/a/", True),
        ("https://bay.org/a", "https://bay.org/b", False), ("https://bay.org/a?x=1", "https://bay.org/a", False),
        ("https://en.bay.org/a", "https://bay.org/a", False), ("bay", "https://bay.org", False),
    ],
)  # fmt: skip
def test_equal_pages(tmp_path, cited, stored, is_same):
    documents = open_documents([str(write(tmp_path / "d.jsonl", {"url": stored, "text": "Rain."}))], [cited])
    assert (make_lookup(documents)([], cited) == "Rain.") is is_same
    row = {"id": 7, "article": f"It rained [1].\n\nSources:\n[1] {cited} - Rain"} if "/" in cited else {"sentences": [
        {"text": "It rained.", "citations": [cited]}]}  # fmt: skip
    score = report_eval([row], [{"query_id": "7", "items": []}], documents, lambda query: True)
    assert score.results["citation_support"] == is_same
    prose = report_eval([f"It rained [bay]({cited})."], [{"items": []}], documents, lambda query: True)
    assert (prose.results["citation_support"] == 1) is is_same  # a link to no document is no citation
