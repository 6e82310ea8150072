"""Ask one chat endpoint through the ``openai`` client.

The client connects, waits and tries again. It ends with an answer, with trouble about one question (a ``reason``), or
with a server that would refuse any question (:class:`~tls_tasks.core.errors.JudgeError`).

It sends through an HTTP client of ours, which has a deadline for each try as a whole and a limit on the size of an
answer: by itself ``openai`` restarts its clock with every byte, and unpacks whatever arrives. Ours accepts uncompressed
answers only, and reads each completely before ``openai`` sees it. Anything that isn't the answer of a chat model
becomes an error after which ``openai`` tries again.
"""

import asyncio
import json
import time
from collections import Counter
from contextlib import aclosing, suppress
from typing import Any, NamedTuple

import httpx
from openai import APIError, APIStatusError, APITimeoutError, AsyncOpenAI

from tls_tasks.core.errors import JudgeError
from tls_tasks.core.secrets import without_secrets

LIMIT = 4_000_000
"""The most bytes an answer may have. A verdict takes a few hundred; JSON takes up to 25 times its size in memory."""

_OUT_OF_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Error codes with status 429 after which waiting is useless."""

_UNREACHED = "unreached"
"""The code of the error that we make of a server that nobody has reached."""
_CONNECT_SECONDS = 4
"""How long a server that has not answered yet may take to accept a connection."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_QUESTION_ERRORS = frozenset({"content_filter", "context_length_exceeded", "string_above_max_length"})


class Answer(NamedTuple):
    """A model's answer to one request, or the reason why there is none.

    Attributes:
        text: The answer, or the message of the error.
        reason: Why there is no answer; empty if there is one.
        is_failure: Whether the server, not the question, may be the reason.
    """

    text: str
    reason: str = ""
    is_failure: bool = False


class ChatClient:
    """A connection to an endpoint, ``openai`` to be closed after use; ``stats`` counts requests and tokens."""

    def __init__(self, url: str, stats: Counter[str], *, api_key: str | None, timeout: float, max_tries: int) -> None:
        self._url, self._key, self._stats, self._is_refused = url, api_key, stats, False
        http_client: Any = _LimitedClient(url, stats, timeout)  # openai 3 prefers httpx2
        self.openai = AsyncOpenAI(
            base_url=url,
            api_key=api_key or "none",  # with None openai would send OPENAI_API_KEY to any server
            timeout=timeout,
            max_retries=max_tries - 1,
            http_client=http_client,
        )

    async def ask(self, body: dict[str, Any]) -> Answer:
        """Send a request and return the model's answer, or the trouble with this question.

        Raises:
            JudgeError: The server would refuse any other question as well.
        """
        try:
            # Not chat.completions.create: its checks of messages and answers cost more than everything else.
            completion: Any = await self.openai.post("/chat/completions", cast_to=object, body=body)
        except APIError as error:
            return self._failure(error, body["model"])
        choice, usage = completion["choices"][0], completion.get("usage")
        for name in ("prompt_tokens", "completion_tokens"):
            count = usage.get(name) if isinstance(usage, dict) else None
            self._stats[name] += count if isinstance(count, int) and count > 0 else 0
        message = choice["message"]
        content = message.get("content")
        if isinstance(content, list):
            parts = [part.get("text") for part in content if isinstance(part, dict)]
            content = "".join(text for text in parts if isinstance(text, str))
        # A gateway may repeat the key that it was sent, and the answer is stored.
        text = without_secrets(content, [self._key]) if isinstance(content, str) else ""
        if choice.get("finish_reason") == "length":
            return Answer(text, "cut by max_tokens")
        filled = [name for name in ("reasoning_content", "reasoning", "tool_calls") if message.get(name) and not text]
        return Answer(text, f"only {filled[0]}" if filled else "")

    def _failure(self, error: APIError, model: str) -> Answer:
        """Return the answer for an error that concerns one question; raise for a server that refuses all."""
        if not isinstance(error, APIStatusError):
            reason = "garbage" if isinstance(error.__cause__, httpx.DecodingError) else "connection"
            message = self._redacted(str(error.__cause__ or error))
            return Answer(message, "timeout" if isinstance(error, APITimeoutError) else reason, True)
        status, code, body, headers = error.status_code, str(error.code), error.body, error.response.headers
        if isinstance(body, dict):
            body = body.get("message") or body.get("detail") or json.dumps(body)
        message = self._redacted(str(body or error.response.reason_phrase))
        if "location" in headers:
            message = self._redacted(f"it is redirected to {headers['location']}")
        if "retry-after" in headers:  # openai obeys it up to a minute
            message += f" (retry after {headers['retry-after']} s)"
        if code not in _OUT_OF_CREDIT | {_UNREACHED}:
            if status == 413 or code in _QUESTION_ERRORS:
                return Answer(f"{status} {message}", "refused")
            if status in (408, 409, 425, 429) or status >= 500:
                return Answer(f"{status} {message}", "rate_limit" if status == 429 else "server", True)
        if self._is_refused:  # one question says so, and the others that are under way don't repeat it
            return Answer(message, "refused")
        self._is_refused = True
        if code == _UNREACHED:
            raise JudgeError(f"judge {model} at {self._url} can't be reached: {message}")
        raise JudgeError(f"judge {model} at {self._url}: refused with {status}: {message}")

    def _redacted(self, message: str) -> str:
        """Return the beginning of a message, on one line, without the key, which some servers repeat."""
        return " ".join(without_secrets(message, [self._key]).split())[:300]


class _LimitedClient(httpx.AsyncClient):
    """Reads answers completely, within limits; ``stats`` counts the requests as ``tries``."""

    def __init__(self, url: str, stats: Counter[str], timeout: float) -> None:
        super().__init__(
            verify=url.startswith("https"),  # loading certificates is slow, and http needs none
            trust_env=httpx.URL(url).host not in _LOOPBACK,  # a proxy can't reach this machine
            limits=httpx.Limits(),  # no limit here: the judge limits the requests in flight
        )
        self._stats, self._deadline = stats, timeout
        self._is_reached, self._start = stats["answered"] > 0, time.monotonic()

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send one request and return its response.

        Raises:
            httpx.ReadTimeout: The answer was not complete in time.
            httpx.DecodingError: The answer is too long, or not that of a chat model.
        """
        self._stats["tries"] += 1
        request.headers["Accept-Encoding"] = "identity"
        if not self._is_reached:
            request.extensions["timeout"]["connect"] = min(self._deadline, _CONNECT_SECONDS)
        try:
            response, content = await asyncio.wait_for(self._exchange(request), self._deadline)
        except (httpx.ConnectError, httpx.ConnectTimeout) as lost:
            if self._is_reached or time.monotonic() - self._start < 1:
                raise  # openai tries again
            unreached = {"code": _UNREACHED, "message": str(lost) or f"no connection within {_CONNECT_SECONDS} s"}
            headers = {"Content-Type": "application/json", "x-should-retry": "false"}
            return httpx.Response(503, headers=headers, json={"error": unreached}, request=request)
        # Before Python 3.11 this is not the builtin TimeoutError. httpx may time out first, without a message.
        except (asyncio.TimeoutError, httpx.TimeoutException):
            raise httpx.ReadTimeout(f"no answer within {self._deadline:g} s") from None
        self._is_reached = True
        copied = ("retry-after", "retry-after-ms", "location")
        headers = {name: response.headers[name] for name in copied if name in response.headers}
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
        """Return the response and its content, read completely."""
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
