"""The reader of each host's logs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from tls_tasks.after.content import Content
from tls_tasks.after.inspect_logs import read_inspect
from tls_tasks.after.logged import read_harness
from tls_tasks.after.logs import RunFiles, read_samples
from tls_tasks.after.row_logs import read_every_eval_ever, read_rows

_READERS: Mapping[str, Callable[[Path], Content]] = {
    "inspect_ai": read_inspect,
    "every_eval_ever": read_every_eval_ever,
    "rows": read_rows,
}


def contents_of(run: RunFiles, *, task: str | None = None, tasks: Collection[str] | None = None) -> Iterator[Content]:
    """What the logs of a run say, task by task.

    Args:
        run: The run.
        task: What the results file of the harness calls the task, where that is not as the samples file is named.
        tasks: The tasks that are read; None: all.

    Raises:
        DataError: If a log can't be read.
    """
    if reader := _READERS.get(run.host):  # whose files are not named as the tasks are
        contents = map(reader, run.samples.values())
        yield from (content for content in contents if tasks is None or content.task in tasks)
        return
    wanted = {name: path for name, path in run.samples.items() if tasks is None or name in tasks}
    results = run.read_results(list(wanted))
    for name, path in wanted.items():
        sizes = results.get("n-samples", {}).get(task or name)
        yield read_harness(run, name, read_samples(path, n_expected=sizes["effective"] if sizes else None), results)
