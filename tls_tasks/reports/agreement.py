"""How far two judges agree on the same questions: Cohen's kappa and positive agreement, by kind of question.

Where a verdict may be partly, only the share of equal verdicts is given.

Most questions about a report are answered NO, so two judges nearly always agree without agreeing on anything that
matters. Kappa (Cohen 1960) corrects for chance; positive agreement (the Dice coefficient of the YES) ignores the shared
NO.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError
from tls_tasks.data.files import read_objects
from tls_tasks.reports.judges.recordings import Judgment, keep, read_judgment
from tls_tasks.reports.types import PARTLY

ALL = "all"
"""The row over all kinds."""


class _Agreement(NamedTuple):
    """The verdicts of judges A and B on the same questions.

    Attributes:
        n: Questions that both answered.
        both_yes: YES from both.
        only_a: YES from A only.
        only_b: YES from B only.
        both_no: NO from both.
        unscored: Questions that at least one of them did not answer; left out of everything else.
        raw: Share of equal verdicts; NaN if there are none.
        kappa: Cohen's kappa; NaN where chance alone would agree on everything (both always say the same word), and
            where one of them said PARTLY.
        positive: Positive agreement; NaN where neither said YES, and where one of them said PARTLY.
    """

    n: int
    both_yes: int
    only_a: int
    only_b: int
    both_no: int
    unscored: int
    raw: float
    kappa: float
    positive: float


def agreement(a: Sequence[Judgment], b: Sequence[Judgment], *, common: bool = False) -> dict[str, _Agreement]:
    """Compare two judges.

    Args:
        a: The first judge's verdicts.
        b: The second's.
        common: Compare the questions that both were asked. Otherwise every question must have been put to both,
            since a judge may have been spared the questions that it would have got wrong.

    Returns:
        Kind -> its agreement, in the order of the first judge's questions, and ``all``.

    Raises:
        InputError: If the questions differ (without ``common``), none was put to both, or a judge contradicts itself.

    Example:
        >>> rows = [{"kind": "negative", "sentence": text, "verdict": text == "No."} for text in ("No.", "It rained.")]
        >>> said = [read_judgment(row, "") for row in rows]
        >>> agreement(said, said)["negative"].kappa
        1.0
        >>> agreement(said, said[:1])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: questions: got 1 that only A was asked and 0 that only B was asked, such as ...
    """  # noqa: E501
    names = _shared_parts([*a, *b])
    left, right = _by_question(a, names), _by_question(b, names)
    only_a, only_b = [asked for asked in left if asked not in right], [asked for asked in right if asked not in left]
    if (only_a or only_b) and not common:
        kind, *parts = (only_a + only_b)[0]
        got = f"{len(only_a)} that only A was asked and {len(only_b)} that only B was asked, such as {kind}: {parts}"
        raise InputError("questions", None, got, "the same; compare those in common with common=True (--common)")
    pairs: dict[str, list[tuple[float | None, float | None]]] = {}
    for question in [asked for asked in left if asked in right]:
        pairs.setdefault(question[0], []).append((left[question], right[question]))
    if not pairs:
        raise InputError("questions", None, "none that both judges were asked", "recordings of the same reports")
    pairs[ALL] = [pair for members in pairs.values() for pair in members]
    return {kind: _agreement_of(members) for kind, members in pairs.items()}


def _agreement_of(pairs: Sequence[tuple[float | None, float | None]]) -> _Agreement:
    """The agreement of two judges from their verdicts on each question.

    Example:
        >>> yes, no = True, False
        >>> found = _agreement_of([(yes, yes)] * 7 + [(yes, no)] * 5 + [(no, yes)] * 3 + [(no, no)] * 273)
        >>> found.n, round(found.raw, 3), round(found.kappa, 3), round(found.positive, 3)
        (288, 0.972, 0.622, 0.636)
    """
    cells = Counter(pairs)
    both_yes, only_a, only_b, both_no = cells[True, True], cells[True, False], cells[False, True], cells[False, False]
    answered = [pair for pair in pairs if None not in pair]
    n, equal = len(answered), sum(a == b for a, b in answered)
    yes_a, yes_b = both_yes + only_a, both_yes + only_b
    # _Agreement by chance, times n squared: in whole numbers, so that undefined is exactly 0 / 0.
    chance = yes_a * yes_b + (n - yes_a) * (n - yes_b)
    kappa, positive = _ratio(equal * n - chance, n * n - chance), _ratio(2 * both_yes, yes_a + yes_b)
    if any(PARTLY in pair for pair in answered):
        kappa = positive = math.nan
    return _Agreement(n, both_yes, only_a, only_b, both_no, len(pairs) - n, _ratio(equal, n), kappa, positive)


def read_judgments(path: Path) -> list[Judgment]:
    """The lines of a recording, as ``tls-tasks reports`` writes them or shorter ones written by hand.

    Raises:
        DataError: A file that can't be read.
        InputError: A line without a known kind or with an invalid verdict.
    """
    return [read_judgment(row, place) for place, row in read_objects(path)]


_Question = tuple[Any, ...]


def _shared_parts(judgments: Iterable[Judgment]) -> dict[str, list[str]]:
    """Kind -> what its questions are told apart by: the key if every line has one, else the parts that all have."""
    known: dict[str, Set[str]] = {}
    for judgment in judgments:
        known[judgment.kind] = known.get(judgment.kind, judgment.parts.keys()) & judgment.parts.keys()
    for kind, names in known.items():
        part = "criterion" if kind == "criterion" else "sentence"
        if names.isdisjoint(("key", part)):
            raise InputError(f"questions of kind {kind}", None, f"lines without {part} or key", "one of them in each")
    return {kind: ["key"] if "key" in names else sorted(names) for kind, names in known.items()}


def _by_question(judgments: Iterable[Judgment], names: Mapping[str, Iterable[str]]) -> dict[_Question, float | None]:
    said: dict[_Question, Judgment] = {}
    for judgment in judgments:
        keep(said, (judgment.kind, *(judgment.parts[name] for name in names[judgment.kind])), judgment)
    return {question: judgment.verdict.value for question, judgment in said.items()}


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
