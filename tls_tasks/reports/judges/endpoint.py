"""Any OpenAI-compatible chat endpoint, over httpx."""

from __future__ import annotations

import json
import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from tls_tasks.core.errors import InputError, JudgeError
from tls_tasks.reports.judges.environment import hide
from tls_tasks.reports.judges.prompts import Message
from tls_tasks.reports.judges.sending import Reply, Send, Trouble

if TYPE_CHECKING:
    import httpx

PATH = "/chat/completions"
AGAIN = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same request may succeed."""

OF_ONE_QUESTION = frozenset({"content_filter", "context_length_exceeded", "string_above_max_length"})
"""Codes of errors that speak of one question; any other 4xx would come for every question."""

OF_ALL_QUESTIONS = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of errors that no waiting mends, whatever their status."""

_ADDRESS = "an address such as http://localhost:8000/v1"
_AT_HOME = frozenset({"localhost", "127.0.0.1", "::1"})
WORDS = 300
"""Characters of a server's message that are shown."""


class Endpoint:
    """A server that answers chat requests.

    Args:
        url: Its base, such as ``http://localhost:8000/v1``, or the whole address, which ends in ``/chat/completions``.
        model: The model, as the server calls it.
        parameters: What is sent besides model and messages.
        api_key: Sent as a bearer token, if given.
        headers: Further headers.

    Raises:
        InputError: An address that is none, or parameters that are no JSON.
    """

    def __init__(
        self,
        url: str,
        model: str,
        parameters: Mapping[str, Any],
        *,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.host, self._secure = _parts(url)
        if api_key is not None and not (
            api_key.isascii() and api_key.isprintable() and api_key.strip() == api_key != ""
        ):
            raise InputError("api_key", None, "something that is no key (not shown)", "printable characters, no blanks")
        self._base = url.rstrip("/").removesuffix(PATH)
        self._model, self._parameters, self._key = model, dict(parameters), api_key
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._body([])

    @asynccontextmanager
    async def connect(self, max_in_flight: int) -> AsyncIterator[Send]:
        """Open connections for so many requests at a time."""
        import httpx

        # Reading the certificates takes longer than a question to a server at home; once is enough, if ever.
        verify: Any = httpx.create_ssl_context() if self._secure else False
        async with AsyncExitStack() as stack:
            # A client for each request in flight: one client's pool costs more than the requests when many share it.
            free = [
                await stack.enter_async_context(
                    httpx.AsyncClient(
                        headers=self._headers,
                        timeout=None,  # noqa: S113 - the caller limits each try as a whole
                        verify=verify,
                        trust_env=self.host not in _AT_HOME,  # no proxy leads to this machine
                    )
                )
                for _ in range(max_in_flight)
            ]

            async def send(messages: Sequence[Message]) -> Reply:
                client = free.pop()
                try:
                    return self._reply(await self._post(client, messages))
                finally:
                    free.append(client)

            yield send

    def __repr__(self) -> str:
        """Without the key."""
        return f"Endpoint({self._base!r}, {self._model!r})"

    def _body(self, messages: Sequence[Message]) -> bytes:
        try:
            body = {"model": self._model, "messages": list(messages), **self._parameters}
            return json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InputError("parameters", None, repr(self._parameters), f"JSON values ({error})") from error

    async def _post(self, client: httpx.AsyncClient, messages: Sequence[Message]) -> httpx.Response:
        import httpx

        try:
            return await client.post(self._base + PATH, content=self._body(messages))
        except httpx.DecodingError as error:
            raise Trouble("garbage", _named(error)) from error
        except (httpx.HTTPError, OSError) as error:
            raise Trouble("connection", hide(_named(error), self._key)) from error

    def _reply(self, response: httpx.Response) -> Reply:
        body = _json(response.content)
        if response.status_code != 200 or (isinstance(body, dict) and body.get("error")):
            raise self._trouble(response, body)
        reply = read_reply(body)
        if reply is None:
            raise Trouble("garbage", self._words(response, body))
        return reply

    def _trouble(self, response: httpx.Response, body: Any) -> Trouble | JudgeError:
        """What an answer that is none means."""
        error = body.get("error") if isinstance(body, dict) else None
        code = error.get("code") if isinstance(error, dict) else None
        status = response.status_code
        if status == 200 and isinstance(code, int):
            status = code  # gateways that have begun to answer can't change the status any more
        wait = retry_after(response.headers)
        return trouble_of(status, code, self._words(response, body), f"{self._model} at {self._base}", wait)

    def _words(self, response: httpx.Response, body: Any) -> str:
        text = _message(body) or response.content[: 4 * WORDS].decode("utf-8", "replace")
        text = " ".join(text.split()) or response.headers.get("location", "") or response.reason_phrase
        return hide(text, self._key)[:WORDS]


def trouble_of(status: int, code: Any, words: str, where: str, wait: float | None) -> Trouble | JudgeError:
    """What an answer that is none means: another try, an unscored verdict, or that no question can be answered.

    Args:
        status: The HTTP status.
        code: The error's code, if it has one.
        words: What the server says.
        where: Model and server, for the error.
        wait: The seconds that the server asks us to wait.

    Example:
        >>> trouble_of(429, None, "slow down", "gpt-x at host", 2.0)
        Trouble('rate_limit: 429 slow down')
        >>> trouble_of(401, None, "wrong key", "gpt-x at host", None)
        JudgeError('judge gpt-x at host: refused with 401: wrong key')
    """
    known = code if isinstance(code, str) else ""
    if known in OF_ALL_QUESTIONS:
        return JudgeError.refused(where, status, words)
    if status == 413 or known in OF_ONE_QUESTION:
        return Trouble("refused", f"{status} {words}", again=False)
    if status in AGAIN or status >= 500 or status < 300:
        reason = "rate_limit" if status == 429 else "server" if status >= 300 else "garbage"
        return Trouble(reason, f"{status} {words}", wait=wait)
    return JudgeError.refused(where, status, words)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The seconds that a server asks us to wait: ``retry-after-ms``, or ``retry-after`` as a number or a date.

    Example:
        >>> [retry_after(one) for one in ({"retry-after": "2.5"}, {"retry-after-ms": "40"}, {"retry-after": "?"}, {})]
        [2.5, 0.04, None, None]
        >>> retry_after({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=30.0)
        30.0
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        then = parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(then - (time.time() if now is None else now), 0.0)


def _parts(url: Any) -> tuple[str, bool]:
    """Host, and whether the connection is encrypted."""
    import httpx

    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, TypeError) as error:
        raise InputError("url", None, f"{url!r} ({error})", _ADDRESS) from error
    if parts.scheme not in {"http", "https"} or not parts.host:
        raise InputError("url", None, repr(url), _ADDRESS)
    return parts.host, parts.scheme == "https"


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def read_reply(body: Any) -> Reply | None:
    """The first choice's text: a string, or a list of parts of which some have text; empty where there is none."""
    try:
        message = body["choices"][0]["message"]
        content = message.get("content")
    except (TypeError, KeyError, IndexError, AttributeError):
        return None
    if isinstance(content, list):
        content = "".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    if content is not None and not isinstance(content, str):
        return None
    usage = body.get("usage")
    return Reply(content or "", *(_count(usage, name) for name in ("prompt_tokens", "completion_tokens")))


def _message(body: Any) -> str:
    """The sentence in an error's body: ``error.message``, ``error``, ``message`` or ``detail``."""
    for error in (body.get("error"), body) if isinstance(body, dict) else ():
        if isinstance(error, str):
            return error
        found = [error.get(name) for name in ("message", "detail")] if isinstance(error, dict) else []
        for text in found:
            if isinstance(text, str) and text:
                return text
    return ""


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip().removesuffix(":")
