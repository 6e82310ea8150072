"""Who judges, as the metadata of a task or a command line says it -> a judge.

A specification is ``none``, ``recorded`` (the verdicts that come with the embedded edition), or an object with one of

- ``recorded``: a recording, such as ``verdicts.jsonl`` of an earlier run;
- ``base_url`` and ``model``: any OpenAI-compatible endpoint; the key in ``api_key_env``, the name of a variable;
- ``provider`` (openai, anthropic, together) and ``model``;
- ``harness``: a model of the harness such as ``hf``, with ``model_args``; it answers by the likelihood of YES and NO;
- ``nli``: a Hugging Face model of textual entailment; it judges support by citations and nothing else.

``citation_support`` (a specification of its own) may name another judge for that kind of question, and ``cache`` the
file in which verdicts of an endpoint are kept (by default one file of the user's; false: none).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.reports.types import Judge

SOURCES = ("recorded", "base_url", "provider", "harness", "nli")
"""What a specification may begin with."""

CACHE_VARIABLE = "TLS_TASKS_CACHE"

_EXPECTED = (
    f"'none', 'recorded', or an object with one of {', '.join(SOURCES)}, such as "
    '{"base_url": "http://localhost:8000/v1", "model": "NAME"}'
)


def default_cache() -> Path:
    """The file in which verdicts are kept where nothing else is said: ``TLS_TASKS_CACHE`` is its folder, if set.

    Example:
        >>> default_cache().name
        'verdicts.sqlite'
    """
    folder = os.environ.get(CACHE_VARIABLE)
    if not folder:
        folder = str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tls-tasks")
    return Path(folder).expanduser() / "verdicts.sqlite"


def check_judge(spec: Any) -> str:
    """Refuse a specification that can't work, before anything has been generated.

    Whatever costs no time is made: files are read, keys are looked up; no model is loaded and no server asked.

    Returns:
        How results call the judge: its name where it could be made, else what was asked for.

    Raises:
        InputError: No specification, or a part of it that can't be used; OptionError for a part that doesn't exist.
        DataError: A recording that can't be read.

    Example:
        >>> check_judge("none"), check_judge("recorded")
        ('none', 'embedded')
        >>> check_judge({"base_url": "http://localhost:8000/v1"})
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: judge.model: got nothing, expected the name of a model
    """
    if spec in (None, "none"):
        return "none"
    fields = _fields(spec)
    support = fields.pop("citation_support", None)
    source = _source(fields)
    if source in _LATER_OPTIONS:
        from tls_tasks.reports.judges.prompts import prompts_hash

        _refuse_unknown(fields, (source, *_LATER_OPTIONS[source]))
        name = _text(fields, source, "the name of a model")
        if source == "harness":
            how = "loglikelihood,chat" if fields.get("chat") else "loglikelihood"
            name = f"{_label(fields)},{how},prompts:{prompts_hash()}"
        else:
            name = f"nli:{name}"
    else:
        judge = _MAKERS[source]({**fields, "cache": False} if source in ("base_url", "provider") else fields)
        name = judge.name
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
    fields = _fields(spec)
    support = fields.pop("citation_support", None)
    judge = _MAKERS[_source(fields)](fields)
    if support is None:
        return judge
    from tls_tasks.reports.judges import ByKind

    other = make_judge(support)
    if other is None:
        raise InputError("judge.citation_support", None, repr(support), "a judge")
    return ByKind({"citation_support": other}, judge)


_QUIET = ("cache", "max_in_flight", "progress", "prices", "timeout", "max_tries", "first_wait", "max_wait")
_SHARED = (*_QUIET, "give_up_after", "parameters", "name", "headers", "window", "model", "api_key_env", "base_url")
_LATER_OPTIONS = {
    "harness": ("model_args", "chat", "window", "batch_size", "device"),
    "nli": ("batch_size", "device", "max_length"),
}


def _fields(spec: Any) -> dict[str, Any]:
    if spec == "recorded":
        from tls_tasks.reports.data import embedded_recording

        return {"recorded": str(embedded_recording()), "name": "embedded"}
    if not isinstance(spec, Mapping):
        raise InputError("judge", None, repr(spec), _EXPECTED)
    return dict(spec)


def _source(fields: Mapping[str, Any]) -> str:
    # A provider's base_url is an option of it.
    found = [name for name in SOURCES if name in fields and not (name == "base_url" and "provider" in fields)]
    if len(found) != 1:
        raise InputError("judge", None, repr({name: fields[name] for name in found} or dict(fields)), _EXPECTED)
    return found[0]


def _recorded(fields: dict[str, Any]) -> Judge:
    from tls_tasks.reports.judges import Recorded

    _refuse_unknown(fields, ("recorded", "name", "defaults", "strict"))
    path = Path(_text(fields, "recorded", "the path of a recording")).expanduser()
    if not path.is_file():
        raise DataError(f"judge.recorded: there is no file {path}")
    options = {name: fields[name] for name in ("name", "defaults", "strict") if name in fields}
    return Recorded.read(path, **options)


def _endpoint(fields: dict[str, Any]) -> Judge:
    from tls_tasks.reports.judges.providers import from_endpoint

    options = _options(fields)
    return from_endpoint(options.pop("base_url"), options.pop("model"), **options)


def _provider(fields: dict[str, Any]) -> Judge:
    from tls_tasks.reports.judges.providers import from_provider

    options = _options(fields, "provider")
    return from_provider(options.pop("provider"), options.pop("model"), **options)


def _options(fields: dict[str, Any], *more: str) -> dict[str, Any]:
    _refuse_unknown(fields, (*_SHARED, *more))
    _text(fields, "model", "the name of a model")
    options = dict(fields)
    variable = options.pop("api_key_env", None)
    if variable is not None:
        from tls_tasks.reports.judges.environment import read_key

        options["api_key"] = read_key(str(variable))
    cache = options.pop("cache", None)
    if cache is not False:
        path = default_cache() if cache in (None, True) else Path(str(cache)).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        options["cache"] = path
    return options


def _harness(fields: dict[str, Any]) -> Judge:
    from lm_eval.api.registry import get_model

    from tls_tasks.hosts.judge_model import HarnessJudge

    _refuse_unknown(fields, ("harness", *_LATER_OPTIONS["harness"]))
    given = fields.get("model_args") or {}
    more = {name: fields[name] for name in ("batch_size", "device") if name in fields}
    model_class = get_model(_text(fields, "harness", "the name of a model of the harness"))
    model = (
        model_class.create_from_arg_obj(dict(given), more)
        if isinstance(given, Mapping)
        else model_class.create_from_arg_string(str(given), more)
    )
    chat, window = bool(fields.get("chat", False)), fields.get("window")
    return HarnessJudge(model, chat=chat, name=_label(fields), window=window)


def _label(fields: Mapping[str, Any]) -> str:
    """A model of the harness and its arguments, as a command line would have them."""
    given = fields.get("model_args") or {}
    arguments = (
        ",".join(f"{key}={value}" for key, value in sorted(given.items())) if isinstance(given, Mapping) else str(given)
    )
    return f"{fields['harness']}({arguments})"


def _nli(fields: dict[str, Any]) -> Judge:
    from tls_tasks.reports.judges.nli import NliJudge

    _refuse_unknown(fields, ("nli", *_LATER_OPTIONS["nli"]))
    options = {name: fields[name] for name in _LATER_OPTIONS["nli"] if name in fields}
    return NliJudge(_text(fields, "nli", "the name of a model"), **options)


_MAKERS: Mapping[str, Callable[[dict[str, Any]], Judge]] = {
    "recorded": _recorded,
    "base_url": _endpoint,
    "provider": _provider,
    "harness": _harness,
    "nli": _nli,
}


def _text(fields: Mapping[str, Any], name: str, expected: str) -> str:
    value = fields.get(name)
    if isinstance(value, str) and value:
        return value
    raise InputError(f"judge.{name}", None, "nothing" if value is None else repr(value), expected)


def _refuse_unknown(fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in fields:
        if name == "api_key":
            raise InputError("judge.api_key", None, "a key, which would be written into the results", "api_key_env")
        if name not in known:
            raise OptionError.unknown("judge", name, sorted(known))
