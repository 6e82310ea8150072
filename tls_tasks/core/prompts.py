"""Prompts as the tasks make them, a document between two lines and then what is asked; and as models get them."""

from __future__ import annotations

import json
import re

_OPEN = re.compile(r"^<document>\n", re.MULTILINE)
_CLOSE = "\n</document>"


def read_prompt(prompt: str) -> tuple[str, str]:
    r"""Take a prompt apart.

    Args:
        prompt: With a document between the lines ``<document>`` and ``</document>``. If there are more than one
            (few-shot), the last is the one that is asked about.

    Returns:
        The document, empty if there is none, and what stands after it.

    Example:
        >>> read_prompt("<document>\nIt rained.\n</document>\n\nSummary:")
        ('It rained.', '\n\nSummary:')
    """
    closing = prompt.rfind(_CLOSE)
    openings = [match.end() for match in _OPEN.finditer(prompt) if match.end() <= closing + 1]
    if not openings:
        return "", prompt
    return prompt[openings[-1] : closing], prompt[closing + len(_CLOSE) :]


def is_asked(prompt: str, request: str) -> bool:
    r"""Whether a request asks a prompt: alone, after examples, in a chat template, or in the JSON of a chat.

    Example:
        >>> is_asked("1 + 1?\nSum:", "[INST] 1 + 1?\nSum: [/INST]"), is_asked("1 + 1?\nSum:", "1 + 2?\nSum:")
        (True, False)
        >>> is_asked("1 + 1?\nSum:", json.dumps([{"role": "user", "content": "1 + 1?\nSum:"}]))
        True
    """
    bare = prompt.strip()  # templates strip what they are given
    return any(form in request for form in (bare, *(json.dumps(bare, ensure_ascii=own)[1:-1] for own in (False, True))))
