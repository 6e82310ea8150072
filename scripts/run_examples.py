"""Runs the notebooks in examples/ from top to bottom and stores what they print.

    python scripts/run_examples.py [NAME …]

NAME is a notebook without its ending; without any, all are run. ``tests/test_examples.py`` runs them in the same way
and fails where a stored output is not what is printed now. ``paper_table`` reads what ``tls-tasks fetch tls_crisis
tls_timeline17`` has downloaded.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
_VARIES = "varies"  # the tag of a cell whose output is another one each time, such as a speed
_LANGUAGE = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
             "language_info": {"name": "python"}}  # fmt: skip


def executed(path: Path) -> Any:
    """The notebook with the outputs of a run in a kernel of its own; raises where a cell does.

    The kernel has the variables of this process, and no settings of the user's.
    """
    from tls_tasks.data.fetched import cache_folder

    notebook = nbformat.read(path, as_version=4)
    path_of_commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # tls-tasks is in it
    with tempfile.TemporaryDirectory() as profile:
        NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(path.parent)}},
        ).execute(env={**os.environ, "IPYTHONDIR": profile, "PATH": path_of_commands})
    notebook.metadata = nbformat.from_dict(_LANGUAGE)
    # The one thing that a machine may tell of itself: where fetched data is kept.
    plain = json.dumps(notebook).replace(json.dumps(str(cache_folder()))[1:-1], "~/.cache/tls-tasks")
    return nbformat.from_dict(json.loads(plain))


def printed(notebook: Any) -> list[list[str]]:
    """What each code cell prints as text; of those whose output varies, nothing."""
    return [
        [
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
            if output.get("name") != "stderr"  # where a judge's server is
        ]
        for cell in notebook.cells
        if cell.cell_type == "code" and _VARIES not in cell.metadata.get("tags", ())
    ]


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
    parser.add_argument("names", nargs="*", metavar="NAME", default=names)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for name in parser.parse_args().names:
        path = EXAMPLES / f"{name}.ipynb"
        notebook = executed(path)
        nbformat.write(notebook, path)
        print(f"{name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
