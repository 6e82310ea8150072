"""Folders of prepared data sets: Parquet with a data set card, in the hub's form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.errors import DataError
from tls_tasks.core.whole import made_folder
from tls_tasks.data.order import Loaded

_LICENCE_ID = re.compile(r"[a-z0-9][a-z0-9.-]*")

_PARQUET_FILE = "data/test-00000-of-00001.parquet"  # the hub takes "test" in the name for the split


def write_folder(
    found: Loaded[Any],
    out: Path,
    force: bool,
    write_parquet: Callable[[Path], None] | None,
    card: Iterable[str],
    texts: Mapping[str, str] | None = None,
) -> None:
    """Write a prepared data set, as a whole or not at all.

    Args:
        found: What was read.
        out: The folder to write.
        force: Write although there is something in the folder; other files in it are left alone.
        write_parquet: Writes the rows into a file; None: they are in ``texts``.
        card: The lines of the card.
        texts: Further files, by name.

    Raises:
        DataError: If the embedded edition was read, or ``out`` is neither new nor an empty folder and ``force`` isn't
            set.
        OSError: If it can't be written.
    """
    if found.edition == "embedded":
        raise DataError(f"{found.origin}: the embedded edition stays where it is; prepare data of your own")
    if out.exists() and not (out.is_dir() and (force or not any(out.iterdir()))):
        raise DataError(f"{out}: exists and is not an empty folder; name another one or pass --force")
    with made_folder(out, into=force) as folder:
        if write_parquet is not None:
            (folder / _PARQUET_FILE).parent.mkdir()
            write_parquet(folder / _PARQUET_FILE)
        for name, text in {**(texts or {}), "README.md": "\n".join([*card, ""])}.items():
            (folder / name).write_text(text, encoding="utf-8")


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write rows, at least one, as Parquet: columns of text, and of lists of text where the first row has a list."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {name: pa.list_(pa.string()) if isinstance(one, list) else pa.string() for name, one in rows[0].items()}
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(kinds)), path, compression="zstd")


def use(command: str) -> list[str]:
    """The section of a card that says how to run the task, and how to push the folder to the hub."""
    upload = "hf upload ORG/NAME FOLDER . --repo-type dataset --private"
    return ["", "## Use", "", "```", command, upload, "```"]


def front_matter(title: str, categories: Sequence[str], tag: str, licence: str | None) -> list[str]:
    """The YAML lines at the head of a data set card with one split, ``test``.

    Args:
        title: Name for people.
        categories: Task categories of the hub.
        tag: A tag.
        licence: A licence identifier of the hub (``cc-by-4.0``), any other text, or None for unknown.
    """
    card: dict[str, Any] = {"pretty_name": title, "license": licence or "unknown"}
    if licence and not _LICENCE_ID.fullmatch(licence):
        card |= {"license": "other", "license_name": licence}
    card["task_categories"] = list(categories)
    card["tags"] = [tag]
    files = [{"split": "test", "path": "data/test-*.parquet"}]
    card["configs"] = [{"config_name": "default", "data_files": files}]
    return ["---", *yaml.safe_dump(card, sort_keys=False, allow_unicode=True).splitlines(), "---"]
