"""One chat model through the ``openai`` client: what it answers, or why it doesn't.

The client connects, waits and tries again. What it raises in the end is either a server that would refuse any question
(:class:`~tls_tasks.core.errors.JudgeError`) or trouble with one question (:class:`Unanswered`).

Below it is an HTTP client of ours with a deadline for each try as a whole and a limit on the size of an answer: by
itself ``openai`` waits anew with every byte that arrives, and unpacks whatever it is sent. Ours asks for uncompressed
answers and accepts no others, and reads each completely before ``openai`` sees it. Anything that isn't the answer of a
chat model becomes an error after which ``openai`` tries again.
"""

import asyncio
import json
from contextlib import aclosing, suppress
from typing import Any

import httpx
from openai import APIError, APIStatusError, APITimeoutError, AsyncOpenAI

from tls_tasks.core.errors import JudgeError
from tls_tasks.core.secrets import without_secrets
from tls_tasks.reports.judges.model import Endpoint, JudgeStats, Unanswered
from tls_tasks.reports.judges.prompts import Message

LIMIT = 4_000_000
"""The most bytes an answer may have. A verdict takes a few hundred; JSON takes up to 25 times its size in memory."""

_OUT_OF_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Error codes that waiting doesn't cure, though they come with status 429."""

_KEPT_HEADERS = ("retry-after", "retry-after-ms", "location")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_OF_ONE_QUESTION = frozenset({"content_filter", "context_length_exceeded", "string_above_max_length"})


class ChatClient:
    """A connection to an endpoint, to be closed after use; ``stats`` counts requests and tokens."""

    def __init__(self, endpoint: Endpoint, stats: JudgeStats) -> None:
        self._endpoint, self._stats = endpoint, stats
        self._secrets = [endpoint.api_key, *(endpoint.headers or {}).values()]
        http_client: Any = _LimitedClient(endpoint, stats)  # openai 3 prefers httpx2, but takes this too
        self.openai = AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.api_key or "none",  # for None it would send OPENAI_API_KEY, whatever the server
            default_headers=dict(endpoint.headers or {}),
            timeout=endpoint.timeout,
            max_retries=endpoint.max_tries - 1,
            http_client=http_client,
        )

    async def ask(self, messages: list[Message]) -> str:
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
        for name in ("prompt_tokens", "completion_tokens"):
            count = usage.get(name) if isinstance(usage, dict) else None
            if isinstance(count, int) and count > 0:
                setattr(self._stats, name, getattr(self._stats, name) + count)
        if isinstance(content, list):
            parts = [part.get("text") for part in content if isinstance(part, dict)]
            content = "".join(text for text in parts if isinstance(text, str))
        # A gateway may repeat what it was sent; an answer is kept.
        return without_secrets(content, self._secrets) if isinstance(content, str) else ""

    def _sorted(self, error: APIError) -> Unanswered | JudgeError:
        if not isinstance(error, APIStatusError):
            reason = "garbage" if isinstance(error.__cause__, httpx.DecodingError) else "connection"
            words = self._shown(str(error.__cause__ or error))
            return Unanswered("timeout" if isinstance(error, APITimeoutError) else reason, words)
        status, code, body = error.status_code, str(error.code), error.body
        if isinstance(body, dict):
            body = body.get("message") or body.get("detail") or json.dumps(body)
        words = self._shown(str(body or error.response.headers.get("location") or error.response.reason_phrase))
        if code not in _OUT_OF_CREDIT:
            if status == 413 or code in _OF_ONE_QUESTION:
                return Unanswered("refused", f"{status} {words}")
            if status in (408, 409, 425, 429) or status >= 500:
                return Unanswered("rate_limit" if status == 429 else "server", f"{status} {words}")
        return JudgeError.refused(f"{self._endpoint.model} at {self._endpoint.url}", status, words)

    def _shown(self, words: str) -> str:
        """The beginning of a message, on one line, without key and headers, which some servers repeat."""
        return " ".join(without_secrets(words, self._secrets).split())[:300]


class _LimitedClient(httpx.AsyncClient):
    """Reads answers completely, within limits; ``stats.tries`` counts the requests."""

    def __init__(self, endpoint: Endpoint, stats: JudgeStats) -> None:
        super().__init__(
            verify=endpoint.url.startswith("https"),  # reading the certificates takes longer than a question
            trust_env=endpoint.host not in _LOOPBACK,  # no proxy leads to this machine
            limits=httpx.Limits(),  # the judge keeps its own
        )
        self._endpoint, self._stats = endpoint, stats

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send one request.

        Raises:
            httpx.ReadTimeout: The answer was not complete in time.
            httpx.DecodingError: The answer is too long, or not that of a chat model.
        """
        self._stats.tries += 1
        request.headers["Accept-Encoding"] = "identity"
        if self._endpoint.api_key is None:
            request.headers.pop("Authorization", None)  # the openai client always sets it
        try:
            response, content = await asyncio.wait_for(self._exchange(request), self._endpoint.timeout)
        # Not the builtin TimeoutError before Python 3.11; httpx may notice it first, and says nothing of it.
        except (asyncio.TimeoutError, httpx.TimeoutException):
            raise httpx.ReadTimeout(f"no answer within {self._endpoint.timeout:g} s") from None
        headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
        error, is_completion = None, False
        with suppress(ValueError, RecursionError, TypeError, KeyError, IndexError):
            body = json.loads(content)
            error = body.get("error") if isinstance(body, dict) else None
            is_completion = not error and isinstance(body["choices"][0]["message"], dict)
        if response.status_code == 200 and not is_completion:  # a gateway's error may come with this status, too
            raise httpx.DecodingError(content[:1000].decode("utf-8", "replace") or "an empty answer")
        if isinstance(error, dict) and str(error.get("code")) in _OUT_OF_CREDIT:
            headers["x-should-retry"] = "false"
        headers["Content-Type"] = "application/json"
        return httpx.Response(response.status_code, headers=headers, content=content, request=request)

    async def _exchange(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        response = await super().send(request, stream=True)
        async with aclosing(response):
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > LIMIT:
                    raise httpx.DecodingError(f"the answer has more than {LIMIT:,} bytes")
        encoding = response.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise httpx.DecodingError(f"the answer is encoded as {encoding!r:.40}, which was not asked for")
        return response, bytes(content)
