"""Harness models that need no weights: ``lm_eval --model tls_datewise``, ``summ_lead`` and others."""

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

from lm_eval.api.model import LM
from lm_eval.models.utils import postprocess_generated_text

from tls_tasks.core.errors import check_whole_number


class _BaselineLM(LM):
    """A family's baseline as a harness model: it reads each prompt, as a model would, and is deterministic.

    Attributes of a subclass:
        tokenizer_name: The model's name.
        family: Whose ``baseline.answer(prompt, **options)`` answers.
        options: Whole numbers that ``--model_args`` may set, with their defaults.
        least: The smallest value of an option.
    """

    tokenizer_name = ""
    family: ClassVar[str]
    options: ClassVar[Mapping[str, int]] = {}
    least: ClassVar[int] = 1

    def __init__(self, **given: Any) -> None:
        """Take the options; batch size, device and the like mean nothing to a baseline."""
        super().__init__()
        wanted = {name: given.get(name, n) for name, n in self.options.items()}
        self.chosen = {name: check_whole_number(name, n, self.least) for name, n in wanted.items()}

    def answer(self, prompt: str) -> str:
        """The answer to one prompt."""
        return str(importlib.import_module(f"tls_tasks.{self.family}.baseline").answer(prompt, **self.chosen))

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Answer each request's prompt."""
        answers = []
        for request in requests:
            prompt, options = request.args[:2]
            answers.append(postprocess_generated_text(self.answer(str(prompt)), options.get("until"), None))
            self.cache_hook.add_partial("generate_until", request.args, answers[-1])
        return answers

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Not a language model: it gives no probabilities."""
        raise NotImplementedError(f"{self.tokenizer_name} answers {self.family} tasks only; it gives no likelihoods")

    loglikelihood_rolling = loglikelihood

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The messages' texts, one after the other."""
        return "\n".join(message["content"] for message in chat_history)

    def chat_template(self, chat_template: bool | str = False) -> str:
        """It has none of its own."""
        return ""


class DatewiseLM(_BaselineLM):
    """Timelines: salient sentences of each day, as date-wise rankers choose them.

    ``mention_weight=0`` ranks dates by publications alone, a weaker baseline.

    Example:
        ``lm_eval --tasks tls_crisis --model tls_datewise --output_path results --log_samples``
    """

    tokenizer_name, family = "tls_datewise", "timelines"
    options: ClassVar[Mapping[str, int]] = {"mention_weight": 2}
    least = 0


class LeadLM(_BaselineLM):
    """Summaries: the first ``n`` sentences of the document.

    Example:
        ``lm_eval --tasks summ --model summ_lead --model_args n=3``
    """

    tokenizer_name, family = "summ_lead", "summaries"
    options: ClassVar[Mapping[str, int]] = {"n": 3}


class ReportLeadLM(_BaselineLM):
    """Reports: the first sentence of each of the first ``k`` documents, with a citation.

    Example:
        ``lm_eval --tasks report_generation --model report_lead --model_args k=5``
    """

    tokenizer_name, family = "report_lead", "reports"
    options: ClassVar[Mapping[str, int]] = {"k": 10}


class KeywordLM(_BaselineLM):
    """Extraction: what stands around a keyword of a domain.

    Example:
        ``lm_eval --tasks evid --model evid_keyword``
    """

    tokenizer_name, family = "evid_keyword", "evidence"


class RulesLM(_BaselineLM):
    """Trees: the schema in the prompt, filled by regular expressions.

    Example:
        ``lm_eval --tasks tree_extraction --model tree_rules``
    """

    tokenizer_name, family = "tree_rules", "trees"
