"""``lm_eval --model tls_corpus``: any model of the harness reads a topic's whole corpus and writes its timelines.

Two batched rounds of the base model's own ``generate_until``, as :mod:`tls_tasks.timelines.corpus` describes them. The
articles come from where the task's documents came from, never through the prompt; the questions are put in the place
of the task's prompt, so that chat template, system instruction and description stay.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook, CachingLM
from lm_eval.api.registry import get_model

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.options import check_switches, check_whole_number
from tls_tasks.core.whole import write_whole
from tls_tasks.data.fetched import cache_folder
from tls_tasks.hosts.corpus_requests import Asked, key_of, read_request
from tls_tasks.hosts.corpus_steps import Settings, Steps

_NAME = "tls_corpus"
_MOST_TOKENS = 32_768
"""Chunks are not larger by default: few models write answers as long as larger ones would need."""

_BYTES_PER_TOKEN = 3.2
_NOT_IN_KEY = {"batch_size", "max_batch_size", "device", "num_concurrent", "max_retries", "timeout", "header",
               "auth_token", "verify_certificate", "ca_cert_path", "parallelize", "gpu_memory_utilization",
               "tensor_parallel_size", "data_parallel_size"}  # fmt: skip
"""Arguments that say how a model is run and not what it answers: a rerun may change them."""

_log = logging.getLogger("lm_eval.models.tls_corpus")  # shown where and as the harness shows its own models


def _of_base(name: str) -> Any:
    return property(lambda model: getattr(model.base, name))


class CorpusLM(LM):
    """Timelines of whole corpora, by any model of the harness.

    Args:
        base: The harness's name of the model that answers: ``hf``, ``vllm``, ``local-chat-completions`` …
        chunk_tokens: Prompt and answer of a question together; by default the base model's context, at most 32,768.
        thinking_tokens: Room for thinking, before each answer.
        volume_weight: What a sentence published on a day adds to the day's rank, for which an event that stands alone
            counts 1. Days with many articles are good guesses and help a weak model most, so the default is 0.
        sub_cache: Keep answers in ``TLS_TASKS_CACHE`` (``~/.cache/tls-tasks``), so that a run that was stopped goes on
            where it was.
        **given: The base model's own arguments.

    Raises:
        InputError: The base model can't be used so.

    Example:
        ``lm_eval --tasks tls_crisis --model tls_corpus --model_args base=hf,pretrained=ORG/MODEL``
    """

    def __init__(
        self,
        base: str | None = None,
        chunk_tokens: int | None = None,
        thinking_tokens: int = 0,
        volume_weight: float = 0.0,
        sub_cache: bool = True,
        **given: Any,
    ) -> None:
        super().__init__()
        if not isinstance(base, str) or base == _NAME:
            expected = "the harness's name of the model that answers, as in base=hf,pretrained=ORG/MODEL"
            raise InputError("base", None, repr(base), expected)
        if isinstance(volume_weight, bool) or not isinstance(volume_weight, int | float):
            raise InputError("volume_weight", None, repr(volume_weight), "a number, such as 0.2")
        check_switches(sub_cache=sub_cache)
        check_whole_number("thinking_tokens", thinking_tokens, least=0)
        self.base: Any = get_model(base).create_from_arg_obj(given)
        if self.base.world_size > 1:
            raise InputError("world_size", None, str(self.base.world_size),
                             f"1: {_NAME} runs in one process; spread the model over devices by its own arguments "
                             "(parallelize, tensor_parallel_size, data_parallel_size)")  # fmt: skip
        chunk_tokens = _chunk_tokens(self.base, base, given, chunk_tokens)
        figures = chunk_tokens, max(1, chunk_tokens // 8), thinking_tokens, float(volume_weight)
        self.settings = Settings(*figures, self.cost)
        file = _cache_file(base, given) if sub_cache else None
        self.sub_cache = CachingLM(self.base, str(file)) if file else None
        names = ("chunk_tokens", "map_tokens", "thinking_tokens", "volume_weight")
        self.totals: dict[str, Any] = {"base": base, **{name: getattr(self.settings, name) for name in names}}

    # --- what the harness asks of a model: the base's ---

    def __getattr__(self, name: str) -> Any:
        """Whatever is not said here is the base model's: its tokenizer, batch sizes, configuration."""
        if name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)

    rank, world_size, device, tokenizer_name = map(_of_base, ("rank", "world_size", "device", "tokenizer_name"))
    all_gather, gather_object, barrier = map(_of_base, ("all_gather", "gather_object", "barrier"))
    chat_template, apply_chat_template = map(_of_base, ("chat_template", "apply_chat_template"))

    def loglikelihood(self, requests: list[Any], **options: Any) -> Any:
        """The base model's."""
        return self._pass_on("loglikelihood", requests, **options)

    def loglikelihood_rolling(self, requests: list[Any], **options: Any) -> Any:
        """The base model's."""
        return self._pass_on("loglikelihood_rolling", requests, **options)

    def get_model_info(self) -> dict[str, Any]:
        """The base model's, and what the rounds came to: the harness writes it into the results."""
        own = self.base.get_model_info() if hasattr(self.base, "get_model_info") else {}
        return {**own, _NAME: self.totals}

    def _pass_on(self, method: str, requests: list[Any], **options: Any) -> Any:
        """Requests that are none of ours; their answers go into the harness's cache, not into that of our questions."""
        self.base.set_cache_hook(self.cache_hook)
        return getattr(self.base, method)(requests, **options) if requests else []

    # --- the two rounds ---

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Write timelines; other tasks' requests are answered by the base model as they stand."""
        asked = [read_request(request) for request in requests]
        ours = iter(self._timelines([one for one in asked if one is not None]))
        others = [request for request, one in zip(requests, asked, strict=True) if one is None]
        passed = iter(self._pass_on("generate_until", others, disable_tqdm=disable_tqdm))
        return [next(passed) if one is None else next(ours) for one in asked]

    def _timelines(self, asked: Sequence[Asked]) -> list[str]:
        if not asked:
            return []
        first = {id(one.topic): one for one in reversed(asked)}  # all references of a topic share one map round
        steps = {key: Steps(self.settings, one) for key, one in reversed(first.items())}
        self._ask("map", [(each, instance) for each in steps.values() for instance in each.map_round()])
        for each in steps.values():
            each.rank()
        plans = [(steps[id(one.topic)], one) for one in asked]
        self._ask(
            "write",
            [(each, each.write(day, int(one.doc["n_sentences"]))) for each, one in plans for day in each.chosen(one)],
        )
        self._report(list(steps.values()))
        return [each.timeline(one) for each, one in plans]

    def _ask(self, name: str, questions: Sequence[tuple[Steps, Instance]]) -> None:
        """One round: each question once, all in one batch; the answers go to the topics' steps."""
        unique = {key_of(instance): instance for _, instance in questions}
        kept = sum(key in self.sub_cache.dbdict for key in unique) if self.sub_cache else 0
        place = f"; {kept} answers are in {self.sub_cache.cache_db}" if self.sub_cache else ""
        _log.info("%s: %s round: %d questions, %d different%s", _NAME, name, len(questions), len(unique), place)
        self.base.set_cache_hook(self.sub_cache.get_cache_hook() if self.sub_cache else CacheHook(None))
        asked = self.sub_cache or self.base
        try:
            found = asked.generate_until(list(unique.values())) if unique else []
        except BaseException:
            kept_now = f"the answers so far are in {asked.cache_db}: the same command asks the rest" if place else ""
            _log.error("%s: the base model stopped in the %s round; %s", _NAME, name, kept_now or "no answer is kept")
            raise
        answers = {key: _readable(text) for key, text in zip(unique, found, strict=True)}
        for each, instance in questions:
            each.hear(name, instance, answers[key_of(instance)])
        self.totals[name] = {"questions": len(questions), "different": len(unique), "from_cache": kept}

    def cost(self, text: str) -> int:
        """Tokens of a text: by the base model's tokenizer, else as English has them."""
        tokenizer = getattr(self.base, "tokenizer", None)
        if callable(tokenizer) and hasattr(tokenizer, "convert_tokens_to_ids"):  # one that works here, not a server's
            return len(tokenizer.encode(text, add_special_tokens=False))
        return math.ceil(len(text.encode(errors="replace")) / _BYTES_PER_TOKEN)

    def _report(self, steps: Sequence[Steps]) -> None:
        """Totals for the results, and each topic's steps in a file that they name."""
        records = [each.record for each in steps]
        for record in records:
            _log.info("%s: %s", _NAME, json.dumps({key: record[key] for key in record if key != "days"}))
        sums: Counter[str] = Counter()
        for record in records:
            sums.update({key: value for key, value in record.items() if isinstance(value, int)})
        self.totals |= {"topics": len(records), **sums}
        if self.sub_cache:
            text = json.dumps(records, ensure_ascii=False, indent=1)
            name = f"{Path(self.sub_cache.cache_db).stem}-steps-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
            file = Path(self.sub_cache.cache_db).with_name(name)
            write_whole(file, text)
            self.totals["steps"] = str(file)


def _readable(answer: Any) -> str:
    """An answer as text that can be shown to a model and written to a file: no half of a character pair."""
    return answer.encode(errors="replace").decode() if isinstance(answer, str) else ""


def _chunk_tokens(model: Any, name: str, given: Mapping[str, Any], chunk_tokens: Any) -> int:
    """The size of a question with its answer."""
    try:
        known = model.max_length
    except (AttributeError, NotImplementedError):
        known = None
    if hasattr(model, "tokenized_requests") and "max_length" not in given:
        known = None  # models behind an interface say 2047 if nobody told them
    if chunk_tokens is None and not isinstance(known, int):
        raise InputError("chunk_tokens", None, "nothing",
                         f"how many tokens a prompt and its answer may have together, since {name} does not know its "
                         "context: add chunk_tokens=8192 or so to --model_args")  # fmt: skip
    if chunk_tokens is None:
        return min(int(known), _MOST_TOKENS)
    check_whole_number("chunk_tokens", chunk_tokens)
    if isinstance(known, int) and chunk_tokens > known:
        raise InputError("chunk_tokens", None, str(chunk_tokens), f"at most the base model's context, {known}")
    return int(chunk_tokens)


def _cache_file(base: str, given: Mapping[str, Any]) -> Path | None:
    """Where the answers of a model are kept; None for a model that is an object and has no name."""
    says = {key: value for key, value in sorted(given.items()) if key not in _NOT_IN_KEY and value is not None}
    # A checkpoint may be written again in the same place.
    folders = [Path(str(says[key])) for key in ("pretrained", "peft", "delta") if key in says]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    stats = sorted((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    try:
        text = json.dumps([base, says, stats])
    except TypeError:
        _log.warning("%s: a model that is given as an object has no name to keep answers under: none is kept", _NAME)
        return None
    try:
        folder = cache_folder() / "corpus"
        folder.mkdir(parents=True, exist_ok=True)
    except (DataError, OSError) as error:
        _log.warning("%s: no answer is kept, since TLS_TASKS_CACHE can't be written: %s", _NAME, error)
        return None
    rank = os.environ.get("LOCAL_RANK", "0")  # processes of one tensor-parallel run each have a file, as in the harness
    return folder / f"{base}-{hashlib.sha256(text.encode()).hexdigest()[:16]}-{rank}.db"
