"""``lm_eval --cache_requests`` keeps a task's requests by its name: with other data or another budget, the old ones.

The harness then asks the old questions and scores the answers by the new documents, in the right form and without a
word. A task can't see whether the option is set, and nothing of ours is called between the cache and the model. So what
lies in the cache is compared when the documents are loaded, and what is of other documents is taken out: the harness
makes the requests anew, and keeps those.
"""

from __future__ import annotations

import glob
import logging
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError, OptionError
from tls_tasks.core.task import is_asked
from tls_tasks.hosts.discovery import tasks_path
from tls_tasks.registry import find_task

_RANK = re.compile(r"shot-rank(\d+)-world_size(\d+)")
_NAME = re.compile(r"^task:\s*['\"]?([^'\"#\s]+)", re.MULTILINE)

_log = logging.getLogger(__name__)


def drop_stale_requests(name: str, source: object, rows: Sequence[Mapping[str, Any]]) -> None:
    """Take requests of other documents than ``rows`` out of the harness's cache, and say so.

    Args:
        name: The data set, of which a task of ours is called.
        source: The task's YAML file, where the harness says it (``config_source``).
        rows: The documents, as they were loaded now.

    Raises:
        DataError: If the file can't be removed: the run would use it.
    """
    from lm_eval.caching import cache

    task, prompt = _task_of(name, source)
    for file in sorted(Path(cache.PATH).glob(f"requests-{glob.escape(task)}-*shot-rank*")):
        if not (found := _difference(file, rows, prompt)):
            continue
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise DataError(
                f"{task}: the requests that lm_eval --cache_requests keeps in {file} are stale: {found}. The file "
                f"can't be removed ({error}): remove it, or set LM_HARNESS_CACHE_PATH to a folder of your own"
            ) from error
        _log.warning(
            "%s: the requests that lm_eval --cache_requests keeps in %s are stale: %s. The file was removed, as "
            "--cache_requests refresh would do; requests are made of the documents of this run",
            *(task, file, found),
        )


def _task_of(name: str, source: object) -> tuple[str, Callable[[Mapping[str, Any]], str] | None]:
    """The task's name for the harness, and its prompt if that is ours: a user's file may name another."""
    path = Path(str(source))
    try:
        named = _NAME.search(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # "inline": no file
        named = None
    if named is not None and tasks_path().resolve() not in path.resolve().parents:
        return named[1], None
    try:
        task = find_task(named[1] if named else name)
    except OptionError:
        return name, None
    return task.name, task.prompt


def _difference(
    file: Path, rows: Sequence[Mapping[str, Any]], prompt: Callable[[Mapping[str, Any]], str] | None
) -> str:
    """In words how the requests in a file differ from those of these documents; empty if they don't."""
    match = _RANK.search(file.name)
    try:
        with file.open("rb") as opened:
            requests = {one.doc_id: one for group in _Inert.Unpickler(opened).load() for one in group}
        asked = {number: (dict(one.doc), one.arguments[0]) for number, one in requests.items()}
    except Exception as error:  # damaged pickles raise almost anything; what can't be compared must not be used
        return f"it can't be read ({error or type(error).__name__})"
    expected = range(int(match[1]), len(rows), int(match[2])) if match else range(len(rows))
    if set(asked) != set(expected):
        return f"it has {len(asked)} documents, not {len(expected)}"
    changed = [number for number, (doc, _) in sorted(asked.items()) if doc != dict(rows[number])]
    if changed:
        fields = [key for key, value in rows[changed[0]].items() if asked[changed[0]][0].get(key) != value]
        shown = f"document {rows[changed[0]].get('doc_id')} first, in {', '.join(fields) or 'its fields'}"
        return f"{len(changed)} of its {len(asked)} documents are not the ones of now ({shown})"
    first = min(asked, default=None)
    if prompt is not None and first is not None and not is_asked(prompt(rows[first]), _text(asked[first][1])):
        return "its prompts are not the ones of now"
    return ""


def _text(request: Any) -> str:
    """A request's text; of a chat the JSON of its messages, which the harness keeps in a tuple of its own."""
    return str(request.built_of[0]) if isinstance(request, _Inert) else str(request)


class _Inert:
    """Stands for each object in a pickle that is no plain data: it keeps its fields, and nothing is called."""

    built_of: tuple[Any, ...]

    def __new__(cls, *built_of: Any, **_: Any) -> _Inert:
        """Keep what the object would have been made of."""
        self = super().__new__(cls)
        self.built_of = built_of
        return self

    class Unpickler(pickle.Unpickler):
        """Fetches no function and no class, so that nothing in the file is run."""

        def find_class(self, module: str, name: str) -> Any:
            """The stand-in, whatever is asked for; what dill would call makes classes."""
            return _inert_class if module.partition(".")[0] == "dill" else _Inert


def _inert_class(*_: Any, **__: Any) -> type:
    return _Inert
