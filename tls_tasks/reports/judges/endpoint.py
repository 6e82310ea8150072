"""The judge behind an OpenAI-compatible chat endpoint: prompts, a cache, many questions at a time."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tls_tasks.core.coroutines import run_to_end
from tls_tasks.reports.judges.model import Endpoint, JudgeStats
from tls_tasks.reports.judges.price import Call
from tls_tasks.reports.judges.prompts import (
    Message,
    PromptFolder,
    prompts_hash,
    render,
    render_together,
    second_try,
    together_hash,
)
from tls_tasks.reports.judges.questions import WINDOW, ask_in_windows, read_numbered, shorten, verdict_in, window_name
from tls_tasks.reports.judges.store import VerdictCache
from tls_tasks.reports.types import Query, Verdict

if TYPE_CHECKING:
    from tls_tasks.reports.judges.client import ChatClient

_log = logging.getLogger(__name__)

_Question = tuple[str, Query]
"""What is asked, after its key in the cache."""


class ChatJudge:
    """A chat model that answers questions; :func:`from_endpoint` and ``from_provider`` make one.

    Attributes:
        endpoint: The model.
        cache: Where verdicts are kept.
        stats: What was asked, and how many tokens it took.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        given = [f"{name}:{value}" for name, value in sorted((endpoint.parameters or {}).items())]
        given += ["examples:2"] if endpoint.examples else []
        if endpoint.nuggets_per_call > 1:
            given += [f"nuggets_per_call:{endpoint.nuggets_per_call}#{together_hash()}"]
        given += ["verdict:json"] if endpoint.json_verdicts else []
        given += window_name(None if endpoint.window == WINDOW else endpoint.window)
        label = endpoint.name or f"{endpoint.model}@{endpoint.host}"
        given += [] if endpoint.model in label else [f"model:{endpoint.model}"]
        folder = None if endpoint.prompts is None else PromptFolder(endpoint.prompts)
        self._render = folder.render if folder else partial(render, examples=endpoint.examples)
        sign = folder.hash if folder else prompts_hash(examples=endpoint.examples)
        self.name = ",".join([label, *given, f"prompts:{sign}"])
        self.cache = endpoint.cache if isinstance(endpoint.cache, VerdictCache) else VerdictCache(endpoint.cache)
        self.stats = JudgeStats()
        self._turn = threading.Lock()
        self._n_failures = 0  # in a row

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order. Nothing is sent that the cache knows, and nothing is sent twice.

        Threads may share a judge: their calls take turns, so that the limit on requests in flight holds for all.

        Raises:
            JudgeError: The server refuses whatever it is asked. What it answered before that is in the cache.
            InputError: A query that no prompt fits.
            DataError: The cache can't be written.
        """
        with self._turn:
            self.stats.asked += len(queries)
            return ask_in_windows(queries, self.endpoint.window, self._ask)

    def calls(self, queries: Sequence[Query]) -> list[Call]:
        """The requests that these questions take, without those that the cache answers; nothing is sent."""
        calls: list[Call] = []

        def note(asked: Sequence[Query]) -> list[Verdict]:
            for batch in self._batches(self._look_up(asked)[2]):
                sent = "".join(message["content"] for message in self._messages(batch))
                calls.append(Call(batch[0][1].kind, len(batch), len(sent.encode("utf-8", "replace"))))
            return [Verdict(None)] * len(asked)

        ask_in_windows(queries, self.endpoint.window, note)
        return calls

    def _look_up(self, queries: Sequence[Query]) -> tuple[list[_Question], dict[str, Verdict], list[_Question]]:
        """All questions with their keys, the verdicts that the cache has, and the different questions that it lacks."""
        asked = [(self._key(query), query) for query in queries]
        questions = dict(asked)
        verdicts = self.cache.get(list(questions))
        return asked, verdicts, [question for question in questions.items() if question[0] not in verdicts]

    def _batches(self, missing: Sequence[_Question]) -> list[list[_Question]]:
        """What is asked in one request: a question, or several answers of nuggets of one sentence."""
        batches: list[list[_Question]] = []
        of_sentence: dict[object, list[_Question]] = {}
        for question in missing:
            query = question[1]
            about = (query.kind, query.fields.get("sentence"), query.about.get("passage"))
            open_batch = of_sentence.get(about, [])
            if query.kind == "nugget_agreement" and 0 < len(open_batch) < self.endpoint.nuggets_per_call:
                open_batch.append(question)
            else:
                batches.append([question])
                of_sentence[about] = batches[-1]
        return batches

    def _messages(self, batch: Sequence[_Question]) -> list[Message]:
        if len(batch) > 1:
            return render_together([query for _, query in batch])
        return self._render(batch[0][1])

    def _ask(self, queries: Sequence[Query]) -> list[Verdict]:
        start = time.perf_counter()
        asked, verdicts, missing = self._look_up(queries)
        self.stats.distinct += len(verdicts) + len(missing)
        self.stats.cached += len(verdicts)
        if missing:
            waiting = deque(self._batches(missing))
            try:
                run_to_end(self._ask_all(waiting, verdicts))
            finally:
                waiting.clear()  # after an interrupt, which a thread doesn't notice, nothing more is sent
                self.stats.seconds += time.perf_counter() - start
            self._warn([verdicts[key] for key, _ in missing])
        return [verdicts[key] for key, _ in asked]

    def _key(self, query: Query) -> str:
        """Where the cache has a question; one that is asked with others has a place of its own."""
        parts = [self.endpoint.model, self._render(query), self.endpoint.sent]
        if query.kind == "nugget_agreement" and self.endpoint.nuggets_per_call > 1:
            parts.append(f"{self.endpoint.nuggets_per_call}#{together_hash()}")
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    async def _ask_all(self, waiting: deque[list[_Question]], verdicts: dict[str, Verdict]) -> None:
        """Put the verdicts on all waiting questions into ``verdicts``."""
        import asyncio

        from tqdm import tqdm

        from tls_tasks.reports.judges.client import ChatClient

        # A server that was down has one failure left before it counts as down again.
        self._n_failures = min(self._n_failures, self.endpoint.give_up_after - 1)
        client = ChatClient(self.endpoint, self.stats)
        async with client.openai:
            with tqdm(total=sum(map(len, waiting)), desc="judge", disable=None) as bar:

                async def work() -> None:
                    while waiting:
                        batch = waiting.popleft()
                        for question, verdict in zip(batch, await self._answer(client, batch), strict=True):
                            if verdict.reason == "unreadable" and len(batch) > 1:
                                (verdict,) = await self._answer(client, [question])
                            verdicts[question[0]] = verdict
                            self._keep(question[0], verdict)
                            bar.update()

                try:
                    await asyncio.gather(*(work() for _ in range(min(self.endpoint.max_in_flight, len(waiting)))))
                finally:
                    waiting.clear()  # nor after a refusal

    async def _answer(self, client: ChatClient, batch: Sequence[_Question]) -> list[Verdict]:
        """The verdicts on the questions of one request; what can't be read of a question alone is asked once more."""
        from tls_tasks.reports.judges.client import Unanswered

        if self._n_failures >= self.endpoint.give_up_after:
            return [Verdict(None, "down")] * len(batch)
        messages = self._messages(batch)
        prompts = [message["content"] for message in messages]
        try:
            text = await client.ask(messages, is_plain=len(batch) > 1)
            if len(batch) > 1:
                values = read_numbered(text, len(batch), prompts)
                verdicts = [Verdict(value, "unreadable" if value is None else "", shorten(text)) for value in values]
            else:
                verdicts = [verdict_in(text, prompts)]
                if verdicts[0].value is None:
                    verdicts = [verdict_in(await client.ask(second_try(messages, text)), prompts)]
        except Unanswered as error:
            self._n_failures += error.reason != "refused"
            return [Verdict(None, error.reason, shorten(str(error)))] * len(batch)
        self._n_failures = 0
        return verdicts

    def _keep(self, key: str, verdict: Verdict) -> None:
        if verdict.value is None:
            self.stats.failed += 1
        else:
            self.stats.answered += 1
            self.cache.store(key, verdict)

    def _warn(self, verdicts: Sequence[Verdict]) -> None:
        reasons = Counter(verdict.reason for verdict in verdicts if verdict.value is None)
        if reasons:
            said = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
            _log.warning(
                "judge %s: %d of %d questions without a verdict: %s", self.name, reasons.total(), len(verdicts), said
            )


def from_endpoint(url: str, model: str, **options: Any) -> ChatJudge:
    """A judge behind any OpenAI-compatible chat endpoint: vLLM, llama.cpp, Ollama, a gateway, a provider.

    Args:
        url: The base URL.
        model: The model, as the server calls it.
        **options: See :class:`Endpoint`.

    Raises:
        InputError: An argument that can't be used.
        DataError: A cache that can't be opened.

    Example:
        >>> judge = from_endpoint("http://localhost:8000/v1", "my-model", parameters={"temperature": 1})
        >>> judge.name.rpartition(",")[0]
        'my-model@localhost,temperature:1'
    """
    return ChatJudge(Endpoint(url, model, **options))
