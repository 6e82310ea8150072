"""How many tokens a model takes, as far as that is known when its task is loaded."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import InputError

LONGEST_ANSWER = 8192
"""``max_gen_toks`` where the model's context is large enough, or not known."""

NOBODY = "which lm-eval takes where nobody states a max_length"
"""The source of a size that is no model's."""

_STATED = ("max_length", "max_model_len")
_NO_LENGTH = 10**9  # tokenizers without a length say 10^30
_SIZES = ("n_positions", "max_position_embeddings", "n_ctx")
_BYTES_A_TOKEN = 3.0
"""Used for models whose tokenizer is unavailable; English has 4 or more, so that estimates err on the safe side."""


@dataclass(frozen=True, slots=True)
class ModelContext:
    """A model's context.

    Attributes:
        size: The number of tokens that prompt and answer may have together.
        count: Text -> its number of tokens.
        examples: Tokens of the few-shot examples, which stand before each prompt.
        source: The source of the size, such as an option or a configuration.
        likely: The probable size if no option states it.

    Example:
        >>> context = ModelContext(4096, len)
        >>> context.answer(1 / 4), context.prompt(1024)
        (1024, 2816)
    """

    size: int
    count: Callable[[str], int]
    examples: int = 0
    source: str = ""
    likely: int = 0

    def __str__(self) -> str:
        """Return the size and its source."""
        return f"{self.size} tokens ({self.source})"

    def check_stated(self, name: str) -> None:
        """Raise InputError if documents would be shortened for a size that no option states.

        Raises:
            InputError: The message says what to type.
        """
        if self.source == NOBODY:
            size = self.likely if self.likely > self.size else "TOKENS"
            expected = f"{size}, or whatever the endpoint's model takes; add max_length={size} to --model_args"
            raise InputError("the model's context", None, f"{self}: too few for {name}", expected)

    def answer(self, share: float) -> int:
        """Return the number of tokens for the answer, ``max_gen_toks``: a share of the context."""
        return max(1, min(LONGEST_ANSWER, int(self.size * share)))

    def prompt(self, answer: int) -> int:
        """Return the number of tokens for the prompt; a sixteenth is reserved for chat template and system text."""
        return max(0, self.size - answer - self.size // 16 - self.examples)


def model_context(options: Mapping[str, Any]) -> ModelContext | None:
    """Return the context of the model that the harness runs.

    Args:
        options: The options of a task's loader: all of ``--model_args`` and ``--metadata``; as ``lm`` the
            model object, which cuts prompts to its ``max_length``, unless it is an API that gets them as text. Then,
            and without an object, ``max_length`` (or vLLM's ``max_model_len``) is taken if it is stated, else what the
            configuration of ``pretrained`` or ``tokenizer`` says, or the tokenizer. Nothing is fetched. ``examples`` is
            the text of the few-shot examples.

    Returns:
        None if no size can be determined, as for a model behind an API, or without transformers.

    Example:
        >>> model_context({"max_length": 4096}).size
        4096
        >>> model_context({"base_url": "http://127.0.0.1/v1"}) is None
        True
    """
    lm = options.get("lm")
    tokenizers = (_attempt("AutoTokenizer", options.get(key), options) for key in ("tokenizer", "pretrained"))
    tokenizer = getattr(lm, "tokenizer", None) or next(filter(None, tokenizers), None)
    count = _estimate if tokenizer is None else lambda text: len(tokenizer.encode(text))
    configured, source = _configured(options, tokenizer)
    stated = {text: key for key in _STATED if (text := str(options.get(key) or "")).isdecimal()}
    is_api = hasattr(lm, "tokenized_requests")
    if lm is not None and (not is_api or lm.tokenized_requests):
        size = lm.max_length + is_api  # an API's length lacks the answer's first token
        source = stated.get(str(size), NOBODY if is_api else type(lm).__name__)
    else:
        size, source = next(((int(text), key) for text, key in stated.items()), (configured, source))
    return ModelContext(size, count, count(options.get("examples", "")), source, configured) if size else None


def _estimate(text: str) -> int:
    return math.ceil(len(text.encode(errors="replace")) / _BYTES_A_TOKEN)


def _attempt(kind: str, name: Any, options: Mapping[str, Any]) -> Any:
    """Load an object of transformers from this machine; None if that fails, since the harness reports it itself."""
    if not isinstance(name, str) or not name:
        return None
    extra = {key: options[key] for key in ("revision", "trust_remote_code") if key in options}
    try:
        import transformers

        return getattr(transformers, kind).from_pretrained(name, local_files_only=True, **extra)
    except Exception:  # foreign files, and code if the user allows it, can raise anything, and the task must load
        return None


def _configured(options: Mapping[str, Any], tokenizer: Any) -> tuple[int, str]:
    """Return (size, source) as the harness's ``hf`` finds them; the size is 0 if there is none."""
    for key in ("pretrained", "tokenizer"):
        config = _attempt("AutoConfig", options.get(key), options)
        text = getattr(config, "text_config", None) or config
        for size in (getattr(text, name, None) for name in _SIZES):
            if isinstance(size, int):
                return size, f"the configuration of {options[key]}"
    size = getattr(tokenizer, "model_max_length", None)
    return (size, "the tokenizer") if isinstance(size, int) and 0 < size < _NO_LENGTH else (0, "")
