"""The judge behind an OpenAI-compatible chat endpoint: prompts, a cache, many questions at a time."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.core.coroutines import run_to_end
from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_whole_number
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.reports.judges.price import Call
from tls_tasks.reports.judges.prompts import Message, prompts_hash, render, render_together, second_try, together_hash
from tls_tasks.reports.judges.prompts.folder import PromptFolder
from tls_tasks.reports.judges.questions import WINDOW, ask_in_windows, read_numbered, shorten, verdict_in, window_name
from tls_tasks.reports.judges.store import VerdictCache
from tls_tasks.reports.types import Query, Verdict

if TYPE_CHECKING:
    from tls_tasks.reports.judges.client import ChatClient

_log = logging.getLogger(__name__)

DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 512}
"""Parameters of a request. A word takes fewer than 512 tokens, but some models think before they answer."""

_JSON_FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"verdict": {"type": "string", "enum": ["YES", "NO"]}},
            "required": ["verdict"],
            "additionalProperties": False,
        },
    },
}

_KEY = re.compile(r"[!-~]([ -~]*[!-~])?")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an endpoint, and how it is asked.

    Attributes:
        url: The base URL, such as ``http://localhost:8000/v1``.
        model: The model, as the server calls it.
        api_key: Sent as a bearer token.
        headers: Further headers.
        name: For the signature; by default model and host. A model that it hides is added.
        parameters: What a request has besides model and messages. They are merged into :data:`DEFAULTS`, of which None
            removes one, as in ``{"max_tokens": None, "max_completion_tokens": 2000}``. They are part of the judge's
            name, and of what makes two requests the same.
        examples: Whether each question comes after two others of its kind with their answers, which small models need.
        nuggets_per_call: How many answers of nuggets a sentence is checked for in one request. Where one of several
            verdicts can't be read, its question is asked alone. Those requests have no examples and no JSON.
        json_verdicts: Whether the server is asked for a verdict in JSON, by the parameter ``response_format``. One that
            refuses the parameter is asked without it.
        prompts: A folder of prompts instead of ours, see :mod:`~tls_tasks.reports.judges.prompts.folder`.
        cache: Where verdicts are kept, a file or a cache; by default in memory, as long as the judge lives.
        max_in_flight: How many requests are under way at a time.
        window: How many characters of a document are shown at a time, see
            :func:`~tls_tasks.reports.judges.questions.ask_in_windows`.
        timeout: Seconds until a try is given up.
        max_tries: How often a request is sent before its question is given up.
        give_up_after: After so many questions given up in a row, the rest of the call is not sent.
    """

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    name: str | None = None
    parameters: Mapping[str, Any] | None = None
    examples: bool = False
    nuggets_per_call: int = 1
    json_verdicts: bool = False
    prompts: str | Path | None = None
    cache: VerdictCache | str | Path | None = None
    max_in_flight: int = 16
    window: int = WINDOW
    timeout: float = 60.0
    max_tries: int = 7
    give_up_after: int = 8

    def __post_init__(self) -> None:
        """Refuse now what would fail later."""
        import httpx

        expected = "an address such as http://localhost:8000/v1"
        check_no_secret(self.url, "url")  # it is in messages
        try:
            parts = httpx.URL(self.url)
        except (httpx.InvalidURL, TypeError) as error:
            raise InputError("url", None, f"{self.url!r} ({error})", expected) from error
        if parts.scheme not in {"http", "https"} or not parts.host:
            raise InputError("url", None, repr(self.url), expected)
        object.__setattr__(self, "url", self.url.rstrip("/").removesuffix("/chat/completions"))
        if not isinstance(self.model, str) or not self.model:
            raise InputError("model", None, repr(self.model), "the name of a model")
        if self.api_key is not None and not _KEY.fullmatch(self.api_key):
            raise InputError("api_key", None, "something else (not shown)", "printable characters, no blanks around")
        for name in ("max_in_flight", "max_tries", "give_up_after", "nuggets_per_call"):
            check_whole_number(name, getattr(self, name))
        if self.prompts is not None and (self.nuggets_per_call > 1 or self.examples):
            got = "nuggets_per_call" if self.nuggets_per_call > 1 else "examples"
            raise InputError(got, None, "prompts of your own beside it", "one of the two: it changes our prompts")
        check_whole_number("window", self.window, 100)
        if not isinstance(self.timeout, int | float) or not 0 < self.timeout < math.inf:
            raise InputError("timeout", None, repr(self.timeout), "a number of seconds above 0")
        try:
            json.dumps(self.sent, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError("parameters", None, repr(self.parameters), f"JSON values ({error})") from error

    @property
    def host(self) -> str:
        """The host of the URL."""
        import httpx

        return httpx.URL(self.url).host

    @property
    def sent(self) -> dict[str, Any]:
        """What a request has besides model and messages."""
        given = {
            **DEFAULTS,
            **({"response_format": _JSON_FORMAT} if self.json_verdicts else {}),
            **(self.parameters or {}),
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(slots=True)
class JudgeStats:
    """What a judge has done since it was made.

    Attributes:
        asked: Questions put to it.
        distinct: Different questions in each call; every window of a long document is one.
        cached: Of these, those answered from the cache.
        answered: Of these, those that the model answered with a readable verdict.
        failed: Of these, those left without a verdict.
        tries: Requests sent.
        prompt_tokens: Tokens read, as the server counts them.
        completion_tokens: Tokens written, as the server counts them.
        seconds: Time spent waiting for answers.
    """

    asked: int = 0
    distinct: int = 0
    cached: int = 0
    answered: int = 0
    failed: int = 0
    tries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


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
                        answered = await self._read_together(client, batch) if len(batch) > 1 else {}
                        for key, query in batch:
                            verdicts[key] = await self._answer(client, key, query, answered.get(key))
                            bar.update()

                try:
                    await asyncio.gather(*(work() for _ in range(min(self.endpoint.max_in_flight, len(waiting)))))
                finally:
                    waiting.clear()  # nor after a refusal

    async def _read_together(self, client: ChatClient, batch: Sequence[_Question]) -> dict[str, Verdict]:
        """What can be read of the answer to several questions; all of them have no verdict if there was no answer."""
        from tls_tasks.reports.judges.client import Unanswered

        if self._n_failures >= self.endpoint.give_up_after:
            return {}
        messages = self._messages(batch)
        try:
            text = await client.ask(messages, is_plain=True)
        except Unanswered as error:
            self._n_failures += error.reason != "refused"
            return {key: Verdict(None, error.reason, shorten(str(error))) for key, _ in batch}
        self._n_failures = 0
        values = read_numbered(text, len(batch), [messages[0]["content"]])
        pairs = zip(batch, values, strict=True)
        return {key: Verdict(value, "", shorten(text)) for (key, _), value in pairs if value is not None}

    async def _answer(self, client: ChatClient, key: str, query: Query, verdict: Verdict | None) -> Verdict:
        """A verdict that was read already, or the answer to the question alone; counted and kept."""
        if verdict is None:
            down = self._n_failures >= self.endpoint.give_up_after
            messages = self._render(query)
            verdict = Verdict(None, "down") if down else await self._verdict(client, messages)
        if verdict.value is None:
            self.stats.failed += 1
        else:
            self.stats.answered += 1
            self.cache.store(key, verdict)
        return verdict

    async def _verdict(self, client: ChatClient, messages: list[Message]) -> Verdict:
        """Ask, and ask once more if no verdict can be read."""
        from tls_tasks.reports.judges.client import Unanswered

        try:
            text, prompts = await client.ask(messages), [message["content"] for message in messages]
            verdict = verdict_in(text, prompts)
            if verdict.value is None:
                verdict = verdict_in(await client.ask(second_try(messages, text)), prompts)
        except Unanswered as error:
            self._n_failures += error.reason != "refused"
            return Verdict(None, error.reason, shorten(str(error)))
        self._n_failures = 0
        return verdict

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
