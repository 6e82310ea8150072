"""A model of the harness as a judge: which of YES and NO it finds more likely. No answer that can't be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lm_eval.api.instance import Instance

from tls_tasks.reports.judges.callable import from_probability
from tls_tasks.reports.judges.keys import distinct
from tls_tasks.reports.judges.long_documents import WINDOW, ask_in_windows, check_window
from tls_tasks.reports.judges.prompts import prompts_hash, render
from tls_tasks.reports.types import Query, Verdict

WORDS = (" YES", " NO")
"""The continuations that are compared."""

_ANSWER = "\n\nAnswer:"
_PROMPT, _LEAST = 400, 200  # tokens of a prompt and a sentence; characters of the smallest window


class HarnessJudge:
    """Asks a model of the harness by the likelihoods of YES and NO after the prompt.

    The verdict is yes if YES is at least as likely as NO; its probability is that of YES among the two. Where the model
    gives no numbers the question is left unscored, ``unreadable``.

    Args:
        lm: Any model of the harness that has ``loglikelihood``.
        chat: Whether the prompt goes through the model's chat template.
        name: Stands in the signature; by default the model's class and, where it says so, its checkpoint.
        window: How many characters of a document it is shown at a time; longer ones are judged window by window. By
            default what fits the model's context, at two characters a token.

    Example:
        ``HarnessJudge(lm_eval.models.huggingface.HFLM(pretrained="ORG/MODEL"))``
    """

    def __init__(self, lm: Any, *, chat: bool = False, name: str | None = None, window: int | None = None) -> None:
        self._lm, self._chat = lm, chat
        self._window = _fitting(getattr(lm, "max_length", None)) if window is None else window
        check_window(self._window)
        checkpoint = getattr(getattr(getattr(lm, "model", None), "config", None), "_name_or_path", "")
        label = name or ":".join(filter(None, [type(lm).__name__, checkpoint]))
        self._name = f"{label},loglikelihood{',chat' if chat else ''},prompts:{prompts_hash()}"

    @property
    def name(self) -> str:
        """Stands in the signature."""
        return self._name

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict a query, in order; equal questions are asked once, all of them in one call of the model.

        Raises:
            NotImplementedError: The model gives no likelihoods; says which.
        """
        return ask_in_windows(queries, self._window, self._ask)

    def _ask(self, queries: Sequence[Query]) -> list[Verdict]:
        kept, positions = distinct(queries)
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=(context, word), idx=number)
            for number, context in enumerate(map(self._context, kept))
            for word in WORDS
        ]
        likelihoods = [float(answer[0]) for answer in self._lm.loglikelihood(requests)] if requests else []
        pairs = zip(likelihoods[::2], likelihoods[1::2], strict=True)
        verdicts = [from_probability(probability_of_first(yes, no)) for yes, no in pairs]
        return [verdicts[position] for position in positions]

    def _context(self, query: Query) -> str:
        messages = render(query)
        if self._chat:
            # The template opens the model's turn, so that YES follows at once.
            return str(self._lm.apply_chat_template(messages)).rstrip()
        return f"{messages[0]['content']}{_ANSWER}"


def _fitting(max_length: Any) -> int:
    """A window that leaves room for the prompt around it."""
    if not isinstance(max_length, int):
        return WINDOW
    return min(WINDOW, max(_LEAST, 2 * (max_length - _PROMPT)))


def probability_of_first(first: float, second: float) -> float:
    """The probability of the first of two outcomes, from their log-likelihoods; NaN where they say nothing.

    Example:
        >>> probability_of_first(-1.0, -1.0), probability_of_first(-800.0, 0.0), probability_of_first(0.0, -math.inf)
        (0.5, 0.0, 1.0)
    """
    difference = second - first
    if math.isnan(difference):
        return math.nan
    return 1 / (1 + math.exp(difference)) if difference < 700 else 0.0
