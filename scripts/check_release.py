"""Fails unless a tag, the package's version and the documents that name it agree: ``check_release.py v1.2.3``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """What stands between this checkout and a release under ``tag``."""

    def text(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    (version,) = re.findall(r'^__version__ = "(.+)"$', text("tls_tasks/__init__.py"), re.MULTILINE)
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, and the version is {version}")
    if not re.search(rf"^## {re.escape(version)}\b", text("CHANGELOG.md"), re.MULTILINE):
        found.append(f"CHANGELOG.md has no section {version}")
    unreleased = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", text("CHANGELOG.md"), re.MULTILINE | re.DOTALL)
    if unreleased and unreleased[1].strip():
        found.append("CHANGELOG.md has entries that are unreleased still")
    if f"version: {version}\n" not in text("CITATION.cff"):
        found.append(f"CITATION.cff does not name version {version}")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = problems(sys.argv[1])
    print("".join(f"{line}\n" for line in found), end="")
    sys.exit(1 if found else 0)
