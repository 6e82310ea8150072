"""What the harness hands to ``process_results``: the answer in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def answer_text(results: Sequence[Any]) -> str:
    """The answer as text, empty if there is none. Filters of the user's own may have made a list or None of it.

    Example:
        >>> answer_text([["a summary"]]), answer_text([None])
        ('a summary', '')
    """
    answer: Any = results[0] if len(results) else ""
    while isinstance(answer, list | tuple):
        answer = answer[0] if answer else ""
    return answer if isinstance(answer, str) else ""
