"""Read reference and predicted timelines from files and join them by topic.

A path is a folder in the news-tls layout (or one topic of it), a folder with a text a topic, a file of rows with
``topic`` or ``id`` and a timeline, or one document: a ``timelines.jsonl``, JSON of a timeline, or text.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tls_tasks.core.errors import DataError, warn_of_repeated
from tls_tasks.core.parsed import Parsed
from tls_tasks.data.files import ENDINGS, file_rows
from tls_tasks.data.rows_by_id import PREDICTION_FIELDS, Row, RowsById, error_context, join_rows, read_by_id
from tls_tasks.timelines.rows import read_prediction, read_references
from tls_tasks.timelines.topics import TIMELINES_FILE, read_timelines
from tls_tasks.timelines.types import Timeline

_ID_FIELDS = ("topic", "id")
_REFERENCE_FIELDS = ("gold_timelines", "timelines", "timeline")
_EVENT_FIELDS = ("text", "event", "summary", "description")
_PREDICTED_FIELDS = ("timelines", "timeline", *PREDICTION_FIELDS)


class TopicRow(NamedTuple):
    """A prediction and the references that it is scored against.

    Attributes:
        topic: The topic.
        parsed: The prediction as it was read; None if there is none.
        references: The reference timelines.
        name: The topic, followed by the reference's number if each reference has its own prediction.
    """

    topic: str
    parsed: Parsed[Timeline] | None
    references: tuple[Timeline, ...]
    name: str

    @property
    def prediction(self) -> Timeline:
        """The predicted timeline; empty if there is none, or nothing could be read."""
        return (self.parsed and self.parsed.value) or Timeline()


def read_topics(gold: Path, predictions: Path) -> list[TopicRow]:
    """Read both sides and join them by topic.

    Args:
        gold: The reference timelines, one or more a topic; a JSON object is a timeline, or name -> timeline.
        predictions: One timeline a topic, which is scored against each reference, or one a reference in their order.

    Raises:
        DataError: A path that can't be read, a topic without references, or a topic that has several predictions but
            another number of references.
    """
    rows: list[TopicRow] = []
    for name, reference, predicted in join_rows(_read(gold), _read(predictions, from_model=True)):
        references = _references(reference)
        answers = [None] if predicted is None else _predictions(predicted)
        if len(answers) == 1:
            rows.append(TopicRow(name, answers[0], references, name))
        elif len(answers) == len(references):
            pairs = zip(answers, references, strict=True)
            rows += [TopicRow(name, answer, (timeline,), f"{name}/{n}") for n, (answer, timeline) in enumerate(pairs)]
        else:
            got = f"{len(answers)} predicted timelines of {name!r}, which has {len(references)} in {gold}"
            raise DataError(f"{predicted.where if predicted else ''}: {got}; expected one, or one for each")
    return rows


def _read(path: Path, from_model: bool = False) -> RowsById:
    """Read one side, in any of the layouts, as rows by topic."""
    if not path.is_dir():
        return _read_file(path, from_model)
    if (path / TIMELINES_FILE).is_file():
        return replace(_read_file(path / TIMELINES_FILE, from_model), path=path)
    if files := sorted(path.glob(f"*/{TIMELINES_FILE}")):
        return RowsById(path, {file.parent.name: _read_news_tls(file, from_model) for file in files})
    if sets := sorted({file.parents[1].name for file in path.glob(f"*/*/{TIMELINES_FILE}")}):
        raise DataError(f"{path}: holds data sets, expected one of them: {', '.join(sets)}")
    return read_by_id(path, _ID_FIELDS, from_model=from_model)


def _read_file(file: Path, from_model: bool) -> RowsById:
    """Read a file of rows by topic, or of one topic's timelines."""
    if events := _read_events(file):
        return RowsById(file, events, by_order=file.stem in events)
    rows = read_by_id(file, _ID_FIELDS, from_model=from_model)
    if not file.name.endswith(ENDINGS):
        return rows
    name = file.resolve().parent.name if file.name == TIMELINES_FILE else file.name.partition(".json")[0]
    values = [row.value for row in rows.rows.values()]
    if rows.by_order and all(isinstance(value, list) for value in values):
        row = _read_news_tls(file, from_model) if ".jsonl" in file.name else Row(str(file), values)
    elif rows.by_order and all(isinstance(value, Mapping) and "date" in value for value in values):
        row = Row(str(file), values)  # the entries of one timeline
    else:
        return rows
    return RowsById(file, {name: row}, by_order=True)


def _read_events(file: Path) -> dict[str, Row] | None:
    """Read a sheet with a row an event: topic (the file's name without one) -> its entries; None of any other file."""
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


def _read_news_tls(file: Path, from_model: bool) -> Row:
    return Row(str(file), read_timelines(file, may_be_empty=from_model))


def _references(row: Row) -> tuple[Timeline, ...]:
    repeated: list[str] = []
    with error_context(row):
        references = read_references(row.field(_REFERENCE_FIELDS), 0, repeated=repeated)
    warn_of_repeated([f"{row.where}: {date}" for date in repeated])
    if not any(references):
        raise DataError(f"{row.where}: a timeline without dates")
    return references


def _predictions(row: Row) -> list[Parsed[Timeline]]:
    value = row.answer(_PREDICTED_FIELDS)
    # A timelines.jsonl and a row with "timelines" hold one timeline for each reference, or one for all.
    is_list = isinstance(row.value, tuple) or (isinstance(row.value, Mapping) and row.value.get("timelines") is value)
    with error_context(row):
        return [read_prediction(answer, 0) for answer in (value if is_list and value else [value])]
