"""What a run must fulfil to be submitted. Each check says what it found and what to do; all checks are made."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission.consistency import inconsistencies, sha256
from tls_tasks.after.submission.refusal import Refusal
from tls_tasks.core.custom import is_unsigned
from tls_tasks.data.editions import EMBEDDED
from tls_tasks.hosts.task_files import group_files, task_files

# As on the Hugging Face hub; with what was built around it, if anything was.
_MODEL_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(\+tls_corpus)?", re.ASCII)

_REFRESH = "run it again with --cache_requests refresh"
_AGAIN = "run lm_eval again without changing its files"


def refusals(scored: Sequence[ScoredTask], model: str, *, without_chat_template: bool = False) -> list[Refusal]:
    """Every reason against submitting these tasks; none if they can be submitted.

    Args:
        scored: The tasks, scored again.
        model: The model's name as it is to be published.
        without_chat_template: The submitter says that the model was meant to run without one.
    """
    found = [*_model(scored, model), *_groups(scored)]
    for task in scored:
        if not task.results:
            advice = "submit the folder that lm_eval wrote, with its results_<date>.json"
            found.append(Refusal("results", f"{task.name}: no results file beside {task.log.path.name}", advice))
            continue
        found += [*_whole(task), *_edition(task), *_version(task), *_chat(task, without_chat_template)]
        found += [Refusal("samples", str(problem), _AGAIN) for problem in task.log.problems]
        found += [*_names(task), *_signed(task)]
        found += [Refusal("prompts", str(problem), _REFRESH) for problem in task.stale]
        found += [*_hashes(task), *_numbers(task), *inconsistencies(task)]
    return found


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


def _whole(scored: ScoredTask) -> Iterator[Refusal]:
    name = scored.name
    sizes: Mapping[str, Any] = scored.results.get("n-samples", {}).get(name, {})
    limit = (scored.results.get("config") or {}).get("limit")
    if limit is not None:
        yield Refusal("limit", f"{name} ran with --limit {limit:g}", "run all documents, without --limit")
    elif sizes.get("effective") != sizes.get("original"):
        found = f"{name} ran on {sizes.get('effective')} of {sizes.get('original')} documents"
        yield Refusal("limit", found, "run all documents")
    elif strange := [sample for sample in scored.log.samples if not 0 <= sample.doc_id < len(scored.log.samples)]:
        place = f"{scored.log.path.name}:{strange[0].line}"
        found = f"{name}: {place}: doc_id {strange[0].doc_id} among {len(scored.log.samples)} documents"
        yield Refusal("limit", found, "run all documents, each once")


def _signed(scored: ScoredTask) -> Iterator[Refusal]:
    """What made a number must be known to whoever reads it."""
    for metric, signature in {**scored.signatures, "the verdicts": str(scored.conditions.judge)}.items():
        if is_unsigned(signature):
            found = f"{scored.name}: nobody can tell what made {metric}: {signature}"
            advice = "give functions and judges whose source is in a file or an installed package, with this release"
            yield Refusal("signature", found, advice)


def _names(scored: ScoredTask) -> Iterator[Refusal]:
    """Documents are paired by their names, so that each has one of its own."""
    lines: dict[str, int] = {}
    for sample, doc_id in zip(scored.log.samples, scored.ids, strict=True):
        if (first := lines.setdefault(doc_id, sample.line)) != sample.line:
            place = f"{scored.log.path.name}:{sample.line}"
            found = f"{scored.name}: {place}: a second document {doc_id}; the first is in line {first}"
            yield Refusal("samples", found, "give each document of your data a name of its own")


def _edition(scored: ScoredTask) -> Iterator[Refusal]:
    if scored.status == EMBEDDED:
        advice = f"get the real data (tls-tasks list --obtain says how) and run {scored.name} on it"
        yield Refusal("edition", f"{scored.name} ran on the embedded edition", advice)
    elif scored.edition not in {"local", "fetched", "hub", "embedded"}:
        found = f"{scored.name}: the results don't say on which data it ran ({scored.edition})"
        yield Refusal("edition", found, _AGAIN)


def _version(scored: ScoredTask) -> Iterator[Refusal]:
    name, version = scored.name, scored.results.get("versions", {}).get(scored.name)
    if version != (ours := task_files()[name].version):
        found = f"{name} ran in version {version}, this release has {ours:g}"
        yield Refusal("version", found, "run it again with this release, or submit with the release that ran it")


def _chat(scored: ScoredTask, without_chat_template: bool) -> Iterator[Refusal]:
    if "chat_template_sha" not in scored.results:
        yield Refusal("chat template", f"{scored.name}: the results record none", _AGAIN)
    elif scored.results.get("chat_template") is None and not without_chat_template:
        advice = "run with --apply_chat_template, or say --no-chat-template if the model has none"
        yield Refusal("chat template", f"{scored.name} ran without one", advice)


def _hashes(scored: ScoredTask) -> Iterator[Refusal]:
    """The harness's hashes of documents, prompts, targets and of the task, computed again from what was logged."""
    name = scored.name
    for sample, doc_id in zip(scored.log.samples, scored.ids, strict=True):
        wrong = [key for key, value in _hashes_of(sample).items() if sample.row.get(key) != value]
        if wrong:
            found = f"{scored.log.path.name}:{sample.line}: {' and '.join(wrong)} of document {doc_id} differ"
            yield Refusal("hash", f"{found} from the logged {name} document", _AGAIN)
    if scored.results.get("task_hashes", {}).get(name) != _task_hash(scored.log.samples):
        yield Refusal("hash", f"{name}: task_hashes in the results differ from those of the samples", _AGAIN)


def _numbers(scored: ScoredTask) -> Iterator[Refusal]:
    name = scored.name
    if not scored.reported:
        yield Refusal("scores", f"{name}: the results hold no scores (--predict_only)", "run without --predict_only")
    if undefined := [key for key, value in scored.ranked.items() if math.isnan(value)]:
        advice = "see the log of the run; reports need a judge (--metadata '{\"judge\": …}')"
        yield Refusal("scores", f"{name}: {', '.join(undefined)} could not be computed (NaN)", advice)
    for key, (reported, found) in scored.disagreements.items():
        yield Refusal("scores", f"{name}: {key} is {reported!r} in the results, rescored {found!r}", _AGAIN)


def _hashes_of(sample: Sample) -> dict[str, str]:
    """A sample's hashes as the harness computes them, from what is logged."""
    return {
        "doc_hash": sha256(json.dumps(sample.doc, indent=2, ensure_ascii=False)),
        "prompt_hash": sha256(sample.request),
        "target_hash": sha256(str(sample.row.get("target"))),
    }


def _task_hash(samples: Sequence[Sample]) -> str:
    """The harness's hash of a task: over the hashes of all samples, in the order of the file."""
    rows = [sample.row for sample in sorted(samples, key=lambda sample: sample.line)]
    return sha256("".join(str(row.get(key)) for row in rows for key in ("doc_hash", "prompt_hash", "target_hash")))
