"""A task: documents, prompts and the scoring of answers, independent of any host.

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
    """A task: loads documents, writes their prompts, and scores answers.

    Attributes:
        name: The name for ``lm_eval --tasks``.
        family: ``timelines``, ``summaries``, ``evidence``, ``trees`` or ``reports``.
        table: Result key -> :class:`~tls_tasks.core.score.Result`.
        load: (name, options by keyword) -> the documents.
        prompt: A document -> its prompt.
        target: A document -> a reference in the form of an answer.
        unit: (document, answer) -> the answer's unit. May raise for bad documents, never for bad answers.
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
        among: Scores human references against each other: documents -> (name of a reference, document with the other
            references of the topic or document, that reference as an answer); None: documents have one reference.
        reported: The results that papers report, for tables; empty: the headline and the first others.
        headline: The result key by which systems are ranked.

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
        """Return the name and the result keys."""
        return f"<Task {self.name}: {', '.join(self.table)}>"

    def documents(self, **options: Any) -> Sequence[Doc]:
        """Load the documents; the options are those of ``lm_eval --metadata``.

        Raises:
            OptionError: If the task reads no such option.
        """
        check_options(self.name, options, self.options)
        return self.load(self.name, **options)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that ``load`` takes: its keyword arguments."""
        parameters = inspect.signature(self.load).parameters.values()
        return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)

    def for_document(self, doc: Doc) -> Task:
        """Return the task with the table of results for this document."""
        return self if self.get_table is None else replace(self, table=self.get_table(doc), get_table=None)

    def get_topic(self, doc: Doc) -> Hashable:
        """Return the document's topic; documents of one topic are resampled together."""
        return (self.topic and doc.get(self.topic)) or doc.get("doc_id")

    @property
    def jackknife_keys(self) -> tuple[str, ...]:
        """The results whose standard error a host can't compute: no plain means, or documents share topics."""
        judged = {key: row for key, row in self.table.items() if not row.is_count and row.better is not None}
        return tuple(key for key, result in judged.items() if self.topic or not result.is_mean)

    def score(self, doc: Doc, answer: str) -> dict[str, float]:
        """Return the answer's unit; raises what the scorer raises for a document that no task has made."""
        with without_warnings(UserWarning):  # other results count these cases for the whole run
            unit = self.unit(doc, answer)
        return {part: float(unit.get(part, 0.0)) for part in table_parts(self.table)}

    def process(self, doc: Doc, answer: str) -> dict[str, float]:
        """Return the answer's unit; all parts are NaN where the scorer fails, so that a run is not lost."""
        try:
            return self.score(doc, answer)
        except Exception:  # no exception may lose the answers of a run: NaN and the log show it
            _log.exception("%s: could not score document %s: its results are NaN", self.name, doc.get("doc_id", "?"))
            return unscored(self.table)

    def process_repeats(self, doc: Doc, results: Sequence[Any]) -> dict[str, float]:
        """Return the unit of a document that may have several answers, in the form in which hosts give them."""
        return mean_unit([self.process(doc, answer) for answer in answers_in(results)])

    def explain(self, doc: Doc, answer: str) -> dict[str, dict[str, Any]]:
        """Return the detailed results for the answer by metric, as plain values."""
        return {name: score.as_dict(detailed=True) for name, score in self.scores(doc, answer).items()}

    def results(self, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> dict[str, float]:
        """Return the results of these units."""
        return values(self.table, units, topics)


def shorter_text(doc: Doc, by: int) -> Doc:
    """Return a document whose ``text`` is shorter by at least ``by`` characters; ``text_truncated`` counts them.

    Example:
        >>> shorter_text({"text": "It rained. It snowed.", "text_truncated": 3}, 8)
        {'text': 'It rained.', 'text_truncated': 14}
    """
    text = beginning(doc["text"], len(doc["text"]) - by)
    return {**doc, "text": text, "text_truncated": doc["text_truncated"] + len(doc["text"]) - len(text)}


def answer_text(results: Sequence[Any]) -> str:
    """Return the answer as text, empty if there is none; filters of users may have made a list or None of it.

    Example:
        >>> answer_text([["a summary"]]), answer_text([None])
        ('a summary', '')
    """
    answer: Any = results[0] if len(results) else ""
    while isinstance(answer, list | tuple):
        answer = answer[0] if answer else ""
    return answer if isinstance(answer, str) else ""


def answers_in(results: Sequence[Any]) -> list[str]:
    """Return a document's answers, one a repeat: lm-eval 0.4 has a list of them in a list, 0.5 the list.

    Example:
        >>> answers_in([["a summary", "another"]]), answers_in(["a summary", "another"]), answers_in([])
        (['a summary', 'another'], ['a summary', 'another'], [''])
    """
    answers = results[0] if len(results) == 1 and isinstance(results[0], list | tuple) else results
    return [answer_text([answer]) for answer in answers] or [""]


def read_prompt(prompt: str) -> tuple[str, str]:
    r"""Return the last document in a prompt, and the text after it.

    Args:
        prompt: A prompt with documents between the lines ``<document>`` and ``</document>``: examples (few-shot), and
            last the document in question.

    Returns:
        The document, empty if there is none, and the text after it.

    Example:
        >>> read_prompt("<document>\nIt rained.\n</document>\n\nSummary:")
        ('It rained.', '\n\nSummary:')
    """
    before, _, after = prompt.rpartition("\n</document>")
    _, opening, document = f"\n{before}\n".rpartition("\n<document>\n")
    return (document[:-1], after) if opening else ("", prompt)


def text_around(prompt: str, request: str) -> tuple[str, str] | None:
    r"""Return the texts before and after a prompt in a request; None if the request does not contain it.

    The texts around a prompt are examples, a chat template, or the JSON of a chat; empty where it stands alone.

    Example:
        >>> text_around("1 + 1?\nSum:", "[INST] 1 + 1?\nSum: [/INST]"), text_around("1 + 1?\nSum:", "1 + 2?\nSum:")
        (('[INST] ', ' [/INST]'), None)
        >>> text_around("1 + 1?\nSum:", json.dumps([{"role": "user", "content": "1 + 1?\nSum:"}]))
        ('[{"role": "user", "content": "', '"}]')
    """
    bare = prompt.strip()  # chat templates strip prompts
    for form in (bare, *(json.dumps(bare, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True))):
        before, is_there, after = request.rpartition(form)
        if is_there:
            return before, after
    return None
