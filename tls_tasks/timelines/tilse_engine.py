"""The engine ``tilse``: tilse itself with its Perl script, for those who want to see both numbers.

Needs the extra ``tilse`` and Perl's XML::Parser.

The one place of the package that starts another program: ROUGE-1.5.5.pl, once for every pair of days.
"""

from collections.abc import Sequence

from tls_tasks.core.errors import MissingExtraError
from tls_tasks.core.prf import Counts
from tls_tasks.timelines.types import Timeline

_METHODS = {
    "concat": "evaluate_concat",
    "agreement": "evaluate_agreement",
    "align": "evaluate_align_date_costs",
    "align+": "evaluate_align_date_content_costs",
    "align+m:1": "evaluate_align_date_content_costs_many_to_one",
}


def tilse_counts(
    prediction: Timeline, references: Sequence[Timeline], variant: str, computation: str = "original"
) -> dict[str, Counts]:
    """Precision and recall from tilse, as counts out of 1; no counts (0.0) where tilse stops with an error.

    Args:
        prediction: The predicted timeline.
        references: Its references, taken jointly.
        variant: A variant by its paper's name.
        computation: ``original`` for the Perl script, ``reimpl`` for tilse's approximation in Python.

    Raises:
        MissingExtraError: tilse isn't installed.
    """
    try:
        from tilse.data import timelines as tilse
        from tilse.evaluation.rouge import TimelineRougeEvaluator
    except ImportError as error:
        raise MissingExtraError("engine='tilse'", "tilse") from error
    evaluator = TimelineRougeEvaluator({"rouge_1", "rouge_2"}, computation)
    by_date = [{entry.date: list(entry.sentences) for entry in timeline} for timeline in (prediction, *references)]
    try:
        predicted, *gold = map(tilse.Timeline, by_date)
        scores = getattr(evaluator, _METHODS[variant])(predicted, tilse.GroundTruth(gold))
    except (ZeroDivisionError, ValueError):  # what it raises for empty timelines and texts without words
        return dict.fromkeys(("ar1", "ar2"), Counts(0.0, 0.0, 0.0, 0.0))
    return {f"ar{n}": Counts(scores[f"rouge_{n}"]["precision"], 1, scores[f"rouge_{n}"]["recall"], 1) for n in (1, 2)}
