"""Model text -> report: sentences, marks, what is no part of a report, JSON, and texts that make parsers fail."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tests.conftest import ROOT, read_jsonl
from tls_tasks.reports.citations import Citations
from tls_tasks.reports.read import MAX_SENTENCES, PROBLEM_KINDS, parse_report, parse_report_row
from tls_tasks.reports.read_prose import _sentence_spans
from tls_tasks.reports.types import Report, ReportSentence

IDS = ["coast-01", "coast-02", "coast-03"]
A = IDS[0]
HERE = Path(__file__).parent


def read(text, ids=IDS, **options):
    """[(sentence, citations), …]"""
    parsed = parse_report(text, ids, **options)
    return [(one.text, list(one.citations)) for one in parsed.value.sentences] if parsed.value else None


# ---- marks


# A mark without a label in round brackets is one only where it ends a clause.
ENDS_A_CLAUSE = ("(1, 3)", "（2）", "{1, 3}")


@pytest.mark.parametrize("case", read_jsonl(HERE / "marks.jsonl"), ids=lambda case: case["mark"])
def test_every_form_of_mark_is_read_and_taken_out(case):
    texts = ["The bay is deep {mark}.", "The bay is deep. {mark}", "The bay is deep.{mark}"]
    if case["mark"] not in ENDS_A_CLAUSE:
        texts.append("The bay {mark} is deep.")
    for text in (text.replace("{mark}", case["mark"]) for text in texts):
        assert read(text, titles=["The bay", "The shore", "The sea"]) == [("The bay is deep.", case["cited"])], text


@pytest.mark.parametrize("case", read_jsonl(HERE / "texts.jsonl"), ids=lambda case: case["text"][:60])
def test_texts_are_read_as_sentences_with_what_they_cite(case):
    expected = case["read"] and [(text, cited) for text, cited in case["read"]]
    assert read(case["text"]) == expected
    assert "counts" not in case or parse_report(case["text"], IDS).counts() == case["counts"]
    if case["text"][0:1] in ("{", "[") and '"' in case["text"] and expected:
        assert read(f"Here:\n```json\n{case['text']}\n```\nDone.") == expected
        assert read(f"<think>{{}}</think>{case['text']}") == expected


@pytest.mark.parametrize("case", read_jsonl(HERE / "articles.jsonl"), ids=lambda case: case["text"][:60])
def test_reports_of_the_web_are_read_with_the_pages_they_cite(case):
    parsed = parse_report_row({"request_id": "7", "article": case["text"]})
    assert [[one.text, list(one.citations)] for one in parsed.value.sentences] == case["read"]
    assert parsed.kinds() == case["kinds"]


def test_a_report_has_2000_sentences_and_the_share_of_the_others_is_said():
    parsed = parse_report("It rained [1]. " * 2500, IDS)
    assert len(parsed.value.sentences) == MAX_SENTENCES == 2000
    assert [(one.kind, one.detail) for one in parsed.problems] == [("too_long", "500 of 2,500 sentences")]


@pytest.mark.parametrize("case", read_jsonl(ROOT / "tests/batteries/cited.jsonl"), ids=lambda case: case["style"])
def test_citations_in_the_styles_of_models(case):
    expected = [(text, cited) for text, cited in case["expected"]]
    assert read(case["answer"], case["ids"], titles=case["titles"]) == expected


def test_a_number_out_of_the_list_is_the_id_of_that_name_if_there_is_one():
    assert read("x [2] y [117].", ["117", "5"]) == [("x y.", ["5", "117"])]
    assert parse_report("x [117].", ["117", "5"]).problems == ()


def test_without_a_list_of_documents_numbers_are_ids():
    assert read("A [1].", []) == [("A.", ["1"])]


# ---- limit, ids


def test_sentences_beyond_the_limit_are_left_out():
    text = "One [1]. Two [2]. Six [3]."
    assert read(text, limit=9) == [("One.", [A]), ("Two.", ["coast-02"])]
    assert read(text, limit=8) == [("One.", [A])]
    assert parse_report(text, IDS, limit=8).counts() == {"over_limit": 2}
    assert parse_report(text, IDS, limit=3).value is None


def test_the_report_knows_whose_it_is_and_nothing_is_made_up():
    report = parse_report("One.", request_id="7", run_id="a", collection_ids=["c"]).value
    assert report == Report("7", "a", ("c",), (ReportSentence("One."),))
    assert parse_report("One.").value == Report("", "", (), report.sentences)


# ---- any text


PIECES = ["[1]", "[2, 9]", "[coast-01]", ". ", "One", " ", "\n", "\n\n", "- ", "# ", "**", "References:", "<think>",
          "</think>", '{"text": "a"}',
          '"text":', "[", "]", "(doc 1)", "。", "1. ", "|", "\ud800", "\x00", "é"]  # fmt: skip


@given(st.one_of(st.text(st.characters(), max_size=300), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)))
def test_any_text_can_be_read(text):
    parsed = parse_report(text, IDS)
    assert {noted.kind for noted in parsed.problems} <= set(PROBLEM_KINDS)
    if parsed.value is None:
        return
    for sentence in parsed.value.sentences:
        assert any(character.isalnum() for character in sentence.text)
        assert sentence.text == sentence.text.strip()
        assert len(set(sentence.citations)) == len(sentence.citations)
    assert parse_report(text, IDS) == parsed


@given(st.lists(st.sampled_from(["The bay is deep", "Fish live there", "It rained in 2019"]), min_size=1, max_size=5),
       st.data())  # fmt: skip
def test_what_is_written_out_is_read_again(texts, data):
    cited = [data.draw(st.lists(st.sampled_from(IDS), unique=True)) for _ in texts]
    written = " ".join(
        f"{text}{' [' + ', '.join(str(IDS.index(one) + 1) for one in ids) + ']' if ids else ''}."
        for text, ids in zip(texts, cited, strict=True)
    )
    assert read(written) == [(f"{text}.", ids) for text, ids in zip(texts, cited, strict=True)]


@given(st.text(max_size=200))
def test_spans_are_in_order_and_cover_all_words(text):
    line = " ".join(text.split())
    spans = _sentence_spans(line)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    assert "".join(line[start:end] for start, end in spans).replace(" ", "") == line.replace(" ", "")


@given(st.text(st.characters(), max_size=200))
def test_marks_have_places_in_the_text_without_them(text):
    clean, marks = Citations(IDS).strip(text)
    assert all(0 <= mark.position <= len(clean) for mark in marks)
    assert [mark.position for mark in marks] == sorted(mark.position for mark in marks)


OTHERS = ("[1] ", "[1", "[a-1", "(doc 1) ", "[1-", "A. ", ". ", '." ', "**", "> ", "- a\n", "a\nb\n", "References:\n",
          '"text": ', '{"text":"a"},', "[[1]]", "a [1]. B ", "【", "¹ ", "<sup>1</sup>", "(1). ", "\\cite[",
          "documents 1, 2 ", "\n\n[1] a", "[1]: a 2019\n", "Source: [1]\n", "{1", "<co: 1>", "<doc 1 ", "<li>", "⁽¹",
          "（1", "Hale (2019). ", "<p cite=1>", "\ue200cite\ue202a", "It.3 Next ", "[[a](b)", "[1]:1",
          "\n\nhttps://a.b/c", "x [1]\n\n[1] x", "Source: doc-a. ")  # fmt: skip


def test_hostile_texts_take_linear_time(size=40_000):
    texts = hostile.texts(size) + [(piece, piece * (size // len(piece))) for piece in OTHERS]
    for name, text in texts:
        assert hostile.is_linear(lambda one: parse_report(one, IDS), text[: size // 4], text), name
