"""Prompts as the tasks make them: a document between two lines, then what is asked about it."""

from __future__ import annotations

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
