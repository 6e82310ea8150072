"""The judge behind an OpenAI-compatible chat endpoint: prompts, a cache, many questions at a time."""

import hashlib
import json
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from tls_tasks.core.errors import check_options
from tls_tasks.reports.judges import prompts, questions
from tls_tasks.reports.judges.cache import VerdictCache
from tls_tasks.reports.judges.model import Endpoint, JudgeStats, Unanswered
from tls_tasks.reports.types import Query, Verdict

_log = logging.getLogger(__name__)


class ChatJudge:
    """A chat model that answers questions; :func:`from_endpoint` and ``from_provider`` make one.

    Attributes:
        endpoint: The model.
        cache: Where verdicts are kept.
        stats: What was asked, and how many tokens it took.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        label = endpoint.name or f"{endpoint.model}@{endpoint.host}"
        parts = [label, *(f"{name}:{value}" for name, value in sorted((endpoint.parameters or {}).items()))]
        parts += [] if endpoint.model in label else [f"model:{endpoint.model}"]
        self.name = ",".join([*parts, f"prompts:{prompts.prompts_hash()}"])
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
            keyed = [(self._key(query), query) for query in queries]
            asked = dict(keyed)
            verdicts = self.cache.get([*asked])
            missing = {key: query for key, query in asked.items() if key not in verdicts}
            self.stats.asked += len(queries)
            self.stats.cached += len(verdicts)
            if missing:
                self._ask_missing(missing, verdicts)
            return [verdicts[key] for key, _ in keyed]

    def _key(self, query: Query) -> str:
        """The key of a question in the cache."""
        parts: list[Any] = [self.endpoint.model, prompts.render(query), self.endpoint.sent]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _ask_missing(self, missing: Mapping[str, Query], verdicts: dict[str, Verdict]) -> None:
        """Put the verdicts on questions that the cache lacks into ``verdicts``, and count them."""
        start, waiting = time.perf_counter(), deque(missing.items())
        try:
            questions.run_to_end(self._ask_all(waiting, verdicts))
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

    async def _ask_all(self, waiting: deque[tuple[str, Query]], verdicts: dict[str, Verdict]) -> None:
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
            with tqdm(total=len(waiting), desc="judge", disable=None) as bar:

                async def work() -> None:
                    while waiting:
                        key, query = waiting.popleft()
                        verdicts[key] = await self._answer(client.ask, query)
                        self.cache.store(key, verdicts[key])
                        bar.update()

                try:
                    await asyncio.gather(*(work() for _ in range(min(self.endpoint.max_in_flight, len(waiting)))))
                finally:
                    waiting.clear()  # nor after a refusal

    async def _answer(self, ask: Callable[[list[prompts.Message]], Awaitable[str]], query: Query) -> Verdict:
        """The verdict on a question; an answer that can't be read is asked for once more."""
        if self._n_failures >= self.endpoint.give_up_after:
            return Verdict(None, "down")
        messages = prompts.render(query)
        sent = [message["content"] for message in messages]
        try:
            text = await ask(messages)
            verdict = questions.verdict_in(text, sent, is_graded=query.is_graded)
            if verdict.value is None:
                text = await ask(prompts.second_try(messages, text))
                verdict = questions.verdict_in(text, sent, is_graded=query.is_graded)
        except Unanswered as error:
            reason, words = error.args
            self._n_failures += reason != "refused"
            return Verdict(None, reason, questions.shorten(words))
        self._n_failures = 0
        return verdict


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
