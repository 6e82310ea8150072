"""Write the table of metrics into docs/metrics.md from the registry; ``--check`` only says whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from tls_tasks.registry import METRICS

PAGE = Path(__file__).parent.parent / "docs" / "metrics.md"
START = "<!-- metrics: generated from the registry by scripts/make_metrics_table.py -->\n"
END = "<!-- end of metrics -->\n"


def table() -> str:
    """One row a metric."""
    lines = ["| metric | what it is | result keys | original tool | source |", "|---|---|---|---|---|"]
    for spec in METRICS.values():
        keys = ", ".join(f"`{key}`" for key in spec.result_keys)
        name = f"[`{spec.name}`](../metrics/{spec.name}/README.md)"
        lines.append(f"| {name} | {spec.summary} | {keys} | {spec.original} | {spec.citation} |")
    return "\n".join(lines) + "\n"


def updated(text: str) -> str:
    """The page's text with the table of today."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return before + START + table() + END + after


def main() -> int:
    """Write, or check."""
    text = PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        return 0 if text == updated(text) else 1
    PAGE.write_text(updated(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
