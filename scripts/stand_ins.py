"""What stands in for what the pages name and a machine without weights and network lacks, so that their commands run.

Models with random weights, a server on loopback, the files of the embedded editions under the pages' own names, and a
virtual environment that takes the packages it needs from this one. A page's words are exchanged for these; all else
of a command runs as it is printed.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EMBEDDED = ROOT / "tls_tasks" / "data" / "embedded"

_PYTHON3 = """#!/bin/sh
"{python}" "$@" || exit
if [ "$1 $2" = "-m venv" ]; then
    for site in "$3"/lib/python*/site-packages; do echo "{packages}" > "$site/outer.pth"; done
fi
"""


def make(folder: Path) -> None:
    """Make models and files once, in ``folder``."""
    parts: Any = importlib.import_module("tests.harness_parts")
    parts.make_tiny_model(folder / "model", context=2048, is_silent=True)
    files = folder / "files"
    shutil.copytree(EMBEDDED / "report_generation", files)
    shutil.copy(EMBEDDED / "report_generation" / "verdicts.jsonl", files / "people.jsonl")
    shutil.copy(EMBEDDED / "summ_qmsum" / "documents.jsonl", files / "meetings.jsonl")
    _make_report_gen_eval(files)
    shutil.copytree(EMBEDDED / "tls_crisis" / "egypt", folder / "data" / "crisis" / "egypt")
    (folder / "bin").mkdir()
    python3 = folder / "bin" / "python3"
    python3.write_text(_PYTHON3.format(python=sys.executable, packages=sysconfig.get_path("purelib")), encoding="utf-8")
    python3.chmod(0o755)


def _make_report_gen_eval(files: Path) -> None:
    """Results as that program writes them: no document is relevant, and all else negative."""
    results = files / "results" / "results_reports.jsonl"
    results.parent.mkdir()
    with results.open("w", encoding="utf-8") as written:
        for line in (files / "reports.jsonl").read_text(encoding="utf-8").splitlines():
            report = json.loads(line)
            about = {key: report[key] for key in ("request_id", "run_id", "collection_ids") if key in report}
            sentences = [_result(place, sentence) for place, sentence in enumerate(report["sentences"])]
            written.write(json.dumps({**about, "sentence_results": sentences, "metrics": {}}) + "\n")


def _result(place: int, sentence: Mapping[str, Any]) -> dict[str, Any]:
    said = ("citation_relevance", "NO") if sentence["citations"] else ("check_negative", "YES")
    details = {"is_negative": None, "model_responses": [{"type": said[0], "response": said[1]}]}
    return {
        "sentence": sentence["text"],
        "sentence_index": place,
        "score": -1,
        "matched_nuggets": [],
        "evaluation_details": details,
    }


def answer(prompt: str) -> str:
    """What the server says: yes to a judge's question, a timeline to others."""
    return "YES" if "YES" in prompt else "2011-01-25: Police clash with protesters in Cairo."


@contextmanager
def server() -> Iterator[str]:
    """An OpenAI-compatible server on loopback; gives the address for chats."""
    parts: Any = importlib.import_module("tests.harness_parts")
    running = parts.Server(answer)
    try:
        yield running.url
    finally:
        running.close()


def environment(usual: Mapping[str, str], folder: Path) -> dict[str, str]:
    """``usual`` for a folder of stand-ins: pip installs from the checkout alone, and python3 lends its packages."""
    pip = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_IGNORE_INSTALLED": "1"}
    return {**usual, **pip, "PATH": os.pathsep.join([str(folder / "bin"), usual["PATH"]])}


def words(folder: Path, url: str) -> dict[str, str]:
    """The pages' words and what takes their place."""
    return {
        "ORG/MODEL": str(folder / "model"),
        "http://127.0.0.1:8000/v1/chat/completions": url,
        "base_url=URL": f"base_url={url}",
        "LOCAL_BASE_URL=URL": f"LOCAL_BASE_URL={url.removesuffix('/chat/completions')}",
        "-p openai -m MODEL": f"--base-url {url.removesuffix('/chat/completions')} -m MODEL",
        '"PLACE"': '"meetings.jsonl"',
        "shared/data": str(folder / "data"),
        "python benchmarks/": f"python {ROOT}/benchmarks/",
        "pip install .": f"pip install {ROOT}",
        "ssh-keygen": "ssh-keygen -N ''",  # it asks for a passphrase
        "…": "*",
    }
