"""The judge behind an OpenAI-compatible chat endpoint: prompts, a cache, many questions at a time."""

import asyncio
import hashlib
import json
import logging
import re
import threading
from collections import Counter, deque
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError, check_whole_number
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.reports.judges import prompts, questions
from tls_tasks.reports.judges.cache import VerdictCache
from tls_tasks.reports.types import Query, Verdict

_log = logging.getLogger(__name__)

DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 512}
"""Parameters of a request. A word takes fewer than 512 tokens, but some models think before they answer."""

GIVE_UP_AFTER = 8
"""Once this many questions in a row were given up, the rest of the call is not sent."""

_HOST = re.compile(r"https?://(\[[0-9a-fA-F:]+\]|[^\s/:?#@\[\]]+)(?::\d+)?(?=[/?#]|$)")
_KEY = re.compile(r"[!-~]([ -~]*[!-~])?")
_COUNTS = ("asked", "cached", "answered", "failed", "tries", "prompt_tokens", "completion_tokens")


class ChatJudge:
    """A judge behind any OpenAI-compatible chat endpoint: vLLM, llama.cpp, Ollama, a gateway, a provider.

    Args:
        url: The base URL, such as ``http://localhost:8000/v1``.
        model: The model, as the server calls it.
        api_key: Sent as a bearer token.
        name: For the signature; by default model and host. If it doesn't contain the model, the model is added.
        parameters: Fields of a request besides model and messages. They are merged into the defaults (temperature 0,
            512 tokens); None removes a default, as in ``{"max_tokens": None, "max_completion_tokens": 2000}``. They
            are part of the judge's name and of the keys of the cache.
        cache: The file or cache that stores verdicts; by default memory, as long as the judge lives.
        max_in_flight: How many requests are under way at a time.
        timeout: Seconds until a try is given up.
        max_tries: How often a request is sent before its question is given up.

    Attributes:
        stats: Counts of questions (``asked``; different ones ``cached``, ``answered``, ``failed``), of requests
            (``tries``), and of tokens as the server counts them (``prompt_tokens``, ``completion_tokens``).

    Raises:
        InputError: An argument that can't be used.
        DataError: A cache that can't be opened.

    Example:
        >>> judge = ChatJudge("http://localhost:8000/v1", "my-model", parameters={"temperature": 1})
        >>> judge.name.rpartition(",")[0]
        'my-model@localhost,temperature:1'
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        name: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        cache: VerdictCache | str | Path | None = None,
        max_in_flight: int = 16,
        timeout: float = 60.0,
        max_tries: int = 7,
    ) -> None:
        check_no_secret(url, "url")  # messages show the URL
        host = _HOST.match(url) if isinstance(url, str) else None
        for option, value, is_right, expected in (
            ("url", url, host, "an address such as http://localhost:8000/v1"),
            ("model", model, isinstance(model, str) and model, "the name of a model"),
            ("parameters", parameters, isinstance(parameters, Mapping | None), "a dict of JSON values"),
            ("timeout", timeout, isinstance(timeout, int | float) and timeout > 0, "a number of seconds above 0"),
        ):
            if not is_right:
                raise InputError(option, None, repr(value), expected)
        if api_key is not None and not _KEY.fullmatch(api_key):
            raise InputError("api_key", None, "something else (not shown)", "printable characters, no blanks around")
        for option, number in (("max_in_flight", max_in_flight), ("max_tries", max_tries)):
            check_whole_number(option, number)
        extra = parameters or {}
        self.url, self._n_in_flight = url.rstrip("/").removesuffix("/chat/completions"), max_in_flight
        self._body = {"model": model, **{key: item for key, item in {**DEFAULTS, **extra}.items() if item is not None}}
        self._connection: dict[str, Any] = {"api_key": api_key, "timeout": timeout, "max_tries": max_tries}
        label = name or f"{model}@{host[1] if host else ''}"
        parts = [label, *(f"{key}:{value}" for key, value in sorted(extra.items()))]
        parts += [] if model in label else [f"model:{model}"]
        self.name = ",".join([*parts, f"prompts:{prompts.prompts_hash()}"])
        self.cache = cache if isinstance(cache, VerdictCache) else VerdictCache(cache)
        self.stats = Counter(dict.fromkeys(_COUNTS, 0))
        self._turn = threading.Lock()
        self._n_failures = 0  # counts failures in a row

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """Return one verdict per query, in order; cached questions are not sent, equal ones are sent once.

        Threads may share a judge: their calls take turns, so that the limit on requests in flight holds for all.

        Raises:
            JudgeError: The server refuses all questions. Its earlier answers are in the cache.
            OptionError: A query of another kind; KeyError: a query that lacks a field of its prompt.
            DataError: The cache can't be written.
        """
        with self._turn:
            keyed_queries = [(self._key(query), query) for query in queries]
            query_by_key = dict(keyed_queries)
            verdicts = self.cache.get([*query_by_key])
            missing = {key: query for key, query in query_by_key.items() if key not in verdicts}
            self.stats.update(asked=len(queries), cached=len(verdicts))
            if missing:
                self._ask_missing(missing, verdicts)
            return [verdicts[key] for key, _ in keyed_queries]

    def _key(self, query: Query) -> str:
        """Return the key of a question in the cache."""
        body = dict(self._body)
        parts: list[Any] = [body.pop("model"), prompts.render(query), body]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _ask_missing(self, missing: Mapping[str, Query], verdicts: dict[str, Verdict]) -> None:
        """Put the verdicts on questions that the cache lacks into ``verdicts``, and count them."""
        waiting = deque(missing.items())
        try:
            _run(self._ask_all(waiting, verdicts))
        finally:
            waiting.clear()  # a thread doesn't notice an interrupt, so it must find nothing more to send
        failed = [verdicts[key] for key in missing if verdicts[key].value is None]
        self.stats.update(failed=len(failed), answered=len(missing) - len(failed))
        if failed:
            reasons = Counter(verdict.reason for verdict in failed)
            counts = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
            message = "judge %s: %d of %d questions without a verdict: %s; the first: %s"
            _log.warning(message, self.name, len(failed), len(missing), counts, failed[0].raw or failed[0].reason)

    async def _ask_all(self, waiting: deque[tuple[str, Query]], verdicts: dict[str, Verdict]) -> None:
        """Put the verdicts on all waiting questions into ``verdicts``."""
        from tqdm import tqdm

        from tls_tasks.reports.judges.client import ChatClient

        # After one more failure a server that was down counts as down again.
        self._n_failures = min(self._n_failures, GIVE_UP_AFTER - 1)
        client = ChatClient(self.url, self.stats, **self._connection)
        async with client.openai:
            with tqdm(total=len(waiting), desc="judge", disable=None) as bar:

                async def work() -> None:
                    while waiting:
                        key, query = waiting.popleft()
                        verdicts[key] = await self._answer(client, query)
                        self.cache.store(key, verdicts[key])
                        bar.update()

                try:
                    await asyncio.gather(*(work() for _ in range(min(self._n_in_flight, len(waiting)))))
                finally:
                    waiting.clear()  # after a refusal nothing more is sent

    async def _answer(self, client: Any, query: Query) -> Verdict:
        """Return the verdict on a question; an answer that can't be read is asked for once more."""
        if self._n_failures >= GIVE_UP_AFTER:
            return Verdict(None, "down")
        messages = first = prompts.render(query)
        verdict = Verdict(None)
        for _ in range(2):
            answer = await client.ask({**self._body, "messages": messages})
            self._n_failures = self._n_failures + 1 if answer.is_failure else 0
            if answer.reason:
                return Verdict(None, answer.reason, questions.shorten(answer.text))
            verdict = questions.parse_verdict(answer.text)
            if verdict.value is not None:
                break
            messages = prompts.second_try(first, answer.text)
        return verdict


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, also where a loop is running already, as in Jupyter."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    thread = ThreadPoolExecutor(1)
    try:
        thread.submit(asyncio.run, work).result()
    finally:
        thread.shutdown(wait=False)  # so that an interrupt is raised at once
