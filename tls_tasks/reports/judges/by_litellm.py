"""Providers with a protocol of their own, through litellm (the extra ``judge``)."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tls_tasks.core.errors import JudgeError, MissingExtraError
from tls_tasks.reports.judges.endpoint import WORDS, read_reply, retry_after, trouble_of
from tls_tasks.reports.judges.environment import hide
from tls_tasks.reports.judges.prompts import Message
from tls_tasks.reports.judges.sending import Reply, Send, Trouble


class LitellmServer:
    """A provider that litellm knows.

    Args:
        provider: As litellm calls it.
        model: The model, as the provider calls it.
        parameters: What is sent besides model and messages, by OpenAI's names; litellm translates them.
        api_key: The key.
        url: Another address of the same protocol.

    Raises:
        MissingExtraError: litellm isn't installed.
    """

    def __init__(
        self, provider: str, model: str, parameters: Mapping[str, Any], *, api_key: str, url: str | None = None
    ) -> None:
        if importlib.util.find_spec("litellm") is None:
            raise MissingExtraError(f"provider {provider!r}", "judge")
        self._where, self._key = f"{model} at {provider}", api_key
        self._arguments = {"model": f"{provider}/{model}", "api_key": api_key, "api_base": url, **parameters}

    @asynccontextmanager
    async def connect(self, max_in_flight: int) -> AsyncIterator[Send]:
        """Connections are litellm's own affair."""
        # Importing it would fetch a table of prices from the network; the table in the package does.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        async def send(messages: Sequence[Message]) -> Reply:
            try:
                answer = await litellm.acompletion(messages=list(messages), max_retries=0, **self._arguments)
            except Exception as error:  # litellm wraps what many libraries raise; all of it is trouble with a server
                raise self._trouble(error) from error
            reply = read_reply(answer.model_dump())
            if reply is None:
                raise Trouble("garbage", "an answer without text")
            return reply

        yield send

    def _trouble(self, error: Exception) -> Trouble | JudgeError:
        words = hide(" ".join(str(error).split()), self._key)[:WORDS]
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            return Trouble("connection", words)
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        return trouble_of(status, getattr(error, "code", None), words, self._where, retry_after(headers))
