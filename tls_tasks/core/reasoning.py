"""What of a model's text is its answer: reasoning, chat templates' tokens and a made-up next turn are not.

One table for all families. The marks are those that public models' chat templates and the servers' parsers of their
output know; a mark that is only spoken of, within quotation marks or backticks on its line, is none.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from tls_tasks.core.parsed import Parsed

_Read = TypeVar("_Read", bound=Parsed[Any])


class Answer(NamedTuple):
    """A text without its reasoning.

    Attributes:
        text: The answer.
        unfinished: Whether a block of reasoning was still open at the end.
    """

    text: str
    unfinished: bool


_NAMES = r"think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis|inner_monologue|chain_of_thought"

_ROLES = {
    # No mark at all: text struck out. A sentence's end token looks like the end of that.
    "text": r"(?<=[\s\S])<s>[^<\n]{1,200}</s>",
    "open": "|".join((
        rf"<(?:\w{{1,12}}[:_])?(?:{_NAMES})>",  # <think>, <seed:think>, <longcat_think>
        r"\[(?-i:THINK|THINKING|REASONING)\]|◁think▷",
        r"<\|(?:begin|start)_(?:of_)?(?:thought|think|thinking|reasoning)\|>|<\|think_start\|>|<\|inner_prefix\|>",
        r"<\|channel>\s?thought|<unused94>(?:thought)?",
        r"<details>\s{0,9}<summary>[^<]{0,40}(?:thinking|thought|reasoning)[^<]{0,40}</summary>",
    )),
    "close": "|".join((
        rf"</(?:\w{{1,12}}[:_])?(?:{_NAMES})>",
        r"\[/(?-i:THINK|THINKING|REASONING)\]|◁/think▷",
        r"<\|end_(?:of_)?(?:thought|think|thinking|reasoning)\|>|<\|think_end\|>|<\|inner_suffix\|>",
        r"<channel\|>|<unused95>",
        r"</details>",
    )),
    # The answer begins, whatever was before.
    "final": "|".join((
        r"<\|channel\|>\s?(?:final|commentary\s{1,3}to=[\w.]{1,80})(?:\s?<\|constrain\|>\s?\w{0,20})?\s?(?:<\|message\|>)?",
        r"(?-i:assistantfinal)",  # the same without its tokens, which many decoders leave out
        r"<\|begin_of_solution\|>|<\|start_response\|>|\[(?-i:BEGIN FINAL RESPONSE)\]",
    )),
    "channel": r"<\|channel\|>\s?\w{0,20}(?:\s?<\|message\|>)?|\A\s{0,99}(?-i:(?:assistant)?analysis)(?=[^\W_]|[\"'])",
    "end": "|".join((
        r"<\|(?:im_end|end|return|call|eot|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end_of_turn_token)\|>",
        r"<\|(?:end_response|end_of_solution|assistant_end)\|>|\[(?-i:END FINAL RESPONSE)\]",
        r"</s>|<eos>|<end_of_turn>|<turn\|>|<seed:eos>|<｜end▁of▁sentence｜>",
    )),
    "assistant": "|".join((
        r"<\|(?:im_start|start|start_header_id)\|>\s?assistant(?:\s?<\|end_header_id\|>)?",
        r"<start_of_turn>\s?model|<\|turn>\s?model|<seed:bos>\s?assistant|<｜Assistant｜>|\[/(?-i:INST)\]",
        r"<\|(?:assistant|assistant_start|chatbot_token)\|>",
    )),
    "user": "|".join((
        r"<\|(?:im_start|start|start_header_id)\|>|<start_of_turn>|<\|turn>|<seed:bos>|<｜User｜>|\[(?-i:INST)\]",
        r"<\|(?:user|user_start|user_token|system|system_token)\|>",
    )),
    "token": "|".join((
        r"\A\s{0,99}<s>|<bos>|<pad>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>",
        r"<\|(?:begin|end)_of_box\|>|<\|message\|>|<\|start_of_turn_token\|>",
    )),
}  # fmt: skip
# A mark begins so, or at the beginning of the text: nearly all other places are passed over quickly.
_BEGINS = r"(?=[<◁\[]|assistantfinal|\A)"
_MARK = re.compile(
    _BEGINS + "(?:" + "|".join(f"(?P<{role}>{pattern})" for role, pattern in _ROLES.items()) + ")", re.IGNORECASE
)
_KIND = re.compile(rf"channel|unused|inner|details|{_NAMES.replace('(?:ing)?', '')}", re.IGNORECASE)

_WRAPPERS = ("answer", "final_answer", "final", "response", "output")

_NOTES = (
    r"thinking|thinking process|thoughts|thought process|(?:here(?: is|'s) )?my thought process|chain of thought"
    r"|(?:internal |my )?reasoning|reasoning steps|here are my reasoning steps|scratchpad"
)
_FINAL = r"(?:the |my )?final (?:answer|response|output|version)"
_NOUN = r"(?:answer|response|output|version|result|summary|timeline|report|json)"
_HERE = r"(?:here(?: is|'s) )?(?:the |my )?"
_BOLD = r"(?:\*\*|__)?"
_LABEL = rf"[ \t]{{0,9}}(?:#{{1,6}}[ \t]{{1,9}})?{_BOLD}(?:%s){_BOLD}[ \t]{{0,9}}(?:[:：]{_BOLD}|\r?$)"
_LABELS = [
    # A literal line feed, which lines can be searched for quickly, and not an anchor.
    (re.compile(opens, re.IGNORECASE | re.MULTILINE), re.compile("\n" + _LABEL % ends, re.IGNORECASE | re.MULTILINE))
    for opens, ends in (
        (rf"\A\s{{0,99}}{_LABEL % _NOTES}", rf"{_HERE}(?:final )?{_NOUN}|final"),
        (rf"\A\s{{0,99}}{_LABEL % '(?:first |rough )?draft'}", rf"{_HERE}(?:final|revised|corrected) {_NOUN}|final"),
        (r"\A", rf"{_FINAL}(?=\W{{0,9}}$)"),  # on a line of its own, whatever the text begins with
    )
]

_PROMPT = re.compile(
    r"(?<=\n)[ \t]{0,9}(?:<documents?(?: [^<>\n]{0,99})?>[ \t\r]{0,9}$|#{2,3} (?:Human|Input|Instruction|User):"
    r"|Human:[^\n]{1,2000}\n{1,3}Assistant:)",
    re.MULTILINE,
)
_POINTS_BACK = re.compile(
    r"\W{0,9}(?:please )?(?:as|given|same|see)\b[^.:\n]{0,60}\babove\b[^.:\n]{0,60}\W{0,9}", re.IGNORECASE
)
_MAX_READINGS = 3


@lru_cache(maxsize=4)  # a reader of JSON asks, and then one of lines
def strip_thinking(text: str) -> Answer:
    r"""Drop reasoning, templates' tokens, what follows the end of the turn or begins a prompt, and tags around it.

    A closing mark without an opening one (the opening one was in the prompt) ends a block that began with the text; a
    block that is not closed goes to the end of the text. A text without any mark comes back as it is.

    Example:
        >>> strip_thinking("<think>maybe []</think> [1]")
        Answer(text=' [1]', unfinished=False)
        >>> strip_thinking("so it is []</think>[1]<think>or").text
        '[1]'
        >>> strip_thinking("◁think▷let me see")
        Answer(text='', unfinished=True)
        >>> strip_thinking("<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>A.<|return|>").text
        'A.'
        >>> strip_thinking('Write "<think>" to think.<|im_end|> What?').text
        'Write "<think>" to think.'
        >>> strip_thinking("Reasoning: it rained.\n\n**Answer:** Rain.").text
        ' Rain.'
    """
    answer = _without_blocks(text)
    own = _unwrapped(answer.text)
    own = own[: begun.start()] if (begun := _made_up(own)) else own
    return Answer(_after_label(own, _label(own)), answer.unfinished)


def first_reading(text: str, read: Callable[[str], _Read]) -> _Read:
    r"""What a text is read as; where that fails, what else of it is read as.

    Labels, and the beginning of another prompt, are weak marks: what they set apart counts after all if nothing can be
    read without it. The same goes for a text that is escaped as HTML.

    Args:
        text: What the model wrote.
        read: Reads a text; it leaves out reasoning by itself.

    Returns:
        The first reading that did not fail, or else the reading of the text as it stands.

    Example:
        >>> def read(text):
        ...     answer = strip_thinking(text).text.strip()
        ...     return Parsed(answer if "42" in answer else None)
        >>> first_reading("It is 42.\n\nFinal answer:\nI have just given it.", read).value
        'It is 42.'
    """
    first = read(text)
    others = islice(_other_texts(text), _MAX_READINGS) if first.failed else ()
    return next((second for other in others if not (second := read(other)).failed), first)


def _other_texts(text: str) -> Iterator[str]:
    """What else of a text may hold the answer."""
    own = _unwrapped(_without_blocks(text).text)
    begun = _made_up(own)
    if label := _label(own[: begun.start()] if begun else own):
        yield own[: label[0]]
    if begun:
        yield own[begun.end() :]
    if "&quot;" in text:
        yield html.unescape(text)


def _without_blocks(text: str) -> Answer:
    """The text without its marks, and without what these set apart."""
    kept: list[str] = []
    position, inside = 0, ""
    begun = over = chosen = False
    for role, kind, mark in _marks(text):
        if inside and role != "final" and not _ends_block(inside, role, kind):
            continue
        if role == "close" and not inside and (over or kind == "details"):
            continue
        if not (inside or over):
            kept.append(text[position : mark.start()])
            begun = begun or bool(kept[-1].strip())
        position = mark.end()
        if role == "close" and not inside:
            kept, begun = [], False
        elif role == "final":
            kept, begun, over, chosen = [], False, False, True
        elif role in ("end", "assistant", "user") and not inside:
            if begun and (chosen or role == "user"):
                return Answer("".join(kept), False)
            over = begun or role == "user"
        inside = kind if role in ("open", "channel") else ""
    if not (inside or over):
        kept.append(text[position:])
    return Answer("".join(kept), bool(inside) and not over)


def _ends_block(inside: str, role: str, kind: str) -> bool:
    """Whether a mark within a block ends it; a channel lasts until anything else of the template."""
    if inside == "channel" and role in ("end", "assistant", "user"):
        return True
    return role == "close" and kind == inside


def _marks(text: str) -> Iterator[tuple[str, str, re.Match[str]]]:
    """Role, kind and place of each mark that is not just spoken of."""
    counted, end = 0, -1
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    for mark in _MARK.finditer(text):
        start = mark.start()
        if start > end:  # on another line than the mark before
            counted = text.rfind("\n", max(0, end), start) + 1
            end = text.find("\n", start) % (len(text) + 1)
            before = dict.fromkeys('"`', 0)
            after = {quote: _count(text, quote, counted, end) for quote in before}
        for quote in before:
            passed = _count(text, quote, counted, start)
            before[quote] += passed
            after[quote] -= passed
        counted = start
        around = text[max(0, start - 1) : start] + text[mark.end() : mark.end() + 1]
        spoken_of = around in ("''", "“”", "‘’", "«»", "„“")
        if spoken_of or any(before[quote] % 2 and after[quote] % 2 for quote in before):
            continue
        if (role := str(mark.lastgroup)) != "text":
            kind = _KIND.search(mark[0])
            yield role, "channel" if role == "channel" else kind[0].lower() if kind else "", mark


def _count(text: str, quote: str, start: int, end: int) -> int:
    """How many quotation marks there are, without those that a backslash protects."""
    return text.count(quote, start, end) - text.count("\\" + quote, start, end)


def _unwrapped(text: str) -> str:
    """What stands in ``<answer>`` or the like, if there is just one such tag."""
    if "<" not in text:
        return text
    for name in _WRAPPERS:
        tags = re.compile(rf"<(/?){name}>", re.IGNORECASE)
        found = list(tags.finditer(text))
        opening = [tag for tag in found if not tag[1]]
        closing = [tag for tag in found if tag[1]]
        if not found or len(opening) > 1 or len(closing) > 1:
            continue
        start, end = opening[0].end() if opening else 0, closing[0].start() if closing else len(text)
        if text[start:end].strip():
            text = text[start:end]
    return text


def _made_up(text: str) -> re.Match[str] | None:
    """Where a model goes on with another prompt after its answer, as base models do."""
    found = _PROMPT.search(text)
    before = text[: found.start()].rstrip() if found else ""
    is_announced = before.endswith((":", "：", ">")) or before.rpartition("\n")[2].startswith(("`", "~"))
    return found if before and not is_announced else None


def _label(text: str) -> tuple[int, int] | None:
    """Where a line "Final answer:" begins and ends, or "Answer:" where the text begins with "Reasoning:"."""
    lines = f"\n{text}"  # each begins with a line feed
    has_final = "final" in text.lower().replace("i\u0307", "i").replace("ı", "i")  # what IGNORECASE takes for an i
    for opens, ends in _LABELS if has_final else _LABELS[:-1]:
        if (opening := opens.match(text)) and (label := ends.search(lines, opening.end())):
            return label.start(), label.end() - 1
    return None


def _after_label(text: str, label: tuple[int, int] | None) -> str:
    """What follows a label; what stands before it if nothing follows, or "See above."."""
    if label is None:
        return text
    start, end = label
    if not (rest := text[end:]).strip() or _POINTS_BACK.fullmatch(rest):
        return text[:start] if text[:start].strip() else text
    return rest
