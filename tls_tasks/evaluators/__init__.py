"""Evaluators of one pair at a time, by context-bench's names: ``from tls_tasks.evaluators import …``."""

from tls_tasks.evaluators.rouge import SummarizationQuality

__all__ = ["SummarizationQuality"]
