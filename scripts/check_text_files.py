"""Fails where a text file ends in no line break or several, or holds blanks at a line's end, or a YAML file is none.

``python scripts/check_text_files.py FILE …``. Data and oracles are as they were made, and pre-commit leaves them out.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import yaml


class _Loader(yaml.SafeLoader):
    """Reads the tags of harness and hosts (``!function``) as if they weren't there."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def problems(path: Path) -> list[str]:
    """What is wrong with one file."""
    content = path.read_bytes()
    found = []
    if b"\r\n" in content:
        found.append("line breaks of Windows")
    if content and not content.endswith(b"\n"):
        found.append("no line break at the end")
    if content.endswith(b"\n\n"):
        found.append("empty lines at the end")
    if path.suffix != ".md" and re.search(rb"[ \t]+\n", content):
        found.append("blanks at the end of a line")
    if re.search(rb"^(<{7} |={7}\n|>{7} )", content, re.MULTILINE):
        found.append("the marks of a merge")
    if path.suffix in {".yaml", ".yml"} or path.name == "_default_yaml":
        try:
            list(yaml.load_all(content, _Loader))
        except yaml.YAMLError as error:
            found.append(f"not YAML: {error}")
    return found


def main(names: list[str]) -> int:
    """The files with problems, one problem a line."""
    found = [f"{name}: {problem}" for name in names for problem in problems(Path(name))]
    print("".join(f"{line}\n" for line in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
