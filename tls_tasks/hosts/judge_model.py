"""A model of the harness as a judge: which of YES and NO it finds more likely. Every answer can be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_model

from tls_tasks.core.options import check_whole_number
from tls_tasks.reports.judges.prompts import prompts_hash, render
from tls_tasks.reports.judges.questions import WINDOW, ask_in_windows, distinct, from_probability, window_name
from tls_tasks.reports.types import Query, Verdict

WORDS = (" YES", " NO")
"""The continuations that are compared."""

_PROMPT_TOKENS = 1300  # room for the prompt and the passage around the sentence, beside a window
_EXAMPLES_TOKENS = 700
_SMALLEST_WINDOW = 200  # characters


def from_options(
    model: str,
    *,
    name: str,
    model_args: Mapping[str, Any] | str = "",
    chat: bool = False,
    examples: bool = False,
    window: int | None = None,
    **options: Any,
) -> HarnessJudge:
    """The judge that :mod:`tls_tasks.reports.judges.choose` specifies by ``harness``.

    Args:
        model: The harness's name for the kind of model, such as ``hf``.
        name: For the signature.
        model_args: Its arguments.
        chat: See :class:`HarnessJudge`.
        examples: See :class:`HarnessJudge`.
        window: See :class:`HarnessJudge`.
        **options: ``batch_size`` and ``device``, as the harness takes them.
    """
    model_class = get_model(model)
    create = model_class.create_from_arg_obj if isinstance(model_args, Mapping) else model_class.create_from_arg_string
    lm = create(model_args or "", options)
    return HarnessJudge(lm, chat=chat, examples=examples, name=name, window=window)


class HarnessJudge:
    """Asks a model of the harness by the likelihoods of YES and NO after the prompt.

    The verdict is yes if YES is at least as likely as NO; its probability is that of YES among the two. A question for
    which the model gives no numbers is left without a verdict, ``unreadable``.

    Args:
        lm: Any model of the harness that has ``loglikelihood``.
        chat: Whether the prompt goes through the model's chat template.
        examples: Whether two questions of the same kind with their answers stand before each, which small models need.
        name: For the signature; by default the model's class and checkpoint. A checkpoint that it hides is added.
        window: How many characters of a document the model is shown at a time; longer documents are judged window by
            window. By default what fits its context, at two characters per token.

    Example:
        ``HarnessJudge(lm_eval.models.huggingface.HFLM(pretrained="ORG/MODEL"))``
    """

    def __init__(
        self,
        lm: Any,
        *,
        chat: bool = False,
        examples: bool = False,
        name: str | None = None,
        window: int | None = None,
    ) -> None:
        self._lm, self._chat, self._examples = lm, chat, examples
        room = _PROMPT_TOKENS + _EXAMPLES_TOKENS * examples
        self._window = _fitting(getattr(lm, "max_length", None), room) if window is None else window
        check_whole_number("window", self._window, 100)
        checkpoint = getattr(getattr(getattr(lm, "model", None), "config", None), "_name_or_path", "")
        label = name or ":".join(filter(None, [type(lm).__name__, checkpoint]))
        hidden = [] if checkpoint in label else [f"model:{checkpoint}"]
        flags = [flag for flag, is_set in (("chat", chat), ("examples", examples)) if is_set]
        how = ["loglikelihood", *flags, *window_name(window)]
        self.name = ",".join([label, *hidden, *how, f"prompts:{prompts_hash(examples=examples)}"])

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; all different questions in one call of the model.

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
        verdicts = [from_probability(_probability_of_first(yes, no)) for yes, no in pairs]
        return [verdicts[position] for position in positions]

    def _context(self, query: Query) -> str:
        messages = render(query, examples=self._examples)
        if self._chat:
            # The template opens the model's turn: YES follows immediately.
            return str(self._lm.apply_chat_template(messages)).rstrip()
        opening = {"user": "", "assistant": "Answer: "}
        said = "\n\n".join(f"{opening[message['role']]}{message['content']}" for message in messages)
        return f"{said}\n\nAnswer:"


def _fitting(max_length: Any, room: int) -> int:
    """A window that leaves room for the prompt around it."""
    if not isinstance(max_length, int):
        return WINDOW
    return min(WINDOW, max(_SMALLEST_WINDOW, 2 * (max_length - room)))


def _probability_of_first(first: float, second: float) -> float:
    """The probability of the first of two outcomes, from their log-likelihoods; NaN where they say nothing.

    Example:
        >>> _probability_of_first(-1.0, -1.0), _probability_of_first(-800.0, 0.0), _probability_of_first(0.0, -math.inf)
        (0.5, 0.0, 1.0)
    """
    difference = second - first
    if math.isnan(difference):
        return math.nan
    return 1 / (1 + math.exp(difference)) if difference < 700 else 0.0
