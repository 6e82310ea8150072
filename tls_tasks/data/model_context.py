"""How many tokens a model takes, as far as that is known when its task is loaded."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_ANSWER = 8192
"""``max_gen_toks`` where the model's context is large enough, or not known."""

_DEFAULT_SIZE = 2048
"""What the harness takes for models whose configuration names no length."""

_SIZES = ("n_positions", "max_position_embeddings", "n_ctx")
_BYTES_A_TOKEN = 3.0
"""For models whose tokenizer isn't at hand; English has 4 or more, so that this errs on the safe side."""


@dataclass(frozen=True, slots=True)
class ModelContext:
    """A model's context.

    Attributes:
        size: How many tokens prompt and answer may have together.
        count: Text -> its number of tokens.
        examples: Tokens of the few-shot examples, which stand before each prompt.

    Example:
        >>> context = ModelContext(4096, len)
        >>> context.answer(1 / 4), context.prompt(1024)
        (1024, 2816)
    """

    size: int
    count: Callable[[str], int]
    examples: int = 0

    def answer(self, share: float) -> int:
        """The room for the answer, ``max_gen_toks``: a share of the context."""
        return max(1, min(LONGEST_ANSWER, int(self.size * share)))

    def prompt(self, answer: int) -> int:
        """What is left for the prompt: a sixteenth is for the chat template and a system instruction."""
        return max(0, self.size - answer - self.size // 16 - self.examples)


def model_context(options: Mapping[str, Any]) -> ModelContext | None:
    """The context of the model that the harness runs.

    Args:
        options: What the harness hands to a task's load: all of ``--model_args`` and ``--metadata``. ``max_length`` (or
            vLLM's ``max_model_len``) is taken if it is given; else what the configuration of ``pretrained`` says, or
            the tokenizer. The model has been loaded by then, so that nothing is fetched. ``examples`` is the text of
            the few-shot examples.

    Returns:
        None where nothing is known: of a model behind an API, or without transformers.

    Example:
        >>> model_context({"max_length": 4096}).size
        4096
        >>> model_context({"base_url": "http://127.0.0.1/v1"}) is None
        True
    """
    tokenizers = (_attempt("AutoTokenizer", options.get(key), options) for key in ("tokenizer", "pretrained"))
    tokenizer = next(filter(None, tokenizers), None)
    given = next((str(options[key]) for key in ("max_length", "max_model_len") if options.get(key)), "")
    size = int(given) if given.isdecimal() else _size(options, tokenizer)
    count = _estimate if tokenizer is None else _counter(tokenizer)
    return ModelContext(size, count, count(options.get("examples", ""))) if size else None


def _counter(tokenizer: Any) -> Callable[[str], int]:
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))


def _estimate(text: str) -> int:
    return math.ceil(len(text.encode(errors="replace")) / _BYTES_A_TOKEN)


def _attempt(kind: str, name: Any, options: Mapping[str, Any]) -> Any:
    """What transformers finds on this machine; None for everything else, which the harness says in its own words."""
    if not isinstance(name, str) or not name:
        return None
    extra = {key: options[key] for key in ("revision", "trust_remote_code") if key in options}
    try:
        import transformers

        return getattr(transformers, kind).from_pretrained(name, local_files_only=True, **extra)
    except Exception:  # other people's files and, where the user allowed it, code: whatever fails, the task must load
        return None


def _size(options: Mapping[str, Any], tokenizer: Any) -> int | None:
    """As the harness's ``hf`` finds it; a configuration of several models has the text model's below."""
    config = _attempt("AutoConfig", options.get("pretrained"), options)
    text = getattr(config, "text_config", None) or config
    found = [*(getattr(text, key, None) for key in _SIZES), getattr(tokenizer, "model_max_length", None)]
    # A tokenizer without a length says 10^30.
    known = next((size for size in found if isinstance(size, int) and 0 < size < 10**9), None)
    return known or (None if config is None else _DEFAULT_SIZE)
