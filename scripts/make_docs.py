"""Builds the site of the documentation into build/site; ``python scripts/make_docs.py``, or ``make docs``.

The pages of docs/ become the site's root; cards, READMEs of the families and notebooks lie beside them as in the
repository. A link to a file that is no page leads to the repository where GITHUB_REPOSITORY names it, else it is text.
docs/example.html, the page of two baselines, is written anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from scripts.pages import ROOT, in_repository, pages, relinked, repository_link

STAGE, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
EXAMPLE = ROOT / "docs" / "example.html"


def site_path(path: str) -> str:
    """Where a file of the repository lies on the site."""
    return re.sub(r"\.ipynb$", ".md", path.removeprefix("docs/"))


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: its texts, code and printed outputs."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```" if cell["cell_type"] == "code" else source)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            printed = "".join(output.get("text", data.get("text/plain", [])))
            if "image/png" in data:
                parts.append(f"![A plot](data:image/png;base64,{''.join(data['image/png']).strip()})")
            elif printed:
                parts.append(f"```text\n{printed.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def stage(folder: Path) -> None:
    """Write what the site is built from."""
    shutil.rmtree(folder, ignore_errors=True)
    notebooks = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "examples").glob("*.ipynb"))]
    shown = [page for page in pages() if page != "README.md"] + notebooks
    drawn = [*sorted((ROOT / "docs" / "pictures").glob("*")), EXAMPLE]
    pictures = [path.relative_to(ROOT).as_posix() for path in drawn]

    for page in shown:
        source = notebook_page(ROOT / page) if page.endswith(".ipynb") else (ROOT / page).read_text(encoding="utf-8")

        def link(target: str, page: str = page) -> str | None:
            path, anchor = in_repository(page, target)
            path = "docs/index.md" if path == "README.md" else path
            if path not in shown and path not in pictures:
                return repository_link(path)
            away = os.path.relpath(site_path(path), Path(site_path(page)).parent).replace(os.sep, "/")
            return f"{away}#{anchor}" if anchor else away

        place = folder / site_path(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(relinked(source, link), encoding="utf-8")
    for picture in pictures:
        (folder / site_path(picture)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / picture, folder / site_path(picture))


def draw_example(path: Path) -> None:
    """Write the page of two baselines on the embedded edition of tls_crisis."""
    lm_eval = [sys.executable, "-m", "lm_eval", "--tasks", "tls_crisis", "--model", "tls_datewise", "--log_samples"]
    with tempfile.TemporaryDirectory() as folder:
        for weight in ("2", "0"):
            place = ["--model_args", f"mention_weight={weight}", "--output_path", f"{folder}/{weight}"]
            subprocess.run([*lm_eval, *place], check=True, stdout=subprocess.DEVNULL)
        page = [sys.executable, "-m", "tls_tasks", "page", f"{folder}/2", f"{folder}/0", "-o", str(path)]
        subprocess.run(page, check=True)


def main() -> int:
    """Build; a dead link or anchor, or a name that the reference lacks, fails."""
    draw_example(EXAMPLE)
    stage(STAGE)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
