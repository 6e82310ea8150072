"""Rows of reports and nuggets in every form; bad rows, bad parts of rows, and rows of hostile text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.core.errors import InputError
from tls_tasks.core.rows import pack_columns, unpack_column
from tls_tasks.reports.nuggets import NUGGET_FORMS, NUGGET_PROBLEMS, parse_request, read_requests
from tls_tasks.reports.read import PROBLEM_KINDS, find_report_json, parse_report_row, read_reports, within_limit
from tls_tasks.reports.rows import check_row, read_rows, to_plain
from tls_tasks.reports.types import Nugget, NuggetAnswer, Report, ReportRequest, ReportSentence

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

SEED_ROW = {
    "request_id": "300",
    "run_id": "example-run",
    "collection_ids": ["collection1"],
    "sentences": [{"text": "Japan experienced an increase.", "citations": ["56b44b0f"]}],
}
SEED_NUGGETS = CASES["SEED_NUGGETS"]


def parse_report_json(text):
    return parse_report_row(find_report_json(text)[0])


def cited(citations, references=None):
    """The ids that a sentence with these citations cites, and the kinds of problems."""
    row = {"sentences": [{"text": "s", "citations": citations}], "references": references}
    parsed = parse_report_row(row)
    return parsed.value.sentences[0].citations, parsed.counts()


# --- reports ---


def test_the_seeds_row():
    parsed = parse_report_row(SEED_ROW)
    sentence = ReportSentence("Japan experienced an increase.", ("56b44b0f",))
    assert parsed.value == Report("300", "example-run", ("collection1",), (sentence,))
    assert not parsed.problems and parsed.value.to_row() == SEED_ROW


@pytest.mark.parametrize("place", ["metadata", "top"])
@pytest.mark.parametrize("ids", ["topic_id", "narrative_id", "request_id", "query_id"])
@pytest.mark.parametrize("field", ["responses", "answer", "sentences"])
def test_the_tracks_rows(field, ids, place):
    about = {"team_id": "t", "run_id": "r", ids: 12, "collection_ids": "c"}
    row = {field: [{"text": "s", "citations": {"d1": 0.9, "d2": 0.1}}], "references": ["d1", "d2"]}
    parsed = parse_report_row({**row, "metadata": about} if place == "metadata" else {**row, **about})
    assert parsed.value == Report("12", "r", ("c",), (ReportSentence("s", ("d1", "d2")),))


@pytest.mark.parametrize(
    ("sentence", "ids", "problems"),
    [
        ({"text": "Heavy rain.", "citation": "d1"}, ("d1",), {}),
        ({"text": "Heavy rain.", "citations": None, "citation": ["d1", "d2"]}, ("d1", "d2"), {}),
        ({"text": "Heavy rain.", "citations": ["d2"], "citation": "d1"}, ("d2",), {}),
        ("Heavy rain [1].", (), {"unread_citation": 1}),
        ({"text": "Heavy rain [1].", "citations": []}, (), {"unread_citation": 1}),
        ("Heavy rain [sic].", (), {}),
    ],
)
def test_no_citation_is_lost_silently(sentence, ids, problems):
    parsed = parse_report_row({"request_id": 1, "sentences": [sentence]})
    assert (parsed.value.sentences[0].citations, parsed.counts()) == (ids, problems)


def test_marks_beside_citation_in_a_models_answer_count():
    answer = '{"sentences": [{"text": "Rain [2].", "citation": [1]}]}'
    [row] = read_rows([answer], [{"query_id": 7, "items": []}], {"d1": "a", "d2": "b"})
    assert row.report.sentences == (ReportSentence("Rain.", ("d1", "d2")),)


@pytest.mark.parametrize(("citations", "references", "ids", "problems"), CASES["test_citations"])
def test_citations(citations, references, ids, problems):
    """What is no id stays, as one that nobody has: a citation that vanished would help."""
    assert cited(citations, references) == (tuple(ids), problems)


@pytest.mark.parametrize(
    "sentence", [{"citations": ["d1"]}, {"text": None}, {"text": ""}, {"text": " \n"}, {"text": 3}, 3, None]
)
def test_a_sentence_without_text_keeps_its_place(sentence):
    parsed = parse_report_row({"sentences": [sentence, {"text": "s"}, "t"]})
    assert parsed.value.sentences == (ReportSentence(""), ReportSentence("s"), ReportSentence("t"))
    (detail,) = (one.detail for one in parsed.problems)
    assert detail == ("sentences[0] with the keys citations" if sentence == {"citations": ["d1"]} else "sentences[0]")


@pytest.mark.parametrize(("row", "detail"), CASES["test_rows_that_are_no_report"])
def test_rows_that_are_no_report(row, detail):
    parsed = parse_report_row(row)
    assert parsed.failed and [(one.kind, one.detail) for one in parsed.problems] == [("no_report", detail)]


def test_one_bad_row_loses_nothing_but_itself():
    lines = [
        json.dumps(SEED_ROW),
        "",
        "{",
        json.dumps({**SEED_ROW, "request_id": None}),
        json.dumps({**SEED_ROW, "request_id": 301, "sentences": [{"text": "a"}, {}]}),
        json.dumps({**SEED_ROW, "sentences": []}),
        "[]",
        json.dumps({**SEED_ROW, "run_id": "other"}),
        '{"a":' * 100_000,
        json.dumps({"request_id": "302", "sentences": 3}),
    ]
    reports, bad = read_reports(lines, "run.jsonl")
    assert [(one.run_id, one.request_id) for one in reports] == [
        ("example-run", "300"), ("example-run", "301"), ("other", "300")
    ]  # fmt: skip
    assert [(row.line, row.lost) for row in bad] == [
        (3, True), (4, True), (5, False), (6, True), (7, True), (9, True), (10, True)
    ]  # fmt: skip
    assert str(bad[1]).startswith("run.jsonl, line 4: no request_id, in an object with the keys request_id, ")
    assert str(bad[2]) == "run.jsonl, line 5: sentences[1] with no keys: no_text"
    assert str(bad[3]) == "run.jsonl, line 6: a second row for ('example-run', '300'); the one of line 1 counts"
    assert str(bad[4]) == "run.jsonl, line 7: list, no object"
    assert str(bad[6]) == (
        "run.jsonl, line 10: sentences: int 3, no list, in an object with the keys request_id, sentences"
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_that_is_one_list(indent):
    text = "\ufeff" + json.dumps([SEED_ROW, {**SEED_ROW, "request_id": "301"}], indent=indent)
    reports, bad = read_reports(text.splitlines(), "run.json")
    assert [one.request_id for one in reports] == ["300", "301"] and not bad


def test_a_length_limit():
    row = {**SEED_ROW, "sentences": [{"text": "abc"}, {"text": "def"}, {"text": "g"}]}
    parsed = parse_report_row(row, limit=7)
    assert [one.text for one in parsed.value.sentences] == ["abc", "def"]
    assert [(one.kind, one.detail) for one in parsed.problems] == [("over_limit", "g")]


@given(st.lists(st.text(max_size=8), max_size=5), st.integers(0, 40))
def test_the_limit_is_that_of_the_tracks(texts, limit):
    import unicodedata

    kept, beyond = within_limit([ReportSentence(text) for text in texts], limit)
    assert len(kept) + len(beyond) == len(texts)

    def length(n):
        return len(" ".join(unicodedata.normalize("NFKC", text) for text in texts[:n]))

    assert len(kept) == max(n for n in range(len(texts) + 1) if n == 0 or length(n) <= limit)


def test_reports_in_text():
    row = json.dumps(SEED_ROW)
    for text in (row, f"<think>{{}}</think>Here:\n```json\n{row}\n```", f"[1] {row} and so on"):
        assert parse_report_json(text).value == parse_report_row(SEED_ROW).value
    assert parse_report_json('{"sentences": [{"text": "a"}, {"text": "b"').value.sentences == (ReportSentence("a"),)
    assert parse_report_json("no").counts() == {"no_report": 1}


def test_hostile_rows():
    deep = "[" * 900 + "]" * 900
    for text in (
        f'{{"sentences": [{{"text": "a", "citations": [{deep}]}}]}}',
        f'{{"sentences": {deep}}}',
        f'{{"sentences": [{deep}], "references": {deep}}}',
        '{"sentences": [{"text": "\\ud800", "citations": ["\\ud800", NaN, 1e999, ' + "7" * 5000 + "]}]}",
    ):
        parsed = parse_report_json(text)
        assert parsed.failed or parsed.value.to_row()


@pytest.mark.parametrize("name", ['{"a":', '["a",', "```\n", "<think>"])
def test_time_is_linear(name):
    texts = dict(hostile.texts(hostile.LARGE))
    assert hostile.seconds(lambda text: parse_report_json('{"sentences": [' + text), texts[name]) < 60


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(("text citations sentences references metadata request_id items nugget_bank question "
                         "question_text gold_answers answers answer info importance").split()),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON_VALUES)
def test_no_row_raises(row):
    report, request = parse_report_row(row), parse_request(row)
    assert {*report.kinds()} <= {*PROBLEM_KINDS} and {*request.counts()} <= {*NUGGET_PROBLEMS}
    assert report.failed or parse_report_row(report.value.to_row()).value.sentences == report.value.sentences
    assert request.failed or parse_request(request.value.to_row()).value == request.value


# --- nuggets ---


def test_the_seeds_nuggets():
    parsed = parse_request(SEED_NUGGETS)
    nugget = Nugget("300_test", "How much did it rise by in 2020?", (NuggetAnswer("3.7%"),), "OR", "vital")
    assert parsed.value == ReportRequest("300", "Example query text for testing", "rus_2024", (nugget,))
    assert not parsed.problems


def test_a_nugget_bank():
    bank = {
        "Who?": {"question": "Who?", "question_id": "c9", "aggregator_type": "AND", "importance": 1,
                 "answers": {"Ann": {"answer": "Ann", "references": [{"doc_id": "d1"}, "d2"]}, "Bob": None}},
        "When?": {"aggregator_type": "AggregatorType.OR", "answers": {}},
        "Why?": {"question": "Why?"},
    }  # fmt: skip
    parsed = parse_request({"query_id": "7", "title_query": "T", "format_version": "v3", "nugget_bank": bank})
    assert parsed.value.nuggets == (
        Nugget("c9", "Who?", (NuggetAnswer("Ann", ("d1", "d2")), NuggetAnswer("Bob")), "AND", ""),
        Nugget("When?", "When?", (), "OR", ""),
    )
    assert [(one.kind, one.detail) for one in parsed.problems] == [
        ("bad_importance", "nugget_bank['Who?']: int 1"),
        ("no_answers", "nugget_bank['Why?'] with the keys question"),
    ]
    assert parsed.value.text == "T"


@pytest.mark.parametrize(("given", "answers", "problems"), CASES["test_answers"])
def test_answers(given, answers, problems):
    parsed = parse_request({"items": [{"question_text": "q", "gold_answers": given}]})
    nuggets = parsed.value.nuggets
    assert ([one.text for one in nuggets[0].answers] if nuggets else None) == answers and parsed.counts() == problems


def test_nugget_files():
    lines = [
        json.dumps(SEED_NUGGETS), json.dumps({**SEED_NUGGETS, "query_id": 300, "test_collection": "fas_2024"}),
        json.dumps({"query_id": "301"}), json.dumps({"items": []}), json.dumps({"query_id": "302", "items": None}),
        json.dumps({"query_id": "303", "items": "q"}),
    ]  # fmt: skip
    requests, bad = read_requests(lines, "n.jsonl")
    assert [(one.request_id, one.collection_id) for one in requests] == [("300", "rus_2024"), ("302", "")]
    known = f"; known forms: {'; '.join(f'{fields} ({who})' for who, fields in NUGGET_FORMS.items())}"
    assert [str(row) for row in bad] == [
        "n.jsonl, line 2: a second row for '300'; the one of line 1 counts",
        f"n.jsonl, line 3: no items, nugget_bank, nuggets or claim_bank, in an object with the keys query_id{known}",
        "n.jsonl, line 4: no request_id, in an object with the keys items",
        "n.jsonl, line 6: items: str 'q', no list or map, in an object with the keys query_id, items",
    ]
    spread, bad = read_requests(json.dumps(SEED_NUGGETS, indent=2).splitlines(), "one.json")
    assert spread[0] == requests[0] and not bad


# --- columns ---


def packed(predictions, references):
    return pack_columns({"predictions": predictions, "references": references}, check_row, to_plain)


def test_packed_rows_are_the_same_rows():
    predictions = [SEED_ROW, json.dumps(SEED_ROW), parse_report_row(SEED_ROW).value, "I am sorry. \ud800"]
    references = [SEED_NUGGETS, [SEED_NUGGETS], parse_request(SEED_NUGGETS).value, json.dumps(SEED_NUGGETS)]
    columns = packed(predictions, references)
    assert all(isinstance(text, str) and text.encode() for column in columns.values() for text in column)
    again = read_rows(*map(unpack_column, columns.values()))
    for left, right in zip(read_rows(predictions, references), again, strict=True):
        assert (left.report, left.request) == (right.report, right.request)


@pytest.mark.parametrize(
    ("prediction", "reference", "message"),
    [
        ({**SEED_ROW, "more": {1, 2}}, SEED_NUGGETS, r"predictions\[0\]: got a value of class set"),
        ({"text": "It rained."}, SEED_NUGGETS, r"predictions\[0\]: got no sentences"),
        (SEED_ROW, [SEED_NUGGETS, 3], r"references\[0\]: got int 3, no object"),
    ],
)
def test_rows_that_can_not_be_packed(prediction, reference, message):
    with pytest.raises(InputError, match=message):
        packed([prediction], [reference])
