"""Reader of ``events.tar.gz`` of the background-summaries data set: timelines that annotators rewrote.

Each topic folder has one tab-separated file per annotator, with the columns ``Date`` (``[2011-01-25]``), ``Update``
(the day's summary, read here as one sentence) and ``Background`` (not used). Pratapa, Small and Dreyer (2023), EMNLP.
"""

from __future__ import annotations

import csv
import hashlib
import io
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.catalogue import HubFiles
from tls_tasks.timelines.topics import Topic, read_timeline


def read_events(archive: Path, source: HubFiles) -> tuple[Topic, ...]:
    """Read the topics of ``source`` from its archive, in the order of their names and without articles.

    Nothing is unpacked to disk: only the files that ``source`` names are read, from memory.

    Args:
        archive: The downloaded ``events.tar.gz``.
        source: Says what the archive's hash must be, and in its settings the topics and their files.

    Raises:
        DataError: The archive isn't the pinned one, or a file in it is missing or broken.
    """
    content = archive.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        raise DataError(f"{archive}: its sha256 is {digest}, but data_sets.json pins {source.sha256}")
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as tar:
            topics = [
                _read_topic(tar, name, place, source.settings["timelines"])
                for name, place in sorted(source.settings["topics"].items())
            ]
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        # The last three are what gzip raises for a file that is cut off or damaged.
        raise DataError(f"{archive}: {error}") from error
    return tuple(topics)


def _read_topic(tar: tarfile.TarFile, name: str, place: Mapping[str, Any], files: Sequence[str]) -> Topic:
    members = [f"{place['folder']}/{file}" for file in files]
    timelines = tuple(read_timeline(_rows(_text(tar, member), member), member) for member in members)
    return Topic(name, tuple(place["keywords"]), (), timelines)


def _text(tar: tarfile.TarFile, member: str) -> str:
    try:
        # None for a folder or a device; a link raises KeyError if it leads out of the archive.
        file = tar.extractfile(member)
        if file is None:
            raise DataError(f"{member}: not a file of the archive")
        return file.read().decode("utf-8")
    except (KeyError, UnicodeDecodeError) as error:
        raise DataError(f"{member}: {error}") from error


def _rows(text: str, where: str) -> Iterator[tuple[str, list[str]]]:
    # newline="" leaves line ends inside quotes to the csv module, as its documentation asks.
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    if not {"Date", "Update"} <= set(table.fieldnames or ()):
        raise DataError(f"{where}: expected the columns Date and Update, got {table.fieldnames}")
    for row in table:
        yield (row["Date"] or "").strip().removeprefix("[").removesuffix("]"), [row["Update"] or ""]
