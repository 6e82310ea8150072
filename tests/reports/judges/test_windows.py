"""Windows: nothing is left out, nothing short is cut in two, none is too long."""

from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.reports.judges.choose import check_judge
from tls_tasks.reports.judges.questions import _windows


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
