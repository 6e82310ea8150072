"""What is left of a text where only part of it has room."""

import pytest

from tests import hostile
from tls_tasks.core.terminal import beginning

DAY = "It rained all day. "


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [
        ("A b.\n\nC d.", 100, "A b.\n\nC d."),
        ("A b.\n\nC d.", 4, "A b."),
        ("A b.\r\n\r\nC d.\r\n", 9, "A b."),
        ("A b.\n \nC d.\n\nE f.", 16, "A b.\n \nC d."),
        ("Title\n\n" + DAY * 9, 100, "Title\n\n" + (DAY * 4).strip()),  # a title alone is next to nothing
        (DAY * 3, 40, (DAY * 2).strip()),
        ("He said “No.” She left.", 15, "He said “No.”"),
        ("下雨了。天晴了。", 5, "下雨了。"),
        ("one line\nanother line", 12, "one line"),
        (DAY, 10, ""),
        ("so we went on " * 200, 1500, ("so we went on " * 107).strip()),  # a transcript without punctuation
    ],
)
def test_whole_paragraphs_or_else_sentences_are_left(text, most, left):
    assert beginning(text, most) == left


@pytest.mark.parametrize("piece", ["\n", " ", ".", "a.\n", "\n \n", '."', "a" * 50])
def test_it_is_linear(piece):
    text = piece * (1_000_000 // len(piece))
    assert hostile.seconds(lambda text: beginning(text, 900_000), text) < 60
