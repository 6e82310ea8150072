"""Sending a request as often as it takes: what a reply is, what trouble is, when to wait, when to give up."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tls_tasks.core.errors import InputError, TlsTasksError
from tls_tasks.reports.judges.prompts import Message


class Reply(NamedTuple):
    """What a model wrote, and how many tokens it read and wrote."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


Send = Callable[[Sequence[Message]], Awaitable[Reply]]
"""Sends messages to a model once; raises :class:`Trouble`, or JudgeError where no question can be answered."""


class Server(Protocol):
    """Where requests go."""

    def connect(self, max_in_flight: int) -> AbstractAsyncContextManager[Send]:
        """Open connections for so many requests at a time."""


class Trouble(TlsTasksError):
    """One request got no answer. Never leaves this package: it becomes an unscored verdict.

    Attributes:
        reason: The verdict's reason: ``timeout``, ``connection``, ``server``, ``rate_limit``, ``garbage``, ``refused``.
        words: What the server or the network said.
        again: Whether another try may help.
        wait: The seconds after which the server wants the next try, if it says so.
    """

    def __init__(self, reason: str, words: str, *, again: bool = True, wait: float | None = None) -> None:
        super().__init__(f"{reason}: {words}")
        self.reason, self.words, self.again, self.wait = reason, words, again, wait


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try.

    Attributes:
        timeout: Seconds until a try is given up.
        max_tries: How often one request is sent before its question is given up.
        first_wait: Seconds before the second try; doubled with each further one, shortened by up to a half at random.
        max_wait: The longest wait in seconds, also where the server asks for more.
        give_up_after: After so many questions given up in a row the judge counts as down: the others of the call are
            not sent, and the next call begins with one question alone.
    """

    timeout: float = 60.0
    max_tries: int = 7
    first_wait: float = 1.0
    max_wait: float = 60.0
    give_up_after: int = 8

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, least in (("timeout", 0.001), ("max_tries", 1), ("first_wait", 0), ("max_wait", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value < math.inf:
                raise InputError(name, None, repr(value), f"a number of at least {least}")
        for name in ("max_tries", "give_up_after"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(name, None, repr(value), "a whole number above 0")

    def wait(self, n_tries: int, asked_for: float | None) -> float:
        """Seconds before the next try: what the server asks for, or the back-off, whichever is longer.

        Example:
            >>> Patience(max_wait=20).wait(1, asked_for=30.0)
            20.0
        """
        back_off = self.first_wait * 2.0 ** min(n_tries - 1, 30) * random.uniform(0.5, 1.0)
        return float(min(self.max_wait, max(back_off, asked_for or 0.0)))


@dataclass(slots=True)
class Line:
    """The line to a server, shared by all requests in flight: when it may be used again, and whether it is down."""

    patience: Patience
    n_tries: int = 0
    _given_up: int = 0
    _free_at: float = field(default=0.0)

    @property
    def down(self) -> bool:
        """Whether too many questions in a row have been given up."""
        return self._given_up >= self.patience.give_up_after

    async def send(self, send: Send, messages: Sequence[Message]) -> Reply:
        """Send until there is a reply.

        Raises:
            Trouble: All tries failed, or another try can't help.
            JudgeError: The server refuses whatever it is asked.
        """
        n_tries = 0
        while True:
            n_tries += 1
            try:
                reply = await self._try(send, messages)
            except Trouble as trouble:
                if not trouble.again:
                    raise
                if n_tries >= self.patience.max_tries or self.down:
                    self._given_up += 1
                    raise
                await self._pause(n_tries, trouble)
                if self.down:
                    raise
            else:
                self._given_up = 0
                return reply

    def probe(self) -> None:
        """Let one question through after the server was down: if that fails too, it is down still."""
        self._free_at = 0.0
        self._given_up = min(self._given_up, self.patience.give_up_after - 1)

    async def _try(self, send: Send, messages: Sequence[Message]) -> Reply:
        clock = asyncio.get_running_loop().time
        while (left := self._free_at - clock()) > 0:
            await asyncio.sleep(left)
        self.n_tries += 1
        try:
            return await asyncio.wait_for(send(messages), self.patience.timeout)
        except asyncio.TimeoutError:  # the builtin TimeoutError from 3.11 on
            raise Trouble("timeout", f"no answer within {self.patience.timeout:g} s") from None

    async def _pause(self, n_tries: int, trouble: Trouble) -> None:
        wait = self.patience.wait(n_tries, trouble.wait)
        if trouble.wait is not None:  # the server speaks of all requests, not of this one
            self._free_at = max(self._free_at, asyncio.get_running_loop().time() + min(trouble.wait, wait))
        await asyncio.sleep(wait)
