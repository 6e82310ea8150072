"""What a run must fulfil to be submitted: whatever a log says must follow from the rest of it, and from this release.

A check of a task is a function that takes the task and yields problems; :data:`_CHECKS` lists them. All are made.
"""

import datetime
import hashlib
import json
import math
import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.after.foreign import value_at
from tls_tasks.after.logs import Sample
from tls_tasks.after.run import model_arguments, stated_metadata
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission import golds
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.options import has_custom
from tls_tasks.core.secrets import check_no_secret, secret_in, secret_values
from tls_tasks.core.task import Doc, answers_in, frame_of
from tls_tasks.core.terminal import shown
from tls_tasks.data.editions import EMBEDDED, golds_hash, read_editions
from tls_tasks.hosts.discovery import data_set_of, group_files, task_files

# Each half of what the Hugging Face hub takes as a name.
_HUB_NAME = re.compile(r"(?!.*(?:--|\.\.|\.git$))[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_])?", re.ASCII)

_DAY = 24 * 3600

# Settings of tokenisers, no secrets whatever they end in.
_SPECIAL_TOKEN = re.compile(r"(add_)?(bos|eos|pad|unk|sep|cls|mask)_token")


def refusals(scored: Sequence[ScoredTask], model: str, date: float, *, no_template: bool = False) -> list[str]:
    """Every reason against submitting these tasks, ``CHECK: PROBLEM; ADVICE``; none if they can be submitted.

    Args:
        scored: The tasks, scored again.
        model: The model's name as it is to be published.
        date: When they are submitted.
        no_template: The submitter says that the model was meant to run without one.
    """
    refused = [*_of_run(scored, model), *_of_date(scored, date)]
    checks = [row for row in _CHECKS if row[-1] is not _not_applied or not no_template]
    for task in scored:
        if not task.results:
            advice = "submit the folder that lm_eval wrote, with its results_<date>.json"
            refused.append(f"results: {task.name}: no results file beside {task.log.path.name}; {advice}")
            continue
        for label, advice, check in checks:
            refused += [f"{label}: {task.name}: {problem}; {advice}" for problem in _problems(task, check)]
    return refused


def _problems(task: ScoredTask, check: Callable[[ScoredTask], Iterable[str]]) -> Iterator[str]:
    try:
        yield from check(task)
    except DataError as error:  # a document that its task can't read
        yield str(error)


def _of_run(scored: Sequence[ScoredTask], model: str) -> Iterator[str]:
    """One model with a name, and groups that are complete: without a member a group's average means something else."""
    halves = model.split("/")
    if len(halves) != 2 or not all(map(_HUB_NAME.fullmatch, halves)):
        rules = "ASCII letters, digits, - _ . (not twice or at an end), at most 96 characters before and after the /"
        advice = "run with pretrained=ORG/NAME, or give the published model's name: --model ORG/NAME"
        yield f"model: the model is called {shown(model)!r}, not ORG/NAME as on the hub ({rules}); {advice}"
    names = sorted({task.model for task in scored})
    if len(names) > 1:
        yield f"model: the runs are of {len(names)} models: {', '.join(names)}; submit one model at a time"
    present = {task.name for task in scored}
    groups = {str(name) for task in scored for name in task.results.get("group_subtasks") or {}}
    for name in sorted(groups & set(group_files())):
        if missing := [member for member in group_files()[name].members if member not in present]:
            yield f"group: {name} lacks {', '.join(missing)}; run the whole group: lm_eval --tasks {name}"


def _of_date(scored: Sequence[ScoredTask], date: float) -> Iterator[str]:
    """The order of submissions follows their dates; a clock that is a little wrong does not matter."""
    run = max((task.results.get("date", 0.0) for task in scored), default=0.0)
    if not run - _DAY <= date <= time.time() + _DAY:
        problem = "before its run" if date < run else "in the future"
        yield f"manifest: it is dated {utc_day(date)}, {problem}; set the clock, and pack it again"


def utc_day(date: float) -> str:
    """Return the day of a date in seconds, in UTC."""
    return datetime.datetime.fromtimestamp(date, datetime.timezone.utc).date().isoformat()


def _limit(task: ScoredTask) -> Iterator[str]:
    samples, size = task.log.samples, task.results.get("n-samples", {}).get(task.name)
    limit = (task.results.get("config") or {}).get("limit")
    if limit is not None:
        yield f"it ran with --limit {limit:g}"
    elif size and size["effective"] != size["original"]:
        yield f"it ran on {size['effective']} of {size['original']} documents"
    elif outside := [sample for sample in samples if not 0 <= sample.doc_id < len(samples)]:
        yield f"{_line(task, outside[0])}: doc_id {outside[0].doc_id}, but the number of documents is {len(samples)}"


def _line(task: ScoredTask, sample: Sample) -> str:
    return f"{task.log.path.name}:{sample.line}"


def _edition(task: ScoredTask) -> Iterator[str]:
    """It ran on real data, and the documents are those that the fingerprint names, as far as the log can tell."""
    pinned, data_set, n_documents = task.pinned, data_set_of(task.task), len(task.log.samples)
    if task.status == EMBEDDED:
        yield "it ran on the embedded edition"
    elif task.edition not in {"local", "fetched", "hub", "embedded"}:
        yield f"the results don't say on which data it ran ({task.edition})"
    if stated := {str(sample.doc.get("edition")) for sample in task.log.samples} - {task.edition}:
        yield f"the results say the {task.edition} edition, the documents {', '.join(sorted(stated))}"
    gold, embedded = golds_hash(golds.golds_of(task).items()), read_editions(data_set.name).get(EMBEDDED)
    if embedded is not None and not data_set.self_contained and gold == embedded.golds and pinned != embedded:
        yield "the documents are those of the embedded edition, whatever the results say"
    if pinned and pinned.documents not in (None, n_documents):
        yield f"documents: {n_documents}, but the edition {pinned.label!r} has {pinned.documents}"
    elif pinned and golds.knows_golds(task) and pinned.golds != gold:
        yield f"ids or gold answers are not those of the edition {pinned.label!r}, whose fingerprint it has"


def _version(task: ScoredTask) -> Iterator[str]:
    version, release = task.results.get("versions", {}).get(task.name), task_files()[task.name].version
    if version != release:
        yield f"it ran in version {version}, this release has {release:g}"


def _not_applied(task: ScoredTask) -> Iterator[str]:
    if "chat_template_sha" in task.results and task.results.get("chat_template") is None:
        yield "it ran without one"


def _chat_template(task: ScoredTask) -> Iterator[str]:
    template = task.results.get("chat_template")
    if "chat_template_sha" not in task.results:
        yield "the results record none"
    elif isinstance(template, str) and template and task.results["chat_template_sha"] != sha256(template):
        yield "chat_template_sha is not that of the chat template"


def _names(task: ScoredTask) -> Iterator[str]:
    """Documents are paired by their names, so that each has a different one, for people too."""
    lines: dict[str, int] = {}
    for doc_id, sample in task.documents:
        if (first := lines.setdefault(unicodedata.normalize("NFKC", doc_id), sample.line)) != sample.line:
            yield f"{_line(task, sample)}: a second document {doc_id}; the first is in line {first}"


def _signatures(task: ScoredTask) -> Iterator[str]:
    """What made a number must be known to whoever reads it."""
    for metric, signature in {**task.signatures, "the verdicts": str(task.conditions.judge)}.items():
        if has_custom(signature):
            yield f"nobody here can tell what made {metric}: {signature}"


def _hashes(task: ScoredTask) -> Iterator[str]:
    """The harness's hashes of documents, prompts, targets and of the task, computed again from what was logged."""
    for doc_id, sample in task.documents:
        if wrong := [key for key, value in hashes_of(sample).items() if sample.row.get(key) != value]:
            yield f"{_line(task, sample)}: {' and '.join(wrong)} of document {doc_id} differ from what is logged"
    if task.results.get("task_hashes", {}).get(task.name) != task_hash(task.log.samples):
        yield "task_hashes in the results differ from those of the samples"


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


def sha256(text: str) -> str:
    """The hex digest of a text in UTF-8; half a surrogate pair is encoded as if it were a character."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _scores(task: ScoredTask) -> Iterator[str]:
    if not task.reported:
        yield "the results hold no scores (--predict_only)"
    if math.isnan(task.ranked.get(task.headline, 0.0)):  # others are where there is nothing to count
        yield f"{task.headline} is NaN; reports need a judge (--metadata '{{\"judge\": …}}')"
    for key, (reported, rescored) in task.disagreements.items():
        yield f"{key} is {reported!r} in the results, rescored {rescored!r}"


def _answers(task: ScoredTask) -> Iterator[str]:
    """The task's filters give all responses, and the reports in them where a judge reads reports."""
    samples = task.log.samples
    if wrong := [sample for sample in samples if not _follows(task, sample)]:
        problem = f"filtered_resps do not follow from resps in {len(wrong)} of {len(samples)} documents"
        yield f"{problem} ({_line(task, wrong[0])} first)"


def _follows(task: ScoredTask, sample: Sample) -> bool:
    responses = golds.responses_of(sample)
    if not responses or task.task.judge is None:
        return bool(responses) and sample.answer in (responses, [responses])

    def is_read_so(doc: Doc) -> bool:  # who judged it does not matter
        read = [golds.judged_by_nobody(task, doc, text) for text in responses]
        logged = map(json.loads, answers_in(sample.answer))
        parts = [[(own["report"], own["problems"]) for own in texts] for texts in (read, logged)]
        return parts[0] == parts[1]

    return task.made_of(sample, is_read_so)


def _arguments(task: ScoredTask) -> Iterator[str]:
    """One request a document: a prompt, the settings that the results state, and nothing beside them."""
    settings = task.results.get("configs", {}).get(task.name, {}).get("generation_kwargs")
    command = (task.results.get("config") or {}).get("gen_kwargs")
    if isinstance(command, dict) and _json({**(settings or {}), **command}) != _json(settings):
        yield f"gen_kwargs of the command are not among the settings: {shown(_json(command))}"
    for sample in task.log.samples:
        sent = sample.row.get("arguments")
        whole = {"gen_args_0": {"arg_0": value_at(sent, "gen_args_0.arg_0"), "arg_1": settings}}
        if not sample.request or _json(sent) != _json(whole):
            yield f"{_line(task, sample)}: the request is not one prompt with the settings that the results state"
            return


def _fields(task: ScoredTask) -> Iterator[str]:
    """What the configuration says of how prompts are made is what the samples show."""
    config = task.results.get("configs", {}).get(task.name, {})
    stated = {**_OF_PROMPTS, **(config.get("fewshot_config") or {}), **config}
    repeats = [len(golds.responses_of(sample)) for sample in task.log.samples]
    n_repeats = repeats[0] if len(set(repeats)) == 1 else repeats
    for key, seen in {**_OF_PROMPTS, "repeats": n_repeats, "num_fewshot": task.conditions.shots}.items():
        if (stated.get(key) or 0) != (seen or 0):
            yield f"{key} is {shown(_json(stated[key]))} in the results, the samples show {seen}"
    description = config.get("description")
    if description and any(frame_of(description, sample.request) is None for sample in task.log.samples):
        yield "not all prompts have the description that the results state"


def _requests(task: ScoredTask) -> Iterator[str]:
    """Around the prompts stands the same text for all documents, and no more examples than the results say."""
    # A request that does not ask the prompt has no frame, and is refused elsewhere.
    frames = {doc_id: frame for doc_id, sample in task.documents if (frame := golds.frame_in(task, sample)) is not None}
    if not frames:
        return
    first, *_ = frames
    if others := [doc_id for doc_id, frame in frames.items() if frame != frames[first]]:
        yield f"around the prompt of {others[0]} stands other text than around that of {first}"
        return
    text, n_stated = "".join(frames[first]), task.conditions.shots
    opening = str(task.made_of(task.log.samples[0], task.task.prompt)).strip().split("\n")[0][:24]
    escaped = json.dumps(opening, ensure_ascii=False)[1:-1]
    n_shots = max(map(text.count, (opening, escaped, '"role": "assistant"')))
    instruction = str(task.results.get("system_instruction") or "").strip()
    if n_shots != n_stated:
        yield f"examples in the requests: {n_shots}, the results say {n_stated}-shot"
    elif task.results.get("chat_template") is None and not n_stated and text.strip() != instruction:
        yield f"text ({len(text)} characters) stands around each prompt, though the results say no chat template"


_json = partial(json.dumps, sort_keys=True)  # in which 1 is not true
_OF_PROMPTS: Mapping[str, Any] = {"repeats": 1, "sampler": "first_n", "split": "fewshot"} | dict.fromkeys(
    ("samples", "fewshot_indices", "process_docs", "gen_prefix")
)
_AGAIN = "run lm_eval again without changing its files"
_SIGNED = "score and judge with what this release has, not with functions of your own"
_CHECKS: Sequence[tuple[str, str, Callable[[ScoredTask], Iterable[str]]]] = (
    ("limit", "run all documents, each once, without --limit", _limit),
    ("edition", "run on the real data (tls-tasks list --obtain says how), and submit the run's own files", _edition),
    ("version", "run it again with this release, or submit with the release that ran it", _version),
    ("chat template", _AGAIN, _chat_template),
    ("chat template", "run with --apply_chat_template, or say --no-chat-template if it has none", _not_applied),
    ("samples", _AGAIN, lambda task: map(str, task.log.problems)),
    ("samples", "give each document of your data a name of its own", _names),
    ("signature", _SIGNED, _signatures),
    ("prompts", "run it again with --cache_requests refresh", lambda task: map(str, task.stale)),
    ("hash", _AGAIN, _hashes),
    ("scores", "run lm_eval again, without --predict_only and without changing its files", _scores),
    ("answers", _AGAIN, _answers),
    ("arguments", _AGAIN, _arguments),
    ("prompts", _AGAIN, _fields),
    ("prompts", _AGAIN, _requests),
)


def packed_files(scored: Sequence[ScoredTask]) -> list[Path]:
    """The harness's files of these tasks, from which everything else in an archive is made."""
    return sorted({path for task in scored for path in (task.log.path, task.run.results) if path is not None})


def secrets(scored: Sequence[ScoredTask]) -> Iterator[str]:
    """What looks like a secret in a run's options, or in a line of the files; and secrets of this environment there."""
    advice = "give secrets by the name of an environment variable, run again, and change what is written in a file"
    for task in scored:
        options = {**stated_metadata(task.name, task.results), **model_arguments(task.results)}
        options = {key: value for key, value in options.items() if not _SPECIAL_TOKEN.fullmatch(key)}
        try:
            check_no_secret(options, task.name, headers=True)
        except InputError as error:
            yield f"secret: {task.run.results}: {error.field} holds {error.got}; {advice}"
    values = secret_values(os.environ)
    for path in packed_files(scored):
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for line, text in enumerate(lines, start=1):
                kind = next((f"the value of {name}" for value, name in values.items() if value in text), "")
                if kind := kind or secret_in(text):
                    yield f"secret: {path}:{line} holds {kind} (not shown); {advice}"
                    break
