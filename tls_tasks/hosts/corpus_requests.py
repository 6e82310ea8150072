"""What ``tls_corpus`` is asked, and its own questions in the same dress: chat template, system instruction and all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lm_eval.api.instance import Instance
from lm_eval.api.model import hash_args

from tls_tasks.core.errors import InputError
from tls_tasks.timelines.documents import topic_of
from tls_tasks.timelines.task import TASKS
from tls_tasks.timelines.topics import Topic

_COLUMNS = {"topic", "edition", "reference", "query", "n_dates", "n_sentences"}
_LIMITS = {"until", "max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens", "max_length"}


class Asked(NamedTuple):
    """A request of a timeline task: its rendered prompt, what of it is the task's own, and generation options."""

    doc: Mapping[str, Any]
    rendered: Any
    own: str
    options: Mapping[str, Any]
    topic: Topic

    def ask(self, question: str, tokens: int, stops: Sequence[str]) -> Instance:
        """A request for the base model."""
        options = {key: value for key, value in self.options.items() if key not in _LIMITS}
        options |= {"until": list(stops), "max_gen_toks": tokens}
        arguments = (_put(self.rendered, self.own, question), options)
        return Instance("generate_until", doc={}, arguments=arguments, idx=0, metadata=("tls_corpus", 0, 1))


def read_request(request: Any) -> Asked | None:
    """A request of a timeline task with articles; None for any other."""
    doc = request.doc
    if not isinstance(doc, Mapping) or not doc.keys() >= _COLUMNS:
        return None
    rendered, options = request.args[:2]
    own, closed_book = (TASKS[name].prompt(doc).strip() for name in ("tls_crisis", "tls_crisis_closed_book"))
    contents = _contents(rendered)
    if not any(own in text for text in contents):
        if any(closed_book in text for text in contents) or not doc.get("context"):
            return None
        got = f"one of {request.task_name} without the task's own text"
        raise InputError("prompt", None, got, "a task whose doc_to_text is ours: tls_corpus asks its questions instead")
    before = "\n".join(text.rpartition(own)[0] if own in text else text for text in contents)
    if f"\n{own.splitlines()[-1]}" in before:
        raise InputError("num_fewshot", None, "examples in the prompt", "0: the questions of tls_corpus have none")
    return Asked(doc, rendered, own, options, topic_of(doc))


def _messages(rendered: Any) -> Any:
    """The messages of a rendered prompt; None if it is text."""
    if isinstance(rendered, str):
        return None
    return json.loads(rendered.prompt) if hasattr(rendered, "prompt") else rendered


def _contents(rendered: Any) -> list[str]:
    messages = _messages(rendered)
    return [rendered] if messages is None else [str(message["content"]) for message in messages]


def text_of(rendered: Any) -> str:
    """The text of a rendered prompt, all messages of it."""
    return "\n".join(_contents(rendered))


def _put(rendered: Any, own: str, question: str) -> Any:
    """A rendered prompt with a question in the place of the task's own text."""
    messages = _messages(rendered)
    if messages is None:
        head, _, tail = rendered.rpartition(own)
        return head + question + tail
    messages = [{**message, "content": message["content"].replace(own, question)} for message in messages]
    if not hasattr(rendered, "prompt"):
        return messages
    return rendered._replace(prompt=json.dumps(messages, ensure_ascii=False))  # the harness's own kind of named tuple


def key_of(instance: Instance) -> str:
    """What the harness's cache knows a request by."""
    return str(hash_args("generate_until", instance.args))
