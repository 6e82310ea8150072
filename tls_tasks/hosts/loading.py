"""Loading a task's documents so that they fit the model's context.

Of what the user says of the model, a task sees ``--model_args``. Whatever cannot be found out there without network is
unknown, and a document is then cut by characters alone.
"""

import itertools
import logging
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.task import Doc, Task
from tls_tasks.data.model_context import ModelContext, model_context

_AUTO = "auto"
"""The ``context_budget`` that fills the model's context."""

_MOST_BYTES_PER_TOKEN = 8
"""So long is the text that is taken before it is cut to fit."""

_LEAST_ANSWER = 256
"""To so many tokens the answer shrinks where a task's file does not state ``least_answer_tokens``."""

_log = logging.getLogger(__name__)


def load_fitting(task: Task, name: str, options: Mapping[str, Any]) -> Sequence[Doc]:
    """Load a task's documents, so that examples, each prompt and its answer fit into the model's context.

    Where room is short the answer shrinks first, to ``least_answer_tokens``, and then the documents, from their ends.
    One warning says what was cut, and ``provenance`` keeps it for the results.

    Args:
        task: The task; its ``shorter`` shortens documents, unless its ``load`` takes ``model_args`` and fits them.
        name: The name of the task.
        options: All that the loading of a task is given. ``generation`` is the task's ``generation_kwargs`` itself, by
            an anchor in its YAML: its ``max_gen_toks`` becomes what fits, counted from the constant ``answer_tokens``,
            since the harness may use one configuration twice; ``max_gen_toks`` is what the user states instead.
            ``num_fewshot`` is the number of examples.

    Raises:
        OptionError: If the budget is a word other than ``auto``.
        InputError: If nothing is left of more than half of the documents; names the smallest context that would do.

    Example:
        >>> import tls_tasks
        >>> task, generation = tls_tasks.task("tree_extraction"), {"max_gen_toks": 2048}
        >>> options = {"generation": generation, "answer_tokens": 2048, "max_length": 2048, "edition": "embedded"}
        >>> documents = load_fitting(task, task.name, options)
        >>> generation, documents[0]["text_truncated"]
        ({'max_gen_toks': 955}, 0)
    """
    examples = task.fewshot(name)[: options.get("num_fewshot", 0)] if task.fewshot else ()
    shown = "".join(f"{task.prompt(doc)}\n{task.target(doc)}\n\n" for doc in examples)
    options = {**options, "examples": shown}
    model, provenance = model_context(options), options.get("provenance")
    if provenance is not None:
        provenance["context"] = str(model or "unknown")
    rest = {key: value for key, value in options.items() if key in task.options}
    if "model_args" in task.options:  # it fits its documents itself: timelines choose their sentences
        return task.load(name, **{**rest, "model_args": options})
    generation, budget, stated = options.get("generation"), rest.get("context_budget"), options.get("max_gen_toks")
    wanted = stated or options.get("answer_tokens")
    if isinstance(budget, str):
        if budget != _AUTO:
            raise OptionError.unknown("context_budget", budget, ("a whole number", _AUTO))
        del rest["context_budget"]  # the family's default, in characters, where the context is not known
    if generation is None or not wanted:
        return task.load(name, **rest)
    generation["max_gen_toks"] = wanted
    if model is None:
        return task.load(name, **rest)
    least = min(wanted, stated or options.get("least_answer_tokens", _LEAST_ANSWER))
    if budget == _AUTO:  # the documents may have any length, so that the answer has its share before them
        least = max(least, min(wanted, model.size // 4))
        rest["context_budget"] = max(1, model.prompt(least)) * _MOST_BYTES_PER_TOKEN
    docs = task.load(name, **rest)
    answer, prompts = wanted, [task.prompt(doc) for doc in docs]
    if not all(_fits(prompt, model.prompt(answer), model.count) for prompt in prompts):
        answer = min(wanted, max(least, model.prompt(0) - max(map(model.count, prompts))))
    generation["max_gen_toks"] = answer
    room = model.prompt(answer)
    fitting = [_fitting(task, doc, room, model.count) for doc in docs]
    n_cut = sum(new is not old for new, old in zip(fitting, docs, strict=True))
    if n_cut:
        model.check_stated(name)
    if _is_lost(task, docs, fitting):
        needs = f"num_fewshot={len(examples)} and answers of {least} tokens leave nothing of most documents"
        expected = f"at least {_smallest(task, docs, model, least)}: {needs}"
        raise InputError("the model's context", None, f"{model.size} tokens for {name}", expected)
    frames = [_emptied(task, doc) for doc in docs]
    kept, whole, without = (sum(len(task.prompt(doc)) for doc in column) for column in (fitting, docs, frames))
    share = 100 * (kept - without) / max(1, whole - without)
    said = f"{n_cut} of {len(docs)} documents shortened to prompts of {room} tokens, which show {share:.1f} % of "
    said += f"the text; answers of {answer} tokens"
    if n_cut and (n_over := sum(not _fits(task.prompt(doc), room, model.count) for doc in fitting)):
        said += f"; prompts longer even without their documents: {n_over}"
    if n_cut or answer < wanted:
        _log.warning("%s: to fit the model's context of %s tokens: %s (of %s)", name, model.size, said, wanted)
    if provenance is not None:
        provenance["context"] = f"{model}: {said}"
    return fitting


def _fitting(task: Task, doc: Doc, room: int, count: Callable[[str], int]) -> Doc:
    assert task.shorter is not None
    while True:
        prompt = task.prompt(doc)
        if _fits(prompt, room, count):
            return doc
        n_tokens = count(prompt)  # the end of a text may have fewer tokens than its share: then it is cut once more
        cut = task.shorter(doc, max(1, len(prompt) * (n_tokens - room) // n_tokens))
        if len(task.prompt(cut)) >= len(prompt):
            return doc  # what is left is the instruction
        doc = cut


def _emptied(task: Task, doc: Doc) -> Doc:
    """The document with nothing left to show: only the instruction."""
    return _fitting(task, doc, 0, len)


def _is_lost(task: Task, docs: Sequence[Doc], fitting: Sequence[Doc]) -> bool:
    """Whether nothing is left of more than half of the documents."""
    cut = [(new, old) for new, old in zip(fitting, docs, strict=True) if new is not old]
    return 2 * sum(task.prompt(new) == task.prompt(_emptied(task, old)) for new, old in cut) > len(docs)


def _smallest(task: Task, docs: Sequence[Doc], model: ModelContext, answer: int) -> int:
    """The smallest context that leaves something of at least half of the documents, of many by a sample."""
    docs = docs[:: len(docs) // 200 + 1]

    def does(size: int) -> bool:
        room = replace(model, size=size).prompt(answer)
        return not _is_lost(task, docs, [_fitting(task, doc, room, model.count) for doc in docs])

    enough = next(size for n in itertools.count(1) if does(size := model.size << n))
    return bisect_left(range(enough), True, enough // 2, key=does)


def _fits(prompt: str, room: int, count: Callable[[str], int]) -> bool:
    """No token is shorter than a byte, so that most prompts need not be counted for a large context."""
    return len(prompt.encode("utf-8", "replace")) <= room or count(prompt) <= room
