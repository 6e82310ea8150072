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
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.rows import describe
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.data.fetched import cache_folder
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.judges.callable import ByKind
from tls_tasks.reports.judges.endpoint import from_endpoint
from tls_tasks.reports.judges.nli import NliJudge, nli_name
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
    parsed = _parse(spec)
    support = parsed.citation_support
    return parsed.check() if support in _NOBODY else f"{parsed.check()},citation_support={check_judge(support)}"


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
    parsed = _parse(spec)
    judge, other = parsed.make(), make_judge(parsed.citation_support)
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


def _printable(text: str) -> str:
    if not text.isprintable():  # it can be no path, address or variable
        raise ValueError
    return text


_Text = Annotated[str, AfterValidator(_printable)]
_Name = Annotated[_Text, Field(min_length=1)]


class _Spec(BaseModel):
    """The keys of a kind of judge; the values that are not checked here are checked by the judge itself."""

    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())
    citation_support: Any = None

    def make(self) -> Judge:
        """The judge."""
        raise NotImplementedError

    def check(self) -> str:
        """The judge's name; no model is loaded and no server is asked."""
        return self.make().name

    def _options(self, *left_out: str) -> dict[str, Any]:
        """The keys that were given."""
        return self.model_dump(exclude_unset=True, exclude={"citation_support", *left_out})


class _Recording(_Spec):
    recorded: _Name
    name: _Text | None = None
    defaults: Any = None

    def make(self) -> Judge:
        return Recorded.read(Path(self.recorded).expanduser(), **self._options("recorded"))


class _Endpoint(_Spec):
    base_url: _Name | None
    api_key_env: _Text | None = None
    cache: Any = None
    examples: bool = False
    give_up_after: Any = None
    headers: Any = None
    json_verdicts: bool = False
    max_in_flight: Any = None
    max_tries: Any = None
    model: Any = None
    name: _Text | None = None
    nuggets_per_call: Any = None
    parameters: Any = None
    prompts: _Text | None = None
    timeout: Any = None
    window: Any = None

    def make(self) -> Judge:
        return self._connected(self._cache_file())

    def check(self) -> str:
        name, file = self._connected(None).name, self._cache_file()
        if file is not None:
            check_cache(file)
        return name

    def _connected(self, cache: Path | None) -> Judge:
        options = self._options("api_key_env", "model") | {"cache": cache}
        if self.api_key_env is not None:
            options["api_key"] = read_key(self.api_key_env)
        if isinstance(self.headers, Mapping):
            options["headers"] = {name: _header(name, value) for name, value in self.headers.items()}
        if "provider" in options:
            return from_provider(options.pop("provider"), self.model, **options)
        return from_endpoint(options.pop("base_url"), self.model, **options)

    def _cache_file(self) -> Path | None:
        """The file in which verdicts are kept, None where they are not."""
        if self.cache is False:
            return None
        return _default_cache() if self.cache in (None, True) else Path(str(self.cache)).expanduser()


class _Provider(_Endpoint):
    provider: _Name
    base_url: _Text | None = None


class _Harness(_Spec):
    harness: _Name
    model_args: Any = None
    chat: bool = False
    examples: bool = False
    window: Any = None
    batch_size: Any = None
    device: Any = None

    def make(self) -> Judge:
        # By name: the harness is a host, and families don't import hosts.
        module = importlib.import_module("tls_tasks.hosts.judge_model")
        judge: Judge = module.from_options(self.harness, name=self._label(), **self._options("harness"))
        return judge

    def check(self) -> str:
        flags = [flag for flag in ("chat", "examples") if getattr(self, flag)]
        how = ["loglikelihood", *flags, *window_name(self.window)]
        return ",".join([self._label(), *how, f"prompts:{prompts_hash(examples=self.examples)}"])

    def _label(self) -> str:
        """The model and its arguments, as on a command line."""
        given = self.model_args
        if isinstance(given, Mapping):
            given = ",".join(f"{name}={value}" for name, value in sorted(given.items()))
        return f"{self.harness}({given or ''})"


class _Inspect(_Spec):
    inspect: _Name
    cache: Any = None
    examples: bool = False
    name: _Text | None = None
    parameters: Any = None
    window: Any = None

    def make(self) -> Judge:
        module = importlib.import_module("tls_tasks.hosts.inspect_judge")  # a host, too
        judge: Judge = module.InspectJudge(self.inspect, **self._options("inspect"))
        return judge


class _Nli(_Spec):
    nli: _Name
    batch_size: Any = None
    device: Any = None
    max_length: Any = None

    def make(self) -> Judge:
        return NliJudge(self.nli, **self._options("nli"))

    def check(self) -> str:
        return nli_name(self.nli, self.max_length)


_KINDS: Mapping[str, type[_Spec]] = {
    "recorded": _Recording,
    "provider": _Provider,  # before base_url, which is an option of it
    "base_url": _Endpoint,
    "harness": _Harness,
    "inspect": _Inspect,
    "nli": _Nli,
}
"""The key that says which kind of judge is specified -> its keys."""

_EXPECTED = (
    f"'none', 'recorded', or an object with one of {', '.join(_KINDS)}, such as "
    '{"base_url": "http://localhost:8000/v1", "model": "NAME"}'
)


def _parse(spec: Any) -> _Spec:
    check_no_secret(spec, "judge")  # before any other message could repeat it
    if spec == "recorded":
        spec = {"recorded": str(EMBEDDED_RECORDING), "name": "embedded"}
    kind = next((name for name in _KINDS if name in spec), None) if isinstance(spec, Mapping) else None
    if kind is None:
        raise InputError("judge", None, repr(spec), _EXPECTED)
    try:
        return _KINDS[kind].model_validate(dict(spec))
    except ValidationError as error:
        flaw = error.errors()[0]
        name = str(flaw["loc"][0])
        if flaw["type"] == "extra_forbidden":
            raise OptionError.unknown(
                "judge", name, sorted(_KINDS[kind].model_fields.keys() - {"citation_support"})
            ) from None
        expected = {"bool_type": "True or False", "value_error": "printable characters"}.get(flaw["type"], "a str")
        raise InputError(f"judge.{name}", None, describe(spec[name]), expected) from None


def _header(name: str, value: Any) -> str:
    if isinstance(value, Mapping) and isinstance(value.get("env"), str):
        return read_key(value["env"])
    if not isinstance(value, str):
        raise InputError(f"judge.headers.{name}", None, describe(value), 'a str, or {"env": "NAME"} for a secret')
    return value


def _default_cache() -> Path:
    """The file in which verdicts are kept by default; the variable ``TLS_TASKS_CACHE`` names another folder.

    Example:
        >>> _default_cache().name
        'verdicts.sqlite'
    """
    return cache_folder() / "verdicts.sqlite"
