"""Files that somebody else wrote, read once: what leaves this module has the types that it says.

One reader a kind of file: the harness's results, a row of its samples, and a submission's manifest. What does not fit
is a :class:`~tls_tasks.core.errors.DataError` of one line that names the place in the file, so that nothing behind this
module asks again what a value is. Keys that are not named here are kept, and nobody may look at them: mypy sees to it.
"""

import json
import reprlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import Required, TypedDict

from tls_tasks.core.errors import DataError, json_fault

MOST_BYTES = 16 << 20
"""The most bytes of a results file; also those of one row."""

MOST_NESTED = 100
"""How deep lists and objects may lie in each other; the harness's go down some eight levels."""

MISSING = object()
"""What :func:`value_at` can give for a path that leads nowhere, unlike any value of a file."""

_T = TypeVar("_T")
_Count = Annotated[int, Field(ge=0, le=10**9)]
_DocId = Annotated[int, Field(ge=-(2**53), le=2**53)]
_Number = float | str | bool | list[Any] | dict[str, Any] | None  # the harness has "N/A" for some; no float: 10**400
_Time = Annotated[float, Field(ge=0, lt=253_402_300_800, allow_inf_nan=False)]  # to the end of the year 9999
_STRICT = ConfigDict(strict=True, extra="allow")  # of a file, and so of all that lies in it


class _Sizes(TypedDict):
    original: _Count
    effective: _Count


class _Metadata(TypedDict, total=False):
    provenance: dict[str, str]


class _TaskConfig(TypedDict, total=False):
    metadata: _Metadata | None
    generation_kwargs: dict[str, Any] | None
    num_fewshot: int | None
    repeats: int | None
    description: str | None
    fewshot_config: dict[str, Any] | None
    metric_list: list[Any] | None


class _Config(TypedDict, total=False):
    model_args: dict[str, Any] | str | None
    gen_kwargs: dict[str, Any] | str | None
    limit: float | None


_OfTasks = TypedDict(  # no names in Python
    "_OfTasks", {"n-samples": dict[str, _Sizes], "n-shot": dict[str, int | None]}, total=False
)


class Results(_OfTasks, total=False):
    """``results_<date>.json``, with what it says of our tasks; empty where there is no such file."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]
    results: dict[str, dict[str, _Number]]
    configs: dict[str, _TaskConfig]
    versions: dict[str, float | str | None]
    task_hashes: dict[str, str]
    higher_is_better: dict[str, dict[str, bool | None]]
    group_subtasks: dict[str, list[str]]
    config: _Config | None
    date: _Time
    model_name: str | None
    model_source: str | None
    chat_template: str | bool | dict[str, Any] | None
    chat_template_sha: str | None


class SampleRow(TypedDict, total=False):
    """A line of ``samples_<task>_<date>.jsonl``."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]
    doc_id: Required[_DocId]
    doc: Required[dict[str, Any]]
    filtered_resps: Required[list[Any]]
    resps: list[Any]
    arguments: dict[str, dict[str, Any]] | list[Any]
    filter: str
    metrics: list[str]
    target: Any
    doc_hash: str
    prompt_hash: str
    target_hash: str


class Manifest(TypedDict):
    """``manifest.json`` of a submission: ``date`` in seconds, ``replaces`` by the hash of an older manifest."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]
    format: Annotated[int, Field(ge=1, le=1)]  # no Literal, which takes true for 1
    files: dict[str, str]
    model: str
    tasks: list[str]
    tls_tasks: str
    chat_template: bool
    date: _Time
    replaces: str | None


_RESULTS, _ROW, _MANIFEST = TypeAdapter(Results), TypeAdapter(SampleRow), TypeAdapter(Manifest)
_TASK_BY_TASK = ("results", "configs", "versions", "task_hashes", "higher_is_better", "n-samples", "n-shot")


def read_results(content: bytes, tasks: Collection[str]) -> Results:
    """A results file; what it says of other tasks than these is left out, since it may be of any type.

    Raises:
        DataError: With what is wrong, and where.

    Example:
        >>> read_results(b'{"results": {}, "date": "now"}', [])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.DataError: `date` is 'now', expected a valid number
    """
    value = read_json(content)
    for name in _TASK_BY_TASK:
        if isinstance(value, dict) and isinstance(of_tasks := value.get(name), dict):
            by_task = ((task.rpartition("::")[2], row) for task, row in of_tasks.items())  # 0.5: GROUP::TASK
            value[name] = {task: row for task, row in by_task if task in tasks}
    results = checked(_RESULTS, value)
    for name in ("results", "date"):
        if name not in results:
            raise DataError(f"`{name}` is missing")
    return results


def read_row(line: bytes) -> SampleRow:
    """A row of a samples file.

    Raises:
        DataError: With what is wrong, and where.

    Example:
        >>> read_row(b'{"doc_id": 0, "doc": {}, "filtered_resps": "text"}')
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.DataError: `filtered_resps` is 'text', expected a valid list
    """
    return checked(_ROW, read_json(line))


def read_manifest(content: bytes) -> Manifest:
    """A manifest.

    Raises:
        DataError: With what is wrong, and where.

    Example:
        >>> read_manifest(b'{"format": 1, "files": ["a"]}')
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.DataError: `files` is ['a'], expected a valid dictionary
    """
    return checked(_MANIFEST, read_json(content))


def read_json(content: bytes) -> Any:
    """JSON that somebody else wrote.

    Raises:
        DataError: If it is none, too long, nested too deep, or has a key twice, of which readers take either.
    """
    if len(content) > MOST_BYTES:
        raise DataError(f"more than {MOST_BYTES >> 20} MiB")
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: byte {error.start} is 0x{content[error.start]:02x}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({json_fault(error)})") from error
    # What is nested is counted only where there are brackets enough for it.
    if content.count(b"[") + content.count(b"{") > MOST_NESTED and _is_nested(value, MOST_NESTED + 1):
        raise DataError(f"lists and objects lie in each other more than {MOST_NESTED} deep")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(value := dict(pairs)) < len(pairs):
        raise DataError(f"a key stands twice in an object: {', '.join(key for key, _ in pairs):.80}")
    return value


def read_file(path: Path, read: Callable[[bytes], _T], expected: str = "") -> _T:
    """A whole file, by one of the readers above; ``expected`` says in errors what the file should be.

    Raises:
        DataError: With the path, and what is wrong.
    """
    with path.open("rb") as file:
        try:
            return read(file.read(MOST_BYTES + 1))
        except DataError as error:
            raise DataError(f"{path}: {expected}{error}") from error


def _is_nested(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return not levels or any(_is_nested(item, levels - 1) for item in items)


def value_at(value: Any, path: str, otherwise: Any = None) -> Any:
    """What lies at a path: a key of an object, or a place in a list, at each dot; a key may have dots itself.

    Example:
        >>> value_at({"answers": [{"text": "7"}]}, "answers.0.text")
        '7'
    """
    items = {str(place): item for place, item in enumerate(value)} if isinstance(value, list) else value
    if not isinstance(items, Mapping):
        return otherwise
    if path in items:
        return items[path]
    step, _, rest = path.partition(".")
    return value_at(items[step], rest, otherwise) if step in items else otherwise


def checked(adapter: TypeAdapter[_T], value: Any) -> _T:
    """A value that has the type of the adapter.

    Raises:
        DataError: With what is wrong, and where.
    """
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        # Of the members of a union that all fail, the first one's error is as good as the others'.
        first = error.errors(include_url=False, include_context=False)[0]
    place = f"{'.'.join(map(str, first['loc'])):.80}"
    if not place:
        raise DataError(f"expected an object, got {type(value).__name__}")
    if first["type"] == "missing":
        raise DataError(f"`{place}` is missing")
    expected = first["msg"].removeprefix("Input should be ")
    raise DataError(f"`{place}` is {reprlib.repr(first['input'])}, expected {expected}")
