"""What of a text is its answer."""

import json
import re
from pathlib import Path

import pytest

from tests import hostile
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.reasoning import MAX_LENGTH, _label, first_reading, strip_thinking
from tls_tasks.evidence.read import parse_evidence
from tls_tasks.reports.read import parse_report
from tls_tasks.summaries.read import parse_summary
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.trees.read import parse_tree

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


BLOCKS = [case for case in CASES["BLOCKS"] if isinstance(case, list)]


@pytest.mark.parametrize(("text", "answer", "unfinished"), BLOCKS)
def test_reasoning_is_no_answer(text: str, answer: str, unfinished: bool) -> None:
    assert strip_thinking(text)[:2] == (answer, unfinished)


@pytest.mark.parametrize(("text", "answer"), CASES["READINGS"])
def test_what_a_weak_mark_set_apart_counts_if_there_is_nothing_else(text: str, answer: str | None) -> None:
    def read(text: str) -> Parsed[str]:
        own = strip_thinking(text).text.strip()
        return Parsed(own if re.search(r"(?<!#)4\d", own) else None)

    assert first_reading(text, read).value == answer


@pytest.mark.parametrize("piece", CASES["PIECES"])
def test_time_is_linear_in_hostile_marks(piece: str) -> None:
    small, large = (piece * (n // 4 // len(piece)) for n in (hostile.SMALL, hostile.LARGE))
    assert hostile.is_linear(strip_thinking, small, large)
    assert hostile.is_linear(lambda text: first_reading(text, _nothing), small, large)


def _nothing(text: str) -> Parsed[str]:
    strip_thinking(text)
    return Parsed(None)


@pytest.mark.parametrize("word", ["Final", "FINAL", "F\u0130NAL", "F\u0131nal"])  # what ignoring case takes for an i
def test_a_label_is_found_in_any_case(word: str) -> None:
    text = f"It is so.\n{word} answer:\nNO"
    assert _label(text) == (text.index("\n") + 1, len(text) - 3)


@pytest.mark.parametrize(
    ("read", "answer"),
    [
        (parse_timeline, "2011-01-25: A."),
        (parse_timeline, '[{"date": "2011-01-25", "text": "A."}]'),
        (parse_summary, "A."),
        (parse_evidence, '[{"domain": "food", "evidence_span": "tea", "polarity": "present"}]'),
        (parse_tree, '{"a": 1}'),
        (parse_tree, "a: 1\nb: 2"),
        (parse_report, "It rained."),
    ],
)
def test_what_follows_an_answer_is_counted_in_every_family(read, answer):
    alone, told = read(answer), read(f"{answer}\n\n### Instruction:\nWrite.\n\n### Response:\nZorblax.")
    assert (told.value, told.kinds()) == (alone.value, {**alone.kinds(), "next_prompt": 4})
    told = read(f"<think>{'A.' * MAX_LENGTH}</think>{answer}{' ' * MAX_LENGTH}Zorblax.")
    assert (told.value, told.counts()) == (alone.value, {**alone.counts(), "too_long": 1})
