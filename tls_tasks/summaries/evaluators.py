"""ROUGE-L of one pair of texts, by the names that context-bench gives it."""

from collections.abc import Mapping
from typing import Any

from tls_tasks.core.rows import read_text
from tls_tasks.summaries import rouge_l as scorer


def rouge_l(prediction: str, reference: str) -> dict[str, float]:
    """Return ROUGE-L of one prediction by lower-case words between blanks; a side without words scores 0.

    Args:
        prediction: The generated summary.
        reference: The reference summary.

    Returns:
        ``rouge_l_precision``, ``rouge_l_recall`` and ``rouge_l_f1`` in [0, 1], not rounded.

    Raises:
        InputError: A side isn't text.

    Example:
        >>> rouge_l("the cat sat", "the cat sat on the mat")
        {'rouge_l_precision': 1.0, 'rouge_l_recall': 0.5, 'rouge_l_f1': 0.6666666666666666}
    """
    return _one_pair(read_text(prediction, "prediction", None), read_text(reference, "reference", None), "zero")


class SummarizationQuality:
    """ROUGE-L of a response against an answer. An empty answer scores 1, whatever the response; an empty response 0.

    Example:
        >>> quality = SummarizationQuality()
        >>> quality.score(
        ...     {"answer": "The committee approved the budget."},
        ...     {"response": "The budget was approved by the committee."},
        ... )
        {'rouge_l_precision': 0.42857142857142855, 'rouge_l_recall': 0.6, 'rouge_l_f1': 0.5}
    """

    name = "summarization_quality"

    def score(self, original: Mapping[str, Any], processed: Mapping[str, Any]) -> dict[str, float]:
        """Score one response.

        Args:
            original: The example, with the reference summary as ``answer``.
            processed: The system's output, with the generated summary as ``response``.

        Returns:
            ``rouge_l_precision``, ``rouge_l_recall`` and ``rouge_l_f1`` in [0, 1], not rounded.

        Raises:
            InputError: A key holds no text; KeyError for an absent key.
        """
        answer = read_text(original["answer"], "original['answer']", None)
        return _one_pair(read_text(processed["response"], "processed['response']", None), answer, "one")


def _one_pair(prediction: str, reference: str, empty_reference: str) -> dict[str, float]:
    score = scorer.rouge_l([prediction], [reference], empty_reference=empty_reference)
    return {key: value for key, value in score.as_dict().items() if key != "signature"}
