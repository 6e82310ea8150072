"""Fails where a file in Git is larger than 512 KiB: data that large belongs on a hub, behind ``tls-tasks prepare``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LIMIT = 512 * 1024


def main() -> int:
    """The tracked and staged files that are too large, one a line."""
    root = Path(__file__).parents[1]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    large = 0
    for name in filter(None, listed.decode().split("\0")):
        path = root / name
        if path.is_file() and path.stat().st_size > LIMIT:
            print(f"{name}: {path.stat().st_size:,} bytes, and {LIMIT:,} is the limit")
            large += 1
    return min(large, 1)


if __name__ == "__main__":
    sys.exit(main())
