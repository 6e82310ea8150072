"""Runs every command of docs/your_data.md on the page's own files and writes the outputs into the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "your_data.md"


def main() -> None:
    """Write the page anew."""
    text = PAGE.read_text(encoding="utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("TLS_TASKS_DATA", None)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in re.findall(r"<!-- file (\S+) -->\n```json\n(.*?)```", text, re.DOTALL):
            file = Path(folder, name)
            file.parent.mkdir(exist_ok=True)
            file.write_text(content, encoding="utf-8")

        def run(found: re.Match[str]) -> str:
            command = ["bash", "-euo", "pipefail", "-c", found[1]]
            done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            return f"<!-- run -->\n```bash\n{found[1]}```\n\n```\n{done.stdout}```"

        pattern = r"<!-- run -->\n```bash\n(.*?)```\n\n```\n(.*?)```"
        PAGE.write_text(re.sub(pattern, run, text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
