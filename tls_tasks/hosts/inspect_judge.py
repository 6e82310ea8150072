"""A model of Inspect as a judge: any provider that Inspect knows, counted in its logs and kept in its cache."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from anyio import create_task_group, from_thread

from tls_tasks.core.coroutines import run_to_end
from tls_tasks.core.errors import InputError, MissingExtraError
from tls_tasks.core.options import check_whole_number
from tls_tasks.reports.judges.model import DEFAULTS
from tls_tasks.reports.judges.prompts import Message, prompts_hash, render, second_try
from tls_tasks.reports.judges.questions import WINDOW, ask_in_windows, distinct, shorten, verdict_in, window_name
from tls_tasks.reports.types import Query, Verdict

_log = logging.getLogger(__name__)


class InspectJudge:
    """Asks a model of Inspect for YES or NO; of an answer without either, it asks once more.

    Args:
        model: As ``inspect eval --model`` takes it.
        parameters: Fields of Inspect's ``GenerateConfig``; by default temperature 0 and 512 tokens.
        examples: Whether two questions of the same kind with their answers stand before each, which small models need.
        window: How many characters of a document are shown at a time.
        cache: Whether Inspect keeps the answers.
        name: For the signature, instead of the model.

    Raises:
        MissingExtraError: Inspect isn't installed.
        InputError: Parameters that Inspect doesn't have, or a window that is too small.

    Example:
        ``InspectJudge("openai/gpt-4o").name`` begins with ``inspect/openai/gpt-4o,prompts:``.
    """

    def __init__(
        self,
        model: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        examples: bool = False,
        window: int = WINDOW,
        cache: bool = True,
        name: str | None = None,
    ) -> None:
        try:
            from inspect_ai.model import GenerateConfig
        except ImportError as error:
            raise MissingExtraError("judge", "inspect") from error
        given = dict(parameters or {})
        if unknown := next((key for key in given if key not in GenerateConfig.model_fields), None):
            raise InputError(f"parameters.{unknown}", None, repr(given[unknown]), "a field of Inspect's GenerateConfig")
        self._model, self._examples, self._cache = model, examples, cache
        self._window = check_whole_number("window", window, 100)
        self._config = GenerateConfig(**{**DEFAULTS, **given})
        label = name or f"inspect/{model}"
        hidden = [] if model in label else [f"model:{model}"]
        flags = [f"{key}:{value}" for key, value in sorted(given.items())] + ["examples:2"] * examples
        flags += window_name(None if window == WINDOW else window)
        self.name = ",".join([label, *hidden, *flags, f"prompts:{prompts_hash(examples=examples)}"])

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; all different questions at once, as far as Inspect's limits allow."""
        return ask_in_windows(queries, self._window, self._ask)

    def _ask(self, queries: Sequence[Query]) -> list[Verdict]:
        kept, positions = distinct(queries)
        verdicts: dict[int, Verdict] = {}

        async def ask(model: Any, place: int) -> None:
            verdicts[place] = await self._verdict(model, kept[place])

        async def work() -> None:
            from inspect_ai.model import get_model

            # Not one that Inspect remembers: its connections belong to a loop, which may have ended.
            async with get_model(self._model, memoize=False) as model, create_task_group() as group:
                for place in range(len(kept)):
                    group.start_soon(ask, model, place)

        try:
            from_thread.check_cancelled()  # a scorer's thread: Inspect's own loop asks, so that its log has the calls
        except RuntimeError:
            run_to_end(work())
        else:
            from_thread.run(work)
        return [verdicts[position] for position in positions]

    async def _verdict(self, model: Any, query: Query) -> Verdict:
        messages = render(query, examples=self._examples)
        prompts = [message["content"] for message in messages]
        try:
            text = await self._say(model, messages)
            verdict = verdict_in(text, prompts)
            if verdict.value is None:
                verdict = verdict_in(await self._say(model, second_try(messages, text)), prompts)
        except Exception as error:  # a fault of the instrument, whatever it is: unscored and counted
            _log.warning("judge %s failed on a question of kind %s: %r", self.name, query.kind, error)
            return Verdict(None, "failed", shorten(repr(error)))
        return verdict

    async def _say(self, model: Any, messages: Sequence[Message]) -> str:
        from inspect_ai.model import CachePolicy, ChatMessageAssistant, ChatMessageUser

        kinds = {"user": ChatMessageUser, "assistant": ChatMessageAssistant}
        said = [kinds[message["role"]](content=message["content"]) for message in messages]
        cache = CachePolicy(expiry=None, per_epoch=False) if self._cache else False
        return str((await model.generate(said, config=self._config, cache=cache)).completion)
