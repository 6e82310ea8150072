"""The pages that people read: their code blocks and links, for the site, the checks and the package index."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
_PATTERNS = ("*.md", "docs/**/*.md", "examples/*.md", "metrics/*/README.md", "task_configs/*/README.md")

_BLOCK = re.compile(
    r"(?:^ *<!-- (?P<marker>[^\n]*?) -->\n)?^(?P<indent> *)```(?P<language>\S*)\n(?P<text>.*?)^(?P=indent)```$",
    re.M | re.S,
)
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+(?:\([^()\s]*\)[^()\s]*)?)\)"
)
_CODE = re.compile(r"^( *)```.*?^\1```$|<!--.*?-->|`[^`\n]+`", re.M | re.S)
_WEB = re.compile(r"https?://[\w.-]+(:\d+)?(/\S*)?$")


def pages() -> list[str]:
    """The pages, as paths in the repository."""
    return sorted(path.relative_to(ROOT).as_posix() for pattern in _PATTERNS for path in ROOT.glob(pattern))


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        page, line: Where it begins.
        language: What stands after the fence.
        text: Its lines, without the indentation of the fence.
        marker: The comment on the line above, e.g. ``file a.jsonl`` of ``<!-- file a.jsonl -->``; may be empty.
        start, end: Where its text begins and ends in the page.
    """

    page: str
    line: int
    language: str
    text: str
    marker: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str, source: str | None = None) -> list[Block]:
    """The fenced blocks of a page, in order."""
    source = (ROOT / page).read_text(encoding="utf-8") if source is None else source
    found = []
    for match in _BLOCK.finditer(source):
        text = re.sub(f"^{match['indent']}", "", match["text"], flags=re.M)
        line = source.count("\n", 0, match.start("language")) + 1
        where = (match.start("text"), match.end("text"))
        found.append(Block(page, line, match["language"], text, match["marker"] or "", *where))
    return found


def with_output(page: str) -> Iterator[tuple[Block, Block | None]]:
    """Each block that is no output, with the one that shows its output: ``text`` or no language, and right after it."""
    source = (ROOT / page).read_text(encoding="utf-8")
    found = blocks(page, source)
    outputs = set()
    for block, after in zip(found, [*found, None][1:], strict=True):
        if block in outputs:
            continue
        output = None
        if after and block.language in ("python", "bash") and after.language in ("", "text") and not after.marker:
            between = source[block.end : after.start].strip()
            output = after if re.fullmatch(r"```\s*```(text)?", between) else None
        if output:
            outputs.add(output)
        yield block, output


def relinked(source: str, change: Callable[[str], str | None]) -> str:
    """The page with the target of each link changed; where ``change`` knows none, the link's text stays without it."""
    code = [match.span() for match in _CODE.finditer(source)]

    def new(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in code):
            return match[0]
        target = match["target"] if is_outside(match["target"]) else change(match["target"])
        if target is None:
            return "" if match["image"] else match["text"]
        return f"{match['image']}[{relinked(match['text'], change)}]({target})"

    return _LINK.sub(new, source)


def is_outside(target: str) -> bool:
    """Whether a link leaves the repository."""
    return bool(re.match(r"[a-z][a-z0-9+.-]*:", target))


def in_repository(page: str, target: str) -> tuple[str, str]:
    """What a relative link of a page names: a path in the repository, and an anchor, which may be empty."""
    path, _, anchor = target.partition("#")
    return os.path.normpath(PurePosixPath(page).parent / path).replace(os.sep, "/") if path else page, anchor


def anchors(source: str) -> set[str]:
    """The anchors of a page: of its headings, as GitHub and the site make them, and those written into it."""
    found: list[str] = re.findall(r"<a (?:id|name)=\"([^\"]+)\"", source)
    for heading in re.findall(
        r"^#{1,6} +(.*?)(?: #+)?$", re.sub(r"^( *)```.*?^\1```$", "", source, flags=re.M | re.S), re.M
    ):
        text = unicodedata.normalize("NFC", _LINK.sub(lambda link: link["text"], heading)).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")
        same = sum(re.fullmatch(rf"{re.escape(slug)}(-\d+)?", each) is not None for each in found)
        found.append(f"{slug}-{same}" if same else slug)
    return set(found)


def dead_links(page: str) -> list[str]:
    """What is wrong with a page's links, a line each. Links that leave the repository are not followed."""
    source = (ROOT / page).read_text(encoding="utf-8")
    wrong = []

    def check(target: str) -> str:
        path, anchor = in_repository(page, target)
        if not (ROOT / path).exists():
            wrong.append(f"{page}: {target}: there is no {path}")
        elif anchor and path.endswith(".md") and anchor not in anchors((ROOT / path).read_text(encoding="utf-8")):
            wrong.append(f"{page}: {target}: {path} has no heading #{anchor}")
        return target

    relinked(source, check)
    outside = [match["target"] for match in _LINK.finditer(_CODE.sub("", source)) if is_outside(match["target"])]
    return wrong + [f"{page}: {target}: no address" for target in outside if not _WEB.match(target)]


def repository_link(path: str, anchor: str = "") -> str | None:
    """The address of a file in the repository that GITHUB_REPOSITORY names; None where none is named."""
    server, owner = os.environ.get("GITHUB_SERVER_URL", "https://github.com"), os.environ.get("GITHUB_REPOSITORY")
    kind = "raw" if path.endswith(".png") else "blob"
    return f"{server}/{owner}/{kind}/HEAD/{path}{anchor and f'#{anchor}'}" if owner else None
