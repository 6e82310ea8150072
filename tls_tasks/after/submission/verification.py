"""All checks of a submission, and what they are worth: ``verified against data`` or ``self-consistent``, never more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission import Refusal
from tls_tasks.after.submission.against_data import ask_again, compare_documents
from tls_tasks.after.submission.archive import MANIFEST, verify
from tls_tasks.after.submission.consistency import frame_of, knows_golds
from tls_tasks.after.submission.signing import Signer, signer_of
from tls_tasks.data.editions import UNKNOWN

AGAINST_DATA, CONSISTENT = "verified against data", "self-consistent"


@dataclass(frozen=True, slots=True)
class Means:
    """What a maintainer has to check submissions with.

    Attributes:
        data: A place as ``--metadata '{"data": …}'`` takes it, or ``embedded``, ``fetched``, ``hub``; None: no data.
        judge: A specification of a judge; None: nobody is asked.
        sample: For how many documents of a task the judge is asked again.
        signers: The file of allowed signers.
    """

    data: str | None = None
    judge: Any = None
    sample: int = 5
    signers: Path | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A submission after all checks.

    Attributes:
        manifest: Its manifest.
        scored: Its tasks, scored again; none if a file is not as it was written.
        refusals: What stands against it.
        signer: Who signed it.
        checked: What was checked against something else than the submission, each a phrase.
        unchecked: What was not, each a phrase.
        statuses: Task -> what its numbers are worth, by the maintainer's data or a fingerprint of this release.
        compared: The tasks whose documents are those of the maintainer's data, every one of them.
    """

    manifest: Mapping[str, Any]
    scored: Sequence[ScoredTask]
    refusals: Sequence[Refusal]
    signer: Signer = field(default_factory=Signer)
    checked: Sequence[str] = ()
    unchecked: Sequence[str] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)
    compared: frozenset[str] = frozenset()

    def word(self, task: str | None = None) -> str:
        """What the checks of a task, or of all tasks, are worth."""
        names = {scored.name for scored in self.scored} if task is None else {task}
        return AGAINST_DATA if names and names <= self.compared else CONSISTENT


def verify_submission(folder: Path, means: Means) -> Verified:
    """Check a submission by all means there are.

    Raises:
        DataError: If it is not an archive of ours.
    """
    signer, problems = signer_of(folder / MANIFEST, means.signers)
    refusals, manifest, scored = verify(folder)
    if refusals := [*problems, *refusals]:
        return Verified(manifest, scored, refusals, signer)
    # A fingerprint is easily stated: it counts only where the gold answers show that it is the documents'.
    statuses = {task.name: task.status if knows_golds(task) else UNKNOWN for task in scored}
    checked: list[str] = []
    unchecked = ["whether the model wrote the answers: only running it again can tell"]
    if not signer.name:
        unchecked.append(f"who submitted it: {signer}")
    if means.data is None:
        unchecked.append("whether documents, gold answers and prompts are those of the data: --data PLACE")
    compared = set()
    for task in scored:
        # The text around a prompt is the same for all documents.
        frame = frame_of(task, task.log.samples[0]) if task.log.samples else None
        if n_characters := len("".join(frame or ())):
            unchecked.append(f"{task.name}: the {n_characters} characters around each prompt (chat template)")
        comparisons = [compare_documents(task, means.data)] if means.data is not None else []
        if comparisons and comparisons[0].status:
            compared.add(task.name)
            statuses[task.name] = comparisons[0].status
        if means.judge is not None:
            comparisons.append(ask_again(task, means.judge, means.sample))
        elif task.task.judge is not None:
            judge = task.conditions.judge
            unchecked.append(f"{task.name}: the verdicts of the judge {judge!r}: --judge SPEC --sample K")
        for comparison in comparisons:
            refusals += comparison.refusals
            checked += comparison.checked
            unchecked += comparison.unchecked
    return Verified(manifest, scored, refusals, signer, checked, unchecked, statuses, frozenset(compared))
