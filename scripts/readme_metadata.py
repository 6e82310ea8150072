"""The README as the package index shows it: links lead to what GITHUB_REPOSITORY names, else are text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).parent.parent))
from scripts.pages import ROOT, in_repository, relinked, repository_link


class ReadmeHook(MetadataHookInterface):
    """What hatchling runs, ``[tool.hatch.metadata.hooks.custom]``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field ``readme``."""
        source = (ROOT / "README.md").read_text(encoding="utf-8")
        text = relinked(source, lambda target: repository_link(*in_repository("README.md", target)))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
