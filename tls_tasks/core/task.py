"""A task: documents, prompts, and how an answer becomes numbers. Free of any host.

lm-eval's YAML files, the command line and the page are views of it.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tls_tasks.core.errors import check_options, without_warnings
from tls_tasks.core.score import Results, Score, Unit, mean_unit, table_parts, unscored, values
from tls_tasks.core.terminal import beginning

_log = logging.getLogger(__name__)

Doc = Mapping[str, Any]
"""A document: plain values by name; ``doc_id`` names it."""


@dataclass(frozen=True, repr=False)
class Task:
    """Documents, the prompt of each, and the scores of an answer.

    Attributes:
        name: The name for ``lm_eval --tasks``.
        family: ``timelines``, ``summaries``, ``evidence``, ``trees`` or ``reports``.
        table: Result key -> :class:`~tls_tasks.core.score.Result`.
        load: (name, options by keyword) -> the documents.
        prompt: A document -> its prompt.
        target: A document -> a reference in the form of an answer.
        unit: (document, answer) -> its sums. May raise for documents, never for answers.
        scores: (document, answer) -> metric -> Score of the answer.
        picture: (document, answer, result of :meth:`explain`) -> plain data of a ``kind`` that the page's script can
            draw.
        topic: The document's field with its topic: documents of a topic are resampled together. A document without
            this field is resampled alone.
        judge: For tasks whose answers are judged: (answers, documents) -> the judged answers, which ``unit`` and
            ``scores`` take. All answers are judged in one call, so that many questions are in flight.
        get_table: A document -> its table, if tables depend on documents (an extraction's schema); None: ``table``.
        fewshot: The task's name -> example documents for few-shot prompts, with the columns of its documents; their
            targets are the examples' answers. They occur in no test set.
        shorter: (document, characters) -> the document with about that many characters less in its prompt.
        among: Documents -> (the name of a reference, a document with others of its topic or document as reference, that
            reference as an answer), where there are several; None: a document has one reference by definition.
        reported: The results that papers report, for tables; empty: the headline and the first others.
        headline: The result by which systems are ranked.

    Example:
        >>> import tls_tasks
        >>> task = tls_tasks.task("summ_qmsum")
        >>> document = task.documents()[0]
        >>> results = task.results([task.process(document, task.target(document))])
        >>> results["rouge_l_f1"]
        1.0
    """

    name: str
    family: str
    table: Results
    load: Callable[..., Sequence[Doc]]
    prompt: Callable[[Doc], str]
    target: Callable[[Doc], str]
    unit: Callable[[Doc, str], Unit]
    scores: Callable[[Doc, str], Mapping[str, Score]]
    picture: Callable[[Doc, str, Mapping[str, Any]], dict[str, Any]]
    topic: str = ""
    judge: Callable[[Sequence[str], Sequence[Doc]], list[str]] | None = None
    get_table: Callable[[Doc], Results] | None = None
    fewshot: Callable[[str], Sequence[Doc]] | None = None
    shorter: Callable[[Doc, int], Doc] | None = None
    headline: str = ""
    reported: tuple[str, ...] = ()
    among: Callable[[Sequence[Doc]], Iterable[tuple[str, Doc, str]]] | None = None

    def __repr__(self) -> str:
        """The name and the result keys."""
        return f"<Task {self.name}: {', '.join(self.table)}>"

    def documents(self, **options: Any) -> Sequence[Doc]:
        """The documents; the options are those of ``lm_eval --metadata``.

        Raises:
            OptionError: If the task reads no such option.
        """
        check_options(self.name, options, self.options)
        return self.load(self.name, **options)

    @property
    def options(self) -> tuple[str, ...]:
        """What ``load`` reads: its keyword arguments."""
        parameters = inspect.signature(self.load).parameters.values()
        return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)

    def for_document(self, doc: Doc) -> Task:
        """The task with the table of such documents."""
        return self if self.get_table is None else replace(self, table=self.get_table(doc), get_table=None)

    def get_topic(self, doc: Doc) -> Hashable:
        """The topic of the document: documents of a topic are resampled together."""
        return (self.topic and doc.get(self.topic)) or doc.get("doc_id")

    @property
    def with_errors(self) -> tuple[str, ...]:
        """The results whose standard error a host can't know: no plain mean, or documents that belong together."""
        judged = {key: own for key, own in self.table.items() if not own.is_count and own.better is not None}
        return tuple(key for key, own in judged.items() if self.topic or not own.is_mean)

    def score(self, doc: Doc, answer: str) -> dict[str, float]:
        """The answer's unit; may raise whatever the scorer raises for a document that no task has made."""
        with without_warnings(UserWarning):  # results of their own count these for the whole run
            unit = self.unit(doc, answer)
        return {part: float(unit.get(part, 0.0)) for part in table_parts(self.table)}

    def process(self, doc: Doc, answer: str) -> dict[str, float]:
        """The answer's unit. Where the scorer fails all parts are NaN: an exception would lose the whole run."""
        try:
            return self.score(doc, answer)
        except Exception:  # whatever a scorer raises must not cost the answers; NaN shows it, and the log says why
            _log.exception("%s: could not score document %s: its results are NaN", self.name, doc.get("doc_id", "?"))
            return unscored(self.table)

    def process_repeats(self, doc: Doc, results: Sequence[Any]) -> dict[str, float]:
        """The unit of a document that may have been answered several times, as a host has the answers."""
        return mean_unit([self.process(doc, answer) for answer in answers_in(results)])

    def explain(self, doc: Doc, answer: str) -> dict[str, dict[str, Any]]:
        """Metric -> its detailed results for the answer, as plain values."""
        return {name: score.as_dict(detailed=True) for name, score in self.scores(doc, answer).items()}

    def results(self, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> dict[str, float]:
        """The numbers of these units."""
        return values(self.table, units, topics)


def shorter_text(doc: Doc, by: int) -> Doc:
    """A document whose ``text`` is shorter by at least so many characters; ``text_truncated`` counts them.

    Example:
        >>> shorter_text({"text": "It rained. It snowed.", "text_truncated": 3}, 8)
        {'text': 'It rained.', 'text_truncated': 14}
    """
    kept = beginning(doc["text"], len(doc["text"]) - by)
    return {**doc, "text": kept, "text_truncated": doc["text_truncated"] + len(doc["text"]) - len(kept)}


def answer_text(results: Sequence[Any]) -> str:
    """The answer as text, empty if there is none. Filters of the user's own may have made a list or None of it.

    Example:
        >>> answer_text([["a summary"]]), answer_text([None])
        ('a summary', '')
    """
    answer: Any = results[0] if len(results) else ""
    while isinstance(answer, list | tuple):
        answer = answer[0] if answer else ""
    return answer if isinstance(answer, str) else ""


def answers_in(results: Sequence[Any]) -> list[str]:
    """A document's answers, one a repeat: lm-eval 0.4 has a list of them in a list, 0.5 the list.

    Example:
        >>> answers_in([["a summary", "another"]]), answers_in(["a summary", "another"]), answers_in([])
        (['a summary', 'another'], ['a summary', 'another'], [''])
    """
    answers = results[0] if len(results) == 1 and isinstance(results[0], list | tuple) else results
    return [answer_text([answer]) for answer in answers] or [""]


def read_prompt(prompt: str) -> tuple[str, str]:
    r"""Take a prompt apart.

    Args:
        prompt: With a document between the lines ``<document>`` and ``</document>``. If there are more than one
            (few-shot), the last is the one that is asked about.

    Returns:
        The document, empty if there is none, and what stands after it.

    Example:
        >>> read_prompt("<document>\nIt rained.\n</document>\n\nSummary:")
        ('It rained.', '\n\nSummary:')
    """
    before, _, after = prompt.rpartition("\n</document>")
    _, opening, document = f"\n{before}\n".rpartition("\n<document>\n")
    return (document[:-1], after) if opening else ("", prompt)


def text_around(prompt: str, request: str) -> tuple[str, str] | None:
    r"""What stands before and after a prompt in a request: examples, a chat template, the JSON of a chat.

    Returns:
        Both texts, empty where the prompt stands alone; None if the request does not ask it.

    Example:
        >>> text_around("1 + 1?\nSum:", "[INST] 1 + 1?\nSum: [/INST]"), text_around("1 + 1?\nSum:", "1 + 2?\nSum:")
        (('[INST] ', ' [/INST]'), None)
        >>> text_around("1 + 1?\nSum:", json.dumps([{"role": "user", "content": "1 + 1?\nSum:"}]))
        ('[{"role": "user", "content": "', '"}]')
    """
    bare = prompt.strip()  # templates strip what they are given
    for form in (bare, *(json.dumps(bare, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True))):
        before, is_there, after = request.rpartition(form)
        if is_there:
            return before, after
    return None
