"""What a run must fulfil to be submitted. Each check says what it found and what to do; all checks are made."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tls_tasks.after.conditions import model_arguments, stated_metadata
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission import Refusal
from tls_tasks.after.submission.consistency import AGAIN, inconsistencies, sha256
from tls_tasks.core.custom import is_unsigned
from tls_tasks.core.errors import InputError
from tls_tasks.core.secrets import check_no_secret, secret_in, secret_values
from tls_tasks.data.editions import EMBEDDED
from tls_tasks.hosts.task_files import group_files, task_files

# As on the Hugging Face hub; with what was built around it, if anything was.
_MODEL_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(\+tls_corpus)?", re.ASCII)

# Settings of tokenisers, no secrets whatever they end in.
_SPECIAL_TOKEN = re.compile(r"(add_)?(bos|eos|pad|unk|sep|cls|mask)_token")

_REFRESH = "run it again with --cache_requests refresh"
_NO_SECRETS = (
    "give secrets by the name of an environment variable, run again, and change what has been written to a file"
)


def refusals(scored: Sequence[ScoredTask], model: str, *, without_chat_template: bool = False) -> list[Refusal]:
    """Every reason against submitting these tasks; none if they can be submitted.

    Args:
        scored: The tasks, scored again.
        model: The model's name as it is to be published.
        without_chat_template: The submitter says that the model was meant to run without one.
    """
    refused = [*_model(scored, model), *_groups(scored)]
    for task in scored:
        if not task.results:
            advice = "submit the folder that lm_eval wrote, with its results_<date>.json"
            refused.append(Refusal("results", f"{task.name}: no results file beside {task.log.path.name}", advice))
            continue
        refused += [*_all_documents(task), *_edition(task), *_chat_template(task, without_chat_template)]
        refused += [Refusal("samples", str(problem), AGAIN) for problem in task.log.problems]
        refused += [*_names(task), *_signatures(task)]
        refused += [Refusal("prompts", str(problem), _REFRESH) for problem in task.stale]
        refused += [*_hashes(task), *_numbers(task), *inconsistencies(task)]
    return refused


def _model(scored: Sequence[ScoredTask], model: str) -> Iterator[Refusal]:
    if not _MODEL_NAME.fullmatch(model):
        advice = "run with pretrained=ORG/NAME, or give the published model's name: --model ORG/NAME"
        yield Refusal("model", f"the model is called {model!r}, not ORG/NAME", advice)
    names = sorted({task.model for task in scored})
    if len(names) > 1:
        yield Refusal("model", f"the runs are of {len(names)} models: {', '.join(names)}", "submit one model at a time")


def _groups(scored: Sequence[ScoredTask]) -> Iterator[Refusal]:
    """A group that was run must be complete: without a member its average means something else."""
    present = {task.name for task in scored}
    asked = {str(name) for task in scored for name in task.results.get("group_subtasks") or {}}
    for name in sorted(asked & set(group_files())):
        if missing := [member for member in group_files()[name].members if member not in present]:
            yield Refusal("group", f"{name} lacks {', '.join(missing)}", f"run the whole group: lm_eval --tasks {name}")


def _all_documents(scored: ScoredTask) -> Iterator[Refusal]:
    name, n_documents = scored.name, len(scored.log.samples)
    stated = scored.results.get("n-samples", {}).get(name)
    n_run, n_all = (stated["effective"], stated["original"]) if stated else (None, None)
    limit = (scored.results.get("config") or {}).get("limit")
    if limit is not None:
        yield Refusal("limit", f"{name} ran with --limit {limit:g}", "run all documents, without --limit")
    elif n_run != n_all:
        yield Refusal("limit", f"{name} ran on {n_run} of {n_all} documents", "run all documents")
    elif outside := [sample for sample in scored.log.samples if not 0 <= sample.doc_id < n_documents]:
        place = f"{scored.log.path.name}:{outside[0].line}"
        problem = f"{name}: {place}: doc_id {outside[0].doc_id} among {n_documents} documents"
        yield Refusal("limit", problem, "run all documents, each once")


def _signatures(scored: ScoredTask) -> Iterator[Refusal]:
    """What made a number must be known to whoever reads it."""
    for metric, signature in {**scored.signatures, "the verdicts": str(scored.conditions.judge)}.items():
        if is_unsigned(signature):
            problem = f"{scored.name}: nobody can tell what made {metric}: {signature}"
            advice = "give functions and judges whose source is in a file or an installed package, with this release"
            yield Refusal("signature", problem, advice)


def _names(scored: ScoredTask) -> Iterator[Refusal]:
    """Documents are paired by their names, so that each has one of its own."""
    lines: dict[str, int] = {}
    for doc_id, sample in scored.documents:
        if (first := lines.setdefault(doc_id, sample.line)) != sample.line:
            place = f"{scored.log.path.name}:{sample.line}"
            problem = f"{scored.name}: {place}: a second document {doc_id}; the first is in line {first}"
            yield Refusal("samples", problem, "give each document of your data a name of its own")


def _edition(scored: ScoredTask) -> Iterator[Refusal]:
    """On which data it ran, and in which version of the task."""
    name, version, ours = (
        scored.name,
        scored.results.get("versions", {}).get(scored.name),
        task_files()[scored.name].version,
    )
    if scored.status == EMBEDDED:
        advice = f"get the real data (tls-tasks list --obtain says how) and run {name} on it"
        yield Refusal("edition", f"{name} ran on the embedded edition", advice)
    elif scored.edition not in {"local", "fetched", "hub", "embedded"}:
        yield Refusal("edition", f"{name}: the results don't say on which data it ran ({scored.edition})", AGAIN)
    if version != ours:
        advice = "run it again with this release, or submit with the release that ran it"
        yield Refusal("version", f"{name} ran in version {version}, this release has {ours:g}", advice)


def _chat_template(scored: ScoredTask, without_chat_template: bool) -> Iterator[Refusal]:
    if "chat_template_sha" not in scored.results:
        yield Refusal("chat template", f"{scored.name}: the results record none", AGAIN)
    elif scored.results.get("chat_template") is None and not without_chat_template:
        advice = "run with --apply_chat_template, or say --no-chat-template if the model has none"
        yield Refusal("chat template", f"{scored.name} ran without one", advice)


def _hashes(scored: ScoredTask) -> Iterator[Refusal]:
    """The harness's hashes of documents, prompts, targets and of the task, computed again from what was logged."""
    name = scored.name
    for doc_id, sample in scored.documents:
        if wrong := [key for key, value in hashes_of(sample).items() if sample.row.get(key) != value]:
            problem = f"{scored.log.path.name}:{sample.line}: {' and '.join(wrong)} of document {doc_id} differ"
            yield Refusal("hash", f"{problem} from the logged {name} document", AGAIN)
    if scored.results.get("task_hashes", {}).get(name) != task_hash(scored.log.samples):
        yield Refusal("hash", f"{name}: task_hashes in the results differ from those of the samples", AGAIN)


def hashes_of(sample: Sample) -> dict[str, str]:
    """A sample's hashes as the harness computes them, from what is logged."""
    return {
        "doc_hash": sha256(json.dumps(sample.doc, indent=2, ensure_ascii=False)),
        "prompt_hash": sha256(sample.request),
        "target_hash": sha256(str(sample.row.get("target"))),
    }


def task_hash(samples: Sequence[Sample]) -> str:
    """The harness's hash of a task: over the hashes of all samples, in the order of the file."""
    rows = [sample.row for sample in sorted(samples, key=lambda sample: sample.line)]
    return sha256("".join(str(row.get(key)) for row in rows for key in ("doc_hash", "prompt_hash", "target_hash")))


def _numbers(scored: ScoredTask) -> Iterator[Refusal]:
    name = scored.name
    if not scored.reported:
        yield Refusal("scores", f"{name}: the results hold no scores (--predict_only)", "run without --predict_only")
    if undefined := [key for key, value in scored.ranked.items() if math.isnan(value)]:
        advice = "see the log of the run; reports need a judge (--metadata '{\"judge\": …}')"
        yield Refusal("scores", f"{name}: {', '.join(undefined)} could not be computed (NaN)", advice)
    for key, (reported, rescored) in scored.disagreements.items():
        yield Refusal("scores", f"{name}: {key} is {reported!r} in the results, rescored {rescored!r}", AGAIN)


def packed_files(scored: Sequence[ScoredTask]) -> list[Path]:
    """The harness's files of these tasks, from which everything else in an archive is made."""
    return sorted({path for task in scored for path in (task.log.path, task.run.results) if path is not None})


def secrets(scored: Sequence[ScoredTask]) -> Iterator[Refusal]:
    """What looks like a secret in a run's options, or in a line of its files; and secrets of this environment there."""
    for task in scored:
        options = {**stated_metadata(task.name, task.results), **model_arguments(task.results)}
        try:
            check_no_secret(
                {key: value for key, value in options.items() if not _SPECIAL_TOKEN.fullmatch(key)}, task.name
            )
        except InputError as error:
            yield Refusal("secret", f"{task.run.results}: {error.field} holds {error.got}", _NO_SECRETS)
    values = secret_values(os.environ)
    for path in packed_files(scored):
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for line, text in enumerate(lines, start=1):
                kind = next((f"the value of {name}" for value, name in values.items() if value in text), "")
                if kind := kind or secret_in(text):
                    yield Refusal("secret", f"{path}:{line} holds {kind} (not shown)", _NO_SECRETS)
                    break
