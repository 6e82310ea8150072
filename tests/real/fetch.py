"""Fetch the texts that ``labels.jsonl`` labels: ``python -m tests.real.fetch FOLDER [BASE]``.

Each text is read from its repository at its commit, by git, and written as ``SHA256.txt``. Texts that a locator in words
describes are left out and counted. BASE is where repositories are (https://github.com by default).
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LABELS = Path(__file__).with_name("labels.jsonl")


def labels():
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def text_at(content, locator):
    """Return the text at a locator of a file's content; None for a locator that is not known."""
    if locator == "whole file":
        return content
    if locator.startswith("file without its first line"):
        return content.partition("\n")[2]
    match = re.fullmatch(r"(?:line (\d+) ?)?((?:/[^/]+)*)", locator)
    if match is None:
        return None
    value = json.loads(content.splitlines()[int(match[1]) - 1] if match[1] else content)
    for key in match[2].split("/")[1:]:
        value = value[int(key) if isinstance(value, list) else key]
    return value if isinstance(value, str) else None


def main(folder, base="https://github.com"):
    Path(folder).mkdir(parents=True, exist_ok=True)
    by_commit = {}
    for row in labels():
        by_commit.setdefault((row["repo"], row["commit"]), []).append(row)
    n_written = 0
    for (repo, commit), rows in by_commit.items():
        with tempfile.TemporaryDirectory() as clone:
            git = ["git", "-C", clone]
            subprocess.run([*git, "init", "--quiet"], check=True)
            if subprocess.run([*git, "fetch", "--quiet", "--depth", "1", f"{base}/{repo}", commit]).returncode:
                sys.stdout.write(f"{repo}@{commit[:12]}: not to be had\n")
                continue
            for row in rows:
                shown = subprocess.run([*git, "show", f"{commit}:{row['path']}"], capture_output=True)
                text = (
                    text_at(shown.stdout.decode("utf-8", "replace"), row["locator"]) if not shown.returncode else None
                )
                for version in () if text is None else (text, text.strip()):
                    if hashlib.sha256(version.encode()).hexdigest() == row["sha256"]:
                        Path(folder, f"{row['sha256']}.txt").write_text(version, encoding="utf-8", newline="")
                        n_written += 1
                        break
    sys.stdout.write(f"{n_written} of {len(labels())} texts\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
