"""The leaf metrics of ``tree_eval`` by name, and which leaf has which by default."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_choice
from tls_tasks.trees.leaf_base import LeafMetric
from tls_tasks.trees.leaf_custom import custom_metric
from tls_tasks.trees.leaf_text import TEXT_METRICS
from tls_tasks.trees.leaf_values import VALUE_METRICS, treeval_exact_match

BUILT_IN: Mapping[str, Callable[..., LeafMetric]] = {**VALUE_METRICS, **TEXT_METRICS}
"""Name -> the function that makes the metric; its parameters are the metric's options."""

TREEVAL_METRICS: Mapping[str, Callable[..., LeafMetric]] = {
    "exact_match": treeval_exact_match,
    "levenshtein": lambda: replace(BUILT_IN["indel_ratio"](), name="levenshtein"),
}
"""treeval's names for what they mean there; with ``compat="treeval"`` they come before ours."""

DEFAULT_METRICS: Mapping[str, tuple[str, ...]] = {
    "string": ("indel_ratio",),
    "integer": ("exact_match",),
    "number": ("exact_match",),
    "boolean": ("exact_match",),
    "choice": ("exact_match",),
    "date": ("date_closeness",),
    "datetime": ("exact_match",),
}
"""Type -> its metrics: treeval's, but for BERTScore of texts, which needs a model. All other types: exact match."""

_HINTS = {
    "levenshtein": "'indel_ratio', which treeval calls so, or 'levenshtein_similarity'",
    "bertscore": "evaluate.load('bertscore') itself, with result_key='f1' and the model's language",
}


def resolve_metric(
    metric: Any,
    *,
    name: str | None = None,
    normalize: str | Sequence[str] = (),
    compat: str | None = None,
    **options: Any,
) -> LeafMetric:
    """The leaf metric that somebody means.

    Args:
        metric: A name of :data:`BUILT_IN`; a :class:`LeafMetric`; a module of ``evaluate`` or a function, see
            :func:`~tls_tasks.trees.leaf_custom.custom_metric`; or all of it as a dictionary:
            ``{"metric": "exact_match", "tolerance": 0.01}``.
        name: Key in results instead of the metric's own name.
        normalize: Names of :data:`~tls_tasks.text.normalizers.NORMALIZERS`, applied to both texts in this order.
        compat: ``treeval``: its names mean what they mean there.
        options: The metric's own; of somebody else's those of ``custom_metric``.

    Raises:
        OptionError: No metric of this name.
        InputError: No metric at all, or an option that it doesn't take.

    Example:
        >>> resolve_metric("exact_match", tolerance=0.5).signature
        'exact_match(tolerance=0.5)'
        >>> resolve_metric({"metric": "token_f1", "normalize": "nfc"}).pairs(["electric guitar"], ["guitar"])
        array([0.66666667])
        >>> resolve_metric("levenshtein")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: metric: got 'levenshtein', expected 'indel_ratio', which treeval calls so, or 'levenshtein_similarity'
    """  # noqa: E501 - the message is one line
    if isinstance(metric, Mapping):
        if "metric" not in metric:
            raise InputError("metric", None, repr(metric), "a dictionary with 'metric': a name")
        return resolve_metric(**{"name": name, "normalize": normalize, "compat": compat, **options, **metric})
    if isinstance(metric, str):
        found = _named(metric, compat, options)
    elif isinstance(metric, LeafMetric):
        found = metric
    elif hasattr(metric, "compute") or callable(metric):  # by its methods: an evaluation module is falsy
        found = custom_metric(metric, name=name, **options)
    else:
        raise InputError("metric", None, repr(metric), "a name, an evaluate module or a function")
    found = found.normalized(normalize)
    return found if name in (None, found.name) else replace(found, name=name, own_name=found.own_name or found.name)


def _named(name: str, compat: str | None, options: Mapping[str, Any]) -> LeafMetric:
    check_choice("compat", compat, (None, "treeval"))
    known = {**BUILT_IN, **TREEVAL_METRICS} if compat else BUILT_IN
    if name in _HINTS and name not in known:
        raise InputError("metric", None, repr(name), _HINTS[name])
    check_choice("metric", name, known)
    try:
        return known[name](**options)
    except TypeError as error:
        raise InputError("metric", None, f"{name!r} with {dict(options)}", f"options that it has ({error})") from None
