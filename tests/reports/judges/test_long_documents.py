"""Long documents: window by window, yes if one of them is yes, and nothing invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.judges.server import Server
from tls_tasks.core.errors import InputError
from tls_tasks.reports.judges import Recorded, Recorder, from_endpoint
from tls_tasks.reports.judges.choose import check_judge
from tls_tasks.reports.judges.questions import WINDOW, _windows, ask_in_windows
from tls_tasks.reports.types import Query, Verdict

LONG = "It rained. " * 100 + "Talks ended on Monday. " + "It rained. " * 100


def support(document, sentence="Sentence 1."):
    return Query("citation_support", {"document": document, "sentence": sentence}, {"doc_id": "d"})


@given(st.lists(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=5), max_size=5))
def test_one_yes_is_yes_and_without_it_one_missing_verdict_is_missing(wanted):
    queries = [support(" ".join(f"{number:02}{'x' * 96}" for number in range(len(values)))) for values in wanted]

    def ask(pieces):
        places = [place for place, query in enumerate(queries) for _ in range(sizes[place])]
        numbers = [piece.about.get("window", 1) for piece in pieces]
        return [
            Verdict(
                values[min(number, len(values)) - 1],
                "" if values[min(number, len(values)) - 1] is not None else "timeout",
                "w",
            )
            for values, number in ((wanted[place], number) for place, number in zip(places, numbers, strict=True))
        ]

    sizes = [len(_windows(query.fields["document"], 100, 10)) for query in queries]
    verdicts = ask_in_windows(queries, 100, ask)
    for values, size, verdict in zip(wanted, sizes, verdicts, strict=True):
        seen = [values[min(number, len(values) - 1)] for number in range(size)]
        assert verdict.value is (True if True in seen else None if None in seen else False)
        assert verdict.reason == ("timeout" if verdict.value is None else "")
        if size > 1:
            assert verdict.raw == f"window {seen.index(verdict.value) + 1} of {size}: w"


def test_an_endpoint_sees_windows_and_a_recording_the_document(serve):
    def answer(sentence, n_before, messages):
        return "YES" if "Talks ended on Monday." in messages[0]["content"] else "NO"

    server: Server = serve(answer)
    recorder = Recorder(from_endpoint(server.url, "m", window=500))
    asked = [support(LONG), support("It rained. " * 200), support("Talks ended on Monday.")]
    verdicts = recorder.ask(asked)
    assert [verdict.value for verdict in verdicts] == [True, False, True]
    assert verdicts[0].raw == "window 3 of 5: YES" and verdicts[2].raw == "YES"
    assert all(len(request["messages"][0]["content"]) < 2000 for request in server.requests)
    assert recorder.judge.stats.asked == 3 and recorder.judge.stats.tries == len(server.requests) < 11
    assert ",window:500," in recorder.name
    n_before = len(server.requests)
    assert recorder.ask(asked) == verdicts and len(server.requests) == n_before
    replay = Recorded(recorder.rows())
    assert [verdict.value for verdict in replay.ask(asked)] == [True, False, True]


def test_a_document_of_the_usual_length_is_one_question(serve):
    server = serve(lambda *_: "YES")
    judge = from_endpoint(server.url, "m")
    judge.ask([support("x" * WINDOW)])
    assert len(server.requests) == 1
    judge.ask([support("y" * (WINDOW + 1))])
    assert len(server.requests) == 3


@pytest.mark.parametrize("window", [99, 0, None, 1000.0, True])
def test_a_window_that_is_none_is_named(window):
    with pytest.raises(InputError, match="window: got"):
        from_endpoint("http://localhost/v1", "m", window=window)


@given(st.text(alphabet="ab c\n中", max_size=200), st.integers(1, 40), st.integers(0, 20))
def test_every_passage_as_long_as_the_overlap_stands_whole_in_a_window(text, size, overlap):
    overlap = min(overlap, size // 2)
    pieces = _windows(text, size, overlap)
    assert pieces and all(len(piece) <= size for piece in pieces)
    assert all(piece in text for piece in pieces) and text.startswith(pieces[0]) and text.endswith(pieces[-1])
    for start in range(len(text)):
        passage = text[start : start + max(overlap, 1)]
        assert any(passage in piece for piece in pieces)
    if len(text) <= size:
        assert pieces == (text,)


def test_words_are_whole_where_there_are_blanks():
    text = " ".join(f"word{number}" for number in range(2000))
    pieces = _windows(text, 1000, 100)
    assert len(pieces) < 25
    assert all(set(piece.split()) <= set(text.split()) for piece in pieces)
    assert len(_windows("中" * 100_000, 8000, 800)) == 14 and _windows("", 8000, 800) == ("",)


def test_a_judge_is_named_with_its_window():
    judge = {"harness": "hf", "model_args": "pretrained=x"}
    names = [check_judge(judge | more).split(",") for more in ({}, {"window": 500})]
    assert [part for part in names[1] if part not in names[0]] == ["window:500"]
