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

_log = logging.getLogger(__name__)

_LIMITS = ("max_length", "max_model_len")
"""What ``--model_args`` calls the context: of hf and the API models, of vLLM."""

_ATTRIBUTES = ("n_positions", "max_position_embeddings", "n_ctx")
_MOST = 10**8  # a tokenizer that knows no limit says 10**30

_AUTO = "auto"
"""The ``context_budget`` that fills the model's context."""

_TEMPLATE = 64
"""Tokens that are left free for the frame of a chat template."""

_BYTES_PER_TOKEN = 3.2
"""Of English, with some room to spare, where there is no tokenizer to ask."""

_MOST_BYTES_PER_TOKEN = 8
"""So long is the text that is taken before it is cut to fit."""


def context_length(model_args: Mapping[str, Any]) -> int | None:
    """How many tokens prompt and answer may have together; None if that cannot be known.

    Args:
        model_args: What stands in ``--model_args``. An explicit ``max_length`` counts first, then the configuration of
            the model, then its tokenizer; both are looked for on this machine only.

    Example:
        >>> context_length({"pretrained": "acme/unheard-of", "max_length": 4096})
        4096
        >>> context_length({"model": "acme/behind-an-api"}) is None
        True
    """
    for name in _LIMITS:
        given = str(model_args.get(name) or "")
        if given.isdecimal() and int(given) > 0:
            return int(given)
    config = _from_pretrained("AutoConfig", model_args.get("pretrained"), model_args)
    config = getattr(config, "text_config", None) or config
    found = next((value for name in _ATTRIBUTES if (value := getattr(config, name, None))), None)
    if found is None:
        found = getattr(_tokenizer(model_args), "model_max_length", None)
    return int(found) if isinstance(found, int | float) and 0 < found < _MOST else None


def load_fitting(task: Task, name: str, options: Mapping[str, Any]) -> Sequence[Doc]:
    """Load a task's documents, so that each prompt fits into the model's context together with its answer.

    One warning says what was cut, and ``provenance`` keeps it for the results.

    Args:
        task: The task; its ``shorter`` shortens documents. Without one they stay as they are.
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
    rest = dict(options)
    generation, wanted = rest.pop("generation", None), rest.pop("answer_tokens", None)
    budget = rest.get("context_budget")
    if isinstance(budget, str):
        if budget != _AUTO:
            raise OptionError.unknown("context_budget", budget, ("a whole number", _AUTO))
        del rest["context_budget"]  # the family's default, in characters, where the context is not known
    length = context_length(rest) if generation is not None and wanted else None
    if length is None or task.shorter is None:
        if generation is not None and wanted:
            generation["max_gen_toks"] = wanted
        return task.load(name, **rest)
    answer = generation["max_gen_toks"] = max(1, min(wanted, length // 2))
    room = max(1, length - answer - _TEMPLATE)
    if budget == _AUTO:
        rest["context_budget"] = room * _MOST_BYTES_PER_TOKEN
    docs = task.load(name, **rest)
    count = _counter(_tokenizer(rest))
    fitting = [_fitting(task, doc, room, count) for doc in docs]
    n_cut = sum(new is not old for new, old in zip(fitting, docs, strict=True))
    said = f"{n_cut} of {len(docs)} documents shortened to prompts of {room} tokens, answers of {answer} tokens"
    n_over = sum(not _fits(task.prompt(doc), room, count) for doc in fitting) if n_cut else 0
    if n_over:
        said += f"; {n_over} prompts are longer even without their documents"
    if n_cut or answer < wanted:
        _log.warning("%s: to fit the model's context of %s tokens: %s (of %s)", name, length, said, wanted)
    if (provenance := rest.get("provenance")) is not None:
        provenance["context"] = f"{length} tokens: {said}"
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


def _counter(tokenizer: Any) -> Callable[[str], int]:
    if tokenizer is None:
        return lambda text: int(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)
    return lambda text: len(tokenizer(text, verbose=False)["input_ids"])


def _tokenizer(model_args: Mapping[str, Any]) -> Any:
    name = model_args.get("tokenizer") or model_args.get("pretrained")
    return _from_pretrained("AutoTokenizer", name, model_args)


def _from_pretrained(kind: str, name: Any, model_args: Mapping[str, Any]) -> Any:
    """What transformers finds on this machine, if it is installed at all; None for everything else."""
    if not isinstance(name, str) or not name:
        return None
    try:
        import transformers

        return getattr(transformers, kind).from_pretrained(
            name,
            revision=model_args.get("revision") or "main",
            trust_remote_code=model_args.get("trust_remote_code") in (True, "True", "true"),
            local_files_only=True,
        )
    except Exception as error:  # broken files, unknown architectures: loading the model says so better
        _log.debug("%s of %s: %s", kind, name, error)
        return None
