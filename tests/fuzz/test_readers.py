"""Readers: no text raises, the same text is read the same, and what was read is read again as it is."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.parts import fuzzed, texts
from tests.test_batteries import cases, document_of
from tls_tasks.evidence.read import PROBLEM_KINDS as evidence_kinds
from tls_tasks.evidence.read import parse_evidence
from tls_tasks.evidence.types import read_schema as read_evidence_schema
from tls_tasks.reports.judges.questions import read_verdict
from tls_tasks.reports.read import parse_report, parse_report_row
from tls_tasks.summaries.read import PROBLEM_KINDS as summary_kinds
from tls_tasks.summaries.read import parse_summary
from tls_tasks.timelines.read import OPTIONS, TimelinePolicy, parse_timeline
from tls_tasks.timelines.read import PROBLEM_KINDS as timeline_kinds
from tls_tasks.trees.read import MODES, TREE_PROBLEM_KINDS, parse_tree
from tls_tasks.trees.schema import read_schema as read_tree_schema

SCHEMAS = [read_evidence_schema(json.loads(document_of(case)["schema"])) for case in cases("evidence")[::20]]
NODES = [None, *(read_tree_schema(document_of(case)["schema"]) for case in cases("trees")[::16])]
IDS = ["d1", "d2", "msmarco_v2.1_doc_3#4", "5", "e01_1"]


def read_twice(read, text, kinds=None):
    """What a reader gives; what it says of the text is of a known kind, and can be written into any file."""
    parsed = read(text)
    assert repr(read(text)) == repr(parsed)
    for noted in parsed.problems:
        assert kinds is None or noted.kind in kinds
        noted.detail.encode("utf-8")
    return parsed.value


@example("2011-01-25: A ('2", ("partial", OPTIONS["partial"][0]))
@example("2011-01-25: A\n\nOf \ud800 no day is told.", ("partial", OPTIONS["partial"][0]))
@fuzzed(80)
@given(texts("timelines"), st.sampled_from([(name, value) for name, values in OPTIONS.items() for value in values]))
def test_timelines(text, option):
    timeline = read_twice(lambda one: parse_timeline(one, TimelinePolicy(**dict([option]))), text, timeline_kinds)
    if timeline is not None:
        assert parse_timeline(json.dumps(timeline.as_rows())).value == timeline


@example('[{"domain": "food", "evidence_span": "tea"}, "\ud800"]', SCHEMAS[0])
@example("|-|-|", SCHEMAS[0])
@fuzzed(80)
@given(texts("evidence"), st.sampled_from(SCHEMAS))
def test_evidence(text, schema):
    objects = read_twice(lambda one: parse_evidence(one, schema), text, evidence_kinds)
    assert (objects is None) is (parse_evidence(text, schema).status == "failed")
    if objects is not None:
        again = parse_evidence(json.dumps([dict(one.fields) for one in objects]), schema).value
        assert repr(again) == repr(objects)


@example('{"a\ud800": 1, "a\ud800": 2}', None, "lenient")
@fuzzed(80)
@given(texts("trees"), st.sampled_from(NODES), st.sampled_from(MODES))
def test_trees(text, node, mode):
    tree = read_twice(lambda one: parse_tree(one, node, mode), text, TREE_PROBLEM_KINDS)
    if isinstance(tree, dict) and tree:
        assert repr(parse_tree(json.dumps(tree, allow_nan=False), None, "strict").value) == repr(tree)


@fuzzed(80)
@given(texts("reports"), st.sampled_from([None, 0, 300]))
def test_reports(text, limit):
    report = read_twice(lambda one: parse_report(one, IDS, titles=["A title"] * 5, limit=limit), text)
    if report is not None:
        assert parse_report_row(json.loads(json.dumps(report.to_row()))).value == report


@fuzzed(80)
@given(texts("summaries"))
def test_summaries(text):
    assert isinstance(read_twice(parse_summary, text, summary_kinds), str)


@fuzzed(80)
@given(texts())
def test_verdicts_in_words(text):
    assert read_verdict(f"{text}\nYES") is not False
