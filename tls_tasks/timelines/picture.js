// Timelines: all dates on a strip in true time; then the texts on both sides of a vertical axis, aligned dates joined.

const dayNumber = (day) => Date.parse(`${day}T00:00Z`) / 864e5;

function timelineView(view) {
  const days = [...new Set([...view.predicted, ...view.reference].map(([day]) => day))].sort();
  if (!days.length) return el("p", {}, "Neither timeline has a date.");
  const sides = { predicted: new Map(view.predicted), reference: new Map(view.reference) };
  const head = (side) => el("h4", { class: side }, `${side}: ${count(sides[side].size, "date")}`);
  const heads = el("div", { class: "day heads" }, head("predicted"), el("span"), head("reference"));
  const paths = allLinks(view).map(([kind, left, right, weight]) => draw("path", { class: `link ${kind}`,
    "data-left": left, "data-right": right, "stroke-opacity": 0.25 + 0.75 * weight }));
  const links = draw("svg", { class: "links", "aria-hidden": "true" }, paths);
  const rows = days.map((day, at) => [lapse(days[at - 1], day), dayRow(day, sides, view)]);
  const box = el("div", { class: "timeline" }, heads, rows, links);
  new ResizeObserver(() => placeLinks(box)).observe(box);
  for (const name of ["mouseover", "mouseleave", "focusin", "focusout"]) {
    const isOver = ["mouseover", "focusin"].includes(name);
    box.addEventListener(name, (event) => light(box, isOver ? event.target.closest(".entry[data-day]") : null));
  }
  const legend = " words that an aligned date has too. Full lines: the reference date with which a predicted date is "
    + "scored (precision); dashed: the predicted date of a reference date (recall). Filled: a date of both.";
  return [strip(view, days), el("p", { class: "legend" }, el("mark", {}, "marked"), legend), box];
}

// Light up an entry with the lines that begin at it and the entries where they end.
function light(box, entry) {
  const { day, side } = entry?.dataset || {};
  const [mine, other] = side === "reference" ? ["right", "left"] : ["left", "right"];
  const partners = new Set();
  box.classList.toggle("lit", entry !== null);
  for (const link of box.querySelectorAll(".link")) {
    const isOn = entry !== null && link.dataset[mine] === day;
    link.classList.toggle("on", isOn);
    if (isOn) partners.add(link.dataset[other]);
  }
  for (const own of box.querySelectorAll(".entry[data-day]")) {
    own.classList.toggle("on", own === entry || (own.dataset.side !== side && partners.has(own.dataset.day)));
  }
}

function lapse(before, day) {
  const n = before ? dayNumber(day) - dayNumber(before) : 0;
  const unit = [[365, "year"], [30.4, "month"], [7, "week"]].find(([length]) => n >= 2 * length);
  return unit ? el("p", { class: "lapse" }, count(Math.round(n / unit[0]), unit[1])) : null;
}

function dayRow(day, sides, view) {
  const free = view.same.includes(day) ? "" : " free";
  const knot = (side) => el("i", { class: sides[side].has(day) ? `knot ${side}${free}` : null });
  return el("div", { class: "day" }, entry("predicted", day, sides.predicted.get(day), view.precision),
    el("div", { class: "when" }, knot("predicted"), el("time", { datetime: day }, day), knot("reference")),
    entry("reference", day, sides.reference.get(day), view.recall));
}

function entry(side, day, sentences, links) {
  if (!sentences) return el("div", { class: "entry none" });
  const [mine, other, arrow] = side === "predicted" ? [0, 1, "→"] : [1, 0, "←"];
  const link = links.find((pair) => pair[mine] === day);
  const away = link ? dayNumber(link[other]) - dayNumber(day) : 0;
  const distance = `${count(Math.abs(away), "day")} ${away < 0 ? "earlier" : "later"}`;
  const where = away ? `${link[other]}, ${distance}` : "the same day";
  const note = link && `${arrow} ${where} · ${count(link[3], "word")} in common · weight ${number(link[2], 2)}`;
  return el("div", { class: `entry ${side}`, tabindex: "0", "data-day": day, "data-side": side },
    el("p", { class: "who soft" }, side), sentences.map((pieces) => prose(marked(pieces))),
    el("p", { class: "soft" }, note || "aligned with no date"));
}

// What joins the two sides: [kind, predicted day, reference day, weight].
const allLinks = (view) => ["precision", "recall"].flatMap((kind) => view[kind].map((link) => [kind, ...link]));

// Lead the lines from knot to knot, where the browser laid them out. They stay the same lines: one may be lit.
function placeLinks(box) {
  const frame = box.getBoundingClientRect(), middles = { predicted: new Map(), reference: new Map() };
  for (const row of box.querySelectorAll(".day:not(.heads)")) {
    for (const side of Object.keys(middles)) {
      const knot = row.querySelector(`.knot.${side}`)?.getBoundingClientRect();
      const day = row.querySelector("time").textContent;
      if (knot) middles[side].set(day, [knot.x - frame.x + knot.width / 2, knot.y - frame.y + knot.height / 2]);
    }
  }
  for (const link of box.querySelectorAll(".link")) {
    const [a, b] = [middles.predicted.get(link.dataset.left), middles.reference.get(link.dataset.right)];
    const x = (a[0] + b[0]) / 2;
    link.setAttribute("d", `M${a} C${x},${a[1]} ${x},${b[1]} ${b}`);
  }
}

function strip(view, days) {
  const ends = [dayNumber(days[0]), dayNumber(days[days.length - 1]) + 1], length = ends[1] - ends[0] - 1;
  const x = (day) => `${2 + 96 * share(dayNumber(day), ends)}%`;
  const knot = (side, day, cy) => {
    const free = view.same.includes(day) ? "" : " free";
    return draw("circle", { class: `knot ${side}${free}`, cx: x(day), cy, r: 5 }, draw("title", {}, `${day}, ${side}`));
  };
  const rows = [["predicted", 14], ["reference", 62]];
  const knots = rows.map(([side, y]) => view[side].map(([day]) => knot(side, day, y)));
  const lines = allLinks(view).map(([kind, left, right, weight]) => {
    const place = { x1: x(left), x2: x(right), y1: 14, y2: 62 };
    return draw("line", { class: `link ${kind}`, ...place, "stroke-opacity": 0.2 + 0.8 * weight });
  });
  const iso = (day) => new Date(day * 864e5).toISOString().slice(0, 10);
  const dates = [0, 0.25, 0.5, 0.75, 1].map((part) => iso(ends[0] + length * part));
  const anchors = ["start", "middle", "middle", "middle", "end"];
  const labels = [...new Set(dates)].map((day, at) => label(day, x(day), 90, anchors[at]));
  const n = [view.predicted, view.reference, view.same].map((own) => own.length);
  const name = `${n[0]} predicted and ${n[1]} reference dates, ${n[2]} in both`;
  return draw("svg", { class: "strip", role: "img", "aria-label": name }, lines, knots, labels);
}
