"""One chat model through the ``openai`` client: what it answers, or why it doesn't.

The client connects, waits and tries again. What it raises in the end is either a server that would refuse any question
(:class:`~tls_tasks.core.errors.JudgeError`) or trouble with one question (:class:`Unanswered`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
from openai import APIError, APIStatusError, APITimeoutError, AsyncOpenAI

from tls_tasks.core.errors import JudgeError, TlsTasksError
from tls_tasks.reports.judges.transport import OUT_OF_CREDIT, LimitedTransport

if TYPE_CHECKING:
    from tls_tasks.reports.judges.endpoint import Endpoint
    from tls_tasks.reports.judges.prompts import Message

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OF_ONE_QUESTION = frozenset({"content_filter", "context_length_exceeded", "string_above_max_length"})


class Reply(NamedTuple):
    """What a model wrote, and how many tokens it read and wrote."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class Unanswered(TlsTasksError):
    """A question got no answer; ``reason`` becomes the verdict's."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason


class ChatClient:
    """A connection to an endpoint, to be closed after use.

    Attributes:
        transport: Counts the requests.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # Reading the certificates takes longer than a question to a server at home: once is enough, if at all.
        verify: Any = endpoint.url.startswith("https") and httpx.create_ssl_context()
        trust_env = endpoint.host not in _LOOPBACK  # no proxy leads to this machine
        senders = [httpx.AsyncClient(verify=verify, trust_env=trust_env) for _ in range(endpoint.max_in_flight)]
        self.transport = LimitedTransport(senders, endpoint.timeout, has_key=endpoint.api_key is not None)
        http_client: Any = httpx.AsyncClient(transport=self.transport)  # openai 3 prefers httpx2, but takes this too
        self.openai = AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.api_key or "none",  # for None it would send OPENAI_API_KEY, whatever the server
            default_headers=dict(endpoint.headers or {}),
            timeout=endpoint.timeout,
            max_retries=endpoint.max_tries - 1,
            http_client=http_client,
        )

    async def ask(self, messages: list[Message]) -> Reply:
        """The model's reply to messages.

        Raises:
            Unanswered: All tries failed, or the server refuses this question.
            JudgeError: The server would refuse any other question as well.
        """
        body = {"model": self._endpoint.model, "messages": messages, **self._endpoint.sent}
        try:
            # Not chat.completions.create: its checks of messages and answers cost more than everything else.
            completion: Any = await self.openai.post("/chat/completions", cast_to=object, body=body)
        except APIError as error:
            raise self._sorted(error) from None
        content, usage = completion["choices"][0]["message"].get("content"), completion.get("usage")
        if isinstance(content, list):
            parts = [part.get("text") for part in content if isinstance(part, dict)]
            content = "".join(text for text in parts if isinstance(text, str))
        counts = [usage.get(name) if isinstance(usage, dict) else 0 for name in ("prompt_tokens", "completion_tokens")]
        text = content if isinstance(content, str) else ""
        return Reply(text, *(count if isinstance(count, int) and count > 0 else 0 for count in counts))

    def _sorted(self, error: APIError) -> Unanswered | JudgeError:
        if not isinstance(error, APIStatusError):
            words = self._shown(str(error.__cause__ or error))
            if isinstance(error, APITimeoutError):
                return Unanswered("timeout", words)
            return Unanswered("garbage" if isinstance(error.__cause__, httpx.DecodingError) else "connection", words)
        status, code, body = error.status_code, str(error.code), error.body
        if isinstance(body, dict):
            body = body.get("message") or body.get("detail") or json.dumps(body)
        words = self._shown(str(body or error.response.headers.get("location") or error.response.reason_phrase))
        if code not in OUT_OF_CREDIT:
            if status == 413 or code in _OF_ONE_QUESTION:
                return Unanswered("refused", f"{status} {words}")
            if status in (408, 409, 425, 429) or status >= 500:
                return Unanswered("rate_limit" if status == 429 else "server", f"{status} {words}")
        return JudgeError.refused(f"{self._endpoint.model} at {self._endpoint.url}", status, words)

    def _shown(self, words: str) -> str:
        """The beginning of a message, on one line, without the key, which some servers repeat."""
        key = self._endpoint.api_key
        return " ".join((words.replace(key, "***") if key else words).split())[:300]
