"""Write the prompts into the families' READMEs as models see them; ``--check`` only says whether they are up to date.

A README names the task whose prompt it shows: ``<!-- prompt: TASK -->`` … ``<!-- end -->``.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import tls_tasks

READMES = sorted(Path(__file__).parent.parent.glob("task_configs/*/README.md"))
_BLOCK = re.compile(r"(<!-- prompt: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def block(name: str) -> str:
    """The prompt and the answer of the task's first example, which is short; else the prompt of its first document."""
    task = tls_tasks.task(name)
    if task.fewshot is not None:
        doc = task.fewshot(name)[0]
        return f"```text\n{task.prompt(doc)}\n```\n\nThe answer:\n\n```text\n{task.target(doc)}\n```\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the embedded edition warns
        return f"```text\n{task.prompt(task.documents(edition='embedded')[0])}\n```\n"


def updated(text: str) -> str:
    """A README's text with the prompts of today."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{block(match[2])}\n{match[3]}", text)


def main() -> int:
    """Write, or check."""
    texts = {readme: readme.read_text(encoding="utf-8") for readme in READMES}
    stale = {readme: new for readme, text in texts.items() if (new := updated(text)) != text}
    if "--check" in sys.argv[1:]:
        print(*(f"{readme}: run scripts/make_prompts.py" for readme in stale), sep="\n", end="\n" if stale else "")
        return 1 if stale else 0
    for readme, text in stale.items():
        readme.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
