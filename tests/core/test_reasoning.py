"""What of a text is its answer."""

import re

import pytest

from tests import hostile
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.reasoning import _label, first_reading, strip_thinking

ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"

BLOCKS = [
    ("", "", False),
    ("a", "a", False),
    ("<think>a</think>b", "b", False),
    ("a<think>b</think>c<think>d</think>e", "ace", False),
    ("a</think>b", "b", False),
    ("a<think>b</think>c</think>d", "d", False),
    ("<think>a<think>b</think>c", "c", False),
    ("<think>a", "", True),
    ("a<think>b", "a", True),
    ("<think></think>", "", False),
    ("<THINK>a</Think>b", "b", False),
    ("<thinking>a</thinking>b", "b", False),
    ("<thinker>a", "<thinker>a", False),
    # other names for it
    ("<seed:think>a</seed:think>b", "b", False),
    ("<longcat_think>a</longcat_think>b", "b", False),
    ("[THINK]a[/THINK]b", "b", False),
    ("[think] is a word here", "[think] is a word here", False),
    ("◁think▷a◁/think▷b", "b", False),
    ("◁think▷a", "", True),
    ("<reasoning>a</reasoning>b", "b", False),
    ("a</reasoning>b", "b", False),
    ("<thinking>a<reflection>b</reflection>c</thinking>d", "d", False),  # one within another
    ("<think>a</reasoning>b</think>c", "c", False),
    ("<scratchpad>a</scratchpad>b<reflection>c</reflection>", "b", False),
    ("<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>b<|end_of_solution|>", "b", False),
    ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "b", False),
    ("<|inner_prefix|>a<|inner_suffix|>b<|assistant_end|>", "b", False),
    ("<|channel>thought\na<channel|>b<turn|>", "b", False),
    ("a<channel|>b", "b", False),
    ("<unused94>thought\na<unused95>b", "b", False),
    ("<details>\n<summary>Thinking</summary>a</details>b", "b", False),
    ("<details><summary>Sources</summary>a</details>b", "<details><summary>Sources</summary>a</details>b", False),
    ("Here are my reasoning steps:\na\n[BEGIN FINAL RESPONSE]b[END FINAL RESPONSE]", "b", False),
    ("<think>a</think><|begin_of_box|>b<|end_of_box|>", "b", False),
    # Harmony
    (f"<|channel|>analysis<|message|>a<|end|>{FINAL}b<|return|>", "b", False),
    (f"a<|end|>{FINAL}b<|return|>", "b", False),  # the first header was in the prompt
    (f"{ANALYSIS}a<|end|><|start|>assistant<|channel|>commentary<|message|>c<|end|>{FINAL}b", "b", False),
    (f"{ANALYSIS}a<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>[1]", "[1]", False),
    ("<|channel|>commentary to=functions.give <|constrain|>json<|message|>[1]<|call|>", "[1]", False),
    ("<|channel|>analysis<|message|>a", "", True),
    ("<|channel|>analysis<|message|>a<|user|>b", "b", False),
    ("<|channel|>analysis<|message|>a<|end|>", "", False),
    (f"{FINAL}b<|return|><|start|>user<|message|>c<|end|>{FINAL}d", "b", False),
    ("analysisWe need a.assistantfinalb", "b", False),  # a decoder left the tokens out
    ("analysisWe need a.assistantcommentaryc.assistantfinalb", "b", False),
    ("analysisWe need a", "", True),
    ("analysis of a", "analysis of a", False),
    # the end of the turn
    ("b<|im_end|>", "b", False),
    ("<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\nd", "\nb", False),
    ("b<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nd", "b", False),
    ("b<end_of_turn>\n<start_of_turn>user\nc", "b", False),
    ("b<|endoftext|>c</think>d", "b", False),
    ("<s> b</s>", " b", False),
    ("<s>old</s> b", "old", False),  # with the start token before it that is what it means
    ("a <s>old</s> b", "a <s>old</s> b", False),  # here it strikes out
    # marks that are spoken of
    ('Use "<think>" or `</think>`.', 'Use "<think>" or `</think>`.', False),
    ("He wrote “<think>” on a wall.", "He wrote “<think>” on a wall.", False),
    ('```json\n[{"n": "a <think> b"}]\n```', '```json\n[{"n": "a <think> b"}]\n```', False),
    ('[{"n": "a \\"<think>\\" b"}] x', '[{"n": "a \\"<think>\\" b"}] x', False),
    ('<think>Not "</think>" yet.</think>b', "b", False),
    ('<think>It is "a".</think>"b"', '"b"', False),
    ('<think>6" long</think>[{"n": "b"}]', '[{"n": "b"}]', False),
    # tags around the answer
    ("<think>a</think><answer>b</answer>", "b", False),
    ("Let me see. <answer>b</answer> Done.", "b", False),
    ("<output>\nb\n</output>", "\nb\n", False),
    ("<answer>b", "b", False),
    ("b</answer>", "b", False),
    ("<answer>a</answer><answer>b</answer>", "<answer>a</answer><answer>b</answer>", False),
    ("a <answer></answer>", "a <answer></answer>", False),
    # labels
    ("Reasoning: a\nAnswer: b", " b", False),
    ("**Reasoning:** a\n\n**Answer:**\n\nb", "\n\nb", False),
    ("### Thinking\na\n\n### Answer\nb", "\nb", False),
    ("Here's my thought process: a\nHere's my response: b", " b", False),
    ("Thinking Process:\na", "Thinking Process:\na", False),  # no telling where it ends
    ("Draft:\na\nSummary:\nb", "Draft:\na\nSummary:\nb", False),
    ("Draft:\na\nFinal version:\nb", "\nb", False),
    ("a\n\n**Final answer:**\n\nb", "\n\nb", False),
    ("a\n\n**Final answer:**\n", "a\n\n", False),
    ("a\n## Final report\nb\nAnswer: c", "a\n## Final report\nb\nAnswer: c", False),
]  # fmt: skip

BLOCKS += [
    # another prompt, which a base model makes up
    ("a\n\n<document>\nb\n</document>\nJSON: c", "a\n\n", False),
    ('a\n<document id="2">\nb', "a\n", False),
    ("a\n\n### Instruction:\nb\n### Response:\nc", "a\n\n", False),
    ("a\n\nHuman: b\n\nAssistant: c", "a\n\n", False),
    ("<document>\nb\n</document>\na", "<document>\nb\n</document>\na", False),  # the prompt itself
    ("Here it is:\n<document>\na\n</document>", "Here it is:\n<document>\na\n</document>", False),
    ("```xml\n<document>\na\n</document>\n```", "```xml\n<document>\na\n</document>\n```", False),
    ("a\n\nHuman: error was found.", "a\n\nHuman: error was found.", False),
    ("a <document> b\nHumans: c", "a <document> b\nHumans: c", False),
]


@pytest.mark.parametrize(("text", "answer", "unfinished"), BLOCKS)
def test_reasoning_is_no_answer(text: str, answer: str, unfinished: bool) -> None:
    assert strip_thinking(text) == (answer, unfinished)


READINGS = [
    ("42\n\nFinal answer:\n43", "43"),
    ("42\n\nFinal answer:\nI gave it already.", "42"),
    ("Reasoning: it is 42.\nAnswer: that number.", "Reasoning: it is 42."),
    ("Here is the text again\n<document>\na\n</document>\n42", "a\n</document>\n42"),
    ("41\n<document>\na\n</document>\n42", "41"),
    ("&quot;42&quot;", "&quot;42&quot;"),
    ("&quot;x&quot;: &#52;2", '"x": 42'),
    ("no number\n\nFinal answer:\nnone", None),
]


@pytest.mark.parametrize(("text", "answer"), READINGS)
def test_what_a_weak_mark_set_apart_counts_if_there_is_nothing_else(text: str, answer: str | None) -> None:
    def read(text: str) -> Parsed[str]:
        own = strip_thinking(text).text.strip()
        return Parsed(own if re.search(r"(?<!#)4\d", own) else None)

    assert first_reading(text, read).value == answer


PIECES = (
    "<think>", "</think>", "<think>\n", '"<think> ', "`</think>", "[THINK]", "<|channel|>", "<|channel|>analysis",
    "<|channel|>commentary to=", "<s>", "</s>", "<s>a</s>", "<|im_start|>", "<|im_end|>", "<details>",
    "<details><summary>", "<answer>", "</answer><answer>", "Answer:\n", "Reasoning:\n", "final answer\n", "# ", "**",
    "<a:", "analysis", "<|", '\\"',
    "a\n<document>\n", ":\n<document>\n", "\nHuman: ",
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_time_is_linear_in_hostile_marks(piece: str) -> None:
    small, large = (piece * (n // 4 // len(piece)) for n in (hostile.SMALL, hostile.LARGE))
    assert hostile.is_linear(strip_thinking, small, large)
    assert hostile.is_linear(lambda text: first_reading(text, _nothing), small, large)


def _nothing(text: str) -> Parsed[str]:
    strip_thinking(text)
    return Parsed(None)


def test_a_mark_is_spoken_of_only_within_quotes_of_its_own_line() -> None:
    assert strip_thinking('Say "so <think>hidden\nmore</think>" It rained.').text == 'Say "so " It rained.'


@pytest.mark.parametrize("word", ["Final", "FINAL", "F\u0130NAL", "F\u0131nal"])  # what ignoring case takes for an i
def test_a_label_is_found_in_any_case(word: str) -> None:
    text = f"It is so.\n{word} answer:\nNO"
    assert _label(text) == (text.index("\n") + 1, len(text) - 3)
