"""Reference and predicted trees of one schema in files, joined by id."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.data.files import ENDINGS
from tls_tasks.data.keyed import PREDICTION_FIELDS, joined, read_keyed, said_of
from tls_tasks.trees.data_rows import ID_FIELDS, REFERENCE_FIELDS
from tls_tasks.trees.rows import read_prediction, read_reference


class TreeRow(NamedTuple):
    """A prediction as it was written (None: there is none) and its reference."""

    id: str
    prediction: Any
    reference: Any


def holds_many(place: Path) -> bool:
    """Whether a place is a folder or a file of rows, and not one tree."""
    return place.is_dir() or place.name.endswith(tuple(ending for ending in ENDINGS if ending != ".json"))


def read_trees(predictions: Path, references: Path) -> list[TreeRow]:
    """Read both sides and join them.

    Args:
        predictions: Rows with one of :data:`~tls_tasks.data.keyed.PREDICTION_FIELDS`, or trees by name.
        references: The same with one of :data:`~tls_tasks.trees.data.REFERENCE_FIELDS`.

    Raises:
        DataError: A place that can't be read, what is no tree, or a prediction that has no reference.
    """
    told = read_keyed(predictions, ID_FIELDS, of_a_model=True)
    rows = []
    for name, own, other in joined(read_keyed(references, ID_FIELDS), told):
        with said_of(own):
            reference, prediction = read_reference(own.field(REFERENCE_FIELDS), None), None
        if other is not None:
            with said_of(other):
                prediction = other.field((*PREDICTION_FIELDS, *REFERENCE_FIELDS))
                read_prediction(prediction, None)
        rows.append(TreeRow(name, prediction, reference))
    return rows
