"""Model text -> summary: what a chat model writes around it is left out, and said.

A plain summary comes through byte for byte (blanks around it aside), and so do titles, bullets and refusals. The tasks
read answers; the metric ``rouge_l`` does with ``read="answer"``, and scores texts as they are by default.
"""

import re
from collections.abc import Callable

from tls_tasks.core.parsed import Parsed, problem, problem_kinds
from tls_tasks.core.reasoning import Patterns, strip_thinking

PROBLEM_KINDS = problem_kinds("summaries")
"""What may have been left out of an answer."""


_PATTERN = Patterns(__file__)
_LEAD_INS = [_PATTERN[f"lead_in_{kind}"] for kind in ("line", "sentence", "greeting", "label", "heading", "field")]
_CLOSING = _PATTERN["closing"]
_FENCED = re.compile(r"(`{3,}|~{3,})[ \t]{0,9}[\w.+-]{0,20}[ \t]{0,9}\n(.*?)(?:\n?[ \t]{0,9}\1[`~]{0,9})?", re.DOTALL)
_TAGGED = re.compile(r"<(summary|answer|text|document|result)>(.*)</\1>", re.IGNORECASE | re.DOTALL)
_RULE = re.compile(r"\A[-*_]{3,9}[ \t]{0,9}\n|\n[-*_]{3,9}\Z")
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("‘", "’"), ("'''", "'''"), ("**", "**"))
_PASSES = 6  # a lead-in may hold another: "Sure! … ## Summary … ```"


def parse_summary(text: str | None) -> Parsed[str]:
    r"""Read the summary that a model wrote.

    Args:
        text: The model's text, None if it gave none.

    Returns:
        The summary, empty if there is none (None without a text), and what was left out (:data:`PROBLEM_KINDS`).
        Reasoning is left out, too. No text raises.

    Example:
        >>> parsed = parse_summary("Sure! Here's a summary:\n\nThe bill was passed.\n\nLet me know if I can help!")
        >>> parsed.value, parsed.kinds()
        ('The bill was passed.', {'lead_in': 1, 'closing_remark': 1})
    """
    if text is None:
        return Parsed(None, (problem("no_answer", ""),))
    answer = strip_thinking(text)
    problems = list(answer.problems(text))
    summary = answer.text.strip()
    for _ in range(_PASSES):
        before = summary
        for kind, left in _STEPS:
            rest = left(summary).strip()
            if rest != summary:
                problems.append(problem(kind, "".join(summary.split(rest, 1)) if rest else summary))
                summary = rest
        if summary == before:
            break
    return Parsed(summary, tuple(problems))


def _after_lead_in(text: str) -> str:
    """Without what announces the summary."""
    for pattern in _LEAD_INS:
        if lead_in := pattern.match(text):
            return text[lead_in.end() :]
    return text


def _before_closing(text: str) -> str:
    """Without a last paragraph, or line, that speaks to the reader of the answer."""
    rest, _, last = text.rpartition("\n")
    return rest if rest and _CLOSING.fullmatch(last) else text


def _inside(text: str) -> str:
    """What stands in something around the whole."""
    if (fenced := _FENCED.fullmatch(text)) and fenced[1] not in fenced[2]:
        return fenced[2]
    if (tagged := _TAGGED.fullmatch(text)) and f"<{tagged[1].lower()}>" not in tagged[2].lower():
        return tagged[2]
    if text.startswith(">") and all(line.startswith(">") for line in text.split("\n")):
        return "\n".join(line[1:].removeprefix(" ") for line in text.split("\n"))
    for opening, closing in _QUOTES:
        inner = text[len(opening) : -len(closing)]
        if text == f"{opening}{inner}{closing}" and inner and opening not in inner and closing not in inner:
            return inner
    return _RULE.sub("", text)


_STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("wrapper", _inside),
    ("lead_in", _after_lead_in),
    ("closing_remark", _before_closing),
)
