"""Folders of prepared data sets: Parquet, or files of rows, with a data set card in the hub's form.

``eval.yaml`` makes such a repository on the hub a benchmark whose results the hub collects.
"""

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.errors import DataError
from tls_tasks.core.task import Task
from tls_tasks.core.whole import made_folder
from tls_tasks.data.files import filled_text
from tls_tasks.data.sources import LoadedData

_TEXTS = Path(__file__).parent
_LICENCE_ID = re.compile(r"[a-z0-9][a-z0-9.-]*")

_PARQUET_FILE = "data/test-00000-of-00001.parquet"  # the hub reads the split from "test" in the name


@dataclass(frozen=True)
class Prepared:
    """A data set that was read and checked, in the form in which it is to be written.

    Attributes:
        loaded: The data.
        task: The task that runs on the folder.
        labels: The name of the data for people, the hub's task category, and a tag.
        counts: A description of the size, such as ``2 documents``.
        card: The card's description of the files.
        rows: The rows of the Parquet file, or a function that writes it; None: the data is in ``texts``.
        texts: Further files by name.
        options: Options in ``--metadata`` besides ``data``; ``{folder}`` stands for the folder.
        licence: The licence of the source, for a card without another.
    """

    loaded: LoadedData[Any]
    task: str
    labels: tuple[str, str, str]
    counts: str
    card: str
    rows: Sequence[Mapping[str, Any]] | Callable[[Path], None] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=lambda: {"name": "ours"})
    licence: str = "not stated"

    def command(self, folder: str) -> str:
        """Return the command that runs the task on the folder."""
        options = {"data": folder, **{key: value.format(folder=folder) for key, value in self.options.items()}}
        return f"lm_eval --tasks {self.task} --metadata '{json.dumps(options, ensure_ascii=False)}' …"

    def write(self, out: Path, licence: str | None = None, task: Task | None = None, repo: str = "") -> None:
        """Write the folder, completely or not at all.

        Args:
            out: The folder.
            licence: Licence for the card: an identifier of the hub (``cc-by-4.0``), or any other text.
            task: The task whose prompts are written beside the data, with ``eval.yaml``; None for neither.
            repo: The future repository of the folder, ``ORG/NAME``.

        Raises:
            DataError: If the embedded edition was read.
            OSError: If it can't be written, or ``out`` is neither new nor an empty folder.
        """
        if self.loaded.edition == "embedded":
            raise DataError(f"{self.loaded.origin}: the embedded edition stays where it is; prepare data of your own")
        with made_folder(out) as folder:
            configs = [_config(Path(name).stem, name) for name in self.texts]
            if self.rows is not None:
                (folder / _PARQUET_FILE).parent.mkdir()
                write_parquet = self.rows if callable(self.rows) else partial(write_rows, self.rows)
                write_parquet(folder / _PARQUET_FILE)
                configs = [_config("default", "data/test-*.parquet")]
            for name, text in self.texts.items():
                (folder / name).write_text(text, encoding="utf-8")
            if task is not None:
                configs.append(_config(task.name, self._write_benchmark(task, repo, folder)))
            (folder / "README.md").write_text(self._card(licence, configs), encoding="utf-8")

    def _card(self, licence: str | None, configs: Sequence[Mapping[str, Any]]) -> str:
        """Return the card, with YAML at its head; each configuration is a file of rows with one split, ``test``."""
        title, category, tag = self.labels
        head: dict[str, Any] = {"pretty_name": title, "license": licence or "unknown"}
        if licence and not _LICENCE_ID.fullmatch(licence):
            head |= {"license": "other", "license_name": licence}
        front = to_yaml({**head, "task_categories": [category], "tags": [tag], "configs": configs})
        command = self.command("FOLDER" if self.texts else "FOLDER or ORG/NAME")  # tasks read texts from folders only
        about = {"title": title, "card": self.card, "counts": self.counts, "licence": licence or self.licence}
        upload = "```" if self.rows is None else filled_text(_TEXTS / "card_upload.txt")
        return filled_text(_TEXTS / "card.txt", front=front, **about, command=command, upload=upload) + "\n"

    def _write_benchmark(self, task: Task, repo: str, folder: Path) -> str:
        """Write the task's prompts, and ``eval.yaml`` with an id for each result; return the name of the prompts."""
        documents = task.documents(data=str(folder))
        rows = [{"id": str(doc["doc_id"]), "input": task.prompt(doc), "target": task.target(doc)} for doc in documents]
        # datasets reads all files of a repository with one builder, so that the prompts need the format of the data.
        # They need a separate folder, since readers of the data look in data/ and beside the card.
        name = "prompts/prompts.jsonl" if self.rows is None else "prompts/prompts.parquet"
        (folder / name).parent.mkdir()
        if self.rows is None:
            (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        else:
            write_rows(rows, folder / name)
        fields = {
            "config": task.name,
            "split": "test",
            "field_spec": {"input": "input", "target": "target", "id": "id"},
        }
        # The format requires a scorer from its list, which has none of this package.
        scored = {**fields, "solvers": [{"name": "generate"}], "scorers": [{"name": "f1"}]}
        results = task.for_document(documents[0]).table.items()
        keys = [key for key, result in results if result.better is not None and not result.best_of_nothing]
        benchmark = {
            "name": task.name,
            "description": f"{task.name} of tls-tasks ({task.family})",
            "evaluation_framework": "inspect-ai",
            "tasks": [{"id": f"{task.name}.{key}", **scored} for key in keys],
        }
        comment = textwrap.indent(filled_text(_TEXTS / "eval_yaml.txt", task=task.name, repo=repo), "# ")
        (folder / "eval.yaml").write_text(f"{comment}\n{to_yaml(benchmark)}", encoding="utf-8")
        return name


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write rows, at least one, as Parquet: columns of text, and of lists of text where the first row has a list."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {name: pa.list_(pa.string()) if isinstance(item, list) else pa.string() for name, item in rows[0].items()}
    table = pa.Table.from_pylist(rows, schema=pa.schema(kinds))
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def _config(name: str, path: str) -> dict[str, Any]:
    return {"config_name": name, "data_files": [{"split": "test", "path": path}]}


def to_yaml(value: Any) -> str:
    """Return a value as YAML, with keys in their order."""
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
