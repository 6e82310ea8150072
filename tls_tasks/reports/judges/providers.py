"""Judges by the name of their provider, all of which speak OpenAI's protocol."""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.reports.judges.endpoint import ChatJudge, from_endpoint

_ASSIGNMENT = re.compile(r"""\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\n]*))""")


class ModelProvider(str, Enum):
    """Whose models judge."""

    TOGETHER = "together"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


_URLS = {
    ModelProvider.TOGETHER: "https://api.together.xyz/v1",
    ModelProvider.OPENAI: "https://api.openai.com/v1",
    ModelProvider.ANTHROPIC: "https://api.anthropic.com/v1",
}


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
        api_key: By default the value of ``TOGETHER_API_KEY``, ``OPENAI_API_KEY`` or ``ANTHROPIC_API_KEY``, in the
            environment or in the file ``.env``.
        base_url: Another URL at which the provider answers.
        name: For the signature; by default provider and model.
        **options: See :class:`~tls_tasks.reports.judges.endpoint.Endpoint`.

    Raises:
        OptionError: A provider that doesn't exist.
        InputError: No key, or an argument that can't be used.

    Example:
        >>> judge = from_provider("openai", "gpt-4o", api_key="sk-123")
        >>> judge.name.partition(",")[0]
        'openai/gpt-4o'
    """
    if provider not in _URLS:
        raise OptionError.unknown("provider", provider, [known.value for known in ModelProvider])
    known = ModelProvider(provider)
    key = read_key(f"{known.value.upper()}_API_KEY") if api_key is None else api_key
    label = name or f"{known.value}/{model_name}"
    return from_endpoint(base_url or _URLS[known], model_name, api_key=key, name=label, **options)


def read_key(variable: str) -> str:
    """The key in an environment variable, or else in the file ``.env`` of the working directory.

    Raises:
        InputError: There is none, or it is empty.

    Example:
        >>> read_key("NO_SUCH_KEY")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: NO_SUCH_KEY: got nothing, expected a key in the environment or in .env
    """
    key = os.environ.get(variable, "").strip() or _assignments(Path(".env")).get(variable, "")
    if not key:
        raise InputError(variable, None, "nothing", "a key in the environment or in .env")
    return key


def _assignments(file: Path) -> dict[str, str]:
    """The assignments ``NAME=value`` in a file; nothing is substituted, and nothing is run."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found = [match for match in map(_ASSIGNMENT.match, lines) if match]
    return {match[1]: (match[2] or match[3] or match[4] or "").strip() for match in found}
