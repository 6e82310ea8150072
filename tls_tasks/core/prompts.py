"""Prompts as the tasks make them: a document between two lines, then what is asked about it."""

from __future__ import annotations

import re
from typing import NamedTuple

_OPEN = re.compile(r"^<document>\n", re.MULTILINE)
_CLOSE = "\n</document>"


class _Asked(NamedTuple):
    """What a prompt asks about.

    Attributes:
        document: The document; empty if there is none in the prompt.
        instruction: What stands after it.
    """

    document: str
    instruction: str


def read_prompt(prompt: str) -> _Asked:
    r"""Take a prompt apart.

    Args:
        prompt: With a document between the lines ``<document>`` and ``</document>``. If there are more than one
            (few-shot), the last is the one that is asked about.

    Example:
        >>> read_prompt("<document>\nIt rained.\n</document>\n\nSummary:")
        _Asked(document='It rained.', instruction='\n\nSummary:')
    """
    closing = prompt.rfind(_CLOSE)
    openings = [match.end() for match in _OPEN.finditer(prompt) if match.end() <= closing + 1]
    if not openings:
        return _Asked("", prompt)
    return _Asked(prompt[openings[-1] : closing], prompt[closing + len(_CLOSE) :])
