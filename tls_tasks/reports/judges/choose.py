"""Who judges, as a task's metadata or a command line says it -> a judge.

A specification is ``none``, ``recorded`` (the verdicts that come with the embedded edition), or an object with one of

- ``recorded``: a recording, such as ``verdicts.jsonl`` of an earlier run;
- ``base_url`` and ``model``: any OpenAI-compatible endpoint; ``api_key_env`` names the variable with its key;
- ``provider`` (openai, anthropic, together) and ``model``;
- ``harness``: a model of the harness such as ``hf``, with ``model_args``; it answers by the likelihood of YES and NO;
- ``nli``: a Hugging Face model of textual entailment; it judges support by citations and nothing else.

``citation_support`` (a specification of its own) may name another judge for that kind of question, and ``cache`` the
file in which verdicts of an endpoint are kept (by default a file in the user's cache folder; false: none).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.rows import describe
from tls_tasks.reports.judges.callable import ByKind
from tls_tasks.reports.judges.endpoint import from_endpoint
from tls_tasks.reports.judges.nli import NliJudge
from tls_tasks.reports.judges.prompts import prompts_hash
from tls_tasks.reports.judges.providers import from_provider, read_key
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.types import Judge

_CHAT_OPTIONS = tuple(
    "model api_key_env base_url cache give_up_after headers max_in_flight max_tries name parameters progress timeout "
    "window".split()
)
_OPTIONS = {
    "recorded": ("name", "defaults"),
    "base_url": _CHAT_OPTIONS,
    "provider": _CHAT_OPTIONS,
    "harness": ("model_args", "chat", "window", "batch_size", "device"),
    "nli": ("batch_size", "device", "max_length"),
}
_SOURCES = tuple(_OPTIONS)
"""The keys that say which kind of judge an object specifies."""

CACHE_VARIABLE = "TLS_TASKS_CACHE"

_EXPECTED = (
    f"'none', 'recorded', or an object with one of {', '.join(_SOURCES)}, such as "
    '{"base_url": "http://localhost:8000/v1", "model": "NAME"}'
)


def _default_cache() -> Path:
    """The file in which verdicts are kept by default; the variable ``TLS_TASKS_CACHE`` names another folder.

    Example:
        >>> _default_cache().name
        'verdicts.sqlite'
    """
    folder = os.environ.get(CACHE_VARIABLE)
    if not folder:
        folder = str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tls-tasks")
    return Path(folder).expanduser() / "verdicts.sqlite"


def check_judge(spec: Any) -> str:
    """Refuse a specification that can't work, before anything has been generated.

    Files are read and keys are looked up, but no model is loaded and no server is asked.

    Returns:
        The judge's name in results.

    Raises:
        InputError: Not a specification, or a value in it that can't be used; OptionError for an unknown key.
        DataError: A recording that can't be read.

    Example:
        >>> check_judge("none"), check_judge("recorded")
        ('none', 'embedded')
        >>> check_judge({"base_url": "http://localhost:8000/v1"})
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: judge.model: got None, expected a str
    """
    if spec in (None, "none"):
        return "none"
    source, fields, support = _parse(spec)
    if source == "harness":
        how = "loglikelihood,chat" if fields.get("chat") else "loglikelihood"
        name = f"{_harness_label(fields)},{how},prompts:{prompts_hash()}"
    elif source == "nli":
        name = f"nli:{fields['nli']}"
    else:
        name = _make(source, fields if source == "recorded" else {**fields, "cache": False}).name
    return name if support is None else f"{name},citation_support={check_judge(support)}"


def make_judge(spec: Any) -> Judge | None:
    """The judge that a specification names; None for ``none``.

    Raises:
        InputError: As :func:`check_judge`; DataError, MissingExtraError.

    Example:
        >>> make_judge("none") is None
        True
    """
    if spec in (None, "none"):
        return None
    source, fields, support = _parse(spec)
    judge = _make(source, fields)
    if support is None:
        return judge
    other = make_judge(support)
    if other is None:
        raise InputError("judge.citation_support", None, repr(support), "a judge")
    return ByKind({"citation_support": other}, judge)


def _parse(spec: Any) -> tuple[str, dict[str, Any], Any]:
    """The kind of judge, its options, and the specification of another judge for support by citations."""
    if spec == "recorded":
        from tls_tasks.reports.data import EMBEDDED_RECORDING

        spec = {"recorded": str(EMBEDDED_RECORDING), "name": "embedded"}
    if not isinstance(spec, Mapping):
        raise InputError("judge", None, repr(spec), _EXPECTED)
    fields = dict(spec)
    support = fields.pop("citation_support", None)
    # With a provider, base_url is an option.
    found = [name for name in _SOURCES if name in fields and not (name == "base_url" and "provider" in fields)]
    if len(found) != 1:
        raise InputError("judge", None, repr({name: fields[name] for name in found} or fields), _EXPECTED)
    (source,) = found
    for name in fields:
        if name == "api_key":
            raise InputError("judge.api_key", None, "a key, which would be written into the results", "api_key_env")
        if name not in (source, *_OPTIONS[source]):
            raise OptionError.unknown("judge", name, sorted((source, *_OPTIONS[source])))
    for name in (source, "model") if source in ("base_url", "provider") else (source,):
        if not isinstance(fields.get(name), str) or not fields[name]:
            raise InputError(f"judge.{name}", None, describe(fields.get(name)), "a str")
    return source, fields, support


def _make(source: str, fields: Mapping[str, Any]) -> Judge:
    options = dict(fields)
    value = options.pop(source)
    if source == "recorded":
        path = Path(value).expanduser()
        if not path.is_file():
            raise DataError(f"judge.recorded: there is no file {path}")
        return Recorded.read(path, **options)
    if source == "nli":
        return NliJudge(value, **options)
    if source == "harness":
        # By name: the harness is a host, and families don't import hosts.
        harness_judge: Judge = importlib.import_module("tls_tasks.hosts.judge_model").from_options(
            value, name=_harness_label(fields), **options
        )
        return harness_judge
    cache, variable = options.pop("cache", None), options.pop("api_key_env", None)
    if cache is not False:
        options["cache"] = _default_cache() if cache in (None, True) else Path(str(cache)).expanduser()
    if variable is not None:
        options["api_key"] = read_key(str(variable))
    make = from_endpoint if source == "base_url" else from_provider
    return make(value, options.pop("model"), **options)


def _harness_label(fields: Mapping[str, Any]) -> str:
    """A model of the harness and its arguments, as on a command line."""
    arguments = fields.get("model_args") or ""
    if isinstance(arguments, Mapping):
        arguments = ",".join(f"{name}={value}" for name, value in sorted(arguments.items()))
    return f"{fields['harness']}({arguments})"
