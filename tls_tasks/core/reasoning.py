"""What of a model's text is its answer: reasoning, chat templates' tokens and a made-up next turn are not.

One table for all families. The marks are those that public models' chat templates and the servers' parsers of their
output know; a mark that is only spoken of, within quotation marks or backticks on its line, is none.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from tls_tasks.core.parsed import Problem, beside, problem

MAX_LENGTH = 1_000_000
"""Characters of an answer that are read; a long report has 700,000. A document of JSON may be longer."""


class Answer(NamedTuple):
    """A text without its reasoning.

    Attributes:
        text: The answer.
        unfinished: Whether a block of reasoning was still open at the end.
        dropped: What is neither reasoning nor answer: text behind ``</answer>``, and what a model makes up after its
            turn.
        beyond: What follows the first :data:`MAX_LENGTH` characters of the answer, and is not read.
    """

    text: str
    unfinished: bool
    dropped: tuple[Problem, ...] = ()
    beyond: str = ""

    def problems(self, text: str) -> tuple[Problem, ...]:
        """What was left out of ``text``, and is neither finished reasoning nor a frame."""
        left_out = [problem("unfinished_thinking", text)] * self.unfinished
        left_out += [problem("too_long", self.beyond)] * bool(self.beyond)
        return (*left_out, *self.dropped)


# A mark begins so, or at the beginning of the text: nearly all other places are passed over quickly.
_BEGINS = r"(?=<(?!\|?<)|[◁\[]|assistantfinal|(?<=\n)here|\A)"
_ROLES = yaml.safe_load(Path(__file__).with_name("chat_marks.yaml").read_text(encoding="utf-8"))
_ANY = "|".join(f"(?P<{role}>{'|'.join(patterns)})" for role, patterns in _ROLES.items())
_MARK = re.compile(f"{_BEGINS}(?:{_ANY})", re.IGNORECASE)
_SPOKEN_OF = ("''", '""', "``", "“”", "‘’", "«»", "„“")
"""Characters before and after a mark that is only spoken of."""

_WRAPPERS = ("answer", "final_answer", "final", "response", "output")


@lru_cache(maxsize=32)
def phrases(module: str) -> dict[str, str]:
    """The patterns of ``phrases.yaml`` here and beside a module: of each name, with what ``{{name}}`` stands for."""
    found = {} if module == __file__ else dict(phrases(__file__))
    for name, given in yaml.safe_load(Path(module).with_name("phrases.yaml").read_text(encoding="utf-8")).items():
        found[name] = filled("|".join(given) if isinstance(given, list) else given, found)
    return found


class Patterns(dict[str, re.Pattern[str]]):
    """The patterns of a module's ``phrases.yaml`` by their names, each compiled when it is first asked for."""

    def __init__(self, module: str) -> None:
        self._texts = phrases(module)

    def __missing__(self, name: str) -> re.Pattern[str]:
        return self.setdefault(name, re.compile(self._texts[name]))


def filled(pattern: str, parts: Mapping[str, str]) -> str:
    """A pattern with each ``{{name}}`` replaced by the part of that name."""
    return re.sub(r"\{\{(\w+)\}\}", lambda part: parts[part[1]], pattern)


_PROMPT = re.compile(phrases(__file__)["next_prompt"], re.MULTILINE)


@lru_cache(maxsize=4)  # a reader of JSON asks, and then one of lines
def strip_thinking(text: str) -> Answer:
    r"""Drop reasoning, templates' tokens, what follows the end of the turn or begins a prompt, and tags around it.

    A closing mark without an opening one (the opening one was in the prompt) ends a block that began with the text; a
    block that is not closed goes to the end of the text. A text without any mark comes back as it is.

    Example:
        >>> strip_thinking("<think>maybe []</think> [1]")
        Answer(text=' [1]', unfinished=False, dropped=(), beyond='')
        >>> strip_thinking("so it is []</think>[1]<think>or").text
        '[1]'
        >>> strip_thinking("◁think▷let me see").unfinished
        True
        >>> strip_thinking("<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>A.<|return|>").text
        'A.'
        >>> strip_thinking('Write "<think>" to think.<|im_end|> What?').text
        'Write "<think>" to think.'
    """
    answer, unfinished, after_turn = _without_blocks(text)
    answer, after_tag = _unwrapped(answer)
    answer, next_prompt = _before_prompt(answer)
    dropped = [*beside(after_tag), *_dropped("next_prompt", next_prompt + after_turn)]
    return Answer(answer[:MAX_LENGTH], unfinished, tuple(dropped), answer[MAX_LENGTH:])


def _dropped(kind: str, text: str) -> Iterator[Problem]:
    """The lines of a text that hold words."""
    return (problem(kind, line) for line in text[:MAX_LENGTH].split("\n") if any(map(str.isalnum, line)))


def _without_blocks(text: str) -> tuple[str, bool, str]:
    """The text without its marks and what these set apart; whether a block is unfinished; what follows the turn."""
    kept: list[str] = []
    after: list[str] = []
    position = 0
    inside = over = begun = chosen = False
    for mark in _MARK.finditer(text):
        role, around = mark.lastgroup, text[max(0, mark.start() - 1) : mark.start()] + text[mark.end() : mark.end() + 1]
        if role == "text" or around in _SPOKEN_OF or (inside and role not in ("close", "final")):
            continue
        if role == "close" and not inside and (over or mark[0] == "</details>"):
            continue
        if not inside:
            (after if over else kept).append(text[position : mark.start()])
            begun = begun or (not over and bool(kept[-1].strip()))
        position = mark.end()
        if role == "final" or (role == "close" and not inside):
            kept, after, begun, over, chosen = [], [], False, False, chosen or role == "final"
        elif role in ("end", "assistant", "user"):
            if begun and (chosen or role == "user"):
                return "".join(kept), False, "".join(after) + _MARK.sub("\n", text[position:])
            over = begun or role == "user"
        inside = role == "open"
    if not inside:
        (after if over else kept).append(text[position:])
    return "".join(kept), inside, "".join(after) if begun else ""


def _unwrapped(text: str) -> tuple[str, str]:
    """What stands in a box with headings, or in the one ``<answer>`` or the like, and what stands behind it."""
    after = ""
    if boxed := text.partition("\\boxed{\n#")[2]:
        text = f"#{boxed.rstrip().removesuffix('}')}"
    for name in _WRAPPERS:
        inside, _, behind = text.partition(f"<{name}>")[2].partition(f"</{name}>")
        if text.count(f"<{name}>") == 1 and inside.strip():
            text, after = inside, f"{behind}\n{after}"
    return text, after


def _before_prompt(text: str) -> tuple[str, str]:
    """The text before another prompt, with which base models go on after their answer; and from there on."""
    prompt = _PROMPT.search(text)
    end = prompt.start() if prompt and text[: prompt.start()].strip() else len(text)
    return text[:end], text[end:]
