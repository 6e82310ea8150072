"""Gold and predicted summaries in files, joined by id or line by line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tls_tasks.core.rows import read_text
from tls_tasks.data.keyed import PREDICTION_FIELDS, joined, read_keyed, said_of
from tls_tasks.summaries.data import ID_FIELDS, REFERENCE_FIELDS
from tls_tasks.summaries.rows import read_texts


class SummaryRow(NamedTuple):
    """A prediction (None: there is none) and its references."""

    id: str
    prediction: str | None
    references: tuple[str, ...]


def read_summaries(gold: Path, predictions: Path) -> list[SummaryRow]:
    """Read both sides and join them.

    Args:
        gold: Rows with one of :data:`~tls_tasks.summaries.data.REFERENCE_FIELDS`, texts by name, or a text a line.
        predictions: The same with ``summary`` or one of :data:`~tls_tasks.data.keyed.PREDICTION_FIELDS`.

    Raises:
        DataError: A place that can't be read, a row that is no text, or a prediction that the gold lacks.
    """
    wanted = read_keyed(gold, ID_FIELDS, text="line")
    told = read_keyed(predictions, ID_FIELDS, text="line", of_a_model=True)
    rows = []
    for name, own, other in joined(wanted, told):
        with said_of(own):
            references = read_texts(own.field(REFERENCE_FIELDS), 0)
        prediction = None
        if other is not None:
            with said_of(other):
                prediction = read_text(other.field((*PREDICTION_FIELDS, "summary")), "predictions", 0)
        rows.append(SummaryRow(name, prediction, references))
    return rows
