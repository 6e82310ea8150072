"""The tables of the board in HTML: a dot on its interval for each system, and all results below."""

import html
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Row = Mapping[str, Any]
"""A system: texts and results by the title of their column, ``ends`` of its interval.

Without ``rank`` if published; with an empty one if it is no system, but people's references.
"""

CORRECTED = "corrected by labels"
"""The column of results that people's labels correct; only where a row has some."""

_BESIDE = ("equal to the reference", "characters around the prompt", "chat template", "generation")
_FACTS = ("interval", "n", "checks", "signed", "submitter", "date", "edition", "budget", *_BESIDE)
_TOPS = (0.1, 0.2, 0.4, 1.0)  # where the axis of a share may end; an empty end is cut


def ranking(metrics: Sequence[str], rows: Sequence[Row], caption: str, label: str, pages: Mapping[str, str]) -> str:
    """The ranking by the first metric, and all results below; names of systems that have a page link to it."""
    metric, beside = metrics[0], [CORRECTED] * any(CORRECTED in row for row in rows)
    most = max(float(value) for row in rows for value in (row[metric], *row.get("ends", ())))
    top = next((top for top in _TOPS if most <= top), most)
    ticks = [top * quarter / 4 for quarter in range(5)]
    grid = "".join(_line("grid", (tick, tick), top, "100%") for tick in ticks)
    labels = "".join(f'<text x="{_share(tick, top)}" y="12" text-anchor="middle">{tick:g}</text>' for tick in ticks)
    ends_group = [row.get("group") != after.get("group") for row, after in pairwise([*rows, rows[-1]])]
    lines = []
    for row, is_last in zip(rows, ends_group, strict=True):
        facts = " · ".join(str(row[key]) for key in ("submitter", "checks", "signed", "date") if key in row)
        name = html.escape(row["system"])
        linked = f'<a href="{html.escape(pages[row["system"]])}">{name}</a>' if row["system"] in pages else name
        cells = (
            f'<td class="soft">{row.get("rank", "")}</td><th scope="row">{linked}</th>'
            f'<td class="soft">{html.escape(facts or "published, not recomputed")}</td>'
            f'<td class="cell"><svg class="plot" aria-hidden="true">{grid}{_dot(row, metric, top)}</svg></td>'
            f'<td class="figure"><b>{row[metric]:.4f}</b><span class="soft">{row.get("interval", "")}</span></td>'
        )
        cells += "".join(f'<td class="soft beside">{html.escape(row.get(title, ""))}</td>' for title in beside)
        lines.append(f"<tr{_class('last' if is_last else '')}>{cells}</tr>")
    titles = ("rank", "system", "checks", "plot", f"{metric}, interval", *beside)
    head = "".join(f'<th scope="col" class="unseen">{html.escape(title)}</th>' for title in titles)
    axis = f'<td class="cell"><svg class="axis" aria-hidden="true">{labels}</svg></td>'
    foot = f"<tfoot><tr><td></td><td></td><td></td>{axis}<td></td>{'<td></td>' * len(beside)}</tr></tfoot>"
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>{foot}"
    table = f'<table class="forest ranking"><caption>{html.escape(caption)}</caption>{body}</table>'
    return table + _all_results(metrics, rows, beside, label)


def _all_results(metrics: Sequence[str], rows: Sequence[Row], beside: Sequence[str], label: str) -> str:
    """All results and facts, folded."""
    titles = ["rank", metrics[0], *beside, "system", "group", *_FACTS, *metrics[1:]]
    classes = {title: _class("number" if title in {*metrics, "n", "budget"} else "") for title in titles}
    head = "".join(f'<th scope="col"{classes[title]}>{html.escape(title)}</th>' for title in titles)
    body = []
    for row in rows:
        # A paper's row was not recomputed, and has no rank.
        filled = {"rank": "published", **row}
        texts = {title: f"{cell:.4f}" if isinstance(cell, float) else str(cell) for title, cell in filled.items()}
        cells = {title: f"<td{classes[title]}>{html.escape(texts.get(title, ''))}</td>" for title in titles}
        cells["system"] = f'<th scope="row">{html.escape(texts["system"])}</th>'
        body.append(f"<tr>{''.join(cells.values())}</tr>")
    lines, region = "\n".join(body), f'tabindex="0" role="region" aria-label="{html.escape(label)}"'
    table = f'<table class="results"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'
    return f'<details><summary>{html.escape(label)}</summary><div class="wide" {region}>{table}</div></details>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _share(value: float, top: float) -> str:
    return f"{100 * min(1.0, max(0.0, value / top)):.2f}%"


def _line(kind: str, ends: Sequence[float], top: float, height: str = "") -> str:
    above, below = ("0", height) if height else ("11", "11")
    x1, x2 = (_share(end, top) for end in ends)
    return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{above}" y2="{below}"/>'


def _dot(row: Row, metric: str, top: float) -> str:
    """A dot on its interval: dashed if the interval is unreliable, hollow if not recomputed; a stroke of references."""
    if row.get("rank") == "":
        return _line("mean", (row[metric],) * 2, top, "100%")
    tone = "hollow" if "rank" not in row else "a" if row["group"] == "1" else "c"
    doubt = " doubtful" if "†" in row.get("interval", "") else ""
    whisker = _line(f"whisker {tone}{doubt}", row["ends"], top) if row.get("ends") else ""
    return f'{whisker}<circle class="dot {tone}" cx="{_share(row[metric], top)}" cy="11" r="5"/>'
