"""Harness models that need no weights: ``lm_eval --model tls_datewise``, ``summ_lead`` and others."""

from __future__ import annotations

from typing import Any

from lm_eval.api.model import LM

from tls_tasks.data.order import whole_number
from tls_tasks.evidence import baseline as keyword
from tls_tasks.reports import baseline as report_lead
from tls_tasks.summaries import baseline as lead
from tls_tasks.timelines import baseline as datewise
from tls_tasks.trees import baseline as rules


class BaselineLM(LM):
    """A baseline as a harness model: it reads each prompt and answers; deterministic. What the others share."""

    tokenizer_name = ""
    answers_tasks_of = ""

    def answer(self, prompt: str) -> str:
        """The answer to one prompt."""
        raise NotImplementedError

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Answer each request's prompt."""
        answers = []
        for request in requests:
            prompt, options = request.args[:2]
            answers.append(_until(self.answer(str(prompt)), options))
            self.cache_hook.add_partial("generate_until", request.args, answers[-1])
        return answers

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Not a language model: it gives no probabilities."""
        raise NotImplementedError(self._no_likelihoods())

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Not a language model: it gives no probabilities."""
        raise NotImplementedError(self._no_likelihoods())

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The messages' texts, one after the other."""
        return "\n".join(message["content"] for message in chat_history)

    def chat_template(self, chat_template: bool | str = False) -> str:
        """It has none of its own."""
        return ""

    def _no_likelihoods(self) -> str:
        return f"{self.tokenizer_name} answers {self.answers_tasks_of} tasks only; it gives no likelihoods"


class DatewiseLM(BaselineLM):
    """The datewise baseline: reads each prompt, answers with a timeline.

    Example:
        ``lm_eval --tasks tls_crisis --model tls_datewise --output_path results --log_samples``
    """

    tokenizer_name = "tls_datewise"
    answers_tasks_of = "timeline"

    def __init__(self, **_: Any) -> None:
        """Batch size, device and the like mean nothing to it."""
        super().__init__()

    def answer(self, prompt: str) -> str:
        """A timeline of the sentences in the prompt."""
        return datewise.answer(prompt)


class LeadLM(BaselineLM):
    """The lead baseline: answers with the first sentences of the document.

    Args:
        n: How many sentences.

    Example:
        ``lm_eval --tasks summ --model summ_lead --model_args n=3``
    """

    tokenizer_name = "summ_lead"
    answers_tasks_of = "summarisation"

    def __init__(self, n: int = 3, **_: Any) -> None:
        """Batch size, device and the like mean nothing to it."""
        super().__init__()
        self.n = whole_number("n", n)

    def answer(self, prompt: str) -> str:
        """The first sentences of the document in the prompt."""
        return lead.answer(prompt, self.n)


class ReportLeadLM(BaselineLM):
    """The lead baseline for reports: cites the first sentence of each of the first documents.

    Args:
        k: How many documents.

    Example:
        ``lm_eval --tasks report_generation --model report_lead --model_args k=5``
    """

    tokenizer_name = "report_lead"
    answers_tasks_of = "report"

    def __init__(self, k: int = 10, **_: Any) -> None:
        """Batch size, device and the like mean nothing to it."""
        super().__init__()
        self.k = whole_number("k", k)

    def answer(self, prompt: str) -> str:
        """The first sentences of the documents in the prompt."""
        return report_lead.answer(prompt, self.k)


class KeywordLM(BaselineLM):
    """The keyword baseline: reads each prompt, answers with a JSON array of what it finds by word lists.

    Example:
        ``lm_eval --tasks evid --model evid_keyword``
    """

    tokenizer_name = "evid_keyword"
    answers_tasks_of = "extraction"

    def __init__(self, **_: Any) -> None:
        """Batch size, device and the like mean nothing to it."""
        super().__init__()

    def answer(self, prompt: str) -> str:
        """The objects in the document of the prompt."""
        return keyword.answer(prompt)


class RulesLM(BaselineLM):
    """The rules baseline: fills the schema in each prompt by regular expressions.

    Example:
        ``lm_eval --tasks tree_extraction --model tree_rules``
    """

    tokenizer_name = "tree_rules"
    answers_tasks_of = "extraction"

    def __init__(self, **_: Any) -> None:
        """Batch size, device and the like mean nothing to it."""
        super().__init__()

    def answer(self, prompt: str) -> str:
        """A tree of what the rules find in the document."""
        return rules.answer(prompt)


def _until(text: str, options: Any) -> str:
    """Cut at the first stop sequence, as every harness model does."""
    stops = options.get("until", []) if isinstance(options, dict) else []
    for stop in [stops] if isinstance(stops, str) else stops:
        text = text.partition(stop)[0] if stop else text
    return text
