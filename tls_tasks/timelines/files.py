"""Gold and predicted timelines in the files that the field keeps them in, joined by topic.

A place is a folder in the news-tls layout (or one topic of it), a folder with a text a topic, a file of rows with
``topic`` or ``id`` and a timeline, or one document: a ``timelines.jsonl``, JSON of a timeline, or text.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tls_tasks.core.errors import DataError, warn_of_repeated
from tls_tasks.core.parsed import Parsed
from tls_tasks.data.files import ENDINGS, file_rows
from tls_tasks.data.keyed import PREDICTION_FIELDS, Keyed, Row, joined, read_keyed, said_of
from tls_tasks.timelines.rows import read_prediction, read_references
from tls_tasks.timelines.topics import TIMELINES_FILE, read_timelines
from tls_tasks.timelines.types import Timeline

_ID_FIELDS = ("topic", "id")
_REFERENCE_FIELDS = ("gold_timelines", "timelines", "timeline")
_EVENT_FIELDS = ("text", "event", "summary", "description")
_PREDICTED_FIELDS = ("timelines", "timeline", *PREDICTION_FIELDS)


class TopicRow(NamedTuple):
    """What is scored together.

    Attributes:
        topic: The topic.
        told: The prediction as it was read; None: there is none.
        references: The reference timelines.
        name: The topic, with the reference's number where each has a prediction of its own.
    """

    topic: str
    told: Parsed[Timeline] | None
    references: tuple[Timeline, ...]
    name: str

    @property
    def prediction(self) -> Timeline:
        """The predicted timeline; empty if there is none, or nothing could be read."""
        return (self.told and self.told.value) or Timeline()


def read_topics(gold: Path, predictions: Path) -> list[TopicRow]:
    """Read both sides and join them.

    Args:
        gold: The reference timelines, one or more a topic; a JSON file with one object is a timeline, or one a name.
        predictions: One timeline a topic, which is scored against each reference, or one a reference in their order.

    Raises:
        DataError: A place that can't be read, a topic that the gold lacks, or another number of predicted timelines
            than of references.
    """
    rows: list[TopicRow] = []
    golds, told = _read(gold), _read(predictions, of_a_model=True)
    for name, reference, predicted in joined(golds, told):
        references = _references(reference)
        answers = [None] if predicted is None else _predictions(predicted)
        if len(answers) == 1:
            rows.append(TopicRow(name, answers[0], references, name))
        elif len(answers) == len(references):
            pairs = zip(answers, references, strict=True)
            rows += [TopicRow(name, answer, (one,), f"{name}/{n}") for n, (answer, one) in enumerate(pairs)]
        else:
            got = f"{len(answers)} predicted timelines of {name!r}, which has {len(references)} in {gold}"
            raise DataError(f"{predicted.where if predicted else ''}: {got}; expected one, or one for each")
    return rows


def _read(place: Path, of_a_model: bool = False) -> Keyed:
    if not place.is_dir():
        return _document(place, of_a_model)
    if (place / TIMELINES_FILE).is_file():
        return replace(_document(place / TIMELINES_FILE, of_a_model), place=place)
    if files := sorted(place.glob(f"*/{TIMELINES_FILE}")):
        return Keyed(place, {file.parent.name: _news_tls(file, of_a_model) for file in files})
    if sets := sorted({file.parents[1].name for file in place.glob(f"*/*/{TIMELINES_FILE}")}):
        raise DataError(f"{place}: holds data sets, expected one of them: {', '.join(sets)}")
    return read_keyed(place, _ID_FIELDS, of_a_model=of_a_model)


def _document(file: Path, of_a_model: bool) -> Keyed:
    """A file of rows by topic, or of one topic's timelines."""
    if events := _events(file):
        return Keyed(file, events, by_order=file.stem in events)
    rows = read_keyed(file, _ID_FIELDS, of_a_model=of_a_model)
    if not file.name.endswith(ENDINGS):
        return rows
    name = file.resolve().parent.name if file.name == TIMELINES_FILE else file.name.partition(".json")[0]
    values = [row.value for row in rows.rows.values()]
    if rows.by_order and all(isinstance(value, list) for value in values):
        row = _news_tls(file, of_a_model) if ".jsonl" in file.name else Row(str(file), values)
    elif rows.by_order and all(isinstance(value, Mapping) and "date" in value for value in values):
        row = Row(str(file), values)  # the entries of one timeline
    else:
        return rows
    return Keyed(file, {name: row}, by_order=True)


def _events(file: Path) -> dict[str, Row] | None:
    """Topic (the file's name without one) -> the entries of a sheet with a row an event; None of any other file."""
    topics: dict[str, Row] = {}
    if not file.is_file() or not file.name.endswith((".csv", ".jsonl", ".parquet")):
        return None
    for where, value in file_rows(file):
        row = {str(name).strip().lower(): cell for name, cell in value.items()} if isinstance(value, Mapping) else {}
        text = next((name for name in _EVENT_FIELDS if name in row), None)
        if text is None or "date" not in row:
            return None
        topic = str(row.get("topic", file.stem))
        topics.setdefault(topic, Row(where, [])).value.append({"date": row["date"], "text": row[text] or ""})
    return topics or None


def _news_tls(file: Path, of_a_model: bool) -> Row:
    return Row(str(file), read_timelines(file, may_be_empty=of_a_model))


def _references(row: Row) -> tuple[Timeline, ...]:
    repeated: list[str] = []
    with said_of(row):
        references = read_references(row.field(_REFERENCE_FIELDS), 0, repeated=repeated)
    warn_of_repeated([f"{row.where}: {date}" for date in repeated])
    if not any(references):
        raise DataError(f"{row.where}: a timeline without dates")
    return references


def _predictions(row: Row) -> list[Parsed[Timeline]]:
    value = row.answer(_PREDICTED_FIELDS)
    # A timelines.jsonl, or a row with "timelines": one for each reference, or one for all.
    several = isinstance(row.value, tuple) or (isinstance(row.value, Mapping) and row.value.get("timelines") is value)
    with said_of(row):
        return [read_prediction(answer, 0) for answer in (value if several and value else [value])]
