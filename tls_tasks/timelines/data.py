"""Data of the timeline tasks: loaders, the order of sources, the embedded editions and ``tls-tasks prepare``.

Importing this package costs nothing: what reads and loads is imported when it is called.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.core.errors import InputError

if TYPE_CHECKING:
    import datasets

    from tls_tasks.timelines.context import Budget

__all__ = ["DEFAULT_CONTEXT_BUDGET", "load_timeline_task"]

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of article text in a prompt, some 6,000 tokens of English: a context of 8k has room for the answer."""


def load_timeline_task(
    name: str,
    /,
    *,
    closed_book: bool = False,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    context_tokens: int | None = None,
    tokenizer: str | None = None,
    provenance: MutableMapping[str, str] | None = None,
    **ignored: Any,
) -> dict[str, datasets.Dataset]:
    """Load the documents of one task, as the harness's ``custom_dataset`` wants them.

    The harness calls it with everything in the task's ``metadata``, in ``--metadata`` and in ``--model_args``. The
    options below are read; everything else (``version``, ``base_url``, ``config_source`` …) is for others and ignored.

    Args:
        name: Data set: ``tls_crisis``, ``tls_timeline17``, ``tls_entities`` or ``tls_open``.
        closed_book: Make the form that gives only topic, time and number of dates, and needs no articles.
        data: Where the data is, instead of the usual order; see :func:`tls_tasks.timelines.sources.load_topics`.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of article text in a prompt. Not used with ``context_tokens``.
        context_tokens: Tokens of article text in a prompt.
        tokenizer: Hugging Face tokenizer that counts ``context_tokens``; without it the model's own (``pretrained`` of
            the model arguments) is taken.
        provenance: Filled with ``edition`` and ``origin`` of the data. A task with ``provenance: {}`` in its metadata
            gets them into its results file that way, because the harness writes the same metadata there.
        **ignored: What is meant for others; only ``pretrained`` is looked at, as said above.

    Returns:
        ``{"test": dataset}`` with one row a (topic, reference timeline) pair; the columns are text and whole numbers,
        listed in :mod:`tls_tasks.timelines.documents`.

    Raises:
        DataError: If the data that was asked for can't be used.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.
        MissingExtraError: If ``context_tokens`` is set and transformers isn't installed.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     task = load_timeline_task("tls_crisis", closed_book=True, edition="embedded", version=1.0)
        >>> task["test"]["topic"][0]
        'egypt'
    """
    from tls_tasks.data.loading import as_split
    from tls_tasks.timelines.documents import NUMBER_FIELDS, TEXT_FIELDS, documents
    from tls_tasks.timelines.sources import load_topics

    budget = None if closed_book else _budget(context_budget, context_tokens, tokenizer or ignored.get("pretrained"))
    loaded = load_topics(name, data, need_articles=not closed_book, edition=edition)
    rows = documents(loaded.documents, loaded.edition, budget)
    return as_split(loaded, rows, TEXT_FIELDS, NUMBER_FIELDS, provenance)


def _budget(characters: int, tokens: int | None, tokenizer: object) -> Budget:
    from tls_tasks.data.order import whole_number
    from tls_tasks.timelines.context import character_budget, token_budget

    if tokens is None:
        return character_budget(whole_number("context_budget", characters))
    if not isinstance(tokenizer, str):
        raise InputError("tokenizer", None, repr(tokenizer), "the name of a Hugging Face tokenizer, for context_tokens")
    return token_budget(whole_number("context_tokens", tokens), tokenizer)
