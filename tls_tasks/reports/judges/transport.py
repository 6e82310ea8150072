"""The HTTP transport below the ``openai`` client: a deadline for each try as a whole, and a limit on its size.

The client's own timeout starts anew with every byte that arrives, and the client unpacks whatever it is sent. This
transport asks for uncompressed answers and accepts no others, and reads each completely before the client sees it.
Anything that isn't the answer of a chat model becomes an error after which the client tries again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing

import httpx

LIMIT = 16_000_000
"""The most bytes an answer may have. A verdict takes a few hundred."""

OUT_OF_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Error codes that waiting doesn't cure, though they come with status 429."""

_KEPT_HEADERS = ("retry-after", "retry-after-ms", "location")


class LimitedTransport(httpx.AsyncBaseTransport):
    """Sends requests through HTTP clients and reads the answers completely, within limits.

    Args:
        clients: One for each request in flight: a connection pool costs more than the requests when many share it.
        timeout: Seconds until a try is given up.
        has_key: Whether to send the ``Authorization`` header, which the ``openai`` client always sets.

    Attributes:
        n_sent: How many requests have been sent.
    """

    def __init__(self, clients: Sequence[httpx.AsyncClient], timeout: float, has_key: bool) -> None:
        self._idle, self._timeout, self._has_key = list(clients), timeout, has_key
        self.n_sent = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request.

        Raises:
            httpx.ReadTimeout: The answer was not complete in time.
            httpx.DecodingError: The answer is too long, or not that of a chat model.
        """
        self.n_sent += 1
        request.headers["Accept-Encoding"] = "identity"
        if not self._has_key:
            request.headers.pop("Authorization", None)
        try:
            status, headers, content = await asyncio.wait_for(self._exchange(request), self._timeout)
        except asyncio.TimeoutError:  # not the builtin TimeoutError before Python 3.11
            raise httpx.ReadTimeout(f"no answer within {self._timeout:g} s") from None
        kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
        status, code = _status_and_code(status, content)
        if str(code) in OUT_OF_CREDIT:
            kept["x-should-retry"] = "false"
        return httpx.Response(status, headers={**kept, "Content-Type": "application/json"}, content=content)

    async def aclose(self) -> None:
        """Close all connections."""
        for client in self._idle:
            await client.aclose()

    async def _exchange(self, request: httpx.Request) -> tuple[int, httpx.Headers, bytes]:
        client = self._idle.pop()
        try:
            response = await client.send(request, stream=True)
            async with aclosing(response):
                content = bytearray()
                async for chunk in response.aiter_raw():
                    content += chunk
                    if len(content) > LIMIT:
                        raise httpx.DecodingError(f"the answer has more than {LIMIT:,} bytes")
        finally:
            self._idle.append(client)
        encoding = response.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise httpx.DecodingError(f"the answer is encoded as {encoding!r:.40}, which was not asked for")
        return response.status_code, response.headers, bytes(content)


def _status_and_code(status: int, content: bytes) -> tuple[int, object]:
    """The status of an answer, and the code of the error in it."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    if status == 200 and error:  # a gateway that has begun to answer can't change the status any more
        return (code if isinstance(code, int) and 400 <= code < 600 else 502), code
    if status == 200:
        try:
            body["choices"][0]["message"].get("content")
        except (TypeError, KeyError, IndexError, AttributeError):
            raise httpx.DecodingError(content[:1000].decode("utf-8", "replace") or "an empty answer") from None
    return status, code
