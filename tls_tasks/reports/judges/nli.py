"""A Hugging Face model of textual entailment as a judge of citation support (the extra ``hf``)."""

from __future__ import annotations

from typing import Any

from tls_tasks.core.errors import InputError, MissingExtraError
from tls_tasks.reports.judges.callable import CallableJudge
from tls_tasks.reports.types import Query, Verdict


def nli_name(model: str, max_length: int | None = None, **_: Any) -> str:
    """What the signature calls the judge with these arguments.

    Example:
        >>> nli_name("ORG/MODEL", 256)
        'nli:ORG/MODEL,max_length:256'
    """
    return f"nli:{model}" if max_length is None else f"nli:{model},max_length:{max_length}"


class NliJudge(CallableJudge):
    """Says that a document supports a sentence if any part of it entails the sentence.

    The document is the premise and the sentence the hypothesis. A premise that is too long for the model is cut into
    windows of tokens that overlap by a quarter, and the highest probability of entailment counts. Questions of other
    kinds get no verdict, ``unsupported``: combine this judge with another by
    :class:`~tls_tasks.reports.judges.callable.ByKind`.

    Args:
        model: A sequence classification model with a label that begins with "entail": a folder, or a name on the Hub.
        batch_size: How many windows the model reads at a time.
        device: Such as ``cuda``; by default a GPU if there is one.
        max_length: The longest input in tokens; by default what the model takes, at most 512.

    Raises:
        MissingExtraError: transformers or torch isn't installed.
        InputError: A model without a label for entailment.

    Example:
        ``ByKind({"citation_support": NliJudge("MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli")}, judge)``
    """

    def __init__(
        self, model: str, *, batch_size: int = 16, device: str | None = None, max_length: int | None = None
    ) -> None:
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError:
            raise MissingExtraError(f"NliJudge({model!r})", "hf") from None
        self._torch, self._batch_size = torch, batch_size
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._tokenizer: Any = AutoTokenizer.from_pretrained(model)
        self._model = AutoModelForSequenceClassification.from_pretrained(model).to(self._device)
        labels = self._model.config.id2label
        entailing = [int(label) for label in labels if str(labels[label]).lower().startswith("entail")]
        if not entailing:
            got = f"{model} with labels {sorted(labels.values())}"
            raise InputError("model", None, got, "a label that begins with 'entail'")
        self._entailment = entailing[0]
        known = [self._tokenizer.model_max_length, getattr(self._model.config, "max_position_embeddings", None) or 512]
        self._max_length = max_length or min([512, *known])
        super().__init__(self._support, nli_name(model, max_length))

    def _support(self, query: Query) -> float | Verdict:
        """The highest probability with which a window of the document entails the sentence."""
        if query.kind != "citation_support":
            return Verdict(None, "unsupported")
        windows = self._windows(query)
        probabilities: list[float] = []
        for start in range(0, len(windows["input_ids"]), self._batch_size):
            batch = {name: rows[start : start + self._batch_size].to(self._device) for name, rows in windows.items()}
            with self._torch.inference_mode():
                logits = self._model(**batch).logits.float()
            probabilities += logits.softmax(-1)[:, self._entailment].tolist()
        return max(probabilities)

    def _windows(self, query: Query) -> dict[str, Any]:
        """The inputs of the model, a row per window of the premise: premise and hypothesis as tokens."""
        premise, hypothesis = (
            query.fields[name].encode("utf-8", "replace").decode() for name in ("document", "sentence")
        )
        tokens = self._tokenizer(hypothesis, add_special_tokens=False)["input_ids"]
        if len(tokens) > self._max_length // 2:
            tokens = tokens[: self._max_length // 2]
            hypothesis = self._tokenizer.decode(tokens)
        room = self._max_length - len(tokens) - self._tokenizer.num_special_tokens_to_add(pair=True)
        inputs = self._tokenizer(
            premise, hypothesis, truncation="only_first", max_length=self._max_length, stride=max(room // 4, 0),
            return_overflowing_tokens=True, padding=True, return_tensors="pt",
        )  # fmt: skip
        return {name: inputs[name] for name in self._tokenizer.model_input_names if name in inputs}
