"""Do two judges agree? Cohen's kappa and positive agreement on the same questions, by kind.

Most questions about a report are answered NO, so that two judges agree nearly always without agreeing on anything that
counts. Kappa (Cohen 1960) takes out what chance would give; positive agreement (Dice of the YES) leaves out the shared
NO.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import InputError

PARTS = ("sentence", "doc_id", "question", "answer", "request_id", "run_id")
"""What tells two questions of a kind apart."""

ALL = "all"
"""The row over all kinds."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a judge said to one question.

    Attributes:
        kind: One of :data:`tls_tasks.reports.types.QUERY_KINDS`.
        parts: Those of :data:`PARTS` that are known.
        key: A hash of the question, where the recording has one.
        value: Yes or no; None: no verdict.
    """

    kind: str
    parts: Mapping[str, str]
    key: str
    value: bool | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two judges' verdicts on the same questions meet.

    Attributes:
        both_yes: Questions to which both said YES.
        only_a: YES from the first judge only.
        only_b: YES from the second judge only.
        both_no: NO from both.
        unscored: Questions to which one of them or both gave no verdict; left out of everything below.

    Example:
        >>> agreement = Agreement(both_yes=7, only_a=5, only_b=3, both_no=273)
        >>> agreement.n, round(agreement.raw, 3), round(agreement.kappa, 3), round(agreement.positive, 3)
        (288, 0.972, 0.622, 0.636)
    """

    both_yes: int = 0
    only_a: int = 0
    only_b: int = 0
    both_no: int = 0
    unscored: int = 0

    @property
    def n(self) -> int:
        """Questions to which both gave a verdict."""
        return self.both_yes + self.only_a + self.only_b + self.both_no

    @property
    def raw(self) -> float:
        """Share of equal verdicts; NaN of none."""
        return (self.both_yes + self.both_no) / self.n if self.n else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa; NaN where chance alone would agree on everything (both judges always say the same word)."""
        if not self.n:
            return math.nan
        yes_a, yes_b = self.both_yes + self.only_a, self.both_yes + self.only_b
        # In whole numbers, so that what is exactly undefined isn't a rounding error.
        chance = yes_a * yes_b + (self.n - yes_a) * (self.n - yes_b)
        if chance == self.n * self.n:
            return math.nan
        return ((self.both_yes + self.both_no) * self.n - chance) / (self.n * self.n - chance)

    @property
    def positive(self) -> float:
        """Positive agreement, the Dice coefficient of the two judges' YES; NaN where neither said it."""
        either = 2 * self.both_yes + self.only_a + self.only_b
        return 2 * self.both_yes / either if either else math.nan

    def as_dict(self) -> dict[str, float]:
        """Counts and rates as plain values."""
        counts = {name: getattr(self, name) for name in ("both_yes", "only_a", "only_b", "both_no", "unscored")}
        return {"n": self.n, **counts, "raw": self.raw, "kappa": self.kappa, "positive": self.positive}


def agreement(a: Sequence[Judgment], b: Sequence[Judgment], *, common: bool = False) -> dict[str, Agreement]:
    """Compare two judges.

    Args:
        a: The first judge's verdicts.
        b: The second's.
        common: Compare the questions that both were asked. Otherwise every question must have been put to both: what
            one was spared may be what it would have got wrong.

    Returns:
        Kind -> its agreement, in the order of the first judge's questions, and :data:`ALL`.

    Raises:
        InputError: If the questions differ (without ``common``), none is common, or one judge contradicts itself.

    Example:
        >>> said = [Judgment("negative", {"sentence": text}, "", text == "No.") for text in ("No.", "It rained.")]
        >>> agreement(said, said)["negative"]
        Agreement(both_yes=1, only_a=0, only_b=0, both_no=1, unscored=0)
        >>> agreement(said, said[:1])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: questions: got 1 that only A was asked (such as negative: 'It rained.') and 0 ...
    """  # noqa: E501
    names = _shared_parts(a, b)
    left, right = _by_question("A", a, names), _by_question("B", b, names)
    if not common and left.keys() != right.keys():
        _refuse(left, right)
    shared = [question for question in left if question in right]
    if not shared:
        raise InputError("questions", None, "none that both judges were asked", "recordings of the same reports")
    counts: dict[str, dict[str, int]] = {kind: {} for kind in (*(question[0] for question in shared), ALL)}
    for question in shared:
        cell = _cell(left[question], right[question])
        for kind in (question[0], ALL):
            counts[kind][cell] = counts[kind].get(cell, 0) + 1
    return {kind: Agreement(**cells) for kind, cells in counts.items()}


_Question = tuple[Any, ...]


def _shared_parts(a: Sequence[Judgment], b: Sequence[Judgment]) -> dict[str, tuple[str, ...]]:
    """Kind -> what its questions are told apart by: the key if every line has one, else the parts that all have."""
    known: dict[str, set[str]] = {}
    for judgment in (*a, *b):
        has = {name for name in PARTS if name in judgment.parts} | ({"key"} if judgment.key else set())
        known[judgment.kind] = known.get(judgment.kind, has) & has
    names: dict[str, tuple[str, ...]] = {}
    for kind, has in known.items():
        if "key" not in has and "sentence" not in has:
            raise InputError(f"questions of kind {kind}", None, "lines without sentence or key", "one of them in each")
        names[kind] = ("key",) if "key" in has else tuple(name for name in PARTS if name in has)
    return names


def _by_question(
    judge: str, judgments: Iterable[Judgment], names: Mapping[str, tuple[str, ...]]
) -> dict[_Question, bool | None]:
    verdicts: dict[_Question, bool | None] = {}
    for judgment in judgments:
        parts = {"key": judgment.key, **judgment.parts}
        question = (judgment.kind, *(parts[name] for name in names[judgment.kind]))
        known = verdicts.get(question)
        if known is not None and judgment.value is not None and known is not judgment.value:
            raise InputError(f"judge {judge}", None, f"YES and NO to {_show(question)}", "one verdict a question")
        verdicts[question] = judgment.value if known is None else known
    return verdicts


def _refuse(left: Mapping[_Question, object], right: Mapping[_Question, object]) -> None:
    differences = []
    for judge, own, other in (("A", left, right), ("B", right, left)):
        only = [question for question in own if question not in other]
        example = f" (such as {_show(only[0])})" if only else ""
        differences.append(f"{len(only)} that only {judge} was asked{example}")
    expected = "the same questions; compare those in common with common=True (--common)"
    raise InputError("questions", None, " and ".join(differences), expected)


def _show(question: _Question) -> str:
    return f"{question[0]}: {', '.join(repr(part) for part in question[1:])}"


def _cell(a: bool | None, b: bool | None) -> str:
    if a is None or b is None:
        return "unscored"
    if a:
        return "both_yes" if b else "only_a"
    return "only_b" if b else "both_no"
