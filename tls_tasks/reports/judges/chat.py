"""The judge that asks a chat model: prompts, cache, many questions at a time, one re-ask."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.json_text import strip_thinking
from tls_tasks.core.text_rows import describe
from tls_tasks.reports.judges.cache import VerdictCache
from tls_tasks.reports.judges.keys import distinct, request_key
from tls_tasks.reports.judges.long_documents import WINDOW, ask_in_windows, check_window
from tls_tasks.reports.judges.prompts import SECOND_TRY, Message, neutral, prompts_hash, render
from tls_tasks.reports.judges.sending import Line, Patience, Send, Server, Trouble
from tls_tasks.reports.judges.stats import JudgeStats
from tls_tasks.reports.judges.threads import run_in_thread
from tls_tasks.reports.judges.verdicts import read_verdict, shorten
from tls_tasks.reports.types import Query, Verdict

_log = logging.getLogger(__name__)

_ANSWER_LENGTH = 2000  # characters of an answer that are shown again to the model that wrote it


DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 512}
"""Parameters of a request. 512 tokens are more than a word needs, and let a model think before it."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a chat model is asked.

    Attributes:
        parameters: What a request has besides model and messages; over :data:`DEFAULTS`, of which None takes one away,
            e.g. ``{"max_tokens": None, "max_completion_tokens": 2000}``. Part of the cache's key, and of the name.
        cache: Where verdicts are kept, a file or a cache; None keeps them in memory for as long as the judge lives.
        max_in_flight: How many requests are under way at a time.
        prices: Model -> what a million tokens read and a million written cost.
        progress: Whether to show a bar on standard error; None: if that is a terminal.
        window: How many characters of a document are shown at a time; longer ones are judged window by window, see
            :func:`~tls_tasks.reports.judges.long_documents.ask_in_windows`.
        patience: How long to try.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    cache: VerdictCache | str | Path | None = None
    max_in_flight: int = 16
    prices: Mapping[str, tuple[float, float]] | None = None
    progress: bool | None = None
    window: int = WINDOW
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        """Check what would fail late."""
        if not isinstance(self.max_in_flight, int) or isinstance(self.max_in_flight, bool) or self.max_in_flight < 1:
            raise InputError("max_in_flight", None, repr(self.max_in_flight), "a whole number above 0")
        if not isinstance(self.parameters, Mapping):
            raise InputError("parameters", None, describe(self.parameters), "a mapping of names to JSON values")
        check_window(self.window)
        for model, price in (self.prices or {}).items():
            if (
                not isinstance(price, tuple | list)
                or len(price) != 2
                or not all(isinstance(one, int | float) for one in price)
            ):
                raise InputError(
                    f"prices[{model!r}]", None, describe(price), "what a million tokens read and written cost"
                )

    @classmethod
    def of(cls, **options: Any) -> ChatOptions:
        """Options by name, those of :class:`~tls_tasks.reports.judges.sending.Patience` among them.

        Raises:
            OptionError: An option that doesn't exist.
            InputError: A value that can't be used.

        Example:
            >>> ChatOptions.of(max_in_flight=4, timeout=10).patience.timeout
            10
        """
        of_patience = {option.name for option in fields(Patience)}
        known = {option.name for option in fields(cls)} - {"patience"} | of_patience
        for name in options:
            if name not in known:
                raise OptionError.unknown("option", name, sorted(known))
        patience = Patience(**{name: options.pop(name) for name in sorted(of_patience & options.keys())})
        return cls(**options, patience=patience)

    @property
    def sent(self) -> dict[str, Any]:
        """The parameters of a request."""
        return {name: value for name, value in {**DEFAULTS, **self.parameters}.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Question:
    query: Query
    messages: list[Message]
    request: str


class ChatJudge:
    """A chat model as a judge. :func:`~tls_tasks.reports.judges.from_endpoint` and ``from_provider`` make one.

    Args:
        server: Where requests go.
        model: The model, as the server calls it; part of the cache's key.
        label: Stands in the signature, with the parameters given and the hash of the prompts.
        options: How it is asked.

    Attributes:
        cache: Where verdicts are kept.
        stats: What was asked and what it cost.
    """

    def __init__(self, server: Server, model: str, label: str, options: ChatOptions) -> None:
        self._server, self._model, self._options = server, model, options
        given = [f"{name}:{value}" for name, value in sorted(options.parameters.items())]
        if options.window != WINDOW:
            given.append(f"window:{options.window}")
        self._name = ",".join([label, *given, f"prompts:{prompts_hash()}"])
        self._line = Line(options.patience)
        self._turn = threading.Lock()
        self.cache = options.cache if isinstance(options.cache, VerdictCache) else VerdictCache(options.cache)
        prices = (options.prices or {}).get(model)
        self.stats = JudgeStats(prices=None if prices is None else (prices[0], prices[1]))

    @property
    def name(self) -> str:
        """Stands in the signature: the model and the hash of the prompts."""
        return self._name

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict a query, in order; what the cache knows and what is asked twice is not sent.

        Threads may share a judge: their calls take turns, so that the limit on requests in flight holds for all.

        Raises:
            JudgeError: The server refuses whatever it is asked; what it answered before is in the cache.
            InputError: A query that no prompt fits.
            DataError: The cache can't be written.
        """
        with self._turn:
            self.stats.asked += len(queries)
            return ask_in_windows(queries, self._options.window, self._ask_in_turn)

    def _ask_in_turn(self, queries: Sequence[Query]) -> list[Verdict]:
        start = time.perf_counter()
        kept, positions = distinct(queries)
        questions = []
        for query in kept:
            messages = render(query)
            questions.append(_Question(query, messages, request_key(self._model, messages, self._options.sent)))
        verdicts = self.cache.get([question.request for question in questions])
        missing = [question for question in questions if question.request not in verdicts]
        self.stats.distinct += len(questions)
        self.stats.cached += len(verdicts)
        try:
            if missing:
                run_in_thread(self._ask_all(missing, verdicts))
        finally:
            self.stats.seconds += time.perf_counter() - start
            self.stats.tries = self._line.n_tries
        return [verdicts[questions[position].request] for position in positions]

    async def _ask_all(self, missing: Sequence[_Question], verdicts: dict[str, Verdict]) -> None:
        """Put the verdicts on all missing questions into ``verdicts``."""
        waiting = deque(missing)
        with _bar(len(missing), self._options.progress) as advance:
            async with self._server.connect(self._options.max_in_flight) as send:

                async def next_one() -> None:
                    question = waiting.popleft()
                    verdicts[question.request] = await self._ask(send, question)
                    advance()

                async def work() -> None:
                    while waiting:
                        await next_one()

                if self._line.down:
                    self._line.probe()
                    await next_one()
                await _together([work() for _ in range(min(self._options.max_in_flight, len(waiting)))])
        failed = Counter(
            verdict.reason for question in missing if (verdict := verdicts[question.request]).value is None
        )
        if failed:
            reasons = ", ".join(f"{reason} {n}" for reason, n in failed.most_common())
            _log.warning(
                "judge %s: %d of %d questions without a verdict: %s", self._name, failed.total(), len(missing), reasons
            )

    async def _ask(self, send: Send, question: _Question) -> Verdict:
        if self._line.down:
            verdict = Verdict(None, "down")
        else:
            verdict = await self._verdict(send, question.messages)
        if verdict.value is None:
            self.stats.failed += 1
        else:
            self.stats.answered += 1
            self.cache.store(question.request, question.query, verdict, self._name)
        return verdict

    async def _verdict(self, send: Send, messages: list[Message]) -> Verdict:
        """Ask, and once more where no verdict can be read."""
        try:
            text = await self._text(send, messages)
            value = read_verdict(text)
            if value is None:
                text = await self._text(send, _second_try(messages, text))
                value = read_verdict(text)
        except Trouble as trouble:
            return Verdict(None, trouble.reason, shorten(trouble.words))
        return Verdict(value, "unreadable" if value is None else "", shorten(text))

    async def _text(self, send: Send, messages: Sequence[Message]) -> str:
        reply = await self._line.send(send, messages)
        self.stats.prompt_tokens += reply.prompt_tokens
        self.stats.completion_tokens += reply.completion_tokens
        return reply.text


def _second_try(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages with the answer that could not be read, and the request for one that can.

    Roles alternate, and no message is empty: there are servers that insist on either.
    """
    answer = neutral(strip_thinking(text).text.strip()[-_ANSWER_LENGTH:])
    if answer:
        return [*messages, {"role": "assistant", "content": answer}, {"role": "user", "content": SECOND_TRY}]
    last = messages[-1]
    return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{SECOND_TRY}"}]


async def _together(works: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run all; the first exception stops them all and is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[], Any]]:
    """A bar on standard error, unless it is unwanted; gives the function that moves it on."""
    from tqdm import tqdm

    with tqdm(total=total, desc="judge", disable=None if progress is None else not progress) as bar:
        yield bar.update
