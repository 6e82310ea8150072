"""What a number was made under: task and version, data, budget, shots, judge. Only what is equal in all is ranked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tls_tasks.after.foreign import Results
from tls_tasks.core.task import Task
from tls_tasks.core.terminal import shown

_BUDGET = "context_budget"
_CORPUS = "tls_corpus"
_LONGEST = 60  # characters that are shown of a value

# What the options of a task say of the data or the model; all others change the prompt.
_NO_PROMPT = frozenset(
    {"accuracies", "closed_book", "data", "edition", "generation", "judge", "model_args", "name", "provenance"}
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of one task of one run, as its results file states them.

    Attributes:
        task: The task.
        version: Its version.
        fingerprint: Of the documents; empty if the file does not say.
        budget: ``context_budget``: how much of a document a prompt shows.
        options: All other options that change the prompt, each with its value.
        shots: How many examples stood before each prompt.
        judge: Who judged; empty for tasks without a judge.
    """

    task: str
    version: float
    fingerprint: str
    budget: str
    options: tuple[tuple[str, str], ...]
    shots: int
    judge: str

    def __str__(self) -> str:
        """All but task and version, in one line."""
        parts = [
            f"data {self.fingerprint[:12] or 'without a fingerprint'}",
            f"{_BUDGET} {shown(self.budget, _LONGEST) or 'unknown'}",
        ]
        parts += [f"{name} {shown(value, _LONGEST)}" for name, value in self.options]
        return ", ".join([*parts, f"{self.shots}-shot", *([f"judge {shown(self.judge)}"] if self.judge else ())])


def conditions_of(task: Task, version: float, results: Mapping[str, Any]) -> Conditions:
    """The conditions of a task that a results file states."""
    metadata = stated_metadata(task.name, results)
    provenance = metadata.get("provenance") or {}
    options = {key: _text(value) for key, value in prompt_options(task, metadata).items()}
    if (system := results.get("system_instruction")) is not None:
        options["system_instruction"] = hashlib.sha256(str(system).encode("utf-8", "replace")).hexdigest()[:12]
    budget = options.pop(_BUDGET, "")
    shots = results.get("n-shot", {}).get(task.name, 0)
    return Conditions(
        task.name,
        version,
        str(provenance.get("fingerprint") or ""),
        budget,
        tuple(sorted(options.items())),
        shots if isinstance(shots, int) else 0,
        str(provenance.get("judge") or ""),
    )


def stated_metadata(name: str, results: Mapping[str, Any]) -> Mapping[str, Any]:
    """The task's metadata in a results file, the ``--metadata`` of the run included; empty if there are none."""
    metadata: Mapping[str, Any] = results.get("configs", {}).get(name, {}).get("metadata") or {}
    return metadata


def model_arguments(results: Results) -> dict[str, Any]:
    """The ``--model_args`` of a run, which older releases of the harness log as one text."""
    stated = (results.get("config") or {}).get("model_args") or {}
    return dict(part.partition("=")[::2] for part in stated.split(",")) if isinstance(stated, str) else stated


def model_name(results: Results, folder: Path) -> str:
    """The model's name in a results file; else what kind of model it is, or the name of the folder."""
    arguments = model_arguments(results)
    # For a model that is named by none of these the harness makes up a name, another one each time.
    is_named = {"pretrained", "model", "path", "engine"} & set(arguments)
    named = (results.get("model_name") or arguments.get("pretrained")) if is_named else None
    source = str(results.get("model_source") or folder.name)
    # A pipeline around a model is another system than the model.
    return f"{named}+{_CORPUS}" if named and source == _CORPUS else str(named or source)


def prompt_options(task: Task, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a run's options that change what its prompts show."""
    names = set(task.options) - _NO_PROMPT
    return {key: value for key, value in metadata.items() if key in names and value is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
