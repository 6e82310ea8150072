"""What of a text is its answer."""

import json
from pathlib import Path

import pytest

from tests import hostile
from tls_tasks.core.reasoning import MAX_LENGTH, strip_thinking
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


@pytest.mark.parametrize("piece", CASES["PIECES"])
def test_time_is_linear_in_hostile_marks(piece: str) -> None:
    small, large = (piece * (n // 4 // len(piece)) for n in (hostile.SMALL, hostile.LARGE))
    assert hostile.is_linear(strip_thinking, small, large)


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
