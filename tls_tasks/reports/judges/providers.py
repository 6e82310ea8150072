"""Judges by address (:func:`from_endpoint`) and by the name of a provider (:func:`from_provider`).

OpenAI and Together speak the protocol of :mod:`~tls_tasks.reports.judges.endpoint`, and need nothing else. Anthropic's
own protocol differs, and its layer for OpenAI's is meant for trying out and passes over parameters; so Anthropic goes
through litellm, the extra ``judge``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.reports.judges.by_litellm import LitellmServer
from tls_tasks.reports.judges.chat import ChatJudge, ChatOptions
from tls_tasks.reports.judges.endpoint import Endpoint
from tls_tasks.reports.judges.environment import read_key
from tls_tasks.reports.judges.sending import Server


class ModelProvider(str, Enum):
    """Whose models judge."""

    TOGETHER = "together"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class _Known(NamedTuple):
    url: str
    variable: str


_PROVIDERS = {
    ModelProvider.TOGETHER: _Known("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    ModelProvider.OPENAI: _Known("https://api.openai.com/v1", "OPENAI_API_KEY"),
    ModelProvider.ANTHROPIC: _Known("", "ANTHROPIC_API_KEY"),
}


def from_endpoint(
    url: str,
    model: str,
    *,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    name: str | None = None,
    **options: Any,
) -> ChatJudge:
    """A judge behind any OpenAI-compatible chat endpoint: vLLM, llama.cpp, Ollama, a gateway, a provider.

    Args:
        url: Its base, such as ``http://localhost:8000/v1``.
        model: The model, as the server calls it.
        api_key: Sent as a bearer token, if given.
        headers: Further headers.
        name: Stands in the signature; by default model and host.
        **options: ``parameters``, ``cache``, ``max_in_flight``, ``prices``, ``progress``, ``window``: see
            ``ChatOptions``; ``timeout``, ``max_tries``, ``first_wait``, ``max_wait``,
            ``give_up_after``: see :class:`~tls_tasks.reports.judges.sending.Patience`.

    Raises:
        InputError: An argument that can't be used.
        OptionError: An option that doesn't exist.
        DataError: A cache that can't be opened.

    Example:
        >>> judge = from_endpoint("http://localhost:8000/v1", "my-model", parameters={"temperature": 1})
        >>> judge.name.rpartition(",")[0]
        'my-model@localhost,temperature:1'
    """
    chosen = ChatOptions.of(**options)
    server = Endpoint(url, _model(model), chosen.sent, api_key=api_key, headers=headers)
    return ChatJudge(server, model, name or f"{model}@{server.host}", chosen)


def from_provider(
    provider: str | ModelProvider,
    model_name: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    name: str | None = None,
    **options: Any,
) -> ChatJudge:
    """A judge by the name of its provider.

    Args:
        provider: ``together``, ``openai`` or ``anthropic``.
        model_name: The model, as the provider calls it.
        api_key: By default from ``TOGETHER_API_KEY``, ``OPENAI_API_KEY`` or ``ANTHROPIC_API_KEY``, in the environment
            or in the file ``.env``.
        base_url: Another address that speaks the provider's protocol.
        name: Stands in the signature; by default provider and model.
        **options: As in :func:`from_endpoint`.

    Raises:
        OptionError: A provider or an option that doesn't exist.
        InputError: No key, or an argument that can't be used.
        MissingExtraError: Anthropic, without litellm.

    Example:
        >>> judge = from_provider("openai", "gpt-4o", api_key="sk-123")
        >>> judge.name.partition(",")[0]
        'openai/gpt-4o'
    """
    if provider not in _PROVIDERS:
        raise OptionError.unknown("provider", provider, [one.value for one in ModelProvider])
    one, chosen = ModelProvider(provider), ChatOptions.of(**options)
    known = _PROVIDERS[one]
    key = read_key(known.variable) if api_key is None else api_key
    server: Server
    if one is ModelProvider.ANTHROPIC:
        server = LitellmServer(one.value, _model(model_name), chosen.sent, api_key=key, url=base_url)
    else:
        server = Endpoint(base_url or known.url, _model(model_name), chosen.sent, api_key=key)
    return ChatJudge(server, model_name, name or f"{one.value}/{model_name}", chosen)


def _model(model: Any) -> str:
    if isinstance(model, str) and model:
        return model
    raise InputError("model", None, repr(model), "the name of a model")
