"""Models of the harness as judges, by the likelihoods of YES and NO."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from tls_tasks.reports.judges import questions
from tls_tasks.reports.judges.prompts import prompts_hash, render
from tls_tasks.reports.types import Query, Verdict

WORDS = (" YES", " NO")
"""The continuations that are compared."""
_WORD_TOKENS = 4  # the most that one of these takes

_TOO_LONG = Verdict(None, "too long")


class HarnessJudge:
    """Asks a model of the harness by the likelihoods of YES and NO after the prompt.

    The verdict is yes if YES is at least as likely as NO; its probability is that of YES among the two. A question for
    which the model gives no numbers is left without a verdict, ``unreadable``; so is one that doesn't fit its context,
    ``too long``, of which the model would read the end only.

    Args:
        lm: Any model of the harness that has ``loglikelihood``.
        chat: Whether the prompt goes through the model's chat template.
        name: For the signature; by default the model's class and checkpoint. A checkpoint that it hides is added.

    Example:
        ``HarnessJudge(lm_eval.models.huggingface.HFLM(pretrained="ORG/MODEL"))``
    """

    def __init__(self, lm: Any, *, chat: bool = False, name: str | None = None) -> None:
        self._lm, self._chat = lm, chat
        checkpoint = getattr(getattr(getattr(lm, "model", None), "config", None), "_name_or_path", "")
        label = name or ":".join(filter(None, [type(lm).__name__, checkpoint]))
        hidden = [] if checkpoint in label else [f"model:{checkpoint}"]
        how = ["loglikelihood", *["chat"] * chat]
        self.name = ",".join([label, *hidden, *how, f"prompts:{prompts_hash()}"])

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; all questions in one call of the model.

        Raises:
            NotImplementedError: The model gives no likelihoods; says which.
        """
        from lm_eval.api.instance import Instance

        contexts = [self._context(query) for query in queries]
        whole = [*dict.fromkeys(filter(self._fits, contexts))]
        requests = [
            Instance("loglikelihood", doc={}, arguments=pair, idx=n) for n, pair in enumerate(product(whole, WORDS))
        ]
        likelihoods = [float(answer[0]) for answer in self._lm.loglikelihood(requests)] if requests else []
        verdicts = dict(zip(whole, map(_likeliest, likelihoods[::2], likelihoods[1::2]), strict=True))
        return [verdicts.get(context, _TOO_LONG) for context in contexts]

    def _fits(self, context: str) -> bool:
        """Whether the model reads a context as a whole, with a word behind it; yes where it doesn't say."""
        length, encode = getattr(self._lm, "max_length", None), getattr(self._lm, "tok_encode", None)
        return not isinstance(length, int) or encode is None or len(encode(context)) + _WORD_TOKENS <= length

    def _context(self, query: Query) -> str:
        messages = render(query)
        if self._chat:
            # The template opens the model's turn: YES follows immediately.
            return str(self._lm.apply_chat_template(messages)).rstrip()
        opening = {"user": "", "assistant": "Answer: "}
        turns = [f"{opening[message['role']]}{message['content']}" for message in messages]
        return "\n\n".join([*turns, "Answer:"])


def from_options(
    model: str, *, model_args: Mapping[str, Any] | str | None = None, loads: bool = True, **options: Any
) -> HarnessJudge:
    """The judge that :mod:`tls_tasks.reports.judges.choose` specifies by ``harness``.

    Args:
        model: The harness's name for the kind of model, such as ``hf``.
        model_args: Its arguments.
        loads: Whether the model is loaded; without it the judge has nothing but a name.
        **options: Those of :class:`HarnessJudge`; ``batch_size`` and ``device`` as the harness takes them.
    """
    how = {name: options.pop(name) for name in ("chat",) if name in options}
    label, lm = model_args or "", None
    if isinstance(model_args, Mapping):
        label = ",".join(f"{name}={value}" for name, value in sorted(model_args.items()))
    if loads:
        from lm_eval.api.registry import get_model
        from lm_eval.utils import simple_parse_args_string

        given = model_args if isinstance(model_args, Mapping) else simple_parse_args_string(model_args or "")
        lm = get_model(model).create_from_arg_obj(dict(given), options)
    return HarnessJudge(lm, name=f"{model}({label})", **how)


def _likeliest(yes: float, no: float) -> Verdict:
    """The verdict from the log-likelihoods of the words.

    Example:
        >>> _likeliest(-2.0, -1.0).value, _likeliest(math.nan, -1.0).reason
        (False, 'unreadable')
    """
    return questions.from_probability(1 / (1 + math.exp(min(no - yes, 700))))  # beyond that exp overflows; NaN stays
