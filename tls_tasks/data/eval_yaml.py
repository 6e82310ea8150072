"""``eval.yaml``: what makes a data set repository on the hub a benchmark whose results the hub collects."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.task import Task
from tls_tasks.data.cards import write_rows

_PROMPTS = "prompts"  # a folder of their own: readers of the data look in data/ and beside the card
_COMMENT = """\
Results have the ids of tls-tasks, TASK.RESULT; tls-tasks submit --eval-results writes them. The format admits the
scorers that Inspect brings along and no others. So the scorers below are not those of the results: f1, the overlap of
words with the target, stands where the scorer of tls-tasks belongs. For the results themselves run
lm_eval --tasks {task} --metadata '{{"data": "{repo}"}}'
"""


def write_eval_yaml(task: Task, repo: str, folder: Path) -> int:
    """Add prompts and ``eval.yaml`` to a prepared data set.

    Args:
        task: Whose prompts and results they are.
        repo: The repository that the folder will be, ``ORG/NAME``.
        folder: The folder, with a card.

    Returns:
        The number of prompts.
    """
    documents = task.documents(data=str(folder))
    rows = [{"id": str(doc["doc_id"]), "input": task.prompt(doc), "target": task.target(doc)} for doc in documents]
    # datasets reads all files of a repository with one builder, so that the prompts come in the form of the data.
    ending = "parquet" if any(folder.glob("data/*.parquet")) else "jsonl"
    file = folder / _PROMPTS / f"prompts.{ending}"
    file.parent.mkdir(exist_ok=True)
    if ending == "parquet":
        write_rows(rows, file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    _add_config(folder / "README.md", task.name, file.relative_to(folder).as_posix())
    comment = textwrap.indent(_COMMENT.format(task=task.name, repo=repo), "# ")
    text = comment + yaml.safe_dump(_benchmark(task, documents[0]), sort_keys=False, allow_unicode=True)
    (folder / "eval.yaml").write_text(text, encoding="utf-8")
    return len(rows)


def _benchmark(task: Task, document: Any) -> dict[str, Any]:
    results = task.for_document(document).table
    keys = [key for key, result in results.items() if result.better is not None and not result.best_of_nothing]
    return {
        "name": task.name,
        "description": f"{task.name} of tls-tasks ({task.family})",
        "evaluation_framework": "inspect-ai",
        "tasks": [
            {
                "id": f"{task.name}.{key}",
                "config": task.name,
                "split": "test",
                "field_spec": {"input": "input", "target": "target", "id": "id"},
                "solvers": [{"name": "generate"}],
                "scorers": [{"name": "f1"}],
            }
            for key in keys
        ],
    }


def _add_config(card: Path, name: str, path: str) -> None:
    """Name the prompts in the card's front matter, so that ``load_dataset(REPO, TASK)`` finds them."""
    _, head, body = card.read_text(encoding="utf-8").split("---\n", 2)
    front = yaml.safe_load(head)
    front["configs"].append({"config_name": name, "data_files": [{"split": "test", "path": path}]})
    head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    card.write_text(f"---\n{head}---\n{body}", encoding="utf-8")
