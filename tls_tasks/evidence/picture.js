// Extraction: the text with numbered spans, and a card for each: found, missed or spurious, and why.

const SPANS = { hit: "found", miss: "missed", spurious: "spurious" };

function evidenceView(view) {
  const start = (item) => item.own.places?.[0]?.[0] ?? Infinity;
  const items = [...view.matches.map((match) => ({ kind: "hit", own: match.reference, match })),
    ...view.misses.map((own) => ({ kind: "miss", own })), ...view.spurious.map((own) => ({ kind: "spurious", own }))]
    .sort((left, right) => start(left) - start(right));
  const n = (kind) => items.filter((item) => item.kind === kind).length;
  const legend = Object.entries(SPANS).map(([kind, name]) => [el("mark", { class: kind }, `${n(kind)} ${name}`), " "]);
  const title = items.length ? count(items.length, "span") : "No span, predicted or in the reference";
  const box = el("div", { class: "evidence" },
    el("section", {}, el("h4", {}, "The text"), prose(numbered(view.source, items)), note("legend", legend)),
    el("section", {}, el("h4", {}, title), el("ol", { class: "cards" }, items.map(evidenceCard))));
  box.addEventListener("mouseover", ({ target }) => {
    const lit = (target.closest("[data-all]")?.dataset.all || "").split(" ").filter(Boolean);
    for (const node of box.querySelectorAll("[data-all]")) {
      node.classList.toggle("on", node.dataset.all.split(" ").some((k) => lit.includes(k)));
    }
  });
  return box;
}

// Places count characters, not the UTF-16 units of a script's texts.
function numbered(source, items) {
  const placesOf = ({ own, match }) => [...(own.places || []), ...(match?.prediction.places || [])], seen = new Set();
  let offset = 0;
  return source.map(([piece, mark]) => {
    const from = offset;
    offset += [...piece].length;
    if (!mark) return piece;
    const isHere = (item) => placesOf(item).some(([a, b]) => a < offset && b > from);
    const here = items.flatMap((item, at) => (isHere(item) ? [at + 1] : [])), fresh = here.filter((k) => !seen.has(k));
    fresh.forEach((k) => seen.add(k));
    const numbers = fresh.length > 0 && el("sup", {}, fresh.join(" "));
    return el("mark", { class: mark, "data-all": here.join(" ") }, piece, numbers);
  });
}

function evidenceCard({ kind, own, match }, at) {
  const said = (value) => (value === null || value === undefined ? "(none)" : String(value));
  const span = (object, side) => prose(said(object.span), { "data-label": side });
  const isOther = match && match.prediction.span !== own.span;
  const attributes = Object.entries(match?.attributes || {}).map(([key, { right, predicted, reference }]) => {
    const shown = right ? `✓ ${key}` : `✗ ${key}: ${said(predicted)}, not ${said(reference)}`;
    return el("span", { class: right ? "good" : "bad" }, shown);
  });
  const noMatch = "it overlaps no span of the reference that is still free, or too little of it";
  const why = kind === "spurious" ? [...own.issues, own.grounded ? noMatch : "not in the text"] : [];
  return el("li", { class: `card ${kind}`, "data-all": at + 1 },
    el("p", {}, el("b", { class: "n" }, at + 1), el("b", {}, SPANS[kind]), ` ${said(own.domain)}`,
      match && match.overlap < 1 && soft(` overlap ${number(match.overlap, 2)}`)),
    isOther ? [span(match.prediction, "predicted"), span(own, "reference")] : span(own),
    attributes.length > 0 && note("chips", attributes), why.length > 0 && note("bad", why.join("; ")));
}
