"""Timelines: alignment ROUGE and date F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tls_tasks.core.score import Score
    from tls_tasks.timelines.read import TimelinePolicy


def score(
    predictions: Any,
    references: Any,
    *,
    topics: Sequence[str] | None = None,
    reference_mode: str = "separate",
    aggregate: str = "f_of_means",
    beta: float = 1.0,
    policy: TimelinePolicy | Mapping[str, str] | None = None,
    tolerance: int = 0,
    **options: Any,
) -> Score:
    """Score timelines by AR-1, AR-2 and date F1 in one call.

    Args:
        predictions: Timelines, as :func:`~tls_tasks.timelines.alignment_rouge.alignment_rouge` takes them.
        references: For each prediction one timeline or a list of them.
        topics: The topic of each row. If given, every topic has the same weight.
        reference_mode: ``separate`` scores each reference on its own, ``joint`` all at once.
        aggregate: ``f_of_means`` (F of mean P and mean R) or ``mean_f`` (mean of the items' F).
        beta: Weight of recall in F.
        policy: How dates and texts are read from model text, also as a mapping of its options.
        tolerance: How many days apart dates of date F1 may match.
        **options: Further options of alignment ROUGE, such as ``variant`` or ``tokenizer``.

    Returns:
        A score with ``ar1_*``, ``ar2_*`` and ``date_*``, whose signature holds both signatures; with ``topics``,
        ``by_topic()`` gives each topic's own numbers.

    Example:
        >>> both = score(
        ...     ["2011-01-25: Mass protests erupt in Cairo."],
        ...     [{"2011-01-25": ["Protests erupt across Egypt."], "2011-02-11": ["Mubarak resigns."]}],
        ... )
        >>> round(both.ar1_f1, 3), round(both.ar2_f1, 3), round(both.date_f1, 3)
        (0.444, 0.333, 0.667)
        >>> print(both.explain(0))
        timelines, row 0, reference 0: ar1_f1 0.4444, ar2_f1 0.3333, date_f1 0.6667
          2011-01-25 ~ 2011-01-25: weight 1, 2 words in common (precision and recall)
            predicted  Mass protests erupt in Cairo.
            reference  Protests erupt across Egypt.
          2011-01-25 ~ 2011-02-11: weight 0.0556, 0 words in common (recall)
            predicted  Mass protests erupt in Cairo.
            reference  Mubarak resigns.
          dates right: 2011-01-25
          dates missed: 2011-02-11
          dates spurious: -
    """
    from tls_tasks.core.errors import check_options
    from tls_tasks.core.options import options_of
    from tls_tasks.timelines.alignment_rouge import alignment_rouge
    from tls_tasks.timelines.date_f1 import date_f1
    from tls_tasks.timelines.pairs import merge_scores

    shared: dict[str, Any] = {
        "topics": topics, "reference_mode": reference_mode, "aggregate": aggregate, "beta": beta, "policy": policy
    }  # fmt: skip
    check_options("timelines.score", options, [*options_of(alignment_rouge), "tolerance"])
    rouge = alignment_rouge(predictions, references, **shared, **options)
    return merge_scores(rouge, date_f1(predictions, references, tolerance=tolerance, **shared))
