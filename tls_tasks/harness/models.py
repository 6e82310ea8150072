"""Harness models that need no weights: ``lm_eval --model tls_datewise``."""

from __future__ import annotations

from typing import Any

from lm_eval.api.model import LM

from tls_tasks.baselines.datewise import answer


class DatewiseLM(LM):
    """The datewise baseline as a harness model: reads each prompt, answers with a timeline; deterministic.

    Example:
        ``lm_eval --tasks tls_crisis --model tls_datewise --output_path results --log_samples``
    """

    tokenizer_name = "tls_datewise"

    def __init__(self, **_: Any) -> None:
        """Batch size, device and the like mean nothing to it."""
        super().__init__()

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Answer each request's prompt."""
        answers = []
        for request in requests:
            prompt, options = request.args[:2]
            answers.append(_until(answer(str(prompt)), options))
            self.cache_hook.add_partial("generate_until", request.args, answers[-1])
        return answers

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Not a language model: it gives no probabilities."""
        raise NotImplementedError("tls_datewise answers timeline tasks only; it gives no likelihoods")

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Not a language model: it gives no probabilities."""
        raise NotImplementedError("tls_datewise answers timeline tasks only; it gives no likelihoods")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The messages' texts, one after the other."""
        return "\n".join(message["content"] for message in chat_history)

    def chat_template(self, chat_template: bool | str = False) -> str:
        """It has none of its own."""
        return ""


def _until(text: str, options: Any) -> str:
    """Cut at the first stop sequence, as every harness model does."""
    stops = options.get("until", []) if isinstance(options, dict) else []
    for stop in [stops] if isinstance(stops, str) else stops:
        text = text.partition(stop)[0] if stop else text
    return text
