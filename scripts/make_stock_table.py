"""Write the table of docs/developing/stock_tasks.md from a real run of the harness, as the tests make it."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

PAGE = Path(__file__).parent.parent / "docs" / "developing" / "stock_tasks.md"
START = "<!-- stock tasks: a real run, by scripts/make_stock_table.py -->\n"
END = "<!-- end of stock tasks -->\n"


def updated(text: str, table: str) -> str:
    """The page's text with this table."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return before + START + table + END + after


def main() -> None:
    """Run and write."""
    parts: Any = importlib.import_module("tests.after.stock_tasks")
    with tempfile.TemporaryDirectory() as folder:
        parts.make_run(Path(folder))
        PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), parts.table(Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
