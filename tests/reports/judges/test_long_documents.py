"""Long documents: window by window, yes if one of them is yes, and nothing invented."""

from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.reports.judges import Recorded, Recorder, from_endpoint
from tls_tasks.reports.judges.questions import WINDOW, ask_once, windows
from tls_tasks.reports.types import Query, Verdict

LONG = "It rained. " * 100 + "Talks ended on Monday. " + "It rained. " * 100


def support(document, sentence="Sentence 1."):
    return Query("citation_support", {"document": document, "sentence": sentence}, {"doc_id": "d"})


def texts(document, size):
    return [part.fields["document"] for part in windows(support(document), size)]


@given(st.lists(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=5), max_size=5))
def test_one_yes_is_yes_and_without_it_one_missing_verdict_is_missing(wanted):
    queries = [support(" ".join(f"{number:02}{'x' * 96}" for number in range(len(values)))) for values in wanted]
    queries = [support(query.fields["document"], f"Sentence {place}.") for place, query in enumerate(queries)]

    def ask(questions):
        for query in questions.values():
            values = wanted[int(query.fields["sentence"][9:-1])]
            value = values[min(query.about.get("window", 1), len(values)) - 1]
            yield Verdict(value, "timeout" if value is None else "", "w")

    for values, query, verdict in zip(wanted, queries, ask_once(queries, ask, 100), strict=True):
        size = len(windows(query, 100))
        seen = [values[min(number, len(values) - 1)] for number in range(size)]
        assert verdict.value is (True if True in seen else None if None in seen else False)
        assert verdict.reason == ("timeout" if verdict.value is None else "")
        if size > 1:
            assert verdict.raw == f"window {seen.index(verdict.value) + 1} of {size}: w"


def test_an_endpoint_sees_windows_and_a_recording_the_document(serve):
    def answer(sentence, n_before, messages):
        return "YES" if "Talks ended on Monday." in messages[0]["content"] else "NO"

    server = serve(answer)
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


@given(st.text(alphabet="ab c\n中", max_size=200), st.integers(1, 40))
def test_every_passage_as_long_as_the_overlap_stands_whole_in_a_window(text, size):
    pieces = texts(text, size)
    assert pieces and all(len(piece) <= size for piece in pieces)
    assert all(piece in text for piece in pieces) and text.startswith(pieces[0]) and text.endswith(pieces[-1])
    for start in range(len(text)):
        passage = text[start : start + max(size // 10, 1)]
        assert any(passage in piece for piece in pieces)
    if len(text) <= size:
        assert pieces == [text]


def test_words_are_whole_where_there_are_blanks():
    text = " ".join(f"word{number}" for number in range(2000))
    pieces = texts(text, 1000)
    assert len(pieces) < 25
    assert all(set(piece.split()) <= set(text.split()) for piece in pieces)
    assert len(texts("中" * 100_000, 8000)) == 14 and texts("", 8000) == [""]
