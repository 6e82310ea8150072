"""Judges made of a function, of a model of textual entailment (the extra ``hf``), or of other judges by kind."""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError, check_choice, describe, needs_extra
from tls_tasks.core.options import custom_sign
from tls_tasks.reports.judges.price import calls_of, known_to
from tls_tasks.reports.judges.questions import ask_once, from_probability, shorten, verdict_in
from tls_tasks.reports.types import PARTLY, QUERY_KINDS, Judge, Query, Verdict

_log = logging.getLogger(__name__)
_Say = Callable[[Judge, Sequence[Query]], Sequence[Verdict]]


class CallableJudge:
    """A judge that asks a function; see :func:`from_callable`."""

    def __init__(self, function: Callable[[Query], Any], name: str) -> None:
        self._function = function
        self.name = name

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; the function is called once for each different question."""
        return ask_once(queries, lambda questions: [self._ask(query) for query in questions.values()])

    def _ask(self, query: Query) -> Verdict:
        try:
            answer = self._function(query)
        except Exception as error:  # a fault of the instrument, whatever it is: unscored and counted
            _log.warning("judge %s failed on a question of kind %s: %r", self.name, query.kind, error)
            return Verdict(None, "failed", shorten(repr(error)))
        if query.is_graded and isinstance(answer, float) and answer == PARTLY:
            return Verdict(PARTLY)
        return _verdict_of(answer, self.name, query.is_graded)


def from_callable(function: Callable[[Query], Any], name: str | None = None) -> CallableJudge:
    """A judge that asks a function.

    Args:
        function: Takes a :class:`~tls_tasks.reports.types.Query` and returns True or False; the probability of yes in
            [0, 1], where 0.5 is a yes (of a criterion with a scale: partly); the words of a model; a
            :class:`~tls_tasks.reports.types.Verdict`; or None for no verdict. If it raises an exception, the query is
            left without a verdict.
        name: For the signature.

    Example:
        >>> judge = from_callable(lambda query: "not" in query.fields["sentence"].split(), name="word")
        >>> judge.name
        'custom(word)'
        >>> judge.ask([Query("negative", {"sentence": "It was not so."})])[0].value
        True
    """
    if not callable(function):
        raise InputError("function", None, describe(function), "a function that takes a Query")
    return CallableJudge(function, custom_sign(function, name))


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
        with needs_extra(f"NliJudge({model!r})", "hf"):
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        self._torch, self._batch_size = torch, batch_size
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._tokenizer: Any = AutoTokenizer.from_pretrained(model)
        self._model = AutoModelForSequenceClassification.from_pretrained(model).to(self._device)
        labels = self._model.config.id2label
        entailing = [int(label) for label in labels if str(labels[label]).lower().startswith("entail")]
        if not entailing:
            raise InputError("model", None, f"{model}: {sorted(labels.values())}", "a label that begins with 'entail'")
        self._entailment = entailing[0]
        known = [self._tokenizer.model_max_length, getattr(self._model.config, "max_position_embeddings", None) or 512]
        self._max_length = max_length or min([512, *known])
        super().__init__(self._support, nli_name(model, max_length))

    def _support(self, query: Query) -> float | Verdict:
        """The highest probability with which a window of the document entails the sentence."""
        if query.kind != "citation_support":
            return Verdict(None, "unsupported")
        names = ("document", "sentence")
        premise, hypothesis = (query.fields[name].encode("utf-8", "replace").decode() for name in names)
        tokens = self._tokenizer(hypothesis, add_special_tokens=False)["input_ids"]
        if len(tokens) > self._max_length // 2:
            tokens = tokens[: self._max_length // 2]
            hypothesis = self._tokenizer.decode(tokens)
        room = self._max_length - len(tokens) - self._tokenizer.num_special_tokens_to_add(pair=True)
        windows = self._tokenizer(
            premise, hypothesis, truncation="only_first", max_length=self._max_length, stride=max(room // 4, 0),
            return_overflowing_tokens=True, padding=True, return_tensors="pt",
        )  # fmt: skip
        inputs = {name: windows[name] for name in self._tokenizer.model_input_names if name in windows}
        probabilities: list[float] = []
        for start in range(0, len(inputs["input_ids"]), self._batch_size):
            batch = {name: rows[start : start + self._batch_size].to(self._device) for name, rows in inputs.items()}
            with self._torch.inference_mode():
                probabilities += self._model(**batch).logits.float().softmax(-1)[:, self._entailment].tolist()
        return max(probabilities)


class ByKind:
    """A judge that passes each kind of question to a judge of its own, such as an NLI model for citation support.

    Args:
        judges: Kind of question -> judge.
        other: The judge for all other kinds.

    Raises:
        OptionError: A kind that doesn't exist.

    Example:
        >>> from tls_tasks.reports.judges.recordings import Recorded
        >>> no = Recorded([], defaults={"negative": "NO"}, name="no")
        >>> judge = ByKind({"citation_support": Recorded([], name="yes")}, no)
        >>> judge.name, judge.ask([Query("negative", {"sentence": "s"})])[0].value
        ('no,default:negative=NO,citation_support=yes', False)
    """

    def __init__(self, judges: Mapping[str, Judge], other: Judge) -> None:
        for kind in judges:
            check_choice("judges", kind, QUERY_KINDS)
        self._judges, self._other = dict(judges), other
        self.name = ",".join([other.name, *(f"{kind}={judge.name}" for kind, judge in judges.items())])

    def calls(self, queries: Sequence[Query]) -> list[tuple[int, int]]:
        """How many questions and bytes each request has that the judges would send."""
        return [call for judge, asked in self._shares(queries) for call in calls_of(judge, list(asked.values()))]

    def known(self, queries: Sequence[Query]) -> list[Verdict]:
        """The verdicts that the judges' caches have."""
        return self.ask(queries, known_to)

    def ask(self, queries: Sequence[Query], say: _Say = lambda judge, asked: judge.ask(asked)) -> list[Verdict]:
        """One verdict per query, in order."""
        verdicts: dict[int, Verdict] = {}
        for judge, asked in self._shares(queries):
            verdicts |= zip(asked, say(judge, list(asked.values())), strict=True)
        return [verdicts[index] for index in range(len(queries))]

    def _shares(self, queries: Sequence[Query]) -> list[tuple[Judge, dict[int, Query]]]:
        """Each judge with its questions by their positions."""
        shares: dict[str, dict[int, Query]] = {}
        for index, query in enumerate(queries):
            shares.setdefault(query.kind if query.kind in self._judges else "", {})[index] = query
        return [(self._judges.get(kind, self._other), asked) for kind, asked in shares.items()]


def _verdict_of(answer: Any, name: str, is_graded: bool = False) -> Verdict:
    """The verdict in an answer that :func:`from_callable` allows; ``name``: the judge, for errors.

    Raises:
        InputError: Anything else.

    Example:
        >>> [_verdict_of(answer, "j").value for answer in (True, "yes.", " NO", "MAYBE", 0.7, None)]
        [True, True, False, None, True, None]
    """
    if hasattr(answer, "item"):
        answer = answer.item()  # a scalar of numpy or torch
    if isinstance(answer, Verdict):
        return answer
    if answer is None or isinstance(answer, bool):
        return Verdict(answer, "missing" if answer is None else "")
    if isinstance(answer, str):
        return verdict_in(answer, is_graded=is_graded)
    if isinstance(answer, int | float) and (math.isnan(answer) or 0 <= answer <= 1):
        return from_probability(float(answer))
    raise InputError(f"answer of {name}", None, describe(answer), "a bool, a number in [0, 1], a str or a Verdict")
