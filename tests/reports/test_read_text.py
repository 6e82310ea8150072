"""Model text -> report: sentences, marks, what is no part of a report, JSON, and texts that make parsers fail."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.reports.citations import Citations
from tls_tasks.reports.read import PROBLEM_KINDS, parse_report
from tls_tasks.reports.read_prose import _sentence_spans
from tls_tasks.reports.types import ReportSentence

IDS = ["coast-01", "coast-02", "coast-03"]
A, B, C = IDS


def read(text, ids=IDS, **options):
    """[(sentence, citations), …]"""
    parsed = parse_report(text, ids, **options)
    return [(one.text, list(one.citations)) for one in parsed.value.sentences] if parsed.value else None


# ---- marks


@pytest.mark.parametrize(
    ("mark", "ids"),
    [
        ("[1]", [A]),
        ("[1, 3]", [A, C]),
        ("[1,3]", [A, C]),
        ("[1; 3]", [A, C]),
        ("[1 and 3]", [A, C]),
        ("[1 & 3]", [A, C]),
        ("[1-3]", [A, B, C]),
        ("[1–2]", [A, B]),
        ("[1][3]", [A, C]),
        ("[1] [3]", [A, C]),
        ("[[2]]", [B]),
        ("【2】", [B]),
        ("[1](http://x.org/a_b)", [A]),
        ("[^2]", [B]),
        ("[#2]", [B]),
        ("[doc 2]", [B]),
        ("[Document 2]", [B]),
        ("[Doc. 2, Doc. 3]", [B, C]),
        ("[see 2]", [B]),
        ("[1, p. 3]", [A]),
        ("[coast-02]", [B]),
        ("[COAST-02]", [B]),
        ("[`coast-02`]", [B]),
        ("[doc coast-02; 1]", [B, A]),
        ("(coast-02)", [B]),
        ("(document 2)", [B]),
        ("[3, 3, 1]", [C, A]),
        ("[7]", ["7"]),
        ("[0]", ["0"]),
        ("[1, 7]", [A, "7"]),
        ("[coast-99]", ["coast-99"]),
        ("[56b44b0f-fd8d-4d81-bae9-7f8d80e6b745]", ["56b44b0f-fd8d-4d81-bae9-7f8d80e6b745"]),
    ],
)
def test_every_form_of_mark_is_read_and_taken_out(mark, ids):
    for text in (f"The bay {mark} is deep.", f"The bay is deep {mark}.", f"The bay is deep. {mark}"):
        ((sentence, cited),) = read(text)
        assert cited == ids, text
        assert sentence == "The bay is deep."


@pytest.mark.parametrize(
    "text",
    ["He [sic] left.", "[…] left.", "The [old] mayor left.", "In (2019) he left.", "He (1) left.",
     "x [1, the mayor] y.", "H2O [H2O] is wet.",
     "a[i] grows.", "[ ] is empty.", "[] is empty.", "[1-90] is long.", "(see 5 pages) left."],
)  # fmt: skip
def test_what_is_no_mark_stays(text):
    assert read(text) == [(text, [])]


def test_a_number_out_of_the_list_is_the_id_of_that_name_if_there_is_one():
    assert read("x [2] y [117].", ["117", "5"]) == [("x y.", ["5", "117"])]
    assert parse_report("x [117].", ["117", "5"]).problems == ()


@pytest.mark.parametrize(
    ("mark", "ids"),
    [
        ("[doc3]", [C]),
        ("[1†source]", [A]),
        ("【1†source】【3†source】", [A, C]),
        ("【2:0†source】", [B]),
        ("【2†L3-L9】", [B]),
        ("<cite>2</cite>", [B]),
        ("<sup>[1], [3]</sup>", [A, C]),
        ("<sup>2</sup>", [B]),
        ("¹˒³", [A, C]),
        ("¹⁻³", [A, B, C]),
        (r"~\cite{1, 3}", [A, C]),
        (r"\citep[p. 4]{coast-02}", [B]),
        ("[1], [3]", [A, C]),
        ("[1]–[3]", [A, B, C]),
        ("(source: [3])", [C]),
        ("(see [1], [2])", [A, B]),
        ("(Documents 2 and 3)", [B, C]),
        ("[citation:2]", [B]),
        ("[^1^]", [A]),
        ("(1, 3)", [A, C]),
        ("[The shore]", [B]),
        (r"\[2\]", [B]),
        ("［2］", [B]),
        ("（2）", [B]),
        ("{1, 3}", [A, C]),
        ("②", [B]),
        ("⁽²⁾", [B]),
        ("<doc 2>", [B]),
        ("(Source: Document 2)", [B]),
        ("[Dok. 2]", [B]),
        ("\u202f[2]\u200b", [B]),
    ],
)
def test_marks_of_every_opening_and_closing(mark, ids):
    for text in (f"The bay is deep {mark}.", f"The bay is deep.{mark}"):
        assert read(text, titles=["The bay", "The shore", "The sea"])[-1] == ("The bay is deep.", ids), text


@pytest.mark.parametrize(
    "text",
    ["It has 7 m² of CO₂.", "It holds 10⁶ fish.", "The release (2011) failed.", "E = mc² holds.",
     "x<sup>2</sup> grows.", "It is (1) deep, (2) cold.", "In 2019 (Hale 2019) it rained.",
     "The set {7} is small.", "① It rained, ② it snowed."],
)  # fmt: skip
def test_powers_years_and_enumerations_are_no_marks(text):
    assert read(text) == [(text, [])]


def test_keys_of_a_list_of_references_are_read():
    listed = "\n\nReferences\n[1] Hale (2019). coast-03.\n[2] Dahl, K. (2020). coast-01."
    assert read("One [1]. Hale (2019) says two [2]." + listed) == [("One.", [C]), ("Hale (2019) says two.", [A])]
    assert read("One [^x].\n\n[^x]: Document 2") == [("One.", [B])]


def test_words_that_name_a_document_cite_it_and_stay():
    assert read("According to document 2, it rained.") == [("According to document 2, it rained.", [B])]
    assert read("Documents 1 and 3 say so.") == [("Documents 1 and 3 say so.", [A, C])]
    assert read("Document 9 says so.") == [("Document 9 says so.", [])]


def test_citations_by_author_and_year_are_not_read_and_counted():
    text = "One (Hale, 2019). Two (Dahl et al. 2020; Board 2021).\n\nReferences\n[1] Hale (2019). coast-03."
    assert parse_report(text, IDS).counts() == {"unread_citation": 2}


def test_unknown_citations_are_kept_and_counted():
    parsed = parse_report("A [9]. B [1, coast-99]. C [9].", IDS)
    assert [one.citations for one in parsed.value.sentences] == [("9",), (A, "coast-99"), ("9",)]
    assert parsed.counts() == {"unknown_citation": 3}


def test_without_a_list_of_documents_numbers_are_ids():
    assert read("A [1].", []) == [("A.", ["1"])]


# ---- which sentence a mark belongs to


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One [1]. Two [2].", [("One.", [A]), ("Two.", [B])]),
        ("One. [1] Two. [2]", [("One.", [A]), ("Two.", [B])]),
        ("One.[1] Two.[2]", [("One.", [A]), ("Two.", [B])]),
        ("One.[1]Two.[2]", [("One.", [A]), ("Two.", [B])]),
        ("One.[1][3] Two.", [("One.", [A, C]), ("Two.", [])]),
        ("One [1]. Two. [2] Three [3].", [("One.", [A]), ("Two.", [B]), ("Three.", [C])]),
        ("[1] One. [2] Two.", [("One.", [A]), ("Two.", [B])]),
        ("[1] says that it rained. [2] says so too.", [("says that it rained.", [A]), ("says so too.", [B])]),
        ("One.\n\n[1]\n\nTwo.", [("One.", [A]), ("Two.", [])]),
        ("One [1]\nTwo [2]", [("One", [A]), ("Two", [B])]),
        ("She said: “No.” [1] He left! [2]", [("She said: “No.”", [A]), ("He left!", [B])]),
        ("It is 5.3 km [1]. Dr. Hale left at 5 p.m. today [2].",
         [("It is 5.3 km.", [A]), ("Dr. Hale left at 5 p.m. today.", [B])]),
        ("开罗爆发抗议[1]。警察开火。[2]", [("开罗爆发抗议。", [A]), ("警察开火。", [B])]),
        ("باران بارید [۱]. باد وزید [1].", [("باران بارید [۱].", []), ("باد وزید.", [A])]),
        ("He took vitamin A [1]. Then B.", [("He took vitamin A.", [A]), ("Then B.", [])]),
        ("Hale et al. [1] disagree. J. [2] Smith.", [("Hale et al. disagree.", [A]), ("J. Smith.", [B])]),
        ("One [1] [", [("One [", [A])]),
    ],
)  # fmt: skip
def test_a_mark_belongs_to_the_sentence_that_it_follows(text, expected):
    assert read(text) == expected


# ---- what is no part of a report


@pytest.mark.parametrize(
    "text",
    [
        "# A Title\n\nOne [1].\nTwo [2].",
        "A Title Without Marks\n\nOne [1].\nTwo [2].",
        "**A Title**\n\nOne [1].\n\nTwo [2].",
        "Here is the report:\n\nOne [1]. Two [2].",
        "<think>\nOne? [3] Draft.\n</think>\n\nOne [1]. Two [2].",
        "so it is</think>One [1]. Two [2].",
        "- One [1].\n- Two [2].",
        "1. One [1].\n2. Two [2].",
        "## First\n* One [1].\n\n## Second\n* Two [2].\n\n---\n",
        "> One [1].\n> Two [2].",
        "```\nOne [1]. Two [2].\n```",
        "**One** [1]. __Two__ [2].",
        "One [1]. Two [2].\n\nReferences:\n[1] coast-01\n[2] coast-02: The bay. It is deep.",
        "One [1]. Two [2].\n\n## Sources\n\n1. Seagrass in the bay. 2009.\n2. Another one.",
        "One [1]. Two [2].\n\n**References**\n- The bay",
        "One [1]. Two [2].\nSources: [1] coast-01, [2] coast-02",
        "One [1]. Two [2].\n\n参考文献\n[1] x。",
        "One [1]. Two [2].\n\n[1]: http://x.org\n[^2]: coast-02",
        "One [1]. Two [2].\n\n[1] https://x.org/a\n[2] https://x.org/b",
        "One [1].\r\nTwo [2].\r\n",
        "\ufeffOne [1]. Two [2].",
    ],
)  # fmt: skip
def test_markup_thinking_and_references_are_left_out(text):
    assert [(sentence.strip("\ufeff"), ids) for sentence, ids in read(text)] == [("One.", [A]), ("Two.", [B])]


@pytest.mark.parametrize(
    "text",
    [
        '<cite index="1-4">One.</cite> <cite index="2-1,2-3">Two.</cite>',
        "<co: 1>One</co: 1>. <co: 2>Two</co: 2>.",
        "<p>One [1].</p><p>Two [2].</p>",
        "<h2>Title</h2>\n<ul><li>One [1].</li>\n<li><b>Two</b> [2].</li></ul>",
        "<report>\nOne [1]. Two [2].\n</report>",
        "Report: One [1]. Two [2].",
        "- One.\n  - Source: [1]\n- Two.\n  - Source: [2]",
        "One [1]. Two [2].\n\nSources: [1], [2]",
        '{"sentence": "One.", "citations": [1]}\n{"sentence": "Two.", "citations": [2]}',
    ],
)  # fmt: skip
def test_wrappers_and_spans_are_left_out(text):
    assert read(text) == [("One.", [A]), ("Two.", [B])]


def test_a_mark_that_was_cut_off_counts():
    assert read("One [1]. Two [2, 3") == [("One.", [A]), ("Two", [B, C])]


def test_an_empty_report_in_json_has_no_sentences():
    assert read('{"sentences": []}') is None


def test_a_heading_after_the_references_ends_them():
    assert read("One.\n\n## References\n[1] x\n\n## Conclusion\nTwo.") == [("One.", []), ("Two.", [])]


def test_a_sentence_about_sources_is_none_of_them():
    assert read("Sources: the mayor said so [1].") == [("Sources: the mayor said so.", [A])]
    assert read("References are rare.") == [("References are rare.", [])]


def test_wrapped_lines_are_one_sentence_and_others_are_not():
    assert read("The meadows of the coast lie in the shallow Orrin\nBay [1]. It was deep once\n[2].") == [
        ("The meadows of the coast lie in the shallow Orrin Bay.", [A]),
        ("It was deep once.", [B]),
    ]
    assert read("The bay is\ndeep [1].") == [("The bay is deep.", [A])]
    assert read("In the bay,\nFish live [1].") == [("In the bay, Fish live.", [A])]
    assert read("The bay is deep\nFish live there") == [("The bay is deep", []), ("Fish live there", [])]


def test_a_row_of_a_table_is_a_sentence():
    assert read("| Year | Area |\n|---|---|\n| 1988 | 410 [1] |") == [("1988 410", [A])]
    assert read("| Claim | Sources |\n|---|---|\n| It rained. | 1, 3 |") == [("It rained.", [A, C])]


@pytest.mark.parametrize(
    "text",
    [
        "One [1]. Two [2].\n\nLet me know if you would like more!",
        "One [1]. Two [2].\n\n(Word count: 4)",
        "One [1]. Two [2].\n\n[1] https://bay.org/1\n[2] https://bay.org/2",
        "One [1]. Two [2].\n\n1. coast-01\n2. coast-02",
    ],
)
def test_speech_and_lists_without_heading_are_left_out(text):
    assert read(text) == [("One.", [A]), ("Two.", [B])]


@pytest.mark.parametrize("text", ["", " \n", "[1]", "---", "# Title", "<think>One [1].", "...", "References:\n[1] x"])
def test_nothing_is_a_failure(text):
    parsed = parse_report(text, IDS)
    assert parsed.value is None and parsed.failed


def test_an_unfinished_thought_is_a_problem():
    assert parse_report("<think>One [1].", IDS).counts() == {"unfinished_thinking": 1}


# ---- JSON


@pytest.mark.parametrize(
    "value",
    [
        {"sentences": [{"text": "One.", "citations": ["coast-01"]}, {"text": "Two.", "citations": ["coast-02"]}]},
        {"sentences": [{"text": "One.", "citations": [1]}, {"text": "Two.", "citations": [2]}]},
        {"sentences": [{"text": "One.", "citations": ["1"]}, {"text": "Two.", "citations": "[2]"}]},
        {"responses": [{"text": "One.", "citations": {"coast-01": 0.9}}, {"text": "Two.", "citations": "coast-02"}]},
        {"responses": [{"text": "One.", "citations": [1]}, {"text": "Two.", "citations": [0]}], "references": [B, A]},
        {"answer": [{"text": "One [1]."}, {"text": "Two.", "citations": 2}]},
        {"report": "One [1]. Two. [2]"},
        {"report": ["One [1].", "Two [2]."]},
        [{"sentence": "One.", "citations": [1]}, {"sentence": "Two.", "citations": ["[2]"]}],
        [{"sentence": "One.", "citations": ["[1"]}, {"sentence": "Two.", "citations": ["2]"]}],
        {"report": "One [1]. Two [2].", "sources": {"1": "coast-01", "2": "coast-02"}},
        [{"text": "One.", "citations": [{"doc_id": "coast-01"}]}, {"text": "Two.", "sources": [2]}],
    ],
)
def test_json_answers(value):
    for text in (
        json.dumps(value),
        f"Here:\n```json\n{json.dumps(value, indent=1)}\n```\nDone.",
        f"<think>{{}}</think>{json.dumps(value)}",
    ):
        assert read(text) == [("One.", [A]), ("Two.", [B])]


def test_nothing_is_made_up_of_who_asked_and_who_answered():
    report = parse_report("One [1].", IDS).value
    assert (report.request_id, report.run_id, report.collection_ids) == ("", "", ())


def test_json_that_is_cut_off_gives_what_is_there():
    assert read('{"sentences": [{"text": "One.", "citations": [1]}, {"text": "Tw') == [("One.", [A])]


def test_json_rows_without_text_are_passed_over():
    rows = [
        {"text": "One.", "citations": None},
        {"text": 3},
        {"text": " "},
        None,
        {"text": "Two.", "citations": [True, 1.5, None]},
    ]
    assert read(json.dumps({"sentences": rows})) == [("One.", []), ("Two.", [])]


def test_numbers_of_any_size_are_citations_of_nothing():
    text = '{"sentences": [{"text": "One.", "citations": [%s, -1, 4]}]}' % ("9" * 600)
    assert read(text) == [("One.", ["-1", "4"])]


def test_prose_that_quotes_json_names_is_prose():
    assert read('He wrote "text": nothing else [1].') == [('He wrote "text": nothing else.', [A])]


# ---- limit, ids


def test_sentences_beyond_the_limit_are_left_out():
    text = "One [1]. Two [2]. Six [3]."
    assert read(text, limit=9) == [("One.", [A]), ("Two.", [B])]
    assert read(text, limit=8) == [("One.", [A])]
    assert parse_report(text, IDS, limit=8).counts() == {"over_limit": 2}
    assert parse_report(text, IDS, limit=3).value is None


def test_the_report_knows_whose_it_is():
    report = parse_report("One.", request_id="7", run_id="a", collection_ids=["c"]).value
    assert (report.request_id, report.run_id, report.collection_ids) == ("7", "a", ("c",))
    assert report.sentences == (ReportSentence("One."),)


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
          "（1", "Hale (2019). ")  # fmt: skip


def test_hostile_texts_take_linear_time(size=40_000):
    texts = hostile.texts(size) + [(piece, piece * (size // len(piece))) for piece in OTHERS]
    for name, text in texts:
        assert hostile.is_linear(lambda one: parse_report(one, IDS), text[: size // 4], text), name
