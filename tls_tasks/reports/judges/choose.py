"""Who judges, as a task's metadata or a command line says it -> a judge.

A specification is ``none``, ``recorded`` (the verdicts that come with the embedded edition), or an object with one of

- ``recorded``: a recording, such as ``verdicts.jsonl`` of an earlier run;
- ``base_url`` and ``model``: any OpenAI-compatible endpoint; ``api_key_env`` names the variable with its key, and a
  value of ``headers`` may be ``{"env": "NAME"}``;
- ``provider`` (openai, anthropic, together) and ``model``;
- ``harness``: a model of the harness such as ``hf``, with ``model_args``; it answers by the likelihood of YES and NO;
- ``inspect``: a model of Inspect, as ``inspect eval --model`` takes it;
- ``nli``: a Hugging Face model of textual entailment; it judges support by citations and nothing else.

``citation_support`` (a specification of its own) may name another judge for that kind of question, and ``cache`` the
file in which verdicts of an endpoint are kept (by default a file in the user's cache folder; false: none). A task's
load takes ``price``, too: prices of a million tokens sent and received, such as ``2.5,10``, for the log.

A specification is written into every document and so into logs and submissions: secrets are named, never given.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.options import check_switches
from tls_tasks.core.rows import describe
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.data.fetched import cache_folder
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.judges.callable import ByKind, NliJudge, nli_name
from tls_tasks.reports.judges.endpoint import from_endpoint
from tls_tasks.reports.judges.prompts import prompts_hash
from tls_tasks.reports.judges.providers import from_provider, read_key
from tls_tasks.reports.judges.questions import window_name
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.judges.store import check_cache
from tls_tasks.reports.types import Judge

_NOBODY = (None, "none")
_PAID = ("provider", "base_url")


def check_judge(spec: Any) -> str:
    """Refuse a specification that can't work, before anything has been generated.

    Files are read, keys are looked up and the cache is tried, but no model is loaded and no server is asked.

    Returns:
        The judge's name in results.

    Raises:
        InputError: Not a specification, or a value in it that can't be used; OptionError for an unknown key.
        DataError: A recording that can't be read, or a cache that can't be written.

    Example:
        >>> check_judge("none"), check_judge("recorded")
        ('none', 'embedded')
        >>> check_judge({"base_url": "http://localhost:8000/v1"})
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: model: got None, expected the name of a model
    """
    if spec in _NOBODY:
        return "none"
    kind, value, options, support = _parse(spec)
    name = kind.name(value, **options)
    return name if support in _NOBODY else f"{name},citation_support={check_judge(support)}"


def make_judge(spec: Any) -> Judge | None:
    """The judge that a specification names; None for ``none``.

    Raises:
        InputError: As :func:`check_judge`; DataError, MissingExtraError.

    Example:
        >>> make_judge("none") is None
        True
    """
    if spec in _NOBODY:
        return None
    kind, value, options, support = _parse(spec)
    judge, other = kind.make(value, **options), make_judge(support)
    return judge if other is None else ByKind({"citation_support": other}, judge)


def is_paid(spec: Any) -> bool:
    """Whether a specification names a server.

    Example:
        >>> is_paid({"provider": "openai", "model": "m"}), is_paid("recorded")
        (True, False)
    """
    return isinstance(spec, Mapping) and any(name in spec for name in _PAID)


def unpaid(spec: Any) -> Any:
    """The specification of a judge that tells what its requests would be, without server, key or a new cache.

    Example:
        >>> unpaid({"provider": "openai", "model": "m"})
        {'model': 'm', 'base_url': 'http://127.0.0.1', 'cache': False}
    """
    if not is_paid(spec):
        return spec
    of_questions = {name: value for name, value in spec.items() if name not in ("provider", "api_key_env")}
    cache = spec.get("cache")
    has_cache = bool(cache) and Path(cache).is_file()
    return {**of_questions, "base_url": "http://127.0.0.1", "cache": cache if has_cache else False}


def _recorded(path: str, **options: Any) -> Judge:
    return Recorded.read(Path(path).expanduser(), **options)


def _chat(make: Callable[..., Judge], source: str, *, model: Any = None, cache: Any = None, **options: Any) -> Judge:
    if "api_key_env" in options and (variable := options.pop("api_key_env")) is not None:
        options["api_key"] = read_key(variable)
    if isinstance(headers := options.get("headers"), Mapping):
        options["headers"] = {name: _header(name, value) for name, value in headers.items()}
    return make(source, model, cache=_cache_file(cache), **options)


def _chat_name(make: Callable[..., Judge], source: str, *, cache: Any = None, **options: Any) -> str:
    name = _chat(make, source, cache=False, **options).name
    if (file := _cache_file(cache)) is not None:
        check_cache(file)
    return name


def _header(name: str, value: Any) -> str:
    if isinstance(value, Mapping) and isinstance(value.get("env"), str):
        return read_key(value["env"])
    if not isinstance(value, str):
        raise InputError(f"judge.headers.{name}", None, describe(value), 'a str, or {"env": "NAME"} for a secret')
    return value


def _cache_file(cache: Any) -> Path | None:
    """The file in which verdicts are kept, None where they are not."""
    if cache is False:
        return None
    return _default_cache() if cache in (None, True) else Path(str(cache)).expanduser()


def _default_cache() -> Path:
    """The file in which verdicts are kept by default; the variable ``TLS_TASKS_CACHE`` names another folder.

    Example:
        >>> _default_cache().name
        'verdicts.sqlite'
    """
    return cache_folder() / "verdicts.sqlite"


def _of_host(module: str, make: str, value: str, **options: Any) -> Judge:
    # By name: families don't import hosts.
    judge: Judge = getattr(importlib.import_module(f"tls_tasks.hosts.{module}"), make)(value, **options)
    return judge


def _harness(model: str, **options: Any) -> Judge:
    return _of_host("judge_model", "from_options", model, name=_harness_label(model, **options), **options)


def _harness_name(model: str, *, window: Any = None, examples: bool = False, chat: bool = False, **options: Any) -> str:
    how = ["loglikelihood", *["chat"] * chat, *["examples"] * examples, *window_name(window)]
    return ",".join([_harness_label(model, **options), *how, f"prompts:{prompts_hash(examples=examples)}"])


def _harness_label(model: str, model_args: Any = None, **_: Any) -> str:
    """A model of the harness and its arguments, as on a command line."""
    if isinstance(model_args, Mapping):
        model_args = ",".join(f"{name}={value}" for name, value in sorted(model_args.items()))
    return f"{model}({model_args or ''})"


def _made_name(make: Callable[..., Judge], value: str, **options: Any) -> str:
    return make(value, **options).name


class _Kind(NamedTuple):
    """What makes a judge, what tells its name without loading a model, and the keys that both take."""

    make: Callable[..., Judge]
    name: Callable[..., str]
    options: tuple[str, ...]


def _kind(make: Callable[..., Judge], options: str, name: Callable[..., str] | None = None) -> _Kind:
    return _Kind(make, name or partial(_made_name, make), tuple(options.split()))


_OF_ENDPOINTS = (
    "model api_key_env base_url cache examples give_up_after headers json_verdicts max_in_flight max_tries name "
    "nuggets_per_call parameters prompts timeout window"
)
_KINDS: Mapping[str, _Kind] = {
    "recorded": _kind(_recorded, "name defaults"),
    # before base_url, which is an option of it
    "provider": _kind(partial(_chat, from_provider), _OF_ENDPOINTS, partial(_chat_name, from_provider)),
    "base_url": _kind(partial(_chat, from_endpoint), _OF_ENDPOINTS, partial(_chat_name, from_endpoint)),
    "harness": _kind(_harness, "model_args chat examples window batch_size device", _harness_name),
    "inspect": _kind(partial(_of_host, "inspect_judge", "InspectJudge"), "cache examples name parameters window"),
    "nli": _kind(NliJudge, "batch_size device max_length", nli_name),
}
"""The key that says which kind of judge is specified."""

_TEXTS = ("name", "prompts", "api_key_env", "base_url")  # of these keys those whose value is text, and may be null
_SWITCHES = ("examples", "json_verdicts", "chat")

_EXPECTED = (
    f"'none', 'recorded', or an object with one of {', '.join(_KINDS)}, such as "
    '{"base_url": "http://localhost:8000/v1", "model": "NAME"}'
)


def _parse(spec: Any) -> tuple[_Kind, str, dict[str, Any], Any]:
    """The kind of judge, its value, its options, and the specification of another judge for support by citations."""
    check_no_secret(spec, "judge")  # before any other message could repeat it
    if spec == "recorded":
        spec = {"recorded": str(EMBEDDED_RECORDING), "name": "embedded"}
    key = next((name for name in _KINDS if name in spec), None) if isinstance(spec, Mapping) else None
    if key is None:
        raise InputError("judge", None, repr(spec), _EXPECTED)
    options = dict(spec)
    value, support = options.pop(key), options.pop("citation_support", None)
    for name in options:
        if name not in _KINDS[key].options:
            raise OptionError.unknown("judge", name, sorted({key, *_KINDS[key].options}))
    texts = {key: value or None} | {name: spec[name] for name in _TEXTS if spec.get(name) is not None}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.isprintable():  # it can be no path, address or variable
            expected = "printable characters" if isinstance(text, str) else "a str"
            raise InputError(f"judge.{name}", None, describe(spec[name]), expected)
    check_switches(**{f"judge.{name}": spec[name] for name in _SWITCHES if name in spec})
    return _KINDS[key], value, options, support
