"""Marked pieces: together they are the whole text, and what is marked is what was asked for."""

from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.text.quotes import mark_positions, mark_spans, mark_words
from tls_tasks.text.rouge155 import tokenize


def whole(segments):
    return "".join(text for text, _ in segments)


@given(st.text(max_size=60), st.sets(st.integers(0, 12)))
def test_positions(text, positions):
    segments = mark_positions(text, positions)
    assert whole(segments) == text and all(piece for piece, _ in segments)
    words = text.split()
    marked = " ".join(piece for piece, mark in segments if mark).split()
    assert marked == [word for place, word in enumerate(words) if place in positions]


@given(
    st.text("ab <&é\n", max_size=40),
    st.lists(st.tuples(st.integers(-2, 45), st.integers(-2, 45), st.sampled_from("xyz"))),
)
def test_spans(text, spans):
    segments = mark_spans(text, spans)
    assert whole(segments) == text
    place = 0
    for piece, marks in segments:
        for offset in range(place, place + len(piece)):
            assert set(marks.split()) == {mark for start, end, mark in spans if start <= offset < end}
        place += len(piece)


@given(st.text("protestsing Cairo.,é\n", max_size=60))
def test_words(text):
    segments = mark_words(text, {"protest"})
    assert whole(segments) == text
    assert ("protest" in tokenize(text)) == any(mark for _, mark in segments)
