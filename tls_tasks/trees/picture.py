"""Prepare the data that the page draws of a tree."""

import warnings
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.score import without_nan
from tls_tasks.text.quotes import Source, mark_spans
from tls_tasks.trees.data import shown_sources
from tls_tasks.trees.grounds import ground_at
from tls_tasks.trees.tree_eval import tree_eval

_MAX_SOURCE = 20_000  # characters of a source that the page shows


def picture(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data that the page draws of one tree: its rows with their quotes, and the marked source text.

    ``options`` of a document are arguments of :func:`~tls_tasks.trees.tree_eval.tree_eval`.
    """
    options = {"schema": doc.get("schema"), "sources": shown_sources(doc), **doc.get("options", {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an answer that can't be read is what the page shows
        (item,) = tree_eval([answer], [doc["reference"]], **options).items
    rows, source = item.side_by_side(), Source((options["sources"] or [doc.get("text", "")])[0])
    grounds = [ground_at(item.parsed.grounds, row.pred_path) for row in rows]
    by_quote = {g.quote: source.places(g.quote) for g in grounds if g}
    quotes = [g and [g.quote, g.holds, next(iter(by_quote[g.quote]), None)] for g in grounds]
    spans = [(*span, "hit" if g.holds else "miss") for g in grounds if g for span in by_quote[g.quote]]
    cells = [[*row[:5], without_nan(row.scores), quote] for row, quote in zip(rows, quotes, strict=True)]
    lost = item.parsed.lost()
    return {"kind": "tree", "lost": lost, "rows": cells, "source": mark_spans(source.text[:_MAX_SOURCE], spans)}
