"""The judge behind an OpenAI-compatible chat endpoint: prompts, a cache, many questions at a time."""

import hashlib
import json
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from tls_tasks.core.errors import check_options
from tls_tasks.reports.judges import prompts, questions
from tls_tasks.reports.judges.model import Endpoint, JudgeStats, Unanswered
from tls_tasks.reports.judges.questions import run_to_end
from tls_tasks.reports.store import VerdictCache
from tls_tasks.reports.types import Query, Verdict

_log = logging.getLogger(__name__)

_Batch = dict[str, Query]
"""Questions of one request by their keys in the cache."""


class ChatJudge:
    """A chat model that answers questions; :func:`from_endpoint` and ``from_provider`` make one.

    Attributes:
        endpoint: The model.
        cache: Where verdicts are kept.
        stats: What was asked, and how many tokens it took.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        folder = None if endpoint.prompts is None else prompts.PromptFolder(endpoint.prompts)
        self._render = folder.render if folder else partial(prompts.render, examples=endpoint.examples)
        label = endpoint.name or f"{endpoint.model}@{endpoint.host}"
        parts = [label, *(f"{name}:{value}" for name, value in sorted((endpoint.parameters or {}).items()))]
        parts += ["examples:2"] * endpoint.examples
        # Names the way in which several answers of nuggets are asked about, if they are.
        self._together = f"{endpoint.nuggets_per_call}#{prompts.together_hash()}" * (endpoint.nuggets_per_call > 1)
        parts += [f"nuggets_per_call:{self._together}"] * bool(self._together)
        parts += ["verdict:json"] * endpoint.json_verdicts
        parts += questions.window_name(None if endpoint.window == questions.WINDOW else endpoint.window)
        parts += [] if endpoint.model in label else [f"model:{endpoint.model}"]
        prompts_hash = folder.hash if folder else prompts.prompts_hash(examples=endpoint.examples)
        self.name = ",".join([*parts, f"prompts:{prompts_hash}"])
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
            return questions.ask_once(queries, self._ask, self.endpoint.window, self._key)

    def calls(self, queries: Sequence[Query]) -> list[tuple[int, int]]:
        """How many questions and bytes each request has that these questions take; nothing is sent.

        What the cache answers takes none.
        """
        asked = {self._key(part): part for query in queries for part in questions.windows(query, self.endpoint.window)}
        known = self.cache.get(list(asked))
        batches = self._batches({key: query for key, query in asked.items() if key not in known})
        sent = ["".join(message["content"] for message in self._messages(batch)) for batch in batches]
        return [(len(batch), len(text.encode("utf-8", "replace"))) for batch, text in zip(batches, sent, strict=True)]

    def known(self, queries: Sequence[Query]) -> list[Verdict]:
        """The verdicts that the cache has; one without a value for every other question. Nothing is sent."""

        def of_cache(asked: Mapping[str, Query]) -> list[Verdict]:
            verdicts = self.cache.get(list(asked))
            return [verdicts.get(key, Verdict(None)) for key in asked]

        return questions.ask_once(queries, of_cache, self.endpoint.window, self._key)

    def _key(self, query: Query) -> str:
        """The key of a question in the cache; one that is asked with others has another one."""
        parts: list[Any] = [self.endpoint.model, self._render(query), self.endpoint.sent]
        if query.kind == "nugget_agreement" and self._together:
            parts.append(self._together)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _batches(self, missing: _Batch) -> list[_Batch]:
        """What is asked in one request: a question, or several answers of nuggets of one sentence."""
        groups: dict[object, list[str]] = {}
        for key, query in missing.items():
            about = (query.fields.get("sentence"), query.about.get("passage"))
            groups.setdefault(about if query.kind == "nugget_agreement" else key, []).append(key)
        most = self.endpoint.nuggets_per_call
        parts = (keys[start : start + most] for keys in groups.values() for start in range(0, len(keys), most))
        return [{key: missing[key] for key in part} for part in parts]

    def _messages(self, batch: _Batch) -> list[prompts.Message]:
        return prompts.render_together([*batch.values()]) if len(batch) > 1 else self._render(*batch.values())

    def _ask(self, asked: Mapping[str, Query]) -> list[Verdict]:
        start = time.perf_counter()
        verdicts = self.cache.get(list(asked))
        missing = {key: query for key, query in asked.items() if key not in verdicts}
        self.stats.distinct += len(asked)
        self.stats.cached += len(verdicts)
        if missing:
            waiting = deque(self._batches(missing))
            try:
                run_to_end(self._ask_all(waiting, verdicts))
            finally:
                waiting.clear()  # after an interrupt, which a thread doesn't notice, nothing more is sent
                self.stats.seconds += time.perf_counter() - start
            reasons = Counter(verdicts[key].reason for key in missing if verdicts[key].value is None)
            self.stats.failed += reasons.total()
            self.stats.answered += len(missing) - reasons.total()
            if reasons:
                counts = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
                message = "judge %s: %d of %d questions without a verdict: %s"
                _log.warning(message, self.name, reasons.total(), len(missing), counts)
        return [verdicts[key] for key in asked]

    async def _ask_all(self, waiting: deque[_Batch], verdicts: dict[str, Verdict]) -> None:
        """Put the verdicts on all waiting questions into ``verdicts``."""
        import asyncio

        from tqdm import tqdm

        from tls_tasks.reports.judges.client import ChatClient

        # A server that was down has one failure left before it counts as down again.
        self._n_failures = min(self._n_failures, self.endpoint.give_up_after - 1)
        if not self.stats.tries:  # keys and documents go there: a variable may have named it
            _log.warning("judge %s: asks %s", self.name, self.endpoint.url)
        client = ChatClient(self.endpoint, self.stats)
        async with client.openai:
            with tqdm(total=sum(map(len, waiting)), desc="judge", disable=None) as bar:

                async def work() -> None:
                    while waiting:
                        batch = waiting.popleft()
                        for key, verdict in zip(batch, await self._answer(client.ask, batch), strict=True):
                            if verdict.reason == "unreadable" and len(batch) > 1:
                                (verdict,) = await self._answer(client.ask, {key: batch[key]})
                            verdicts[key] = verdict
                            self.cache.store(key, verdict)
                            bar.update()

                try:
                    await asyncio.gather(*(work() for _ in range(min(self.endpoint.max_in_flight, len(waiting)))))
                finally:
                    waiting.clear()  # nor after a refusal

    async def _answer(self, ask: Callable[..., Awaitable[str]], batch: _Batch) -> list[Verdict]:
        """The verdicts on the questions of one request; what can't be read of a question alone is asked once more."""
        if self._n_failures >= self.endpoint.give_up_after:
            return [Verdict(None, "down")] * len(batch)
        messages, n = self._messages(batch), len(batch)
        is_graded = next(iter(batch.values())).is_graded
        read = questions.read_graded if is_graded else questions.read_verdict
        sent = [message["content"] for message in messages]
        try:
            text = await ask(messages, is_plain=n > 1, is_graded=is_graded)
            values = [read(text, sent)] if n == 1 else questions.read_numbered(text, n, sent)
            if values == [None]:
                text = await ask(prompts.second_try(messages, text), is_graded=is_graded)
                values = [read(text, sent)]
        except Unanswered as error:
            reason, words = error.args
            self._n_failures += reason != "refused"
            return [Verdict(None, reason, questions.shorten(words))] * n
        self._n_failures = 0
        return [questions.as_verdict(value, text) for value in values]


def from_endpoint(url: str, model: str, **options: Any) -> ChatJudge:
    """A judge behind any OpenAI-compatible chat endpoint: vLLM, llama.cpp, Ollama, a gateway, a provider.

    Args:
        url: The base URL.
        model: The model, as the server calls it.
        **options: See :class:`Endpoint`.

    Raises:
        InputError: An argument that can't be used; OptionError for one that doesn't exist.
        DataError: A cache that can't be opened.

    Example:
        >>> judge = from_endpoint("http://localhost:8000/v1", "my-model", parameters={"temperature": 1})
        >>> judge.name.rpartition(",")[0]
        'my-model@localhost,temperature:1'
    """
    known = [option.name for option in fields(Endpoint) if option.init and option.name not in ("url", "model")]
    check_options(f"the judge {model}", options, known)
    return ChatJudge(Endpoint(url, model, **options))
