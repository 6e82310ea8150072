"""Options that a task is given and does not read.

The harness passes everything in a task's ``metadata``, in ``--metadata`` and in ``--model_args`` in one dictionary, in
which nothing tells whose a key is. What neither the task, the harness nor a loaded model knows is a slip of the pen, or
meant for something that is not there: either way the run is not the one that was asked for.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tls_tasks.core.errors import nearest
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.core.task import Task
from tls_tasks.registry import FAMILIES

_HARNESS = {"version", "config", "config_source", "_metadata"}
"""What the harness puts in, and where it keeps what it can't place."""

_ABOUT = {"description", "author", "authors", "license", "licence", "citation", "homepage", "url", "notes", "tags"}
"""What people write of a task in its file, for people."""

_LOADING = {
    "attn_implementation", "torch_dtype", "low_cpu_mem_usage", "use_safetensors", "variant", "token", "cache_dir",
    "local_files_only", "load_in_4bit", "load_in_8bit", "bnb_4bit_quant_type", "bnb_4bit_compute_dtype",
    "bnb_4bit_use_double_quant", "rope_scaling", "rope_theta", "max_position_embeddings", "tp_plan", "temperature",
    "max_tokens", "max_model_len", "gpu_memory_utilization", "tensor_parallel_size", "data_parallel_size",
    "enforce_eager", "quantization", "trust_remote_code", "timeout", "max_retries", "num_concurrent", "api_key",
}  # fmt: skip
"""Common ``--model_args`` that models take in ``**kwargs`` and hand on, so that no signature has them."""

_said: set[tuple[str, str]] = set()
_log = logging.getLogger(__name__)


def say_unread(task: Task, unread: Iterable[str]) -> None:
    """Warn of options that nobody reads, each once a family, with the nearest one that somebody does read.

    Args:
        task: The task that does not read them.
        unread: Their names.
    """
    others = _HARNESS | _ABOUT | _LOADING | set(_model_arguments())
    for name in unread:
        if name in others or (task.family, name) in _said:
            continue
        _said.add((task.family, name))
        families = [family for family, options in _options_of_families().items() if name in options]
        if families:
            what = f"tasks of {task.family} do not read the option {name!r}; those of {', '.join(families)} do"
        else:
            guess = nearest(name, [*task.options, *sorted(others)])
            what = f"unknown option {name!r}{guess or f'; available: {_listed(task)}'}"
        _log.warning("%s (--metadata or --model_args)", what)


def check_secrets(task: Task, options: Mapping[str, Any]) -> None:
    """Refuse what looks like a secret in ``--metadata`` and ``--model_args``, which both end in the results.

    Raises:
        InputError: Names the option, never the secret.
    """
    texts = {name: value for name, value in options.items() if isinstance(value, str)}  # a judge's are its own matter
    models = (_LOADING | set(_model_arguments())) - set(task.options)
    check_no_secret({name: text for name, text in texts.items() if name not in models}, "--metadata")
    variable = "nothing: set the variable that the model reads, such as OPENAI_API_KEY or HF_TOKEN"
    check_no_secret({name: text for name, text in texts.items() if name in models}, "--model_args", variable)


def _listed(task: Task) -> str:
    return ", ".join(task.options)


def _options_of_families() -> Mapping[str, set[str]]:
    families = {family: importlib.import_module(module).TASKS.values() for family, module in FAMILIES.items()}
    return {family: {name for task in tasks for name in task.options} for family, tasks in families.items()}


def _model_arguments() -> Iterator[str]:
    """What the constructors of the models in this process take: the run's own is loaded before its tasks are."""
    from lm_eval.api.model import LM

    classes: list[type] = [LM]
    for own in classes:  # it grows as it goes
        classes += own.__subclasses__()
        if "__init__" in vars(own):
            yield from inspect.signature(own.__init__).parameters  # type: ignore[misc]
    for engine in ("vllm", "sglang"):  # they take what their engines take
        arguments = getattr(sys.modules.get(engine), "EngineArgs", None)
        if dataclasses.is_dataclass(arguments):
            yield from (field.name for field in dataclasses.fields(arguments))
