"""``lm_eval --model tls_corpus``: any model of the harness reads a topic's whole corpus and writes its timelines.

Two batched rounds of the base model's own ``generate_until``, as :mod:`tls_tasks.timelines.corpus` describes them. The
articles come from where the task's documents came from, never through the prompt; the questions are put in the place
of the task's prompt, so that chat template, system instruction and description stay.
"""

import datetime
import hashlib
import json
import logging
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partialmethod
from pathlib import Path
from typing import Any, NamedTuple

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook, CachingLM, hash_args
from lm_eval.api.registry import get_model

from tls_tasks.core.errors import DataError, InputError, check_switches, check_whole_number
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.data.fetched import cache_folder
from tls_tasks.timelines import corpus
from tls_tasks.timelines.data import topic_of
from tls_tasks.timelines.task import TASKS
from tls_tasks.timelines.topics import Topic

_NAME = "tls_corpus"
_MOST_TOKENS = 32_768
"""Chunks are not larger by default: few models write answers as long as larger ones would need."""

_MARGIN = 32
"""Tokens that whole prompts may have beyond the sum of their lines, and those that models put before and after."""

_SMALLEST_ROOM = 64
_BYTES_PER_TOKEN = 3.2
_NOT_IN_KEY = set(json.loads(Path(__file__).with_name("arguments.json").read_text(encoding="utf-8"))["not_in_key"])
"""Arguments that say how a model is run and not what it answers: a rerun may change them."""

_COLUMNS = {"topic", "edition", "reference", "query", "n_dates", "n_sentences"}
_LIMITS = {"until", "max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens", "max_length"}

_log = logging.getLogger("lm_eval.models.tls_corpus")  # shown where and as the harness shows its own models


class Asked(NamedTuple):
    """A request of a timeline task: its rendered prompt, what of it is the task's own, and generation options."""

    doc: Mapping[str, Any]
    rendered: Any
    own: str
    options: Mapping[str, Any]
    topic: Topic

    def ask(self, question: str, tokens: int, stops: Sequence[str] = ()) -> Instance:
        """A request for the base model: the question in the place of the task's own text."""
        options = {key: value for key, value in self.options.items() if key not in _LIMITS}
        prompt: Any = self.rendered
        if isinstance(prompt, str):
            prompt = question.join(prompt.rsplit(self.own, 1))  # the last one: examples may stand before it
        else:
            turns = _messages(prompt)
            messages = [{**turn, "content": turn["content"].replace(self.own, question)} for turn in turns]
            # The harness has a kind of named tuple of its own for messages as JSON.
            is_json = hasattr(prompt, "prompt")
            prompt = prompt._replace(prompt=json.dumps(messages, ensure_ascii=False)) if is_json else messages
        arguments = prompt, {**options, "until": list(stops), "max_gen_toks": tokens}
        return Instance("generate_until", doc={}, arguments=arguments, idx=0, metadata=(_NAME, 0, 1))


def read_request(request: Any) -> Asked | None:
    """A request of a timeline task with articles; None for any other."""
    doc = request.doc
    if not isinstance(doc, Mapping) or not doc.keys() >= _COLUMNS:
        return None
    rendered, options = request.args[:2]
    own, closed_book = (TASKS[name].prompt(doc).strip() for name in ("tls_crisis", "tls_crisis_closed_book"))
    text = _text(rendered)
    if own not in text:
        if closed_book in text or not doc.get("context"):
            return None
        got = f"one of {request.task_name} without the task's own text"
        raise InputError("prompt", None, got, "a task whose doc_to_text is ours: tls_corpus asks its questions instead")
    if f"\n{own.splitlines()[-1]}" in text.rpartition(own)[0]:
        raise InputError("num_fewshot", None, "examples in the prompt", "0: the questions of tls_corpus have none")
    return Asked(doc, rendered, own, options, topic_of(doc))


def _messages(rendered: Any) -> Any:
    """The messages of a rendered prompt; a text is one."""
    if isinstance(rendered, str):
        return [{"content": rendered}]
    return json.loads(rendered.prompt) if hasattr(rendered, "prompt") else rendered


def _text(rendered: Any) -> str:
    """The text of a rendered prompt, all messages of it."""
    return "\n".join(str(message["content"]) for message in _messages(rendered))


def _key(instance: Instance) -> str:
    """What the harness's cache knows a request by."""
    return str(hash_args("generate_until", instance.args))


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
        if (n := self.base.world_size) > 1:
            expected = "1: spread the model over devices by its own arguments, such as parallelize"
            raise InputError("world_size", None, str(n), expected)
        chunk_tokens = _chunk_tokens(self.base, given, chunk_tokens)
        file = _cache_file(base, given) if sub_cache else None
        self.sub_cache = CachingLM(self.base, str(file)) if file else None
        tokens = {"chunk_tokens": chunk_tokens, "map_tokens": max(1, chunk_tokens // 8)}
        rest = {"thinking_tokens": thinking_tokens, "volume_weight": float(volume_weight)}
        self.settings: dict[str, Any] = {**tokens, **rest}
        self.totals: dict[str, Any] = {"base": base, **self.settings}

    # --- what the harness asks of a model: the base's ---

    def __getattr__(self, name: str) -> Any:
        """Whatever is not said here is the base model's: its tokenizer, batch sizes, configuration."""
        if name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)

    rank, world_size, device, tokenizer_name = map(_of_base, ("rank", "world_size", "device", "tokenizer_name"))
    all_gather, gather_object, barrier = map(_of_base, ("all_gather", "gather_object", "barrier"))
    chat_template, apply_chat_template = map(_of_base, ("chat_template", "apply_chat_template"))

    def get_model_info(self) -> dict[str, Any]:
        """The base model's, and what the rounds came to: the harness writes it into the results."""
        of_base = self.base.get_model_info() if hasattr(self.base, "get_model_info") else {}
        return {**of_base, _NAME: self.totals}

    def _pass_on(self, method: str, requests: list[Any], **options: Any) -> Any:
        """Requests that are none of ours; their answers go into the harness's cache, not into that of our questions."""
        self.base.set_cache_hook(self.cache_hook)
        return getattr(self.base, method)(requests, **options) if requests else []

    loglikelihood = partialmethod(_pass_on, "loglikelihood")
    loglikelihood_rolling = partialmethod(_pass_on, "loglikelihood_rolling")

    # --- the two rounds ---

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Write timelines; other tasks' requests are answered by the base model as they stand."""
        read = [read_request(request) for request in requests]
        ours = iter(self._timelines([asked for asked in read if asked is not None]))
        others = [request for request, asked in zip(requests, read, strict=True) if asked is None]
        passed = iter(self._pass_on("generate_until", others, disable_tqdm=disable_tqdm))
        return [next(passed if asked is None else ours) for asked in read]

    def _timelines(self, requests: Sequence[Asked]) -> list[str]:
        if not requests:
            return []
        topics: dict[int, _Reading] = {}  # all references of a topic share one map round
        for asked in requests:
            topics.setdefault(id(asked.topic), _Reading(self, asked))
        answers = self._ask("map", [question for topic in topics.values() for question in topic.map_round()])
        n_events = sum([topic.rank(answers) for topic in topics.values()])
        plans = [(topic := topics[id(asked.topic)], asked.doc, topic.write_round(asked.doc)) for asked in requests]
        answers = self._ask("write", [question for *_, asked in plans for question in asked.values()])
        self.totals |= {"topics": len(topics), "events": n_events}
        _log.info("%s: %s", _NAME, json.dumps(self.totals))
        return [topic.timeline(doc, asked, answers) for topic, doc, asked in plans]

    def _ask(self, name: str, questions: Sequence[Instance]) -> dict[str, str]:
        """One round: each question once, all in one batch; key -> answer."""
        unique = {_key(question): question for question in questions}
        kept = sum(key in self.sub_cache.dbdict for key in unique) if self.sub_cache else 0
        told = _NAME, name, len(questions), len(unique), kept, self.sub_cache and self.sub_cache.cache_db
        _log.info("%s: %s round: %d questions, %d different, of which %d have answers in %s", *told)
        self.base.set_cache_hook(self.sub_cache.get_cache_hook() if self.sub_cache else CacheHook(None))
        texts = (self.sub_cache or self.base).generate_until(list(unique.values())) if unique else []
        # Servers may answer null, and a model half a character, which can't be written to a file.
        answers = {key: (text or "").encode(errors="replace").decode() for key, text in zip(unique, texts, strict=True)}
        figures = {
            "calls": len(unique),
            "tokens_in": sum(self.cost(_text(question.args[0])) for question in unique.values()),
            "tokens_out": sum(map(self.cost, answers.values())),
            "unfinished_thinking": sum(strip_thinking(answer).unfinished for answer in answers.values()),
        }
        self.totals[name] = {"questions": len(questions), "different": len(unique), "from_cache": kept}
        self.totals |= {f"{name}_{figure}": n for figure, n in figures.items()}
        return answers

    def cost(self, text: str) -> int:
        """Tokens of a text: by the base model's tokenizer, else as English has them."""
        tokenizer = getattr(self.base, "tokenizer", None)
        if callable(tokenizer) and hasattr(tokenizer, "convert_tokens_to_ids"):  # one that works here, not a server's
            return len(tokenizer.encode(text, add_special_tokens=False))
        return math.ceil(len(text.encode(errors="replace")) / _BYTES_PER_TOKEN)


class _Reading:
    """The questions about one topic, and what was made of the answers."""

    def __init__(self, model: CorpusLM, asked: Asked) -> None:
        self.model, self.asked, self.name = model, asked, str(asked.doc["query"])
        self.chunk_tokens, self.map_tokens, self.thinking, self.weight = model.settings.values()
        self.volume: Counter[datetime.date] = Counter()
        for article in asked.topic.articles:
            self.volume[article.date] += len(article.sentences)

    def map_round(self) -> list[Instance]:
        """The questions about all chunks."""
        tokens = self.map_tokens + self.thinking
        room = self._room(corpus.map_prompt(self.name, "", 999), tokens)
        chunks = corpus.make_chunks(self.asked.topic.articles, room, self.model.cost)
        prompts = (corpus.map_prompt(self.name, text, corpus.most_events(n, self.map_tokens)) for text, n in chunks)
        self.map_questions = [self.asked.ask(prompt, tokens, corpus.MAP_STOPS) for prompt in prompts]
        return self.map_questions

    def _room(self, question: str, tokens: int) -> int:
        """What a question has left for articles or notes."""
        taken = self.model.cost(_text(self.asked.ask(question, tokens).args[0])) + tokens + _MARGIN
        if self.chunk_tokens - taken < _SMALLEST_ROOM:
            expected = f"{taken + _SMALLEST_ROOM} or more: {taken} go to the question itself and the answer"
            raise InputError("chunk_tokens", None, str(self.chunk_tokens), expected)
        return int(self.chunk_tokens - taken)

    def rank(self, answers: Mapping[str, str]) -> int:
        """Read the answers, and rank the days that they name; how many events there are."""
        last = max(self.volume, default=datetime.date.max)
        texts = [answers[key] for key in dict.fromkeys(map(_key, self.map_questions))]
        events = [event for text in texts for event in corpus.read_events(text, last, self.map_tokens)]
        self.notes = corpus.by_day(events)
        self.days = list(corpus.rank_days(self.notes, self.volume, self.weight))
        if not events:
            _log.warning("tls_corpus: %s: no dated event in %d answers: its timelines are empty", self.name, len(texts))
        return len(events)

    def write_round(self, doc: Mapping[str, Any]) -> dict[datetime.date, Instance]:
        """The questions about the dates of one reference's timeline, in order of time."""
        n, questions = int(doc["n_sentences"]), {}
        tokens = corpus.write_tokens(n) + self.thinking
        for day in sorted(self.days[: int(doc["n_dates"])]):
            room = self._room(corpus.write_prompt(self.name, day, (), n), tokens)
            notes = corpus.central_notes(self.notes[day], room, self.model.cost)
            prompt = corpus.write_prompt(self.name, day, notes, n)
            questions[day] = self.asked.ask(prompt, tokens, corpus.WRITE_STOPS)
        return questions

    def timeline(self, doc: Mapping[str, Any], asked: Mapping[datetime.date, Instance], answers: dict[str, str]) -> str:
        """The timeline of one reference. Where the model wrote nothing, the first of its own notes stands."""
        tokens = corpus.write_tokens(int(doc["n_sentences"]))
        texts = {day: corpus.read_entry(answers[_key(question)], tokens) for day, question in asked.items()}
        return "\n".join(f"{day}: {text or self.notes[day][0]}" for day, text in texts.items())


def _chunk_tokens(model: Any, given: Mapping[str, Any], chunk_tokens: Any) -> int:
    """The size of a question with its answer."""
    known = None
    if "max_length" in given or not hasattr(model, "tokenized_requests"):  # behind an interface they say 2047 untold
        with suppress(AttributeError, NotImplementedError):
            known = model.max_length
    if chunk_tokens is None:
        if not isinstance(known, int):
            expected = "how many tokens a prompt and its answer may have together, such as 8192: the model doesn't say"
            raise InputError("chunk_tokens", None, "nothing", expected)
        return min(known, _MOST_TOKENS)
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
        name = hashlib.sha256(json.dumps([base, says, stats]).encode()).hexdigest()[:16]
        folder = cache_folder() / "corpus"
        folder.mkdir(parents=True, exist_ok=True)
    except (TypeError, DataError, OSError) as error:  # TypeError: an argument that is an object, and no text
        _log.warning("%s: no answer is kept in TLS_TASKS_CACHE: %s", _NAME, error)
        return None
    rank = os.environ.get("LOCAL_RANK", "0")  # processes of one tensor-parallel run each have a file, as in the harness
    return folder / f"{base}-{name}-{rank}.db"
