"""The model's context: how many tokens it holds, and documents that fit into it together with the answer.

Of what the user says of the model, a task sees ``--model_args``. Whatever cannot be found out there without network is
unknown, and a document is then cut by characters alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import OptionError
from tls_tasks.core.task import Doc, Task
from tls_tasks.data.model_context import model_context

_log = logging.getLogger(__name__)

_AUTO = "auto"
"""The ``context_budget`` that fills the model's context."""

_MOST_BYTES_PER_TOKEN = 8
"""So long is the text that is taken before it is cut to fit."""


def load_fitting(task: Task, name: str, options: Mapping[str, Any]) -> Sequence[Doc]:
    """Load a task's documents, so that each prompt fits into the model's context together with its answer.

    One warning says what was cut, and ``provenance`` keeps it for the results.

    Args:
        task: The task; its ``shorter`` shortens documents, unless its ``load`` takes ``model_args`` and fits them.
        name: The name of the task.
        options: All that the loading of a task is given. ``generation`` is the task's ``generation_kwargs`` itself, by
            an anchor in its YAML: its ``max_gen_toks`` becomes what fits, counted from the constant ``answer_tokens``,
            since the harness may use one configuration twice.

    Raises:
        OptionError: If the budget is a word other than ``auto``.

    Example:
        >>> import tls_tasks
        >>> task, generation = tls_tasks.task("tree_extraction"), {"max_gen_toks": 2048}
        >>> options = {"generation": generation, "answer_tokens": 2048, "max_length": 2048, "edition": "embedded"}
        >>> documents = load_fitting(task, task.name, options)
        >>> generation, documents[0]["text_truncated"]
        ({'max_gen_toks': 1024}, 0)
    """
    rest = {key: value for key, value in options.items() if key in task.options}
    if "model_args" in task.options:  # it fits its documents itself: timelines choose their sentences
        return task.load(name, **{**rest, "model_args": options})
    generation: Any = options.get("generation")
    wanted: Any = options.get("answer_tokens")
    budget = rest.get("context_budget")
    if isinstance(budget, str):
        if budget != _AUTO:
            raise OptionError.unknown("context_budget", budget, ("a whole number", _AUTO))
        del rest["context_budget"]  # the family's default, in characters, where the context is not known
    model = model_context(options) if generation is not None and wanted else None
    if model is None:
        if generation is not None and wanted:
            generation["max_gen_toks"] = wanted
        return task.load(name, **rest)
    answer = generation["max_gen_toks"] = min(wanted, model.answer(1 / 2))
    room = model.prompt(answer)
    if budget == _AUTO:
        rest["context_budget"] = max(1, room) * _MOST_BYTES_PER_TOKEN
    docs = task.load(name, **rest)
    fitting = [_fitting(task, doc, room, model.count) for doc in docs]
    n_cut = sum(new is not old for new, old in zip(fitting, docs, strict=True))
    said = f"{n_cut} of {len(docs)} documents shortened to prompts of {room} tokens, answers of {answer} tokens"
    n_over = sum(not _fits(task.prompt(doc), room, model.count) for doc in fitting) if n_cut else 0
    if n_over:
        said += f"; {n_over} prompts are longer even without their documents"
    if n_cut or answer < wanted:
        _log.warning("%s: to fit the model's context of %s tokens: %s (of %s)", name, model.size, said, wanted)
    if (provenance := rest.get("provenance")) is not None:
        provenance["context"] = f"{model.size} tokens: {said}"
    return fitting


def _fitting(task: Task, doc: Doc, room: int, count: Callable[[str], int]) -> Doc:
    assert task.shorter is not None
    while True:
        prompt = task.prompt(doc)
        if _fits(prompt, room, count):
            return doc
        n_tokens = count(prompt)  # the end of a text may have fewer tokens than its share: then it is cut once more
        cut = task.shorter(doc, max(1, len(prompt) * (n_tokens - room) // n_tokens))
        if len(task.prompt(cut)) >= len(prompt):
            return doc  # what is left is the instruction
        doc = cut


def _fits(prompt: str, room: int, count: Callable[[str], int]) -> bool:
    """No token is shorter than a byte, so that most prompts need not be counted for a large context."""
    return len(prompt.encode("utf-8", "replace")) <= room or count(prompt) <= room
