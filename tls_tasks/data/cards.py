"""Folders of prepared data sets: Parquet with a data set card, in the hub's form."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from tls_tasks.core.errors import DataError

_LICENCE_ID = re.compile(r"[a-z0-9][a-z0-9.-]*")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"))

PARQUET_FILE = "data/test-00000-of-00001.parquet"
"""The file's place in the folder: the hub takes ``test`` in its name for the split."""


def refuse_used(out: Path, force: bool) -> None:
    """Refuse a folder to write that has something in it, unless ``force`` is set.

    Raises:
        DataError: If it has, or is no folder.
    """
    if out.exists() and not (out.is_dir() and (force or not any(out.iterdir()))):
        raise DataError(f"{out}: exists and is not an empty folder; name another one or pass --force")


def front_matter(title: str, categories: Sequence[str], tag: str, n_rows: int, licence: str | None) -> list[str]:
    """The YAML lines at the head of a data set card with one split, ``test``.

    Args:
        title: Name for people.
        categories: Task categories of the hub.
        tag: A tag.
        n_rows: How many rows there are.
        licence: A licence identifier of the hub (``cc-by-4.0``), any other text, or None for unknown.
    """
    if licence is None:
        licence_lines = ["license: unknown"]
    elif _LICENCE_ID.fullmatch(licence):
        licence_lines = [f"license: {licence}"]
    else:
        licence_lines = ["license: other", f"license_name: {json.dumps(licence)}"]
    size = next((label for limit, label in _SIZES if n_rows < limit), "n>10K")
    return [
        "---",
        f"pretty_name: {json.dumps(title)}",
        *licence_lines,
        "task_categories:",
        *(f"- {category}" for category in categories),
        "tags:",
        f"- {tag}",
        "size_categories:",
        f"- {size}",
        "configs:",
        "- config_name: default",
        "  data_files:",
        "  - split: test",
        "    path: data/test-*.parquet",
        "---",
    ]
